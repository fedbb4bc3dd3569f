"""Draws scenarios from the distributions in `drawn.toml`: networks in which nobody chose to compare kernel and presets."""

from __future__ import annotations

import math
import random
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

__all__ = ["KINDS", "Settings", "distributions", "draw", "kinds", "label"]

# The drawn numbers and words of a scenario; `drawn_scenario.scenario` makes the scenario.
Settings = dict[str, Any]

# Names that `kinds` returns.
KINDS = (
    *("drop_tail", "codel", "fq_codel", "pie", "red", "threshold", "ecn"),
    *("bulk", "transfers", "incast", "responses", "on_off", "limited", "both_directions", "many_flows"),
    *("reno", "cubic", "bbr", "dctcp", "mixed_laws", "mixed_rtts"),
    *("random_loss", "burst_loss", "ordered_jitter", "reordering_jitter", "duplication", "lost_acks", "lost_syns"),
    *("mtu", "rate_change", "outage", "no_impairment"),
)

# Impairments that exclude one another: of each pair the first drawn remains.
_EXCLUSIVE = ({"random_loss", "burst_loss"}, {"ordered_jitter", "reordering_jitter"}, {"lost_syns", "outage"})

_FIRST_START_S = 0.05
_MTU = 1500

# Share of the duration for which a changed rate holds.
_CHANGED_SHARE = 0.3

# Sources with data at all times, whose volume is limited by the duration of the run.
_ENDLESS = ("bulk", "on_off", "limited")


@cache
def distributions() -> dict[str, Any]:
    """The distributions, as in `drawn.toml`."""
    return tomllib.loads(resources.files(__package__).joinpath("drawn.toml").read_text(encoding="utf-8"))


class _Stream:
    """Random numbers of one draw.

    Only `random.Random.random` gives the same numbers in every version of Python. A power may differ in its last digit between
    platforms; three significant digits do not.
    """

    def __init__(self, name: str) -> None:
        self._random = random.Random(name)

    def uniform(self, low: float, high: float) -> float:
        return _rounded(low + (high - low) * self._random.random())

    def log(self, ends: Sequence[float]) -> float:
        low, high = ends
        return _rounded(low * (high / low) ** self._random.random())

    def whole(self, ends: Sequence[float]) -> int:
        """A log-uniform whole number, so that the smallest has its share."""
        low, high = ends
        return max(int(low), min(int(high), int(self.log((low, high + 1)))))

    def chance(self, probability: float) -> bool:
        return self._random.random() < probability

    def choice(self, weights: Mapping[Any, float]) -> Any:
        left = self._random.random() * sum(weights.values())
        for word, weight in weights.items():
            left -= weight
            if left < 0:
                return word
        return word


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")


def draw(seed: int, number: int) -> Settings:
    """Draw number `number`, from 0, with this seed. It depends on nothing else."""
    given, stream = distributions(), _Stream(f"tailback {seed}/{number}")
    settings: Settings = {"name": f"{seed}-{number}"}
    link = given["link"]
    settings["rate_mbps"], settings["rtt_ms"] = stream.log(link["rate_mbps"]), stream.log(link["rtt_ms"])
    # Before the bandwidth-delay product, which is in packets of the link.
    impairments = _impairments(stream, given)
    settings["mtu"] = int(impairments.pop("mtu")["bytes"]) if "mtu" in impairments else _MTU
    bdp = settings["rate_mbps"] * settings["rtt_ms"] * 1000 / 8 / settings["mtu"]
    low = link["buffer_packets"]
    settings["buffer"] = int(stream.log((low, max(2.0 * low, link["buffer_bdp"] * bdp))))
    settings["queue"] = stream.choice(given["queue"])
    if settings["queue"] != "drop_tail":
        settings["buffer"] = max(settings["buffer"], int(bdp), 20)
    settings["ecn"] = stream.chance(given["ecn"]["probability"]) and settings["queue"] != "drop_tail"
    settings["ecn"] |= settings["queue"] == "threshold"
    settings["traffic"] = stream.choice(given["traffic"])
    settings["flows"] = _flows(stream, given, settings)
    settings["duration_s"] = _duration_s(settings, impairments, given["max_packets"])
    settings["impairments"] = impairments
    _fit(stream, settings)
    return settings


