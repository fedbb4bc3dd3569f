"""Fits, extrapolation, and the test for a Poisson process: compared with SciPy, and on simulations."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import optimize, stats

import tailback as tb
from tailback.models import extrapolate, fit, poisson_check
from tailback.models._extrapolation import _anderson_darling, _fewest_by_chance
from tailback.prediction import scaled, sending_intervals

# cui-thesis, section 3.3.2: bit rates in Gb/s.
RATES = np.array([0.4, 0.8, 1.2, 1.6, 2.0, 2.4, 4, 6, 8, 10])


@pytest.mark.parametrize(
    ("a", "b", "c", "at_40"), [(0.7022, 0.048088, 0.125893, 0.7034060), (-3.7116276, -0.11737622, -0.32710271, -3.7145382)]
)
def test_fits_recover_the_curves_of_the_document(a: float, b: float, c: float, at_40: float) -> None:
    curve = fit(RATES, a + b / (RATES - c))
    assert curve.parameters == pytest.approx((a, b, c), rel=1e-6)
    assert curve.predict(40).value == pytest.approx(at_40, abs=5e-8)
    assert curve.standard_error < 1e-8
    assert curve.correlation == pytest.approx(1)


def test_a_noisy_hyperbola_agrees_with_scipy() -> None:
    random = np.random.default_rng(7)
    y = 0.7 + 0.05 / (RATES - 0.1) + random.normal(0, 0.005, len(RATES))
    curve = fit(RATES, y)
    best, covariance = optimize.curve_fit(lambda x, a, b, c: a + b / (x - c), RATES, y, p0=(0.7, 0.05, 0.1))
    assert curve.parameters == pytest.approx(best, rel=1e-5)
    assert np.array(curve.covariance) == pytest.approx(covariance, rel=1e-3)
    residuals = y - np.array([curve.at(x) for x in RATES])
    assert curve.standard_error == pytest.approx(np.sqrt((residuals**2).sum() / 7))
    assert curve.correlation == pytest.approx(np.sqrt(1 - (residuals**2).sum() / ((y - y.mean()) ** 2).sum()))


def test_a_line_agrees_with_scipy_and_its_standard_error_grows_with_distance() -> None:
    random = np.random.default_rng(3)
    y = 0.317 + random.normal(0, 0.003, len(RATES))
    curve, other = fit(RATES, y, "line"), stats.linregress(RATES, y)
    assert curve.parameters == pytest.approx((other.intercept, other.slope))
    assert curve.correlation == pytest.approx(abs(other.rvalue))
    near, far = curve.predict(float(RATES.mean())), curve.predict(40)
    assert near.standard_error == pytest.approx(curve.standard_error / np.sqrt(len(RATES)))
    assert far.standard_error > 5 * near.standard_error
    assert fit(RATES, y, "constant").predict(40).value == pytest.approx(y.mean())


def test_the_standard_error_has_its_nominal_coverage() -> None:
    """A hyperbola through ten noisy points, at 40: Student's 95 % interval contains the truth in 93 to 97 of a hundred trials."""
    random = np.random.default_rng(11)
    truth = 0.7 + 0.05 / (RATES - 0.1)
    errors = []
    for _ in range(1000):
        found = fit(RATES, truth + random.normal(0, 0.002, len(RATES))).predict(40)
        errors.append(abs(found.value - (0.7 + 0.05 / 39.9)) / found.standard_error)
    covered = np.mean(np.array(errors) <= stats.t.ppf(0.975, len(RATES) - 3))
    assert 0.93 <= covered <= 0.97


def test_the_statistic_agrees_with_scipy() -> None:
    blocks = np.random.default_rng(5).exponential(2.0, (20, 200))
    with warnings.catch_warnings():
        # SciPy will return critical values in another way.
        warnings.simplefilter("ignore", FutureWarning)
        theirs = [stats.anderson(block, "expon").statistic for block in blocks]
    assert _anderson_darling(blocks) / (1 + 0.6 / 200) == pytest.approx(np.array(theirs))


def test_five_percent_of_exponential_blocks_fail_and_bounds_agree_with_scipy() -> None:
    blocks = np.random.default_rng(9).exponential(1.0, (20_000, 200))
    assert np.mean(_anderson_darling(blocks) > 1.321) == pytest.approx(0.05, abs=0.004)
    for trials, chance, tail in ((10, 0.95, 0.05), (50, 0.5, 0.025), (1000, 0.95, 0.05)):
        assert _fewest_by_chance(trials, chance, tail) == stats.binom.ppf(tail, trials, chance)


PROCESSES: dict[str, tuple[Callable[[np.random.Generator], Any], bool, bool]] = {
    "exponential": (lambda random: random.exponential(1, 20_000), True, True),
    "even": (lambda random: np.full(20_000, 1.0), False, False),
    "uniform": (lambda random: random.uniform(0, 2, 20_000), False, True),
    "a little too even": (lambda random: random.gamma(1.4, 1, 20_000), False, True),
    # Each interval is exponential and correlated with the previous one: a moving average in the copula.
    "correlated": (
        lambda random: -np.log(stats.norm.sf(np.convolve(random.normal(size=20_001), [0.15, 1.0], "valid") / np.sqrt(1.0225))),
        True,
        False,
    ),
}


