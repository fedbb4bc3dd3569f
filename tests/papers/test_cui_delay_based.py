"""The measures of chapter 4 of `cui-thesis`."""

import numpy as np
import pytest

import tailback as tb
from tailback_papers.cui_thesis import fast, over_time, overflow, vegas


def test_measures_apply_to_models_and_runs() -> None:
    expected = fast.expected_of_fast(2, 200)
    assert expected.shares.tolist() == pytest.approx([0.381966, 0.618034], abs=1e-6)
    # (4.23): the second flow adds the golden ratio times alpha.
    assert fast.queue(expected) == pytest.approx(200 * (1 + (1 + 5**0.5) / 2))
    assert (fast.off_model(expected), vegas.off_model(vegas.expected_of_vegas(3, 250))) == (0, 0)
    assert fast.first_of_equal(expected) == pytest.approx(0.763932, abs=1e-6)


def test_a_run_of_two_flows_is_close_to_its_model() -> None:
    run = tb.simulate(fast.arrivals(2, fast.tcp(50, update="module"), spacing_s=30))
    assert fast.SHARE_1(run) == pytest.approx(0.382, abs=0.02)
    assert fast.off_model(run) < 0.05


def test_a_constant_window_is_drawn_to_the_end() -> None:
    scenario = fast.three_flows("module", 40, "one way").with_({"duration": "30 s", "warmup": "0 s", "record.traces": ["cwnd"]})
    run = tb.simulate(scenario.with_({f"flows.{over_time.name(1)}.stop": "25 s"}))
    ends = [over_time.window(run, number)[0][-1] for number in (1, 2)]
    assert ends == [25, 30]
    times, windows = over_time.window(run, 2)
    assert len(times) == len(windows)
    assert np.all(np.diff(times) >= 0)


def test_intervals_after_overflows_are_distinguished() -> None:
    run = tb.simulate(overflow.four_flows(overflow.ROUND_TRIPS_MS, (800,) * 4, "module", "sack").with_({"duration": "60 s"}))
    assert len(run.trace("drops")) > 0
    assert 0.5 < overflow.shorter_at_overflow(run) < 2
