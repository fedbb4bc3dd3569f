"""Store the verdicts of the reproduced documents for the pages that quote them.

    python tools/verdicts.py OUT docs/evidence

OUT is the directory of `tailback reproduce bpd-2001 spd-1998 cui-thesis --out OUT`, or of some of their experiments. This renews
their claims in `verdicts.json`, with which `tests/papers/test_evidence.py` compares the numbers on the pages. These print
`conditions`, the table of a document's open conditions.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from pathlib import Path
from typing import Any

from tailback.papers import Condition, Experiment, experiments

EVIDENCE = Path(__file__).resolve().parents[1] / "docs/evidence"
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


def conditions(document: str) -> str:
    """Markdown table of the open conditions of a document: its text, default, alternatives and the claims that depend on it.

    Conditions that differ only in their values are one row.
    """
    rows: dict[tuple[str, str], Row] = {}
    deciding = _deciding(document)
    for experiment in experiments(document):
        for condition in experiment.conditions:
            rows.setdefault((condition.label, condition.says), Row()).add(condition, experiment, deciding)
    head = "| Condition | The document | Default, and why | Alternatives | Claims that depend on it |\n|---|---|---|---|---|\n"
    return head + "\n".join(f"| {label} | {says} | {row} |" for (label, says), row in rows.items())


class Row:
    """The cells of a condition that differ between experiments."""

    def __init__(self) -> None:
        self.defaults: dict[str, str] = {}
        self.values: dict[str, None] = {}
        self.claims: dict[str, None] = {}

    def add(self, condition: Condition, experiment: Experiment, deciding: dict[str, set[str]]) -> None:
        """Add the condition of an experiment. A claim without a known condition depends on the first of its experiment."""
        self.defaults.setdefault(str(condition.values[0]), condition.why)
        self.values |= dict.fromkeys(map(str, condition.values))
        first = {experiment.conditions[0].label}
        self.claims |= {
            # One entry for the same claim with several numbers of connections.
            re.sub(r"-\d+$", "", claim.id): None
            for claim in experiment.claims
            if claim.kind == "conditional" and condition.label in deciding.get(claim.id, first)
        }

    def __str__(self) -> str:
        default = "; ".join(f"{value}: {why}" for value, why in self.defaults.items())
        alternatives = "; ".join(value for value in self.values if value not in self.defaults)
        return f"{default} | {alternatives} | {', '.join(self.claims) or 'None'}"


def _deciding(document: str) -> dict[str, set[str]]:
    """The conditions that decide each claim, from the stored verdicts and the list of changed ones."""
    with (EVIDENCE / "verdict_changes.csv").open(encoding="utf-8") as file:
        changed = {row["claim"]: set(row["condition"].split()) for row in csv.DictReader(file) if row["document"] == document}
    known = {claim.id: each for each in experiments(document) for claim in each.claims}
    judged = json.loads((EVIDENCE / "verdicts.json").read_text(encoding="utf-8"))[document]
    return changed | {
        name: {condition.label for condition in known[name].conditions if _decides(condition, found["settings"])}
        for name, found in judged.items()
        if found["finding"] == "depends"
    }


def _decides(condition: Condition, settings: list[dict[str, Any]]) -> bool:
    """Whether two settings that differ only in this condition have different findings."""
    found: dict[str, set[str]] = {}
    for each in settings:
        # The longest value first: one may begin like another.
        texts = sorted((f"{condition.label}: {value}" for value in condition.values), key=len, reverse=True)
        text = next((text for text in texts if text in each["setting"]), "")
        found.setdefault(each["setting"].replace(text, ""), set()).add(each["finding"])
    return any(len(findings) > 1 for findings in found.values())


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
