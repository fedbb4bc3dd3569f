"""qlog files of runs and of other programs."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

import tailback as tb
from tailback._formats.qlog import TRACES

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
        ("{}", "is JSON without the field `traces` of a qlog file; expected pcap, .*, or a data file of Flent"),
        (written("contained")[:-30], "JSON text sequences are read up to damage"),
        ('{"qlog_version": "0.3", "traces": [{"events": [{"time": "x", "name": "a"}]}]}', "event 0"),
        ("[" * 100_000, "is not a capture"),
        ('{"a":' * 100_000, "is not JSON that can be read"),
        ('{"qlog_version": "draft-01", "traces": [{"event_fields": 1, "events": [[0]]}]}', "event 0"),
        ("\x1e\x1e", "is a sequence without records"),
    ],
)
def test_other_files_are_refused(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text(text)
    with pytest.raises(tb.errors.CaptureError, match=message):
        tb.analyse(tmp_path / "file")


VALUES = (
    "null",
    "-1",
    "1e999",
    '"x"',
    "[]",
    "{}",
    "true",
    "9" * 30,
    "9" * 400,
    "NaN",
    "[[1]]",
    '["1-2"]',
    '{"a": 1}',
    str(2**62 - 1),
)


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


def logged(path: Path, *events: tuple[float, str, dict[str, Any]], version: str = "0.3", **trace: Any) -> tb.Analysis:
    """The analysis of a log of these events; a packet is `number` and its frames."""
    common = {"vantage_point": {"type": "client"}, **trace}
    rows = [{"time": time, "name": name, "data": data} for time, name, data in events]
    path.write_text(json.dumps({"qlog_version": version, "traces": [{**common, "events": rows}]}))
    return tb.analyse(path, samples=True)


def packet(number: int, *frames: dict[str, Any], kind: str = "1RTT", size: int | None = 1200, **header: Any) -> dict[str, Any]:
    raw = {} if size is None else {"raw": {"length": size}}
    return {"header": {"packet_type": kind, "packet_number": number, **header}, "frames": list(frames), **raw}


def stream(offset: int, length: int = 1000, **more: Any) -> dict[str, Any]:
    return {"frame_type": "stream", "stream_id": 0, "offset": offset, "length": length, **more}


def ack(*ranges: list[int], **more: Any) -> dict[str, Any]:
    return {"frame_type": "ack", "acked_ranges": list(ranges), **more}


SENT, RECEIVED, LOST = "quic:packet_sent", "quic:packet_received", "quic:packet_lost"


def test_events_out_of_order_give_no_negative_durations(tmp_path: Path) -> None:
    [sent, _] = logged(
        tmp_path / "log", (5.0, SENT, packet(1, stream(1000))), (1.0, SENT, packet(0, stream(0)))
    ).connections.to_rows()
    assert (sent["first_s"], sent["duration_s"]) == pytest.approx((0.0, 0.004))


def test_an_unset_threshold_is_missing_and_metrics_have_their_new_name(tmp_path: Path) -> None:
    # The crate `qlog` 0.18.2, which quiche uses, since its schema quic-12.
    event = "quic:recovery_metrics_updated"
    metrics = logged(tmp_path / "log", (1.0, event, {"ssthresh": 2**64 - 1, "smoothed_rtt": 20.0})).tables["metrics"].to_rows()
    assert (math.isnan(metrics[0]["ssthresh_bytes"]), metrics[0]["smoothed_rtt_s"]) == (True, 0.02)


def test_round_trips_in_seconds_are_recognised_by_the_packets(tmp_path: Path) -> None:
    # quinn-proto 0.11.19 writes event times in milliseconds, and round trips in seconds.
    analysis = logged(
        tmp_path / "log",
        (0.0, SENT, packet(0, stream(0))),
        (40.0, RECEIVED, packet(0, ack([0, 0]))),
        (40.0, "recovery:metrics_updated", {"latest_rtt": 0.04, "smoothed_rtt": 0.04}),
    )
    assert analysis.tables["metrics"].to_rows()[0]["smoothed_rtt_s"] == pytest.approx(0.04)
    assert "are in seconds" in analysis.summary()


def test_a_log_without_frames_has_losses_and_round_trips_in_seconds(tmp_path: Path) -> None:
    # Times of quinn-proto 0.11.19 behind 20 ms; it writes neither frames nor the sizes of received packets.
    def bare(number: int, kind: str = "1RTT") -> dict[str, Any]:
        return {"header": {"packet_type": kind, "packet_number": number, "length": 1200}}

    metrics = "recovery:metrics_updated"
    analysis = logged(
        tmp_path / "log",
        (673.8, metrics, {"latest_rtt": 0.333, "smoothed_rtt": 0.333}),
        (689.8, SENT, bare(0, "initial")),
        (725.6, RECEIVED, bare(0, "initial")),
        (725.6, metrics, {"latest_rtt": 0.0358, "smoothed_rtt": 0.0358}),
        (800.0, SENT, bare(0)),
        (800.1, SENT, bare(1)),
        (860.0, LOST, {"header": {"packet_type": "1RTT", "packet_number": 1}}),
        # An old round trip, long after the last packet, says nothing.
        (20_000.0, metrics, {"latest_rtt": 0.0358}),
    )
    rows = analysis.tables["metrics"].to_rows()
    assert [row["smoothed_rtt_s"] for row in rows[:2]] == pytest.approx([0.333, 0.0358])
    [sent, _] = analysis.connections.to_rows()
    assert (sent["lost_packets"], math.isnan(sent["spurious_losses"])) == (1, True)
    [loss] = analysis.losses.to_rows()
    assert (loss["repair"], loss["sent_s"]) == ("unknown", pytest.approx(0.1263))
    text = analysis.summary()
    assert "are in seconds" in text
    assert "without contents of packets; its 3 metrics have smoothed RTTs (minimum, median, maximum) 35.8 ms" in text


def test_old_round_trips_in_milliseconds_are_no_seconds(tmp_path: Path) -> None:
    events: list[tuple[float, str, dict[str, Any]]] = [(0.0, SENT, {"header": {"packet_type": "1RTT", "packet_number": 0}})]
    events += [(time, "recovery:metrics_updated", {"latest_rtt": 20.0}) for time in (20.0, 15_000.0)]
    assert logged(tmp_path / "log", *events).tables["metrics"].head("latest_rtt_s", 2) == [0.02, 0.02]


def test_a_range_costs_the_packets_in_flight_and_not_its_length(tmp_path: Path) -> None:
    # A packet that is neither acknowledged nor declared lost, as in quiche's logs, and numbers far apart.
    numbers = [0, *range(1, 10_000), 2**61]
    sends = [(0.01 * place, SENT, packet(number, stream(1000 * place))) for place, number in enumerate(numbers)]
    acks = [(1000.0 + place, RECEIVED, packet(place, ack([1, number]))) for place, number in enumerate(numbers[1:])]
    analysis = logged(tmp_path / "log", *sends, *acks)
    assert analysis.in_flight.head("in_flight_packets", 20_001)[-1] == 1
    assert len(analysis.rtt) == 10_000


def test_round_trips_of_draft_00_are_in_the_unit_of_its_trace(tmp_path: Path) -> None:
    # Picoquic 1.1.53; it also names streams `id`.
    frames = [{"frame_type": "stream", "id": number, "offset": 0, "length": 1000} for number in (0, 4, 8)]
    trace: dict[str, Any] = {"configuration": {"time_units": "us"}}
    events: list[tuple[float, str, dict[str, Any]]] = [(0.0, SENT, packet(0, *frames))]
    events.append((40_000.0, "recovery:metrics_updated", {"smoothed_rtt": 40_000}))
    analysis = logged(tmp_path / "log", *events, version="draft-00", **trace)
    assert analysis.tables["metrics"].to_rows()[0]["smoothed_rtt_s"] == pytest.approx(0.04)
    assert analysis.connections.to_rows()[0]["retransmitted_packets"] == 0


def test_ranges_that_end_behind_the_last_packet_are_recognised(tmp_path: Path) -> None:
    # noq 1.4.0: frames have only `raw.length`, packets `header.length`, and ACK ranges are half-open.
    def of(number: int) -> dict[str, Any]:
        frame = {"frame_type": "stream", "stream_id": 0, "offset": 1000 * number, "raw": {"length": 1000}}
        return packet(number, frame, size=None, length=1200)

    sends = [(float(number), SENT, of(number)) for number in range(3)]
    lost = (45.0, LOST, {"header": {"packet_type": "1RTT", "packet_number": 1}})
    analysis = logged(tmp_path / "log", *sends, (42.0, RECEIVED, packet(0, ack([0, 1], [2, 3]), size=50)), lost)
    [sent, _] = analysis.connections.to_rows()
    assert (sent["lost_packets"], sent["spurious_losses"], sent["payload_bytes"]) == (1, 0, 3000)
    assert sent["max_in_flight_bytes"] == 3600
    assert sent["min_rtt_s"] == pytest.approx(0.04)
    assert "ACKs report packets that were not sent" in analysis.summary()


def test_each_path_of_multipath_has_its_own_packet_numbers(tmp_path: Path) -> None:
    sends = [(float(path), SENT, packet(0, stream(1000 * path), path_id=path)) for path in (0, 1)]
    acked = {"frame_type": "path_ack", "path_id": 1, "acked_ranges": [[0, 0]]}
    analysis = logged(tmp_path / "log", *sends, (31.0, RECEIVED, packet(0, acked)))
    assert analysis.rtt["rtt_s"] == pytest.approx([0.03])
    assert analysis.in_flight.head("in_flight_packets", 3) == [1, 2, 1]
    assert analysis.connections.to_rows()[0]["acks"] == 1


@pytest.mark.parametrize("count", [3, {"total": 3, "delta": 1}])
def test_losses_that_are_only_counted(count: Any, tmp_path: Path) -> None:
    # quiche writes no `packet_lost`, and a pacing rate in bytes per second; netty 4.2.18 has the second form.
    counted = {"cf_lost_packets": count, "pacing_rate": 1e6}
    sends = [(0.0, SENT, packet(0, stream(0))), (1.0, SENT, packet(1, stream(1000)))]
    events = [*sends, (30.0, RECEIVED, packet(0, ack([1, 1]))), (30.0, "quic:recovery_metrics_updated", counted)]
    analysis = logged(tmp_path / "log", *events)
    [sent, _] = analysis.connections.to_rows()
    assert sent["lost_packets"] == 3
    assert all(math.isnan(sent[name]) for name in ("spurious_losses", "max_in_flight_packets"))
    assert analysis.tables["metrics"].to_rows()[0]["pacing_rate_bps"] == 8e6


def test_packets_without_contents_say_nothing_about_losses(tmp_path: Path) -> None:
    # qh3 2.1.0 has packets without numbers and frames.
    analysis = logged(tmp_path / "log", (0.0, SENT, {"raw": {"length": 1200}}), (30.0, RECEIVED, {"raw": {"length": 50}}))
    [sent, _] = analysis.connections.to_rows()
    unknown = ("lost_packets", "spurious_losses", "retransmitted_packets", "goodput_bps", "max_in_flight_packets")
    assert [column for column in unknown if not math.isnan(sent[column])] == []
    # Or with an empty list of frames in each packet, which it writes for some connections.
    empty = {"raw": {"length": 1200}, "frames": []}
    others = logged(tmp_path / "empty", (0.0, SENT, empty), (30.0, RECEIVED, empty)).connections.to_rows()
    unseen = ("data_packets", "payload_bytes", "unique_payload_bytes", "retransmitted_packets", "goodput_bps", "acks")
    assert [column for row in others for column in unseen if not math.isnan(row[column])] == []
    assert "packets have no frames" in analysis.summary()


def test_a_log_without_packets_and_metrics_is_noted(tmp_path: Path) -> None:
    # golang.org/x/net/quic 0.56 logs packets at the level QLogLevelFrame only.
    analysis = logged(tmp_path / "log", (0.0, "connectivity:connection_started", {}))
    assert "a log without packets and metrics" in analysis.summary()


def test_datagrams_whose_packets_are_not_logged_are_noted(tmp_path: Path) -> None:
    # A client of qh3 2.1.0 logs the packets of its handshake only: 6 of 2484.
    count: dict[str, Any] = {"count": 1}
    datagrams = [(float(time), "transport:datagrams_received", count) for time in range(10)]
    for packets, is_noted in ((4, True), (5, False)):
        received: dict[str, Any] = {"raw": {"length": 50}}
        events = [*datagrams, *((10.0, RECEIVED, received) for _ in range(packets))]
        said = f"10 datagrams were received, and {packets} packets of them are in the log"
        assert (said in logged(tmp_path / "log", *events).summary()) == is_noted


def test_packets_without_a_size_leave_the_flight(tmp_path: Path) -> None:
    sends = [(float(number), SENT, packet(number, stream(1000 * number), size=None)) for number in range(3)]
    analysis = logged(tmp_path / "log", *sends, (30.0, RECEIVED, packet(0, ack([0, 2]))))
    assert analysis.in_flight.head("in_flight_packets", 6) == [1, 2, 3, 2, 1, 0]


def test_a_lost_datagram_is_never_sent_again(tmp_path: Path) -> None:
    frame = {"frame_type": "datagram", "length": 1000}
    lost = (40.0, LOST, {"header": {"packet_type": "1RTT", "packet_number": 0}})
    events = [(0.0, SENT, packet(0, frame)), (1.0, SENT, packet(1, frame)), lost, (50.0, SENT, packet(2, frame))]
    [loss] = logged(tmp_path / "log", *events).losses.to_rows()
    assert loss["repair"] == "none"


def test_packets_of_discarded_keys_leave_the_flight(tmp_path: Path) -> None:
    # RFC 9002 section 6.4; a client discards the Initial keys with its first Handshake packet (RFC 9001 section 4.9.1).
    crypto = {"frame_type": "crypto", "offset": 0, "length": 300}
    first, second = packet(0, crypto, kind="initial"), packet(0, crypto, kind="handshake")
    retired = (60.0, "security:key_retired", {"key_type": "client_handshake_secret"})
    last = (70.0, RECEIVED, packet(0, ack([0, 0])))
    analysis = logged(tmp_path / "log", (0.0, SENT, first), (50.0, SENT, second), retired, last)
    assert analysis.in_flight.head("in_flight_packets", 4) == [1, 0, 1, 0]


def test_marks_that_the_peer_reports_are_counted(tmp_path: Path) -> None:
    frames = [ack([0, 0], ect0=1, ce=1), ack([0, 1], ect0=3, ce=2)]
    sends = [(float(number), SENT, packet(number, stream(1000 * number))) for number in range(2)]
    reports = [(30.0 + place, RECEIVED, packet(place, frame)) for place, frame in enumerate(frames)]
    [sent, _] = logged(tmp_path / "log", *sends, *reports).connections.to_rows()
    assert (sent["ect_packets"], sent["ce_packets"]) == (3, 2)


def test_traces_with_equal_names_are_different_connections(tmp_path: Path) -> None:
    events = [{"time": 0.0, "name": SENT, "data": packet(0, stream(0))}]
    trace = {"vantage_point": {"type": "client", "name": "library"}, "events": events}
    (tmp_path / "log").write_text(json.dumps({"qlog_version": "0.3", "traces": [trace, trace]}))
    rows = tb.analyse(tmp_path / "log").connections.where(direction="forward").to_rows()
    assert [(row["connection"], row["interface"], row["packets"]) for row in rows] == [(0, "library", 1), (1, "library 1", 1)]
    assert [row["retransmitted_packets"] for row in rows] == [0, 0]


def test_an_unknown_version_is_named(tmp_path: Path) -> None:
    analysis = logged(tmp_path / "log", (0.0, SENT, packet(0, stream(0))), version="2.0")
    assert 'the qlog version "2.0" is not known' in analysis.summary()


def test_fields_that_are_not_read_are_named(tmp_path: Path) -> None:
    frame = {"frame_type": "stream", "stream_id": 0, "offset": 0, "bytes": 1000}
    analysis = logged(tmp_path / "log", (0.0, SENT, packet(0, frame)), (1.0, "recovery:metrics_updated", {"congestionWindow": 1}))
    text = " ".join(analysis.summary().split())
    assert 'without a known length are not counted; their fields are "bytes", "frame_type", "offset", "stream_id"' in text
    assert 'pacing_rate), only "congestionWindow"' in text


def test_packets_without_sizes_have_no_bytes_in_flight(tmp_path: Path) -> None:
    events = [(0.0, SENT, packet(0, stream(0), size=None)), (40.0, RECEIVED, packet(0, ack([0, 0]), size=None))]
    analysis = logged(tmp_path / "log", *events)
    row = analysis.connections.to_rows()[0]
    assert (math.isnan(row["max_in_flight_bytes"]), row["max_in_flight_packets"]) == (True, 1)
    assert "packets have no size" in analysis.summary()


def test_many_losses_that_are_never_repaired_are_read(tmp_path: Path) -> None:
    count = 20_000
    sends = [(0.01 * number, SENT, packet(number, stream(1000 * number))) for number in range(count)]
    losses = [(300.0, LOST, {"header": {"packet_type": "1RTT", "packet_number": number}}) for number in range(0, count, 2)]
    again = [(400.0 + number, SENT, packet(count + number, stream(2000 * number))) for number in range(10)]
    table = logged(tmp_path / "log", *sends, *losses, *again).losses
    assert (len(table), table.head("repair", 12)) == (count // 2, ["fast"] * 10 + ["none"] * 2)


def test_a_log_with_nothing_but_metrics_shows_windows_and_round_trips(tmp_path: Path) -> None:
    metrics = [
        (float(number), "recovery:metrics_updated", {"congestion_window": 12_000 + number, "smoothed_rtt": 40})
        for number in range(5)
    ]
    text = logged(tmp_path / "log", *metrics).summary()
    assert "a log without packets; its 5 metrics have windows in bytes (minimum, median, maximum) 12,000, 12,002, 12,004" in text
    assert "smoothed RTTs (minimum, median, maximum) 40 ms, 40 ms, 40 ms" in text
