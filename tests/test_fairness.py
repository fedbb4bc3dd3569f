"""Comparison of a run with fair shares: numbers worked by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tailback as tb
from tailback._run.fairness import fairness_of

NEWRENO: Any = {"tcp": {"preset": "newreno"}}
# Payload divided by packet size in the presets: 1460 of 1500 bytes.
SHARE = 1460 / 1500


def lot(flows: dict[str, Any], **rest: Any) -> tb.Scenario:
    """Two links of 10 Mbit/s in a row; measured from 2 s to 6 s."""
    settings: dict[str, Any] = {"duration": "6 s", "warmup": "2 s", **rest}
    return tb.parking_lot(hops=2, rate="10 Mbps", delay="5 ms", buffer="30 packets", flows=flows, **settings)


THREE = {"long": NEWRENO, "first": {"to": "n1", **NEWRENO}, "second": {"from": "n1", **NEWRENO}}


def optimum(goodputs: dict[str, float], weights: dict[str, float] | None = None, **rest: Any) -> tb.Fairness:
    """The fairness of a parking lot with three flows and these goodputs."""
    flows = tb.Table._of(
        "flows",
        {
            "group": list(goodputs),
            "flow": [0] * len(goodputs),
            # Within 4 s after the warm-up.
            "delivered_bytes": [goodput * 4 / 8 for goodput in goodputs.values()],
            "completion_time_s": [math.nan] * len(goodputs),
            "mean_rtt_s": [math.nan] * len(goodputs),
        },
    )
    return fairness_of(lot(THREE, **rest), 1, flows, 6.0, weights or {})


def test_distances_are_those_of_their_definitions() -> None:
    # Ideal shares: one half for each flow, or a third and two thirds.
    found = optimum({"long": 2.5e6 * SHARE, "first": 5e6 * SHARE, "second": 7.5e6 * SHARE})
    np.testing.assert_allclose(found.flows["max_min_bps"], [5e6 * SHARE] * 3)
    np.testing.assert_allclose(found.flows["proportional_bps"], np.array([1e7 / 3, 2e7 / 3, 2e7 / 3]) * SHARE)
    np.testing.assert_allclose(found.flows["of_max_min"], [0.5, 1.0, 1.5])
    assert found.max_min.distance == pytest.approx(math.sqrt((0.25 + 0 + 0.25) / 3))
    assert found.max_min.fairness == pytest.approx(9 / (3 * (0.25 + 1 + 2.25)))
    assert found.utility_gap == pytest.approx(-np.log([0.75, 0.75, 1.125]).mean())
    assert found.links.to_dict()["queue"] == ["hop1", "hop2"]
    np.testing.assert_allclose(found.links["price_per_bps"], [1.5e-7, 1.5e-7])
    assert found.links["others_bps"].tolist() == [0.0, 0.0]
    assert found.notes == ()


def test_at_the_optimum_the_distance_is_zero() -> None:
    third = 1e7 / 3 * SHARE
    found = optimum({"long": third, "first": 2 * third, "second": 2 * third}).proportional
    assert found.distance == pytest.approx(0, abs=1e-6)
    assert found.fairness == pytest.approx(1)


def test_a_group_may_have_a_weight() -> None:
    # 2 / x = 1 / (10 - x) + 1 / (10 - x).
    found = optimum(dict.fromkeys(THREE, 5e6 * SHARE), {"long": 2})
    np.testing.assert_allclose(found.flows["proportional_bps"], [5e6 * SHARE] * 3)
    np.testing.assert_allclose(found.flows["max_min_bps"], np.array([2e7, 1e7, 1e7]) / 3 * SHARE)


def test_a_flow_without_goodput_has_an_infinite_utility_gap() -> None:
    found = optimum({"long": 0.0, "first": 1e6, "second": 1e6})
    assert found.utility_gap == math.inf
    assert found.max_min.distance < 1


def test_rates_are_those_at_the_end_of_the_warm_up() -> None:
    found = optimum(dict.fromkeys(THREE, 1e6), timeline=[{"at": "2 s", "link": "hop1", "rate": "4 Mbps"}])
    np.testing.assert_allclose(found.flows["max_min_bps"], np.array([2e6, 2e6, 8e6]) * SHARE)


@pytest.mark.parametrize(
    ("event", "text"),
    [
        ({"link": "hop1", "rate": "4 Mbps"}, "the rate of `hop1` changes at 3 s, in the measurement interval"),
        ({"group": "long", "route": ["hop1", "hop2"]}, "the route of `long` changes at 3 s, in the measurement interval"),
    ],
)
def test_changes_during_the_measurement_have_no_single_optimum(event: dict[str, Any], text: str) -> None:
    with pytest.raises(tb.ParameterError, match=text):
        optimum(dict.fromkeys(THREE, 1e6), timeline=[{"at": "3 s", **event}])


TABLE = {"at": ["0 s", "1 s", "7 s"], "rate": ["5 Mbps", "10 Mbps", "20 Mbps"]}


def test_failures_and_tables_of_rates_have_an_optimum_only_without_a_change() -> None:
    link: Any = {"from": "a", "to": "b", "rate": {"table": TABLE}, "delay": "5 ms", "queue": {"buffer": "30 packets"}}
    flows = {"long": {"from": "a", "to": "b", **NEWRENO}}
    plain = {"duration": "6 s", "warmup": "2 s", "nodes": {"a": {}, "b": {}}, "links": {"link": link}, "flows": flows}
    scenario = tb.Scenario(plain)
    assert tb.simulate(scenario).fairness().flows["max_min_bps"] == pytest.approx(10e6 * SHARE)
    for changes, text in (
        ({"duration": "8 s"}, "the rate of `link` changes at 7 s, in the measurement interval"),
        ({"warmup": "0.5 s"}, "the rate of `link` changes at 1 s, in the measurement interval"),
        ({"timeline": [{"at": "3 s", "link": "link", "down": True}]}, "the state of `link` changes at 3 s"),
    ):
        with pytest.raises(tb.ParameterError, match=text):
            tb.simulate(scenario.with_(changes)).fairness()


def test_changes_of_other_links_do_not_matter() -> None:
    optimum(dict.fromkeys(THREE, 1e6), timeline=[{"at": "3 s", "link": "hop1.reverse", "rate": "9 Mbps"}])


def test_traffic_that_is_not_greedy_reduces_the_capacity_and_is_named() -> None:
    flows = {
        **THREE,
        "voice": {"from": "n1", "source": {"kind": "constant", "rate": "2 Mbps", "packet_size": "1000 B", "header": "28 B"}},
        "page": {"size": "20 kB", "start": "3 s", **NEWRENO},
        "early": {"stop": "5 s", **NEWRENO},
        "late": {"start": "4 s", **NEWRENO},
        "typing": {"application": {"kind": "constant", "rate": "100 kbps"}, **NEWRENO},
        "gone": {"size": "3 kB", **NEWRENO},
        "huge": {"size": "1 GB", **NEWRENO},
    }
    run = tb.simulate(lot(flows))
    found = run.fairness(compare_red=False)
    assert sorted(found.flows.to_dict()["group"]) == ["first", "huge", "long", "second"]
    (note,) = found.notes
    for text in (
        "`voice` sends datagrams",
        "`page` completes its transfer",
        "`early` stops before the end",
        "`typing` is limited by an",
    ):
        assert text in note
    assert "`late` starts after the warm-up" in note
    assert "gone" not in note
    # Over the measurement interval of 4 s, not the lifetime of a flow.
    delivered = dict(zip(run.flows.to_dict()["group"], run.flows.to_dict()["delivered_bytes"], strict=True))
    goodput = {name: size * 8 / 4 for name, size in delivered.items()}
    others = dict(zip(found.links.to_dict()["queue"], found.links.to_dict()["others_bps"], strict=True))
    over_both = sum(goodput[name] for name in ("page", "early", "late", "typing")) / SHARE
    assert others["hop1"] == pytest.approx(over_both)
    assert others["hop2"] == pytest.approx(over_both + goodput["voice"] * 1028 / 1000)


def test_access_links_limit_flows() -> None:
    slow = {"sender_access": {"rate": "2 Mbps"}, **NEWRENO}
    found = tb.simulate(lot({"slow": {"count": 2, **slow}, "fast": NEWRENO})).fairness()
    ideal = dict(zip(found.flows.to_dict()["group"], found.flows.to_dict()["max_min_bps"], strict=True))
    assert ideal == {"slow": pytest.approx(2e6 * SHARE), "fast": pytest.approx(6e6 * SHARE)}
    # Jain's index of the ratios of goodput and fair share.
    assert found.max_min.fairness > 0.9


def test_cells_carry_their_own_headers() -> None:
    # 1500 bytes and a trailer of 8 bytes are 32 cells.
    flows: dict[str, Any] = {"web": {"from": "left", "to": "right", "framing": {}, **NEWRENO}}
    run = tb.simulate(tb.dumbbell(rate="10 Mbps", delay="5 ms", buffer="900 cells", flows=flows, duration="2 s"))
    assert run.fairness().flows["max_min_bps"][0] == pytest.approx(1e7 * 1460 / (32 * 53))


def test_controllers_limit_flows() -> None:
    fast: Any = {"tcp": {"preset": "sack", "controller": {"kind": "rcp", "max_rate": "1 Gbps"}}}
    slow: Any = {"tcp": {"preset": "sack", "controller": {"kind": "rcp", "max_rate": "2 Mbps"}}}
    run = tb.simulate(
        tb.dumbbell(
            rate="10 Mbps",
            delay="10 ms",
            queue={"policy": "rcp", "buffer": "200 packets"},
            flows={"fast": fast, "slow": slow},
            duration="20 s",
            warmup="10 s",
        )
    )
    np.testing.assert_allclose(run.fairness().flows["max_min_bps"], np.array([8e6, 2e6]) * SHARE)
    assert run.fairness().max_min.distance < 0.05


def test_limits_outside_the_optimum_are_noted() -> None:
    narrow: Any = {"tcp": {"preset": "sack", "receiver_window": 4}}
    run = tb.simulate(
        lot(
            {"narrow": narrow, "web": NEWRENO, "udp": {"source": {"kind": "constant", "rate": "1 Mbps", "packet_size": "1000 B"}}}
        )
    )
    notes = run.fairness({"udp": 2}).notes
    assert any("the weight of `udp` has no effect" in note for note in notes)
    assert any("the receiver's window limits flows of `narrow`" in note for note in notes)
    assert not any("flows of `web`" in note for note in notes)


def test_runs_without_an_optimum_are_rejected() -> None:
    with pytest.raises(
        tb.ParameterError, match="no flow sends greedily over the whole measurement interval: `web` starts after the"
    ):
        tb.simulate(lot({"web": {"start": "3 s", **NEWRENO}})).fairness()
    full = {"kind": "constant", "rate": "12 Mbps", "packet_size": "1000 B"}
    with pytest.raises(
        tb.ParameterError, match=r"other flows use .* Mbps of the 10 Mbps of `hop1`: no capacity remains to share"
    ):
        tb.simulate(lot({"flood": {"source": full}, "web": {"start": "1 s", **NEWRENO}})).fairness()
    run = tb.simulate(lot(THREE))
    with pytest.raises(tb.UnknownName, match="no flow group `lng`"):
        run.fairness({"lng": 2})
    with pytest.raises(tb.ParameterError, match="the weight of `long` is 0; expected a number from 1e-06 to 1e\\+06"):
        run.fairness({"long": 0})
    with pytest.raises(tb.ParameterError, match=r"weights of flow groups are \[1\]; expected a mapping"):
        run.fairness([1])  # type: ignore[arg-type]
    with pytest.raises(tb.ParameterError, match="the flows of this run are not the flows of its scenario"):
        optimum({"long": 1e6})


def test_the_text_has_flows_and_sums() -> None:
    found = optimum({"long": 2.5e6 * SHARE, "first": 5e6 * SHARE, "second": 7.5e6 * SHARE})
    sums, flows = str(found).split("\n\n")
    assert sums.splitlines()[1].split() == ["max-min", "fair", "40.8", "%", "0.8571"]
    assert flows.splitlines()[1].split() == ["long", "0", "2.433", "Mbps", "4.867", "Mbps", "0.5", "3.244", "Mbps", "0.75"]
    assert repr(found).startswith("<Fairness of 3 flows: distance 0.408 from max-min, ")
    assert found.to_dict()["max_min"] == {"distance": found.max_min.distance, "fairness": found.max_min.fairness}


def at_drop_tail(short: str, long: str) -> tb.Scenario:
    flows: dict[str, Any] = {
        name: {"count": 4, "propagation_rtt": rtt, "start": {"uniform": ["0 s", "1 s"]}, "tcp": {"preset": "linux/cubic"}}
        for name, rtt in (("short", short), ("long", long))
    }
    return tb.dumbbell(rate="10 Mbps", delay="5 ms", buffer="20 packets", duration="15 s", warmup="5 s", flows=flows)


def test_shares_that_a_drop_tail_queue_decides_are_noted() -> None:
    """docs/howto/round_trips.md; Linux over the same emulated link had 1.76 and 7.90 Mbit/s for 40 and 42 ms."""
    run = tb.simulate(at_drop_tail("40 ms", "42 ms"))
    [note] = run.fairness().notes
    assert note.startswith("with RED at `bottleneck`, `short` gets ")
    assert "`long` gets " in note
    assert note in str(run.fairness())
    assert run.fairness(compare_red=False).notes == ()


@pytest.mark.parametrize("queue", [{"buffer": "50 %", "bdp_rtt": "48 ms"}, {"buffer": "30 kB"}, {"buffer": "24 ms"}])
def test_red_replaces_a_buffer_in_every_unit(queue: dict[str, str]) -> None:
    run = tb.simulate(at_drop_tail("40 ms", "42 ms").with_({"topology.dumbbell.queue": queue}))
    [note] = run.fairness().notes
    assert note.startswith("with RED at `bottleneck`, ")


@pytest.mark.parametrize(
    "scenario",
    [
        at_drop_tail("40 ms", "40 ms"),
        at_drop_tail("40 ms", "42 ms").with_({"topology.dumbbell.queue": {"buffer": "100 packets", "policy": "codel"}}),
    ],
)
def test_shares_that_do_not_depend_on_drop_tail_have_no_note(scenario: tb.Scenario) -> None:
    assert tb.simulate(scenario).fairness().notes == ()
