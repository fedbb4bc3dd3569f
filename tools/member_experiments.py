"""The experiments on the pages of members: one for controllers, one for queue policies with packets, and one with cells.

Each member is combined with the first partner that the core accepts. A new member therefore needs no entry here, unless it
requires a setting of a new type, or its defaults are unsuitable for these networks.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import tailback as tb
from tailback import _core
from tailback.errors import ScenarioError
from tailback_papers.standards.members import forms

# Values of settings without a default, by type and, where a type has several settings, by type and name.
GIVEN: dict[str, Any] = {
    "QueueLength": "20 %",
    "QueueLength min_threshold": "10 %",
    "QueueLength max_threshold": "30 %",
    "Threshold": "80 %",
    "Threshold lower_threshold": "40 %",
    "Threshold upper_threshold": "90 %",
    "Threshold congestion_threshold": "20 %",
    "DroppingThreshold": "12 cells",
    "integer": 25,
    "number": 1,
    "Duration": "20 ms",
    "Probability": 0.1,
    "Rate": "50 Mbps",
    "Rate rate": "45 Mbps",
    "Size": "1500 B",
    "Size burst": "100 kB",
}

# Settings of the queue for a controller where the default is for other senders: REM's default is for Reno.
BESIDE: dict[str, dict[str, Any]] = {"rem": {"gamma": 1.5e-5}}

# Settings of controllers with data centre defaults for a path of 40 ms. With their defaults they would mistake the delay of an
# acknowledgement for queueing delay.
FOR_THIS_PATH: dict[str, dict[str, Any]] = {
    "swift": {"base_target": "55 ms", "fs_range": "10 ms", "fs_max_cwnd": 1000},
    "timely": {
        "t_low": "50 ms",
        "t_high": "150 ms",
        "min_rtt": "40 ms",
        "additive_step": "100 kbps",
        "initial_rate": "10 Mbps",
        "max_outstanding": "2 MB",
    },
}

# Settings of flows in cells, for policies that give explicit feedback.
SERVICE = {"erica": 'abr = {buffer = "20 packets", icr = "1.5 Mbps", rif = 1.0}\n'}

# The queue of a controller that requires marks.
MARKING = "threshold"

# The second flow starts later and has a slightly longer round trip.
SECOND = {"flows.web.count": 2, "flows.web.start": ["0 s", "10 s"], "flows.web.propagation_rtt": ["40 ms", "44 ms"]}

CONTROLLER = """\
name = "one flow"
duration = "60 s"
warmup = "30 s"

[topology.dumbbell]
rate = "50 Mbps"
delay = "10 ms"
queue = {queue}

[flows.web]
from = "left"
to = "right"
propagation_rtt = "40 ms"
tcp = {{preset = "sack", controller = {controller}, timestamps = true{rest}}}
"""

PACKETS = """\
name = "packets"
duration = "40 s"
warmup = "10 s"

[topology.dumbbell]
rate = "50 Mbps"
delay = "10 ms"
queue = {queue}

[flows.web]
count = 10
from = "left"
to = "right"
propagation_rtt = {{evenly = ["40 ms", "80 ms"]}}
start = {{uniform = ["0 s", "1 s"]}}
tcp = {{preset = "sack", controller = {controller}, ecn = true}}
"""

CELLS = """\
name = "cells"
duration = "10 s"
warmup = "1 s"

[topology.dumbbell]
rate = "75 Mbps"
delay = "0.3 ms"
queue = {queue}

