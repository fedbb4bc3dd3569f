"""Drawn scenarios: the distributions, the judge, the first packet that differs, and campaigns, without a kernel."""

from __future__ import annotations

import copy
import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from click.testing import CliRunner

import tailback as tb
from tailback._cli.validate import validate
from tailback._scenario import Scenario
from tailback._study import runner
from tailback._study.runner import Progress
from tailback._validation import ValidationInterrupted, campaign, campaign_page, explaining, measures, validate_drawn
from tailback._validation.cases import Case
from tailback._validation.drawn_scenario import case, is_random, scenario
from tailback._validation.draws import KINDS, Settings, distributions, draw, kinds, label
from tailback._validation.first_packet import SentPacket, first_packet, sent_packets
from tailback._validation.judged import JudgedDraw
from tailback._validation.judging import Result, judge, measures_of
from tailback._validation.virtual_runs import VirtualKernel

DRAWS = [draw(3, number) for number in range(1000)]
KERNEL = VirtualKernel("6.12.117", 1000, "0" * 64)


def test_every_kind_has_at_least_three_per_cent_of_the_draws() -> None:
    counts = Counter(kind for settings in DRAWS for kind in kinds(settings))
    assert set(counts) == set(KINDS)
    assert {kind: count for kind, count in counts.items() if count < 30} == {}


def test_a_draw_depends_on_its_seed_and_number_only() -> None:
    assert draw(3, 5) == DRAWS[5] != draw(4, 5)
    # On all platforms and versions of Python.
    text = json.dumps(DRAWS[:200], sort_keys=True)
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "25e6e93074b7c4ad"


def test_rates_round_trips_and_buffers_are_within_their_ranges_and_log_uniform() -> None:
    for key, (low, high) in {"rate_mbps": (0.5, 500), "rtt_ms": (0.2, 300)}.items():
        values = [settings[key] for settings in DRAWS]
        assert low <= min(values) < 1.1 * low
        assert 0.9 * high < max(values) <= high
        assert 0.75 * math.sqrt(low * high) < median(values) < 1.25 * math.sqrt(low * high)
    assert min(settings["buffer"] for settings in DRAWS) == 2
    for settings in DRAWS:
        bdp = settings["rate_mbps"] * settings["rtt_ms"] * 125 / settings["mtu"]
        assert settings["buffer"] <= max(4, 20, 8 * bdp)


def test_about_fifty_thousand_packets_cross_the_bottleneck() -> None:
    most = 0.0
    for settings in DRAWS:
        per_s = settings["rate_mbps"] * 125_000 / settings["mtu"]
        change = settings["impairments"].get("rate_change", {"factor": 1, "for_s": 0})
        dead_s = math.ceil(settings["impairments"].get("lost_syns", {"until_s": 0})["until_s"])
        sent_s = settings["duration_s"] - dead_s + (change["factor"] - 1) * change["for_s"]
        transfers = [flow["segments"] * flow.get("count", 1) for flow in settings["flows"] if "segments" in flow]
        if settings["traffic"] != "responses":
            most = max(most, sum(transfers) or per_s * sent_s)
    assert 40_000 < most < 1.05 * distributions()["max_packets"]


def test_draws_are_valid_scenarios_with_a_label() -> None:
    for settings in DRAWS[:60]:
        scenario(settings).normalised()
        assert label(settings).startswith(settings["flows"][0]["law"])


def test_one_run_suffices_where_nothing_is_random() -> None:
    single = next(settings for settings in DRAWS if not is_random(settings))
    several = next(settings for settings in DRAWS if len(settings["flows"]) > 1)
    assert (case(single, ()).seeds, case(several, ()).seeds) == (1, 5)


def test_a_measure_is_within_its_limit_outside_or_undecided() -> None:
    queue = measures.QUEUE
    # 10 % of the kernel's mean, or a quarter of a packet.
    assert judge(queue, [10.0], [11.0]).result is Result.WITHIN
    assert judge(queue, [1.0], [1.25]).result is Result.WITHIN
    assert judge(queue, [10.0], [11.1]).result is Result.OUTSIDE
    noisy = judge(queue, [8.0, 12.0], [10.0, 13.0])
    # Means of 10 and 11.5; a pooled variance of (8 + 4.5) / 2 and two runs on each side.
    assert noisy.result is Result.UNDECIDED
    assert noisy.z == pytest.approx(1.5 / 2.5)
    assert judge(queue, [9.9, 10.1], [11.4, 11.6]).result is Result.OUTSIDE
    assert judge(measures.TIMEOUTS, [0.0], [2.0]).result is Result.WITHIN
    none = judge(measures.TIMEOUTS, [0.0], [3.0])
    assert (none.result, none.difference) == (Result.OUTSIDE, math.inf)
    assert judge(measures.TIMEOUTS, [0.0], [0.0]).difference == 0