@pytest.mark.parametrize("name", PROCESSES)
def test_processes_are_distinguished(name: str) -> None:
    draw, exponential, independent = PROCESSES[name]
    check = poisson_check(draw(np.random.default_rng(2)))
    assert (check.exponential, check.independent) == (exponential, independent), check
    assert check.holds == (exponential and independent)
    assert check.blocks == 100


def test_a_poisson_process_is_rejected_at_the_nominal_rate() -> None:
    random = np.random.default_rng(4)
    held = [poisson_check(random.exponential(1, 10_000)).holds for _ in range(300)]
    # Three tests, each at 5 % or below.
    assert np.mean(held) > 0.85


def test_a_poisson_source_passes_and_one_flow_of_tcp_does_not() -> None:
    """Intervals between the packets of all senders, from a run's trace."""

    def intervals(flow: Any) -> Any:
        scenario = tb.dumbbell(
            rate="10 Mbps", delay="10 ms", buffer="10 packets", flows={"web": flow}, duration="20 s", traces=["segments"]
        )
        return sending_intervals(tb.simulate(scenario))

    poisson = {"count": 3, "source": {"kind": "poisson", "rate": "2 Mbps", "packet_size": "1000 B"}}
    single = {"propagation_rtt": "60 ms", "tcp": {"preset": "newreno", "pacing": True}}
    assert poisson_check(intervals(poisson)).holds
    assert not poisson_check(intervals(single)).holds


def test_a_family_keeps_the_rate_of_each_flow() -> None:
    chain = {"rates": ["10 Mbps", "0.5 Gbps"], "delays": ["1 ms", "1 ms"], "queue": {"buffer": "9 packets"}}
    flows = {"web": {"from": "n0", "to": "n2", "count": 4, "tcp": {"preset": "sack"}}}
    small = tb.Scenario({"duration": "1 s", "topology": {"chain": chain}, "flows": flows})
    large = scaled(small, 2.5)
    large.check()
    assert large["topology.chain.rates"] == ["25 Mbps", "1.25 Gbps"]
    assert large["flows.web.count"] == 10
    with pytest.raises(tb.ParameterError, match=r"gives 4\.4 flows of `web`"):
        scaled(small, 1.1)
    with pytest.raises(tb.ParameterError, match="`factor` is -1"):
        scaled(small, -1)


def test_arrivals_scale_with_the_rate_of_the_link() -> None:
    web: Any = {"size": "10 kB", "tcp": {"preset": "sack"}}
    flows: Any = {
        "load": {**web, "arrivals": {"load": 0.5, "reference_rate": "10 Mbps"}},
        "interval": {**web, "arrivals": {"mean_interval": "10 ms"}, "count": 100},
    }
    large = scaled(tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="50 packets", flows=flows, duration="3 s"), 2)
    assert large["flows.load.arrivals"] == {"load": 0.5, "reference_rate": "20 Mbps"}
    assert (large["flows.interval.arrivals.mean_interval"], large["flows.interval.count"]) == ("5 ms", 200)


def test_extrapolation_is_rejected_without_a_poisson_process() -> None:
    points = 0.7 + 0.05 / (RATES - 0.1)
    random = np.random.default_rng(1)
    found = extrapolate(RATES, points, 40, intervals_s=random.exponential(1e-6, 10_000))
    assert found.value == pytest.approx(0.7 + 0.05 / 39.9)
    with pytest.raises(tb.ParameterError, match="arrivals are not a Poisson process: 0 of 50 blocks have exponential"):
        extrapolate(RATES, points, 40, intervals_s=np.full(10_000, 1e-6))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fit([1, 2], [1, 2]), "2 different `x`; expected at least 3 for a hyperbola"),
        (lambda: fit([1, 2, 3], [1, 2]), r"`x` has shape \(3,\) and `y` \(2,\)"),
        (lambda: fit([1, 2, 3], [1, 2, float("nan")]), "not finite"),
        (lambda: fit([1, 2, 3, 4], [1, 2, 3, 4]), "expected the form `line`"),
        (lambda: fit([1, 2, 3], [1, 2, 3], "parabola"), "no form of curve `parabola`"),  # type: ignore[arg-type]
        (lambda: fit([1, 2], [1, 2], "line").predict(float("inf")), "`x` is inf"),
        (lambda: poisson_check([1.0] * 100), "at least 2000 intervals"),
        (lambda: poisson_check([-1.0] * 5000), "has invalid values"),
    ],
)
def test_bad_input_is_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises((tb.ParameterError, tb.UnknownName), match=message):
        call()
