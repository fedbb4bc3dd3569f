"""Transports in Python at the ends of flows."""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from pathlib import Path
from typing import Any, ClassVar, Literal, cast

import pytest

import tailback as tb
from support import ROOT
from tailback.user_code import Ecn, HostEnd, _libraries

# 10 Mbit/s, 10 ms each way: a payload of 1222 bytes takes 1 ms on the wire.
TICK = 1222


def scenario(stack: str = "user:script", *, buffer: str = "20 packets", **keys: Any) -> tb.Scenario:
    tcp = {"stack": stack, **keys.pop("tcp", {})}
    flow: Any = {"from": "left", "to": "right", "tcp": tcp, **keys}
    return tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer=buffer, duration="2 s", flows={"web": flow})


@tb.host("script")
class Script(tb.user_code.Host):
    """Sends a payload at each of the given times; the receiver returns each with the ECN field that it had."""

    seen: ClassVar[list[tuple[bool, float, int, int]]] = []

    def __init__(self, end: HostEnd, *, times: tuple[float, ...] = (0.5,), size: int = TICK, ecn: int = 0) -> None:
        super().__init__(end)
        self.times, self.size, self.ecn = list(times), size, ecn
        self.to_return: list[tuple[bytes, int]] = []

    def receive(self, now_s: float, data: bytes, ecn: int) -> None:
        Script.seen.append((self.end.is_sender, round(now_s, 9), len(data), ecn))
        if not self.end.is_sender:
            self.to_return.append((data, ecn))

    def poll(self, now_s: float) -> Iterator[bytes | tuple[bytes, int]]:
        while self.end.is_sender and self.times and now_s >= self.times[0]:
            self.times.pop(0)
            yield (bytes(self.size), self.ecn) if self.ecn else bytes(self.size)
        while self.to_return:
            yield self.to_return.pop(0)

    def deadline_s(self) -> float | None:
        return self.times[0] if self.end.is_sender and self.times else None


def seen(**parameters: Any) -> list[tuple[bool, float, int, int]]:
    Script.seen = []
    queue = {"buffer": "20 packets", "policy": "threshold", "threshold": "2 packets"}
    marking = scenario(tcp={"parameters": parameters}).with_({"topology.dumbbell.queue": queue})
    run = tb.simulate(marking)
    assert run.complete
    return Script.seen


def test_datagrams_cross_the_network_with_exact_times_and_ecn_fields() -> None:
    assert seen(times=[0.1, 0.1]) == [
        (False, 0.111, TICK, 0),
        (False, 0.112, TICK, 0),
        (True, 0.122, TICK, 0),
        (True, 0.123, TICK, 0),
    ]
    fields = [ecn for is_sender, _, _, ecn in seen(times=[0.1] * 6, ecn=Ecn.ECT1) if not is_sender]
    assert fields[0] == Ecn.ECT1
    assert fields[-1] == Ecn.CE


def test_times_in_seconds_are_never_before_a_deadline() -> None:
    # 0.1 and many others have no exact representation in binary.
    times = [0.1 + 0.0123456789 * number for number in range(100)]
    assert len([1 for is_sender, *_ in seen(times=times) if not is_sender]) == 100


def test_ends_have_the_settings_of_their_flow() -> None:
    ends: list[HostEnd] = []

    @tb.host("settings")
    class Settings(tb.user_code.Host):
        def __init__(self, end: HostEnd) -> None:
            super().__init__(end)
            ends.append(end)

        def receive(self, now_s: float, data: bytes, ecn: int) -> None: ...

        def poll(self, now_s: float) -> None:
            if self.end.is_sender:
                assert now_s == self.end.start_s

    flow: Any = {"count": 2, "start": {"evenly": ["0 s", "1 s"]}, "size": "1 MB", "stop": "1.5 s"}
    tb.simulate(scenario("user:settings", tcp={"mtu": "1280 B"}, **flow))
    assert [(end.is_sender, end.flow, end.start_s, end.stop_s, end.size_bytes, end.max_payload_bytes) for end in ends] == [
        (is_sender, flow, start, 1.5, 1_000_000, 1252) for flow, start in ((0, 0.25), (1, 0.75)) for is_sender in (True, False)
    ]
    assert len({end.seed for end in ends}) == 4


def test_results_have_one_row_per_flow_and_simulated_flows_share_the_queue() -> None:
    mixed = scenario(tcp={"parameters": {"times": [0.1 * number for number in range(1, 11)]}}).with_(
        {"flows.cross": {"from": "left", "to": "right", "tcp": {"preset": "sack"}}}
    )
    run = tb.simulate(mixed)
    assert list(run.flows["group"]) == ["web", "cross"]
    assert list(run.groups["group"]) == ["web", "cross"]
    assert run.flows["sent_packets"][0] == 10
    assert run.flows["sent_packets"][1] > 1000
    assert run.provenance["user_code"][0]["kind"] == "host"


