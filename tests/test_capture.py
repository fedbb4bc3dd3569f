"""Captures of runs: written, read by other programs, analysed; and invalid files."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import tailback as tb

MSS = 1460


@pytest.fixture(scope="module")
def run() -> tb.Run:
    """Two flows with losses, one of them with ECN, and datagrams with losses."""
    return tb.simulate(
        tb.Scenario(
            {
                "name": "small",
                "duration": "5 s",
                "topology": {
                    "dumbbell": {
                        "rate": "10 Mbps",
                        "delay": "10 ms",
                        "queue": {
                            "buffer": "20 packets",
                            "policy": "red",
                            "min_threshold": "5 packets",
                            "max_threshold": "15 packets",
                        },
                    }
                },
                "flows": {
                    "lossy": {"from": "left", "to": "right", "tcp": {"preset": "sack"}},
                    "marked": {"from": "left", "to": "right", "count": 2, "tcp": {"preset": "sack", "ecn": True}},
                    "voice": {
                        "from": "left",
                        "to": "right",
                        "source": {"kind": "poisson", "rate": "1 Mbps", "packet_size": "500 B"},
                    },
                },
                "record": {"traces": ["packets", "rtt", "in_flight", "acks", "drops"]},
            }
        )
    )


@pytest.fixture(scope="module")
def capture(run: tb.Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("capture") / "run.pcapng"
    run.save_capture(path)
    return path


@pytest.fixture(scope="module")
def analysis(capture: Path) -> tb.Analysis:
    return tb.analyse(capture, samples=True)


def forward(analysis: tb.Analysis, column: str) -> list[float]:
    """A column for the directions with data, in the order of the run's TCP flows."""
    rows = analysis.connections.where(direction="forward").to_rows()
    return [row[column] for row in sorted(rows, key=lambda row: row["sender_address"])]


def test_a_capture_agrees_with_the_run(run: tb.Run, analysis: tb.Analysis) -> None:
    flows = [row for row in run.flows.to_rows() if row["group"] != "voice"]
    assert analysis.complete
    assert forward(analysis, "data_packets") == [flow["sent_packets"] for flow in flows]
    assert forward(analysis, "retransmitted_packets") == [flow["retransmitted_packets"] for flow in flows]
    assert sum(forward(analysis, "retransmitted_packets")) > 20
    assert forward(analysis, "inferred_timeouts") == [flow["timeouts"] for flow in flows]
    assert forward(analysis, "reordered_packets") == [0, 0, 0]
    # All data that was sent and is not in flight at the end has arrived, or was lost and will be retransmitted.
    sent = [flow["sent_packets"] - flow["retransmitted_packets"] for flow in flows]
    assert forward(analysis, "unique_payload_bytes") == [MSS * packets for packets in sent]


def test_acknowledgements_marks_and_blocks_are_those_received_by_senders(run: tb.Run, analysis: tb.Analysis) -> None:
    packets = run.trace("packets")
    heard = packets.where(kind="ack")
    groups, flows = heard["group"], heard["flow"]
    ends = [("lossy", 0), ("marked", 0), ("marked", 1)]
    of_ends = [(groups == group) & (flows == flow) for group, flow in ends]
    assert forward(analysis, "acks") == [int(of.sum()) for of in of_ends]
    assert forward(analysis, "ece_packets") == [int((heard["ecn"][of] == "echo").sum()) for of in of_ends]
    assert forward(analysis, "ece_packets")[0] == 0 < forward(analysis, "ece_packets")[1]
    assert forward(analysis, "cwr_packets")[0] == 0 < forward(analysis, "cwr_packets")[1]
    blocks = [sum(len(text.split()) for text in heard["sack_blocks"][of]) for of in of_ends]
    assert forward(analysis, "sack_blocks") == blocks
    duplicates = run.trace("acks")
    repeated = [
        int(((duplicates["group"] == group) & (duplicates["flow"] == flow) & (duplicates["duplicate"] == 1)).sum())
        for group, flow in ends
    ]
    assert forward(analysis, "duplicate_acks") == repeated


