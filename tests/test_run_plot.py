"""Pictures of a run."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import tailback as tb
from tailback import _run_plot


@pytest.mark.parametrize("traces", [["cwnd", "queue"], []])
def test_a_run_can_be_plotted(scenario: tb.Scenario, traces: list[str]) -> None:
    run = tb.simulate(scenario.with_({"record.traces": traces}))
    figure = run.plot()
    lines = [line for axis in figure.axes for line in axis.lines]
    # Two windows and the one queue that ever held a packet; or the dots of flows and of queues.
    assert len(figure.axes) == 2
    assert len(lines) == (3 if traces else 2)


def test_nine_panels_keep_their_words_apart_and_their_colours(scenario: tb.Scenario) -> None:
    kinds = ["cwnd", "ssthresh", "rtt", "in_flight", "segments", "acks", "throughput", "queue", "drops"]
    figure = tb.simulate(scenario.with_({"record.traces": kinds})).plot()
    figure.draw_without_rendering()
    boxes = [axis.get_tightbbox() for axis in figure.axes]
    assert len(boxes) == 9
    assert all(above.y0 >= below.y1 for above, below in pairwise(boxes) if above is not None and below is not None)
    colours = {(line.get_label(), line.get_color()) for axis in figure.axes for line in axis.lines}
    # Two flows and a queue, each of one colour throughout.
    assert len(colours) == len({name for name, _ in colours}) == 3


def test_a_long_line_keeps_its_ends_and_the_extremes_of_every_span() -> None:
    times = np.arange(100_000) / 1000
    values = np.sin(times) + (times == 50.0) * 5 - (times == 75.123) * 5
    thin_times, thin_values = _run_plot._thinned(times, values)
    assert len(thin_times) <= 8000
    assert (thin_times[0], thin_times[-1]) == (times[0], times[-1])
    assert np.all(np.diff(thin_times) > 0)
    np.testing.assert_array_equal(thin_values, values[(thin_times * 1000).round().astype(int)])
    for start in range(0, 100_000, 5000):
        span = (thin_times >= times[start]) & (thin_times < times[start] + 5)
        whole = values[start : start + 5000]
        assert (thin_values[span].min(), thin_values[span].max()) == (whole.min(), whole.max())