def test_dualpi2_places_packets_by_their_ecn_field() -> None:
    queue = {"buffer": "50 packets", "scheduler": "dualpi2"}
    for field, row in ((Ecn.NOT_ECT, 1), (Ecn.ECT0, 1), (Ecn.ECT1, 0), (Ecn.CE, 0)):
        given = scenario(tcp={"parameters": {"times": [0.5] * 4, "ecn": int(field)}}).with_({"topology.dumbbell.queue": queue})
        run = tb.simulate(given.with_({"record.traces": ["packets"]}))
        assert list(run.classes.where(queue="bottleneck")["class"]) == ["L", "C"]
        arrived = run.classes.where(queue="bottleneck")["arrived_units"]
        assert [arrived[row], arrived[1 - row]] == [4, 0]
        assert set(run.trace("packets")["ecn"]) == {{Ecn.NOT_ECT: "", Ecn.ECT0: "capable"}.get(field, "l4s")}


def test_after_a_rebinding_answers_to_the_old_port_are_lost() -> None:
    # An answer arrives after 22 ms.
    times = [0.1 * number for number in range(1, 10)]
    given = scenario(tcp={"parameters": {"times": times}}).with_(
        {"timeline": [{"at": at, "group": "web", "rebind": True} for at in ("0.31 s", "0.61 s")]}
    )
    Script.seen = []
    tb.simulate(given)
    answered = [at for is_sender, at, *_ in Script.seen if is_sender]
    assert [round(at - 0.022, 6) for at in answered] == [round(at, 6) for at in times if at not in (times[2], times[5])]


UNKNOWN = [
    *("retransmitted_packets", "spurious_retransmissions", "fast_retransmits", "timeouts", "dropped_acks", "waiting_at_end"),
    *("active_share", "completion_time_s", "slowdown", "backlog_packets", "mean_rtt_s"),
]


def test_columns_that_only_the_transport_knows_are_missing() -> None:
    mine: Any = {"size": "2444 B", "start": "0.25 s", "tcp": {"parameters": {"times": [0.5] * 4}}}
    cross = {"from": "left", "to": "right", "start": "1 s", "tcp": {"preset": "sack"}}
    mixed = scenario(buffer="2 packets", **mine).with_({"flows.cross": cross})
    run = tb.simulate(mixed)
    web, sack = (run.flows.where(group=group) for group in ("web", "cross"))
    for column in UNKNOWN:
        assert math.isnan(web[column][0]), column
    assert [sack[column][0] >= 0 for column in ("timeouts", "dropped_acks", "active_share")] == [True] * 3
    for column in ("completed", "dropped_acks"):
        assert [value >= 0 for value in run.groups[column]] == [False, True]
    known = ("start_s", "size_bytes", "base_rtt_s", "sent_packets", "delivered_packets", "delivered_bytes", "loss_rate")
    assert [web[column][0] for column in known] == [0.25, 2444, 0.021232, 4, 3, 3 * (TICK + 8), 0.25]
    row = next(line for line in run.summary().split("\nflows\n")[1].splitlines() if "web" in line)
    assert row.split()[-3:] == ["0.25", "-", "-"]
    assert math.isnan(run.completions(["1 MB"])["completed"][0])
    many = tb.simulate(mixed.with_({"flows.web.count": 13}))
    row = next(line for line in many.summary().split("flows by group")[1].splitlines() if "web" in line)
    assert row.split()[-2:] == ["-", "-"]


@tb.host("reporting")
class Reporting(Script):
    """`Script` with reports: the receiver has read all that has arrived, and the sender knows the rest."""

    def __init__(self, end: HostEnd, *, wrong: dict[str, Any] | None = None, **parameters: Any) -> None:
        super().__init__(end, **parameters)
        self.wrong, self.received_bytes, self.answers = wrong, 0, 0

    def receive(self, now_s: float, data: bytes, ecn: int) -> None:
        super().receive(now_s, data, ecn)
        self.received_bytes += len(data)
        self.answers += 1

    def report(self) -> tb.user_code.HostReport:
        if self.wrong is not None:
            return tb.user_code.HostReport(**self.wrong) if self.wrong else cast("tb.user_code.HostReport", 17)
        if not self.end.is_sender:
            return tb.user_code.HostReport(delivered_bytes=self.received_bytes)
        return tb.user_code.HostReport(
            cwnd_bytes=3000 * (1 + self.answers), smoothed_rtt_s=0.02, min_rtt_s=0.015, timeouts=2, retransmitted_packets=5,
            lost_packets=4, rtt_samples=self.answers, rtt_sum_s=0.03 * self.answers,
        )  # fmt: skip


