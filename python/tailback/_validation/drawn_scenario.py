"""The scenario of a draw, for the simulated side; `VirtualKernel` makes that of the kernel."""

from __future__ import annotations

import math
from typing import Any

from tailback._scenario import Scenario
from tailback._validation.cases import BOTTLENECK, PACKET, Case
from tailback._validation.draws import Settings, label
from tailback._validation.measures import Measure

__all__ = ["HEADERS", "RUNS", "case", "is_random", "scenario"]

# Headers of a data segment with the timestamp option, as in the presets.
HEADERS = 52

# Impairments and queues whose random numbers depend on the seed.
_RANDOM_IMPAIRMENTS = {"random_loss", "burst_loss", "ordered_jitter", "reordering_jitter", "duplication", "lost_acks"}
_RANDOM_QUEUES = ("red", "pie")

# Maximum number of writes of a period; faster sources write more at once.
_MOST_WRITES = 64

# Number of runs on each side; one where nothing is random.
RUNS = 5

# Starts of a group are uniform in this interval, because the sharing of a queue is sensitive to them; incasts answer one request.
_SPREAD_S = 0.02
_INCAST_SPREAD_S = 0.001


def is_random(settings: Settings) -> bool:
    """Whether runs with other seeds differ."""
    return (
        bool(_RANDOM_IMPAIRMENTS.intersection(settings["impairments"]))
        or settings["queue"] in _RANDOM_QUEUES
        or _number(settings) > 1
    )


def case(settings: Settings, measures: tuple[Measure, ...], seeds: int | None = None) -> Case:
    """The draw as a case of a validation, with these measures."""
    groups = tuple(f"flow{place}" for place in range(len(settings["flows"])))
    modules = tuple(flow["law"] for flow in settings["flows"])
    runs = (RUNS if seeds is None else seeds) if is_random(settings) else 1
    labels = {} if settings["mtu"] == PACKET else {"mtu": settings["mtu"]}
    return Case(f"{settings['name']}: {label(settings)}", labels, scenario(settings), groups, measures, runs, modules)


def scenario(settings: Settings) -> Scenario:
    """The scenario with presets."""
    table: dict[str, Any] = {
        "name": settings["name"],
        "duration": f"{settings['duration_s']:g} s",
        "nodes": {"left": {}, "right": {}},
        "links": {BOTTLENECK: _link(settings)},
        "flows": {f"flow{place}": _flow(settings, flow) for place, flow in enumerate(settings["flows"])},
    }
    if timeline := _timeline(settings):
        table["timeline"] = timeline
    return Scenario(table)


def _number(settings: Settings) -> int:
    return sum(flow.get("count", 1) for flow in settings["flows"])


def _link(settings: Settings) -> dict[str, Any]:
    impairments = settings["impairments"]
    link: dict[str, Any] = {
        "from": "left",
        "to": "right",
        "rate": f"{settings['rate_mbps']:g} Mbps",
        # The remainder of each flow's round trip is in its access link.
        "delay": f"{settings['rtt_ms'] / 8:.6g} ms",
        "queue": _queue(settings),
    }
    if "random_loss" in impairments:
        link["loss"] = {"probability": impairments["random_loss"]["probability"]}
    if "burst_loss" in impairments:
        link["loss"] = {"gilbert_elliott": dict(impairments["burst_loss"])}
    for name in ("ordered_jitter", "reordering_jitter"):
        if name in impairments:
            most_ms = settings["rtt_ms"] * impairments[name]["share"]
            delay = {"uniform": ["0 ms", f"{most_ms:.6g} ms"]}
            link["jitter"] = {"delay": delay, "reordering": name == "reordering_jitter"}
    if "duplication" in impairments:
        link["duplication"] = impairments["duplication"]["probability"]
    if "lost_acks" in impairments:
        link["reverse"] = {"loss": {"probability": impairments["lost_acks"]["probability"]}}
    return link