def test_round_trips_are_those_of_the_run_to_a_nanosecond(run: tb.Run, analysis: tb.Analysis) -> None:
    rtt = run.trace("rtt")
    for place, (group, flow) in enumerate([("lossy", 0), ("marked", 0), ("marked", 1)]):
        own = rtt["rtt_s"][(rtt["group"] == group) & (rtt["flow"] == flow)]
        assert abs(forward(analysis, "min_rtt_s")[place] - own.min()) <= 2e-9
    # A sender times one segment at a time, a capture every segment.
    assert len(analysis.rtt) > len(rtt)
    assert analysis.rtt.columns == ["time_s", "connection", "direction", "rtt_s"]
    assert max(analysis.in_flight["in_flight_packets"]) >= max(run.trace("in_flight")["in_flight_packets"])


def test_goodput_agrees_for_a_finished_flow(tmp_path: Path) -> None:
    scenario = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="10 s", traces=["packets"])
    run = tb.simulate(scenario.with_({"flows.tcp.size": "1 MB"}))
    run.save_capture(tmp_path / "run.pcapng")
    (row,) = tb.analyse(tmp_path / "run.pcapng").connections.where(direction="forward").to_rows()
    assert row["unique_payload_bytes"] == 1_000_000 == run.flows["delivered_bytes"][0]
    assert row["goodput_bps"] == pytest.approx(8e6 / row["duration_s"])


def test_every_discard_is_a_comment_on_the_packet_that_was_lost(run: tb.Run, capture: Path) -> None:
    packets = run.trace("packets")
    lost = [row for row in packets.to_rows() if row["queue"]]
    drops = run.trace("drops")
    assert len(lost) == len(drops) > 20
    assert sorted(row["dropped_s"] for row in lost) == sorted(drops["time_s"])
    assert capture.read_bytes().count(b"discarded at bottleneck: ") == len(lost)


def test_each_loss_is_listed_with_its_reason_and_repair(run: tb.Run, analysis: tb.Analysis) -> None:
    losses = analysis.losses
    packets = run.trace("packets")
    lost = [row for row in packets.to_rows() if row["queue"] and row["kind"] == "data"]
    recorded = losses.where(evidence="recorded")
    assert sorted(recorded["sent_s"]) == pytest.approx(sorted(row["time_s"] for row in lost), abs=2e-9)
    assert set(recorded["queue"]) == {"bottleneck"}
    assert sorted(recorded["reason"]) == sorted(row["reason"] for row in lost)
    assert sorted(recorded["sequence_number"]) == sorted(row["sequence_bytes"] + 1 for row in lost)
    # All other retransmissions repeat data that had arrived.
    repaired = sum(repair != "none" for repair in recorded["repair"])
    assert repaired > 20
    assert len(losses) - len(recorded) == sum(forward(analysis, "retransmitted_packets")) - repaired
    assert "losses" in analysis.summary()


def test_datagrams_are_measured_by_flow(run: tb.Run, analysis: tb.Analysis) -> None:
    trace = run.trace("packets")
    datagrams = trace["kind"] == "datagram"
    row, back = analysis.udp_flows.to_rows()
    assert (row["packets"], back["packets"], row["protocol"], row["quic_version"]) == (datagrams.sum(), 0, "udp", "")
    assert row["payload_bytes"] == trace["payload_bytes"][datagrams].sum()
    assert row["max_gap_s"] == pytest.approx(np.diff(trace["time_s"][datagrams]).max(), abs=2e-9)
    assert "udp_flows" in analysis.summary()
    assert len(analysis.skipped) == 0


def test_time_0_of_a_run_is_the_beginning_of_2000(run: tb.Run, capture: Path, analysis: tb.Analysis) -> None:
    first = run.trace("packets")["time_s"][0]
    assert analysis.provenance["began"] == f"2000-01-01T00:00:0{first:.9f}Z"
    assert "Time 0 of the run is 2000-01-01T00:00:00Z" in analysis.comments[0]


