"""The smallest buffer that reaches a target utilisation in the simulation, where no rule covers the case.

A question in numbers becomes a dumbbell of greedy flows, simulated for several cycles of the controllers; a scenario is simulated
as it is. Only the size of the buffer changes.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tailback import _core
from tailback._scenario import Scenario
from tailback._scenario.description import short
from tailback._simulation import simulate
from tailback._topologies import dumbbell
from tailback.errors import ParameterError, StarvationWarning
from tailback.prediction._sizing_case import SizingCase

if TYPE_CHECKING:
    from tailback._study import Threshold
    from tailback._study.runner import Progress

__all__ = ["Case", "SimulatedBuffer", "case", "simulated"]

# A search evaluates about this many buffer sizes with this many seeds, and with more until the half width of the interval of the
# utilisation at the answer is at most `PRECISION`, within the limit below or by request up to `MOST_SEEDS`.
_SIZES, SEEDS, PRECISION, MOST_SEEDS = 16, 8, 0.005, 64

# Packets that are simulated without being asked for: about 20 s of work on one processor at 2.5 million packets per second. The
# limit is a number of packets, and not a time, so that the answer does not depend on the machine.
MOST_PACKETS = 50_000_000

# Acknowledgements of flows with equal RTTs return in the order and at the distances of departures, so that bursts of different
# flows seldom meet at the queue. The answer is simulated once more with RTTs within this share of their mean; a utilisation more
# than `_LOST` below the target is reported.
_RTT_SPREAD, _LOST = 0.1, 0.01

# TCP and IP headers on the wire, and the size of an acknowledgement.
_HEADER = 40


@dataclass(frozen=True)
class SimulatedBuffer:
    """The smallest buffer that reaches the target in the simulation.

    Attributes
    ----------
    buffer, low, high : int or None
        Buffer size in packets, and the ends of its 95 % interval; at least 1. `buffer` is None if no simulated buffer reaches the
        target, the ends are None if unknown or outside the simulated range.
    bytes, delay_s : float or None
        The buffer size in bytes, and the time in which the bottleneck transmits it.
    max_buffer : int
        The largest buffer that was simulated.
    unequal_utilisation : float or None
        Mean utilisation with the same buffer and RTTs drawn within 10 % of `base_rtt`; None if they differ already, for one flow,
        and for a scenario.
    sentence : str
        The answer in one sentence.
    scenario : Scenario
        The simulated scenario, with this buffer.
    threshold : Threshold
        The search, with all runs.
    """

    buffer: int | None
    low: int | None
    high: int | None
    bytes: float | None
    delay_s: float | None
    max_buffer: int
    unequal_utilisation: float | None
    sentence: str
    scenario: Scenario
    threshold: Threshold

    def to_dict(self) -> dict[str, Any]:
        """The answer, in types that JSON supports except NaN."""
        names = ("buffer", "low", "high", "bytes", "delay_s", "max_buffer", "unequal_utilisation", "sentence")
        return {name: getattr(self, name) for name in names} | {"search": self.threshold.to_dict()}


@dataclass(frozen=True)
class Case:
    """A scenario whose buffer is sized by simulation: the path of the buffer, the name of its link, and the estimated work."""

    scenario: Scenario
    key: str
    link: str
    max_buffer: int
    packets: float
    has_equal_rtts: bool


def case(question: SizingCase, given: Mapping[str, Any], scenario: Scenario | None) -> Case:
    """The scenario to simulate: the given one, unless values override its own, or a dumbbell.

    Raises
    ------
    ParameterError
        The case has a trunk, several inputs, or controllers without a preset, or the buffer is not a setting of the scenario.
    """
    product = question.capacity_bps * question.base_rtt.mean_s / (8 * question.packet_bytes)
    # Larger than any controller needs: BBR may have two products in flight, and each flow a burst.
    max_buffer = math.ceil(4 * product + 2 * question.flows + 10)
    if scenario is not None and not given.keys() - {"target"}:
        key, link = _buffer_of(scenario, question.link or "")
        described = scenario
    else:
        described, key, link = _dumbbell(question, given, scenario), "topology.dumbbell.queue.buffer", "bottleneck"
    duration_s = _seconds(described.to_dict()["duration"])
    packets = question.capacity_bps / (8 * question.packet_bytes) * duration_s * SEEDS * _SIZES
    has_equal_rtts = described is not scenario and question.flows > 1 and isinstance(_rtt(described), str)
    return Case(described, key, link, max_buffer, packets, has_equal_rtts)


def simulated(
    question: SizingCase,
    chosen: Case,
    *,
    is_limited: bool,
    out: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> SimulatedBuffer:
    """Search the smallest buffer; `is_limited` keeps the estimated number of packets below the limit."""
    from tailback._study.searching import Search
    from tailback._study.threshold import searched

    over = {chosen.key: ("1 packet", f"{chosen.max_buffer} packets")}
    quantity = f"queues.{chosen.link}.utilisation"
    most = min(MOST_SEEDS, int(SEEDS * MOST_PACKETS / chosen.packets)) if is_limited else MOST_SEEDS
    # On a plateau the direction would be that of the noise.
    search = Search.of(chosen.scenario, quantity, question.target, over, SEEDS, PRECISION, most, rises=True)
    found = searched(search, out=out, workers=workers, progress=progress)
    value, low, high = map(_packets, ("1 packet" if found.outside == "below" else found.value, found.low, found.high))
    bytes_ = None if value is None else value * question.packet_bytes
    described = chosen.scenario if value is None else chosen.scenario.with_({chosen.key: f"{value} packets"})
    unequal = None if value is None else _unequal_utilisation(described, chosen)
    return SimulatedBuffer(
        buffer=value,
        low=low,
        high=high,
        bytes=bytes_,
        delay_s=None if bytes_ is None else 8 * bytes_ / question.capacity_bps,
        max_buffer=chosen.max_buffer,
        unequal_utilisation=unequal,
        sentence=_sentence(question, chosen, found, value) + _of_unequal(question, unequal),
        scenario=described,
        threshold=found,
    )


def _sentence(question: SizingCase, chosen: Case, found: Threshold, value: int | None) -> str:
    target = f"{100 * question.target:.6g} %"
    seeds = len(found.study.plan["seeds"])
    if value is None:
        return f"For {target}: no buffer of up to {chosen.max_buffer:,} packets (simulated, {seeds} seeds)."
    packets = f"{value:,} packet{'' if value == 1 else 's'}"
    if found.outside == "below":
        return f"For {target}: {packets} (simulated, {seeds} seeds); the smallest buffer exceeds the target."
    unique = f"  But {found.problem}." if found.problem else ""
    if not found.is_random:
        return f"For {target}: {packets} (simulated; nothing is random, so that there is no interval).{unique}"
    low = 1 if found.low is None else _packets(found.low)
    high = f"more than {chosen.max_buffer:,}" if found.high is None else f"{_packets(found.high):,}"
    return f"For {target}: {packets} (simulated, 95 % interval {low:,} to {high}, {seeds} seeds).{unique}"


def _rtt(described: Scenario) -> Any:
    """`propagation_rtt` of the flow groups of a dumbbell from `_dumbbell`, which all have the same."""
    return next(iter(described.to_dict()["flows"].values()))["propagation_rtt"]


def _unequal_utilisation(described: Scenario, chosen: Case) -> float | None:
    """Mean utilisation of a scenario if its equal RTTs are replaced by drawn ones."""
    if not chosen.has_equal_rtts:
        return None
    rtt_s = _seconds(_rtt(described))
    drawn = {"uniform": [f"{rtt_s * part * 1e9:.0f} ns" for part in (1 - _RTT_SPREAD, 1 + _RTT_SPREAD)]}
    changed = described.with_({f"flows.{name}.propagation_rtt": drawn for name in described.to_dict()["flows"]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StarvationWarning)
        return simulate(changed, seeds=SEEDS).mean(f"queues.{chosen.link}.utilisation").mean


def _of_unequal(question: SizingCase, utilisation: float | None) -> str:
    """A sentence if drawn RTTs miss the target."""
    if utilisation is None or utilisation >= question.target - _LOST:
        return ""
    ends = [f'"{question.base_rtt.mean_s * part * 1e3:.4g} ms"' for part in (1 - _RTT_SPREAD, 1 + _RTT_SPREAD)]
    return (
        f"  This holds for equal RTTs only: with RTTs within {100 * _RTT_SPREAD:.0f} % of their mean, the same buffer gives "
        f"{100 * utilisation:.3g} %; to size it for these, write `base_rtt = {{uniform = [{', '.join(ends)}]}}`."
    )


def _packets(text: str | None) -> int | None:
    return None if text is None else int(text.split()[0])


def _buffer_of(scenario: Scenario, link: str) -> tuple[str, str]:
    """Path of the buffer of a link, and the link's name."""
    described = scenario.to_dict()
    if link in described.get("links", {}):
        return f"links.{link}.queue.buffer", link
    if link == "bottleneck" and "dumbbell" in described.get("topology", {}):
        return "topology.dumbbell.queue.buffer", link
    raise ParameterError(
        f"the buffer of `{link}` is no setting of its own, so that no simulation sizes it; expected one of `links`, or a dumbbell"
    )


