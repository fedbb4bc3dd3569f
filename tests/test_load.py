"""Load: arrivals and flow tables, size distributions, completion times by size class, and handshakes."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tailback as tb
from tailback._run.completions import completions
from tailback._tables.table import Table

LINK: dict[str, Any] = {"rate": "10 Mbps", "delay": "10 ms", "buffer": "50 packets"}


def transfer(size: str = "10 kB", **tcp: Any) -> tb.Scenario:
    """One transfer that fits into its initial window."""
    flow: Any = {"size": size, "tcp": {"preset": "sack", "initial_window": 100, **tcp}}
    return tb.dumbbell(**LINK, flows={"web": flow}, duration="20 s", traces=["packets"])


@pytest.mark.parametrize("size", ["1 B", "1460 B", "1461 B", "10 kB", "60 kB"])
def test_a_transfer_without_competition_is_as_fast_as_its_links(size: str) -> None:
    [flow] = tb.simulate(transfer(size)).flows.to_rows()
    assert flow["slowdown"] == 1.0
    # 40 bytes of headers per packet with 1460 bytes of payload, at 10 Mbit/s, and 10 ms of delay.
    packets = math.ceil(flow["size_bytes"] / 1460)
    assert flow["completion_time_s"] == pytest.approx(0.01 + (flow["size_bytes"] + 40 * packets) * 8 / 10e6, rel=1e-12)


def test_a_handshake_takes_one_round_trip_of_headers() -> None:
    without, with_one = tb.simulate(transfer()), tb.simulate(transfer(handshake=True))
    later = with_one.flows["completion_time_s"][0] - without.flows["completion_time_s"][0]
    # 40 bytes each way at 10 Mbit/s, and 10 ms of delay.
    assert later == pytest.approx(2 * (0.01 + 40 * 8 / 10e6), rel=1e-9)
    counts = ("sent_packets", "delivered_packets", "delivered_bytes")
    assert [with_one.flows[name][0] - without.flows[name][0] for name in counts] == [1, 1, 0]
    assert with_one.trace("packets").to_dict()["kind"][:3] == ["syn", "syn_ack", "data"]


def test_a_capture_of_a_run_shows_its_handshake(tmp_path: Path) -> None:
    tb.simulate(transfer(handshake=True)).save_capture(tmp_path / "run.pcapng")
    connections = tb.analyse(tmp_path / "run.pcapng").connections
    assert connections["began"][0] == "syn"
    assert connections["handshake_rtt_s"][0] == pytest.approx(2 * (0.01 + 40 * 8 / 10e6), rel=1e-6)
    assert connections["payload_bytes"][0] == 10_000


def test_a_lost_syn_costs_a_second() -> None:
    opened = transfer(handshake=True, delayed_ack=False)
    lost = opened.with_({"topology.dumbbell.loss": {"drops": [{"group": "web", "flow": 0, "segment": 0}]}})
    run = tb.simulate(lost)
    packets = run.trace("packets").to_dict()
    # After a lost SYN the window is one segment, not 100, and doubles from there.
    assert packets["kind"][:8] == ["syn", "syn", "syn_ack", "data", "ack", "data", "data", "ack"]
    assert packets["time_s"][:3] == pytest.approx([0, 1, 1 + 2 * (0.01 + 40 * 8 / 10e6)], rel=1e-9)
    assert run.flows["timeouts"][0] == 1


def web(**keys: Any) -> dict[str, Any]:
    return {"web": {"from": "left", "to": "right", "tcp": {"preset": "sack"}, **keys}}


def test_arrivals_have_the_requested_load() -> None:
    flows = web(arrivals={"load": 0.5, "reference_rate": "10 Mbps"}, size={"exponential": "20 kB"})
    runs = [tb.simulate(tb.dumbbell(**LINK, flows=flows, duration="60 s"), seed=seed) for seed in range(1, 6)]
    offered = [8 * sum(run.flows["size_bytes"]) / 60 / 10e6 for run in runs]
    # 1875 flows per run on average; the mean of five runs has a standard error of 0.5 x sqrt(2 / 9375).
    assert sum(offered) / 5 == pytest.approx(0.5, abs=5 * 0.5 * math.sqrt(2 / 9375))
    assert all(run.groups["goodput_bps"][0] <= 8 * sum(run.flows["size_bytes"]) / 60 for run in runs)


def test_completions_by_class_are_those_of_the_flows() -> None:
    flows = web(arrivals={"load": 0.5, "reference_rate": "10 Mbps"}, size={"workload": "data_mining"})
    run = tb.simulate(tb.dumbbell(**LINK, flows=flows, duration="600 s", seed=3))
    table = run.completions(["2 kB", "10 kB"], [50, 99.9])
    assert [*table] == [
        *("group", "above_bytes", "up_to_bytes", "flows", "completed"),
        *("completion_mean_s", "completion_p50_s", "completion_p99_9_s", "slowdown_mean", "slowdown_p50", "slowdown_p99_9"),
    ]
    sizes, times = run.flows["size_bytes"], run.flows["completion_time_s"]
    short = sorted(time for size, time in zip(sizes, times, strict=True) if size <= 2000 and not math.isnan(time))
    row = table.to_rows()[0]
    assert (row["completed"], row["completion_p50_s"]) == (len(short), short[math.ceil(len(short) / 2) - 1])
    assert sum(table["flows"]) == len(run.flows)
    assert math.isnan(table["up_to_bytes"][-1])
    whole = run.completions([], [50]).to_rows()[0]
    # Nearest rank: the k-th smallest value, for k of n, also if a share is not a binary fraction.
    hundred = Table._of(
        "flows",
        {
            "group": ["web"] * 1000,
            "size_bytes": [1.0] * 1000,
            "completion_time_s": [float(place) for place in range(1, 1001)],
            "slowdown": [1.0] * 1000,
            "timeouts": [0] * 1000,
        },
    )
    ranks = completions(hundred, [], [0.7, 2.8, 5.5, 55, 99.9]).to_rows()[0]
    assert [ranks[f"completion_p{name}_s"] for name in ("0_7", "2_8", "5_5", "55", "99_9")] == [7, 28, 55, 550, 999]
    assert whole["slowdown_p50"] == run.groups["slowdown_p50"][0]


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ({"classes": "100 kB"}, "expected a list"),
        ({"classes": ["10 ms"]}, "sizes with units"),
        ({"classes": [100]}, "sizes with units"),
        ({"classes": ["2 kB", "1 kB"]}, "sizes above 0 in ascending order"),
        ({"classes": None}, "expected a list"),
        ({"percentiles": 50}, "expected a list"),
        ({"percentiles": [0]}, "above 0"),
        ({"percentiles": ["p99"]}, "above 0"),
    ],
)
def test_invalid_classes_and_percentiles_are_reported(wanted: dict[str, Any], told: str) -> None:
    with pytest.raises(tb.ParameterError, match=told):
        tb.simulate(transfer()).completions(**wanted)


def test_endless_flows_have_no_completions() -> None:
    run = tb.simulate(tb.dumbbell(**LINK, duration="1 s"))
    assert math.isnan(run.flows["size_bytes"][0])
    assert math.isnan(run.flows["slowdown"][0])
    with pytest.raises(tb.ParameterError, match="no flow of this run has a `size`"):
        run.completions()


def written(folder: Path, text: str, keys: str) -> Path:
    (folder / "flows.csv").write_text(text)
    link = 'dumbbell = {rate = "10 Mbps", delay = "10 ms", queue = {buffer = "50 packets"}}'
    group = f'[flows.web]\nfrom = "left"\nto = "right"\ntcp = {{preset = "sack"}}\n{keys}\n'
    (folder / "scenario.toml").write_text(f'duration = "10 s"\n[topology]\n{link}\n{group}')
    return folder / "scenario.toml"


START = 'start = {csv = {file = "flows.csv", column = "start_s"}}'
SIZE = 'size = {csv = {file = "flows.csv", column = "size"}}'


def test_a_flow_table_defines_starts_and_sizes(tmp_path: Path) -> None:
    scenario = tb.load(written(tmp_path, "start_s, size\n0.25,10 kB\n1e-1,2 MB\n3,1 B\n", f"{START}\n{SIZE}"))
    run = tb.simulate(scenario)
    assert run.flows["start_s"].tolist() == [0.25, 0.1, 3.0]
    assert run.flows["size_bytes"].tolist() == [10_000.0, 2_000_000.0, 1.0]
    # The contents become part of the scenario, which does not need the file any more.
    (tmp_path / "flows.csv").unlink()
    longer = scenario.with_({"duration": "11 s"})
    assert tb.simulate(longer).flows["size_bytes"].tolist() == [10_000.0, 2_000_000.0, 1.0]
    study = tb.sweep(scenario, {"topology.dumbbell.rate": ["5 Mbps", "10 Mbps"]}, out=tmp_path / "study", seeds=1)
    assert study.flows["size_bytes"].tolist() == [10_000.0, 2_000_000.0, 1.0] * 2
    assert tb.simulate(tb.Scenario(run.scenario)).flows["size_bytes"].tolist() == [10_000.0, 2_000_000.0, 1.0]


@pytest.mark.parametrize(
    ("text", "keys", "told"),
    [
        ("start_s,size\n1,10 kB\n2,10 miles\n", SIZE, r"flows\.web\.size\.csv.*line 3"),
        ("start_s,size\n-1,10 kB\n", START, r"start\.csv.*line 2"),
        ("start_s,size\n1\n", SIZE, "line 2"),
        ("start_s,bytes\n1,2\n", SIZE, "no column"),
        ("start_s,size\n", SIZE, "has no values"),
        ("", SIZE, "no column"),
        ("start_s,size\n1,10\n", SIZE, "line 2"),
        ("start_s,size\n1,10 kB\n", SIZE.replace("flows.csv", "nowhere.csv"), "cannot be read"),
        ("start_s,size\n1,10 kB\n", SIZE.replace("flows.csv", "."), "cannot be read"),
        ("start_s,size\n1,10 kB\n", f"count = 2\n{SIZE}", "one value per flow"),
        ("start_s,size\n" + "1,no\n" * 100_000, SIZE, "99980 more lines"),
        ("\x00\x01\x02,\n\x03", SIZE, "no column"),
        ("size,size\n1 kB,2 kB\n", SIZE, "several columns `size`"),
        ("size\n" + "1 kB\n" * 4_000_001, SIZE, "at most 4000000"),
        ("value,share\n1 kB,0.5\n500 B,1\n", 'size = {cdf = "flows.csv"}', r"size\.cdf.*line 3"),
        ("value,share\n1 kB,most\n", 'size = {cdf = "flows.csv"}', r"line 2\]\.share"),
        ("value,weight\n1 kB,0.5\n1 mile,1\n", 'size = {weights = "flows.csv"}', r"line 3\]\.value"),
        ("value,share\n1 kB,1\n", 'size = {weights = "flows.csv"}', "has no column `weight`"),
        ("at,factor\n0 s,1\n0 s,2\n", 'arrivals = {mean_interval = "1 s", profile = "flows.csv"}', r"profile\[.*line 3\]\.at"),
    ],
)
def test_an_invalid_flow_table_is_reported_with_its_line(tmp_path: Path, text: str, keys: str, told: str) -> None:
    with pytest.raises(tb.ScenarioError, match=rf"(?s){told}"):
        tb.simulate(tb.load(written(tmp_path, text, keys)))


@pytest.mark.parametrize(
    ("size", "told"),
    [
        ({"bounded_pareto": {"lowest": "0 B", "highest": "1 MB", "shape": 1.2}}, "above 0"),
        ({"bounded_pareto": {"lowest": "2 MB", "highest": "1 MB", "shape": 1.2}}, "`highest` not below `lowest`"),
        ({"bounded_pareto": {"lowest": "1 kB", "shape": 1.2}}, "`highest` is missing"),
        ({"cdf": [["1 kB", 0.5]]}, "1 as the last share"),
        ({"cdf": [["1 kB", 0.5], ["2 kB", 0.4], ["3 kB", 1]]}, "is below the point before"),
        ({"cdf": [["1 kB", 0.5], ["500 B", 1]]}, "is below the point before"),
        ({"cdf": []}, "1 as the last share"),
        ({"weights": [["1 kB", 0]]}, "no weight above 0"),
        ({"weights": [["1 kB", -1]]}, "out of range"),
        ({"cdf": [["1 kB"]]}, "is not a point"),
        ({"workload": "web_serch"}, "did you mean `web_search`"),
    ],
)
def test_invalid_sizes_are_reported(size: dict[str, Any], told: str) -> None:
    with pytest.raises(tb.ScenarioError, match=told):
        tb.simulate(tb.dumbbell(**LINK, flows=web(size=size), duration="1 s"))


def test_times_cannot_be_a_workload() -> None:
    with pytest.raises(tb.ScenarioError, match="`propagation_rtt` has no key `workload`"):
        tb.simulate(tb.dumbbell(**LINK, flows=web(propagation_rtt={"workload": "web_search"}), duration="1 s"))


def test_arrivals_that_end_early_cause_a_warning() -> None:
    flows = web(count=10, arrivals={"mean_interval": "10 ms"}, size="1 kB")
    with pytest.warns(tb.ScenarioWarning, match="the last flow starts long before the end"):
        tb.dumbbell(**LINK, flows=flows, duration="10 s").check()


def test_flows_after_the_stop_of_their_group_are_not_created() -> None:
    flows = web(arrivals={"mean_interval": "10 ms"}, size="1 kB", stop="2 s")
    run = tb.simulate(tb.dumbbell(**LINK, flows=flows, duration="10 s"))
    assert max(run.flows["start_s"]) < 2
    with pytest.warns(tb.ScenarioWarning, match="is not before `stop`: 8 of 10 flows never start"):
        tb.dumbbell(**LINK, flows=web(count=10, start={"uniform": ["0 s", "9 s"]}, stop="2 s"), duration="10 s").check()


def test_a_list_that_ends_early_causes_a_warning() -> None:
    flows = web(arrivals={"mean_interval": "10 ms"}, size=["1 kB"] * 5)
    with pytest.warns(tb.ScenarioWarning, match="the last flow starts long before the end"):
        tb.dumbbell(**LINK, flows=flows, duration="10 s").check()


@pytest.mark.parametrize("transmitters", [2, 3, 8])
def test_slowdowns_are_at_least_1_with_several_transmitters(transmitters: int) -> None:
    trunk = {"from": "a", "to": "b", "rate": "10 Mbps", "delay": "10 ms", "transmitters": transmitters}
    scenario = tb.Scenario(
        {
            "duration": "20 s",
            "nodes": {"a": {}, "b": {}},
            "links": {"trunk": {**trunk, "queue": {"buffer": "100 packets"}}},
            "flows": {"web": {"from": "a", "to": "b", "size": "20 kB", "tcp": {"preset": "sack", "initial_window": 100}}},
        }
    )
    assert 1 <= tb.simulate(scenario).flows["slowdown"][0] < 1.2


def test_slowdowns_are_at_least_1_if_a_link_becomes_faster() -> None:
    changes: Any = [{"at": "1 s", "link": "bottleneck", "rate": "100 Mbps"}]
    flows: Any = {"web": {"start": "2 s", "size": "10 kB", "tcp": {"preset": "sack", "initial_window": 100}}}
    run = tb.simulate(tb.dumbbell(**LINK, flows=flows, duration="20 s", timeline=changes))
    assert run.flows["slowdown"][0] == 1


def datagrams(source: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Datagrams of 1000 bytes over 10 Mbit/s and 10 ms, with further keys of the link and of the flows."""
    link = {"rate": "10 Mbps", "delay": "10 ms", "queue": {"buffer": "100 packets"}}
    link |= {key: more.pop(key) for key in ("rate", "duplication", "loss") if key in more}
    flow = {"source": {"rate": "1 Mbps", "packet_size": "1000 B", **source}, **more}
    return {"duration": "10 s", "topology": {"dumbbell": link}, "flows": {"a": flow}}


