"""Explains a difference of a draw: the first packet that differs, and a simpler scenario that still has the difference."""

from __future__ import annotations

import copy
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tailback._scenario import Scenario
from tailback._simulation import has_stack, simulate
from tailback._study.columns import Column, column
from tailback._validation.cases import PACKET, Case
from tailback._validation.drawn_scenario import HEADERS, case
from tailback._validation.draws import Settings
from tailback._validation.first_packet import first_packet, sent_packets
from tailback._validation.judging import Result, judge, measures_of
from tailback._validation.virtual_runs import VirtualKernel

__all__ = ["SIMPLIFICATIONS", "Text", "first_difference", "reduced"]

# Runs on each side of a simpler scenario.
_RUNS = 3

# Maximum number of simpler scenarios that are tried.
_TRIES = 12

# Times of packets that differ by less are equal: one timer tick, and a share of the round trip.
_SHARE_OF_RTT = 0.1

# The shortest run that is tried.
_SHORTEST_S = 0.5

Watch = Callable[[float], None]


class Text:
    """Measurement of a computation whose result is plain data, stored as JSON."""

    name = "text"

    def read(self, result: Any) -> list[Column]:
        return [column("text", [json.dumps(result)])]

    @staticmethod
    def value(columns: list[Column]) -> Any:
        ((_, _, _, words),) = columns
        return json.loads(words[0])


def first_difference(settings: Settings, kernel: Mapping[str, Any], progress: Watch) -> dict[str, Any] | None:
    """The first packet that differs in the run with seed 1, as plain data; None if there is none."""
    with tempfile.TemporaryDirectory(prefix="tailback-packets-") as folder:
        sides = []
        for place, scenario in enumerate(_sides(settings, kernel)):
            file = Path(folder) / f"{place}.pcapng"
            _capture(scenario, file, progress)
            sides.append(sent_packets(file))
    factors = [flow["rtt_factor"] for flow in settings["flows"]]
    tolerance_s = 1 / kernel["hz"] + _SHARE_OF_RTT * settings["rtt_ms"] / 1000 * min(factors)
    found = first_packet(*sides, mss=settings["mtu"] - HEADERS, tolerance_s=tolerance_s)
    return None if found is None else asdict(found)


def reduced(settings: Settings, kernel: Mapping[str, Any], measure: str, progress: Watch) -> dict[str, Any]:
    """A simpler draw in which the measure is still outside its limit, its values, and its first packet that differs.

    Each simplification is repeated while the difference remains with its sign, with at most twelve tries in total.
    """
    # None if the difference is not certain with the fewer runs.
    values = _differs(settings, kernel, measure, progress)
    steps: list[str] = []
    tries = 0
    for step, simplify in SIMPLIFICATIONS.items() if values else ():
        while tries < _TRIES and (simpler := simplify(copy.deepcopy(settings))) is not None:
            tries += 1
            found = _differs(simpler, kernel, measure, progress)
            if not found or not values or (found[1] > found[0]) != (values[1] > values[0]):
                break
            settings, values = simpler, found
            steps.append(step)
    return {"settings": settings, "steps": steps, "values": values, "packet": first_difference(settings, kernel, progress)}


def _differs(settings: Settings, kernel: Mapping[str, Any], measure: str, progress: Watch) -> tuple[float, float] | None:
    """The means of both sides if they differ with certainty."""
    chosen = [each for each in measures_of(settings) if each.name == measure]
    if not chosen:
        return None
    played = case(settings, tuple(chosen), _RUNS)
    values = [
        [chosen[0].of(simulate(scenario, seed, progress=progress)) for seed in range(1, played.seeds + 1)]
        for scenario in _scenarios(played, kernel)
    ]
    found = judge(chosen[0], *values)
    return (found.kernel, found.simulated) if found.result is Result.OUTSIDE else None


def _sides(settings: Settings, kernel: Mapping[str, Any]) -> tuple[Scenario, Scenario]:
    return _scenarios(case(settings, (), 1), kernel)


def _scenarios(played: Case, kernel: Mapping[str, Any]) -> tuple[Scenario, Scenario]:
    built = VirtualKernel(**kernel)
    return built.kernel_scenario(played), built.simulated_scenario(played)


def _capture(scenario: Scenario, file: Path, progress: Watch) -> None:
    """Write the packets of the run with seed 1."""
    if has_stack(scenario.to_dict()):
        simulate(scenario, 1, capture=file, progress=progress)
    else:
        groups = list(scenario.to_dict()["flows"])
        simulate(scenario.with_({"record.traces": {"packets": groups}}), 1, progress=progress).save_capture(file)


def _without(name: str) -> Callable[[Settings], Settings | None]:
    def simplify(settings: Settings) -> Settings | None:
        return settings if settings["impairments"].pop(name, None) is not None else None

    return simplify


def _usual_mtu(settings: Settings) -> Settings | None:
    return None if settings["mtu"] == PACKET else {**settings, "mtu": PACKET}


def _no_ecn(settings: Settings) -> Settings | None:
    is_removable = settings["ecn"] and settings["queue"] != "threshold"
    return {**settings, "ecn": False} if is_removable else None


def _drop_tail(settings: Settings) -> Settings | None:
    has_dctcp = any(flow["law"] == "dctcp" for flow in settings["flows"])
    return None if settings["queue"] == "drop_tail" or has_dctcp else {**settings, "queue": "drop_tail", "ecn": False}


def _one_flow(settings: Settings) -> Settings | None:
    first = settings["flows"][0]
    if first.get("count", 1) > 1:
        return {**settings, "flows": [{**first, "count": first["count"] // 2}]}
    return {**settings, "flows": [first]} if len(settings["flows"]) > 1 else None


def _same_flows(settings: Settings) -> Settings | None:
    first, *others = settings["flows"]
    same = [{**flow, "law": first["law"], "rtt_factor": 1.0} for flow in others]
    return None if same == others else {**settings, "flows": [{**first, "rtt_factor": 1.0}, *same]}


def _shorter(settings: Settings) -> Settings | None:
    half_s = float(f"{settings['duration_s'] / 2:.3g}")
    ends_s = [change["at_s"] + change["for_s"] for change in settings["impairments"].values() if "at_s" in change]
    ends_s += [change["until_s"] for change in settings["impairments"].values() if "until_s" in change]
    return None if half_s < max([_SHORTEST_S, *ends_s]) else {**settings, "duration_s": half_s}


def _simplifications() -> Iterator[tuple[str, Callable[[Settings], Settings | None]]]:
    for name in ("outage", "rate_change", "duplication", "lost_acks", "ordered_jitter", "reordering_jitter", "lost_syns"):
        yield f"without {name}", _without(name)
    for name in ("random_loss", "burst_loss"):
        yield f"without {name}", _without(name)
    yield f"MTU {PACKET}", _usual_mtu
    yield "without ECN", _no_ecn
    yield "drop-tail", _drop_tail
    yield "fewer flows", _one_flow
    yield "equal flows", _same_flows
    yield "half the duration", _shorter


SIMPLIFICATIONS = dict(_simplifications())