def _dumbbell(question: SizingCase, given: Mapping[str, Any], scenario: Scenario | None) -> Scenario:
    """Greedy flows with the presets in equal shares, which start at random within one cycle."""
    if question.transmitters > 1 or question.inputs is not None:
        raise ParameterError(
            "a trunk or switch is simulated from a scenario; expected a FILE, or one transmitter without `inputs`"
        )
    presets = given.get("preset")
    if not presets and question.other_controllers:
        controllers = " and ".join(question.other_controllers)
        raise ParameterError(
            f"values replace those of the scenario, whose controllers are {controllers}; expected a `preset` as well"
        )
    presets = presets or ["sack"]
    rtt = question.base_rtt
    if scenario is not None and "base_rtt" not in given and rtt.harmonic_s < rtt.mean_s * (1 - 1e-9):
        raise ParameterError("values replace those of the scenario, whose RTTs differ; expected a `base_rtt` as well")
    mss = round(question.packet_bytes) - _HEADER
    if mss < 1:
        raise ParameterError(
            f"`packet_size` is {question.packet_bytes:g} B; a simulation expects more than {_HEADER} B of headers"
        )
    cycle_s = max(_cycle_s(question, controller) for controller in ("reno", *question.other_controllers))
    starts_s = min(max(1.0, cycle_s), 20.0)
    warmup_s = math.ceil(starts_s + min(max(5.0, 3 * cycle_s), 60.0) + 20 * question.base_rtt.mean_s)
    measured_s = math.ceil(min(max(20.0, 8 * cycle_s), 240.0))
    tcp: dict[str, Any] = {"mss": f"{mss} B"}
    tcp |= {} if question.window is None else {"receiver_window": question.window}
    tcp |= {} if "paced" not in given else {"pacing": question.paced}
    shared: dict[str, Any] = {
        "propagation_rtt": _propagation(question, given),
        "start": {"uniform": ["0 s", f"{starts_s:.3f} s"]},
    }
    if question.access_rate_bps is not None:
        shared["sender_access"] = {"rate": f"{question.access_rate_bps:.0f} bps"}
    share, rest = divmod(question.flows, len(presets))
    flows: dict[str, Any] = {
        f"flows{index + 1}": {**shared, "count": share + (index < rest), "tcp": {"preset": preset, **tcp}}
        for index, preset in enumerate(presets)
    }
    return dumbbell(
        rate=f"{question.rate_bps:.0f} bps",
        delay="0 s",
        buffer="1 packet",
        duration=f"{warmup_s + measured_s} s",
        warmup=f"{warmup_s} s",
        flows=flows,
    )


