"""`tailback predict FILE`: what a scenario will measure, by models instead of a simulation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from tailback._cli.output import Exit, command, data, jsonable, path

__all__ = ["predict"]


@command
def predict(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A scenario in TOML, or in JSON if the name ends in .json.", parser=path)
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print everything predicted as one JSON document.")] = False,
    seed: Annotated[int | None, typer.Option(min=0, max=2**53 - 1, help="Instead of the scenario's own.")] = None,
) -> Exit:
    """Predict what a scenario would measure, without simulating it, and say what no model is meant for."""
    from tailback import prediction
    from tailback._scenario import load

    found = prediction.predict(load(file), seed)
    data(json.dumps(jsonable(found.to_dict()), allow_nan=False) if as_json else str(found))
    return Exit.DONE
