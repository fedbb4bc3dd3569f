"""The evidence pages quote the stored verdicts, and the stored verdicts are those of today's claims."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import verdicts
from support import ROOT
from tailback import papers

EVIDENCE = ROOT / "docs/evidence"
PAGES = {"bpd-2001": "bpd_2001", "spd-1998": "spd_1998", "cui-thesis": "cui_thesis"}
VERDICTS: dict[str, dict[str, Any]] = json.loads((EVIDENCE / "verdicts.json").read_text(encoding="utf-8"))
CLAIM = re.compile(r"\bC-?[A-Z0-9](?:[\w.-]*\w)?")
INTERVAL = re.compile(r"(-?\d[\d,.]*) ± (\d[\d,.]*)")
# Kinds with the findings that a full run may have. A conditional claim depends, or holds in one of its two settings.
FINDINGS = {
    "reproduced": {"holds"},
    "conditional": {"holds", "depends", "cannot tell"},
    "not_reproduced": {"contradicted", "cannot tell"},
}


def claims(document: str) -> dict[str, papers.Claim]:
    """All claims of a document by their IDs."""
    return {claim.id: claim for experiment in papers.experiments(document) for claim in experiment.claims}


def number(text: str) -> tuple[float, float]:
    """A printed number, and half of its last digit."""
    plain = text.replace(",", "")
    return float(plain), 0.51 * 10.0 ** -len(plain.partition(".")[2])


def quoted(document: str) -> Iterator[tuple[str, dict[str, Any], str, str]]:
    """The intervals in rows that begin with a claim that has a stored verdict of its full form."""
    page = EVIDENCE / f"{PAGES[document]}.md"
    for line in page.read_text(encoding="utf-8").splitlines():
        first = CLAIM.search(line.partition("|")[2].partition(":")[0]) if line.startswith("|") else None
        if first:
            found = {
                name: each for name, each in VERDICTS[document].items() if name.startswith(first[0]) and each["form"] == "full"
            }
            for mean, half in INTERVAL.findall(line) if found else ():
                yield first[0], found, mean, half


def fits(verdict: dict[str, Any], mean: str, half: str) -> bool:
    """Whether the interval is that of the verdict in one of its settings, as a number or in percent."""
    (value, step), (width, half_step) = number(mean), number(half)
    for each in verdict["settings"]:
        if None in (each["measured"], each["high"]):
            continue
        for scale in (1, 100):
            measured, spread = scale * each["measured"], scale * (each["high"] - each["measured"])
            if abs(abs(measured) - abs(value)) <= step and abs(spread - width) <= half_step:
                return True
    return False


@pytest.mark.parametrize("document", PAGES)
def test_intervals_on_a_page_are_stored_verdicts(document: str) -> None:
    for claim, found, mean, half in quoted(document):
        assert any(fits(verdict, mean, half) for verdict in found.values()), f"{claim}: {mean} ± {half}"


# Its points are those of a drawn run.
FROM_A_TRACE = {"C-4.22.1": [""]}


def settings(experiment: papers.Experiment, claim: papers.Claim) -> list[str]:
    """The settings in which a claim is judged, from arbitrary values: there are no runs."""
    random = np.random.default_rng(1)
    points = [
        papers.Point(each.labels, {name: random.uniform(0.1, 0.9, 2) for name in experiment.measures})
        for each in experiment.variants
    ]
    (verdict,) = papers.Outcome(points, experiment=replace(experiment, claims=(claim,)), seeds=2).claims
    return [each.setting for each in verdict.settings]


@pytest.mark.parametrize("form", ["full", "quick"])
@pytest.mark.parametrize("document", PAGES)
def test_stored_verdicts_have_the_settings_of_the_claims(document: str, form: str) -> None:
    known = verdicts.known(document, form)
    stored = {name: found for name, found in VERDICTS[document].items() if found["form"] == form}
    assert stored
    for name, found in stored.items():
        expected = FROM_A_TRACE.get(name) or settings(*known[name])
        assert [each["setting"] for each in found["settings"]] == expected, name


@pytest.mark.parametrize("document", PAGES)
def test_stored_intervals_have_the_findings_of_the_claims(document: str) -> None:
    of_form = {form: verdicts.known(document, form) for form in ("full", "quick")}
    for name, found in VERDICTS[document].items():
        assert verdicts.judged_again(*of_form[found["form"]][name], found) == found, name


@pytest.mark.parametrize("document", PAGES)
def test_claims_without_a_stored_verdict_are_only_in_full_forms(document: str) -> None:
    assert set(claims(document)) <= set(VERDICTS[document]) <= set(verdicts.known(document))


@pytest.mark.parametrize("document", PAGES)
def test_rows_of_a_page_are_marked_quick_if_their_verdicts_are(document: str) -> None:
    stored, marked = VERDICTS[document], 0
    for line in (EVIDENCE / f"{PAGES[document]}.md").read_text(encoding="utf-8").splitlines():
        head = line.partition("|")[2].partition(":")[0]
        names = [stored[name]["form"] for name in CLAIM.findall(head) if name in stored]
        parts = [each["form"] for part in CLAIM.findall(head) for name, each in stored.items() if name.startswith(f"{part}-")]
        forms = set(names or parts)
        if line.startswith("|") and "|" not in head and forms:
            expected = "" if forms == {"full"} else "(quick)" if forms == {"quick"} else "(partly quick)"
            assert "".join(re.findall(r"\((?:partly )?quick\)", head)) == expected, line
            marked += bool(expected)
    assert marked


@pytest.mark.parametrize("document", PAGES)
def test_stored_verdicts_have_findings_of_their_kinds(document: str) -> None:
    for name, verdict in VERDICTS[document].items():
        # A quick form may leave a setting undecided, but decides nothing else than the full form.
        undecided = verdict["form"] == "quick" and "cannot tell" in {each["finding"] for each in verdict["settings"]}
        assert undecided or verdict["finding"] in FINDINGS[verdict["kind"]], name


@pytest.mark.parametrize("document", PAGES)
def test_a_statement_is_undecided_under_our_choice_only_after_an_attempt(document: str) -> None:
    for name, verdict in VERDICTS[document].items():
        if (verdict["finding"], verdict["whose"]) == ("cannot tell", "ours"):
            attempt = verdict["attempt"]
            assert attempt["seeds"] > 1, name
            assert attempt["cpu_s"] >= 300, name