def test_the_report_has_shares_of_the_decided_draws_and_groups_of_first_packets() -> None:
    queue = measures.QUEUE
    found = [judge(queue, [10.0], [10.5]), judge(queue, [10.0], [12.0]), judge(queue, [8.0, 12.0], [10.0, 13.0])]
    packets = [None, {"cause": "other data, before the first retransmission"}, None]
    draws = [
        JudgedDraw(settings, kinds(settings), (judgement,), 1, packet)
        for settings, judgement, packet in zip(DRAWS[:3], found, packets, strict=True)
    ]
    assert "|mean queue|10% or 0.25 packets|3|1|50.0%|1|33.3%|" in campaign_page.by_measure(draws)
    assert campaign_page.by_cause(draws).splitlines()[-1] == "|other data, before the first retransmission|1|3-1|"
    assert [drawn.differs for drawn in draws] == [False, True, False]


def test_unfinished_transfers_last_until_the_end_of_the_run() -> None:
    settings = _transfer() | {"duration_s": 0.5}
    (completion,) = (each for each in measures_of(settings) if each.name == "completion time")
    assert completion.of(tb.simulate(scenario(settings))) == pytest.approx(0.45)


def _sent(*packets: tuple[float, int], size: int = 100) -> dict[str, list[SentPacket]]:
    ends, sent = 0, []
    for time_s, segment in packets:
        sent.append(SentPacket(time_s, segment * size, size, (segment + 1) * size <= ends))
        ends = max(ends, (segment + 1) * size)
    return {"web[0]": sent}


@pytest.mark.parametrize(
    ("simulated", "cause", "number"),
    [
        ([(0, 0), (1, 1), (2, 2)], "only the kernel retransmits, before the first retransmission", 2),
        ([(0, 0), (1.2, 1), (2, 0)], "the simulator sends later, before the first retransmission", 1),
        ([(0, 0), (1, 1)], "only the kernel sends another packet, before the first retransmission", 2),
        ([(0, 0), (1, 1), (2, 0), (3, 3)], "other data, after the first retransmission", 3),
        ([(0, 0), (1, 1), (2, 0), (3, 1)], "only the simulator retransmits, after the first retransmission", 3),
    ],
)
def test_the_first_packet_that_differs(simulated: list[tuple[float, int]], cause: str, number: int) -> None:
    found = first_packet(_sent((0, 0), (1, 1), (2, 0), (3, 2)), _sent(*simulated), mss=100, tolerance_s=0.1)
    assert found is not None
    assert (found.cause, found.number) == (cause, number)


def test_equal_packets_within_the_tolerance_do_not_differ() -> None:
    assert first_packet(_sent((0, 0), (1, 1)), _sent((0, 0), (1.05, 1)), mss=100, tolerance_s=0.1) is None


def test_captures_have_the_data_packets_of_each_flow(tmp_path: Path) -> None:
    link = {"from": "a", "to": "b", "rate": "5 Mbps", "delay": "5 ms", "queue": {"buffer": "5 packets"}}
    flow = {"count": 2, "size": "100 kB", "tcp": "linux/cubic"}
    table = {"duration": "2 s", "nodes": {"a": {}, "b": {}}, "links": {"l": link}, "record": {"traces": ["packets"]}}
    run = tb.simulate({**table, "flows": {"web": {"from": "a", "to": "b", **flow}}})
    run.save_capture(tmp_path / "run.pcapng")
    found = sent_packets(tmp_path / "run.pcapng")
    assert list(found) == ["web[0]", "web[1]"]
    repeated = [sum(packet.is_repeated for packet in packets) for packets in found.values()]
    assert repeated == list(run.flows["retransmitted_packets"])
    assert sum(repeated) > 0
    # The flows' first data leave after the handshake of 10 ms and two headers of 52 and 40 bytes at 5 Mbit/s.
    assert all(packets[0].time_s == pytest.approx(0.0102, abs=0.0002) for packets in found.values())
    assert {sum(packet.payload for packet in packets if not packet.is_repeated) for packets in found.values()} == {100_000}


def _transfer(**impairments: Any) -> Settings:
    flow = {"law": "reno", "start_s": 0.05, "rtt_factor": 1.0, "backward": False, "segments": 200}
    settings = {"name": "t-0", "rate_mbps": 2.0, "rtt_ms": 40.0, "mtu": 1500, "buffer": 10, "queue": "drop_tail", "ecn": False}
    return {**settings, "traffic": "transfers", "flows": [flow], "duration_s": 4.0, "impairments": impairments}


