"""`tailback check FILE...`: report the problems of scenarios without running them."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import click

from tailback._cli import options
from tailback._cli.output import Exit, command, data, note
from tailback._cli.user_code import load_code

__all__ = ["check"]


@click.command
@click.argument("files", type=options.PATH, nargs=-1, required=True, metavar="FILE...", help="Scenario files.")
@click.option("--json", "as_json", is_flag=True, help="Print the verdicts as JSON.")
@options.code
@command
def check(files: tuple[Path, ...], as_json: bool, code: tuple[Path, ...]) -> Exit:
    """Check scenarios without running them. Lists every error and warning with its place in the file."""
    from tailback._scenario import load
    from tailback.errors import ScenarioError, ScenarioWarning

    load_code(code)
    verdicts: list[dict[str, Any]] = []
    for file in files:
        problems, remarks = [], []
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ScenarioWarning)
            try:
                scenario = load(file)
                scenario.check()
                remarks = scenario.remarks()
            except ScenarioError as error:
                note(str(error))
                problems = [vars(problem) for problem in error.problems]
        # Loading and checking emit the same warnings.
        doubts = list(dict.fromkeys(str(warning.message) for warning in caught))
        for doubt in doubts:
            note(f"warning: {doubt}")
        for remark in remarks:
            note(f"note: {remark}")
        verdicts.append({"file": str(file), "sound": not problems, "errors": problems, "warnings": doubts, "remarks": remarks})
        if not as_json and not problems:
            data(f"{file}: sound")
    if as_json:
        data(json.dumps(verdicts, indent=2))
    return Exit.DONE if all(verdict["sound"] for verdict in verdicts) else Exit.INPUT
