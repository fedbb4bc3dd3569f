"""Topology generators, NetworkX graphs, and flow tables."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

import tailback as tb
from support import ROOT, Command
from tailback import _core
from tailback.prediction import scaled

LINKS: Any = {"rate": "10 Gbps", "delay": "1 us", "buffer": "50 packets"}
WEB: Any = {"size": "20 kB", "tcp": {"preset": "newreno"}}


def web(traffic: Any) -> Any:
    return {"traffic": traffic, **WEB}


def listed(table: Any, **more: Any) -> tb.Scenario:
    """Flows of a table in a fat tree of 16 hosts."""
    group: Any = {"traffic": {"table": table}, "tcp": {"preset": "newreno"}, **more}
    return tb.fat_tree(k=4, **LINKS, flows={"web": group}, duration="20 ms")


def test_a_group_of_many_pairs_is_one_class() -> None:
    run = tb.simulate(tb.fat_tree(k=4, **LINKS, flows={"web": web({"all_to_all": "host*"})}, duration="5 s"))
    assert run.groups.to_dict()["flows"] == [16 * 15]
    [row] = run.completions([], [50]).to_rows()
    assert row["completed"] == 16 * 15
    # 20 kB, 14 packets with headers, over 2, 4 or 6 links of 10 Gbit/s and 1 us each.
    assert min(run.flows["slowdown"]) >= 1


def test_the_ten_lines_of_the_page_run() -> None:
    text = (ROOT / "docs/howto/topologies.md").read_text().partition("```toml\n")[2].partition("```")[0]
    assert len([line for line in text.splitlines() if line]) <= 10
    scenario = tb.Scenario.from_toml(text).with_({"topology.fat_tree.k": 4, "duration": "2 s"})
    assert tb.simulate(scenario).groups.to_dict()["completed"] == [16]


@pytest.mark.parametrize(
    ("scenario", "nodes"),
    [
        (tb.torus(dimensions=[3, 2], hosts=2, **LINKS, flows={"web": WEB}, duration="1 s"), 12),
        (tb.dragonfly(switches=2, hosts=2, global_links=1, **LINKS, flows={"web": WEB}, duration="1 s"), 12),
        (tb.torus(dimensions=[3, 2], hosts=0, **LINKS, flows={"web": WEB}, duration="1 s"), 6),
        (tb.dragonfly(switches=2, hosts=0, global_links=1, **LINKS, flows={"web": WEB}, duration="1 s"), 6),
        (tb.random_regular(switches=6, degree=3, hosts=2, **LINKS, flows={"web": WEB}, duration="1 s"), 12),
        (tb.random_regular(switches=6, degree=3, hosts=0, **LINKS, flows={"web": WEB}, duration="1 s"), 6),
        (tb.waxman(routers=30, **LINKS, flows={"web": WEB}, duration="1 s"), 30),
    ],
)
def test_each_node_of_a_generator_sends_to_another(scenario: tb.Scenario, nodes: int) -> None:
    ends = scenario.ends(1)
    assert len(ends["source"]) == len(set(ends["source"]) & set(ends["sink"])) == nodes
    assert tb.simulate(scenario).groups.to_dict()["completed"] == [nodes]


def test_links_of_hosts_and_between_groups_are_their_own() -> None:
    hosts: Any = {"host_rate": "1 Gbps", "host_delay": "3 us", "host_queue": {"policy": "drop_tail", "buffer": "9 packets"}}
    between: Any = {"global_rate": "40 Gbps", "global_delay": "5 us"}
    rest: Any = {**LINKS, **hosts, "flows": 4, "duration": "1 s"}
    for scenario, more in [
        (tb.fat_tree(k=4, **rest), {}),
        (tb.leaf_spine(leaves=2, spines=2, hosts=2, **rest), {}),
        (tb.torus(dimensions=[4], **rest), {}),
        (tb.random_regular(switches=4, degree=3, **rest), {}),
        (tb.dragonfly(switches=2, hosts=1, global_links=1, **between, **rest), between),
    ]:
        [shape] = scenario.to_dict()["topology"].values()
        assert {key: shape[key] for key in hosts} == hosts
        assert {key: shape[key] for key in more} == more
        scenario.check()


@pytest.mark.parametrize(
    ("generator", "settings", "said"),
    [
        (tb.fat_tree, {"k": 0}, ["topology.fat_tree.k", "given    0", "from 2 to 1000000"]),
        (tb.fat_tree, {"k": 5}, ["topology.fat_tree.k", "given    5", "an even number"]),
        (tb.torus, {"dimensions": [4, 1]}, ["topology.torus.dimensions[1]", "given    1", "from 2 to 1000000"]),
        (tb.torus, {"dimensions": [2] * 7}, ["topology.torus.dimensions", "`dimensions` has too many entries", "1 to 6"]),
        (tb.torus, {"dimensions": [1000] * 3, "hosts": 1}, ["topology.torus", "2000000000 nodes and 4000000000 links"]),
        (tb.torus, {"dimensions": [4], "hosts": -1}, ["topology.torus.hosts", "given    -1", "from 0 to 1000000"]),
        (tb.dragonfly, {"switches": 0, "hosts": 1, "global_links": 1}, ["topology.dragonfly.switches", "given    0"]),
        (
            tb.dragonfly,
            {"switches": 900, "hosts": 1, "global_links": 900},
            ["topology.dragonfly", "`dragonfly` generates too many nodes or links"],
        ),
        (tb.torus, {"dimensions": [4], "hosts": 0, "host_delay": "1 us"}, ["topology.torus.host_delay", "given    hosts = 0"]),
        (tb.random_regular, {"switches": 9, "degree": 9}, ["topology.random_regular.degree", "given    9", "at most 8"]),
        (tb.random_regular, {"switches": 9, "degree": 3}, ["topology.random_regular.degree", "9 switches with 3 links each"]),
        (tb.random_regular, {"switches": 9, "degree": 2}, ["topology.random_regular.degree", "given    2", "from 3 to 1000000"]),
        (tb.waxman, {"routers": 10**9}, ["topology.waxman.routers", "given    1000000000", "from 2 to 2000"]),
        (tb.waxman, {"routers": 9, "alpha": 0}, ["topology.waxman.alpha", "given    0", "above 0"]),
        (tb.waxman, {"routers": 9, "alpha": 1.5}, ["topology.waxman.alpha", "given    1.5"]),
        (tb.waxman, {"routers": 9, "beta": -1}, ["topology.waxman.beta", "given    -1"]),
        (tb.leaf_spine, {"leaves": 1, "spines": 1, "hosts": 1}, ["names only one node", "host*, which is `host0` alone"]),
    ],
)
def test_invalid_topology_settings_are_rejected(generator: Any, settings: Any, said: list[str]) -> None:
    with pytest.raises(tb.ScenarioError) as caught:
        generator(**settings, **LINKS, duration="1 s").check()
    assert all(part in str(caught.value) for part in said), str(caught.value)
    assert len(caught.value.problems) == 1


@pytest.mark.parametrize(
    ("generator", "settings"),
    [(tb.waxman, {"routers": 30, "alpha": "30 %", "beta": 0.5}), (tb.random_regular, {"switches": 30, "degree": 4})],
)
def test_graph_seed_alone_decides_the_graph(generator: Any, settings: Any) -> None:
    def ports(graph_seed: int, seed: int) -> list[str]:
        scenario = generator(**settings, **LINKS, duration="1 ms", graph_seed=graph_seed, seed=seed)
        return list(tb.simulate(scenario).queues["queue"])

    assert ports(1, seed=1) == ports(1, seed=2)
    assert ports(1, seed=1) != ports(2, seed=1)


def test_ecmp_spreads_flows_that_shortest_paths_concentrate() -> None:
    def busy(routing: Literal["ecmp", "shortest"]) -> int:
        flows: Any = {"web": {"traffic": {"shift": {"nodes": "host*"}}, **WEB}}
        run = tb.simulate(tb.fat_tree(k=4, **LINKS, routing=routing, flows=flows, duration="20 ms"))
        queues = run.queues.to_dict()
        carried = zip(queues["queue"], queues["departed_units"], strict=True)
        return len({name.split("-")[0] for name, sent in carried if name.startswith("core") and sent > 0})

    assert busy("shortest") < busy("ecmp")
    assert busy("ecmp") == 4


def test_another_seed_gives_another_hash() -> None:
    scenario = tb.fat_tree(k=4, **LINKS, flows={"web": web({"shift": {"nodes": "host*"}})}, duration="20 ms")
    first, again, other = (list(tb.simulate(scenario, seed=seed).queues["departed_units"]) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert scenario.is_random
    assert not scenario.with_({"routing": "shortest"}).is_random


class FakeGraph:
    """The part of NetworkX's graph interface that is used."""

    def __init__(self, nodes: dict[Any, dict[str, Any]], edges: list[tuple[Any, Any, dict[str, Any]]]) -> None:
        self._nodes, self._edges = nodes, edges

    def __iter__(self) -> Any:
        return iter(self._nodes)

    def nodes(self, data: bool) -> Any:
        return self._nodes.items()

    def edges(self, data: bool) -> Any:
        return self._edges

    def is_directed(self) -> bool:
        return False

    def degree(self, node: Any) -> int:
        return sum(node in edge[:2] for edge in self._edges)


