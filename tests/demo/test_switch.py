"""The second question of the demonstration: table, report, and the headline of bpd-2001."""

from __future__ import annotations

import pytest

from reports import fetched, parsed
from tailback._demo import switch
from tailback._demo import switch_grid as grid
from tailback._demo import switch_report as report
from tailback_papers.bpd_2001 import demonstration

# Checked by mypy: the module has the names that the demonstration requires.
DEFINITION: grid.Definition = demonstration


@pytest.fixture(scope="module")
def study() -> grid.Study:
    """The thresholds near both maxima; `make demo` runs more."""
    measured, _ = switch.measured(grid.Plan(DEFINITION, {"EPD": (0.7, 0.9), "BPD": (0.4,)}, seeds=2))
    return measured


def test_the_installed_package_defines_the_runs() -> None:
    assert grid.definition() is DEFINITION


def test_the_full_grid_is_that_of_the_document() -> None:
    full = grid.plan(DEFINITION, full=True)
    assert ({policy: len(each) for policy, each in full.thresholds.items()}, full.seeds) == ({"EPD": 10, "BPD": 8}, 10)
    brief = grid.plan(DEFINITION, full=False)
    assert brief.seeds == 5
    assert all(set(brief.thresholds[policy]) < set(each) for policy, each in full.thresholds.items())


def test_bpd_gains_a_quarter_where_timeouts_hurt_and_little_where_they_do_not(study: grid.Study) -> None:
    assert study.headline.gain(study).mean == pytest.approx(DEFINITION.GAIN, abs=0.1)
    for policy, published in DEFINITION.PUBLISHED.items():
        assert study.headline.goodput(study, policy).mean == pytest.approx(published, abs=0.05)
    gains = {(case.topology, case.tick): case.gain(study).mean for case in study.cases}
    assert 0 < gains["A", 0.1] < 0.05 < gains["B", 0.3] < gains["B", 0.5]


def test_the_table_has_the_numbers_of_the_runs(study: grid.Study) -> None:
    head, *rows = report.table(study)
    assert [row[:2] for row in rows] == [["B", "0.1 s"], ["B", "0.3 s"], ["B", "0.5 s"], ["A", "0.1 s"]]
    for row, case in zip(rows, study.cases, strict=True):
        assert len(row) == len(head)
        assert row[3] == case.goodput(study, "BPD").text(3)
    gain = study.headline.gain(study)
    assert f"a gain of {100 * gain.mean:.0f} ± {100 * gain.half:.0f} %" in report.headline(study)


def test_the_page_is_self_contained_and_refers_to_both_figures(study: grid.Study) -> None:
    page = report.page(study)
    assert fetched(page) == []
    tree = parsed(page)
    assert [figure.get("id") for figure in tree.iter("figure")] == ["figure-1", "figure-2"]
    assert {link.get("href") for link in tree.iter("a")} == {"#figure-1", "#figure-2"}
    assert all(figure.find(".//svg") is not None for figure in tree.iter("figure"))