def test_simplifications_end_and_give_valid_scenarios() -> None:
    used = set()
    for drawn in DRAWS[:60]:
        settings = drawn
        for step, simplify in explaining.SIMPLIFICATIONS.items():
            used |= {step} if simplify(copy.deepcopy(drawn)) else set()
            # Halving a hundred senders takes seven steps.
            for _ in range(8):
                settings = simplify(copy.deepcopy(settings)) or settings
            assert simplify(copy.deepcopy(settings)) is None
        assert set(kinds(settings)).isdisjoint({"mixed_laws", "mixed_rtts", "many_flows", "mtu", "outage", "random_loss"})
        scenario(settings).normalised()
    assert used == set(explaining.SIMPLIFICATIONS)


@pytest.fixture
def without_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """In place of the kernel a preset whose windows start with two segments; draws are transfers that become longer."""

    def kernel_scenario(_self: VirtualKernel, played: Case) -> Scenario:
        return played.scenario.with_({"flows.flow0.tcp.initial_window": 2})

    def drawn(seed: int, number: int) -> Settings:
        settings = _transfer(duplication={"probability": 0.001})
        settings["flows"][0]["segments"] = 10 + 90 * number
        return {**settings, "name": f"{seed}-{number}"}

    monkeypatch.setattr(VirtualKernel, "find", lambda _version, _hz: KERNEL)
    monkeypatch.setattr(VirtualKernel, "kernel_scenario", kernel_scenario)
    monkeypatch.setattr(campaign, "draw", drawn)


class _Bars:
    """Records the progress of each stage; interrupts a stage after its first runs."""

    def __init__(self, interrupted: str = "") -> None:
        self.seen: dict[str, list[Progress]] = {}
        self._interrupted = interrupted

    @contextmanager
    def __call__(self, name: str) -> Iterator[Callable[[Progress], None]]:
        def watch(progress: Progress) -> None:
            self.seen.setdefault(name, []).append(progress)
            if name == self._interrupted and progress.done:
                raise KeyboardInterrupt

        yield watch


@pytest.mark.usefixtures("without_kernel")
def test_a_campaign_resumes_and_explains_its_differences(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        # Store each run at once.
        patched.setattr(runner, "_COMMIT_S", 0)
        with pytest.raises(ValidationInterrupted, match=r"`tailback validate --drawn 2 --seed 9 .* --out .*` resumes"):
            validate_drawn(2, 9, tmp_path / "study", jobs=1, bars=_Bars("kernel"))
    bars = _Bars()
    done = validate_drawn(2, 9, tmp_path / "study", jobs=1, bars=bars)
    assert bars.seen["presets"][0].done == bars.seen["presets"][0].total == 10
    # How many runs end before the interruption depends on the computer.
    assert bars.seen["kernel"][0].done > 0
    assert [drawn.settings["name"] for drawn in done.draws] == ["9-0", "9-1"]
    short = done.draws[0]
    assert short.worst_measure == "completion time"
    assert short.packet is not None
    # The third segment, which the other side sends a round trip later.
    assert (short.packet["number"], short.packet["cause"]) == (2, "the simulator sends earlier, before the first retransmission")
    assert short.reduced is not None
    assert short.reduced["steps"][0] == "without duplication"
    assert done.has_differences
    assert "**9-0**" in done.markdown()
    assert all(tb.load(_written(tmp_path / name, text)) for name, text in done.scenarios().items() if "presets" in name)
    # A larger number adds draws, and keeps those that are stored.
    bars = _Bars()
    more = validate_drawn(3, 9, tmp_path / "study", jobs=1, bars=bars)
    assert (bars.seen["kernel"][0].done, bars.seen["kernel"][0].total) == (10, 15)
    assert json.dumps(more.to_dict()["results"][:2]) == json.dumps(done.to_dict()["results"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--drawn", "3", "--full"), "--full cannot be combined with --drawn"),
        (("--drawn", "3", "--cases", "BBR*"), "--cases cannot be combined with --drawn"),
        (("--seed", "3"), "--seed is the seed of drawn scenarios; add --drawn N"),
    ],
)
def test_options_of_packs_and_of_draws_exclude_one_another(arguments: tuple[str, ...], message: str) -> None:
    done = CliRunner().invoke(validate, arguments)
    assert done.exit_code == 2
    assert message in done.output


def _written(file: Path, text: str) -> Path:
    file.write_text(text)
    return file


def test_a_file_without_these_draws_is_refused() -> None:
    done = CliRunner().invoke(
        validate, ["--drawn", "2", "--kernel", str(Path(__file__).parents[2] / "docs" / "evidence" / "linux_6.12.json")]
    )
    assert done.exit_code == 2
    assert "has none of these 2 draws with seed 1" in done.output