def test_a_graph_of_networkx_keeps_names_rates_and_hosts() -> None:
    nodes: Any = {"New York": {}, 7: {}, ("a", 1): {"kind": "host"}, "alone": {}}
    edges: Any = [("New York", 7, {"rate": "1 Gbps", "weight": 3}), (7, ("a", 1), {"delay": "2 ms"}), (7, ("a", 1), {})]
    scenario = tb.from_networkx(FakeGraph(nodes, edges), rate="100 Mbps", delay="1 ms", buffer="20 packets", duration="1 s")
    scenario.check()
    assert scenario["topology.graph.hosts"] == ["__a___1_"]
    run = tb.simulate(scenario)
    assert run.queues.to_dict()["queue"][::2] == ["7-__a___1_", "7-__a___1__2", "New_York-7"]
    with pytest.raises(tb.ParameterError, match="two nodes of the graph would have the name `a_b`"):
        tb.from_networkx(FakeGraph({"a b": {}, "a.b": {}}, [("a b", "a.b", {})]), **LINKS, duration="1 s")


def test_names_may_be_an_attribute_and_distances_give_delays() -> None:
    oslo, bergen = (
        {"label": "Oslo", "Latitude": 59.91, "Longitude": 10.75},
        {"label": "Bergen", "Latitude": 60.39, "Longitude": 5.32},
    )
    nodes: Any = {0: oslo, 1: bergen, 2: {"label": "?"}, 3: {"label": "?"}}
    edges: Any = [(0, 1, {"LinkSpeedRaw": 2.5e9, "km": 320}), (1, 2, {"delay": "1 ms", "km": 7}), (2, 3, {"km": 100}), (3, 3, {})]
    common: Any = {"rate": "1 Gbps", "buffer": "9 packets", "duration": "1 s", "name_attribute": "label"}
    with pytest.warns(tb.ScenarioWarning, match="edges from a node to itself"):
        scenario = tb.from_networkx(FakeGraph(nodes, edges), distance_attribute="km", **common)
    links = scenario.expanded()["links"]
    # 4.9 us per kilometre.
    assert {name: (link["rate"], link["delay"]) for name, link in links.items()} == {
        "Bergen-_": ("1 Gbps", "1 ms"),
        "Oslo-Bergen": ("2500 Mbps", "1568 us"),
        "_-__2": ("1 Gbps", "490 us"),
    }
    with pytest.warns(tb.ScenarioWarning):
        scenario = tb.from_networkx(FakeGraph(nodes, edges), delay="2 ms", delay_per_km="5 us", **common)
    links = scenario.expanded()["links"]
    # 305 km on the great circle.
    assert float(links["Oslo-Bergen"]["delay"].split()[0]) == pytest.approx(305 * 5000, rel=0.01)
    assert links["_-__2"]["delay"] == "2 ms"
    with pytest.raises(tb.UnknownName, match="no attribute of edges `length`"):
        tb.from_networkx(FakeGraph(nodes, edges), distance_attribute="length", **common)


