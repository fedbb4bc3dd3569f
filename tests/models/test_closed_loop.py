"""Closed loop and RTT means through Python. Properties of the fixed point are tested in Rust."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

import tailback as tb

# cui-thesis, section 3.7.2.
TRUNK: dict[str, Any] = {"rate_bps": 40e9, "packet_bytes": 1040, "harmonic_rtt_s": 0.1091}


def test_arrays_go_through_in_one_call_and_numbers_stay_numbers() -> None:
    channels = np.arange(1, 101)
    ends = tb.models.closed_loop(inputs=2 * channels, transmitters=channels, buffer=0, flows=4000 * channels, **TRUNK)
    assert ends.utilisation.shape == (100,)
    assert (np.diff(ends.utilisation) > 0).all()
    one = tb.models.closed_loop(inputs=200, transmitters=100, buffer=0, flows=400_000, **TRUNK)
    assert one.utilisation == ends.utilisation[-1]
    assert one.throughput_bps == pytest.approx(one.utilisation * 4e12)
    assert one.keeps_bound is True
    assert one.loss == pytest.approx(math.exp(one.ln_loss))


def test_padhye_sends_less_where_losses_cost_timeouts() -> None:
    trunk: dict[str, Any] = {"inputs": 16, "transmitters": 2, "buffer": 2, "flows": 400_000, **TRUNK}
    mathis = tb.models.closed_loop(**trunk)
    padhye = tb.models.closed_loop(**trunk, rto_s=1, receiver_window=10_000)
    assert padhye.utilisation < 0.9 * mathis.utilisation


def test_a_loss_model_beyond_its_range_is_flagged_and_carries_the_capacity() -> None:
    end = tb.models.closed_loop(inputs=2000, transmitters=1000, buffer=1_000_000, flows=4_000_000, **TRUNK)
    assert not end.keeps_bound
    assert end.utilisation == pytest.approx(1)
    assert end.loss == pytest.approx(1 - 1 / end.load)


@pytest.mark.parametrize(
    ("rtt_s", "density"),
    [
        ({"uniform": [0.06, 0.18]}, stats.uniform(0.06, 0.12)),
        ({"lognormal": {"median": 0.1, "sigma": 0.4}}, stats.lognorm(0.4, scale=0.1)),
        ({"pareto": {"mean": 0.1, "shape": 2.5}}, stats.pareto(2.5, scale=0.06)),
    ],
)
def test_means_of_distributions_are_those_of_their_densities(rtt_s: dict[str, Any], density: Any) -> None:
    trips = tb.models.round_trips(rtt_s)
    inverse, _ = integrate.quad(lambda share: 1 / density.ppf(share), 0, 1)
    assert trips.harmonic_s == pytest.approx(1 / inverse, rel=1e-6)
    assert trips.mean_s == pytest.approx(density.mean(), rel=1e-12)
    assert trips.max_s == density.support()[1]


def test_means_of_a_list() -> None:
    trips = tb.models.round_trips([0.1, 0.3])
    assert (trips.harmonic_s, trips.mean_s, trips.max_s) == pytest.approx((0.15, 0.2, 0.3))
    assert tb.models.round_trips(0.1) == tb.models.RoundTrips(0.1, 0.1, 0.1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tb.models.round_trips([]), "`rtt_s` is empty"),
        (lambda: tb.models.round_trips([0.1, -1]), "`rtt_s` is -1; expected a finite number above 0"),
        (lambda: tb.models.round_trips({"exponential": 0.1}), "which has a harmonic mean of 0"),
        (lambda: tb.models.round_trips({"unifrom": [1, 2]}), "did you mean `uniform`"),
        (lambda: tb.models.round_trips({"uniform": 3}), r"`rtt_s\.uniform` is 3; expected \[low, high\]"),
        (lambda: tb.models.round_trips({"pareto": {"mean": 0.1, "shape": 1}}), "more than 1"),
        (
            lambda: tb.models.closed_loop(inputs=2, transmitters=1, buffer=0, flows=9, **TRUNK, rto_s=1),
            "`receiver_window` is missing; expected both this and `rto_s`",
        ),
        (
            lambda: tb.models.closed_loop(inputs=2, transmitters=1, buffer=-1, flows=9, **TRUNK),
            "`buffer` is -1; expected a whole number",
        ),
        (lambda: tb.models.closed_loop(inputs=2, transmitters=0, buffer=1, flows=9, **TRUNK), "`transmitters` is 0; expected 1"),
    ],
)
def test_bad_parameters_are_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises((tb.ParameterError, tb.UnknownName), match=message):
        call()
