"""`Scenario.export`: the files of all targets, and the parts of a scenario that they omit."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

import tailback as tb
from support import ROOT, Command
from tailback._export import TARGETS

CHAIN = tb.chain(
    rates=["10 Mbps", "20 Mbps"],
    delays=["0 ms", "0 ms"],
    buffer="40 packets",
    duration="5 s",
    flows={
        "web": {"tcp": {"preset": "linux/cubic"}},
        "back": {"from": "n2", "to": "n1", "size": "1 MB", "tcp": {"preset": "linux/reno"}},
    },
)

# One queue of each kind that a target expresses, and wires with all impairments.
QUEUES: list[dict[str, Any]] = [
    {"buffer": "150 kB"},
    {"buffer": "unlimited"},
    {"buffer": "50 %", "bdp_rtt": "100 ms"},
    {"buffer": "100 packets", "policy": "codel", "target": "7 ms"},
    {"buffer": "100 packets", "policy": "pie"},
    {"buffer": "200 packets", "policy": "red", "min_threshold": "20 packets", "max_threshold": "60 packets"},
    {"buffer": "1000 packets", "policy": "codel", "scheduler": {"kind": "flow_queue", "queues": 1024}},
    {"buffer": "100 packets", "scheduler": "sfq"},
    {"buffer": "1000 packets", "scheduler": "dualpi2"},
    {"buffer": "100 packets", "shaper": {"rate": "5 Mbps", "burst": "15 kB"}},
]
WIRES: list[dict[str, Any]] = [
    {"loss": {"probability": "1 %"}, "duplication": "0.1 %"},
    {"loss": {"gilbert_elliott": {"p": 0.001, "r": 0.2, "loss_in_good": 0.0001, "loss_in_bad": 0.5}}},
    {"jitter": {"delay": {"uniform": ["1 ms", "3 ms"]}}},
    {"jitter": {"delay": {"normal": {"mean": "5 ms", "deviation": "1 ms"}}, "reordering": True}},
]


def dumbbell(queue: dict[str, Any], **wire: Any) -> tb.Scenario:
    flows: Any = {"web": {"tcp": {"preset": "linux/cubic"}}}
    return tb.dumbbell(rate="12 Mbps", delay="10 ms", queue=queue, flows=flows, duration="5 s", **wire)  # type: ignore[arg-type]


CHANGES: list[dict[str, Any]] = [
    {"at": "1 s", "link": "bottleneck", "rate": "6 Mbps", "delay": "20 ms", "loss": "1 %"},
    {"at": "2 s", "link": "bottleneck", "buffer": "50 packets"},
    {"at": "3 s", "link": "bottleneck", "down": True},
    {"at": "3.5 s", "link": "bottleneck", "up": True},
]
CHANGING = dumbbell({"buffer": "20 packets"}).with_({"timeline": CHANGES})


def classes(scheduler: str) -> tb.Scenario:
    shared = {
        "buffer": "100 packets",
        "scheduler": scheduler,
        "classes": [
            {"name": "gold", "policy": "codel", **({} if scheduler == "strict_priority" else {"share": 3})},
            {"name": "silver", "buffer": "30 packets", "default": True},
        ],
    }
    tcp = {"tcp": {"preset": "linux/cubic"}}
    flows = {name: {"from": "left", "to": "right", "class": name, **tcp} for name in ("gold", "silver")}
    return dumbbell(shared).with_({"flows": flows})


SHARED = [classes("drr"), classes("strict_priority")]
ALL = [
    *(dumbbell(queue) for queue in QUEUES),
    *(dumbbell({"buffer": "20 packets"}, **wire) for wire in WIRES),
    CHAIN,
    CHANGING,
    *SHARED,
]


@pytest.mark.parametrize("target", TARGETS)
def test_omissions_are_listed_in_the_header(target: str) -> None:
    route = {"at": "2 s", "group": "web", "route": ["link1", "link2"]}
    found = CHAIN.with_({"flows.web.jitter": "1 ms", "timeline": [route]}).export(target)
    assert ("timeline[0].route", "routes do not change during the run") in found.omissions
    head = found.text.partition("\n\n")[0]
    assert [line for line in head.splitlines() if "flows.web.jitter: has no counterpart" in line]
    assert found.text == found.text.encode().decode() == str(found)


def test_an_unknown_target_is_refused() -> None:
    with pytest.raises(tb.UnknownName, match="no target `ns2`; expected one of `tc`, `mahimahi`, `mininet`, `ns3`"):
        CHAIN.export("ns2")


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.toml")), ids=lambda path: path.stem)
def test_every_example_can_be_exported(path: Path) -> None:
    for target in TARGETS:
        assert tb.load(path).export(target).text.endswith("\n")


def test_scripts_are_valid_shell(tmp_path: Path) -> None:
    for number, scenario in enumerate(ALL):
        for target in ("tc", "mahimahi"):
            (tmp_path / f"{target}{number}.sh").write_text(scenario.export(target).text)
            subprocess.run(["bash", "-n", tmp_path / f"{target}{number}.sh"], check=True)


def test_queues_and_wires_become_qdiscs() -> None:
    # With W = 2^-8, 256 (1 - (1 - W)^b) reaches b - 29 up to b = 132: 133 is the first burst with
    # W = 2^-9, which is nearest to 0.002.
    lines = "\n".join(scenario.export("tc").text for scenario in ALL)
    for words in (
        "htb rate 5000000bit burst 13500 ceil 12000000bit cburst 16 quantum 1514",
        "bfifo limit 150000",
        "pfifo limit 50",
        "codel limit 100 target 7000us interval 100000us ecn",
        "htb rate 12000000bit burst 16 ceil 12000000bit cburst 16 quantum 1514",
        "pie limit 100 target 15000us tupdate 15000us ecn",
        "red limit 300000 min 30000 max 90000 avpkt 1000 burst 133 bandwidth 12000000bit probability 0.1 ecn",
        "fq_codel limit 1000 flows 1024 quantum 1514 target 5000us interval 100000us ecn",
        "sfq limit 100 quantum 1500 headdrop",
        "delay 10000us loss 1% duplicate 0.1%",
        "loss gemodel 0.1% 20% 50% 0.01%",
        "delay 10000us rate 12000000bit -14\n",
        "parent 1:1 handle 2: netem limit 10000000 delay 2000us 1000us rate 1000gbit\n",
        "parent 1:1 handle 2: netem limit 10000000 delay 5000us 1000us distribution normal\n",
        "dualpi2 limit 1000 coupling_factor 2 step_thresh 1000us classic_protection 6% target 15000us tupdate 15000us",
    ):
        assert words in lines, words


def test_changes_of_links_become_commands_at_their_times() -> None:
    found = CHANGING.export("tc")
    rate = "parent 3: classid 3:1 htb rate 6000000bit burst 16 ceil 6000000bit cburst 16 quantum 1514"
    left, wires = 'tc -n "${PREFIX}left" KIND replace dev l0a', 'tc -n "$WIRES" qdisc replace dev w0z'
    assert found.text[found.text.index("changes() {") : found.text.index("run() {")].splitlines()[1:-2] == [
        "    at 1000000",
        f"    {left.replace('KIND', 'class')} {rate}",
        f"    {wires} root handle 1: netem limit 10000000 delay 20000us loss 1% rate 6000000bit -14",
        "    at 2000000",
        f"    {left.replace('KIND', 'qdisc')} parent 3:1 handle 2: pfifo limit 50",
        "    at 3000000",
        '    ip -n "$WIRES" link set b0 down',
        "    at 3500000",
        '    ip -n "$WIRES" link set b0 up',
    ]
    assert found.omissions == ()
    assert CHANGING.export("mininet").omissions[0] == ("timeline[0].rate", "is not exported")
    assert 'Seconds(1.0), Change, 0, 0, 0.015, "6000000bps", "20p", 0.01)' in CHANGING.export("ns3").text
    assert ("timeline[0].loss", "is not exported") in CHANGING.export("mahimahi").omissions
    assert ("links.bottleneck", "while it is down, packets wait instead of being lost") in CHANGING.export("mahimahi").omissions


def test_changes_of_queues_are_those_that_the_kernel_accepts() -> None:
    def changed(queue: dict[str, Any], **change: str) -> tuple[str, dict[str, str]]:
        found = dumbbell(queue).with_({"timeline": [{"at": "1 s", "link": "bottleneck", **change}]}).export("tc")
        lines = [line for line in found.text.splitlines() if "qdisc replace dev l0a" in line]
        return "".join(line.partition(" handle 2: ")[2] for line in lines), dict(found.omissions)

    fair = {"buffer": "1000 packets", "policy": "codel", "scheduler": {"kind": "flow_queue", "queues": 1024}}
    assert changed(fair, buffer="500 packets")[0].startswith("fq_codel limit 500 quantum 1514 ")
    words, omitted = changed({"buffer": "100 packets", "scheduler": "sfq"}, buffer="50 packets")
    assert words == ""
    assert "keeps its first buffer" in omitted["links.bottleneck.queue.buffer"]
    red = {"buffer": "200 kB", "policy": "red", "min_threshold": "20 kB", "max_threshold": "60 kB", "queue_unit": "bytes"}
    words, omitted = changed(red, rate="6 Mbps")
    assert words == ""
    assert "falls as at 12000000 bit/s" in omitted["links.bottleneck.queue.weight"]
    words, omitted = changed(red, buffer="100 kB")
    assert words.startswith("red limit 100000 ")
    assert "a change empties the queue" in omitted["links.bottleneck.queue.buffer"]


def test_bridges_have_a_namespace_of_their_own() -> None:
    link = {"from": "wires", "to": "b", "rate": "1 Mbps", "delay": "1 ms", "queue": {"buffer": "9 packets"}}
    flows = {"web": {"from": "wires", "to": "b", "tcp": {"preset": "linux/cubic"}}}
    text = (
        tb.Scenario({"duration": "1 s", "nodes": {"wires": {}, "b": {}}, "links": {"link": link}, "flows": flows})
        .export("tc")
        .text
    )
    assert "\nWIRES=${PREFIX}wires_\n" in text
    assert "    for name in wires_ " in text


def test_a_run_without_changes_does_not_begin_them() -> None:
    still = {"at": "1 s", "link": "bottleneck", "rate": "12 Mbps"}
    assert "changes" not in dumbbell({"buffer": "20 packets"}).with_({"timeline": [still]}).export("tc").text.partition("up()")[2]


@pytest.mark.parametrize(
    ("queue", "words"),
    [
        ({"buffer": "50 %", "bdp_rtt": "100 ms"}, "pfifo limit 50"),
        ({"buffer": "100 ms"}, "bfifo limit 150000"),
        ({"buffer": "100 ms", "policy": "red", "min_threshold": "25 %", "max_threshold": "75 %"}, "red limit 150000 min 37500 "),
    ],
)
def test_buffers_relative_to_the_rate_keep_their_size_when_it_changes(queue: dict[str, Any], words: str) -> None:
    slower = {"at": "1 s", "link": "bottleneck", "rate": "3 Mbps"}
    text = dumbbell(queue).with_({"timeline": [slower]}).export("tc").text
    assert [
        line.partition(" handle 2: ")[2].startswith(words) for line in text.splitlines() if " dev l0a parent 3:1 " in line
    ] == [True]


def test_copies_beside_jitter_are_listed() -> None:
    found = dumbbell({"buffer": "20 packets"}, duplication="1 %", jitter={"delay": "1 ms"}).export("tc")
    assert "duplicate" not in found.text.partition("up()")[2]
    assert [at for at, _ in found.omissions] == ["links.bottleneck.duplication"]


def test_sizes_of_packets_that_change_a_queue_count() -> None:
    fair = {"buffer": "5000 packets", "policy": "codel", "target": "6 ms", "scheduler": {"kind": "flow_queue", "queues": 1024}}
    assert "memory_limit" not in dumbbell(fair).export("tc").text
    assert f"memory_limit {5000 * 3 * 9000} " in dumbbell(fair).with_({"flows.web.tcp.mss": "8948 B"}).export("tc").text
    tcp = {"from": "left", "to": "right", "tcp": {"preset": "linux/cubic"}}
    mixed = {"large": tcp, "small": {**tcp, "tcp": {"preset": "linux/cubic", "mss": "500 B"}}}
    turns = dumbbell({"buffer": "100 packets", "scheduler": "sfq"})
    assert turns.export("tc").omissions == ()
    assert [at for at, _ in turns.with_({"flows": mixed}).export("tc").omissions] == ["links.bottleneck.queue.scheduler"]


def test_a_table_of_rates_becomes_changes(tmp_path: Path) -> None:
    (tmp_path / "leo.csv").write_text("at_s,rate_Mbps,delay_ms,loss\n0,12,10,0\n1,24,30,0.01\n")
    table = {"trace": str(tmp_path / "leo.csv")}
    scenario = dumbbell({"buffer": "20 packets"}).with_({"topology.dumbbell.rate": table, "duration": "3 s"})
    text = scenario.export("tc").text
    assert re.findall(r"class add dev l0a .* ceil (\d+)bit", text) == ["12000000"]
    # The table repeats after 2 s.
    times = re.findall(r"at (\d+)\n.*dev l0a .* ceil (\d+)bit.*\n.*(netem .*)", text)
    assert times == [
        ("1000000", "24000000", "netem limit 10000000 delay 30000us loss 1% rate 24000000bit -14"),
        ("2000000", "12000000", "netem limit 10000000 delay 10000us rate 12000000bit -14"),
    ]
    [trace] = re.findall(r"0\.up\" <<'END'\n(.*?)\nEND", scenario.export("mahimahi").text, re.S)
    lines = [int(line) for line in trace.splitlines()]
    assert [sum(at < line <= at + 1000 for line in lines) for at in (0, 1000, 2000)] == [1000, 2000, 1000]


def test_packets_are_lost_while_the_rate_of_a_table_is_zero(tmp_path: Path) -> None:
    (tmp_path / "gap.csv").write_text("at_s,rate_Mbps\n0,12\n1,0\n2,24\n")
    table = {"trace": str(tmp_path / "gap.csv")}
    scenario = dumbbell({"buffer": "20 packets"}).with_({"topology.dumbbell.rate": table, "duration": "2.5 s"})
    found = {target: scenario.export(target) for target in ("tc", "ns3")}
    texts = {target: export.text for target, export in found.items()}
    assert re.findall(r"at (\d+)\n.*dev w0z .*delay 10000us(.*)", texts["tc"]) == [("1000000", " loss 100% rate 12000000bit -14")]
    assert re.findall(r" ceil (\d+)bit", texts["tc"])[0] == "12000000"
    assert '0.01, "12000000bps", "20p", 1.0)' in texts["ns3"]
    assert not [text for text in texts.values() if "rate 0bit" in text or '"0bps"' in text]
    for export in found.values():
        assert ("links.bottleneck.rate", "while it is 0, packets are lost instead of waiting") in export.omissions


def test_times_that_iperf3_cannot_keep_are_listed() -> None:
    scenario = CHAIN.with_({"duration": "1.4 s", "warmup": "1 s"})
    assert [at for at, _ in scenario.export("tc").omissions] == ["flows.web", "flows.back.size"]
    assert [at for at, _ in scenario.export("ns3").remarks] == ["warmup"]


def test_a_change_of_delay_in_one_direction_is_listed_for_ns3() -> None:
    omissions = CHANGING.export("ns3").omissions
    assert ("links.bottleneck", "a channel of ns-3 has one delay for both directions; the mean is used") in omissions


def test_the_place_of_losses_and_the_count_of_a_queue_are_listed() -> None:
    queue = {"buffer": "20 packets", "counts_in_service": True}
    scenario = dumbbell(queue, loss={"probability": "1 %", "at": "before_queue"})
    for target in TARGETS:
        at = [at for at, _ in scenario.export(target).omissions]
        assert ("links.bottleneck.queue.counts_in_service" in at) == (target != "mahimahi")
        assert ("links.bottleneck.loss.at" in at) == (target != "mininet")


def test_the_second_direction_of_a_link_with_one_is_ideal() -> None:
    link = {"duplex": False, "rate": "10 Mbps", "delay": "10 ms", "queue": {"buffer": "20 packets"}}
    links = {"go": {**link, "from": "A", "to": "B", "loss": {"probability": 0.05}}, "back": {**link, "from": "B", "to": "A"}}
    flows = {"web": {"from": "A", "to": "B", "tcp": {"preset": "linux/cubic"}}}
    scenario = tb.Scenario({"duration": "5 s", "nodes": {"A": {}, "B": {}}, "links": links, "flows": flows})
    for target in ("mahimahi", "mininet", "ns3"):
        found = scenario.export(target)
        assert "links.go" in [at for at, reason in found.omissions if reason.startswith("gets a second direction")]
        assert not re.search(r"downlink 0\.05", found.text)
    assert scenario.export("mininet").text.count('"loss": 5.0') == 1
    assert scenario.export("ns3").text.count('"20p", 0.05') == 1


def test_own_settings_of_a_kernel_s_tcp_are_listed() -> None:
    own = {"initial_window": 2, "delayed_ack": False, "recovery": "newreno", "timer": {"min_rto": "1 s"}, "mss": "500 B"}
    scenario = CHAIN.with_({"flows.web.tcp": {"preset": "linux/cubic", **own}})
    lost = [f"flows.web.tcp.{key}" for key in ("delayed_ack", "timer.min_rto", "recovery", "initial_window")]
    for target in ("tc", "mininet"):
        assert [at for at, _ in scenario.export(target).omissions if at.startswith("flows.web.tcp")] == lost


@pytest.mark.parametrize(
    ("target", "words"), [("tc", "-b 684000 -l 72 "), ("mininet", "-b 551000 -l 58 "), ("ns3", "(665000, 70,")]
)
def test_rates_of_datagrams_count_their_headers(target: str, words: str) -> None:
    source = {"kind": "constant", "rate": "0.95 Mbps", "packet_size": "100 B"}
    scenario = dumbbell({"buffer": "20 packets"}).with_({"flows": {"web": {"from": "left", "to": "right", "source": source}}})
    assert words in scenario.export(target).text
    small = scenario.with_({"flows.web.source.packet_size": "30 B"}).export(target).omissions
    assert "flows.web.source.packet_size" in [at for at, _ in small]


def test_sizes_and_periods_of_datagrams_are_exported() -> None:
    source: dict[str, Any] = {"kind": "constant", "rate": "1 Mbps", "packet_size": "1000 B"}
    flow = {"from": "left", "to": "right", "size": "100 kB", "source": source}
    scenario = dumbbell({"buffer": "20 packets"}).with_({"flows": {"web": flow}})
    assert " -n 100000" in scenario.export("tc").text
    periods = {"mean_on": "300 ms", "mean_off": "1 s", "on_periods": "pareto", "off_periods": "constant"}
    text = scenario.with_({"flows.web.source": {**source, "kind": "on_off", **periods}}).export("ns3").text
    # A Pareto variable with a mean of 0.3 s and shape 1.5 begins at 0.1 s.
    found = re.search(r"Source\(\d+, \d+, 100000, .*Scale=([\d.]+)\|Shape=1.5\].*Constant=1.0\]", text)
    assert found is not None
    assert float(found[1]) == pytest.approx(0.1)


def test_classes_become_a_classful_qdisc() -> None:
    for scenario, first in zip(SHARED, ("drr", "prio bands 2 priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"), strict=True):
        found = scenario.export("tc")
        words = [line.split(" dev l0a ")[1] for line in found.text.splitlines() if " parent " in line and " dev l0a " in line]
        assert words[2] == f"parent 3:1 handle 2: {first}"
        children = ["codel limit 100 target 5000us interval 100000us ecn", "pfifo limit 30"]
        assert [line.split(": ")[1] for line in words if line.startswith("parent 2:") and "handle" in line] == children
        assert "parent 2: protocol ip prio 1 u32 match ip dport 5201 0xffff flowid 2:1" in words
        assert [at for at, _ in found.omissions] == ["links.bottleneck.queue.classes"]
    assert re.findall(r"classid (2:\d) drr quantum (\d+)", SHARED[0].export("tc").text) == [("2:1", "4500"), ("2:2", "1500")]


def test_traces_of_mahimahi_have_the_rate_of_the_link() -> None:
    text = CHAIN.export("mahimahi").text
    for trace, rate in zip(re.findall(r"\d\.up\" <<'END'\n(.*?)\nEND", text, re.S), (20e6, 10e6), strict=True):
        lines = [int(line) for line in trace.splitlines()]
        assert len(lines) * 12_000 / (lines[-1] * 1e-3) == pytest.approx(rate)
    # The first link of the path is the innermost shell.
    assert text.index('$traces/0.up" "') < text.index('$traces/1.up" "')
    assert text.count('--uplink-queue=droptail --uplink-queue-args="packets=41"') == 2


def test_mahimahi_delays_both_directions() -> None:
    text = dumbbell({"buffer": "100 packets", "policy": "codel"}, loss={"probability": "1 %"}).export("mahimahi").text
    assert "mm-delay 10 \\\n    mm-loss uplink 0.01 \\\n    mm-link " in text
    assert '--uplink-queue=codel --uplink-queue-args="packets=101, target=5, interval=100" --downlink-queue=infinite' in text


def test_queues_of_mahimahi_count_the_packet_that_waits_and_its_header() -> None:
    assert '"bytes=151904"' in dumbbell({"buffer": "150 kB"}).export("mahimahi").text
    assert '"packets=20"' in dumbbell({"buffer": "20 packets", "counts_in_service": True}).export("mahimahi").text
    jumbo = dumbbell({"buffer": "20 packets"}).with_({"flows.web.tcp.mss": "8948 B"}).export("mahimahi")
    assert ("flows", "mm-link ends at packets above 1500 bytes; use a smaller MSS") in jumbo.omissions


@pytest.mark.parametrize(("accounting", "lost"), [("mahimahi", []), ("ip", ["flows.web", "links.bottleneck.rate.accounting"])])
def test_bytes_that_mahimahi_counts_are_listed(accounting: str, lost: list[str], tmp_path: Path) -> None:
    (tmp_path / "cell.trace").write_text("1\n2\n")
    rate = {"trace": str(tmp_path / "cell.trace"), "accounting": accounting}
    scenario = dumbbell({"buffer": "20 packets"}).with_({"topology.dumbbell.rate": rate, "flows.web.tcp.mss": "500 B"})
    found = scenario.export("mahimahi").omissions
    assert [at for at, reason in found if ("counts" in reason or "accounting" in reason) and "reverse" not in at] == lost


def test_a_delivery_trace_is_kept_by_mahimahi(tmp_path: Path) -> None:
    (tmp_path / "cell.trace").write_text("1\n1\n4\n")
    scenario = dumbbell({"buffer": "20 packets"}).with_({"topology.dumbbell.rate": {"trace": str(tmp_path / "cell.trace")}})
    assert "<<'END'\n1\n1\n4\nEND" in scenario.export("mahimahi").text
    assert ("links.bottleneck.rate", "a qdisc has a constant rate; the mean of the trace is used") in scenario.export(
        "tc"
    ).omissions


def test_mininet_builds_the_links_and_routes(monkeypatch: pytest.MonkeyPatch) -> None:
    links: list[tuple[str, str, Any, Any]] = []
    commands: list[tuple[str, str]] = []

    class Host:
        def __init__(self, name: str) -> None:
            self.name = name

        def cmd(self, text: str) -> None:
            commands.append((self.name, text))

    class Mininet:
        def __init__(self, **options: Any) -> None:
            pass

        def addHost(self, name: str, ip: None) -> Host:
            return Host(name)

        def addLink(self, one: Host, other: Host, **options: Any) -> None:
            links.append((one.name, other.name, options.get("params1"), options.get("params2")))

        def start(self) -> None:
            pass

    for name in ("mininet", "mininet.cli", "mininet.link", "mininet.net"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    for module, member in (("cli", "CLI"), ("link", "Link"), ("link", "TCLink"), ("net", "Mininet")):
        setattr(sys.modules[f"mininet.{module}"], member, Mininet)
    names: dict[str, Any] = {"__name__": "exported"}
    exec(compile(CHAIN.with_({"topology.chain.delays": ["3 ms", "0 ms"]}).export("mininet").text, "chain.py", "exec"), names)
    names["built"]()
    # Rates with Ethernet headers.
    slow = {"bw": 10.093333, "delay": "3000us"}
    fast = {"bw": 20.186667, "max_queue_size": 40}
    assert links == [
        # 40 packets, and 2.5 on the delay line. Data cross the second link in both directions.
        ("n0", "n1", {**slow, "max_queue_size": 42}, {**slow, "max_queue_size": 10_000_000}),
        ("n1", "n2", fast, fast),
        # Senders and receivers are behind their nodes.
        *((f"n{number}", f"h{number}", None, None) for number in range(3)),
    ]
    assert ("n0", "ip link set l0a gso_max_segs 1 mtu 1500 up") in commands
    assert ("n0", "ip route add 10.128.0.3 via 10.0.0.2 dev l0a") in commands
    assert ("h0", "ip route add default via 169.254.0.1 src 10.128.0.1") in commands
    assert [flow[:2] for flow in names["FLOWS"]] == [(0, 2), (2, 1)]


def test_links_carry_packets_of_other_sizes() -> None:
    found = CHAIN.with_({"flows.web.tcp.mss": "8948 B", "flows.back.tcp.mss": "500 B"}).export("mininet")
    assert "\nMTU = 9000\n" in found.text
    assert "->SetMtu(9000);" in CHAIN.with_({"flows.web.tcp.mss": "8948 B"}).export("ns3").text
    lost = [reason.partition(",")[0::2] for _, reason in found.omissions if "Ethernet" in reason]
    # 1514/1500 of the rate, less 14 of 9014 or 566 bytes.
    assert [(size, rate.split("%")[0]) for size, rate in lost] == [
        ("of packets of 9000 bytes", " a link carries 100.8 "),
        ("of packets of 552 bytes", " a link carries 98.4 "),
    ]


def test_private_links_become_nodes() -> None:
    scenario = dumbbell({"buffer": "20 packets"}).with_({"flows.web.propagation_rtt": "60 ms", "flows.web.count": 2})
    text = scenario.export("tc").text
    # 60 ms without the bottleneck's 20 ms, one way.
    assert text.count("netem limit 10000000 delay 20000us") == 4
    assert "node web-1 10.128.0.4" in text


def test_programs_of_ns3_compile(tmp_path: Path) -> None:
    include = Path(os.environ.get("NS3_INCLUDE", "/usr/include"))
    if not shutil.which("g++") or not (include / "ns3/core-module.h").is_file():
        pytest.skip("needs g++ and the headers of ns-3 (Debian: libns3-dev), or NS3_INCLUDE")
    program = tmp_path / "all.cc"
    # One program with all queues, because its headers take most of the time.
    bodies = [scenario.export("ns3").text for scenario in ALL]
    mains = [body[body.index("int\nmain(") :].replace("\nmain(", f"\nmain{number}(") for number, body in enumerate(bodies)]
    program.write_text(bodies[0] + "\n".join(mains[1:]))
    done = subprocess.run(["g++", "-std=c++17", "-fsyntax-only", f"-I{include}", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_command_lists_omissions(command: Command, file: Path) -> None:
    done = command("export", file, "--as", "tc", "--out", "small.sh")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "not exported: flows.tcp.tcp: the kernel's TCP has its own settings, not those of `newreno`\n"
        "remark: warmup: reports include the warm-up\n"
    )
    script = file.with_name("small.sh")
    assert os.access(script, os.X_OK)
    assert command("export", file, "--as", "tc").stdout == script.read_text()
    file.write_text(file.read_text().replace("newreno", "linux/reno"))
    done = command("export", file, "--as", "tc")
    assert (done.returncode, done.stderr) == (0, "remark: warmup: reports include the warm-up\n")
    assert "# Everything is exported.\n# Remarks:\n#   warmup: " in done.stdout
    refused = command("export", file, "--as", "ns2")
    assert (refused.returncode, "no target `ns2`" in refused.stderr) == (2, True)
