"""`tailback.emulate`: real packets between hosts through the scenario's queues."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tailback as tb
from made_hosts import ECHO, SCENARIO, Traces, python
from tailback._emulation.kernel_flows import kernel_controllers

pytestmark = [pytest.mark.usefixtures("emulation"), pytest.mark.filterwarnings("ignore::tailback.EmulationWarning")]

# Sends datagrams of the given size until ten were answered, one after the other, and prints the minimum RTT. The first ones may
# be sent before the server listens.
PING = """
import socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(1)
times = []
while len(times) < 10:
    began = time.monotonic()
    s.sendto(bytes(int(sys.argv[1]) - 28), ("right", 7))
    try:
        s.recv(2000)
    except OSError:
        time.sleep(0.1)
        continue
    times.append(time.monotonic() - began)
    time.sleep(0.02)
open(sys.argv[2], "w").write(str(min(times)))
"""


def scenario(**changes: object) -> tb.Scenario:
    return tb.Scenario.from_toml(SCENARIO).with_(changes)


@pytest.mark.real_time
def test_the_rtt_equals_the_delays_of_the_links(traces: Traces, tmp_path: Path) -> None:
    measured = tmp_path / "rtt"
    server = tb.Command("right", python(ECHO), server=True)
    run = tb.emulate(scenario(), [server, tb.Command("left", python(PING, "1250", str(measured)))])
    # 20 ms both ways, and 1250 bytes at 10 Mbit/s take 1 ms each way.
    assert 0.042 <= float(measured.read_text()) < 0.047
    assert [(end.code, end.server) for end in run.commands] == [(None, True), (0, False)]
    assert (run.ended, run.complete) == ("commands", True)
    flows = run.flows.to_dict()
    assert flows["group"] == ["left->right", "right->left"]
    assert min(flows["sent_packets"]) >= 10
    assert traces.are_gone()


@pytest.mark.real_time
def test_the_kernel_fills_the_link_and_loses_at_the_queue() -> None:
    flows = {"from": "left", "to": "right", "count": 2, "propagation_rtt": "60 ms", "tcp": {"preset": "sack"}}
    given = scenario(flows={"web": flows}, duration="6 s", warmup="3 s")
    run = tb.emulate(given, kernel_flows=["web"])
    assert run.ended == "duration"
    assert run.queues.to_dict()["utilisation"][0] > 0.9
    assert run.queues.to_dict()["max_queue_units"][0] <= 50
    assert run.transfers.to_dict()["failure"] == ["", ""]
    measured, groups = run.flows.to_dict(), run.groups.to_dict()
    assert measured["group"] == ["web", "web", "web.reverse", "web.reverse"]
    # Data that was received out of order before the measurement, at most two full windows per flow, may be delivered during it.
    assert 8e6 < groups["goodput_bps"][0] < 10e6 + 2 * 2 * 100 * 12e3 / 3
    assert 0.5 <= groups["fairness"][0] <= 1
    # The kernel has retransmitted all discarded packets, except those in flight at the ends of the measurement interval.
    assert abs(sum(measured["retransmitted_packets"][:2]) - run.queues.to_dict()["dropped_units"][0]) < 20
    assert np.isnan(measured["goodput_bps"][2])
    kernel = run.kernel.to_dict()
    counted = dict(zip(zip(kernel["host"], kernel["counter"], strict=True), kernel["value"], strict=True))
    assert counted["web.sender", "Tcp.RetransSegs"] == sum(measured["retransmitted_packets"][:2])
    assert run.provenance["emulation"]["kernel_flows"][0]["controller"] == "reno"


@pytest.mark.real_time
def test_a_transfer_is_complete_while_simulated_flows_continue() -> None:
    real = {"from": "left", "to": "right", "size": "300 kB", "tcp": {"preset": "sack", "delayed_ack": False}}
    given = scenario(flows={"real": real, "simulated": {**real, "size": "500 kB"}}, duration="5 s")
    run = tb.emulate(given, kernel_flows=["real"])
    flows = run.flows.to_dict()
    of = {group: place for place, group in enumerate(flows["group"])}
    assert flows["delivered_bytes"][of["real"]] == 300_000
    assert 0.3 < flows["completion_time_s"][of["real"]] < 4
    assert flows["completion_time_s"][of["simulated"]] < 4


@pytest.mark.real_time
def test_an_application_of_a_kernel_flow_writes_at_its_rate() -> None:
    flow = {
        "from": "left",
        "to": "right",
        "tcp": {"preset": "sack"},
        "application": {"kind": "constant", "rate": "4 Mbps", "burst": 5},
    }
    run = tb.emulate(scenario(flows={"call": flow}, duration="3 s", warmup="1 s"), kernel_flows=["call"])
    # A busy machine may write one burst late, so the depth of the queue is no criterion.
    assert run.flows.to_dict()["goodput_bps"][0] == pytest.approx(4e6, rel=0.05)


@pytest.mark.real_time
def test_listed_drops_hit_the_data_of_kernel_flows() -> None:
    tcp = {"preset": "linux/cubic", "handshake": True}
    drops = [{"group": "web", "segment": 1}]
    given = scenario(flows={"web": {"from": "left", "to": "right", "size": "14480 B", "tcp": tcp}}, duration="2 s")
    run = tb.emulate(given.with_({"topology.dumbbell.loss": {"drops": drops}}), kernel_flows=["web"])
    # The first segment after the SYN, and no acknowledgement of the handshake.
    assert run.queues.to_dict()["dropped_listed"][0] == 1
    assert run.flows.to_dict()["retransmitted_packets"][0] >= 1
    assert run.kernel_controllers == {"web": "cubic"}
    assert "kernel flows: web (cubic)" in str(run)


@pytest.mark.filterwarnings("default::tailback.EmulationWarning")
def test_a_reverse_link_that_loses_nothing_is_named() -> None:
    described = scenario().with_({"topology.dumbbell.reverse": {"queue": {"buffer": "unlimited"}}})
    with pytest.warns(tb.EmulationWarning, match=r"`bottleneck.reverse`, unlike `bottleneck`, loses no packets"):
        tb.emulate(described, [tb.Command("left", "true")])


@pytest.mark.filterwarnings("default::tailback.EmulationWarning")
def test_a_server_without_a_socket_is_named() -> None:
    with pytest.warns(tb.EmulationWarning, match=r"the server `sleep 20` at right has not opened a socket within 5 s"):
        tb.emulate(scenario(), [tb.Command("right", "sleep 20", server=True), tb.Command("left", "true")])


@pytest.mark.real_time
def test_the_kernel_reacts_to_marks() -> None:
    tcp = {"preset": "sack", "ecn": True}
    flows = {"web": {"from": "left", "to": "right", "propagation_rtt": "60 ms", "tcp": tcp}}
    queue = {
        "policy": "red",
        "buffer": "1000 packets",
        "min_threshold": "10 packets",
        "max_threshold": "30 packets",
        "weight": 0.05,
    }
    given = scenario(flows=flows, duration="6 s").with_({"topology.dumbbell.queue": queue})
    run = tb.emulate(given, kernel_flows=["web"])
    queues = run.queues.to_dict()
    assert queues["marked_units"][0] > 0
    assert queues["dropped_units"][0] == 0
    assert run.flows.to_dict()["retransmitted_packets"][0] == 0
    assert run.queues.to_dict()["mean_queue_units"][0] < 60


@pytest.mark.parametrize(
    ("commands", "played", "message"),
    [
        ([], [], "there is nothing to run"),
        ([tb.Command("left", "sleep 1", server=True)], [], "there are only servers"),
        ([tb.Command("left", "no-such-program")], [], "`no-such-program` cannot be started on `left`: No such file"),
        ([tb.Command("left", "")], [], "the command for `left` is empty"),
        ([tb.Command("lefd", "true")], [], "did you mean `left`?"),
        ([], ["web"], "`flows` has no group `web`"),
    ],
)
def test_invalid_emulations_are_rejected_and_leave_nothing(
    traces: Traces, commands: list[tb.Command], played: list[str], message: str
) -> None:
    with pytest.raises((tb.EmulationError, tb.UnknownName, tb.ScenarioError), match=message.replace("?", r"\?")):
        tb.emulate(scenario(), commands, kernel_flows=played)
    assert traces.are_gone()


def test_an_unknown_sysctl_is_named() -> None:
    with pytest.raises(tb.EmulationError, match=r"this kernel has no sysctl `net\.ipv4\.no_such`"):
        tb.emulate(scenario(), [tb.Command("left", "true")], sysctls={"net.ipv4.no_such": "1"})
    with pytest.raises(tb.EmulationError, match=r"this kernel has no congestion control `nonesuch`; expected one of .*reno"):
        tb.emulate(scenario(), [tb.Command("left", "true")], sysctls={"net.ipv4.tcp_congestion_control": "nonesuch"})


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may restrict the controllers")
def test_a_controller_that_namespaces_may_not_use_is_named() -> None:
    allowed = Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control").read_text().split()
    restricted = next((name for name in kernel_controllers() if name not in allowed), None)
    if restricted is None:
        pytest.skip("this kernel allows all its controllers")
    with pytest.raises(tb.EmulationError, match="tcp_allowed_congestion_control") as error:
        tb.emulate(scenario(), [tb.Command("left", "true")], sysctls={"net.ipv4.tcp_congestion_control": restricted})
    assert allowed[0] in str(error.value)
    assert "run as root" not in str(error.value)


SERVER = """
import socket
with socket.create_server(("", 5001)) as listener:
    connection, _ = listener.accept()
    total = 0
    while data := connection.recv(65536):
        total += len(data)
    connection.sendall(b"!")
    print("received", total)
