"""The network in the form of models: names of the scenario, and the base RTTs of a run."""

from __future__ import annotations

from typing import Any

import pytest

import tailback as tb
from support import ROOT
from tailback.prediction._network import DatagramGroup, Network, TcpGroup


def between(link: dict[str, Any], flow: dict[str, Any]) -> tb.Scenario:
    """One link from a to b, with one group of flows."""
    link = {"from": "a", "to": "b", "rate": "10 Mbps", "delay": "1 ms", "queue": {"buffer": "9 packets"}, **link}
    return tb.Scenario(
        {
            "duration": "1 s",
            "nodes": {"a": {}, "b": {}},
            "links": {"ab": link},
            "flows": {"all": {"from": "a", "to": "b", **flow}},
        }
    )


@pytest.mark.parametrize("policy", ["drop_tail", "codel", "pie"])
def test_a_policy_has_the_name_of_the_scenario(policy: str) -> None:
    network = Network(between({"queue": {"policy": policy, "buffer": "9 packets"}}, {"tcp": {"preset": "sack"}}))
    port = network.port("ab")
    assert (port.policy, port.buffer, port.unit) == (policy, 9, "packets")


@pytest.mark.parametrize("kind", ["reno", "cubic", "vegas", "fast", "fixed"])
def test_a_controller_has_the_name_of_the_scenario(kind: str) -> None:
    network = Network(between({}, {"tcp": {"preset": "newreno", "controller": kind, "initial_window": 7, "receiver_window": 9}}))
    [group] = network.groups
    assert isinstance(group, TcpGroup)
    assert (group.tcp.controller, group.tcp.recovery) == (kind, "newreno")
    assert group.tcp.final_window == {"reno": 9, "cubic": 9, "fixed": 7}.get(kind)


@pytest.mark.parametrize(
    ("source", "packets_per_s"),
    [
        ({"kind": "constant", "rate": "8 Mbps"}, 1000),
        ({"kind": "poisson", "rate": "8 Mbps"}, 1000),
        ({"kind": "on_off", "rate": "8 Mbps", "mean_on": "1 s", "mean_off": "3 s"}, 250),
        # A millisecond to send a packet, and three to wait.
        ({"kind": "alternating", "rate": "8 Mbps", "mean_idle": "3 ms"}, 250),
    ],
)
def test_a_source_has_the_name_of_the_scenario(source: dict[str, Any], packets_per_s: float) -> None:
    [group] = Network(between({}, {"source": {**source, "packet_size": "960 B", "header": "40 B"}})).groups
    assert isinstance(group, DatagramGroup)
    assert (group.source.kind, group.source.size, group.source.packet_bytes, group.source.header) == (
        source["kind"],
        "fixed",
        960,
        40,
    )
    assert group.source.packets_per_s == pytest.approx(packets_per_s)
    assert group.alternates == (source["kind"] == "alternating")


@pytest.mark.parametrize("example", ["atm", "background", "chain", "parking_lot", "two_rtts"])
def test_base_round_trips_are_those_of_a_run(example: str) -> None:
    scenario = tb.load(ROOT / "examples" / f"{example}.toml")
    run = tb.simulate(scenario.with_({"duration": "2 s", "warmup": "0 s"}), seed=9)
    flows = Network(scenario, seed=9).flows
    assert {column: run.flows[column].tolist() for column in flows} == flows