def _queue(settings: Settings) -> dict[str, Any]:
    policy, places = settings["queue"], settings["buffer"]
    queue: dict[str, Any] = {"buffer": f"{places} packets", "policy": policy}
    if policy == "fq_codel":
        return {**queue, "policy": "codel", "scheduler": "flow_queue"}
    if policy == "red":
        return {
            **queue,
            "min_threshold": f"{max(3, places // 6)} packets",
            "max_threshold": f"{max(9, places // 2)} packets",
            **({} if settings["ecn"] else {"signals": "drops"}),
        }
    if policy == "threshold":
        bdp = settings["rate_mbps"] * settings["rtt_ms"] * 1000 / 8 / settings["mtu"]
        return {**queue, "threshold": f"{max(4, min(places - 1, round(bdp / 4)))} packets"}
    return queue


def _flow(settings: Settings, flow: dict[str, Any]) -> dict[str, Any]:
    start_s, mss = flow["start_s"], settings["mtu"] - HEADERS
    spread_s = _INCAST_SPREAD_S if settings["traffic"] == "incast" else _SPREAD_S
    ends = [f"{start_s:g} s", f"{start_s + spread_s:g} s"]
    table: dict[str, Any] = {
        "from": "right" if flow["backward"] else "left",
        "to": "left" if flow["backward"] else "right",
        "start": {"uniform": ends} if _number(settings) > 1 else ends[0],
        "propagation_rtt": f"{settings['rtt_ms'] * flow['rtt_factor']:.6g} ms",
        "tcp": {"preset": f"linux/{flow['law']}", "ecn": settings["ecn"], "delayed_ack": True, "mss": f"{mss} B"},
    }
    if "count" in flow:
        table["count"] = flow["count"]
    if "segments" in flow:
        table["size"] = f"{flow['segments'] * mss} B"
    if "writes" in flow:
        writes = [{"at": f"{at_s:g} s", "size": f"{segments * mss} B"} for at_s, segments in flow["writes"]]
        table["application"] = {"kind": "script", "writes": writes}
    elif "rate_mbps" in flow:
        table["application"] = _source(flow, mss)
    return table


def _source(flow: dict[str, Any], mss: int) -> dict[str, Any]:
    """Bursts at an even rate, or in periods, at the same times on both sides."""
    interval_s, size = flow["burst"] * mss * 8 / (flow["rate_mbps"] * 1e6), flow["burst"] * mss
    number, period_s = 1, interval_s
    if "on_s" in flow:
        number, period_s = math.ceil(flow["on_s"] / interval_s), flow["on_s"] + flow["off_s"]
        together = math.ceil(number / _MOST_WRITES)
        number, interval_s, size = math.ceil(number / together), interval_s * together, size * together
    writes = [{"at": f"{place * interval_s:.6g} s", "size": f"{size} B"} for place in range(number)]
    return {"kind": "script", "writes": writes, "repeat": f"{period_s:.6g} s"}


def _timeline(settings: Settings) -> list[dict[str, Any]]:
    impairments = settings["impairments"]
    events: list[dict[str, Any]] = []
    if "lost_syns" in impairments:
        first_s = min(flow["start_s"] for flow in settings["flows"])
        events.append({"at": f"{first_s / 2:g} s", "link": BOTTLENECK, "down": True})
        events.append({"at": f"{first_s + impairments['lost_syns']['until_s']:g} s", "link": BOTTLENECK, "up": True})
    if "outage" in impairments:
        outage = impairments["outage"]
        events.append({"at": f"{outage['at_s']:g} s", "link": BOTTLENECK, "down": True})
        events.append({"at": f"{outage['at_s'] + outage['for_s']:g} s", "link": BOTTLENECK, "up": True})
    if "rate_change" in impairments:
        change = impairments["rate_change"]
        rates = (settings["rate_mbps"] * change["factor"], settings["rate_mbps"])
        for at_s, rate in zip((change["at_s"], change["at_s"] + change["for_s"]), rates, strict=True):
            events.append({"at": f"{at_s:g} s", "link": BOTTLENECK, "rate": f"{rate:.6g} Mbps"})
    return events