def _cycle_s(question: SizingCase, controller: str) -> float:
    """Time between two losses of a flow with its share of the link, or between two probes of the RTT by BBR."""
    rtt_s = question.base_rtt.mean_s
    window = question.capacity_bps * rtt_s / (8 * question.packet_bytes * question.flows)
    if controller == "cubic":
        # RFC 9438: K, and Reno-friendly growth by 0.53 packets per round trip.
        return min(math.cbrt(0.3 * window / 0.4), 0.3 / 0.53 * window * rtt_s)
    return 10.0 if controller.startswith("bbr") else 0.5 * window * rtt_s


def _propagation(question: SizingCase, given: Mapping[str, Any]) -> Any:
    """Propagation delay of both directions: the base RTT without serialisation, which every flow has."""
    serialisation_s = 8 * (question.packet_bytes + _HEADER) / question.rate_bps
    if question.access_rate_bps is not None:
        serialisation_s += 8 * (question.packet_bytes + _HEADER) / question.access_rate_bps

    def shorter(text: str) -> str:
        left_s = _seconds(text) - serialisation_s
        if left_s < 0:
            raise ParameterError(
                f"`base_rtt` is {text}; expected at least the serialisation of a packet, {serialisation_s:.4g} s"
            )
        return f"{left_s * 1e9:.0f} ns"

    asked = given.get("base_rtt", f"{question.base_rtt.mean_s * 1e9:.0f} ns")
    if isinstance(asked, str):
        return shorter(asked)
    if isinstance(asked, Mapping):
        [(kind, values)] = asked.items()
        if kind in ("uniform", "evenly"):
            return {kind: [shorter(text) for text in values]}
        raise ParameterError(f"`base_rtt` is {short(asked)}; a simulation expects a time, `uniform` or `evenly`, or a scenario")
    return [shorter(text) for text in asked]


def _seconds(text: str) -> float:
    return _core.in_column_units(text)[0]  # type: ignore[index]
