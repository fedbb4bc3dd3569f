"""The tested controllers and queue policies: all that the core accepts on a plain tb.dumbbell."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import tailback as tb
from tailback.errors import ScenarioError, ScenarioWarning

__all__ = ["MSS", "PACKET", "controllers", "forms", "given", "queues", "sender"]

# Bytes of payload, and on the wire.
MSS = 1000
PACKET = 1040

# Its window is constant.
NO_COMPETITORS = ("fixed",)

# Required settings, with their source, for 10 Mbit/s, 100 ms and a buffer of 500 packets.
GIVEN: dict[str, dict[str, Any]] = {
    # Floyd and Jacobson, 1993, section 5.
    "red": {"min_threshold": "5 packets", "max_threshold": "15 packets"},
    # Near the targets of CoDel and PIE: 16 ms. The document (Athuraliya and others, 2001) leaves it to the operator.
    "rem": {"target": "20 packets"},
    # A seventh of the bandwidth-delay product (Alizadeh and others, SIGCOMM 2010, equation (13)).
    "threshold": {"threshold": "17 packets"},
    # K_min and K_max of Zhu and others, SIGCOMM 2015, section 5: 5 and 200 kB.
    "ramp": {"min_threshold": "5 packets", "max_threshold": "200 packets"},
    # Our choice: a twentieth below the link, and half of the bandwidth-delay product.
    "policer": {"rate": "9.5 Mbps", "burst": "60 kB"},
}


def sender(controller: str, **rest: Any) -> dict[str, Any]:
    """A sender in scenario form."""
    return {
        "preset": "sack",
        "controller": controller,
        "mss": f"{MSS} B",
        "initial_window": 10,
        "delayed_ack": False,
        "timestamps": True,
        **rest,
    }


def is_accepted(scenario: tb.Scenario) -> bool:
    """Whether a scenario is valid, with no warning but those of default settings of a controller, and of a queue that discards
    where it could mark."""
    try:
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always", ScenarioWarning)
            scenario.check()
    except ScenarioError:
        return False
    places = [each.message.problem.at for each in seen if isinstance(each.message, ScenarioWarning)]
    return all(".tcp.controller." in place or place.endswith(".queue") for place in places)


@cache
def forms(definition: str, tag: str) -> dict[str, dict[str, Any]]:
    """Names of the members of a family, in the schema's order."""
    every = [form for form in tb.schema()["$defs"][definition]["oneOf"] if "const" in form["properties"][tag]]
    return {form["properties"][tag]["const"]: form for form in every}


@cache
def controllers() -> tuple[str, ...]:
    """Controllers that need neither prices nor marks."""

    def tried(name: str) -> tb.Scenario:
        flows: Any = {"tcp": {"propagation_rtt": "40 ms", "tcp": sender(name)}}
        return tb.dumbbell(rate="20 Mbps", delay="5 ms", buffer="100 packets", flows=flows, duration="10 s")

    return tuple(name for name in forms("ControllerTable", "kind") if name not in NO_COMPETITORS and is_accepted(tried(name)))


@cache
def queues() -> dict[str, dict[str, Any]]:
    """Policies over packets, by name, with CoDel and PIE with per-flow queues, and DualPI2."""

    def tried(name: str) -> dict[str, Any]:
        return {"policy": name, "buffer": "500 packets", **GIVEN.get(name, {})}

    def accepts_reno(queue: Any) -> bool:
        flows: Any = {"tcp": {"propagation_rtt": "100 ms", "tcp": sender("reno")}}
        return is_accepted(tb.dumbbell(rate="10 Mbps", delay="5 ms", queue=queue, flows=flows, duration="10 s"))

    alone = {name: tried(name) for name in forms("Queue", "policy") if accepts_reno(tried(name))}
    fair = {
        f"fq_{policy}": {"policy": policy, "buffer": "500 packets", "scheduler": {"kind": "flow_queue", "queues": 1024}}
        for policy in ("codel", "pie")
    }
    return {**alone, **fair, "dualpi2": {"scheduler": "dualpi2", "buffer": "500 packets"}}


def given() -> str:
    """The required settings of members, in one line."""
    texts = [f"{name}: " + ", ".join(f"{key} {value}" for key, value in settings.items()) for name, settings in GIVEN.items()]
    return "; ".join(texts)