@pytest.mark.parametrize("size", ["100 kB", "99001 B"])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_constant_source_of_a_size_completes_after_its_last_datagram(size: str, threads: int) -> None:
    # 100 datagrams, one every 8 ms; the last arrives after its transmission at 10 Mbit/s and 10 ms.
    run = tb.simulate(datagrams({"kind": "constant"}, size=size), threads=threads)
    (flow,) = run.flows.to_rows()
    last = 1000 if size == "100 kB" else 1
    assert flow["sent_packets"] == flow["delivered_packets"] == 100
    assert flow["delivered_bytes"] == 99_000 + last
    assert flow["completion_time_s"] == pytest.approx(99 * 0.008 + 0.01 + 8 * last / 10e6, abs=1e-12)
    assert run.groups["completed"][0] == 1


@pytest.mark.parametrize(
    ("source", "mean_s"),
    [
        # 100 gaps of 8 ms.
        ({"kind": "poisson"}, 0.8),
        # At half of the time the source is silent.
        ({"kind": "on_off", "mean_on": "20 ms", "mean_off": "20 ms"}, 1.6),
        # Each datagram of 8 ms is followed by an idle time of 8 ms.
        ({"kind": "alternating", "mean_idle": "8 ms"}, 1.6),
    ],
)
def test_random_sources_of_a_size_complete_at_the_rate_of_the_source(source: dict[str, Any], mean_s: float) -> None:
    run = tb.simulate(datagrams(source, size="100 kB", count=40, rate="1 Gbps"))
    assert list(run.flows["delivered_bytes"]) == [100_000] * 40
    # The standard error of the mean of 40 flows is at most 5 %.
    assert np.mean(run.flows["completion_time_s"]) == pytest.approx(mean_s, rel=0.2)


