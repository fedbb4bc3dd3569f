"""`tailback lab`: the simulator in a browser page."""

from __future__ import annotations

from pathlib import Path

import click

from tailback._cli import options
from tailback._cli.output import ExitCode, command, data, note

__all__ = ["lab"]


@click.command
@click.option(
    "--port",
    type=options.WholeNumber(0, 65535),
    metavar="N",
    help="Port on 127.0.0.1; by default 8017, or any free port if 8017 is taken. 0 chooses any free port.",
)
@click.option("--no-open", is_flag=True, help="Print the address without opening a browser.")
@click.option("--out", type=options.PATH, metavar="DIR", help="Write the page to this new directory instead of serving it.")
@command
def lab(port: int | None, no_open: bool, out: Path | None) -> ExitCode:
    """Watch scenarios run in a browser page.

    The simulation runs in the page itself. This command serves the page to this machine only, until Ctrl-C. The files that
    `--out` writes can be published on any web server.
    """
    import webbrowser

    from tailback._lab.page import USUAL_PORT, serve_at, write
    from tailback.errors import OutputError, ParameterError

    if out is not None and (unused := [flag for flag, given in (("--port", port is not None), ("--no-open", no_open)) if given]):
        raise ParameterError(f"{' and '.join(unused)} cannot be combined with --out, which starts no server; remove one of them")
    try:
        if out is not None:
            write(out)
            note(f"wrote the page to {out}; any web server can serve it")
            return ExitCode.DONE
        server = serve_at(port)
    except OutputError as error:
        note(f"error: {error}")
        return ExitCode.INPUT
    if port is None and server.port != USUAL_PORT:
        note(f"port {USUAL_PORT} is taken; settings that the browser saved under the usual address are not available at this one")
    data(server.address)
    note("press Ctrl-C to stop the server")
    if not no_open:
        webbrowser.open(server.address)
    try:
        server.serve()
    except KeyboardInterrupt:
        note("")
    return ExitCode.DONE