def test_demands_become_a_traffic_matrix() -> None:
    graph: Any = FakeGraph({1: {}, 2: {}, 3: {}}, [(1, 2, {}), (2, 3, {})])
    graph.graph = {"demands": {"1": {"3": 30}, "3": {"1": 10, "2": 0}}}
    web = {"web": {"size": "1 kB", "arrivals": {"load": 1}, "tcp": {"preset": "sack"}}}
    common: Any = {**LINKS, "flows": web, "duration": "1 s"}
    scenario = tb.from_networkx(graph, demands="demands", demand_unit="Mbps", **common)
    assert scenario["flows.web.traffic.matrix.table.demand"] == ["30 Mbps", "10 Mbps", "0 Mbps"]
    ends = scenario.ends()
    # 40 Mbit/s of 8 kbit: 5000 flows, of which three quarters are from 1 to 3.
    assert len(ends["source"]) == pytest.approx(5000, abs=5 * 5000**0.5)
    assert ends["source"].count("1") / len(ends["source"]) == pytest.approx(0.75, abs=5 * (0.75 * 0.25 / 5000) ** 0.5)
    assert set(zip(ends["source"], ends["sink"], strict=True)) == {("1", "3"), ("3", "1")}
    paired = tb.from_networkx(graph, demands={(1, 2): 1}, **{**common, "flows": 5})
    assert paired.ends() == {"source": ["1"] * 5, "sink": ["2"] * 5}
    with pytest.raises(tb.UnknownName, match="no node of `demands` `7`"):
        tb.from_networkx(graph, demands={(1, 7): 1}, **common)
    with pytest.raises(tb.UnknownName, match="no attribute of the graph `demand`"):
        tb.from_networkx(graph, demands="demand", **common)
    with pytest.raises(tb.ParameterError, match="`demands` is -1 at one place"):
        tb.from_networkx(graph, demands={(1, 2): -1}, **common)


