"""Plots of runs."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tailback as tb
from tailback._run.plot import thinned


@pytest.mark.parametrize("traces", [["cwnd", "queue"], []])
def test_a_run_can_be_plotted(scenario: tb.Scenario, traces: list[str]) -> None:
    run = tb.simulate(scenario.with_({"record.traces": traces}))
    figure = run.plot()
    lines = [line for axis in figure.axes for line in axis.lines]
    # Two windows and the only queue that ever held a packet; or the dots of flows and of queues.
    assert len(figure.axes) == 2
    assert len(lines) == (3 if traces else 2)


def test_nine_panels_keep_labels_apart_and_colours_consistent(scenario: tb.Scenario) -> None:
    kinds = ["cwnd", "ssthresh", "rtt", "in_flight", "segments", "acks", "throughput", "queue", "drops"]
    figure = tb.simulate(scenario.with_({"record.traces": kinds})).plot()
    figure.draw_without_rendering()
    boxes = [axis.get_tightbbox() for axis in figure.axes]
    assert len(boxes) == 9
    assert all(above.y0 >= below.y1 for above, below in pairwise(boxes) if above is not None and below is not None)
    colours = {(line.get_label(), line.get_color()) for axis in figure.axes for line in axis.lines}
    # Two flows and a queue, each with one colour throughout.
    assert len(colours) == len({name for name, _ in colours}) == 3


def test_a_long_line_keeps_its_ends_and_the_extremes_of_every_span() -> None:
    times = np.arange(100_000) / 1000
    values = np.sin(times) + (times == 50.0) * 5 - (times == 75.123) * 5
    thin_times, thin_values = thinned(times, values)
    assert len(thin_times) <= 8000
    assert (thin_times[0], thin_times[-1]) == (times[0], times[-1])
    assert np.all(np.diff(thin_times) > 0)
    np.testing.assert_array_equal(thin_values, values[(thin_times * 1000).round().astype(int)])
    for start in range(0, 100_000, 5000):
        time_range = (thin_times >= times[start]) & (thin_times < times[start] + 5)
        whole = values[start : start + 5000]
        assert (thin_values[time_range].min(), thin_values[time_range].max()) == (whole.min(), whole.max())


FLOWS: Any = {
    "web": {"count": 3, "propagation_rtt": ["40 ms", "50 ms", "60 ms"], "tcp": {"preset": "sack"}},
    "bulk": {"propagation_rtt": "80 ms", "tcp": {"preset": "cubic"}},
}
SCENARIO = tb.dumbbell(
    rate="10 Mbps", delay="5 ms", buffer="20 packets", flows=FLOWS, duration="5 s", traces=["cwnd", "queue", "drops"]
)


def drawn(figure: Any) -> list[list[str]]:
    """The names of the lines of each panel."""
    return [[str(line.get_label()) for line in axis.lines] for axis in figure.axes]


def test_traces_lines_and_a_span_are_chosen() -> None:
    run = tb.simulate(SCENARIO)
    assert drawn(run.plot("cwnd")) == [["bulk 0", "web 0", "web 1", "web 2"]]
    assert drawn(run.plot(("queue", "cwnd"), lines=("web", "bottleneck"))) == [["bottleneck"], ["web 0", "web 1", "web 2"]]
    # Traces without a row for the selection are omitted.
    assert drawn(run.plot(lines="bottleneck")) == [["bottleneck"]]
    (axis,) = run.plot("cwnd", lines="web 1", time_range=(2, 3)).axes
    assert axis.get_xlim() == (2, 3)
    (line,) = axis.lines
    times = np.asarray(line.get_xdata())
    # The value at the start of the time_range, and changes within it.
    assert times[0] <= 2
    assert times[-1] == 3
    trace = run.trace("cwnd").where(group="web", flow=1)
    assert times[0] == trace["time_s"][trace["time_s"] < 2].max()
    for points in run.plot("drops", time_range=(2, 5)).axes[0].lines:
        assert np.asarray(points.get_xdata()).min() >= 2


def test_groups_have_a_colour_each() -> None:
    (axis,) = tb.simulate(SCENARIO).plot("cwnd", by="group").axes
    colours = {line.get_color() for line in axis.lines}
    assert len(axis.lines) == 4
    assert len(colours) == 2
    named = [line.get_label() for line in axis.lines if not str(line.get_label()).startswith("_")]
    assert named == ["bulk", "web"]


def test_runs_are_drawn_side_by_side() -> None:
    run = tb.simulate(SCENARIO)
    other = tb.simulate(SCENARIO.with_({"name": "with Reno", "flows.bulk.tcp.preset": "newreno"}))
    figure = run.plot(("cwnd", "queue"), compare=other)
    assert [axis.get_title(loc="right") for axis in figure.axes] == ["scenario", "with Reno", "", ""]
    narrow = run.plot("queue", compare=other, width=3.5)
    assert [axis.get_title() for axis in narrow.axes] == ["scenario\nqueue", "with Reno\nqueue"]
    assert figure.axes[0].get_ylim() == figure.axes[1].get_ylim()
    assert len(run.plot("queue", compare={"a": other, "b": run}).axes) == 3


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ({"traces": "rtt"}, "add it to `record.traces`"),
        ({"lines": "wab"}, "did you mean `web`"),
        ({"lines": "web 3"}, "web 3"),
        ({"time_range": (3, 2)}, "the earlier one first"),
        ({"by": "queue"}, "expected `flow` or `group`"),
    ],
)
def test_unknown_traces_and_lines_are_rejected(words: Any, told: str) -> None:
    with pytest.raises((tb.UnknownName, tb.ParameterError), match=told):
        tb.simulate(SCENARIO).plot(**words)


def test_runs_that_cannot_be_compared_are_rejected() -> None:
    flows: Any = {"web": {"count": 2, "tcp": {"preset": "sack"}}}
    scenario = tb.dumbbell(
        rate="10 Mbps", delay="10 ms", buffer="20 packets", flows=flows, duration="2 s", traces=["cwnd", "queue"]
    )
    run, other = tb.simulate(scenario), tb.simulate(scenario.with_({"record.traces": ["rtt"]}))
    assert len(run.plot("cwnd", compare=run).axes) == 2
    with pytest.raises(tb.ParameterError, match="no trace in common"):
        run.plot(compare=other)
    bad: list[tuple[dict[str, Any], str]] = [
        ({"compare": [other]}, "expected a run, or runs by name"),
        ({"compare": {"x": 3}}, "expected a run, or runs by name"),
        ({"time_range": (1, 5)}, "two times within 2 s"),
        ({"time_range": ("a", 2)}, "two times within 2 s"),
        ({"time_range": 5}, "two times within 2 s"),
        ({"time_range": (0, float("inf"))}, "two times within 2 s"),
        ({"traces": ()}, "expected at least one"),
    ]
    for arguments, says in bad:
        with pytest.raises(tb.ParameterError, match=says):
            run.plot(**arguments)


def test_a_pdf_has_truetype_fonts_and_the_width_of_a_column(tmp_path: Path) -> None:
    run = tb.simulate(SCENARIO)
    figure = run.plot(width=3.5)
    figure.savefig(tmp_path / "figure.pdf")
    written = (tmp_path / "figure.pdf").read_bytes()
    assert b"/FontFile2" in written
    assert b"/Type3" not in written
    assert figure.get_size_inches()[0] == 3.5
    with pytest.raises(tb.ParameterError, match="`width` is 350; expected inches"):
        run.plot(width=350)


def test_a_title_of_the_user_replaces_that_of_the_panel() -> None:
    run = tb.simulate(SCENARIO)
    (axis, *_) = run.plot("cwnd").axes
    axis.set_title("mine")
    texts = [text.get_text() for text in [*axis.texts, axis.title, axis._left_title, axis._right_title]]  # type: ignore[attr-defined]
    assert [text for text in texts if text] == ["mine"]