def test_flows_of_datagrams_that_arrive_have_their_size() -> None:
    run = tb.simulate(datagrams({"kind": "constant", "rate": "100 Mbps"}, size="10 kB", arrivals={"mean_interval": "100 ms"}))
    sizes = [
        bytes_ for bytes_, time in zip(run.flows["delivered_bytes"], run.flows["completion_time_s"], strict=True) if time == time
    ]
    assert sizes == [10_000] * len(sizes)
    assert len(sizes) >= len(run.flows) - 1 > 50


def test_datagrams_that_are_lost_are_not_repeated() -> None:
    # 40 Mbit/s into 10: three quarters are lost once the buffer is full, and the transfer never completes.
    run = tb.simulate(datagrams({"kind": "constant", "rate": "40 Mbps"}, size="1 MB"))
    (flow,) = run.flows.to_rows()
    assert flow["sent_packets"] == 1000
    assert flow["delivered_packets"] < 500
    assert np.isnan(flow["completion_time_s"])
    assert (run.groups["completed"][0], flow["starved"]) == (0, 0)


@pytest.mark.parametrize("threads", [1, 2])
def test_copies_of_datagrams_are_not_delivered_twice(threads: int) -> None:
    run = tb.simulate(datagrams({"kind": "constant"}, duplication=0.2), threads=threads)
    (flow,) = run.flows.to_rows()
    copies = run.queues["duplicated_units"][0]
    # 1250 datagrams; the last was sent 8 ms before the end and has not arrived.
    assert flow["delivered_packets"] == 1249
    assert copies == pytest.approx(250, abs=5 * 14)
    assert flow["spurious_retransmissions"] in (copies, copies - 1)
    # A size counts distinct payload, too.
    (flow,) = tb.simulate(datagrams({"kind": "constant"}, duplication=1.0, size="100 kB")).flows.to_rows()
    assert flow["delivered_packets"] == flow["spurious_retransmissions"] == 100
    assert flow["completion_time_s"] == pytest.approx(0.8028)