def _impairments(stream: _Stream, given: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    chosen: list[str] = []
    for _ in range(stream.choice(dict(enumerate(given["impairments"]["number"])))):
        excluded = {word for pair in _EXCLUSIVE if pair.intersection(chosen) for word in pair}.union(chosen)
        chosen.append(stream.choice({word: x for word, x in given["impairments"]["weights"].items() if word not in excluded}))
    return {name: {key: stream.log(ends) for key, ends in given[name].items()} for name in chosen}


def _flows(stream: _Stream, given: Mapping[str, Any], settings: Settings) -> list[dict[str, Any]]:
    """The flow groups: one flow each, and all senders of an incast in one."""
    traffic, laws = settings["traffic"], given["laws"]
    number = stream.whole(given[traffic]["flows"])
    groups = 1 if traffic == "incast" else number
    names = {name: laws[name] for name in ("reno", "cubic", "bbr")}
    with_dctcp = settings["queue"] == "threshold" and stream.chance(laws["dctcp"])
    law = "dctcp" if with_dctcp else stream.choice(names)
    is_mixed, has_own_rtts = stream.chance(laws["mixed"]), stream.chance(laws["mixed_rtts"])
    has_both_directions = stream.chance(given["both_directions"]["probability"]) and traffic != "incast"
    flows = []
    for place in range(groups):
        flow: dict[str, Any] = {
            "law": stream.choice(names) if is_mixed and place else law,
            "start_s": _FIRST_START_S + (stream.uniform(0, 1) if place else 0),
            "rtt_factor": stream.log(laws["rtt_factor"]) if has_own_rtts and groups > 1 else 1.0,
            "backward": has_both_directions and place % 2 == 1,
        }
        flows.append(flow | _source(stream, given[traffic], settings, number))
    if has_both_directions and groups == 1:
        flows.append({**flows[0], "start_s": 0.3, "backward": True})
    if traffic == "incast":
        flows[0]["count"] = number
    return flows


def _source(stream: _Stream, given: Mapping[str, Any], settings: Settings, number: int) -> dict[str, Any]:
    """Size or application of a flow; `number` flows share the link."""
    traffic, rate_mbps = settings["traffic"], settings["rate_mbps"]
    if traffic in ("transfers", "incast"):
        # All transfers together take at most 10 s of the link, and most packets of a draw are not retransmissions.
        most = min(10 * _packets_per_s(settings), 0.8 * distributions()["max_packets"]) / number
        return {"segments": max(1, int(min(stream.whole(given["segments"]), most)))}
    if traffic == "responses":
        writes, at_s = [], 0.0
        for _ in range(stream.whole(given["writes"])):
            writes.append((round(at_s, 6), stream.whole(given["segments"])))
            at_s += stream.log(given["gap_s"])
        return {"writes": writes}
    if traffic == "on_off":
        return {
            "rate_mbps": _rounded(rate_mbps * stream.log(given["load"]) / number),
            "on_s": stream.log(given["period_s"]),
            "off_s": stream.log(given["period_s"]),
            "burst": stream.whole(given["burst"]),
        }
    if traffic == "limited":
        return {"rate_mbps": _rounded(rate_mbps * stream.log(given["load"]) / number), "burst": stream.whole(given["burst"])}
    return {}


def _packets_per_s(settings: Settings) -> float:
    rate: float = settings["rate_mbps"] * 1e6 / 8 / settings["mtu"]
    return rate


def _duration_s(settings: Settings, impairments: Mapping[str, Mapping[str, float]], max_packets: int) -> float:
    """About twenty round trips with a full buffer, at least 5 s, within the number of packets."""
    per_s, flows = _packets_per_s(settings), settings["flows"]
    rtt_s = settings["rtt_ms"] / 1000 * max(flow["rtt_factor"] for flow in flows) + settings["buffer"] / per_s
    if settings["traffic"] in _ENDLESS:
        # The changed rate holds for a share of the duration.
        factor = impairments.get("rate_change", {}).get("factor", 1.0)
        mean = per_s * (1 + _CHANGED_SHARE * (factor - 1))
        ways = 2 if any(flow["backward"] for flow in flows) else 1
        duration_s = min(max(5.0, min(30.0, 20 * rtt_s)), max_packets / max(per_s, mean) / ways)
    elif settings["traffic"] == "responses":
        last_s = max(flow["start_s"] + flow["writes"][-1][0] for flow in flows)
        duration_s = last_s + max(2.0, min(20.0, 5 * rtt_s))
    else:
        volume = sum(flow["segments"] * flow.get("count", 1) for flow in flows) / per_s
        duration_s = max(5.0, min(60.0, 3 * volume + 20 * rtt_s))
    # Nothing crosses the link until a SYN arrives, which is repeated every second.
    return _rounded(duration_s + math.ceil(impairments.get("lost_syns", {}).get("until_s", 0)))


def _fit(stream: _Stream, settings: Settings) -> None:
    """Scale times to a duration that the number of packets has made short. With lost SYNs, all flows start in the outage."""
    duration_s = settings["duration_s"]
    starts_s = min(1.0, duration_s / 5, settings["impairments"].get("lost_syns", {}).get("until_s", 1.0))
    for flow in settings["flows"]:
        flow["start_s"] = _rounded(_FIRST_START_S + (flow["start_s"] - _FIRST_START_S) * starts_s)
    busy_s = duration_s
    if "segments" in settings["flows"][0]:
        # A change after the last transfer changes nothing.
        volume = sum(flow["segments"] * flow.get("count", 1) for flow in settings["flows"])
        last_s = max(flow["start_s"] for flow in settings["flows"]) - _FIRST_START_S
        busy_s = min(duration_s, last_s + volume / _packets_per_s(settings) + 4 * settings["rtt_ms"] / 1000)
    for name in ("outage", "rate_change"):
        if name in settings["impairments"]:
            change = settings["impairments"][name]
            change["at_s"] = _rounded(_FIRST_START_S + busy_s * stream.uniform(0.1, 0.6))
            change["for_s"] = _rounded(busy_s * change.pop("share", _CHANGED_SHARE))


def kinds(settings: Settings) -> list[str]:
    """The kinds of a draw, in the order of `KINDS`."""
    flows, impairments = settings["flows"], settings["impairments"]
    laws = {flow["law"] for flow in flows}
    found = {
        settings["queue"],
        settings["traffic"],
        *impairments,
        *(laws if len(laws) == 1 else ["mixed_laws"]),
        *(["ecn"] if settings["ecn"] else []),
        *(["mtu"] if settings["mtu"] != _MTU else []),
        *(["both_directions"] if any(flow["backward"] for flow in flows) else []),
        *(["many_flows"] if len(flows) > 1 else []),
        *(["mixed_rtts"] if len({flow["rtt_factor"] for flow in flows}) > 1 else []),
        *([] if impairments else ["no_impairment"]),
    }
    return [kind for kind in KINDS if kind in found]


def label(settings: Settings) -> str:
    """The draw in a line."""
    flows = settings["flows"]
    laws = " and ".join(dict.fromkeys(flow["law"] for flow in flows))
    number = sum(flow.get("count", 1) for flow in flows)
    words = [
        f"{laws}{' with ECN' if settings['ecn'] else ''}",
        f"{settings['rate_mbps']:g} Mbit/s",
        f"{settings['rtt_ms']:g} ms",
        f"{settings['duration_s']:g} s",
        f"{settings['queue']} {settings['buffer']}",
        f"{number} x {settings['traffic']}",
    ]
    if "segments" in flows[0]:
        sizes = [flow["segments"] for flow in flows]
        words[-1] += f" of {sizes[0] if min(sizes) == max(sizes) else f'{min(sizes)} to {max(sizes)}'} segments"
    words += [f"MTU {settings['mtu']}"] * (settings["mtu"] != _MTU)
    words += ["both directions"] * any(flow["backward"] for flow in flows)
    words += [f"{name} {' '.join(f'{value:g}' for value in values.values())}" for name, values in settings["impairments"].items()]
    return ", ".join(words)
