"""Delivery traces and impairments of links, from Python and the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tailback as tb
from tailback.prediction import predict

TOML = """
duration = "2 s"
[topology.dumbbell]
rate = {trace = "link.trace"}
delay = "10 ms"
queue = {buffer = "20 packets"}
[flows.web]
from = "left"
to = "right"
tcp = {preset = "newreno"}
[record]
traces = ["departures"]
"""


def loaded(folder: Path, trace: bytes) -> tb.Scenario:
    """The scenario, with this trace in its directory."""
    (folder / "link.trace").write_bytes(trace)
    (folder / "scenario.toml").write_text(TOML)
    return tb.load(folder / "scenario.toml")


def test_a_file_is_read_once_and_then_part_of_the_scenario(tmp_path: Path) -> None:
    scenario = loaded(tmp_path, b"1\n3\n3\n")
    assert scenario["topology.dumbbell.rate"] == {"opportunities": [[1, 1], [3, 2]]}
    (tmp_path / "link.trace").unlink()
    run = tb.simulate(scenario)
    hashed = run.content_hash
    assert tb.simulate(tb.Scenario(run.scenario)).content_hash == hashed
    assert tb.simulate(scenario.with_({"duration": "3 s"})).complete
    assert tb.simulate(loaded(tmp_path, b"1\n3\n3\n3\n")).content_hash != hashed


@pytest.mark.parametrize(
    ("trace", "said"),
    [
        (b"", "`trace` contains no opportunities"),
        (b"0\n0\n", "`trace` ends at millisecond 0"),
        (b"1\n7\n6\n", r"(?s)the millisecond is earlier than the one before\n.*link\.trace line 3"),
        (b"1\n-7\n", r"(?s)the millisecond is negative\n.*link\.trace line 2"),
        (b"\x7fELF\x00\x01\xff\xfe", r"(?s)the line is not a millisecond\n.*link\.trace line 1"),
        (b"1.5\n", r"(?s)the line is not a millisecond\n.*link\.trace line 1"),
    ],
)
def test_an_invalid_trace_is_rejected_with_its_line(tmp_path: Path, trace: bytes, said: str) -> None:
    with pytest.raises(tb.ScenarioError, match=said):
        loaded(tmp_path, trace)


def test_a_huge_file_is_rejected_by_its_size(tmp_path: Path) -> None:
    (tmp_path / "scenario.toml").write_text(TOML)
    with (tmp_path / "link.trace").open("wb") as file:
        # A sparse file.
        file.truncate(1 << 30)
    with pytest.raises(tb.ScenarioError, match="1073741824 bytes, more than 33554432"):
        tb.load(tmp_path / "scenario.toml")


def test_a_written_rate_is_the_rate_that_is_read(tmp_path: Path) -> None:
    tb.write_mahimahi(tmp_path / "link.trace", [("12 Mbps", "10 ms"), ("0 bps", "30 ms"), ("6 Mbps", "10 ms")])
    lines = [int(line) for line in (tmp_path / "link.trace").read_text().split()]
    assert lines == [*range(1, 11), 42, 44, 46, 48, 50]
    departures = tb.simulate(loaded(tmp_path, (tmp_path / "link.trace").read_bytes())).trace("departures")
    # The queue length changes at opportunities only.
    within = np.unique(np.round(np.asarray(departures["time_s"]) * 1000) % 50)
    assert set(within) <= {float(line % 50) for line in lines}


def test_departures_of_a_queue_give_another_link_the_same_rate(tmp_path: Path) -> None:
    first = tb.simulate(tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="50 packets", duration="10 s", traces=["departures"]))
    first.write_mahimahi(tmp_path / "link.trace", queue="bottleneck")
    lines = [int(line) for line in (tmp_path / "link.trace").read_text().split()]
    assert len(lines) == first.queues["departed_bytes"][0] // 1500
    assert sorted(lines) == lines
    with pytest.raises(tb.errors.UnknownName, match="bottleneck"):
        first.write_mahimahi(tmp_path / "link.trace", queue="botleneck")


@pytest.mark.parametrize(
    ("rates", "said"),
    [
        ([], "no opportunity"),
        ([("0 bps", "1 s")], "no opportunity"),
        ([("8 Mbps", "4 s"), ("0 bps", "6 s")], "end with an outage"),
        ([("10", "1 s")], "expected a rate"),
        ([("10 Mbps", "1 kB")], "expected a duration"),
        (["10 Mbps"], "expected pairs"),
        ([("1 Tbps", "1000 s")], "exceeds the maximum size"),
    ],
)
def test_rates_without_a_trace_are_rejected(tmp_path: Path, rates: list[tuple[str, str]], said: str) -> None:
    with pytest.raises(tb.errors.ParameterError, match=said):
        tb.write_mahimahi(tmp_path / "link.trace", rates)
    assert not (tmp_path / "link.trace").exists()


def test_flows_of_queues_are_a_table_on_request() -> None:
    shape: dict[str, Any] = {"rate": "10 Mbps", "delay": "10 ms", "buffer": "20 packets", "flows": 2, "duration": "2 s"}
    run = tb.simulate(tb.dumbbell(**shape, record={"queue_flows": True}))
    assert sum(run.queue_flows["departed_bytes"]) == sum(run.queues["departed_bytes"])
    assert "queue_flows" not in run.traces
    with pytest.raises(tb.errors.UnknownName, match="queue_flows"):
        _ = tb.simulate(tb.dumbbell(**shape)).queue_flows


def test_late_originals_are_discarded_by_a_receiver_with_paws_and_count_as_lost() -> None:
    def discarded(paws: str) -> int:
        tcp = {"preset": "linux/cubic", "paws": paws}
        flows = {"a": {"from": "left", "to": "right", "tcp": tcp}}
        shape: dict[str, Any] = {
            "rate": "20 Mbps",
            "delay": "20 ms",
            "buffer": "1000 packets",
            "duration": "20 s",
            "flows": flows,
        }
        link: dict[str, Any] = {"jitter": {"delay": {"uniform": ["0 ms", "12 ms"]}, "reordering": True}}
        run = tb.simulate(tb.dumbbell(**shape, **link, loss={"probability": 0.002}))
        sent, loss_rate = run.flows["sent_packets"][0], run.flows["loss_rate"][0]
        return int(round(sent * loss_rate) - sum(run.queues["dropped_units"]))

    off, linux, rfc7323 = discarded("off"), discarded("linux"), discarded("rfc7323")
    assert off == 0
    assert min(linux, rfc7323) > 10


@pytest.mark.parametrize(
    "link",
    [
        {"jitter": {"delay": {"uniform": ["0 ms", "5 ms"]}}},
        {"duplication": 0.01},
        {"loss": {"gilbert_elliott": {"p": 0.01, "r": 0.5}}},
        {"loss": {"probability": 0.01, "at": "before_queue"}},
        {"rate": {"opportunities": [[1, 1]]}},
    ],
)
def test_closed_forms_exclude_such_links(link: dict[str, object]) -> None:
    shape: dict[str, Any] = {"rate": "10 Mbps", "delay": "10 ms", "buffer": "20 packets", "duration": "10 s", **link}
    scenario = tb.dumbbell(**shape)
    left_out = predict(scenario).not_modelled
    assert any(part.at == "links.bottleneck" for part in left_out), left_out


def test_a_table_of_equal_rates_is_a_constant_rate() -> None:
    def rows(rate: Any) -> list[object]:
        flows: Any = {
            "voice": {"source": {"kind": "constant", "rate": "950 Mbps", "packet_size": "1000 B"}},
            "bulk": {"count": 2, "start": "0.5 s", "tcp": {"preset": "cubic"}},
        }
        run = tb.simulate(tb.dumbbell(rate=rate, delay="5 ms", buffer="50 packets", duration="2 s", flows=flows, seed=1))
        return [run.groups["goodput_bps"].tolist(), run.queues["loss_rate"].tolist(), run.queues["mean_wait_s"].tolist()]

    assert rows({"table": {"at": ["0 s", "37 ms"], "rate": ["1 Gbps", "1 Gbps"]}}) == rows("1 Gbps")


@pytest.mark.parametrize("threads", [1, 2])
def test_a_rate_that_changes_in_the_middle_of_a_packet_serves_the_rest_at_the_new_rate(threads: int) -> None:
    # 1000 bytes take 8 ms at 1 Mbit/s. One that begins at 5 ms has 2 ms at 1 Mbit/s, a pause of 3 ms, and 6000 bits at 2 Mbit/s.
    table = {"at": ["0 s", "7 ms", "10 ms", "20 ms"], "rate": ["1 Mbps", "0 bps", "2 Mbps", "2 Mbps"]}
    flows: Any = {
        "f": {"start": "5 ms", "source": {"kind": "constant", "rate": "10 kbps", "packet_size": "1000 B", "header": "0 B"}}
    }
    scenario = tb.dumbbell(rate={"table": table}, delay="20 ms", buffer="9 packets", duration="0.5 s", flows=flows)
    run = tb.simulate(scenario.with_({"record": {"traces": {"departures": ["bottleneck"]}}}), threads=threads)
    assert run.trace("departures")["time_s"].tolist() == [0.013]
