"""The measures of chapter 2 of `cui-thesis`, and the models that they are compared with."""

from __future__ import annotations

import numpy as np
import pytest

import tailback as tb
from tailback.papers import experiments
from tailback_papers.cui_thesis import marked_tcp, signals


def test_marks_that_are_spread_evenly_are_twice_as_many() -> None:
    # One in twenty before: 1 to 19 packets apart, with equal probability. One in four: 1, 2 or 3.
    assert [signals.spread(p) for p in (0, 0.05, 0.25, 0.5, 0.7, 1)] == pytest.approx([0, 0.1, 0.5, 1, 1, 1])
    # Three in ten: 1, 2, 3 with probabilities 3/7, 3/7 and 1/7, because the third is certain. The mean is 12/7.
    assert signals.spread(0.3) == pytest.approx(7 / 12)


def test_the_probability_of_figure_2_1() -> None:
    assert [signals.raw(queue, True) for queue in (10, 20, 40, 60, 90, 120, 130)] == pytest.approx([0, 0, 0.05, 0.1, 0.55, 1, 1])
    assert [signals.raw(queue, False) for queue in (40, 59.999, 60)] == pytest.approx([0.05, 0.1, 1], abs=1e-5)


def test_every_packet_finds_the_requested_queue() -> None:
    run = tb.simulate(signals.constant_window(25, True).with_({"record.traces": {"queue": ["bottleneck"]}, "duration": "12 s"}))
    trace = run.trace("queue")
    settled = np.asarray(trace["queue_units"])[np.asarray(trace["time_s"]) > 1]
    # Before and after an arrival.
    assert set(settled) == {25, 26}


def test_the_price_is_held_at_the_requested_value() -> None:
    run = tb.simulate(signals.priced(3, 1.0))
    assert signals.prices(run) == pytest.approx([1 / 3] * 3, rel=0.01)
    assert abs(signals.off_link(run)) < 0.02
    assert signals.end_to_end(run) == pytest.approx(0.5, abs=0.03)


def test_the_linear_system_depends_on_the_product_of_delay_and_capacity() -> None:
    assert marked_tcp.loop(20, 100).gain == pytest.approx(marked_tcp.loop(40, 50).gain)
    # At rest p W^2 = 2, with p twice 0.1 / 400 for each packet beyond 100.
    queue = marked_tcp.loop(40, 100).queue
    assert (queue - 100) * 0.0005 * ((500 + queue) / 50) ** 2 == pytest.approx(2)
    assert marked_tcp.loop(40, marked_tcp.LIMITS["delay"]).gain == pytest.approx(1)


def test_a_queue_varies_more_beyond_the_condition() -> None:
    within, beyond = (marked_tcp.variation(tb.simulate(marked_tcp.regulated(40, delay))) for delay in (20, 150))
    assert within < 0.1
    assert beyond > 0.9


def test_chapter_2_comes_first() -> None:
    found = [experiment.id for experiment in experiments("cui-thesis")]
    assert found[:4] == [f"cui-thesis/{name}" for name in ("fig2.1", "fig2.2", "rem-load", "red-stability")]
