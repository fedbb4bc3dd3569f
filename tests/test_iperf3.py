"""Reports of iperf3: fields as written by iperf 3.12, several reports in a file, and failed tests."""

from __future__ import annotations

import copy
import json
import math
from pathlib import Path
from typing import Any

import pytest

import tailback as tb
from support import Command

ENDS = {"socket": 5, "local_host": "10.0.0.3", "local_port": 54949, "remote_host": "10.0.0.2", "remote_port": 5202}
STREAM = {"socket": 5, "start": 0, "end": 0.4, "seconds": 0.4, "bytes": 1006360, "bits_per_second": 20127200.0}
REPORT: dict[str, Any] = {
    "start": {
        "connected": [ENDS],
        "version": "iperf 3.12",
        "timestamp": {"time": "Fri, 27 Nov 2026 20:02:06 GMT", "timesecs": 1795809726},
        "test_start": {"protocol": "TCP", "num_streams": 1, "reverse": 0},
    },
    "intervals": [{"streams": [{**STREAM, "retransmits": 3, "snd_cwnd": 53576, "rtt": 5787, "sender": True}]}],
    "end": {
        "streams": [
            {
                "sender": {
                    **STREAM,
                    "retransmits": 3,
                    "max_snd_cwnd": 53576,
                    "max_rtt": 9000,
                    "min_rtt": 5000,
                    "mean_rtt": 5787,
                    "sender": True,
                },
                "receiver": {**STREAM, "bytes": 907896, "bits_per_second": 18157920.0, "sender": True},
            }
        ]
    },
}


def analysed(path: Path, *reports: dict[str, Any], samples: bool = False) -> tb.Analysis:
    path.write_text("\n".join(json.dumps(report, indent="\t") for report in reports))
    return tb.analyse(path, samples=samples)


def test_a_transfer_is_a_connection(tmp_path: Path) -> None:
    analysis = analysed(tmp_path / "report.json", REPORT, samples=True)
    forward, backward = analysis.connections.to_rows()
    assert (forward["sender_address"], forward["receiver_port"], backward["sender_port"]) == ("10.0.0.3", 5202, 5202)
    assert (forward["goodput_bps"], forward["unique_payload_bytes"], forward["retransmitted_packets"]) == (18157920.0, 907896, 3)
    assert [forward[f"{kind}_rtt_s"] for kind in ("min", "mean", "max")] == pytest.approx([5e-3, 5.787e-3, 9e-3])
    assert all(math.isnan(backward[column]) for column in ("payload_bytes", "goodput_bps", "retransmitted_packets"))
    [interval] = analysis.tables["intervals"].to_rows()
    assert (interval["throughput_bps"], interval["cwnd_bytes"], interval["rtt_s"]) == (20127200.0, 53576, pytest.approx(5.787e-3))
    assert str(analysis) == f"{tmp_path / 'report.json'}: 1 connection"
    assert len(analysis.losses) == 0
    assert analysis.complete


def test_a_reverse_test_sends_from_the_server(tmp_path: Path) -> None:
    report = copy.deepcopy(REPORT)
    report["start"]["test_start"]["reverse"] = 1
    for stream in report["end"]["streams"][0].values():
        stream["sender"] = False
    # Versions before 3.7 do not say which side sends.
    older = copy.deepcopy(report)
    for stream in older["end"]["streams"][0].values():
        del stream["sender"]
    for each in (report, older):
        [forward, _] = analysed(tmp_path / "report.json", each).connections.to_rows()
        assert (forward["sender_port"], forward["receiver_port"]) == (5202, 54949)


def test_datagrams_have_losses_and_jitter(tmp_path: Path) -> None:
    report = copy.deepcopy(REPORT)
    report["start"]["test_start"]["protocol"] = "UDP"
    sent = {**STREAM, "jitter_ms": 0.25, "lost_packets": 7, "packets": 700, "lost_percent": 1.0, "sender": True}
    report["end"]["streams"] = [{"udp": sent}]
    report["intervals"] = [{"streams": [{**STREAM, "packets": 700, "sender": True}]}]
    [forward, _] = analysed(tmp_path / "report.json", report).connections.to_rows()
    assert (forward["protocol"], forward["lost_packets"], forward["loss_rate"]) == ("udp", 7, 0.01)
    assert (forward["goodput_bps"], forward["jitter_s"]) == pytest.approx((0.99 * 20127200.0, 0.25e-3))