def tshark(capture: Path, *arguments: str) -> str:
    if shutil.which("tshark") is None:
        pytest.skip("tshark is not installed")
    checks = [word for protocol in ("ip", "tcp", "udp") for word in ("-o", f"{protocol}.check_checksum:TRUE")]
    done = subprocess.run(["tshark", "-r", str(capture), *checks, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_tshark_reads_it_without_a_complaint(run: tb.Run, capture: Path) -> None:
    bad = "_ws.malformed || _ws.expert.group == 0x01000000 || _ws.expert.severity == 0x00800000"
    assert tshark(capture, "-Y", bad) == ""
    assert len(tshark(capture, "-Y", "ip && (tcp || udp)").splitlines()) == len(run.trace("packets"))
    resent = tshark(capture, "-Y", "tcp.analysis.retransmission || tcp.analysis.out_of_order").splitlines()
    assert len(resent) == sum(run.flows["retransmitted_packets"])
    assert "discarded at bottleneck: " in tshark(capture, "-Y", "frame.comment", "-T", "fields", "-e", "frame.comment")


def test_an_analysis_is_saved_as_tables(analysis: tb.Analysis, tmp_path: Path) -> None:
    analysis.save(tmp_path / "results")
    names = {path.name for path in (tmp_path / "results").iterdir()}
    assert names == {
        "connections.parquet",
        "udp_flows.parquet",
        "skipped.parquet",
        "losses.parquet",
        "rtt.parquet",
        "in_flight.parquet",
        "provenance.json",
    }
    provenance = json.loads((tmp_path / "results" / "provenance.json").read_text())
    assert [*provenance.pop("tables")] == [*analysis.tables]
    assert provenance == analysis.provenance
    assert provenance["began"] == "2000-01-01T00:00:00.000000000Z"


def test_ctrl_c_ends_an_analysis(capture: Path) -> None:
    def interrupt(fraction: float) -> None:
        assert 0 < fraction <= 1
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tb.analyse(capture, progress=interrupt)


def test_samples_are_kept_on_request(capture: Path) -> None:
    with pytest.raises(tb.UnknownName, match="samples=True"):
        _ = tb.analyse(capture).rtt


def test_a_capture_requires_its_trace_and_a_new_file(run: tb.Run, capture: Path) -> None:
    with pytest.raises(tb.OutputError, match="exists already"):
        run.save_capture(capture)
    without = tb.simulate(tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="1 s"))
    with pytest.raises(tb.UnknownName, match=r"record\.traces"):
        without.save_capture(capture.with_name("other.pcapng"))
    assert {path.name for path in capture.parent.iterdir()} == {"run.pcapng"}


def test_packets_in_cells_are_captured_as_packets(tmp_path: Path) -> None:
    scenario = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="300 cells", duration="2 s", traces=["packets", "drops"])
    run = tb.simulate(scenario.with_({"flows.tcp.framing": {"trailer": "8 B"}}))
    run.save_capture(tmp_path / "run.pcapng")
    (row,) = tb.analyse(tmp_path / "run.pcapng").connections.where(direction="forward").to_rows()
    assert row["data_packets"] == run.flows["sent_packets"][0]
    lost = {(row["segment"], row["transmission"]) for row in run.trace("packets").to_rows() if row["queue"]}
    drops = run.trace("drops")
    # Some packets have lost several cells.
    assert lost == set(zip(drops["segment"].tolist(), drops["transmission"].tolist(), strict=True))
    assert 0 < len(lost) < len(drops)


def test_a_truncated_file_is_analysed_up_to_there(capture: Path, tmp_path: Path) -> None:
    whole = capture.read_bytes()
    cut = tmp_path / "cut.pcapng"
    cut.write_bytes(whole[: len(whole) // 2])
    analysis = tb.analyse(cut)
    assert not analysis.complete
    assert analysis.damage is not None
    assert 0 < len(whole) // 2 - analysis.damage.at_byte < 200
    assert "the file ends within" in str(analysis.damage)
    assert 0 < analysis.packets < tb.analyse(capture).packets
    assert "INCOMPLETE" in analysis.summary()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the file is empty"),
        (b"duration = '5 s'\n", "the file begins with `duration`"),
        (gzip.compress(b"packets", mtime=0), "the file is compressed with gzip; decompress it first"),
        (b"\xd4\xc3\xb2\xa1\x02\x00", "the file ends within the pcap header: 6 of 24 bytes are present"),
        (np.random.default_rng(1).bytes(1000), "the file begins with the bytes"),
    ],
)
def test_a_file_that_is_not_a_capture_is_rejected(content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(tb.CaptureError) as caught:
        tb.analyse(path)
    assert said in str(caught.value)
    assert "expected pcap, pcapng, qlog, reports of `iperf3 -J` or `--json-stream`, or a data file of Flent" in str(caught.value)


@pytest.mark.parametrize(("name", "said"), [("", "the file name is empty"), ("missing", "No such file"), (".", "directory")])
def test_unreadable_files_give_the_reason(name: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(tb.CaptureError, match=said):
        tb.analyse(name)
