"""Comparison of the measured goodputs of a run with max-min and proportionally fair rates."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tailback import _core, allocation
from tailback._export.network import Network, seconds
from tailback._export.network import quantity as amount
from tailback._scenario import Scenario
from tailback._tables.table import Table
from tailback._tables.text import aligned, quantity
from tailback.errors import ParameterError, UnknownName

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Distance", "Fairness", "check_weights", "fairness_of"]

# Maximum number of flows in the text output.
_ROWS = 12
_WEIGHTS = (1e-6, 1e6)
# A flow counts as limited by its receiver's window if its mean window exceeds this share of it.
_WINDOW_USED = 0.9
# Minimum share of a link that other flows must leave free.
_MIN_LEFT = 1e-3


@dataclass(frozen=True)
class Distance:
    """Distance of the goodputs x from the ideal rates x*.

    Attributes
    ----------
    distance : float
        Relative distance: the root mean square of (x / x* - 1) over the flows; 0 is ideal.
    fairness : float
        Jain's index of x / x*, 0 to 1; 1 if all flows have the same ratio. NaN if all goodputs are 0.
    """

    distance: float
    fairness: float


@dataclass(frozen=True, repr=False)
class Fairness:
    """Comparison of measured goodputs with the rates of ideal allocations; see `Run.fairness`.

    Attributes
    ----------
    flows : Table
        One row for each greedy flow, which always has data to send: measured ``goodput_bps``, ideal ``max_min_bps`` and
        ``proportional_bps``, and the ratios ``of_max_min`` and ``of_proportional`` of the goodput to these.
    links : Table
        One row for each queue on the paths of these flows: ``capacity_bps``, including headers; ``others_bps``, the part of it
        that other flows use; ``held_flows``, the number of flows with their max-min bottleneck here; ``price_per_bps``, the
        derivative of the sum of ``w log x`` with respect to the capacity.
    max_min, proportional : Distance
        Distances of the goodputs from the max-min and from the proportionally fair rates.
    utility_gap : float
        Mean of ``w log(x* / x)`` over the flows, with the proportionally fair x*; 0 is ideal, infinite if a goodput is 0.
    notes : tuple of str
        Traffic and limits that the ideal rates do not include, with the reasons, and shares that differ with RED.
    """

    flows: Table
    links: Table
    max_min: Distance
    proportional: Distance
    utility_gap: float
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """All results as numbers, strings, lists and dictionaries."""
        return {
            "max_min": vars(self.max_min),
            "proportional": {**vars(self.proportional), "utility_gap": self.utility_gap},
            "notes": list(self.notes),
            "flows": self.flows.to_dict(),
            "links": self.links.to_dict(),
        }

    def __str__(self) -> str:
        sums = [
            ["allocation", "distance", "Jain's index", "utility gap"],
            ["max-min fair", f"{100 * self.max_min.distance:.3g} %", f"{self.max_min.fairness:.4f}", ""],
            [
                "proportionally fair",
                f"{100 * self.proportional.distance:.3g} %",
                f"{self.proportional.fairness:.4f}",
                f"{self.utility_gap:.3g}",
            ],
        ]
        titles = ["group", "flow", "goodput", "max-min fair", "ratio", "proportionally fair", "ratio"]
        columns = ["group", "flow", "goodput_bps", "max_min_bps", "of_max_min", "proportional_bps", "of_proportional"]
        shown = [[quantity(column, value) for value in self.flows.head(column, _ROWS)] for column in columns]
        rows = [titles, *(list(row) for row in zip(*shown, strict=True))]
        rest = f"\n  and {len(self.flows) - _ROWS} more" if len(self.flows) > _ROWS else ""
        return "\n\n".join([aligned(sums), aligned(rows) + rest, *(f"note: {text}" for text in self.notes)])

    def __repr__(self) -> str:
        return (
            f"<Fairness of {len(self.flows)} flows: distance {self.max_min.distance:.3g} from max-min, "
            f"{self.proportional.distance:.3g} from proportionally fair>"
        )


def fairness_of(scenario: Scenario, seed: int, flows: Table, simulated_s: float, weights: Mapping[str, float]) -> Fairness:
    """Compute the optimum of a run from its scenario and seed, its flows, and its simulated time."""
    import numpy as np

    shared: dict[str, Any] = json.loads(scenario._shared_network(seed))
    groups = [group["name"] for group in shared["groups"]]
    check_weights(weights, groups)
    of_groups = [float(weights.get(name, 1)) for name in groups]
    measured = {column: flows.head(column, len(flows)) for column in ("group", "flow", "delivered_bytes", "completion_time_s")}
    shared["flows"] = _in_order(shared, groups, list(zip(measured["group"], measured["flow"], strict=True)))
    if simulated_s <= shared["warmup_s"]:
        raise ParameterError("the run ended within its warm-up, so there are no measurements to compare")
    rates = [8 * delivered / (simulated_s - shared["warmup_s"]) for delivered in measured["delivered_bytes"]]
    why = [
        _held(flow, shared["groups"][flow["group"]]["kind"], completion_s, (shared["warmup_s"], simulated_s))
        for flow, completion_s in zip(shared["flows"], measured["completion_time_s"], strict=True)
    ]
    greedy = [index for index, reason in enumerate(why) if reason is None]
    others = [index for index, reason in enumerate(why) if reason is not None and rates[index] > 0]
    if not greedy:
        raise ParameterError(
            f"no flow sends greedily over the whole measurement interval: {_named(groups, shared, why, range(len(why)))}"
        )
    _check_changes(shared, groups, greedy, simulated_s)
    _check_rates(json.loads(_core.expanded(*scenario._source(), seed)), shared, greedy, simulated_s)

    capacities, left = _capacities(shared, rates, greedy, others)
    place = {port: index for index, port in enumerate(capacities)}
    room, routes = list(left), []
    for index in greedy:
        flow = shared["flows"][index]
        route = [place[port] for port in shared["paths"][flow["path"]]]
        own = [bound for bound in (flow["access_bps"], shared["groups"][flow["group"]]["max_rate_bps"]) if bound is not None]
        if own and min(own) < min(room[link] for link in route):
            route.append(len(room))
            room.append(min(own))
        routes.append(route)
    # Fairness refers to goodput, but links also carry headers.
    share = np.array([shared["groups"][shared["flows"][index]["group"]]["payload_share"] for index in greedy])
    weight = np.array([of_groups[shared["flows"][index]["group"]] for index in greedy])
    max_min = allocation.max_min(routes, room, (weight / share).tolist())
    proportional = allocation.proportional(routes, room, weight.tolist())
    goodput = np.array([rates[index] for index in greedy])
    ideal = {"max_min": max_min.rates * share, "proportional": proportional.rates * share}
    with np.errstate(divide="ignore"):
        gap = float(np.mean(weight * np.log(ideal["proportional"] / goodput)))
    return Fairness(
        flows=Table._of(
            "optimum",
            {
                "group": [measured["group"][index] for index in greedy],
                "flow": [measured["flow"][index] for index in greedy],
                "goodput_bps": goodput.tolist(),
                **{f"{name}_bps": rates.tolist() for name, rates in ideal.items()},
                **{f"of_{name}": (goodput / rates).tolist() for name, rates in ideal.items()},
            },
        ),
        links=Table._of(
            "links",
            {
                "queue": [shared["ports"][port] for port in capacities],
                "capacity_bps": list(capacities.values()),
                "others_bps": [capacity - rest for capacity, rest in zip(capacities.values(), left, strict=True)],
                "held_flows": np.bincount(max_min.bottlenecks, minlength=len(room))[: len(left)].tolist(),
                "price_per_bps": proportional.prices[: len(left)].tolist(),
            },
        ),
        max_min=_distance(goodput / ideal["max_min"]),
        proportional=_distance(goodput / ideal["proportional"]),
        utility_gap=gap,
        notes=(
            *_notes(groups, shared, why, others),
            *_of_weights(groups, shared, greedy, weights),
            *_of_windows(groups, shared, greedy, goodput, flows),
        ),
    )


def check_weights(weights: Mapping[str, float], groups: Sequence[str]) -> None:
    """Raises an error for weights that are not numbers in range, and for groups that do not exist."""
    if not isinstance(weights, Mapping):
        raise ParameterError(f"weights of flow groups are {weights!r}; expected a mapping of group names to numbers")
    low, high = _WEIGHTS
    for group, given in weights.items():
        if group not in groups:
            raise UnknownName("flow group", group, groups)
        if isinstance(given, bool) or not isinstance(given, (int, float)) or not low <= given <= high:
            raise ParameterError(f"the weight of `{group}` is {given!r}; expected a number from {low:g} to {high:g}")


def _in_order(shared: Mapping[str, Any], groups: Sequence[str], rows: Sequence[tuple[str, int]]) -> list[dict[str, Any]]:
    """The flows in the order of the run's table; the groups of a run's provenance have another order."""
    known: dict[tuple[str, int], dict[str, Any]] = {}
    count = dict.fromkeys(groups, 0)
    for flow in shared["flows"]:
        name = groups[flow["group"]]
        known[name, count[name]] = flow
        count[name] += 1
    if len(rows) != len(known) or not all(row in known for row in rows):
        raise ParameterError("the flows of this run are not the flows of its scenario, as in an emulation with real flows")
    return [known[row] for row in rows]


def _held(flow: Mapping[str, Any], kind: str, completion_s: float, measured: tuple[float, float]) -> str | None:
    """Why a flow does not send greedily over the whole measurement interval; None if it does."""
    begin, end = measured
    if kind == "datagrams":
        return "sends datagrams"
    if kind == "application":
        return "is limited by an application"
    if not math.isnan(completion_s):
        return "completes its transfer"
    if flow["start_s"] > begin:
        return "starts after the warm-up"
    if flow["stop_s"] is not None and flow["stop_s"] < end:
        return "stops before the end"
    return None


def _check_changes(shared: Mapping[str, Any], groups: Sequence[str], greedy: Iterable[int], end_s: float) -> None:
    """Raises an error if a change during the measurement interval alters the optimum."""
    crossed = {port for index in greedy for port in shared["paths"][shared["flows"][index]["path"]]}
    for change in shared["changes"]:
        if change["at_s"] >= end_s:
            continue
        if "group" in change:
            what = f"the route of `{groups[change['group']]}`"
        elif change["port"] in crossed:
            what = f"the rate of `{shared['ports'][change['port']]}`"
        else:
            continue
        raise _no_optimum(what, change["at_s"])


def _check_rates(description: dict[str, Any], shared: Mapping[str, Any], greedy: Iterable[int], end_s: float) -> None:
    """Gives links with a table their rate in the measurement interval.

    Raises an error if a table, or a failure of a link, alters the optimum during this interval.
    """
    crossed = {shared["ports"][port] for index in greedy for port in shared["paths"][shared["flows"][index]["path"]]}
    begin_s = shared["warmup_s"]
    for port in Network(description, []).ports.values():
        if port.name in crossed and port.table:
            at_s = _next_rate(port.table, begin_s)
            if at_s is not None and at_s < end_s:
                raise _no_optimum(f"the rate of `{port.name}`", at_s)
            rate_bps = _rate_at(port.table, begin_s) * port.transmitters
            if not rate_bps:
                raise ParameterError(f"the rate of `{port.name}` is 0 in the whole measurement interval, so there is no optimum")
            shared["capacities_bps"][shared["ports"].index(port.name)] = rate_bps
    is_down: dict[str, bool] = {}
    for event in sorted(description["timeline"], key=lambda event: seconds(event["at"])):
        link, at_s = event.get("link"), seconds(event["at"])
        if link is None or not (event["down"] or event["up"]) or not crossed & {link, f"{link}.reverse"} or at_s >= end_s:
            continue
        if at_s > begin_s and is_down.get(link, False) != event["down"]:
            raise _no_optimum(f"the state of `{link}`", at_s)
        is_down[link] = event["down"]
    for link, down in is_down.items():
        if down:
            raise ParameterError(f"`{link}` is down in the whole measurement interval, so there is no optimum")


def _next_rate(table: Mapping[str, Any], begin_s: float) -> float | None:
    """When the rate of a table, which repeats, changes first after a time; None if it is constant."""
    at, rates = [seconds(time) for time in table["at"]], table["rate"]
    period = 2 * at[-1] - at[-2]
    first = math.floor(begin_s / period)
    for repetition in (first, first + 1):
        for row, rate in enumerate(rates):
            at_s = repetition * period + at[row]
            if at_s > begin_s and at_s > 0 and rate != rates[row - 1]:
                return at_s
    return None


def _rate_at(table: Mapping[str, Any], time_s: float) -> float:
    """The rate of a table at a time, in bit/s."""
    at = [seconds(time) for time in table["at"]]
    phase = time_s % (2 * at[-1] - at[-2])
    return amount(table["rate"][max(row for row, begin in enumerate(at) if begin <= phase)])[0]


def _no_optimum(what: str, at_s: float) -> ParameterError:
    return ParameterError(
        f"{what} changes at {at_s:g} s, in the measurement interval, so there is no single optimum; end the warm-up after this "
        "time, or the run before it"
    )


def _capacities(
    shared: Mapping[str, Any], goodputs: Sequence[float], greedy: Iterable[int], others: Iterable[int]
) -> tuple[dict[int, float], list[float]]:
    """The capacity of each port on the paths of greedy flows, and the part that other flows leave free."""

    def path(index: int) -> list[int]:
        crossed: list[int] = shared["paths"][shared["flows"][index]["path"]]
        return crossed

    capacities = {port: shared["capacities_bps"][port] for index in greedy for port in path(index)}
    taken = dict.fromkeys(capacities, 0.0)
    for index in others:
        share = shared["groups"][shared["flows"][index]["group"]]["payload_share"] or 1.0
        for port in path(index):
            if port in taken:
                taken[port] += goodputs[index] / share
    for port, capacity in capacities.items():
        if capacity - taken[port] < _MIN_LEFT * capacity:
            raise ParameterError(
                f"other flows use {quantity('_bps', taken[port])} of the {quantity('_bps', capacity)} of "
                f"`{shared['ports'][port]}`: no capacity remains to share"
            )
    return capacities, [capacity - taken[port] for port, capacity in capacities.items()]


def _of_weights(
    groups: Sequence[str], shared: Mapping[str, Any], greedy: Sequence[int], weights: Mapping[str, float]
) -> Iterable[str]:
    sharing = {groups[shared["flows"][index]["group"]] for index in greedy}
    for name in weights:
        if name not in sharing:
            yield f"the weight of `{name}` has no effect: none of its flows share capacity"


def _of_windows(
    groups: Sequence[str], shared: Mapping[str, Any], greedy: Sequence[int], goodputs: NDArray[np.float64], flows: Table
) -> Iterable[str]:
    """A note for each group with a flow whose goodput is close to the limit of its receiver's window."""
    rtts = flows.head("mean_rtt_s", len(flows))
    bound = set()
    for index, goodput in zip(greedy, goodputs, strict=True):
        group = shared["flows"][index]["group"]
        if goodput * rtts[index] > _WINDOW_USED * shared["groups"][group]["receiver_window_bits"]:
            bound.add(group)
    for group in sorted(bound):
        yield f"the receiver's window limits flows of `{groups[group]}`: the ideal rates ignore this limit"


def _notes(groups: Sequence[str], shared: Mapping[str, Any], why: Sequence[str | None], others: Sequence[int]) -> Iterable[str]:
    if others:
        yield f"subtracted from the capacity as measured, not shared: {_named(groups, shared, why, others)}"
    unknown = {
        shared["flows"][index]["group"]
        for index in others
        if shared["groups"][shared["flows"][index]["group"]]["payload_share"] is None
    }
    for group in sorted(unknown):
        yield f"the headers of `{groups[group]}` are not counted: the sizes of its datagrams are defined only in its code"


def _named(groups: Sequence[str], shared: Mapping[str, Any], why: Sequence[str | None], flows: Iterable[int]) -> str:
    """The groups of these flows with the reasons why they are not greedy, each once."""
    reasons = dict.fromkeys((shared["flows"][index]["group"], why[index]) for index in flows)
    return "; ".join(f"`{groups[group]}` {reason}" for group, reason in reasons)


def _distance(parts: NDArray[np.float64]) -> Distance:
    squares = float((parts**2).sum())
    return Distance(
        distance=float(((parts - 1) ** 2).mean()) ** 0.5,
        fairness=float(parts.sum()) ** 2 / (len(parts) * squares) if squares else math.nan,
    )