def test_a_copy_replaces_a_lost_datagram() -> None:
    # Every datagram arrives twice at the second link, which loses each with probability 0.5: three quarters of them arrive.
    link = {"rate": "10 Mbps", "delay": "1 ms", "queue": {"buffer": "100 packets"}}
    scenario = {
        "duration": "20 s",
        "nodes": {"a": {}, "b": {}, "c": {}},
        "links": {
            "first": {"from": "a", "to": "b", **link, "duplication": 1.0},
            "second": {"from": "b", "to": "c", **link, "loss": {"probability": 0.5}},
        },
        "flows": {"a": {"from": "a", "to": "c", "source": {"kind": "constant", "rate": "2 Mbps", "packet_size": "1000 B"}}},
    }
    (flow,) = tb.simulate(scenario).flows.to_rows()
    assert flow["delivered_packets"] / flow["sent_packets"] == pytest.approx(0.75, abs=0.04)


def test_a_flow_table_without_sizes_describes_endless_flows(tmp_path: Path) -> None:
    (tmp_path / "pairs.csv").write_text("source,sink\nleft,right\nleft,right\n")
    link = {"rate": "10 Mbps", "delay": "10 ms", "queue": {"buffer": "100 packets"}}
    flow: Any = {"traffic": {"table": str(tmp_path / "pairs.csv")}, "tcp": {"preset": "sack"}}
    run = tb.simulate({"duration": "5 s", "topology": {"dumbbell": link}, "flows": {"all": flow}})
    assert len(run.flows) == 2
    assert np.isnan(run.flows["size_bytes"]).all()
    # They fill the link, on which 1460 of 1500 bytes are payload.
    assert sum(run.flows["goodput_bps"]) > 0.9 * 10e6 * 1460 / 1500


