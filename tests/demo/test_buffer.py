"""The first question of the demonstration, on its coarse grid: table, report, and the theory it draws."""

from __future__ import annotations

import json
import xml.etree.ElementTree
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

import tailback as tb
from reports import fetched, parsed
from tailback import models
from tailback._demo import buffer
from tailback._demo import buffer_figures as figures
from tailback._demo import buffer_grid as grid
from tailback._demo import buffer_report as report
from tailback._demo.buffer_grid import Cell
from tailback._demo.buffer_needed import TARGET, needed


@pytest.fixture(scope="module")
def study() -> Iterator[grid.Study]:
    """The default grid with fewer buffers and seeds, and shorter runs of the single flow."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(grid, "_TIMES", {**grid._TIMES, 1: grid.Times(40, 80, 160)})
        brief = grid.plan(full=False)
        cells = tuple(cell for cell in brief.cells if cell.share not in (0.2, 0.5))
        measured, _ = buffer.measured(replace(brief, cells=cells, seeds=2))
        # The searches for fewer flows take longer, and differ only in the number.
        found, _ = needed(measured, 100)
        measured.needed = dict.fromkeys(measured.plan.flows, found)
        yield measured


def test_the_buffer_for_the_target_is_between_points_of_the_grid_and_has_an_interval(study: grid.Study) -> None:
    found = study.needed[100]
    assert found.share is not None
    assert found.low is not None
    assert found.high is not None
    below, above = (
        max(cell.share for cell in study.cells(100) if study.interval("utilisation", cell).mean < TARGET),
        min(cell.share for cell in study.cells(100) if study.interval("utilisation", cell).mean >= TARGET),
    )
    assert below < found.share <= above
    assert found.low <= found.share <= found.high
    assert str(found) == f"{100 * found.share:.3g} % ({100 * found.low:.3g} to {100 * found.high:.3g})"


def test_the_search_for_one_flow_agrees_with_the_closed_form() -> None:
    # The demonstration's link has longer teeth; the closed form depends only on shares of the product.
    flow: Any = {"propagation_rtt": "50 ms", "start": {"uniform": ["0 s", "10 s"]}, "tcp": {"preset": "sack"}}
    link = tb.dumbbell(rate="50 Mbps", delay="10 ms", buffer="50 packets", duration="100 s", warmup="30 s", flows={"tcp": flow})
    buffers = {"topology.dumbbell.queue.buffer": ("40 packets", "208 packets")}
    found = tb.threshold(link, "queues.bottleneck.utilisation", TARGET, over=buffers, seeds=3)
    assert models.single_flow_utilisation(0.603) == pytest.approx(TARGET, abs=1e-4)
    # Windows of whole packets, which grow one round trip later, need a few packets more.
    product = 50e6 * 0.05 / 8 / 1500
    assert int(found.value.split()[0]) / product == pytest.approx(0.603, abs=0.04)


def test_the_full_grid_is_the_question() -> None:
    plan = grid.plan(full=True)
    cells = plan.cells
    assert (min(plan.flows), max(plan.flows)) == (1, 200)
    assert (min(cell.share for cell in cells), max(cell.share for cell in cells)) == (0.01, 2.0)
    assert plan.seeds >= 3


def test_one_flow_follows_the_closed_form(study: grid.Study) -> None:
    for cell in study.cells(1):
        measured, theory = study.interval("utilisation", cell), models.single_flow_utilisation(cell.share)
        assert measured.mean == pytest.approx(theory, abs=0.015), cell


def test_a_larger_buffer_never_loses_more(study: grid.Study) -> None:
    for flows in study.plan.flows:
        losses = [study.interval("loss_rate", cell) for cell in study.cells(flows)]
        for smaller, larger in pairwise(losses):
            assert larger.mean - larger.half <= smaller.mean + smaller.half
        assert losses[-1].mean < 0.5 * losses[0].mean


def test_the_page_needs_no_other(study: grid.Study) -> None:
    drawn = figures.draw(study)
    page = report.page(study, drawn)
    assert fetched(page) == []
    tree = parsed(page)
    assert len(drawn) == 6
    assert [figure.get("id") for figure in tree.iter("figure")] == [f"figure-{number}" for number in range(1, 7)]
    # Every figure is spoken of.
    assert {link.get("href") for link in tree.iter("a")} == {f"#figure-{number}" for number in range(1, 7)}
    for figure in tree.iter("figure"):
        assert figure.find(".//svg") is not None
        numbers = json.loads(figure.findtext("script") or "")
        assert numbers["panels"]
    for picture in drawn.values():
        assert xml.etree.ElementTree.fromstring(picture.svg).tag.endswith("svg")


def test_the_table_contains_the_measurements(study: grid.Study) -> None:
    head, *rows = report.table(study)
    assert [row[0] for row in rows] == ["1", "10", "100"]
    utilised = study.interval("utilisation", Cell(1, 0.01))
    assert rows[0][1] == f"{100 * utilised.mean:.2f} ± {100 * utilised.half:.2f} %"
    assert all(len(row) == len(head) for row in rows)


def test_the_same_study_draws_the_same_page(study: grid.Study) -> None:
    assert figures.draw(study) == figures.draw(study)
