"""`tailback diff A B`: compare two runs event by event and value by value."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tailback._cli import options
from tailback._cli.output import ExitCode, command, data, jsonable, summary
from tailback._cli.user_code import load_code
from tailback._progress import ProgressBar

if TYPE_CHECKING:
    from tailback._run import Run
    from tailback._scenario import Scenario

__all__ = ["diff"]

_SIDE = "A scenario, which is simulated, or the directory of a stored run."


@click.command
@click.argument("left", type=options.PATH, metavar="A", help=_SIDE)
@click.argument("right", type=options.PATH, metavar="B", help="The scenario or stored run to compare with.")
@click.option("--json", "as_json", is_flag=True, help="Print all differences as one JSON document.")
@options.seed
@options.code
@command
def diff(left: Path, right: Path, as_json: bool, seed: int | None, code: tuple[Path, ...]) -> ExitCode:
    """Compare two runs: settings, first differing event, and tables side by side.

    Exit code 1 if events or tables differ.
    """
    from tailback import _diff

    load_code(code)
    with ProgressBar("comparing") as bar:
        found = _diff.diff(_side(left), _side(right), seed=seed, progress=bar)
    if as_json:
        data(json.dumps(jsonable(found.to_dict()), indent=2, allow_nan=False))
    else:
        summary(f"A: {found.left}\nB: {found.right}", found.listings(), str(found), found.notes())
    return ExitCode.DIFFERENT if found else ExitCode.DONE


def _side(path: Path) -> Run | Scenario:
    from tailback._run import read_run
    from tailback._scenario import load

    return read_run(path) if path.is_dir() else load(path)
