"""Predictions of trunks compared with simulations, and each assumption that may fail."""

from __future__ import annotations

import math
from typing import Any

import pytest

import tailback as tb
from support import ROOT
from tailback.models import LossModel

TRUNK = tb.load(ROOT / "examples" / "trunk.toml")
SOURCE = TRUNK.to_dict()["flows"]["input"]["source"]


def changed(changes: dict[str, Any]) -> tb.Scenario:
    """The example with other settings; None removes one."""
    description = TRUNK.to_dict()
    for path, value in changes.items():
        *tables, key = path.split(".")
        table = description
        for name in tables:
            table = table.setdefault(name, {})
        if value is None:
            del table[key]
        else:
            table[key] = value
    return tb.Scenario(description)


def fed(transmitters: int, **link: Any) -> dict[str, Any]:
    """Inputs that arrive over a link with this many wavelengths, and continue over a third link."""
    description = TRUNK.to_dict()
    group = description["flows"]["input"] | {"from": "edge", "to": "end"}
    del group["sender_access"]
    feeder = {"from": "edge", "to": "switch", "rate": "10 Gbps", "delay": "1 ms", "queue": {"buffer": "unlimited"}}
    onward = {"from": "far", "to": "end", "rate": "20 Gbps", "delay": "1 ms", "queue": {"buffer": "unlimited"}}
    return {
        "nodes": {"edge": {}, "switch": {}, "far": {}, "end": {"kind": "host"}},
        "links.feeder": feeder | {"transmitters": transmitters} | link,
        "links.onward": onward,
        "links.trunk.queue.buffer": "0 packets",
        "flows.input": group,
    }


def second(**changes: Any) -> dict[str, Any]:
    """Half of the inputs, while the other half differs."""
    group = TRUNK.to_dict()["flows"]["input"] | {"count": 8}
    return {"flows": {"input": group, "other": group | changes}}


# Inputs, transmitters, buffer, mean idle time, the model with the smallest error on the map, and the length of a run.
MAPPED: list[tuple[int, int, int, str, LossModel, str]] = [
    (16, 2, 5, "10.8 us", "ebl", "620 ms"),
    (16, 2, 1, "9 us", "ebl", "620 ms"),
    # No model is within 5 % at all surrounding points; the error of G1DM changes from -29 % to +46 %.
    (6, 4, 3, "0.72 us", "ebl", "620 ms"),
    # A load of 1.2 with a large buffer: the loss is the excess load, as in EBD. A sixth of the packets is lost.
    (32, 16, 50, "0.8 us", "ebd", "120 ms"),
]


@pytest.mark.filterwarnings("ignore::tailback.PredictionWarning")
@pytest.mark.parametrize(("inputs", "transmitters", "buffer", "idle", "model", "duration"), MAPPED)
def test_the_error_of_the_loss_agrees_with_the_map(
    inputs: int, transmitters: int, buffer: int, idle: str, model: LossModel, duration: str
) -> None:
    scenario = changed(
        {
            "duration": duration,
            "flows.input.count": inputs,
            "flows.input.source": SOURCE | {"mean_idle": idle},
            "links.trunk.transmitters": transmitters,
            "links.trunk.queue": {"buffer": f"{buffer} packets"},
        }
    )
    prediction, run = tb.predict(scenario), tb.simulate(scenario)
    load = inputs / transmitters * 1.2 / (1.2 + float(idle.removesuffix(" us")))
    off = tb.models.trunk_accuracy(inputs=inputs, transmitters=transmitters, buffer=buffer, load=load, model=model)
    [applied] = prediction.models
    assert (applied.model, applied.at) == (model.upper(), ("links.trunk", "flows.input"))
    assert [bool(applied.simplifies), bool(applied.warnings)] == [off.within(1.05), not off.within(1.05)]
    assert str(off) in (*applied.simplifies, *applied.warnings)[0]
    # Thousands of packets are lost, in groups: the standard error of their share is about 1 %.
    ratio = prediction.queues["loss_rate"][0] / run.queues["loss_rate"][0]
    assert abs(math.log(ratio / off.ratio)) < 0.03
    for row in prediction.compare(run):
        if row.quantity in ("utilisation", "goodput_bps"):
            assert abs(row.distance) < 0.003 + abs(off.ratio - 1) * run.queues["loss_rate"][0], row


CHAIN = "exact chain of the detailed model of a trunk"
EXACT: dict[str, tuple[dict[str, Any], str]] = {
    "no places": ({"links.trunk.queue.buffer": "0 packets"}, CHAIN),
    "as many places as transmitters, which hold them": (
        {"links.trunk.queue": {"buffer": "2 packets", "counts_in_service": True}},
        CHAIN,
    ),
    "groups of alike inputs": (
        second() | {"links.trunk.queue": {"buffer": "0 packets"}},
        CHAIN,
    ),
    "random loss behind the trunk": (
        {"links.trunk.queue.buffer": "0 packets", "links.trunk.loss": {"probability": "10 %"}},
        CHAIN,
    ),
    "packets that come at once": (
        {
            "links.trunk.queue.buffer": "0 packets",
            "links.trunk.switching": "store_and_forward",
            "flows.input.sender_access": None,
        },
        CHAIN,
    ),
    "as many transmitters as inputs": ({"links.trunk.transmitters": 16}, "one transmitter per input"),
    "room for everything": ({"links.trunk.queue.buffer": "unlimited"}, "unlimited buffer"),
}