[flows.vc]
count = 5
from = "left"
to = "right"
framing = {{trailer = "0 B"}}
sender_access = {{rate = "30 Mbps", delay = "0.3 ms"}}
start = {{uniform = ["0 ms", "50 ms"]}}
jitter = "20 us"
tcp = {{preset = "bpd-2001/reno", timer = {{tick = "0.3 s"}}}}
"""


@dataclass(frozen=True)
class Experiment:
    """A scenario and its runs.

    Attributes
    ----------
    toml : str
        The scenario of the first run, without `record`.
    runs : dict
        By title.
    partner : str
        The partner (queue policy or controller), if it is not the first one.
    """

    toml: str
    runs: dict[str, tb.Run]
    partner: str = ""


def controllers() -> dict[str, dict[str, Any]]:
    return forms("ControllerTable", "kind")


def policies() -> dict[str, dict[str, Any]]:
    return forms("Queue", "policy")


@cache
def of_controller(name: str) -> Experiment:
    """One flow alone, and with a second flow that starts later; with the first suitable policy."""
    law = inline({"kind": name, **given(controllers()[name], "kind"), **FOR_THIS_PATH.get(name, {})})
    queues = {policy: inline({**queue(policy, "417 packets"), **BESIDE.get(name, {})}) for policy in policies()}
    at_once = ", delayed_ack = false" if name in FOR_THIS_PATH else ""
    plain = {policy: CONTROLLER.format(controller=law, queue=one, rest=at_once) for policy, one in queues.items()}
    marked = {MARKING: CONTROLLER.format(controller=law, queue=queues[MARKING], rest=", ecn = true")}
    try:
        toml, partner = suiting(plain, SECOND)
    except (ScenarioError, tb.ScenarioWarning):
        toml, partner = suiting(marked, SECOND)[0], MARKING
    one = tb.Scenario.from_toml(toml).with_({"record": {"traces": ["cwnd", "queue"], "delay_percentiles": True}})
    return Experiment(toml, {"one flow": tb.simulate(one), "two flows": tb.simulate(one.with_(SECOND))}, partner)


@cache
def over_packets(name: str) -> Experiment | None:
    """Ten flows of the first suitable controller; none if the policy requires cells."""
    waiting = inline(queue(name, "333 packets"))
    laws = {one: inline({"kind": one, **given(form, "kind")}) for one, form in controllers().items()}
    try:
        toml, partner = suiting({one: PACKETS.format(controller=law, queue=waiting) for one, law in laws.items()})
    except ScenarioError:
        return None
    return Experiment(toml, {name: measured(toml)}, partner)


@cache
def over_cells(name: str) -> Experiment | None:
    """Five flows whose packets are sent as cells; none for packet policies, except the default policy."""
    if over_packets(name) is not None and "policy" in policies()[name]["required"]:
        return None
    toml = CELLS.format(queue=inline(queue(name, "1200 cells"))) + SERVICE.get(name, "")
    return Experiment(toml, {name: measured(toml)})


def measured(toml: str) -> tb.Run:
    return tb.simulate(tb.Scenario.from_toml(toml).with_({"record": {"traces": ["queue"], "delay_percentiles": True}}))


def suiting(candidates: Mapping[str, str], changes: Mapping[str, Any] | None = None) -> tuple[str, str]:
    """The first scenario without an error or a warning, also with these changes, and its name unless it is the first candidate.

    If there is none, the first error or warning is raised. All policies have senders with ECN, whether or not they mark.
    """
    problems: list[Exception] = []
    for name, toml in candidates.items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", tb.ScenarioWarning)
                warnings.filterwarnings("ignore", "`ecn` has no effect", tb.ScenarioWarning)
                tb.Scenario.from_toml(toml).with_(changes or {}).check()
        except (ScenarioError, tb.ScenarioWarning) as problem:
            problems.append(problem)
        else:
            return toml, name if problems else ""
    raise problems[0]


def queue(name: str, buffer: str) -> dict[str, Any]:
    return {"policy": name, "buffer": buffer, **given(policies()[name], "policy")}


def given(form: dict[str, Any], tag: str) -> dict[str, Any]:
    """Values of required settings, and of rates that exceed the links of this experiment."""
    found = {}
    for name, setting in form["properties"].items():
        kind = setting.get("$ref", setting.get("type", "")).removeprefix("#/$defs/")
        if name in form["required"] and name not in (tag, "buffer"):
            found[name] = GIVEN.get(f"{kind} {name}", GIVEN.get(kind))
        elif kind == "Rate" and exceeds(setting.get("default"), GIVEN["Rate"]):
            found[name] = GIVEN["Rate"]
    return found


def exceeds(rate: str | None, other: str) -> bool:
    """Whether one rate is above another; None is not."""
    given = None if rate is None else _core.in_column_units(rate)
    most = _core.in_column_units(other)
    return given is not None and most is not None and given[0] > most[0]


def inline(table: dict[str, Any]) -> str:
    """An inline table in TOML."""
    words = [f"{key} = {value if isinstance(value, int | float) else chr(34) + value + chr(34)}" for key, value in table.items()]
    return f"{{{', '.join(words)}}}"
