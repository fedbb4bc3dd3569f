"""The demonstration on its coarse grids: tables, reports, and the theory it draws."""

from __future__ import annotations

import re
import xml.etree.ElementTree
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

import tailback as tb
from support import Command
from tailback import models, plots
from tailback._demo import buffer, switch
from tailback._demo import buffer_figures as figures
from tailback._demo import buffer_grid as grid
from tailback._demo import buffer_report as report
from tailback._demo.buffer_grid import Cell
from tailback._interval import Interval, student_t


@pytest.fixture(scope="module")
def study() -> grid.Study:
    measured, _ = buffer.measured(grid.plan(quick=True))
    return measured


def test_the_full_grid_is_the_question() -> None:
    plan = grid.plan(quick=False)
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
        losses = [study.interval("loss_share", cell).mean for cell in study.cells(flows)]
        assert losses == sorted(losses, reverse=True)


def test_the_page_needs_no_other(study: grid.Study) -> None:
    drawn = figures.draw(study)
    page = report.page(study, drawn)
    assert not re.search(r'(src|href)="(?!#)', page)
    assert "url(http" not in page
    assert "@import" not in page
    assert page.count("<svg ") == len(drawn) == 6
    for svg in drawn.values():
        assert xml.etree.ElementTree.fromstring(svg).tag.endswith("svg")


def test_the_table_says_what_was_measured(study: grid.Study) -> None:
    head, *rows = report.table(study)
    assert [row[0] for row in rows] == ["1", "10", "100"]
    utilised = study.interval("utilisation", Cell(1, 0.01))
    assert rows[0][1] == f"{100 * utilised.mean:.2f} ± {100 * utilised.half:.2f} %"
    assert all(len(row) == len(head) for row in rows)


def test_the_same_study_draws_the_same_page(study: grid.Study) -> None:
    assert figures.draw(study) == figures.draw(study)


@pytest.mark.parametrize("freedom", [1, 2, 3, 5, 9, 10, 29, 100])
def test_student_agrees_with_scipy(freedom: int) -> None:
    assert student_t(freedom) == pytest.approx(scipy.stats.t.ppf(0.975, freedom), rel=1e-9)


def test_an_interval_by_hand() -> None:
    # Mean 2, standard deviation 1, t(2) = 4.3027: 4.3027 / sqrt(3).
    interval = Interval.of([1.0, 2.0, 3.0])
    assert interval.mean == 2.0
    assert interval.half == pytest.approx(2.48414, abs=1e-5)


def test_names_are_moved_apart_and_keep_their_order() -> None:
    heights = {"a": 0.0, "b": 1.0, "c": 2.0, "d": 100.0}
    spread = plots._apart(heights, gap=10)
    assert spread == {"a": -9.0, "b": 1.0, "c": 11.0, "d": 100.0}
    assert np.all(np.diff(list(plots._apart({str(i): i % 3 for i in range(9)}, gap=5).values())) != 0)
    assert plots._apart(heights, gap=10, top=20) == {"a": -10.0, "b": 0.0, "c": 10.0, "d": 20.0}


def test_the_headline_shows_balanced_discard_ahead_at_every_tick() -> None:
    outcome = tb.reproduce(switch.EXPERIMENT, seeds=2).experiments[0]
    head, *rows = switch.table(outcome)
    assert [row[0] for row in rows] == ["0.1 s", "0.3 s", "0.5 s"]
    for row, tick in zip(rows, (0.1, 0.3, 0.5), strict=True):
        assert len(row) == len(head)
        best = {policy: outcome.best("goodput", policy=policy, tick=tick) for policy in ("EPD", "BPD")}
        assert row[3].startswith(f"{best['BPD'].mean():.3f} ± ")
        assert best["BPD"].mean() > best["EPD"].mean()


def test_a_place_that_cannot_be_written_is_refused_at_once(command: Command, tmp_path: Path) -> None:
    (tmp_path / "taken").touch()
    done = command("demo", "--quick", "--out", "taken")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: nothing can be written to `taken`: ")
