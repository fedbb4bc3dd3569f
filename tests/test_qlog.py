"""qlog files: those of runs, and those that other programs write."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

import tailback as tb
from tailback._qlog import TRACES

EVENTS: list[tuple[float, str, dict[str, Any]]] = [
    (0.0, "transport:packet_sent", {"frames": [{"frame_type": "stream", "stream_id": 0, "offset": 0, "length": 1000}]}),
    (1.0, "transport:packet_sent", {"frames": [{"frame_type": "stream", "stream_id": 0, "offset": 1000, "length": 500}]}),
    (2.0, "transport:packet_sent", {"frames": [{"frame_type": "ack", "acked_ranges": [[0, 0]]}]}),
    (30.0, "transport:packet_received", {"frames": [{"frame_type": "ack", "acked_ranges": [[1, 1]]}]}),
    (31.0, "recovery:packet_lost", {"trigger": "pto_expired"}),
    (32.0, "transport:packet_sent", {"frames": [{"frame_type": "stream", "stream_id": 0, "offset": 0, "length": 1000}]}),
    (50.0, "recovery:metrics_updated", {"congestion_window": 12000, "smoothed_rtt": 29.5}),
    (60.0, "transport:packet_received", {"frames": [{"frame_type": "ack", "acked_ranges": [[0, 3]]}]}),
]
"""Two packets, of which the first is declared lost, sent again, and acknowledged after all."""
NUMBERS = [0, 1, 2, 0, 0, 3, None, 1]


def written(style: str) -> str:
    """The same events as different drafts and programs write them."""
    events: list[dict[str, Any]] = []
    for number, (time, name, data) in zip(NUMBERS, EVENTS, strict=True):
        header: dict[str, Any] = (
            {} if number is None else {"header": {"packet_type": "1RTT", "packet_number": number}, "raw": {"length": 1200}}
        )
        events.append({"time": time, "name": name, "data": {**header, **data}})
    common = {"vantage_point": {"type": "server"}, "common_fields": {"time_format": "relative"}}
    match style:
        case "contained":
            return json.dumps({"qlog_version": "0.3", "qlog_format": "JSON", "traces": [{**common, "events": events}]})
        case "file schema":
            renamed = [{**event, "name": "quic:" + event["name"].partition(":")[2]} for event in events]
            head = {"file_schema": "urn:ietf:params:qlog:file:contained", "serialization_format": "application/qlog+json"}
            return json.dumps({**head, "traces": [{**common, "events": renamed}]})
        case "sequence" | "lines":
            header = {"qlog_version": "0.3", "qlog_format": "JSON-SEQ", "trace": common}
            start = "\x1e" if style == "sequence" else ""
            return "".join(f"{start}{json.dumps(record)}\n" for record in (header, *events))
        case "delta":
            times = [0.0, *(event["time"] for event in events)]
            deltas = [{**event, "time": event["time"] - before} for before, event in zip(times, events, strict=False)]
            trace = {**common, "common_fields": {"time_format": "relative_to_previous_event"}, "events": deltas}
            return json.dumps({"qlog_version": "0.4", "traces": [trace]})
    rows = [[1000 * event["time"], *event["name"].split(":"), event["data"]] for event in events]
    fields = ["relative_time", "category", "event", "data"]
    trace = {**common, "configuration": {"time_units": "us"}, "event_fields": fields, "events": [*rows, []]}
    return json.dumps({"qlog_version": "draft-01", "traces": [trace]})


STYLES = ("contained", "file schema", "sequence", "lines", "delta", "draft-01")


@pytest.mark.parametrize("style", STYLES)
def test_the_same_events_give_the_same_tables_in_all_notations(style: str, tmp_path: Path) -> None:
    (tmp_path / "log").write_text(written(style))
    analysis = tb.analyse(tmp_path / "log", samples=True)
    assert analysis.complete
    sent, received = analysis.connections.to_rows()
    assert (sent["packets"], sent["data_packets"], received["packets"], sent["acks"], received["acks"]) == (4, 3, 2, 2, 1)
    assert (sent["payload_bytes"], sent["unique_payload_bytes"], sent["retransmitted_bytes"]) == (2500, 1500, 1000)
    assert sent["goodput_bps"] == pytest.approx(1500 * 8 / 0.032)
    assert (sent["lost_packets"], sent["spurious_losses"]) == (1, 1)
    # The ACK of packet 2 is not acknowledged by packets that elicit acknowledgements, and is never in flight.
    assert (sent["max_in_flight_packets"], sent["max_in_flight_bytes"]) == (2, 2400)
    assert analysis.rtt["rtt_s"] == pytest.approx([0.029, 0.028])
    assert analysis.in_flight.head("in_flight_packets", 9) == [1, 2, 1, 0, 1, 0]
    [loss] = analysis.losses.to_rows()
    assert (loss["packet_number"], loss["evidence"], loss["repair"]) == (0, "refuted", "timeout")
    assert loss["repaired_s"] == pytest.approx(0.032)
    metrics = analysis.tables["metrics"]
    assert metrics.head("congestion_window_bytes", 1) == [12000]
    assert metrics.head("smoothed_rtt_s", 1) == [pytest.approx(0.0295)]


def test_sequences_are_read_up_to_damage(tmp_path: Path) -> None:
    text = written("sequence")
    (tmp_path / "cut").write_text(text[:-20])
    analysis = tb.analyse(tmp_path / "cut")
    assert not analysis.complete
    assert analysis.damage is not None
    assert analysis.damage.at_byte == text.rindex("\x1e") + 1
    assert analysis.packets == 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not complete JSON"),
        ("{}", "is JSON without the field `traces` of a qlog file"),
        (written("contained")[:-30], "JSON text sequences are read up to damage"),
        ('{"qlog_version": "0.3", "traces": [{"events": [{"time": "x", "name": "a"}]}]}', "event 0"),
        ("[" * 100_000, "is not a capture"),
        ('{"a":' * 100_000, "is not JSON that can be read"),
        ("\x1e\x1e", "is a sequence without records"),
    ],
)
def test_other_files_are_refused(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text(text)
    with pytest.raises(tb.errors.CaptureError, match=message):
        tb.analyse(tmp_path / "file")


VALUES = ("null", "-1", "1e999", '"x"', "[]", "{}", "true", "9" * 30, "NaN", "[[1]]", '["1-2"]', '{"a": 1}', str(2**62 - 1))


@pytest.mark.parametrize("style", STYLES)
def test_no_value_in_a_file_is_fatal(style: str, tmp_path: Path) -> None:
    text = written(style)
    places = list(re.finditer(r'(?<=: )("[^"]*"|[0-9.]+|\[\]|true)', text))
    read = 0
    for place in places:
        for value in VALUES:
            (tmp_path / "log").write_text(text[: place.start()] + value + text[place.end() :])
            try:
                tb.analyse(tmp_path / "log", samples=True).summary()
                read += 1
            except tb.errors.CaptureError:
                continue
    assert read > len(places)


@pytest.fixture(scope="module")
def run() -> tb.Run:
    """Flows with losses, SACK and ECN, and datagrams."""
    flows: dict[str, Any] = {
        "sack": {"count": 2, "tcp": {"preset": "linux/cubic"}},
        "old": {"tcp": {"preset": "newreno", "handshake": True}},
        "voice": {"source": {"kind": "poisson", "rate": "1 Mbps", "packet_size": "500 B"}},
    }
    return tb.simulate(
        tb.dumbbell(rate="10 Mbps", delay="20 ms", buffer="20 packets", duration="10 s", flows=flows, traces=[*TRACES, "drops"])
    )


def test_a_log_of_a_run_has_what_its_senders_did(run: tb.Run, tmp_path: Path) -> None:
    run.save_qlog(tmp_path / "run.qlog")
    file = json.loads((tmp_path / "run.qlog").read_text())
    assert [trace["title"] for trace in file["traces"]] == ["sack 0", "sack 1", "old 0", "voice 0"]
    for trace in file["traces"]:
        times = [event["time"] for event in trace["events"]]
        assert times == sorted(times)
    analysis = tb.analyse(tmp_path / "run.qlog", samples=True)
    sent = analysis.connections.where(direction="forward").to_rows()
    for row, flow in zip(sent, run.flows.to_rows(), strict=True):
        # A flow counts its SYN as a packet, which has no payload.
        assert row["packets"] == flow["sent_packets"]
        if row["interface"] == "voice 0":
            assert math.isnan(row["retransmitted_packets"])
        else:
            assert row["retransmitted_packets"] == flow["retransmitted_packets"]
    discarded = sum("discarded at bottleneck" in str(event) for trace in file["traces"] for event in trace["events"])
    assert discarded == len(run.trace("drops").where(kind="data"))


def test_no_acknowledgement_in_a_log_refutes_a_loss_without_spurious_retransmissions(run: tb.Run, tmp_path: Path) -> None:
    run.save_qlog(tmp_path / "run.qlog")
    # Losses of the datagrams, which are last, are unknown.
    rows = tb.analyse(tmp_path / "run.qlog").connections.where(direction="forward").to_rows()[:3]
    spurious = run.flows.head("spurious_retransmissions", 3)
    assert [row["spurious_losses"] for row in rows if not spurious[row["connection"]]] == [0] * spurious.count(0)
    assert sum(row["lost_packets"] for row in rows) > 10


def test_rtt_samples_of_a_log_are_those_of_the_senders_where_every_packet_is_acknowledged_at_once(tmp_path: Path) -> None:
    flows: dict[str, Any] = {
        "one": {"tcp": {"preset": "newreno", "delayed_ack": False, "timestamps": True, "receiver_window": "12 kB"}}
    }
    run = tb.simulate(
        tb.dumbbell(rate="10 Mbps", delay="20 ms", buffer="20 packets", duration="2 s", flows=flows, traces=list(TRACES))
    )
    run.save_qlog(tmp_path / "run.qlog")
    analysis = tb.analyse(tmp_path / "run.qlog", samples=True)
    assert analysis.rtt.head("rtt_s", 10_000) == pytest.approx(run.trace("rtt").head("rtt_s", 10_000), abs=1e-9)
    assert len(analysis.rtt) > 100


def test_a_run_without_the_trace_of_packets_has_no_log(tmp_path: Path) -> None:
    run = tb.simulate(tb.dumbbell(rate="10 Mbps", delay="20 ms", buffer="20 packets", duration="1 s"))
    with pytest.raises(tb.errors.UnknownName, match="packets"):
        run.save_qlog(tmp_path / "run.qlog")
    assert not (tmp_path / "run.qlog").exists()


def test_a_log_of_datagrams_has_no_counts_of_losses_and_no_protocol(tmp_path: Path) -> None:
    udp: Any = {"from": "left", "to": "right", "source": {"kind": "constant", "rate": "1 Mbps", "packet_size": "1000 B"}}
    flows: Any = {"udp": udp, "tcp": {"from": "left", "to": "right", "tcp": {"preset": "cubic"}}}
    scenario = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="1 s", flows=flows)
    tb.simulate(scenario.with_({"record.traces": list(TRACES)})).save_qlog(tmp_path / "run.qlog")
    traces = json.loads((tmp_path / "run.qlog").read_text())["traces"]
    assert ["protocol_type" in trace["common_fields"] for trace in traces] == [False, True]
    datagrams, tcp = tb.analyse(tmp_path / "run.qlog").connections.where(direction="forward").to_rows()
    unknown = ("lost_packets", "retransmitted_packets", "unique_payload_bytes", "goodput_bps", "mean_in_flight_bytes")
    for column in (*unknown, "max_in_flight_bytes", "max_in_flight_packets"):
        assert math.isnan(datagrams[column])
        assert tcp[column] >= 0
    assert datagrams["payload_bytes"] > 100_000
    in_flight = tb.analyse(tmp_path / "run.qlog", samples=True).in_flight
    assert set(in_flight.head("connection", len(in_flight))) == {tcp["connection"]}