def test_results_have_the_values_that_a_host_reports() -> None:
    flow: Any = {"size": "4888 B", "start": "0.25 s"}
    # The fourth packet arrives 4 + 10 ms after the first is sent.
    given = scenario("user:reporting", tcp={"parameters": {"times": [0.5] * 4}}, **flow)
    run = tb.simulate(given.with_({"record.traces": ["cwnd", "rtt"]}))
    web = {column: run.flows[column][0] for column in run.flows.columns}
    assert web["completion_time_s"] == pytest.approx(0.264)
    assert web["delivered_bytes"] == 4888
    assert web["transfer_rate_bps"] == pytest.approx(4888 * 8 / 0.264)
    reported = ("timeouts", "retransmitted_packets", "lost_packets", "min_rtt_s", "mean_rtt_s")
    assert [web[column] for column in reported] == pytest.approx([2, 5, 4, 0.015, 0.03])
    assert math.isnan(web["fast_retransmits"])
    assert run.groups["completion_p50_s"][0] == web["completion_time_s"]
    assert run.completions(["1 MB"])["completed"][0] == 1
    assert list(run.trace("cwnd")["cwnd_packets"]) == [2, 4, 6, 8, 10]
    assert list(run.trace("cwnd")["time_s"]) == pytest.approx([0.25, 0.522, 0.523, 0.524, 0.525])
    assert list(run.trace("rtt")["rtt_s"]) == [0.02]


@tb.host("expanding")
class Expanding(Reporting):
    """Reports a multiple of the received bytes, after so many payloads, and not before its first poll."""

    def __init__(self, end: HostEnd, *, factor: int, after: int, **parameters: Any) -> None:
        super().__init__(end, **parameters)
        self.factor, self.after = factor, after

    def poll(self, now_s: float) -> Iterator[bytes | tuple[bytes, int]]:
        self.polled_s = now_s
        yield from super().poll(now_s)

    def report(self) -> tb.user_code.HostReport:
        assert self.polled_s >= 0
        is_known = not self.end.is_sender and self.answers >= self.after
        return tb.user_code.HostReport(delivered_bytes=self.factor * self.received_bytes if is_known else None)


@pytest.mark.parametrize(
    ("factor", "after", "completion_s"),
    # The packets arrive 11, 12, 13 and 14 ms after the first is sent, 0.25 s after the start.
    [(1, 4, 0.264), (4, 0, 0.261), (4, 3, 0.263)],
    ids=["unknown at first", "compressed", "both"],
)
def test_a_transfer_is_complete_when_its_receiver_reports_its_size(factor: int, after: int, completion_s: float) -> None:
    parameters = {"times": [0.5] * 4, "factor": factor, "after": after}
    given = scenario("user:expanding", tcp={"parameters": parameters}, size="4888 B", start="0.25 s")
    flows = tb.simulate(given.with_({"warmup": "0.1 s"})).flows
    assert flows["completion_time_s"][0] == pytest.approx(completion_s)
    assert flows["transfer_rate_bps"][0] == pytest.approx(4888 * 8 / completion_s)


