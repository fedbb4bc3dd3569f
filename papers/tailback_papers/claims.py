"""Claims whose texts are rows of the `claims.csv` of their document; code has only their statements."""

from __future__ import annotations

import csv
from collections.abc import Callable
from importlib.resources import files
from typing import Any

from tailback.papers import Claim, Comparison

__all__ = ["claims_of"]


def claims_of(module: str) -> Callable[..., Claim]:
    """Return the function that builds a claim of a module's document from its ID and its statement.

    Columns are the other fields of `Claim`; an empty cell is the default. Further arguments replace them.
    """
    text = files(module.rpartition(".")[0]).joinpath("claims.csv").read_text(encoding="utf-8")
    rows = {row.pop("id"): row for row in csv.DictReader(text.splitlines())}

    def claim(id: str, statement: Comparison, **fields: Any) -> Claim:
        known: dict[str, Any] = {name: cell for name, cell in rows[id].items() if cell}
        if "published" in known:
            known["published"] = float(known["published"])
        known["ours"] = bool(known.get("ours"))
        return Claim(id, statement=statement, **known | fields)

    return claim