def test_constant_periods_of_a_source_are_exact() -> None:
    # Datagrams every 8 ms: 13 in each burst of 100 ms, one burst every 200 ms.
    periods = {"on_periods": "constant", "off_periods": "constant", "mean_on": "100 ms", "mean_off": "100 ms"}
    run = tb.simulate(datagrams({"kind": "on_off", **periods}))
    assert run.flows["sent_packets"][0] == 50 * 13


def test_pareto_periods_make_aggregated_traffic_burstier_on_all_time_scales() -> None:
    def variance_ratio(periods: str) -> float:
        """Variance of the traffic per second over that per 100 ms, of which independent traffic has a tenth."""
        source = {"kind": "on_off", "rate": "1 Mbps", "mean_on": "100 ms", "mean_off": "300 ms", "shape": 1.3}
        source |= {"on_periods": periods, "off_periods": periods} if periods == "pareto" else {"shape": 1.5}
        scenario = datagrams(source, count=40, rate="1 Gbps") | {
            "duration": "300 s",
            "record": {"traces": {"throughput": {"flows": ["a"], "bin": "100 ms"}}},
        }
        rates = tb.simulate(scenario).trace("throughput")
        per_bin = np.bincount(np.rint(rates["time_s"] / 0.1).astype(int), weights=rates["throughput_bps"])[100:2900]
        return float(np.var(per_bin.reshape(-1, 10).mean(axis=1)) / np.var(per_bin))

    # H = (3 - 1.3) / 2 = 0.85: variances decay as m^(2 H - 2) = 10^-0.3 = 0.5; exponential periods have a memory below a second.
    assert variance_ratio("pareto") > 0.35
    assert variance_ratio("exponential") < 0.3


def test_a_buffer_in_time_is_rate_times_time() -> None:
    # 10 Mbit/s for 50 ms are 62.5 kB. Overloaded by datagrams of any size, packets wait for up to 50 ms less one packet.
    for size in ("1000 B", "200 B"):
        scenario = datagrams({"kind": "constant", "rate": "20 Mbps", "packet_size": size})
        scenario["topology"]["dumbbell"]["queue"] = {"buffer": "50 ms"}
        run = tb.simulate(scenario)
        assert run.queues["max_queue_units"][0] == 62_500 // int(size.removesuffix(" B"))