def test_a_log_has_the_windows_and_rtts_that_a_host_reports(tmp_path: Path) -> None:
    given = scenario("user:reporting", tcp={"mtu": "1400 B", "parameters": {"times": [0.5] * 4}})
    tb.simulate(given.with_({"record.traces": ["packets", "cwnd", "rtt"]})).save_qlog(tmp_path / "run.qlog")
    metrics = tb.analyse(tmp_path / "run.qlog", samples=True).tables["metrics"]
    windows = metrics["congestion_window_bytes"]
    assert list(windows[windows > 0]) == [3000, 6000, 9000, 12_000, 15_000]
    assert metrics["smoothed_rtt_s"][0] == 0.02
    assert "min_rtt_s" not in metrics.columns or math.isnan(metrics["min_rtt_s"][0])
    # The log has no acknowledgements, although it has metrics.
    sent = tb.analyse(tmp_path / "run.qlog").connections.to_rows()[0]
    assert sent["packets"] == 4
    for column in ("lost_packets", "retransmitted_packets", "unique_payload_bytes", "goodput_bps", "max_in_flight_bytes"):
        assert math.isnan(sent[column])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({}, "`report` gave 17; expected None, or a HostReport"),
        ({"timeouts": -1}, "`timeouts` of the report is -1; expected a whole number from 0 to 2**63 - 1, or None"),
        ({"delivered_bytes": 2.0**64}, "`delivered_bytes` of the report is 1.8446744073709552e+19; expected a whole number"),
        ({"lost_packets": 1.5}, "`lost_packets` of the report is 1.5; expected a whole number"),
        ({"cwnd_bytes": "3"}, "the host `web.sender` failed: ValueError: `cwnd_bytes` of the report is '3'; expected"),
        ({"min_rtt_s": -0.5}, "`min_rtt_s` of the report is -0.5; expected seconds from 0 to 1.8e7, or None"),
        ({"rtt_sum_s": 1e9}, "`rtt_sum_s` of the report is 1000000000.0; expected seconds"),
    ],
)
def test_wrong_reports_end_the_run(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(tb.HostError, match=re.escape(message)) as caught:
        tb.simulate(scenario("user:reporting", tcp={"parameters": {"wrong": wrong}}))
    assert caught.value.run.flows["sent_packets"][0] > 0


def fault(act: str, **keys: Any) -> tb.HostError:
    with pytest.raises(tb.HostError) as caught:
        tb.simulate(scenario("user:faulty", tcp={"parameters": {"act": act}}, **keys))
    return caught.value


class Speechless(Exception):
    def __str__(self) -> str:
        raise KeyError


@tb.host("faulty")
class Faulty(tb.user_code.Host):
    """Sends a packet at 0.25 s, and misbehaves at 0.5 s."""

    def __init__(self, end: HostEnd, *, act: str) -> None:
        super().__init__(end)
        self.act, self.now_s = act, 0.0

    def receive(self, now_s: float, data: bytes, ecn: int) -> None: ...

    def poll(self, now_s: float) -> Iterable[Any]:
        self.now_s = now_s
        if not self.end.is_sender or now_s < 0.25:
            return []
        if now_s < 0.5:
            return [b"fine"]
        match self.act:
            case "raise":
                raise KeyError("no state")
            case "giant":
                return [bytes(1473)]
            case "type":
                return [17]
            case "field":
                return [(b"", 4)]
            case "endless":
                return repeat(b"")
            case "number":
                return cast("list[bytes]", 7)
            case "exit":
                sys.exit("tired")
            case "text":
                raise Speechless
        return []

    def deadline_s(self) -> float | None:
        if not self.end.is_sender:
            return None
        if self.now_s < 0.5:
            return 0.25 if self.now_s < 0.25 else 0.5
        if self.act == "deadline":
            raise KeyError("no clock")
        deadlines = {"past": 0.4, "stuck": self.now_s, "nan": float("nan"), "before": -1e300}
        return deadlines.get(self.act)


@pytest.mark.parametrize(
    ("act", "message"),
    [
        ("raise", "failed: KeyError: 'no state'"),
        ("giant", "sent a packet of 1501 bytes; its interface has an MTU of 1500 bytes"),
        ("type", "failed: TypeError: `poll` gave 17; expected bytes, or (bytes, ECN field)"),
        ("field", "failed: ValueError: the ECN field is 4; expected 0 to 3, such as `Ecn.ECT0`"),
        ("past", "has a deadline in the past, 0.4 s"),
        ("stuck", "asked to be polled 1000 times within 10 us without a packet"),
        ("nan", "failed: ValueError: `deadline_s` gave NaN; expected None, or a time in seconds"),
        ("before", "has a deadline in the past, 0 s"),
        ("deadline", "failed: KeyError: 'no clock'"),
        ("endless", "sent packets without end in one poll"),
        ("number", "failed: TypeError: 'int' object is not iterable"),
        ("exit", "failed: SystemExit: tired"),
        ("text", "failed: Speechless: <exception str() failed>"),
    ],
)
def test_a_fault_names_host_time_and_packet_and_keeps_the_results(act: str, message: str) -> None:
    error = fault(act)
    assert str(error) == f"the host `web.sender` {message} (at 0.5 s, after 1 packets)"
    assert (error.host, error.time_s, error.packets) == ("web.sender", 0.5, 1)
    assert isinstance(error.run, tb.Run)
    assert not error.run.complete
    assert list(error.run.flows["sent_packets"]) == [1]
    assert isinstance(error.__cause__, KeyError) == (act in ("raise", "deadline"))


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_a_study_keeps_the_results_of_failed_hosts_apart(tmp_path: Path, executor: Literal["threads", "processes"]) -> None:
    act = "flows.web.tcp.parameters.act"
    faulty = scenario("user:faulty", tcp={"parameters": {"act": "none"}}).with_({"record.traces": ["queue"]})
    study = tb.sweep(faulty, {act: ["raise", "none"]}, seeds=2, out=tmp_path / "study", executor=executor, workers=2)
    assert study.counts.failed == 2
    assert study.runs["error"][0] == "HostError: the host `web.sender` failed: KeyError: 'no state' (at 0.5 s, after 1 packets)"
    assert [round(ended, 9) for ended in study.runs["simulated_s"][:2]] == [0.5, 0.5]
    for failed, label in ((False, "none"), (True, "raise")):
        flows = study.table("flows", failed=failed)
        assert (list(flows[act]), list(flows["sent_packets"])) == ([label] * 2, [1, 1])
    assert list(study.flows["seed"]) == [1, 2]
    assert len(study.means("goodput")) == 1
    assert len(list((tmp_path / "study/traces").iterdir())) == 2
    assert study.resume(retry_failed=True).counts.failed == 2
    with pytest.raises(tb.errors.UnknownName, match="there are none"):
        tb.sweep(faulty, {}, out=tmp_path / "other").table("flows", failed=True)


def test_a_fault_with_one_of_several_seeds_keeps_its_results() -> None:
    with pytest.raises(tb.HostError) as caught:
        tb.simulate(scenario("user:faulty", tcp={"parameters": {"act": "raise"}}), seeds=[3, 4])
    assert caught.value.run.seed in (3, 4)
    assert list(caught.value.run.flows["sent_packets"]) == [1]


def test_the_host_of_a_group_of_several_has_an_index() -> None:
    assert fault("raise", count=3).host == "web.sender[0]"


def test_ctrl_c_in_a_host_keeps_the_results() -> None:
    @tb.host("interrupted")
    class Interrupted(tb.user_code.Host):
        def receive(self, now_s: float, data: bytes, ecn: int) -> None: ...

        def poll(self, now_s: float) -> None:
            if now_s >= 1:
                os.kill(os.getpid(), 2)

        def deadline_s(self) -> float | None:
            return 1.0

    with pytest.raises(tb.Interrupted) as caught:
        tb.simulate(scenario("user:interrupted"))
    assert not caught.value.run.complete


def test_wrong_names_and_parameters_are_errors_of_the_scenario() -> None:
    for name in ("user:scrip", "script"):
        with pytest.raises(tb.ScenarioError, match="did you mean `user:script`"):
            tb.simulate(scenario(name))
    with pytest.raises(tb.ScenarioError, match="`Script` has no parameter `sise`"):
        tb.simulate(scenario(tcp={"parameters": {"sise": 1}}))
    with pytest.raises(tb.ParameterError, match="No` does not define `poll`, `receive`"):

        @tb.host("no")
        class No(tb.user_code.Host): ...


def test_checkpoints_and_other_uses_are_refused_with_a_reason(tmp_path: Path) -> None:
    with pytest.raises(tb.errors.CheckpointError, match="the state of a `stack` cannot be saved"):
        tb.simulate(scenario(), checkpoint=tmp_path / "run.ckpt")
    with pytest.raises(tb.ScenarioError, match="`stack` runs in simulations of the Python package only"):
        tb.predict(scenario())


def test_a_capture_has_the_real_packets_of_both_ends(tmp_path: Path) -> None:
    lossy = scenario(buffer="2 packets", tcp={"parameters": {"times": [0.1] * 4}})
    run = tb.simulate(lossy.with_({"record.traces": ["packets"]}), capture=tmp_path / "run.pcapng")
    run.save_capture(tmp_path / "trace.pcapng")
    assert b"including the packets of transport stacks, have constructed headers" in (tmp_path / "trace.pcapng").read_bytes()
    content = (tmp_path / "run.pcapng").read_bytes()
    assert b"web.sender" in content
    assert content.count(b"discarded at bottleneck: full") == 1
    assert b"Packets of hosts in a simulated network" in content
    assert b"Time 0 of the run is 2000-01-01T00:00:00Z" in content
    # Ethernet is not simulated: each packet begins with an IPv4 header, then UDP.
    assert content.count(bytes([198, 18, 0, 1, 198, 18, 0, 2])) == 4 + 3
    tb.simulate(lossy, capture=tmp_path / "again.pcapng")
    assert (tmp_path / "again.pcapng").read_bytes() == content
    with pytest.raises(tb.ParameterError, match="the scenario has none"):
        tb.simulate(
            tb.dumbbell(rate="1 Mbps", delay="1 ms", buffer="2 packets", duration="1 s"), capture=tmp_path / "none.pcapng"
        )


WAN = (
    'duration = "1 s"\n[topology.dumbbell]\nrate = "10 Mbps"\ndelay = "10 ms"\nqueue = {buffer = "9 packets"}\n'
    '[flows.web]\nfrom = "left"\nto = "right"\ntcp = {stack = "user:once"}\n'
)


def in_folder(folder: Path, poll: str, *command: str) -> subprocess.CompletedProcess[str]:
    """A command on a flow whose ends return this from `poll`."""
    (folder / "mine.py").write_text(
        "import tailback as tb\n"
        "@tb.host('once')\n"
        "class Once(tb.user_code.Host):\n"
        "    def receive(self, now_s, data, ecn): ...\n"
        f"    def poll(self, now_s):\n        return {poll}\n"
    )
    (folder / "wan.toml").write_text(WAN)
    command = (sys.executable, "-m", "tailback", *command, "--code", "mine.py")
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_the_command_writes_a_capture(tmp_path: Path) -> None:
    poll = "[bytes(99)] if self.end.is_sender else None"
    done = in_folder(tmp_path, poll, "run", "wan.toml", "--capture", "run.pcapng")
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1] == "wrote the packets of flows with a stack to run.pcapng"
    assert (tmp_path / "run.pcapng").read_bytes().count(bytes(99)) == 2