def test_a_traffic_matrix_of_a_file_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "demands.csv").write_text("source,sink,demand_Mbps\nhost0,host9,3\nhost3,host9,1\n")
    text = (
        'duration = "20 ms"\n[topology]\nfat_tree = {k = 4, rate = "10 Gbps", delay = "1 us", queue = {buffer = "50 packets"}}\n'
    )
    text += '[flows.web]\ntraffic = {matrix = {table = "demands.csv"}}\ncount = 9\nsize = "1 kB"\ntcp = {preset = "newreno"}\n'
    (tmp_path / "scenario.toml").write_text(text)
    scenario = tb.load(tmp_path / "scenario.toml")
    (tmp_path / "demands.csv").unlink()
    assert set(scenario.with_({"seed": 2}).ends()["sink"]) == {"host9"}
    assert scenario.is_random


def test_a_scenario_becomes_a_graph_of_networkx(tmp_path: Path) -> None:
    networkx = pytest.importorskip("networkx")
    scenario = tb.dumbbell(
        rate="10 Mbps",
        delay="10 ms",
        buffer="20 packets",
        reverse={"rate": "1 Mbps"},
        loss={"probability": "1 %"},
        duration="2 s",
    )
    graph = scenario.to_networkx()
    assert dict(graph.nodes(data="kind")) == {"left": "router", "right": "router"}
    forward, backward = graph.edges["left", "right", "bottleneck"], graph.edges["right", "left", "bottleneck.reverse"]
    assert (forward["rate_bps"], forward["delay_s"], forward["loss"], forward["buffer"]) == (10e6, 0.01, 0.01, "20 packets")
    assert (backward["rate_bps"], backward["buffer"]) == (1e6, "unlimited")
    again = tb.from_networkx(graph, buffer="20 packets", duration="2 s").expanded()
    assert {link["rate"] for link in again["links"].values()} == {"10 Mbps", "1 Mbps"}
    # The file can be read as a topology.
    networkx.write_graphml(graph, tmp_path / "net.graphml")
    shape = {"graphml": str(tmp_path / "net.graphml"), "rate_attribute": "rate", "queue": {"buffer": "20 packets"}}
    flows = {"web": {"from": "left", "to": "right", "tcp": {"preset": "sack"}}}
    read = tb.Scenario({"duration": "2 s", "topology": {"graph": shape}, "flows": flows}).expanded()
    assert {(link["from"], link["rate"], link["delay"]) for link in read["links"].values()} == {
        ("left", "10 Mbps", "10 ms"),
        ("right", "1 Mbps", "10 ms"),
    }