"""
CLIENT = """
import socket
connection = socket.create_connection(("right", 5001))
connection.sendall(bytes(300_000))
connection.shutdown(socket.SHUT_WR)
connection.recv(1)
print("sent")
"""


@pytest.mark.real_time
def test_a_connection_of_commands_counts_once_with_its_goodput_and_default_law(capfd: pytest.CaptureFixture[str]) -> None:
    commands = [
        tb.Command("right", [sys.executable, "-c", SERVER], server=True),
        tb.Command("left", [sys.executable, "-c", CLIENT]),
    ]
    run = tb.emulate(scenario(duration="10 s"), commands)
    laws = dict(zip(run.hosts["host"], run.hosts["congestion_control"], strict=True))
    assert laws["left"] in kernel_controllers()
    assert "connections of commands: 1\n" in str(run)
    [line] = [line for line in str(run).splitlines() if "-> right:5001" in line]
    assert line.startswith("  left:")
    assert "300,000 bytes" in line
    assert line.endswith(f"{laws['left']} by default")
    row = next(row for row in run.connections.to_rows() if row["interface"] == "right" and row["payload_bytes"] == 300_000)
    assert f"{row['goodput_bps'] / 1e6:.4g} Mbps goodput" in line
    # The output of the server is apart from that of the client.
    out, err = capfd.readouterr()
    assert (out.split(), err.split()[:2]) == (["sent"], ["received", "300000"])


@pytest.mark.real_time
def test_kernel_flows_have_their_starts_and_sizes() -> None:
    flow = {"from": "left", "to": "right", "size": "50 kB", "start": "0.5 s", "tcp": {"preset": "sack"}}
    run = tb.emulate(scenario(flows={"web": flow}, duration="3 s"), kernel_flows=["web"])
    row = run.flows.to_rows()[0]
    assert (row["start_s"], row["size_bytes"]) == (0.5, 50_000)
    assert row["transfer_rate_bps"] == pytest.approx(50_000 * 8 / row["completion_time_s"])
    assert "connections of commands" not in str(run)


@pytest.mark.skipif("vegas" in kernel_controllers(), reason="this kernel has Vegas")
def test_an_unavailable_controller_is_named() -> None:
    flows = {"web": {"from": "left", "to": "right", "tcp": {"preset": "sack", "controller": "vegas"}}}
    with pytest.raises(tb.EmulationError, match="it has no controller `vegas`; it has"):
        tb.emulate(scenario(flows=flows), kernel_flows=["web"])


def test_background_processes_end_with_the_emulation(traces: Traces, tmp_path: Path) -> None:
    fork = "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(1000)\n"
    run = tb.emulate(scenario(duration="1 s"), [tb.Command("left", python(fork)), tb.Command("right", "sleep 1000")])
    assert [end.code for end in run.commands] == [0, None]
    assert run.ended == "duration"
    assert traces.are_gone()


def test_nothing_is_left_of_an_emulation_that_is_killed(traces: Traces, tmp_path: Path) -> None:
    file = tmp_path / "emulated.toml"
    file.write_text(SCENARIO)
    words = python("print(1, flush=True); input()")
    command = [
        sys.executable,
        "-m",
        "tailback",
        "emulate",
        str(file),
        "--node",
        "left",
        "--server",
        "right:sleep 1000",
        "--",
        *words,
    ]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    assert traces.processes() >= 4
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert traces.are_gone(patience_s=10)


@pytest.mark.real_time
def test_connections_are_measured_and_captured_as_their_hosts_see_them(tmp_path: Path) -> None:
    flows = {"web": {"from": "left", "to": "right", "propagation_rtt": "60 ms", "size": "2 MB", "tcp": {"preset": "sack"}}}
    file = tmp_path / "seen.pcapng"
    run = tb.emulate(scenario(flows=flows, duration="6 s"), kernel_flows=["web"], capture=file)
    seen = run.connections.to_dict()
    at_sender = next(
        row for row, point in enumerate(seen["interface"]) if point == "web.sender" and seen["unique_payload_bytes"][row]
    )
    assert seen["unique_payload_bytes"][at_sender] == 2_000_000
    assert 0.06 <= seen["min_rtt_s"][at_sender] < 0.075
    # Packets that queues discarded have a comment.
    discarded = run.queues.to_dict()["dropped_units"][0]
    assert file.read_bytes().count(b"discarded at bottleneck: full") == discarded > 0
    analysis = tb.analyse(file)
    assert analysis.complete
    assert analysis.connections.to_dict()["unique_payload_bytes"] == seen["unique_payload_bytes"]
    assert analysis.connections.to_dict()["retransmitted_packets"] == seen["retransmitted_packets"]


def test_an_emulation_is_saved_with_its_timing(tmp_path: Path) -> None:
    run = tb.emulate(scenario(), [tb.Command("left", "true")])
    run.save(tmp_path / "run")
    provenance = json.loads((tmp_path / "run" / "provenance.json").read_text())
    assert provenance["emulation"]["kernel"] == os.uname().release
    assert provenance["emulation"]["commands"][0]["command"] == "true"
    assert (tmp_path / "run" / "emulation.parquet").exists()
    assert np.isnan(run.emulation["lateness_p50_s"][0])


@pytest.mark.real_time
def test_a_stack_does_the_same_in_real_and_in_virtual_time() -> None:
    pytest.importorskip("tailback_stacks", reason="`make stacks` builds the package")
    given = scenario(duration="12 s", warmup="2 s").with_({"topology.dumbbell.loss": {"probability": "1 %"}})
    ends = {"receiver": ("right", "198.18.0.2", "198.18.0.1"), "sender": ("left", "198.18.0.1", "198.18.0.2")}
    program = str(Path(__file__).with_name("emulated_stack.py"))
    commands = [
        tb.Command(node, [sys.executable, program, "quinn", '{"congestion": "cubic"}', way, own, other, "12"])
        for way, (node, own, other) in ends.items()
    ]
    real = tb.emulate(given, commands)
    assert all(not end.code for end in real.commands)
    simulated = given.with_({"flows.web": {"from": "left", "to": "right", "tcp": {"stack": "quinn", "congestion": "cubic"}}})
    virtual = [tb.simulate(simulated, seed=seed) for seed in range(1, 13)]
    # Quinn retransmits the data of every discarded packet. The mean queue is longer in real time: after a stall of its process,
    # quinn's pacer sends about ten packets at once. In virtual time, stalls of 20 ms before 0.5 % of the polls raise it from
    # 0.24 to 0.30 packets, and the maximum from 3 to 13, and leave these columns unchanged.
    for column in ("utilisation", "arrived_units", "dropped_units"):
        own = real.queues.to_dict()[column][0]
        others = [run.queues.to_dict()[column][0] for run in virtual]
        # The interval in which 999 of 1000 other runs fall: Student's t with 11 degrees of freedom.
        half = 4.44 * float(np.std(others, ddof=1)) * (1 + 1 / len(others)) ** 0.5
        assert abs(own - float(np.mean(others))) < half, (column, own, others)