def test_the_command_says_what_a_log_lacks(tmp_path: Path) -> None:
    done = in_folder(tmp_path, "[bytes(99)] if self.end.is_sender else None", "run", "wan.toml", "--qlog", "log.qlog")
    assert done.returncode == 0
    assert "flows with a stack have no acknowledgements or losses in the log" in done.stderr


def test_the_command_refuses_fair_rates_before_the_run(tmp_path: Path) -> None:
    done = in_folder(tmp_path, "1 / 0", "run", "wan.toml", "--fairness")
    assert done.returncode == 2
    line = 1 + next(place for place, line in enumerate(WAN.splitlines()) if "stack" in line)
    assert f"wan.toml:{line}:" in done.stderr
    assert "fair rates" in done.stderr
    assert "nothing was run" in done.stderr


def test_the_command_keeps_results_and_capture_of_a_fault(tmp_path: Path) -> None:
    done = in_folder(tmp_path, "[b'fine', 1 / 0]", "run", "wan.toml", "--capture", "run.pcapng", "--json")
    assert done.returncode == 1
    assert "error: the host `web.sender` failed: ZeroDivisionError: division by zero (at 0 s, after 0 packets)" in done.stderr
    assert "mine.py" in done.stderr
    assert '"complete": false' in done.stdout
    assert (tmp_path / "run.pcapng").is_file()