def test_hosts_stay_hosts_in_a_graphml_file(tmp_path: Path) -> None:
    networkx = pytest.importorskip("networkx")
    shape = {"rate": "1 Gbps", "delay": "1 us", "queue": {"buffer": "9 packets"}}
    flows = {"web": {"from": "host0", "to": "host3", "tcp": {"preset": "sack"}}}
    scenario = tb.Scenario(
        {"duration": "1 ms", "topology": {"leaf_spine": {"leaves": 2, "spines": 2, "hosts": 2} | shape}, "flows": flows}
    )
    networkx.write_graphml(scenario.to_networkx(), tmp_path / "net.graphml")
    graph = {"graphml": str(tmp_path / "net.graphml"), "rate_attribute": "rate", "hosts": ["host1"], "queue": shape["queue"]}
    read = tb.Scenario({"duration": "1 ms", "topology": {"graph": graph}, "flows": flows})
    assert read.expanded()["nodes"] == scenario.expanded()["nodes"]


def test_a_flow_table_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "flows.csv").write_text("source,sink,size_bytes,start_us\nhost0,host9,20000,0\nhost3,host9,1000000,5\n")
    text = (
        'duration = "20 ms"\n[topology]\nfat_tree = {k = 4, rate = "10 Gbps", delay = "1 us", queue = {buffer = "50 packets"}}\n'
    )
    text += '[flows.web]\ntraffic = {table = "flows.csv"}\ntcp = {preset = "newreno"}\n'
    (tmp_path / "scenario.toml").write_text(text)
    scenario = tb.load(tmp_path / "scenario.toml")
    (tmp_path / "flows.csv").unlink()
    flows = tb.simulate(scenario.with_({"seed": 2})).flows
    assert flows.to_dict()["size_bytes"] == [20_000, 1_000_000]
    assert flows["start_s"] == pytest.approx([0, 5e-6])


