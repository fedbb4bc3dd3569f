"""Store the verdicts of the reproduced documents for the pages that quote them.

    python tools/verdicts.py OUT docs/evidence

OUT is the directory of `tailback reproduce bpd-2001 spd-1998 cui-thesis --out OUT`, or of some of their experiments. This renews
their claims in `verdicts.json`, with which `tests/papers/test_evidence.py` compares the numbers on the pages, and judges all
stored intervals by today's claims. A verdict of a quick form does not replace one of the full form. The pages print `conditions`,
the table of a document's open conditions, and `quick`, the claims whose verdicts are of quick forms.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tailback._interval import Interval
from tailback.papers import Claim, Condition, Experiment, Verdict, experiments
from tailback.papers._outcome import Judged

EVIDENCE = Path(__file__).resolve().parents[1] / "docs/evidence"
DOCUMENTS = ("bpd-2001", "spd-1998", "cui-thesis")
NUMBERS = ("measured", "low", "high")


def rounded(value: float | None) -> float | None:
    """Nine significant digits: a published value of eight is compared with a measured one."""
    return None if value is None else float(f"{value:.9g}")


def verdict(claim: dict[str, Any], form: str) -> dict[str, Any]:
    """A claim as `tailback reproduce` printed it, without its text; and the form of its experiment, full or quick."""
    settings = [
        {"setting": each["setting"], **{name: rounded(each[name]) for name in NUMBERS}, "finding": each["finding"]}
        for each in claim["settings"]
    ]
    return {**{name: claim[name] for name in ("kind", "finding", "whose", "seeds")}, "form": form, "settings": settings}


def stored(path: Path) -> dict[str, Any]:
    """The verdicts of a document's results, by claim."""
    results = json.loads(path.read_text(encoding="utf-8"))
    return {
        claim["id"]: verdict(claim, experiment["form"]) for experiment in results["experiments"] for claim in experiment["claims"]
    }


def judged_again(experiment: Experiment, claim: Claim, found: dict[str, Any]) -> dict[str, Any]:
    """A stored verdict with the findings that today's claim has for the stored intervals."""
    settings = []
    for each in found["settings"]:
        low, high = (math.nan if each[end] is None else each[end] for end in ("low", "high"))
        # Requirements read the ends, so that the mean of an asymmetric interval may be another one.
        interval = Interval((low + high) / 2, (high - low) / 2)
        settings.append(Judged(each["setting"], {}, interval, claim.must.judge(interval), None))
    verdict = Verdict.of(claim, tuple(settings), found["seeds"], is_open=experiment.is_open)
    judged = [{**each, "finding": now.finding} for each, now in zip(found["settings"], settings, strict=True)]
    return {**found, "kind": claim.kind, "finding": verdict.finding, "whose": verdict.whose, "settings": judged}


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


def quick(document: str) -> str:
    """Markdown table of the experiments whose stored verdicts are of quick forms, with the claims that these leave undecided."""
    judged = json.loads((EVIDENCE / "verdicts.json").read_text(encoding="utf-8"))[document]
    rows: dict[str, list[str]] = {}
    for name, (experiment, _) in known(document).items():
        if judged.get(name, {}).get("form") == "quick":
            rows.setdefault(experiment.id.partition("/")[2], []).append(name)
    lines = ["| Experiment | Verdicts | Undecided |", "|---|---|---|"]
    for place, names in rows.items():
        left = [name for name in names if judged[name]["finding"] == "cannot tell"]
        lines.append(f"| {place} | {len(names)} | {', '.join(left) or 'None'} |")
    return "\n".join([*lines, f"| Total | {sum(map(len, rows.values()))} of {len(judged)} | |"])


class Row:
    """The cells of a condition that differ between experiments."""

    def __init__(self) -> None:
        self.defaults: dict[str, str] = {}
        self.values: dict[str, None] = {}
        self.claims: dict[str, None] = {}

    def add(self, condition: Condition, experiment: Experiment, deciding: dict[str, set[str]]) -> None:
        """Add the condition of an experiment."""
        self.defaults.setdefault(str(condition.values[0]), condition.why)
        self.values |= dict.fromkeys(map(str, condition.values))
        self.claims |= {
            # One entry for the same claim with several numbers of connections.
            re.sub(r"-\d+$", "", claim.id): None
            for claim in experiment.claims
            if condition.label in deciding.get(claim.id, ())
        }

    def __str__(self) -> str:
        default = "; ".join(f"{value}: {why}" for value, why in self.defaults.items())
        alternatives = "; ".join(value for value in self.values if value not in self.defaults)
        return f"{default} | {alternatives} | {', '.join(self.claims) or 'None'}"


def _deciding(document: str) -> dict[str, set[str]]:
    """The conditions that decide each claim, from the stored verdicts."""
    judged = json.loads((EVIDENCE / "verdicts.json").read_text(encoding="utf-8"))[document]
    return {name: deciding(each, claim, judged.get(name, {})) for name, (each, claim) in known(document).items()}


def known(document: str, form: str = "quick") -> dict[str, tuple[Experiment, Claim]]:
    """Today's claims with their experiments, in this form if it has the claim."""
    found: dict[str, tuple[Experiment, Claim]] = {}
    for each in experiments(document):
        quick, full = ({claim.id: (one, claim) for claim in one.claims} for one in (each, each.full or each))
        # In the order of both.
        found |= quick | full
        if form == "quick":
            found |= quick
    return found


def deciding(experiment: Experiment, claim: Claim, found: dict[str, Any]) -> set[str]:
    """The conditions that decide a stored verdict."""
    settings = found.get("settings", ()) if claim.kind == "conditional" else ()
    return {condition.label for condition in experiment.conditions if _decides(condition, settings)}


def _decides(condition: Condition, settings: Iterable[dict[str, Any]]) -> bool:
    """Whether the claim holds in one of two settings that differ only in this condition, and is contradicted in the other."""
    found: dict[str, set[str]] = {}
    for each in settings:
        # The longest value first: one may begin like another.
        texts = sorted((f"{condition.label}: {value}" for value in condition.values), key=len, reverse=True)
        text = next((text for text in texts if text in each["setting"]), "")
        found.setdefault(each["setting"].replace(text, ""), set()).add(each["finding"])
    return any({"holds", "contradicted"} <= findings for findings in found.values())


def store(out: Path, evidence: Path) -> None:
    """Renew the verdicts."""
    target = evidence / "verdicts.json"
    verdicts = json.loads(target.read_text(encoding="utf-8")) if target.exists() else {}
    for name in DOCUMENTS:
        old = verdicts.setdefault(name, {})
        if (results := out / f"{name}.json").exists():
            old |= {
                claim: found
                for claim, found in stored(results).items()
                if found["form"] == "full" or old.get(claim, found)["form"] == "quick"
            }
        of_form = {form: known(name, form) for form in ("quick", "full")}
        verdicts[name] = {
            claim: judged_again(*of_form[old[claim]["form"]][claim], old[claim]) for claim in known(name) if claim in old
        }
    target.write_text(written(verdicts), encoding="utf-8")


if __name__ == "__main__":
    store(Path(sys.argv[1]), Path(sys.argv[2]))
