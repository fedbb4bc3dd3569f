"""The package `tailback-stacks`: quinn, noq, smoltcp and str0m at the ends of flows."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tailback as tb
from support import ROOT
from tailback import _core
from tailback.user_code import _libraries

pytest.importorskip("tailback_stacks", reason="`make stacks` builds the package")

ALL = [
    *({"stack": "quinn", "congestion": word} for word in ("cubic", "newreno", "bbr")),
    *({"stack": "noq", "congestion": word} for word in ("cubic", "newreno")),
    *({"stack": "smoltcp", "congestion": word} for word in ("cubic", "reno")),
    # A window below the buffer of the network.
    {"stack": "smoltcp", "congestion": "none", "parameters": {"buffer": 30_000}},
]


def scenario(tcp: dict[str, Any], duration: str = "10 s", **flow: Any) -> tb.Scenario:
    mine: Any = {"from": "left", "to": "right", "tcp": tcp, **flow}
    return tb.dumbbell(rate="10 Mbps", delay="20 ms", buffer="50 packets", duration=duration, flows={"web": mine})


@pytest.mark.parametrize("tcp", ALL, ids=lambda tcp: f"{tcp['stack']}-{tcp['congestion']}")
def test_every_controller_transfers_data(tcp: dict[str, Any]) -> None:
    run = tb.simulate(scenario(tcp, size="2 MB"))
    assert run.flows["delivered_bytes"][0] == 2_000_000
    # A round trip for the handshake, and at most the rate of the link.
    assert run.flows["completion_time_s"][0] > 0.06 + 2e6 * 8 / 10e6
    assert run.flows["transfer_rate_bps"][0] * run.flows["completion_time_s"][0] == pytest.approx(16e6)
    assert run.groups["completed"][0] == 1
    assert run.provenance["user_code"][0]["version"].startswith(
        {"quinn": "quinn-proto 0.", "noq": "noq-proto 1.", "smoltcp": "smoltcp 0."}[tcp["stack"]]
    )


@pytest.mark.parametrize("stack", ["quinn", "noq", "smoltcp"])
def test_an_application_limits_the_data_of_a_stack(stack: str) -> None:
    # The last of 60 frames is written after 59/30 s and takes 20 ms of propagation, and its three packets less than 5 ms.
    frames: Any = {"kind": "script", "writes": [{"at": f"{place / 30:.4f} s", "size": "3900 B"} for place in range(60)]}
    row = tb.simulate(scenario({"stack": stack}, application=frames)).flows.to_rows()[0]
    assert row["delivered_bytes"] == 60 * 3900
    assert 59 / 30 + 0.02 < row["completion_time_s"] < 59 / 30 + 0.025
    # Bursts of three segments of 1448 bytes at 2 Mbit/s, for as long as the run lasts.
    constant: Any = {"kind": "constant", "rate": "2 Mbps", "burst": 3}
    row = tb.simulate(scenario({"stack": stack}, application=constant)).flows.to_rows()[0]
    assert row["goodput_bps"] == pytest.approx(2e6, rel=0.01)


def test_an_application_that_needs_deliveries_or_another_stack_is_refused() -> None:
    requests: Any = {"kind": "requests", "requests": 3, "response_size": "1 kB"}
    with pytest.raises(tb.ScenarioError, match="`application` of kind `requests` cannot be used with a `stack`"):
        tb.simulate(scenario({"stack": "quinn"}, application=requests))
    constant: Any = {"kind": "constant", "rate": "2 Mbps", "burst": 3}
    with pytest.raises(tb.HostError, match="this transport does not support `application`"):
        tb.simulate(scenario({"stack": "str0m"}, application=constant))


@pytest.mark.parametrize("stack", ["quinn", "noq"])
def test_encryption_hardly_changes_the_traffic(stack: str) -> None:
    def run(crypto: str) -> tb.Run:
        return tb.simulate(scenario({"stack": stack, "parameters": {"crypto": crypto}}))

    null, rustls = run("null"), run("rustls")
    assert rustls.content_hash != null.content_hash
    # The flights of both handshakes are datagrams of at least 1200 bytes, and tags of packets are as long.
    for column in ("sent_packets", "goodput_bps"):
        assert rustls.flows[column][0] == pytest.approx(null.flows[column][0], rel=2e-3)


def test_a_completion_time_is_that_of_handshake_and_transfer() -> None:
    def completion_s(stack: str) -> float:
        return float(tb.simulate(scenario({"stack": stack}, size="1 kB")).flows["completion_time_s"][0])

    # Three one-way delays, and at 10 Mbit/s: two Initial packets of 1228 bytes (RFC 9000 section 14.1), perhaps another, and the
    # data with its headers.
    assert 0.06 + (2 * 1228 + 1028) * 8e-7 < completion_s("quinn") < 0.06 + (3 * 1228 + 1100) * 8e-7
    # Two SYNs of at most 60 bytes, perhaps an ACK, and the data with headers of 40 bytes.
    assert 0.06 + (2 * 40 + 1040) * 8e-7 < completion_s("smoltcp") < 0.06 + (2 * 60 + 40 + 1040) * 8e-7


def test_stacks_report_what_they_know() -> None:
    lossy = {"topology.dumbbell.loss": {"probability": "2 %"}, "record.traces": ["cwnd", "ssthresh", "rtt"]}
    runs = {stack: tb.simulate(scenario({"stack": stack}, size="2 MB").with_(lossy)) for stack in ("quinn", "noq", "smoltcp")}
    flows = {stack: {column: float(run.flows[column][0]) for column in COUNTS} for stack, run in runs.items()}
    known = {stack: {column for column, value in of.items() if not np.isnan(value)} for stack, of in flows.items()}
    assert known == {
        "quinn": {"lost_packets", "mean_rtt_s", "min_rtt_s"},
        "noq": {"lost_packets", "mean_rtt_s"},
        "smoltcp": {"retransmitted_packets"},
    }
    for stack in ("quinn", "noq"):
        # Every discarded packet is declared lost, and hardly any other.
        dropped = runs[stack].flows["loss_rate"][0] * runs[stack].flows["sent_packets"][0]
        assert 0.9 * dropped < flows[stack]["lost_packets"] < 1.2 * dropped + 2
        assert 0.04 < flows[stack]["mean_rtt_s"] < 0.1
        assert len(runs[stack].trace("cwnd")) > 20
        # From the first loss on: unlimited thresholds are missing.
        thresholds = runs[stack].trace("ssthresh")
        assert len(thresholds) > 2
        assert 1 < thresholds["ssthresh_packets"].max() < runs[stack].trace("cwnd")["cwnd_packets"].max()
        assert runs[stack].trace("rtt")["rtt_s"].min() >= 0.04
    assert flows["smoltcp"]["retransmitted_packets"] >= runs["smoltcp"].flows["loss_rate"][0] * 1300
    assert len(runs["smoltcp"].trace("cwnd")) == 0


COUNTS = ("retransmitted_packets", "lost_packets", "timeouts", "mean_rtt_s", "min_rtt_s")


def test_a_stop_ends_the_data() -> None:
    for stack in ("quinn", "noq", "smoltcp", "str0m"):
        full, half = (tb.simulate(scenario({"stack": stack}, stop=stop)).flows["delivered_bytes"][0] for stop in ("9 s", "4.5 s"))
        assert 0 < half / full < 0.7


@pytest.mark.parametrize("stack", ["quinn", "smoltcp"])
def test_data_written_before_a_stop_arrives_after_it(stack: str) -> None:
    run = tb.simulate(
        scenario({"stack": stack}, start="2 s", stop="4 s").with_({"topology.dumbbell.queue.buffer": "5000 packets"})
    )
    # Data that was written before the stop waits in the buffer of the sender or of the link.
    assert run.flows["delivered_bytes"][0] * 8 > 2 * 10e6


@pytest.mark.parametrize(
    ("tcp", "message"),
    [
        ({"stack": "quin"}, "did you mean `quinn`"),
        ({"stack": "quinn", "congestion": "reno"}, "expected one of `cubic`, `newreno`, `bbr`"),
        ({"stack": "quinn", "congestion": "cubik"}, r'(?s)"cubik".* flows.web.tcp.congestion.* did you mean `cubic`'),
        ({"stack": "smoltcp", "parameters": {"bufer": 1}}, r"(?s)`bufer`.*tcp.parameters.bufer.* did you mean `buffer`"),
        ({"stack": "quinn", "parameters": {"train": 0}}, r"(?s)`train` is 0.*tcp.parameters.train\s+expected at least 1"),
        ({"stack": "noq", "parameters": {"crypto": "tls"}}, r"(?s)`crypto` is \"tls\".*expected `null` or `rustls`"),
        ({"stack": "noq", "parameters": {"send_window": "1 MiB"}}, '`send_window` is "1 MiB"'),
        ({"stack": "str0m", "parameters": {"max": 1000}}, r"(?s)`max` is 1000.*tcp.parameters.max\s+expected 300000 to"),
        ({"stack": "quinn", "mtu": "1000 B"}, r"(?s)`mtu` is 1000 bytes.*flows.web.tcp.mtu\s+expected 1228 to 65535"),
    ],
)
def test_errors_name_the_valid_values(tcp: dict[str, Any], message: str) -> None:
    with pytest.raises(tb.ScenarioError, match=message):
        tb.simulate(scenario(tcp))


def test_with_the_package_no_error_says_what_to_install() -> None:
    for stack, hint in [("user:quinn", "did you mean `quinn`?"), ("other", None)]:
        with pytest.raises(tb.ScenarioError) as caught:
            tb.simulate(scenario({"stack": stack}))
        (problem,) = caught.value.problems
        assert (problem.at, problem.hint) == ("flows.web.tcp.stack", hint)
    with pytest.raises(tb.ScenarioError, match=r"`--code FILE\.py`") as caught:
        tb.simulate(scenario({"preset": "sack", "controller": "user:other"}))
    assert "pip install" not in str(caught.value)


def test_without_the_package_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(**_group: str) -> list[EntryPoint]:
        return []

    monkeypatch.setattr(_libraries, "entry_points", none)
    with pytest.raises(tb.ScenarioError, match="`pip install tailback-stacks` installs `quinn`, `noq`, `smoltcp` and `str0m`"):
        tb.simulate(scenario({"stack": "quinn"}))


def test_a_video_has_no_size() -> None:
    with pytest.raises(tb.ScenarioError, match=r"(?s)`size` is set.*flows\.web\.tcp\.stack\s+expected a `stop` instead"):
        scenario({"stack": "str0m"}, size="1 MB").check()


def test_a_video_makes_room_for_a_download() -> None:
    run = tb.simulate(tb.load(ROOT / "examples/stacks/str0m.toml"))
    assert run.queues["utilisation"][0] > 0.9
    video, download = run.groups["goodput_bps"]
    # In 55 s, with 30 s shared: about half of the link, whose packets have 3 to 5 % of headers.
    assert 0.4 * 5e6 < download * 55 / 30 < 0.55 * 5e6
    assert video > 0.5 * 5e6


def test_an_mtu_below_that_of_quic_is_an_error() -> None:
    assert tb.simulate(scenario({"stack": "quinn", "mtu": "1280 B"})).complete
    with pytest.raises(tb.ScenarioError, match="expected 1228 to 65535"):
        scenario({"stack": "quinn", "mtu": "1000 B"}).check()


def test_acknowledgements_in_queues_belong_to_their_flows() -> None:
    run = tb.simulate(scenario({"stack": "quinn"}, duration="2 s").with_({"record.queue_flows": True}))
    table = run.queue_flows
    assert sorted(zip(table["queue"], table["group"], strict=True)) == [("bottleneck", "web"), ("bottleneck.reverse", "web")]


def test_mtu_discovery_finds_the_mtu_of_a_link() -> None:
    run = tb.simulate(scenario({"stack": "quinn"}).with_({"topology.dumbbell.mtu": "1380 B", "record.traces": ["packets"]}))
    there = run.queues.where(queue="bottleneck")
    # Probes of both ends are lost, and nothing else.
    assert 2 <= there["dropped_mtu"][0] <= 20
    assert run.queues.where(queue="bottleneck.reverse")["dropped_mtu"][0] >= 2
    assert there["utilisation"][0] > 0.9
    sizes = run.trace("packets")["bytes"]
    # Binary search ends when less than 20 bytes would be gained (the default of quinn).
    assert 1340 < sizes[len(sizes) // 2 :].max() <= 1380 < max(sizes)


@pytest.mark.parametrize("stack", ["quinn", "noq", "smoltcp"])
def test_a_larger_mtu_is_used(stack: str) -> None:
    jumbo = scenario({"stack": stack, "mtu": "9000 B"}, duration="5 s").with_({"record.traces": ["packets"]})
    sizes = tb.simulate(jumbo).trace("packets")["bytes"]
    # Binary search ends when less than 20 bytes would be gained (the default of quinn).
    assert 9000 - 20 < sizes[len(sizes) // 2 :].max() == max(sizes) <= 9000
    assert len(sizes) > 300


def test_a_segment_that_is_partly_new_is_a_retransmission(tmp_path: Path) -> None:
    tcp = {"stack": "smoltcp", "congestion": "none", "parameters": {"buffer": 30_000}}
    lossy = scenario(tcp, size="3 MB").with_({"topology.dumbbell.loss": {"probability": "3 %"}})
    run = tb.simulate(lossy.with_({"topology.dumbbell.queue.buffer": "20 packets"}), capture=tmp_path / "run.pcapng")
    analysis = tb.analyse(tmp_path / "run.pcapng")
    (sent,) = analysis.connections.where(direction="forward", interface="web.sender").to_rows()
    assert run.flows["retransmitted_packets"][0] == sent["retransmitted_packets"] > 100


def test_a_stack_receives_both_copies_of_a_duplicated_packet(tmp_path: Path) -> None:
    copying = scenario({"stack": "quinn"}, size="300 kB").with_({"topology.dumbbell.duplication": 1})
    run = tb.simulate(copying, capture=tmp_path / "run.pcapng")
    assert run.flows["completion_time_s"][0] > 0
    analysis = tb.analyse(tmp_path / "run.pcapng")
    (received,) = analysis.udp_flows.where(direction="forward", interface="web.receiver").to_rows()
    # Both copies arrive at the same time, as those of a mirror port.
    assert analysis.tables["skipped"].to_rows() == [{"reason": "captured before", "packets": received["packets"]}]
    assert received["packets"] > 200


def test_quic_reduces_its_window_for_marks() -> None:
    queue = {"buffer": "100 packets", "policy": "threshold", "threshold": "20 packets"}
    run = tb.simulate(scenario({"stack": "quinn"}).with_({"topology.dumbbell.queue": queue}))
    # Without a reaction to the marks, the window would fill the buffer.
    assert run.flows["marked_packets"][0] > 50
    assert run.flows["loss_rate"][0] == 0
    assert run.queues["max_queue_units"][0] < 100
    assert run.queues["utilisation"][0] > 0.9


def test_a_train_leaves_as_single_packets() -> None:
    run = tb.simulate(scenario({"stack": "quinn", "parameters": {"train": 10}}).with_({"record.traces": ["packets"]}))
    packets = run.trace("packets")
    at, counts = np.unique(packets["time_s"], return_counts=True)
    assert len(at) < len(packets)
    assert counts.max() >= 10
    assert packets["bytes"].max() <= 1500


def test_quic_and_webrtc_survive_a_nat_that_forgets_them_and_tcp_does_not(tmp_path: Path) -> None:
    def delivered(stack: str, **changes: Any) -> float:
        mine = scenario({"stack": stack}).with_({"timeline": [{"at": "5 s", "group": "web", **changes}]})
        file = tmp_path / f"{stack}.pcapng"
        file.unlink(missing_ok=True)
        reset = pytest.warns(tb.HostWarning, match="`web.sender` ended its connection at .*: the connection was reset")
        with reset if stack == "smoltcp" and "rebind" in changes else nullcontext():
            run = tb.simulate(mine, capture=file)
        # UDP or TCP from the new port to 443.
        assert ((50_000).to_bytes(2) + (443).to_bytes(2) in file.read_bytes()) == ("rebind" in changes)
        bytes_ = run.flows["delivered_bytes"][0]
        return float(bytes_)

    for stack, least, most in [("quinn", 0.8, 1.0), ("str0m", 0.9, 1.1), ("smoltcp", 0.3, 0.7)]:
        assert least < delivered(stack, rebind=True) / delivered(stack, stop=True) / 2 < most


def test_a_connection_that_quinn_ends_is_a_warning() -> None:
    large = {"stream_receive_window": 16_000_000, "send_window": 16_000_000}
    plain = scenario({"stack": "quinn", "parameters": large}, duration="4 s").with_({"topology.dumbbell.rate": "500 Mbps"})
    # Its receiver limits the number of gaps in a stream.
    with pytest.warns(tb.HostWarning, match=r"`web.receiver` ended its connection at 0\.\d+ s: .*too many gaps"):
        tb.simulate(plain.with_({"topology.dumbbell.queue.buffer": "1667 packets"}))


def test_the_engine_accepts_the_tables_of_a_library_only() -> None:
    stacks = _libraries.library_member("stack", "linux").tables
    assert _core.library_versions("stack", stacks)
    for kind, tables in (("stack", 5), ("controller", stacks)):
        with pytest.raises((TypeError, ValueError)):
            _core.library_versions(kind, tables)


def test_a_library_is_loaded_by_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_libraries, "_loaded", {})
    with pytest.raises(tb.ParameterError, match="cannot be loaded as a library with stacks"):
        tb.user_code.load_stacks("missing.so")


# A run that prints the hash of its capture and of its tables.
HASHES = """
import hashlib, sys, tempfile
from pathlib import Path
import tailback as tb
scenario = tb.load(sys.argv[1]).with_({"duration": "5 s", "warmup": "0 s", "flows.quinn.tcp": {"stack": sys.argv[2]}})
scenario = scenario.with_({"topology.dumbbell.loss": {"probability": "1 %"}, "flows.quinn.count": 3})
with tempfile.TemporaryDirectory() as folder:
    run = tb.simulate(scenario, capture=Path(folder) / "run.pcapng", threads=int(sys.argv[3]))
    packets = (Path(folder) / "run.pcapng").read_bytes()
