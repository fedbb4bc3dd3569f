"""Comparison of kernel and simulator: verdicts, measures, and the report."""

from __future__ import annotations

import dataclasses
import math
import sys
from pathlib import Path
from typing import Any

import pytest

import tailback as tb
from tailback._emulation.machine import LIMITS
from tailback._validation import measures, validating
from tailback._validation.cases import CaseSet, emulated, full, quick
from tailback._validation.comparison import Spread, Verdict, compared
from tailback._validation.kernel_runs import KernelCase, KernelRuns, identity, queue_resolution
from tailback._validation.validating import Validation
from tailback._validation.virtual_runs import VirtualKernel

CASES = {case.name: case for case in (*quick().cases, *full().cases)}
USUAL = CASES["Reno, 1 BDP"]
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


@pytest.mark.parametrize(
    ("simulated", "verdict"),
    [
        ([1, 2, 1, 2, 1], Verdict.WITHIN_SPREAD),
        ([2, 1, 2, 2, 2], Verdict.WITHIN_SPREAD),
        # Beyond all values of the other side, but not significantly; and equal.
        ([1, 6, 1, 5, 1], Verdict.INCONCLUSIVE),
        ([1, 1, 2, 2, 1], Verdict.AGREE),
        ([9, 9, 8, 9, 9], Verdict.DIFFER),
    ],
)
def test_values_without_noise_may_differ_as_much_as_those_of_other_starts(simulated: list[float], verdict: Verdict) -> None:
    kernel = [1, 1, 2, 2, 1]
    assert compared(USUAL, PERIOD, kernel, simulated, spread=Spread.STARTS).verdict is verdict
    if verdict is Verdict.WITHIN_SPREAD:
        assert compared(USUAL, PERIOD, kernel, simulated).verdict is Verdict.INCONCLUSIVE


def test_kernels_in_virtual_time_run_the_same_cases_with_the_settings_of_their_version() -> None:
    kernel = VirtualKernel("6.12.117", 1000, "ab")
    case = CASES["CUBIC, 1 BDP, no SACK"]
    flow = kernel.kernel_scenario(case).to_dict()["flows"]["flow1"]
    parameters = {"kernel": "6.12.117", "hz": 1000, "ecn": False, "sysctl": {"net": {"ipv4": {"tcp_sack": False}}}}
    assert flow["tcp"] == {"stack": "linux", "congestion": "cubic", "parameters": parameters}
    assert {**flow, "tcp": None} == {**case.scenario.to_dict()["flows"]["flow1"], "tcp": None}
    every = kernel.kernel_scenario(CASES["Reno, 1 BDP, every packet acknowledged"]).to_dict()["flows"]["flow1"]
    assert every["tcp"]["parameters"]["quickack"] is True
    simulated = kernel.simulated_scenario(CASES["CUBIC, 1 BDP"]).to_dict()["flows"]["flow1"]["tcp"]
    assert (simulated["timer"], "slow_start" in simulated) == ({"jiffy": "1 ms"}, False)
    # 374 and 16 acknowledgements of single segments were observed with MTUs of 1500 and 1130 bytes.
    assert simulated["delayed_ack"] == {"quickack_segments": 375}
    small = dataclasses.replace(
        CASES["CUBIC, 1 BDP"], scenario=CASES["CUBIC, 1 BDP"].scenario.with_({"flows.flow1.tcp.mss": "1078 B"})
    )
    assert kernel.simulated_scenario(small).to_dict()["flows"]["flow1"]["tcp"]["delayed_ack"] == {"quickack_segments": 17}
    for version, rule in {"6.12.12": "hystart_from_16", "6.13.1": "hystart_from_16", "6.18.44": None, "5.15.3": None}.items():
        tcp = VirtualKernel(version, 1000, "ab").simulated_scenario(CASES["CUBIC, 1 BDP"]).to_dict()["flows"]["flow1"]["tcp"]
        assert tcp.get("slow_start") == rule, version
    old = VirtualKernel("6.1.9", 250, "ab").simulated_scenario(USUAL).to_dict()["flows"]["flow1"]["tcp"]
    assert (old["timer"], old["syn_linear_timeouts"], "slow_start" in old) == ({"jiffy": "4 ms"}, 0, False)
    identities = [VirtualKernel(*of).identity(USUAL) for of in (("6.1", 250, "a"), ("6.1", 250, "a"), ("6.1", 250, "b"))]
    assert identities[0] == identities[1] != identities[2]


def test_an_emulation_runs_the_cases_of_three_controllers() -> None:
    modules = {module for case in emulated(full()).cases for module in case.modules}
    assert modules == {"reno", "cubic", "bbr"}
    everything = {module for case in full().cases for module in case.modules}
    assert everything >= {"dctcp", "htcp", "highspeed", "scalable", "vegas"}


def test_a_missing_kernel_is_an_error_with_the_command_that_builds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAILBACK_KERNELS", str(tmp_path))
    with pytest.raises(tb.ParameterError) as raised:
        tb.validate(linux="6.12", hz=250)
    if sys.platform == "linux":
        assert "`tailback kernel build --source linux-6.12.tar.xz --hz 250`" in str(raised.value)


