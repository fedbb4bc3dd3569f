"""The `tailback` command, also as `python -m tailback`."""

import sys


def main() -> None:
    """Entry point of the `tailback` command."""
    try:
        from tailback._cli import main as run
    except KeyboardInterrupt:
        # Commands report an interruption themselves; this one came while Python loaded them.
        sys.stderr.write("interrupted; nothing was run\n")
        raise SystemExit(130) from None
    run()


if __name__ == "__main__":
    main()
