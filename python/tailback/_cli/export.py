"""`tailback export FILE --as TARGET`: write a scenario as input of another tool."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tailback._cli import completion, options
from tailback._cli.output import ExitCode, command, data, note
from tailback._cli.user_code import load_code

__all__ = ["export"]


class _Target(click.Option):
    """Lists the targets in the help; they are imported only for it."""

    @property
    def help(self) -> str:
        from tailback._export import TARGETS

        return "; ".join(f"`{target.name}`: {target.summary}" for target in TARGETS.values()) + "."

    @help.setter
    def help(self, text: Any) -> None:
        pass


def _targets() -> list[str]:
    from tailback._export import TARGETS

    return list(TARGETS)


@click.command
@options.file
@click.option("--as", "target", required=True, metavar="TARGET", cls=_Target, shell_complete=completion.words(_targets))
@click.option("--out", type=options.PATH, metavar="FILE", help="Write to this new file instead of stdout.")
@options.seed
@options.code
@command
def export(file: Path, target: str, out: Path | None, seed: int | None, code: tuple[Path, ...]) -> ExitCode:
    """Write a scenario as input of another tool: an emulator or another simulator.

    Lists the parts of the scenario that the target cannot express on stderr and in the header of the file. Exit code 1 if there
    are any, 0 if there are only remarks that change neither the network nor its flows, and 2 if nothing was written.
    """
    from tailback import _store
    from tailback._scenario import load

    load_code(code)
    found = load(file).export(target, seed)
    if out is None:
        data(found.text)
    else:
        with _store.staged_file(out) as path:
            path.write_text(found.text)
            if found.text.startswith("#!"):
                path.chmod(path.stat().st_mode | 0o111)
    for at, reason in found.omissions:
        note(f"not exported: {at}: {reason}")
    for at, reason in found.remarks:
        note(f"remark: {at}: {reason}")
    return ExitCode.INCOMPLETE if found.omissions else ExitCode.DONE
