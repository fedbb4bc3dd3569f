"""Traces of netem-trace: both notations, repetition, and links that follow them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tailback as tb

# Both notations are in the documentation of netem-trace 0.4.
HUMAN: Any = {
    "RepeatedBwPatternConfig": {
        "pattern": [{"TraceBwConfig": {"pattern": [["1ms", ["2Mbps", "4Mbps"]], ["2ms", ["1Mbps"]]]}}],
        "count": 0,
    }
}


def static(kind: str, key: str, value: Any, ms: int) -> dict[str, Any]:
    return {f"Static{kind}Config": {key: value, "duration": {"secs": 0, "nanos": ms * 10**6}}}


def written(path: Path, model: Any) -> Path:
    path.write_text(json.dumps(model))
    return path


def test_rows_begin_where_a_value_changes(tmp_path: Path) -> None:
    bandwidth = written(tmp_path / "bw.json", HUMAN)
    table = tb.read_netem_trace(bandwidth)["table"]
    # The last interval, of 2 ms, is divided so that the last row lasts as long as the one before.
    assert table == {
        "at": ["0 ps", "1000000000 ps", "2000000000 ps", "3000000000 ps"],
        "rate": ["2000000 bps", "4000000 bps", "1000000 bps", "1000000 bps"],
    }
    machine = {
        "RepeatedBwPatternConfig": {
            "pattern": [static("Bw", "bw", {"gbps": 1, "bps": 5}, 1), static("Bw", "bw", {"gbps": 0, "bps": 7}, 1)],
            "count": 2,
        }
    }
    assert tb.read_netem_trace(written(tmp_path / "bw.json", machine))["table"]["rate"] == ["1000000005 bps", "7 bps"] * 2


def test_shorter_traces_repeat_within_the_longest(tmp_path: Path) -> None:
    bandwidth = written(tmp_path / "bw.json", static("Bw", "bw", {"gbps": 0, "bps": 10**7}, 40))
    delay = written(
        tmp_path / "delay.json",
        {
            "RepeatedDelayPatternConfig": {
                "pattern": [static("Delay", "delay", "5ms", 10), static("Delay", "delay", "9ms", 10)],
                "count": 0,
            }
        },
    )
    loss = written(tmp_path / "loss.json", static("Loss", "loss", [0.25], 100))
    table = tb.read_netem_trace(bandwidth, delay=delay, loss=loss)["table"]
    assert table["at"] == [f"{ms * 10**9} ps" for ms in range(0, 100, 10)]
    assert table["delay"] == ["5000000000 ps", "9000000000 ps"] * 5
    assert (set(table["rate"]), set(table["loss"])) == ({"10000000 bps"}, {0.25})


def test_a_link_follows_the_trace(tmp_path: Path) -> None:
    bandwidth = written(
        tmp_path / "bw.json",
        {
            "RepeatedBwPatternConfig": {
                "pattern": [static("Bw", "bw", "10Mbps", 500), static("Bw", "bw", "2Mbps", 500)],
                "count": 0,
            }
        },
    )
    delay = written(
        tmp_path / "delay.json",
        {
            "RepeatedDelayPatternConfig": {
                "pattern": [static("Delay", "delay", "10ms", 1000), static("Delay", "delay", "40ms", 1000)],
                "count": 0,
            }
        },
    )
    source: Any = {"source": {"kind": "constant", "rate": "20 Mbps", "packet_size": "1500 B"}}
    rate = tb.read_netem_trace(bandwidth, delay=delay)
    scenario = tb.dumbbell(
        rate=rate,
        delay="25 ms",
        buffer="50 packets",
        flows={"udp": source},
        duration="20 s",
        traces={"throughput": {"flows": ["udp"], "bin": "500 ms"}},
    )
    run = tb.simulate(scenario)
    # 6 Mbit/s on average; the queue is always full.
    assert run.value() == pytest.approx(6e6, rel=0.01)
    assert run.queues["utilisation"][0] == pytest.approx(1, abs=0.01)
    omitted = dict(scenario.export("mininet").omissions)
    assert omitted["links.bottleneck.rate"] == "rates, delays and losses over time are not exported; the mean rate is used"


def test_other_files_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "bw.json"
    for model, says in [
        ({"NormalizedBwConfig": {"mean": "12Mbps"}}, "`NormalizedBwConfig` is not supported; expected `StaticBwConfig`"),
        ({"StaticBwConfig": {"bw": "12Mbps"}}, "`duration` is missing"),
        ({"StaticBwConfig": {"bw": "12 parsec", "duration": "1s"}}, "'12 parsec' is not a bandwidth such as `12Mbps`"),
        ([], r"a model is \[\]"),
        ({"StaticBwConfig": {"bw": "12Mbps", "duration": "0s"}}, "it has no duration"),
    ]:
        with pytest.raises(tb.ParameterError, match=says):
            tb.read_netem_trace(written(file, model))
    with pytest.raises(tb.ParameterError, match="is not a bw trace of netem-trace"):
        tb.read_netem_trace(tmp_path / "none.json")
    loss = written(tmp_path / "loss.json", static("Loss", "loss", [0.1, 0.5], 10))
    with pytest.raises(tb.ParameterError, match="a loss depends on earlier losses"):
        tb.read_netem_trace(written(file, HUMAN), loss=loss)


REPEATED = "RepeatedBwPatternConfig"


@pytest.mark.parametrize(
    ("model", "says"),
    [
        ({REPEATED: {"pattern": [static("Bw", "bw", "1Mbps", 1)], "count": 10**15}}, "more than 4,000,000 intervals"),
        ({REPEATED: {"pattern": [], "count": 10**15}}, "it has no duration"),
        ({REPEATED: {"pattern": [], "count": 1e400}}, "`count` is inf"),
        ({REPEATED: {"pattern": 5, "count": 1}}, "`pattern` is 5; expected a list"),
        ({"TraceBwConfig": {"pattern": [5]}}, "`pattern` has 5; expected pairs"),
        ({"TraceBwConfig": {"pattern": [["1ms", 7]]}}, "`pattern` is 7; expected a list"),
        (static("Bw", "bw", {"gbps": [], "bps": 1}, 1), r"`gbps` is \[\]; expected a whole number"),
        ({"StaticBwConfig": {"bw": "1Mbps", "duration": {"secs": 1e400, "nanos": 0}}}, "`secs` is inf"),
        ({"StaticBwConfig": {"bw": "1Mbps", "duration": {"secs": 1}}}, "`nanos` is missing"),
    ],
)
def test_a_trace_that_does_not_end_or_has_other_types_is_refused(tmp_path: Path, model: Any, says: str) -> None:
    with pytest.raises(tb.ParameterError, match=says):
        tb.read_netem_trace(written(tmp_path / "bw.json", model))


def test_deep_repetitions_are_refused(tmp_path: Path) -> None:
    model: Any = static("Bw", "bw", "1Mbps", 1)
    for _ in range(65):
        model = {REPEATED: {"pattern": [model], "count": 1}}
    with pytest.raises(tb.ParameterError, match="nested more than 64 deep"):
        tb.read_netem_trace(written(tmp_path / "bw.json", model))
    (tmp_path / "deep.json").write_text("[" * 100_000)
    with pytest.raises(tb.ParameterError, match="is not a bw trace of netem-trace"):
        tb.read_netem_trace(tmp_path / "deep.json")


def test_a_short_trace_next_to_a_very_long_one_is_refused(tmp_path: Path) -> None:
    bandwidth = written(tmp_path / "bw.json", {"StaticBwConfig": {"bw": "1Mbps", "duration": "1000000h"}})
    delay = written(tmp_path / "delay.json", static("Delay", "delay", "5ms", 1))
    with pytest.raises(tb.ParameterError, match="the shortest repeats"):
        tb.read_netem_trace(bandwidth, delay=delay)
    loss = written(tmp_path / "loss.json", static("Loss", "loss", ["1e999999999"], 10))
    with pytest.raises(tb.ParameterError, match="expected probabilities from 0 to 1"):
        tb.read_netem_trace(bandwidth, loss=loss)