def test_a_flow_table_in_parquet_is_that_in_lists(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {"source": ["host0", "host3"], "sink": ["host9", "host8"], "size_bytes": [20_000, 30_000], "start_s": [0.0, 1e-3]}
    file = tmp_path / "flows.parquet"
    parquet.write_table(pyarrow.table({**columns, "note": ["a", "b"]}), file)
    read, given = listed(str(file)), listed(columns)
    assert read.normalised() == given.normalised()
    assert tb.simulate(read).flows.to_dict() == tb.simulate(given).flows.to_dict()
    # Units in the names of columns that lists do not have.
    in_units = {"source": columns["source"], "sink": columns["sink"], "size_kB": [20, 30], "start_us": [0, 1000]}
    parquet.write_table(pyarrow.table(in_units), file)
    assert tb.simulate(listed(str(file))).flows.to_dict() == tb.simulate(given).flows.to_dict()
    for integers, floats in (("int32", "float32"), ("uint32", "float64"), ("int16", "float32")):
        numbers = {"size_kB": pyarrow.array([20, 30], integers), "start_ms": pyarrow.array([0, 1], floats)}
        parquet.write_table(pyarrow.table({"source": columns["source"], "sink": columns["sink"], **numbers}), file)
        assert tb.simulate(listed(str(file))).flows.to_dict() == tb.simulate(given).flows.to_dict()
    parquet.write_table(pyarrow.table({**columns, "start_ms": [0, 1]}), file)
    with pytest.raises(tb.ScenarioError, match="is given twice"):
        listed(str(file))
    parquet.write_table(pyarrow.table({"source": ["host0"]}), file)
    with pytest.raises(tb.ScenarioError, match="has no column `sink`"):
        listed(str(file))
    with pytest.raises(tb.ScenarioError, match=r"cannot be read"):
        listed(str(tmp_path / "nowhere.parquet"))
    parquet.write_table(pyarrow.table(columns), file, compression="zstd")
    with pytest.raises(
        tb.ScenarioError, match=r"compressed with ZSTD, which is not supported: write it uncompressed or with SNAPPY"
    ):
        listed(str(file))


def test_unused_columns_of_a_parquet_file_may_have_any_type(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {"source": ["host0", "host3"], "sink": ["host9", "host8"], "size_bytes": [20_000, 30_000]}
    file = tmp_path / "flows.parquet"
    times = pyarrow.array([0, 1], pyarrow.timestamp("us"))
    others = {"is_new": [True, False], "seen": times, "tags": [["a"], []], "where": [{"rack": 1}, {"rack": 2}]}
    # Compression of unused columns does not matter either.
    packed = dict.fromkeys(columns, "SNAPPY") | {"is_new": "ZSTD"}
    table = pyarrow.table({**others, **columns})
    parquet.write_table(table.select(["is_new", *columns]), file, compression=packed)
    assert listed(str(file)).normalised() == listed(columns).normalised()
    parquet.write_table(table, file)
    assert listed(str(file)).normalised() == listed(columns).normalised()
    parquet.write_table(pyarrow.table({**columns, "start_time": times}), file)
    with pytest.raises(tb.ScenarioError, match=r"its column `start_time` has type Timestamp\(.*\), which is not supported"):
        listed(str(file))
    twice = pyarrow.Table.from_arrays([*map(pyarrow.array, columns.values()), columns["sink"]], [*columns, "sink"])
    parquet.write_table(twice, file)
    with pytest.raises(tb.ScenarioError, match="has several columns `sink`"):
        listed(str(file))


def test_faults_of_a_scenario_with_a_parquet_file_have_their_lines(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {"source": ["host0", "host3"], "sink": ["host9", "nowhere"], "size_bytes": [20_000, 30_000]}
    parquet.write_table(pyarrow.table(columns), tmp_path / "flows.parquet")
    text = (
        'duration = "20 ms"\n[topology.fat_tree]\nk = 5\nrate = "1 Gbps"\ndelay = "1 us"\nqueue = {buffer = "9 packets"}\n'
        '[flows.web]\ntraffic = {table = "flows.parquet"}\ntcp = {preset = "newreno"}\n'
    )
    file = tmp_path / "scenario.toml"

    def places(written: str) -> list[tuple[str, int | None]]:
        file.write_text(written)
        with pytest.raises(tb.ScenarioError) as caught:
            tb.load(file)
        return [(problem.at, problem.line) for problem in caught.value.problems]

    assert places(text) == [("topology.fat_tree.k", 3)]
    assert places(text.replace("k = 5", "k = 4")) == [("flows.web.traffic.table.sink[1]", 8)]
    assert places(text.replace("flows.p", "none.p")) == [("flows.web.traffic.table", 8)]


@pytest.mark.parametrize("column", ["size", "size_bytes", "size_kB"])
def test_empty_transfers_in_a_parquet_file_are_reported_with_their_rows(column: str, tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    sizes: list[Any] = ["1 kB", "0 B", "0 kB"] if column == "size" else [1, 0, 0]
    columns = {"source": ["host0"] * 3, "sink": ["host1"] * 3, column: sizes}
    parquet.write_table(pyarrow.table(columns), tmp_path / "flows.parquet")
    with pytest.raises(tb.ScenarioError) as caught:
        listed(str(tmp_path / "flows.parquet"))
    at = "size_bytes" if column == "size_bytes" else "size"
    assert [problem.at for problem in caught.value.problems] == [f"flows.web.traffic.table.{at}[{row}]" for row in (1, 2)]


@pytest.mark.parametrize(
    ("columns", "at"),
    [
        ({"source": ["host0", None], "sink": ["host1", "host2"], "size_bytes": [1000, 2000]}, "source[1]"),
        ({"source": ["host0", "host1"], "sink": ["host2", "host3"], "size_bytes": [1000, None]}, "size_bytes[1]"),
        ({"source": ["host0", "host1"], "sink": ["host2", "host3"], "size": [None, "2 kB"]}, "size[0]"),
        ({"source": ["host0"] * 2, "sink": ["host1"] * 2, "size_bytes": [1000, 2000], "start_s": [None, 0.5]}, "start_s[0]"),
    ],
)
def test_a_missing_value_in_a_parquet_file_is_one_error(columns: Any, at: str, tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    file = tmp_path / "flows.parquet"
    parquet.write_table(pyarrow.table(columns), file)
    with pytest.raises(tb.ScenarioError, match="given    null") as caught:
        listed(str(file))
    assert f"flows.web.traffic.table.{at}" in str(caught.value)
    assert f"null in `{file}`" in str(caught.value)
    assert len(caught.value.problems) == 1


def test_a_graphml_file_is_read_once(tmp_path: Path) -> None:
    edges = '<node id="a"/><node id="b"/><edge source="a" target="b"/>'
    file = tmp_path / "two.graphml"
    file.write_text(f'<graphml><graph edgedefault="undirected">{edges}</graph></graphml>')
    shape = {"graphml": str(file), "rate": "1 Gbps", "delay": "1 ms", "queue": {"buffer": "9 packets"}}
    scenario = tb.Scenario({"duration": "1 s", "topology": {"graph": shape}, "flows": {"web": {"from": "a", "to": "b", **WEB}}})
    file.unlink()
    assert tb.simulate(scenario).groups["completed"][0] == 1


def test_edges_of_a_file_that_are_left_out_cause_one_warning(tmp_path: Path) -> None:
    file = tmp_path / "loop.gml"
    file.write_text("graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 ] edge [ source 1 target 1 ] ]")
    shape = {"gml": str(file), "rate": "1 Gbps", "delay": "1 ms", "queue": {"buffer": "9 packets"}}
    described = {"duration": "1 s", "topology": {"graph": shape}, "flows": {"web": {"from": "0", "to": "1", **WEB}}}
    with pytest.warns(tb.ScenarioWarning, match="edges from a node to itself, which are left out") as found:
        scenario = tb.Scenario(described)
    tb.simulate(scenario)
    assert len(found) == 1
    del shape["delay"]
    with pytest.raises(tb.ScenarioError, match="or `distance_attribute` or `delay_per_km` for a file with"):
        tb.Scenario({**described, "topology": {"graph": shape}}).check()


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"source": ["host0"], "sink": ["host1"], "size_bytes": [-5]}, "flows.web.traffic.table.size_bytes[0]"),
        ({"source": ["host0"], "sink": ["host1"], "size_bytes": [5], "size": ["5 B"]}, "is given twice"),
        ({"source": ["host0"], "sink": ["host1"], "size_bytes": [1000.5]}, "whole bytes, such as `1001 B`"),
        ({"source": ["host0"], "sink": ["host99"], "size_bytes": [5]}, "names an unknown node: `host99`"),
        ({"source": ["host0"], "size_bytes": [5]}, "`sink` is missing"),
    ],
)
def test_invalid_flow_lists_are_reported(table: Any, said: str) -> None:
    with pytest.raises(tb.ScenarioError) as caught:
        listed(table).check()
    assert said in str(caught.value)


def test_many_errors_are_counted(tmp_path: Path) -> None:
    file = tmp_path / "flows.csv"
    file.write_text("source,sink,size\n" + "host0,host1,-1 kB\n" * 100_000)
    with pytest.raises(tb.ScenarioError) as caught:
        listed(str(file))
    assert "99980 more lines have similar errors" in str(caught.value)
    assert str(caught.value).endswith("21 errors; nothing was run")


def test_a_billion_hosts_are_rejected_immediately(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "large.toml"
    text = (
        'duration = "1 s"\n[topology]\nfat_tree = {k = 1588, rate = "1 Gbps", delay = "1 us", queue = {buffer = "9 packets"}}\n'
    )
    file.write_text(text + '[flows.web]\ntraffic = {permutation = "host*"}\ntcp = {preset = "newreno"}\n')
    done = command("run", file)
    assert done.returncode == 2
    assert "1004284548 nodes and 3003397104 links" in done.stderr


def test_rates_of_generators_are_scaled() -> None:
    pairs: Any = {**web({"random_pairs": "host*"}), "count": 10}
    scenario = tb.leaf_spine(leaves=2, spines=2, hosts=2, **LINKS, host_rate="1 Gbps", flows={"web": pairs}, duration="1 s")
    large = scaled(scenario, 2)
    assert (large["topology.leaf_spine.host_rate"], large["flows.web.count"]) == ("2 Gbps", 20)
    with pytest.raises(tb.ParameterError, match="determine its number of flows"):
        scaled(tb.fat_tree(k=4, **LINKS, flows={"web": WEB}, duration="1 s"), 2)


def test_each_host_of_a_permutation_receives_from_one_other() -> None:
    run = tb.simulate(tb.fat_tree(k=4, **LINKS, flows={"web": WEB}, duration="20 ms"))
    queues = run.queues.to_dict()
    to_hosts = [
        sent
        for name, sent in zip(queues["queue"], queues["departed_units"], strict=True)
        if "-host" in name and "reverse" not in name
    ]
    # 14 packets of data, and acknowledgements of the host's own flow.
    assert len(to_hosts) == 16
    assert np.min(to_hosts) >= 14


def test_a_damaged_parquet_file_is_an_error(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    flows = tmp_path / "flows.parquet"
    columns = {"source": ["host0"] * 50, "sink": ["host1"] * 50, "size_bytes": list(range(1, 51))}
    parquet.write_table(pyarrow.table(columns), flows)
    whole, draws, refused = flows.read_bytes(), random.Random(1), 0
    for _ in range(1000):
        damaged = bytearray(whole)
        for _ in range(draws.randint(1, 4)):
            damaged[draws.randrange(len(damaged))] = draws.randrange(256)
        flows.write_bytes(damaged)
        try:
            _core.Table.read_parquet("flows", flows)
        except OSError:
            refused += 1
    assert 100 < refused < 1000


def test_delays_come_from_the_lengths_or_the_coordinates_of_a_gml_file(tmp_path: Path) -> None:
    # The layout of TopoHub: `dist` in kilometres, and `lon` and `lat` in degrees.
    node = 'node [ id {} label "{}" lon {} lat 0.0 ]'
    edge = "edge [ source 0 target 1 dist 1000.0 ]"
    file = tmp_path / "net.gml"
    file.write_text(f"graph [ directed 0 {node.format(0, 'A', 0.0)} {node.format(1, 'B', 90.0)} {edge} ]")

    def base_rtt(**graph: str) -> float:
        shape = {"gml": str(file), "rate": "1 Gbps", "queue": {"buffer": "9 packets"}, **graph}
        flow = {"from": "0", "to": "1", "size": "5 kB", "tcp": {"preset": "sack"}}
        run = tb.simulate({"duration": "1 s", "topology": {"graph": shape}, "flows": {"a": flow}})
        return float(run.flows["base_rtt_s"][0])

    # 4.9 us/km over 1000 km, or over a quarter of the Earth's circumference, in both directions; serialisation takes 12 us.
    assert base_rtt(distance_attribute="dist") == pytest.approx(9.8e-3, rel=2e-3)
    assert base_rtt(distance_attribute="dist", delay_per_km="10 us") == pytest.approx(20e-3, rel=2e-3)
    assert base_rtt(delay_per_km="4.9 us") == pytest.approx(2 * 10_007.6 * 4.9e-6, rel=2e-3)
    with pytest.raises(tb.ScenarioError, match="no edge has `distance`") as error:
        base_rtt(distance_attribute="distance")
    assert "`dist`" in str(error.value)
    file.write_text(file.read_text().replace("dist 1000.0", 'dist "far"'))
    with pytest.raises(tb.ScenarioError, match="the length is not a distance"):
        base_rtt(distance_attribute="dist")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("<graphml " + "".join(f'a{number}="" ' for number in range(400_000)) + "/>", "a tag has more than 100 attributes"),
        ("".join(f'<a xmlns:n{number}="u">' for number in range(200_000)), "more than 64 namespaces are in scope"),
        ("<a>" * 1_600_000, "elements are nested more than 256 deep"),
    ],
    ids=["attributes", "namespaces", "depth"],
)
def test_a_graphml_file_that_would_take_the_parser_minutes_is_refused(content: str, says: str, tmp_path: Path) -> None:
    file = tmp_path / "slow.graphml"
    file.write_text(content)
    shape = {"graphml": str(file), "rate": "1 Gbps", "delay": "1 ms", "queue": {"buffer": "9 packets"}}
    began = time.monotonic()
    with pytest.raises(tb.ScenarioError, match=says):
        tb.Scenario({"duration": "1 s", "topology": {"graph": shape}, "flows": {"a": {"from": "a", "to": "b"}}})
    assert time.monotonic() - began < 5


def test_a_switch_marks_at_a_threshold_in_bytes() -> None:
    queue: Any = {"policy": "threshold", "threshold": "30 kB", "buffer": "1 MB"}
    flow: Any = {"from": "left", "to": "right", "tcp": {"preset": "linux/dctcp"}}
    run = tb.simulate(
        tb.dumbbell(rate="10 Gbps", delay="50 us", queue=queue, duration="50 ms", flows={"a": flow}, traces=["queue"])
    )
    assert run.queues["utilisation"][0] > 0.9
    assert run.flows["marked_packets"][0] > 0
    # Twenty packets, and the reaction takes one round trip.
    assert 20 <= run.queues["max_queue_units"][0] < 200