def test_measurements_in_virtual_time_are_compared_without_a_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = quick().cases[1]
    monkeypatch.setattr(validating, "quick", lambda: CaseSet("quick", (case,), 20))
    kernel = VirtualKernel("6.12.117", 1000, "ab")
    measured = KernelCase(case.name, kernel.identity(case), {}, {"utilisation": [1.0] * 4, "timeouts": [0.0] * 4})
    file = tmp_path / "kernel.json"
    file.write_text(KernelRuns("quick", str(kernel), "2026-11-29", [measured], vars(kernel)).to_json())
    done = tb.validate(kernel=file)
    assert (done.runs, done.kept_up, done.missing) == (4, 4, [])
    assert {each.verdict for each in done.comparisons if each.measure == "utilisation"} == {Verdict.AGREE}
    assert done.to_dict()["timing"] == {}
    assert "Its SHA-256 is ab." in " ".join(done.markdown().split())


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


def test_a_queue_is_compared_within_the_lateness_of_packets() -> None:
    """A tenth of 20 Mbit/s are 167 packets per second of 1500 bytes; by 0.1 ms each, the mean queue is off by 0.017 packets."""
    timing = {name: [1e-4, 1e-4] if name == "lateness_p99_s" else [0.0, 0.0] for name in LIMITS}
    real = KernelCase(USUAL.name, "", timing, {"utilisation": [0.09, 0.11], "mean queue": [0.10, 0.12]})
    resolution = queue_resolution(USUAL, real)
    assert resolution == pytest.approx(1e-4 * 2e6 / 12e3)

    def verdict(off: float) -> Verdict:
        queues = real.measures["mean queue"]
        return compared(USUAL, measures.QUEUE, queues, [queue + off for queue in queues], resolution).verdict

    assert [verdict(0.016), verdict(0.018)] == [Verdict.AGREE, Verdict.DIFFER]


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
    case = CASES["Reno, 1 BDP, every packet acknowledged"]
    run = tb.simulate(case.scenario.with_({"flows.flow1.propagation_rtt": "40 ms"}), seed=1)
    # 66.7 packets are in flight in 40 ms, and 67 more are queued when one is lost.
    assert measures.depth(run) == pytest.approx(67, abs=2)
    assert measures.drops_per_event(run) == 1
    # 67 RTTs of 40 ms and the average wait for 33 packets of 0.6 ms, and two RTTs of 80 ms for the loss.
    assert measures.period(run) == pytest.approx(67 * (0.040 + 33.5 * 0.6e-3) + 0.16, rel=0.05)


def test_the_report_lists_differences_first() -> None:
    differing = compared(USUAL, PERIOD, [4, 4.1], [8, 8.1])
    shares = compared(CASES["Reno and CUBIC, 1 BDP"], measures.SHARE, [0.5, 0.4], [0.45, 0.41])
    timing = {name: [0.0, 0.002] for name in LIMITS}
    kernel = KernelRuns("quick", "Linux 6.18", "2026-11-27", [KernelCase(USUAL.name, "", timing, {})])
    validation = Validation(quick(), [shares, differing], kernel, [USUAL.name])
    page = validation.markdown()
    parts = page[page.index("## Differences") : page.index("## All comparisons")]
    assert "4.05±0.64 s|8.05±0.64 s|+98.8±0.0 %" in parts
    assert "share" not in parts
    assert f"The kernel has not run these cases, or they changed since: {USUAL.name}." in page
    assert "|*0.45, -4.4±84.7*|" in page
    assert "|all|0|0|1|1|" in page
    assert validation.count(Verdict.DIFFER) == 1
    assert validation.to_dict()["comparisons"][1]["values"] == ((4, 8), (4.1, 8.1))


def test_the_identity_follows_the_network_and_the_kernel_but_not_simulated_senders() -> None:
    same = dataclasses.replace(USUAL, scenario=USUAL.scenario.with_({"flows.flow1.tcp.limited_transmit": False}))
    assert identity(same) == identity(USUAL)
    changes: list[dict[str, Any]] = [
        {"links.bottleneck.queue.buffer": "60 packets"},
        {"links.bottleneck.delay": "6 ms"},
        {"flows.flow1.start": "1 s"},
        {"flows.flow1.tcp.delayed_ack": False},
    ]
    others = {identity(dataclasses.replace(USUAL, scenario=USUAL.scenario.with_(change))) for change in changes}
    assert len(others | {identity(USUAL)}) == 1 + len(changes)


def test_measurements_of_a_kernel_are_stored_and_compared_without_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case, other = quick().cases[1], quick().cases[-1]
    monkeypatch.setattr(validating, "quick", lambda: CaseSet("quick", (case, other), 20))
    measured = KernelCase(case.name, identity(case), {name: [0.0] * 4 for name in LIMITS}, {"utilisation": [0.5] * 4})
    stored = KernelRuns("quick", "Linux 6.18", "2026-11-27", [measured])
    file = tmp_path / "kernel.json"
    file.write_text(stored.to_json())
    assert KernelRuns.load(file) == stored
    done = tb.validate(kernel=file)
    assert done.count(Verdict.DIFFER) == 1
    assert done.missing == [other.name]
    with pytest.raises(tb.ParameterError, match="determines the pack"):
        tb.validate(kernel=file, full_pack=True)
    for damaged in ("", "[]", '{"cases": [{}]}', '{"cases": []}'):
        file.write_text(damaged)
        with pytest.raises(tb.ParameterError, match="not a file of kernel measurements"):
            tb.validate(kernel=file)
