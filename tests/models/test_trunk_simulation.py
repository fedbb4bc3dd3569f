"""The simulation of a trunk from Python: results, errors and interruption. Its accuracy is tested in Rust."""

from __future__ import annotations

import math
import pickle
from typing import Any

import pytest

import tailback as tb
from tailback.errors import ParameterError
from tailback.models import TrunkInterrupted

TRUNK: dict[str, Any] = {"inputs": 16, "transmitters": 2, "buffer": 2, "load": 0.5}


def test_the_number_of_threads_changes_nothing() -> None:
    results = [tb.models.simulate_trunk(**TRUNK, relative_width=0.2, threads=threads) for threads in (1, 3, 40)]
    assert results[0] == results[1] == results[2]
    assert results[0] != tb.models.simulate_trunk(**TRUNK, relative_width=0.2, seed=2)


def test_an_interval_reaches_its_width_and_contains_the_exact_loss() -> None:
    measured = tb.models.simulate_trunk(**{**TRUNK, "buffer": 0}, relative_width=0.02)
    exact = tb.models.trunk_loss(**{**TRUNK, "buffer": 0}, model="g1dm").loss
    assert measured.narrow
    assert measured.method == "direct"
    assert measured.relative_width <= 0.02
    assert measured.interval.low < measured.loss < measured.interval.high
    # Without a buffer G1DM is Engset's loss formula, with the arrivals of the detailed model except for discarding inputs.
    assert abs(measured.loss / exact - 1) < 0.03


def test_rare_losses_use_splitting() -> None:
    trunk: dict[str, Any] = {"inputs": 1_000_000, "transmitters": 1, "buffer": 11, "load": 0.1}
    measured = tb.models.simulate_trunk(**trunk, relative_width=0.3)
    exact = tb.models.trunk_loss(**trunk, model="mmkkb").loss
    assert measured.method == "splitting"
    assert len(measured.thresholds) > 8
    assert measured.simulated < 20_000_000
    assert abs(measured.loss - exact) < 1.8 * measured.half_width


def test_no_simulation_is_needed_with_a_transmitter_per_input() -> None:
    measured = tb.models.simulate_trunk(inputs=3, transmitters=3, buffer=0, load=0.9)
    assert (measured.loss, measured.half_width, measured.method, measured.simulated) == (0.0, 0.0, "exact", 0)
    assert str(measured) == "loss 0: no loss is possible"


def test_an_unreachable_width_ends_with_the_results_so_far() -> None:
    wide = tb.models.simulate_trunk(**TRUNK, relative_width=1e-6, max_arrivals=200_000)
    assert not wide.narrow
    assert "wider than requested" in str(wide)
    none = tb.models.simulate_trunk(**{**TRUNK, "load": 1e-6}, splitting=False, max_arrivals=200_000)
    assert not none.narrow
    assert math.isnan(none.half_width)
    assert math.isnan(none.relative_width)
    assert str(none).startswith("no packet lost among ")


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"inputs": 0}, "`inputs` is 0; expected 1 to 1000000"),
        ({"inputs": 2.5}, "inputs"),
        ({"transmitters": 0}, "`transmitters` is 0"),
        ({"buffer": 1_000_001}, "`buffer` is 1000001; expected at most 1000000"),
        ({"buffer": -1}, "buffer"),
        ({"load": -0.1}, "`load` is -0.1"),
        ({"load": math.nan}, "`load` is NaN"),
        ({"load": 8.0}, "`load` is 8"),
        ({"variant": "own"}, '`variant` is "own"; expected one of own_length, fresh, coupled'),
        ({"relative_width": 0.0}, "`relative_width` is 0; expected above 0 and at most 0.5"),
        ({"relative_width": math.nan}, "`relative_width` is NaN"),
        ({"max_arrivals": 10}, "`max_arrivals` is 10; expected 100000 to 10^15"),
        ({"max_arrivals": 10**30}, "max_arrivals"),
        ({"seed": -1}, "seed"),
        ({"threads": 0}, "`threads` is 0; expected a whole number of at least 1"),
    ],
)
def test_invalid_arguments_are_named(wrong: dict[str, Any], named: str) -> None:
    with pytest.raises(ParameterError) as refused:
        tb.models.simulate_trunk(**{**TRUNK, **wrong})
    assert named in str(refused.value)


def test_progress_rises_to_one() -> None:
    fractions: list[float] = []
    tb.models.simulate_trunk(**TRUNK, relative_width=0.02, progress=fractions.append)
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0


def test_an_interruption_keeps_the_results_so_far() -> None:
    seen = 0

    def stop(_fraction: float) -> None:
        nonlocal seen
        seen += 1
        if seen > 40:
            raise KeyboardInterrupt

    with pytest.raises(TrunkInterrupted) as interrupted:
        tb.models.simulate_trunk(**TRUNK, relative_width=1e-5, progress=stop)
    kept = interrupted.value.simulation
    assert not kept.narrow
    assert 0 < kept.half_width < kept.loss
    assert kept.simulated > kept.arrivals > 0
    again = pickle.loads(pickle.dumps(interrupted.value))
    assert again.simulation == kept
