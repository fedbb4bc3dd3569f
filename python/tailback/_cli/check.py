"""`tailback check FILE...`: report the problems of scenarios without running them."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import click

from tailback._cli import options
from tailback._cli.output import ExitCode, command, data, note
from tailback._cli.user_code import load_code

__all__ = ["check"]


@click.command
@click.argument("files", type=options.PATH, nargs=-1, required=True, metavar="FILE...", help="Scenario files.")
@click.option("--json", "as_json", is_flag=True, help="Print the verdicts as JSON.")
@options.code
@command
def check(files: tuple[Path, ...], as_json: bool, code: tuple[Path, ...]) -> ExitCode:
    """Check scenarios without running them. Lists every error and warning with its place in the file."""
    from tailback import _core
    from tailback._scenario import load
    from tailback.errors import Problem, ScenarioError, ScenarioWarning

    load_code(code)
    verdicts: list[dict[str, Any]] = []
    for file in files:
        problems: list[Problem] = []
        notes: list[tuple[str, str]] = []
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ScenarioWarning)
            try:
                scenario = load(file)
                scenario.check()
                notes = _core.notes(*scenario._source())
            except ScenarioError as error:
                note(str(error))
                problems = list(error.problems)
        # Loading and checking emit the same warnings.
        emitted = [warning.message for warning in caught if isinstance(warning.message, ScenarioWarning)]
        unique = {str(warning): warning.problem for warning in emitted}
        for text in unique:
            note(f"warning: {text}")
        for _, text in notes:
            note(f"note: {text}")
        verdicts.append(
            {
                "file": str(file),
                "valid": not problems,
                "errors": [vars(problem) for problem in problems],
                "warnings": [vars(problem) for problem in unique.values()],
                "notes": [vars(Problem(**json.loads(found))) for found, _ in notes],
            }
        )
        if not as_json and not problems:
            data(f"{file}: valid")
    if as_json:
        data(json.dumps(verdicts, indent=2))
    return ExitCode.DONE if all(verdict["valid"] for verdict in verdicts) else ExitCode.INPUT