@pytest.mark.parametrize("case", EXACT)
def test_exact_predictions_agree_with_simulations(case: str) -> None:
    changes, name = EXACT[case]
    scenario = changed({"duration": "620 ms"} | changes)
    prediction = tb.predict(scenario)
    assert [model.model for model in prediction.models] == [name]
    assert not prediction.not_modelled
    rows = prediction.compare(tb.simulate(scenario))
    assert {row.quantity for row in rows} >= {"utilisation", "loss_rate", "goodput_bps"}
    for row in rows:
        # Relative to the measurement, except for shares: some half a million packets.
        assert abs(row.distance) <= 0.003, row


@pytest.mark.filterwarnings("ignore::tailback.PredictionWarning")
def test_outside_the_map_the_error_is_unknown() -> None:
    [model] = tb.predict(changed({"links.trunk.queue.buffer": "200 packets"})).models
    assert model.model == "EBL"
    assert "B = 200, load 0.8: not mapped" in model.warnings[0]


def test_inputs_may_be_separate_links() -> None:
    scenario = changed({"duration": "620 ms"} | fed(16))
    prediction = tb.predict(scenario)
    assert [model.model for model in prediction.models] == ["one transmitter per input", CHAIN]
    # The third link has no loss.
    [part] = prediction.not_modelled
    assert part.at == "links.onward"
    rows = prediction.compare(tb.simulate(scenario))
    assert {row.of for row in rows} == {"feeder", "trunk", "input"}
    for row in rows:
        assert abs(row.distance) <= 0.003, row


@pytest.mark.parametrize("feeder", [fed(8), fed(16, loss={"probability": "1 %"}), fed(16, rate="20 Gbps")])
def test_links_that_change_the_process_of_arrivals_are_named(feeder: dict[str, Any]) -> None:
    prediction = tb.predict(changed(feeder))
    assert any(part.at == "links.trunk" and "the arrival process" in part.why for part in prediction.not_modelled)
    assert math.isnan(prediction.groups["goodput_bps"][0])


FIXED = SOURCE | {"packet_size": "1500 B"}
MISFITS: dict[str, tuple[dict[str, Any], str, str]] = {
    "heads do not decide": ({"links.trunk.switching": "store_and_forward"}, "links.trunk.switching", "store_and_forward"),
    "inputs are faster": (
        {"flows.input.source": SOURCE | {"rate": "20 Gbps"}, "flows.input.sender_access": {"rate": "20 Gbps"}},
        "flows.input.source.rate",
        "differs from the rate of a transmitter",
    ),
    "packets of one size": ({"flows.input.source": FIXED}, "flows.input.source.packet_size", "are not exponential"),
    "headers": ({"flows.input.source": SOURCE | {"header": "40 B"}}, "flows.input.source.packet_size", "including headers"),
    "other idle times": (second(source=SOURCE | {"mean_idle": "5 us"}), "links.trunk", "inputs of the model are equal"),
    "other packets": (
        second(source=SOURCE | {"packet_size": {"exponential": "500 B"}}),
        "links.trunk",
        "flows.input and flows.other differ",
    ),
    "a Poisson process beside them": (
        second(source={"kind": "poisson", "rate": "1 Gbps", "packet_size": {"exponential": "1500 B"}}),
        "flows.other",
        "not an alternating source",
    ),
    "jitter": ({"flows.input.jitter": "1 us"}, "flows.input", "jitter or processing"),
    "a policy": ({"links.trunk.queue": {"policy": "codel", "buffer": "5 packets"}}, "links.trunk.queue", "the policy is codel"),
    "bytes": ({"links.trunk.queue": {"buffer": "9 kB"}}, "links.trunk.queue.buffer", "the buffer is in bytes"),
    "listed losses": (
        {"links.trunk.loss": {"drops": [{"group": "input", "segment": 3}]}},
        "links.trunk.loss.drops",
        "listed packets",
    ),
    "an end": ({"flows.input.stop": "50 ms"}, "flows.input", "does not send during the whole run"),
    "overload with room for everything": (
        {"links.trunk.transmitters": 1, "links.trunk.queue.buffer": "unlimited"},
        "links.trunk",
        "a load of 1.6 with an unlimited buffer",
    ),
    "a change": (
        {"timeline": [{"at": "60 ms", "link": "trunk", "delay": "2 ms"}]},
        "timeline",
        "the timeline changes it during the run",
    ),
}


@pytest.mark.parametrize("case", MISFITS)
def test_an_assumption_that_fails_is_named_with_its_place(case: str) -> None:
    changes, at, why = MISFITS[case]
    prediction = tb.predict(changed(changes))
    assert not prediction.models
    [part] = prediction.not_modelled
    assert part.at == at
    assert why in part.why
    assert all(math.isnan(goodput) for goodput in prediction.groups["goodput_bps"])


def test_tcp_on_the_trunk_is_named() -> None:
    web = {"from": "switch", "to": "far", "sender_access": {"rate": "10 Gbps"}, "tcp": {"preset": "sack"}}
    prediction = tb.predict(changed({"flows.web": web}))
    assert not prediction.models
    assert any("datagrams (flows.input) share its links" in part.why for part in prediction.not_modelled)
