"""An old key, word, argument or column is an error whose hint gives the new name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tailback as tb
from support import Command
from tailback import _core
from tailback.papers import Curves, Experiment

TCP = "flows.tcp.tcp"
CONTROLLER = f"{TCP}.controller"
QUEUE = "topology.dumbbell.queue"
RED = {"policy": "red", "buffer": "100 packets"}
BPD = {"policy": "bpd", "buffer": "1200 cells"}

# Former and new name, the path of its table, other keys of that table, and a value.
KEYS: list[tuple[str, str, str, dict[str, Any], Any]] = [
    ("halves", "ssthresh_from", TCP, {}, "window"),
    ("counting", "ack_counting", TCP, {}, "bytes"),
    ("slow_start_limit", "abc_limit", TCP, {}, 2),
    ("at_once", "quickack_segments", f"{TCP}.delayed_ack", {}, 3),
    ("marks_at_once", "ack_ce_immediately", f"{TCP}.delayed_ack", {}, True),
    ("sack_timeout", "sack_compression", f"{TCP}.delayed_ack", {}, "1 ms"),
    ("in_recovery", "newreno_variant", f"{TCP}.timer", {}, "impatient"),
    ("rtt", "propagation_rtt", "flows.tcp", {}, "50 ms"),
    ("of", "reference_rate", "flows.tcp.arrivals", {"load": 0.5}, "10 Mbps"),
    ("packet", "packet_size", "flows.tcp.source", {"kind": "poisson", "rate": "1 Mbps"}, "1000 B"),
    ("among", "nodes", "flows.tcp.traffic.shift", {}, "*"),
    ("by", "offset", "flows.tcp.traffic.shift", {"nodes": "*"}, 1),
    ("fastest", "max_rate", CONTROLLER, {"kind": "maxnet"}, "10 Mbps"),
    ("slowest", "min_rate", CONTROLLER, {"kind": "timely"}, "1 Mbps"),
    ("bandwidth_rounds", "btlbw_filter_len", CONTROLLER, {"kind": "bbrv1"}, 10),
    ("rtprop_lifetime", "rtprop_filter_len", CONTROLLER, {"kind": "bbrv1"}, "10 s"),
    ("min_rtt_lifetime", "min_rtt_filter_len", CONTROLLER, {"kind": "bbrv3"}, "10 s"),
    ("probe_rtt", "probe_rtt_duration", CONTROLLER, {"kind": "bbrv1"}, "200 ms"),
    ("window_gain", "cwnd_gain", CONTROLLER, {"kind": "bbrv1"}, 2),
    ("drain_again", "drain_interval", CONTROLLER, {"kind": "fast"}, "10 s"),
    ("alpha_return", "alpha_recovery_rate", CONTROLLER, {"kind": "fast"}, 0.1),
    ("remembered_window", "lagged_window", CONTROLLER, {"kind": "fast"}, True),
    ("start_limit", "max_slow_start_increment", CONTROLLER, {"kind": "hybla"}, 15),
    ("own_rounds", "transition_rounds", CONTROLLER, {"kind": "prague"}, 500),
    ("competes", "competitive_mode", CONTROLLER, {"kind": "copa"}, True),
    ("least_window", "min_cwnd", CONTROLLER, {"kind": "swift"}, 1),
    ("most_window", "max_cwnd", CONTROLLER, {"kind": "swift"}, 100),
    ("most_decrease", "max_mdf", CONTROLLER, {"kind": "swift"}, 0.5),
    ("flow_least_window", "fs_min_cwnd", CONTROLLER, {"kind": "swift"}, 0.1),
    ("flow_most_window", "fs_max_cwnd", CONTROLLER, {"kind": "swift"}, 100),
    ("flow_range", "fs_range", CONTROLLER, {"kind": "swift"}, "1 ms"),
    ("timeouts_to_reset", "retx_reset_threshold", CONTROLLER, {"kind": "swift"}, 5),
    ("calm_completions", "hai_threshold", CONTROLLER, {"kind": "timely"}, 5),
    ("calm_steps", "hai_factor", CONTROLLER, {"kind": "timely"}, 5),
    ("outstanding", "max_outstanding", CONTROLLER, {"kind": "timely"}, "1 MB"),
    ("takes_others", "default", f"{QUEUE}.classes[0]", {"name": "a"}, True),
    ("reading", "variant", QUEUE, {"policy": "spd", "buffer": "100 cells"}, "printed"),
    ("active", "active_vcs", QUEUE, {"policy": "epd_per_vc", "buffer": "100 cells"}, "backlogged"),
    ("lower", "lower_threshold", QUEUE, BPD, "40 %"),
    ("upper", "upper_threshold", QUEUE, BPD, "90 %"),
    ("lower", "min_threshold", QUEUE, RED, "20 %"),
    ("upper", "max_threshold", QUEUE, RED, "60 %"),
    ("counts", "queue_unit", QUEUE, RED, "bytes"),
    ("packet", "mean_packet_size", QUEUE, RED, "1500 B"),
    ("burst", "max_burst", QUEUE, {"policy": "pie", "buffer": "100 packets"}, "150 ms"),
    ("max_marked", "max_mark_probability", QUEUE, {"policy": "pie", "buffer": "100 packets"}, 0.1),
    ("bdp_packet", "bdp_packet_size", QUEUE, {"buffer": "50 %", "bdp_rtt": "100 ms"}, "1500 B"),
    ("first_rtt", "initial_rtt", QUEUE, {"policy": "rcp", "buffer": "100 packets"}, "100 ms"),
    ("first_share", "initial_share", QUEUE, {"policy": "rcp", "buffer": "100 packets"}, 0.1),
    ("ramp_from", "l4s_min_threshold", f"{QUEUE}.scheduler", {"kind": "dualpi2"}, "1 ms"),
    ("ramp", "l4s_range", f"{QUEUE}.scheduler", {"kind": "dualpi2"}, "1 ms"),
    ("shift", "time_shift", f"{QUEUE}.scheduler", {"kind": "dualpi2"}, "50 ms"),
    ("least", "min_price", "prices", {"scheme": "adpm"}, 0),
    ("most", "max_price", "prices", {"scheme": "adpm"}, 1),
    ("first_estimate", "initial_estimate", "prices", {"scheme": "adpm"}, "min"),
    ("way_back", "feedback", "prices", {"scheme": "adpm"}, "exact"),
    ("conversion", "wavelength_conversion", "topology.dwdm", {"inputs": 2, "transmitters": 2, "rate": "1 Gbps"}, True),
    ("flows_of_queues", "queue_flows", "record", {}, True),
    ("of", "flows", "record.traces.throughput", {"bin": "1 s"}, ["tcp"]),
    ("law", "controller", "record.traces", {}, ["tcp"]),
]
WORDS: list[tuple[str, str, str, dict[str, Any]]] = [
    ("discarded", "dropped", f"{QUEUE}.excess", {"policy": "policer", "buffer": "9 packets", "rate": "1 Mbps", "burst": "9 kB"}),
    ("least", "min", "prices.initial_estimate", {"scheme": "adpm", "min_price": 0, "max_price": 1}),
    ("most", "max", "prices.initial_estimate", {"scheme": "adpm", "min_price": 0, "max_price": 1}),
]
COLUMNS = {
    "flows": [("loss_share", "loss_rate")],
    "queues": [
        (f"discarded_{name}", f"dropped_{name}")
        for name in ["units", "full", "early", "late", "partial", "single", "random", "listed"]
    ],
}
# Functions with a former and the new name of an argument.
ARGUMENTS: list[tuple[Callable[..., Any], str, str]] = [
    (tb.Run.plot, "beside", "compare"),
    (tb.Run.plot, "span", "time_range"),
    (tb.emulate, "played", "kernel_flows"),
    (tb.emulate, "settings", "sysctls"),
    (tb.sweep, "most_seeds", "max_seeds"),
    (tb.size_buffer, "packet", "packet_size"),
    (tb.validate, "lanes", "jobs"),
    (tb.dwdm, "conversion", "wavelength_conversion"),
    (tb.models.maxnet_base, "largest_cost", "max_cost"),
    (tb.models.rcp_price, "largest_bps", "max_rate_bps"),
    (tb.models.rcp_price, "smallest_bps", "min_rate_bps"),
    (tb.models.simulate_trunk, "most_arrivals", "max_arrivals"),
    (tb.models.simulate_trunk, "reading", "variant"),
    (Experiment, "left_open", "assumptions"),
    (Curves, "levels", "reference_lines"),
]
# Columns of tables that few runs have: the finder of new names is the same.
RARE_COLUMNS = [
    ("beyond_range_packets", "clamped_packets"),
    ("discarded_packets", "dropped_packets"),
    ("discarded_policed", "dropped_policed"),
    ("discarded_s", "dropped_s"),
    ("what", "kind"),
]


def text(path: str, table: dict[str, Any], key: str, value: Any) -> str:
    """A scenario in JSON in which this table has this key; the rest is as small as can be."""
    import json

    whole: dict[str, Any] = {
        "duration": "1 s",
        "topology": {"dumbbell": {"rate": "1 Mbps", "delay": "1 ms", "queue": {"buffer": "9 packets"}}},
        "flows": {"tcp": {"from": "left", "to": "right", "tcp": {"preset": "sack"}}},
    }
    place: Any = whole
    for step in path.split("."):
        name, is_list, _ = step.partition("[")
        place = place.setdefault(name, [{}] if is_list else {})
        if is_list:
            place = place[0]
    place |= {**table, key: value}
    return json.dumps(whole)


@pytest.mark.parametrize(
    ("old", "new", "path", "table", "value"), KEYS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_an_old_key_gives_the_new_one(old: str, new: str, path: str, table: dict[str, Any], value: Any) -> None:
    with pytest.raises(tb.ScenarioError) as caught:
        _core.check(text(path, table, old, value), "", "json")
    assert f"`{old}` has been renamed to `{new}`" in [problem.hint for problem in caught.value.problems]


@pytest.mark.parametrize(("old", "new", "path", "table"), WORDS, ids=lambda value: value if isinstance(value, str) else "")
def test_an_old_word_gives_the_new_one(old: str, new: str, path: str, table: dict[str, Any]) -> None:
    outer, _, key = path.rpartition(".")
    with pytest.raises(tb.ScenarioError) as caught:
        _core.check(text(outer, table, key, old), "", "json")
    assert f"`{old}` has been renamed to `{new}`" in [problem.hint for problem in caught.value.problems]


def test_an_old_column_gives_the_new_one() -> None:
    run = tb.simulate(tb.dumbbell(rate="1 Mbps", delay="1 ms", buffer="9 packets", flows=1, duration="1 s"))
    for table, names in COLUMNS.items():
        for old, new in names:
            with pytest.raises(tb.UnknownName, match=f"; `{old}` has been renamed to `{new}`"):
                _ = run.tables[table][old]
    for old, new in RARE_COLUMNS:
        assert _core.hint(old, [new, "time_s"]) == f"`{old}` has been renamed to `{new}`"


@pytest.mark.parametrize(("function", "old", "new"), ARGUMENTS)
def test_an_old_argument_gives_the_new_one(function: Callable[..., Any], old: str, new: str) -> None:
    with pytest.raises(tb.ArgumentError) as caught:
        function(**{old: 1})
    assert [(problem.at, problem.hint) for problem in caught.value.problems] == [(old, f"`{old}` has been renamed to `{new}`")]


def test_the_command_ends_with_exit_code_2(command: Command, tmp_path: Path) -> None:
    files = []
    for number, (old, _, path, table, value) in enumerate(KEYS):
        files.append(tmp_path / f"{number}.json")
        files[-1].write_text(text(path, table, old, value))
    done = command("check", *files)
    assert (done.returncode, done.stdout) == (2, "")
    for old, new, *_ in KEYS:
        assert f"`{old}` has been renamed to `{new}`" in done.stderr


def test_every_renamed_name_is_tested() -> None:
    columns = [pair for pairs in COLUMNS.values() for pair in pairs]
    tested = {(old, new) for old, new, *_ in [*KEYS, *WORDS]} | {*columns, *RARE_COLUMNS}
    tested |= {(old, new) for _, old, new in ARGUMENTS}
    assert tested == set(_core.renamed_names())