tables = str({name: table.to_dict() for name, table in run.tables.items()})
print(len(packets), hashlib.sha256(packets).hexdigest(), hashlib.sha256(tables.encode()).hexdigest())
"""


@pytest.mark.parametrize("stack", ["quinn", "noq", "smoltcp", "str0m"])
def test_runs_have_the_same_bytes_in_every_process_and_for_any_number_of_threads(stack: str) -> None:
    def hashes() -> Iterator[str]:
        for process, threads in enumerate(("1", "1", "4")):
            file = str(ROOT / "examples/stacks/quinn.toml")
            command = [sys.executable, "-W", "ignore", "-c", HASHES, file, stack, threads]
            yield subprocess.run(
                command, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONHASHSEED": str(process)}
            ).stdout

    first, *others = hashes()
    assert int(first.split()[0]) > 1_000_000
    assert others == [first, first]


def test_a_study_varies_the_controller_of_a_stack(tmp_path: Path) -> None:
    study = tb.sweep(
        scenario({"stack": "quinn"}, duration="2 s"), vary={"flows.web.tcp.congestion": ["cubic", "bbr"]}, out=tmp_path / "study"
    )
    assert study.counts.done == 2
    assert study.groups["goodput_bps"][0] != study.groups["goodput_bps"][1]


def test_a_study_warns_about_a_connection_that_a_stack_has_ended(tmp_path: Path) -> None:
    rebound = scenario({"stack": "smoltcp"}, size="500 kB").with_({"timeline": [{"at": "0.2 s", "group": "web", "rebind": True}]})
    message = r"`web.sender` ended its connection at .* s: the connection was reset"
    with pytest.warns(tb.HostWarning, match=message):
        tb.simulate(rebound)
    with pytest.warns(tb.HostWarning, match=message):
        tb.sweep(rebound, {"topology.dumbbell.delay": ["20 ms"]}, seeds=1, out=tmp_path / "study")
    simulation = tb.Simulation(rebound)
    with pytest.warns(tb.HostWarning, match=message):
        simulation.step("10 s")


def test_a_capture_has_the_fate_of_the_last_packets_on_any_number_of_threads(tmp_path: Path) -> None:
    down = scenario({"stack": "smoltcp"}, duration="0.5 s", propagation_rtt="80 ms").with_(
        {"timeline": [{"at": "0 s", "link": "bottleneck", "down": True}]}
    )
    captures = []
    for threads in (1, 2):
        tb.simulate(down, capture=tmp_path / f"{threads}.pcapng", threads=threads)
        captures.append((tmp_path / f"{threads}.pcapng").read_bytes())
    assert captures[0] == captures[1]
    assert b"discarded at bottleneck" in captures[0]
    assert b"in flight at the end" not in captures[0]
