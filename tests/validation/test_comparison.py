"""Comparison of kernel and simulator: verdicts, measures, and the report."""

from __future__ import annotations

import math

import pytest

import tailback as tb
from tailback._validation import measures
from tailback._validation.cases import full, quick
from tailback._validation.comparison import Verdict, compared
from tailback._validation.validating import Validation

CASES = {case.name: case for case in (*quick().cases, *full().cases)}
USUAL = CASES["Reno, 1 flow, 20 Mbps, 40 ms, 1 BDP"]
PERIOD = measures.PERIOD


@pytest.mark.parametrize(
    ("simulated", "verdict"),
    [
        ([4.0, 4.1, 4.2, 4.3], Verdict.AGREE),
        ([4.08, 4.18, 4.29, 4.39], Verdict.AGREE),
        ([8.0, 8.2, 8.4, 8.6], Verdict.DIFFER),
        ([3.0, 5.2, 4.0, 4.9], Verdict.INCONCLUSIVE),
        # Outside the tolerance on average, but not significantly.
        ([4.2, 4.2, 4.4, 4.5], Verdict.INCONCLUSIVE),
    ],
)
def test_the_whole_interval_decides(simulated: list[float], verdict: Verdict) -> None:
    assert compared(USUAL, PERIOD, [4.0, 4.1, 4.2, 4.3], simulated).verdict is verdict


def test_common_variation_does_not_widen_the_interval() -> None:
    found = compared(USUAL, PERIOD, [2.0, 4.0, 8.0], [2.02, 4.02, 8.02])
    assert found.kernel.half > 5
    assert found.difference.half < 1e-9
    assert found.verdict is Verdict.AGREE


def test_runs_with_an_undefined_measure_are_excluded() -> None:
    found = compared(USUAL, PERIOD, [4.0, math.nan, 4.2], [4.0, 4.0, 4.2])
    assert (found.seeds, found.verdict) == (2, Verdict.AGREE)
    assert compared(USUAL, PERIOD, [4.0, math.nan], [4.0, 4.0]).verdict is Verdict.INCONCLUSIVE


def test_a_reference_of_0_is_compared_absolutely() -> None:
    found = compared(USUAL, measures.TIMEOUTS, [0, 0, 0], [0, 0, 0])
    assert (found.verdict, found.difference.mean) == (Verdict.AGREE, 0)
    assert compared(USUAL, measures.TIMEOUTS, [0, 0, 0], [3, 3, 3]).verdict is Verdict.DIFFER


# With sequential transfers, the last ones would start later.
@pytest.mark.filterwarnings("ignore:.*never start")
@pytest.mark.parametrize("case", full().cases, ids=lambda case: case.name)
def test_every_case_runs_and_has_its_measures(case: tb._validation.cases.Case) -> None:
    run = tb.simulate(case.scenario.with_({"duration": "12 s", "warmup": "2 s"}), seed=1)
    values = [measure.of(run) for measure in case.measures]
    assert len(values) >= 2
    assert all(isinstance(value, float) for value in values)


def test_a_sawtooth_is_measured_correctly() -> None:
    """Reno with an acknowledgement per packet adds one segment per RTT: from W/2 to W in W/2 of them."""
    case = CASES["Reno, 1 flow, 20 Mbps, 40 ms, 1 BDP, every packet acknowledged"]
    run = tb.simulate(case.scenario.with_({"flows.flow1.propagation_rtt": "40 ms"}), seed=1)
    # 66.7 packets are in flight in 40 ms, and 67 more are queued when one is lost.
    assert measures.depth(run) == pytest.approx(67, abs=2)
    assert measures.drops_per_event(run) == 1
    # 67 RTTs of 40 ms and the average wait for 33 packets of 0.6 ms, and two RTTs of 80 ms for the loss.
    assert measures.period(run) == pytest.approx(67 * (0.040 + 33.5 * 0.6e-3) + 0.16, rel=0.05)


def test_the_report_lists_differences_first() -> None:
    differing = compared(USUAL, PERIOD, [4, 4.1], [8, 8.1])
    shares = compared(CASES["Reno and CUBIC, 2 flows, 20 Mbps, 40 ms, 1 BDP"], measures.SHARE, [0.5, 0.4], [0.45, 0.41])
    validation = Validation(quick(), [shares, differing], 4, 4, {"slipped_share": 0.002, "lateness_p99_s": 1e-4})
    page = validation.markdown()
    parts = page[page.index("## Differences") : page.index("## All comparisons")]
    assert "4.05 ± 0.64 s | 8.05 ± 0.64 s | +98.8% ± 0.0%" in parts
    assert "share" not in parts
    assert "0.45 ± 0.64 (0.40 to 0.50)" in page
    assert validation.count(Verdict.DIFFER) == 1
    assert validation.to_dict()["comparisons"][1]["values"] == ((4, 8), (4.1, 8.1))
