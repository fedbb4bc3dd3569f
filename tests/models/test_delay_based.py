"""Equilibria of FAST compared with simulations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tailback as tb


def shares(count: int) -> np.ndarray:
    """Shares of the capacity of FAST flows that start 20 s apart, in the last 20 s."""
    flows: dict[str, Any] = {
        f"flow{number}": {
            "propagation_rtt": "50 ms",
            "start": f"{20 * (number - 1)} s",
            "tcp": {"preset": "newreno", "timestamps": True, "delayed_ack": False, "controller": {"kind": "fast", "alpha": 50}},
        }
        for number in range(1, count + 1)
    }
    duration = 20 * (count + 1)
    scenario = tb.dumbbell(
        rate="12 Mbps", delay="5 ms", buffer="4000 packets", flows=flows, duration=f"{duration} s", warmup=f"{duration - 20} s"
    )
    goodput = tb.simulate(scenario).flows["goodput_bps"]
    return np.asarray(goodput / goodput.sum())


@pytest.mark.parametrize("count", [1, 2, 4])
def test_sequential_arrivals_match_the_model(count: int) -> None:
    expected = tb.models.fast_arrivals(arrived=count, flow=np.arange(1, count + 1)).share
    np.testing.assert_allclose(shares(count), expected, rtol=0.04)


def test_numbers_of_arrivals_are_checked() -> None:
    with pytest.raises(tb.errors.ParameterError, match="`flow` is 4; expected at most `arrived`, 3"):
        tb.models.fast_arrivals(arrived=3, flow=4)
    with pytest.raises(tb.errors.ParameterError, match="expected a whole number of at least 0"):
        tb.models.fast_arrivals(existing=0.5, arrived=3)
    assert tb.models.fast_arrivals(existing=3, arrived=1, flow=0).share < 0.25