def compiled(source: Path, folder: Path, *options: str) -> Path:
    """A library in C."""
    compiler = shutil.which("cc")
    if compiler is None or sys.platform == "win32":
        pytest.skip("no C compiler `cc`")
    always = ["-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-I", str(ROOT / "crates/host/include")]
    library = folder / f"{source.stem}.so"
    subprocess.run([compiler, *always, "-o", str(library), str(source), *options], check=True)
    return library


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The example in C, as a library that is loaded for one test."""
    monkeypatch.setattr(_libraries, "_loaded", {})
    library = compiled(ROOT / "examples/c/arq.c", tmp_path, "-std=c11")
    assert tb.user_code.load_stacks(library) == ("arq",)
    return library


def test_lwip_fills_a_link_and_repeats_its_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not Path("/usr/include/lwip/lwip/tcp.h").is_file():
        pytest.skip("Debian's `liblwip-dev` is not installed")
    monkeypatch.setattr(_libraries, "_loaded", {})
    lwip = compiled(ROOT / "examples/c/lwip.c", tmp_path, "-std=gnu11", "-I/usr/include/lwip", "-llwip")
    assert tb.user_code.load_stacks(lwip) == ("lwip",)
    plain = scenario("lwip", buffer="30 packets").with_({"duration": "20 s"})
    assert tb.simulate(plain).queues.where(queue="bottleneck")["utilisation"][0] > 0.95
    lossy = plain.with_({"topology.dumbbell.loss": {"probability": "2 %"}, "flows.web.count": 2, "flows.web.size": "1 MB"})
    runs = [tb.simulate(lossy) for _ in range(2)]
    assert list(runs[0].flows["delivered_bytes"]) == [1_000_000] * 2
    assert runs[0].groups["completed"][0] == 2
    assert contents(runs[0]) == contents(runs[1])
    stepped = tb.Simulation(lossy)
    # Its state is that of the process. Hosts of the first run are not polled at the first attempt, and are at the second.
    with ThreadPoolExecutor() as others, pytest.raises(tb.ScenarioError, match="supports one run at a time"):
        others.submit(tb.simulate, lossy).result()
    stepped.step(1.0)
    with pytest.raises(tb.ScenarioError, match="supports one run at a time"):
        tb.simulate(lossy)
    assert contents(stepped.step(20.0)) == contents(runs[0])
    del stepped
    study = tb.sweep(lossy, seeds=3, out=tmp_path / "study", executor="processes", workers=2)
    assert (study.counts.done, study.counts.failed) == (3, 0)


def test_faults_of_a_library_in_c_end_the_run_and_keep_its_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_libraries, "_loaded", {})
    tb.user_code.load_stacks(compiled(Path(__file__).with_name("faulty_stack.c"), tmp_path, "-std=c11", "-O2"))
    messages = {
        "past": "has a deadline in the past, 0.25 s",
        "stuck": "asked to be polled 1000 times within 10 us without a packet",
        "giant": "sent a packet of 1501 bytes; its interface has an MTU of 1500 bytes",
        "wrong": "sent a packet of 65536 bytes; its interface has an MTU of 1500 bytes",
        "endless": "sent packets without end in one poll",
        # Returns as soon as `send` refuses a packet.
        "full": "sent packets without end in one poll",
        "report": "failed: no state",
    }
    for act, message in messages.items():
        with pytest.raises(tb.HostError) as caught:
            tb.simulate(scenario("faulty", tcp={"parameters": {"act": act}}))
        assert str(caught.value) == f"the host `web.sender` {message} (at 0.5 s, after 1 packets)"
        assert list(caught.value.run.flows["sent_packets"]) == [1]
    with pytest.raises(tb.HostError, match=re.escape("the host `web.receiver` failed: no state (at 0.26")):
        tb.simulate(scenario("faulty", tcp={"parameters": {"act": "receive"}}))
    for act, message in {"refuse": "not today", "nothing": "`faulty` refuses its settings, and gives no reason"}.items():
        with pytest.raises(tb.ScenarioError, match=message):
            tb.simulate(scenario("faulty", tcp={"parameters": {"act": act}}))


def test_unusable_tables_of_a_library_are_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_libraries, "_loaded", {})
    functions = "create, receive, poll, deadline, free"
    cases = {
        "no poll": ('{2, 0, "x", "x 1", create, receive, NULL, deadline, free}', "`poll` of its stack 0 is NULL"),
        "no name": (f'{{2, 0, NULL, "x 1", {functions}}}', "`name` of its stack 0 is NULL"),
        "version": (f'{{99, 0, "x", "x 1", {functions}}}', "version 99 of the interface; expected 2"),
        "name": (f'{{2, 0, "a b!", "x 1", {functions}}}', "`a b!` is not a valid name"),
        "twice": (f'{{2, 0, "x", "x 1", {functions}}}, {{2, 0, "x", "x 2", {functions}}}', "it has two stacks `x`"),
        "empty": ("", "it has no stacks"),
    }
    source = Path(__file__).with_name("faulty_stack.c").read_text().partition("static const tailback_stack faulty")[0]
    for place, (tables, message) in enumerate(cases.values()):
        count = tables.count("deadline")
        pointers = "".join(f"&tables[{index}], " for index in range(count))
        code = f"static const tailback_stack tables[{count + 1}] = {{{tables}}};\n" if count else ""
        code += f"static const tailback_stack *const stacks[] = {{{pointers}NULL}};\n"
        code += "const tailback_stack *const *tailback_stacks(void) { return stacks; }\n"
        file = tmp_path / f"tables{place}.c"
        file.write_text(source + code)
        with pytest.raises(tb.ParameterError, match=re.escape(message)):
            tb.user_code.load_stacks(compiled(file, tmp_path, "-std=c11", "-Wno-error"))


def test_a_library_in_c_fills_the_link(library: Path) -> None:
    plain = scenario("arq", buffer="50 packets")
    assert tb.simulate(plain).queues.where(queue="bottleneck")["utilisation"][0] > 0.95
    # Only retransmissions of all lost packets keep its window open.
    lossy = plain.with_({"topology.dumbbell.loss": {"probability": "10 %"}})
    runs = [tb.simulate(lossy) for _ in range(2)]
    flows = runs[0].flows
    assert flows["delivered_packets"][0] > 300
    # Each number has 1200 bytes, which the application reads in order.
    assert flows["delivered_bytes"][0] % 1200 == 0
    in_order, distinct = flows["delivered_bytes"][0] // 1200, flows["sent_packets"][0] - flows["timeouts"][0]
    assert distinct - 32 <= in_order <= distinct
    assert flows["retransmitted_packets"][0] == flows["timeouts"][0] > 20
    assert contents(runs[0]) == contents(runs[1])
    assert runs[0].provenance["user_code"] == [{"at": "flows.web.tcp", "kind": "stack", "name": "arq", "version": "arq 1"}]
    with pytest.raises(tb.ScenarioError, match="the MTU is too small"):
        tb.simulate(scenario("arq", tcp={"mtu": "1000 B"}))
    with pytest.raises(tb.ScenarioError, match="did you mean `arq`"):
        tb.simulate(scenario("arw"))


@tb.host("quitter")
class Quitter(Script):
    """Sends one payload and reports the end of its connection."""

    def report(self) -> tb.user_code.HostReport:
        return tb.user_code.HostReport(ended_at_s=0.75, end_reason="no more" if self.size == TICK else cast("str", 5))


def test_a_connection_that_ends_by_itself_is_a_warning() -> None:
    with pytest.warns(tb.HostWarning, match="^`web.sender` ended its connection at 0.750 s: no more$"):
        tb.simulate(scenario("user:quitter"))
    tb.simulate(scenario("user:quitter", stop="0.7 s"))
    with pytest.raises(tb.HostError, match="`end_reason` of the report is 5; expected a text"):
        tb.simulate(scenario("user:quitter", tcp={"parameters": {"size": 9}}))


def test_the_example_in_c_transfers_a_size_and_has_no_parameters(library: Path) -> None:
    for size in (5, 1201, 120_000):
        flows = tb.simulate(scenario("arq", buffer="50 packets", size=f"{size} B")).flows
        assert list(flows["delivered_bytes"]) == [size]
        assert flows["sent_packets"][0] == -(-size // 1200)
        assert flows["completion_time_s"][0] < 0.2
    with pytest.raises(tb.ScenarioError, match="arq has no parameters"):
        tb.simulate(scenario("arq", tcp={"parameters": {"window": 8}}))


def test_a_study_loads_the_library_in_other_processes(library: Path, tmp_path: Path) -> None:
    study = tb.sweep(scenario("arq"), seeds=2, out=tmp_path / "study", executor="processes", workers=2)
    assert (study.counts.done, study.counts.failed) == (2, 0)


def test_steps_and_threads_change_nothing() -> None:
    times = [0.05 * number for number in range(1, 30)]
    lossy = scenario(tcp={"parameters": {"times": times}}, count=3).with_(
        {
            "topology.dumbbell.loss": {"probability": "20 %"},
            "flows.cross": {"from": "left", "to": "right", "tcp": {"preset": "sack"}},
        }
    )
    whole = tb.simulate(lossy)
    stepped = tb.Simulation(lossy)
    while not stepped.is_complete:
        last = stepped.step(min(stepped.now_s + 0.0137, 2.0))
    with pytest.warns(tb.ThreadsWarning, match="4: no link has a delay that would separate two parts"):
        threaded = tb.simulate(lossy, threads=4)
    assert contents(last) == contents(threaded) == contents(whole)


def test_the_network_beside_a_host_runs_on_other_threads(tmp_path: Path) -> None:
    times = [0.02 * number for number in range(1, 40)]
    cross: Any = {"from": "n0", "to": "n4", "count": 3, "tcp": {"preset": "cubic"}}
    web: Any = {"from": "n1", "to": "n2", "tcp": {"stack": "user:script", "parameters": {"times": times}}}
    hops = {"hops": 4, "rate": "10 Mbps", "delay": "5 ms", "queue": {"buffer": "10 packets"}}
    lot = tb.Scenario({"duration": "2 s", "topology": {"parking_lot": hops}, "flows": {"cross": cross, "web": web}})
    seen, captures = [], []
    for threads in (1, 2, 3):
        Script.seen = []
        file = tmp_path / f"{threads}.pcapng"
        run = tb.simulate(lot, threads=threads, capture=file)
        seen.append((contents(run), Script.seen))
        captures.append(file.read_bytes())
    assert seen[0] == seen[1] == seen[2]
    assert captures[0] == captures[1] == captures[2]
    assert len(seen[0][1]) > 60
    # A fault ends the run at its time on any number of threads.
    for threads in (1, 2):
        with pytest.raises(tb.HostError, match=r"the host `web\.sender` .*0\.5 s") as caught:
            tb.simulate(lot.with_({"flows.web.tcp": {"stack": "user:faulty", "parameters": {"act": "giant"}}}), threads=threads)
        assert round(caught.value.run.simulated_s, 9) == 0.5


def contents(run: tb.Run) -> dict[str, str]:
    # As text, because missing numbers differ from themselves.
    return {name: str(table.to_dict()) for name, table in run.tables.items()}


def test_a_study_runs_hosts_in_other_processes(tmp_path: Path) -> None:
    poll = "[bytes(100)] if self.end.is_sender else []"
    done = in_folder(tmp_path, poll, "sweep", "wan.toml", "--seeds", "2", "--out", "out")
    assert done.returncode == 0, done.stderr
    # 108 bytes behind the IP header.
    assert list(tb.Study(tmp_path / "out").groups["goodput_bps"]) == [864, 864]
