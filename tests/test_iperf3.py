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
    assert (backward["payload_bytes"], math.isnan(backward["goodput_bps"])) == (0, True)
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


def test_an_incomplete_report_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    whole = json.dumps(REPORT)
    path.write_text(whole[: len(whole) // 2])
    with pytest.raises(tb.CaptureError, match="is not a report of iperf3"):
        tb.analyse(path)
    report = copy.deepcopy(REPORT)
    del report["end"]["streams"][0]["receiver"]
    with pytest.raises(tb.CaptureError, match="is not a complete report of iperf3: KeyError"):
        analysed(path, report)
