"""Store the verdicts of the reproduced documents for the pages that quote them.

    python tools/verdicts.py OUT docs/evidence

OUT is the directory of `tailback reproduce bpd-2001 spd-1998 cui-thesis --out OUT`, or of some of their experiments. This renews
their claims in `verdicts.json`, with which `tests/papers/test_evidence.py` compares the numbers on the pages.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

DOCUMENTS = ("bpd-2001", "spd-1998", "cui-thesis")
NUMBERS = ("measured", "low", "high")


def rounded(value: float | None) -> float | None:
    """Five significant digits, which is more than the pages quote."""
    return None if value is None else float(f"{value:.5g}")


def verdict(claim: dict[str, Any]) -> dict[str, Any]:
    """A claim as `tailback reproduce` printed it, without its text."""
    settings = [
        {"setting": each["setting"], **{name: rounded(each[name]) for name in NUMBERS}, "finding": each["finding"]}
        for each in claim["settings"]
    ]
    return {**{name: claim[name] for name in ("kind", "finding", "whose", "seeds")}, "settings": settings}


def stored(path: Path) -> dict[str, Any]:
    """The verdicts of a document's results, by claim."""
    results = json.loads(path.read_text(encoding="utf-8"))
    return {claim["id"]: verdict(claim) for experiment in results["experiments"] for claim in experiment["claims"]}


def written(verdicts: dict[str, dict[str, Any]]) -> str:
    """JSON with one line per claim."""
    documents = []
    for name, claims in verdicts.items():
        lines = [f"  {json.dumps(claim)}: {json.dumps(found)}" for claim, found in claims.items()]
        documents.append(f" {json.dumps(name)}: {{\n" + ",\n".join(lines) + "\n }")
    return "{\n" + ",\n".join(documents) + "\n}\n"


def main(out: Path, evidence: Path) -> None:
    """Write the file."""
    target = evidence / "verdicts.json"
    verdicts = json.loads(target.read_text(encoding="utf-8")) if target.exists() else {}
    for name in DOCUMENTS:
        if (results := out / f"{name}.json").exists():
            verdicts.setdefault(name, {}).update(stored(results))
    target.write_text(written(verdicts), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
