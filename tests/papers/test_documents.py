"""The documents: all figures and claims are included, and properties of some experiments."""

from __future__ import annotations

import csv
import fnmatch
import os
import re
import subprocess
import sys
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

import tailback as tb
from tailback import papers
from tailback_papers.bpd_2001.traces import figure_18


def test_every_claim_of_the_reference_is_included_once() -> None:
    ids = [claim.id for experiment in papers.experiments("bpd-2001") for claim in experiment.claims]
    assert len(ids) == len(set(ids))
    # C24 has had two parts, a and b, from the start.
    missing = [number for number in range(1, 32) if f"C{number}" not in ids and f"C{number}a" not in ids]
    assert missing == []


def test_a_pattern_selects_all_matching_experiments() -> None:
    tables = papers.experiments("cui-thesis/table3.?", "bpd-2001/fig2")
    assert [each.id for each in tables] == ["bpd-2001/fig2", *(f"cui-thesis/table3.{number}" for number in (1, 2, 3, 4))]
    with pytest.raises(tb.UnknownName, match=r"and [0-9]+ more; did you mean `cui-thesis/fig3"):
        papers.experiments("cui-thesis/fig3")
    with pytest.raises(tb.UnknownName):
        papers.experiments("cui-thesis/none*")


def test_every_figure_of_the_document_is_included() -> None:
    figures = [each.id.removeprefix("bpd-2001/fig") for each in papers.experiments("bpd-2001") if "/fig" in each.id]
    # Figures 5, 10, 11 and 21 are drawings of networks and of the algorithm.
    assert figures == [str(number) for number in (1, 2, 3, 4, 6, 7, 8, 9, *range(12, 21))]


def test_every_claim_and_figure_of_the_thesis_is_included() -> None:
    found = papers.experiments("spd-1998")
    ids = [claim.id for experiment in found for claim in experiment.claims]
    assert len(ids) == len(set(ids))
    # Some claims are evaluated for each number of connections: C32-15.
    missing = [number for number in range(32, 51) if not any(re.match(f"C{number}(?!\\d)", each) for each in ids)]
    assert missing == []
    # Figure 5.15 is a drawing of the network of 5.16.
    figures = [experiment.id.removeprefix("spd-1998/fig5.") for experiment in found if "/fig" in experiment.id]
    assert figures == [str(number) for number in (*range(1, 15), 16)]


def test_every_number_of_the_tables_is_compared_with_a_measurement() -> None:
    counts = {}
    figures = [experiment for experiment in papers.experiments("spd-1998") if "/fig" in experiment.id]
    for experiment in figures:
        short = [each for each in experiment.variants if each.labels.get("setting") == "SHORT" and "printed" in each.labels]
        counts[experiment.id.partition("/")[2]] = len(short)
    # Table 5.2 has two rows for 20 cells.
    rows = {1: 9, 2: 9 - 1, 3: 9, 4: 9, 5: 9, 6: 8, 7: 18, 8: 18, 9: 18, 10: 18, 11: 18, 16: 10}
    assert {name: count for name, count in counts.items() if count} == {f"fig5.{number}": count for number, count in rows.items()}


def test_spd_keeps_the_queue_below_the_threshold_of_epd() -> None:
    done = tb.reproduce("spd-1998/fig5.12", "spd-1998/fig5.14", seeds=2)
    by_id = {verdict.claim.id: verdict for verdict in done.claims}
    # 600 cells and a tail of 22 for each of fifteen connections.
    assert 600 <= by_id["C44c"].interval.mean <= 930
    assert by_id["C46b"].interval.mean < 0.01


def test_epd_keeps_the_buffer_at_its_threshold_and_bpd_does_so_less_after_the_start(toys: list[papers.Experiment]) -> None:
    in_b = tuple(variant for variant in figure_18.variants if variant.labels["topology"] == "B")
    toys[:] = [replace(figure_18, id="toy/fig18", variants=in_b, conditions=(), claims=(), panels=(), traces=())]
    done = tb.reproduce("toy/fig18", seeds=2)
    # 600 cells and a tail of 11 for each of five connections; BPD may exceed 1080.
    of = {(point["policy"], point["start"]): point for point in done.points}
    assert 600 <= of["EPD", "whole run"]["max_queue"]["mean"] <= 655
    assert 900 < of["BPD", "whole run"]["max_queue"]["mean"] <= 1200
    assert 600 < of["BPD", "from 1 s on"]["max_queue"]["mean"] <= 655
    assert 0 < of["BPD", "from 1 s on"]["excess"]["mean"] < of["BPD", "whole run"]["excess"]["mean"]
    assert 0 < of["BPD", "from 1 s on"]["above"]["mean"] < 0.1


def test_an_installed_package_may_declare_a_document(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "from tailback.papers import Document\nDOCUMENT = Document('own-2030', 'Own', 'Nobody, 2030', {}, ())\n"
    )
    metadata = tmp_path / "own-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: own\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text("[tailback.papers]\nown-2030 = own\n")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    script = "from tailback.papers import document; print(document('own-2030').title, document('bpd-2001').id)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path})
    assert done.stdout == "Own bpd-2001\n", done.stderr


@pytest.mark.parametrize("name", ["bpd-2001", "spd-1998", "cui-thesis"])
def test_each_statement_of_a_text_is_judged_or_has_a_reason(name: str) -> None:
    found = [claim for experiment in papers.experiments(name) for claim in experiment.claims]
    ids = {claim.id for claim in found}
    text = files(f"tailback_papers.{name.replace('-', '_')}").joinpath("statements.csv").read_text(encoding="utf-8")
    listed: set[str] = set()
    for row in csv.DictReader(text.splitlines()):
        patterns = row["claims"].split()
        assert bool(patterns) != bool(row["reason"]), row
        judging = [fnmatch.filter(ids, pattern) for pattern in patterns]
        assert all(judging), row
        listed.update(*judging)
    # Each claim of the document is one of its statements.
    assert {claim.id for claim in found if not claim.ours} - listed == set()


@pytest.mark.parametrize("name", ["abr", "bpd-2001", "cui-thesis", "spd-1998", "standards"])
def test_texts_of_claims_belong_to_claims(name: str) -> None:
    text = files(f"tailback_papers.{name.replace('-', '_')}").joinpath("claims.csv").read_text(encoding="utf-8")
    forms = [form for each in papers.experiments(name) for form in (each, each.full) if form]
    ids = {claim.id for form in forms for claim in form.claims}
    listed = [row["id"] for row in csv.DictReader(text.splitlines())]
    assert len(listed) == len(set(listed))
    assert set(listed) <= ids
