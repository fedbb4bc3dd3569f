"""`tailback predict FILE`: predict the results of a scenario with models, without simulating it."""

from __future__ import annotations

import json
from pathlib import Path

import click

from tailback._cli import options
from tailback._cli.output import ExitCode, command, data, jsonable

__all__ = ["predict"]


@click.command
@options.file
@click.option("--json", "as_json", is_flag=True, help="Print all predictions as one JSON document.")
@options.seed
@command
def predict(file: Path, as_json: bool, seed: int | None) -> ExitCode:
    """Predict the results of a scenario with models, without simulating it.

    Lists the parts of the scenario that no model covers.
    """
    from tailback._scenario import load
    from tailback.prediction._predict import predicted

    found = predicted(load(file), seed)
    data(json.dumps(jsonable(found.to_dict()), allow_nan=False) if as_json else str(found))
    return ExitCode.DONE
