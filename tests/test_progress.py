"""Progress bars appear in a terminal after a second, and elsewhere not at all."""

from __future__ import annotations

import io
from typing import Any

import pytest

import tailback as tb
from support import without_progress
from tailback import _progress
from tailback._study.runner import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    """Records the reports that it receives."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(_progress, "time", clock)
    return clock


def shown(monkeypatch: pytest.MonkeyPatch, clock: Clock, stderr: io.StringIO, bar: Any, reports: list[Any]) -> str:
    """The contents of `stderr` after the second of two reports, the first of which is early."""
    monkeypatch.setattr("sys.stderr", stderr)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    with bar:
        bar(reports[0])
        assert not stderr.getvalue()
        clock.now += 1.5
        bar(reports[1])
    return stderr.getvalue()


FRACTIONS = [0.1, 0.4]
RUNS = [Progress(done=1, failed=0, total=40), Progress(done=17, failed=3, total=40)]


def test_a_fraction_is_shown_to_a_terminal_after_a_second(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    seen = shown(monkeypatch, clock, Terminal(), tb.ProgressBar("a trunk"), FRACTIONS)
    assert "a trunk" in seen
    assert "40%" in seen


def test_runs_are_counted_with_their_failures(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    seen = shown(monkeypatch, clock, Terminal(), tb.RunsBar("buffers"), RUNS)
    assert "20/40" in seen
    assert "3 failed" in seen


@pytest.mark.parametrize(("bar", "reports"), [(tb.ProgressBar, FRACTIONS), (tb.RunsBar, RUNS)])
def test_a_file_gets_no_bar(monkeypatch: pytest.MonkeyPatch, clock: Clock, bar: type[Any], reports: list[Any]) -> None:
    assert not shown(monkeypatch, clock, io.StringIO(), bar("to a file"), reports)


def test_a_file_gets_a_line_at_intervals(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    log = io.StringIO()
    monkeypatch.setattr("sys.stderr", log)
    with tb.RunsBar("buffers") as bar:
        for seconds in (1, 5, 30, 64, 66):
            clock.now = seconds
            bar(Progress(done=seconds, failed=seconds // 60, total=2000))
    assert log.getvalue() == "buffers: 5 of 2,000 runs after 5 s\nbuffers: 67 of 2,000 runs, 1 failed after 66 s\n"
    assert without_progress(f"first\n{log.getvalue()}last\n") == "first\nlast\n"


def test_a_file_shows_the_remaining_time(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    log = io.StringIO()
    monkeypatch.setattr("sys.stderr", log)
    # The run resumes at half of its duration.
    with tb.ProgressBar("a trunk") as bar:
        for seconds in (0, 1, 10, 40, 80):
            clock.now = seconds
            bar(0.5 + seconds / 200)
    assert log.getvalue() == "a trunk: 55% after 10 s, about 90 s left\na trunk: 90% after 80 s, about 20 s left\n"
    assert without_progress(log.getvalue()) == ""
