"""`tailback predict FILE`: what a scenario will measure, by models instead of a simulation."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from tailback._cli.options import File, Seed
from tailback._cli.output import Exit, command, data, jsonable

__all__ = ["predict"]


@command
def predict(
    file: File,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything predicted as one JSON document.")] = False,
    seed: Seed = None,
) -> Exit:
    """Predict what a scenario would measure, by models alone.

    Also what no model covers.
    """
    from tailback import prediction
    from tailback._scenario import load

    found = prediction.predict(load(file), seed)
    data(json.dumps(jsonable(found.to_dict()), allow_nan=False) if as_json else str(found))
    return Exit.DONE