def test_reports_follow_each_other_in_a_file(tmp_path: Path, command: Command) -> None:
    later = copy.deepcopy(REPORT)
    later["start"]["timestamp"]["timesecs"] += 2
    failed = {"start": {"version": "iperf 3.12"}, "intervals": [], "end": {}, "error": "unable to connect to server"}
    path = tmp_path / "reports.json"
    analysis = analysed(path, REPORT, failed, later)
    assert [row["first_s"] for row in analysis.connections.to_rows()] == [0, 0, 2, 2]
    assert analysis.connections.to_dict()["connection"] == [0, 0, 1, 1]
    done = command("analyse", path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "not analysed: 1 test that failed: unable to connect to server" in done.stdout


def test_texts_of_a_report_do_not_reach_the_terminal_as_control_characters(tmp_path: Path, command: Command) -> None:
    report = copy.deepcopy(REPORT)
    report["start"]["connected"][0]["local_host"] = "\x1b[31m\u202ehost\nanother line"
    failed = {"start": {"version": "iperf 3.12"}, "error": "\x1b]0;title\x07"}
    path = tmp_path / "report.json"
    analysed(path, report, failed)
    done = command("analyse", path)
    assert not {"\x1b", "\u202e", "\x07"} & set(done.stdout)
    assert r"\x1b[31m\u202ehost\nanother line:54949" in done.stdout
    assert r"\x1b]0;title\x07" in done.stdout


def test_a_server_that_receives_knows_what_arrived_and_no_retransmissions(tmp_path: Path) -> None:
    # As iperf 3.12 and 3.21 write it: the server does not know what was sent.
    report = copy.deepcopy(REPORT)
    ends = report["end"]["streams"][0]
    ends["sender"] = {**STREAM, "bytes": 0, "bits_per_second": 0, "sender": False}
    ends["receiver"]["sender"] = False
    [forward, _] = analysed(tmp_path / "report.json", report).connections.to_rows()
    assert (forward["goodput_bps"], forward["unique_payload_bytes"]) == (18157920.0, 907896)
    assert all(
        math.isnan(forward[column]) for column in ("payload_bytes", "retransmitted_packets", "max_cwnd_bytes", "min_rtt_s")
    )
    assert forward["receiver_port"] == 54949


def test_a_server_that_sends_does_not_know_what_arrived(tmp_path: Path) -> None:
    report = copy.deepcopy(REPORT)
    report["start"]["test_start"]["reverse"] = 1
    report["end"]["streams"][0]["receiver"] |= {"bytes": 0, "bits_per_second": 0}
    [forward, _] = analysed(tmp_path / "report.json", report).connections.to_rows()
    assert (forward["payload_bytes"], forward["retransmitted_packets"]) == (1006360, 3)
    assert math.isnan(forward["goodput_bps"])
    assert math.isnan(forward["unique_payload_bytes"])


@pytest.mark.parametrize("streams", [1, 2])
def test_a_server_that_receives_datagrams_has_their_bytes_elsewhere(tmp_path: Path, streams: int) -> None:
    report = copy.deepcopy(REPORT)
    report["start"]["test_start"]["protocol"] = "UDP"
    report["start"]["connected"] = [{**ENDS, "socket": 5 + place, "remote_port": 6000 + place} for place in range(streams)]
    span = {"start": 0, "end": 1, "seconds": 1, "sender": False}
    # The percentage is that of iperf 3.12 and 3.21 in the streams of a server.
    counts = {"jitter_ms": 0.1, "lost_packets": 5, "packets": 868, "lost_percent": 0}
    report["end"] = {
        "streams": [{"udp": {**span, **counts, "bytes": 0, "bits_per_second": 0}} for _ in range(streams)],
        "sum": {**span, **counts, "bytes": 0},
        "sum_received": {**span, "bytes": streams * 1_250_000, "bits_per_second": streams * 1e7},
    }
    received = {**span, **counts, "bytes": 1_250_000, "bits_per_second": 1e7}
    report["intervals"] = [
        {"streams": [{**received, "socket": 5 + place, "omitted": omitted} for place in range(streams)]}
        for omitted in (True, False)
    ]
    analysis = analysed(tmp_path / "report.json", report, samples=True)
    for row in analysis.connections.where(direction="forward").to_rows():
        assert (row["goodput_bps"], row["unique_payload_bytes"], row["lost_packets"]) == (1e7, 1_250_000, 5)
        assert row["loss_rate"] == pytest.approx(5 / 868)
        assert math.isnan(row["payload_bytes"])
    assert analysis.tables["intervals"]["omitted"].tolist() == [1] * streams + [0] * streams
    assert "1,250,000  10 Mbps     5" in analysis.summary()


@pytest.mark.parametrize("streams", [1, 2])
def test_a_server_that_sends_datagrams_does_not_know_what_arrived(streams: int, tmp_path: Path) -> None:
    """Counts of iperf3 3.12 behind a loss of 5 %: the client reports 38 lost packets, and the server 0."""
    report = copy.deepcopy(REPORT)
    report["start"]["test_start"] |= {"protocol": "UDP", "reverse": 1}
    report["start"]["accepted_connection"] = {"host": "10.0.0.1", "port": 40_000}
    report["start"]["connected"] = [{**ENDS, "socket": 5 + place, "remote_port": 6000 + place} for place in range(streams)]
    span = {
        "start": 0,
        "end": 2,
        "seconds": 2,
        "jitter_ms": 0,
        "lost_packets": 0,
        "packets": 867,
        "lost_percent": 0,
        "sender": True,
    }
    report["end"] = {
        "streams": [{"udp": {**span, "bytes": 1_255_416, "bits_per_second": 5e6}} for _ in range(streams)],
        "sum": {**span, "bytes": streams * 1_255_416},
        "sum_received": {**span, "sender": False, "bytes": 0, "bits_per_second": 0},
    }
    report["intervals"] = []
    for row in analysed(tmp_path / "report.json", report).connections.where(direction="forward").to_rows():
        assert row["payload_bytes"] == 1_255_416
        for name in ("goodput_bps", "unique_payload_bytes", "lost_packets", "loss_rate", "jitter_s"):
            assert math.isnan(row[name]), name


def streamed(*events: tuple[str, Any]) -> str:
    return "".join(json.dumps({"event": event, "data": data}) + "\n" for event, data in events)


def test_events_of_a_stream_are_a_report(tmp_path: Path) -> None:
    path = tmp_path / "stream.json"
    whole = [("start", REPORT["start"]), *(("interval", each) for each in REPORT["intervals"]), ("end", REPORT["end"])]
    path.write_text(streamed(*whole, *whole[:2]))
    analysis = tb.analyse(path, samples=True)
    of_report = analysed(tmp_path / "report.json", REPORT, samples=True)
    numbers = [column for column, value in of_report.connections.to_rows()[0].items() if not isinstance(value, str)]
    for column in numbers:
        ours, theirs = (each.connections[column].tolist() for each in (analysis, of_report))
        assert ours == pytest.approx(theirs, nan_ok=True)
    assert analysis.tables["intervals"]["throughput_bps"].tolist() == [20127200.0]
    assert analysis.skipped.to_rows() == [{"reason": "test without an end", "packets": 1}]


def interrupted(error: str, **end: Any) -> dict[str, Any]:
    report = copy.deepcopy(REPORT)
    report["error"] = error
    report["end"] = {**report["end"], **end}
    return report


def test_a_test_that_is_interrupted_has_its_data(tmp_path: Path) -> None:
    """As iperf 3.12 and 3.21 write it after Ctrl-C at the client."""
    client = interrupted("interrupt - the client has terminated")
    server = interrupted("the client has terminated")
    events = [("start", REPORT["start"]), ("error", client["error"]), ("end", client["end"])]
    refused = [("error", "unable to connect to server"), ("error", "unable to connect to server")]
    path = tmp_path / "stream.json"
    path.write_text(streamed(*refused, *events) + json.dumps(server))
    analysis = tb.analyse(path, samples=True)
    first, second = analysis.connections.where(direction="forward").to_rows()
    assert (first["goodput_bps"], first["retransmitted_packets"], first["duration_s"]) == (18157920.0, 3, 0.4)
    # The server's end has the time of the interval before.
    assert (math.isnan(second["goodput_bps"]), math.isnan(second["duration_s"])) == (True, True)
    assert second["unique_payload_bytes"] == 907896
    assert "a test of 1 connections ended early: the client has terminated" in analysis.summary()
    assert [row["packets"] for row in analysis.skipped.to_rows()] == [1, 1]


def test_an_interrupted_client_knows_no_losses_of_datagrams(tmp_path: Path) -> None:
    span = {"start": 0, "end": 1.9, "seconds": 1.9, "jitter_ms": 0, "lost_packets": 0, "packets": 823, "lost_percent": 0}
    received = {**span, "bytes": 0, "sender": False}
    stream = {"udp": {**span, "bytes": 1_191_704, "bits_per_second": 5e6, "sender": True}}
    report = interrupted("interrupt - the client has terminated", streams=[stream], sum=span, sum_received=received)
    report["start"]["test_start"]["protocol"] = "UDP"
    [forward, _] = analysed(tmp_path / "report.json", report).connections.to_rows()
    assert forward["payload_bytes"] == 1_191_704
    assert all(math.isnan(forward[name]) for name in ("lost_packets", "loss_rate", "unique_payload_bytes", "goodput_bps"))


def test_numbers_beyond_64_bits_are_read(tmp_path: Path) -> None:
    report = copy.deepcopy(REPORT)
    report["end"]["streams"][0]["sender"]["bytes"] = 2**70
    [forward, _] = analysed(tmp_path / "report.json", report).connections.to_rows()
    assert forward["payload_bytes"] == 2.0**70
    received = {**STREAM, "bytes": 0, "jitter_ms": 0, "lost_packets": 0, "packets": 9, "lost_percent": 0, "sender": False}
    report["end"] = {"streams": [{"udp": received}]}
    report["intervals"] = [{"streams": [{**STREAM, "bytes": 1.7e308}]}]
    [forward, _] = analysed(tmp_path / "report.json", report).connections.to_rows()
    assert (forward["unique_payload_bytes"], forward["goodput_bps"]) == (1.7e308, math.inf)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("end", "streams", 0, "sender"), 1, r"`end.streams\[0\].sender` is not an object"),
        (("end", "streams", 0, "sender", "bytes"), "many", r'`end.streams\[0\].sender.bytes` is "many"; expected a number'),
        (("end", "streams", 0, "sender", "bytes"), 10**400, r"`end.streams\[0\].sender.bytes` is 1000.*expected a number below"),
        (("end", "streams"), [], r"`start.connected` has 1 entries and `end.streams` 0"),
        (("start", "connected", 0, "remote_port"), 70000, "is 70000; expected a port"),
        (("intervals",), 3, "`intervals` is 3; expected a list"),
        (("intervals", 0, "streams", 0, "socket"), 9, r"`intervals\[0\].streams\[0\].socket` is not in `start.connected`"),
        (("start", "timestamp"), {}, "`start.timestamp.timesecs` is missing"),
    ],
)
def test_a_wrong_value_is_reported_with_its_place(tmp_path: Path, path: tuple[Any, ...], value: Any, message: str) -> None:
    report = copy.deepcopy(REPORT)
    *parents, last = path
    place: Any = report
    for key in parents:
        place = place[key]
    place[last] = value
    with pytest.raises(tb.CaptureError, match=message):
        analysed(tmp_path / "report.json", report, samples=True)


def test_an_incomplete_report_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    whole = json.dumps(REPORT)
    path.write_text(whole[: len(whole) // 2])
    with pytest.raises(tb.CaptureError, match="is not a report of iperf3"):
        tb.analyse(path)
    report = copy.deepcopy(REPORT)
    del report["end"]["streams"][0]["receiver"]
    with pytest.raises(tb.CaptureError, match=r"is not a complete report of iperf3: `end.streams\[0\].receiver` is missing"):
        analysed(path, report)
