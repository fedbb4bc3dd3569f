"""Comparison of the fairness of a run with that of the same run with RED at its drop-tail bottlenecks.

At a full drop-tail queue, phases of packets decide which flows lose packets; RED discards at random (docs/howto/round_trips.md).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tailback._core import in_column_units
from tailback._run.fairness import Fairness, fairness_of
from tailback._scenario import Scenario
from tailback._tables.table import Table
from tailback.errors import ScenarioWarning, StarvationWarning

__all__ = ["with_red"]

# The thresholds of RED, in parts of the buffer.
_THRESHOLDS = {"min_threshold": "25 %", "max_threshold": "75 %"}
# Factor by which a group's part of its fair rate must differ; for one group, difference of Jain's index. Eight flows of Reno,
# NewReno and CUBIC over 10 Mbit/s had factors of up to 1.4 if all round trips were alike, and of 1.9 to 4.1 with 40 and 42 ms.
_FACTOR, _INDEX = 1.5, 0.1


def with_red(
    found: Fairness,
    scenario: Scenario,
    seed: int,
    weights: Mapping[str, float],
    simulated: Callable[[Scenario], tuple[Table, float]],
) -> Fairness:
    """The fairness with a note, if groups have another part of their fair rate with RED.

    `simulated` returns the flows of a run with the same seed, and its simulated time.
    """
    expanded = scenario.expanded(seed)
    changes = _changes(found, expanded.to_dict())
    if not changes:
        return found
    with warnings.catch_warnings():
        # The run has had its warnings, and RED is no choice of its user.
        for category in (ScenarioWarning, StarvationWarning):
            warnings.simplefilter("ignore", category)
        flows, simulated_s = simulated(expanded.with_({**changes, "record": {}}))
    other = fairness_of(expanded, seed, flows, simulated_s, weights)
    if not (differences := _differences(found, other)):
        return found
    queues = " and ".join(f"`{path.split('.')[1]}`" for path in changes)
    return replace(found, notes=(*found.notes, f"with RED at {queues}, {differences}: the drop-tail queue decides the shares"))


def _differences(found: Fairness, other: Fairness) -> str:
    """The groups that get another part of their fair rate; the other index of one group."""
    one, two = _parts(found), _parts(other)
    if len(one) == 1:
        indices = (found.max_min.fairness, other.max_min.fairness)
        return f"Jain's index is {indices[1]:.2f} instead of {indices[0]:.2f}" if abs(indices[0] - indices[1]) > _INDEX else ""
    return ", ".join(
        f"`{name}` gets {two[name]:.2f} of its max-min fair rate instead of {part:.2f}"
        for name, part in one.items()
        if name in two and max(part, two[name]) > _FACTOR * min(part, two[name])
    )


def _parts(found: Fairness) -> dict[str, float]:
    """Mean ratio of goodput and max-min fair rate of each group."""
    ratios: dict[str, list[float]] = {}
    for row in found.flows.to_rows():
        ratios.setdefault(row["group"], []).append(row["of_max_min"])
    return {name: sum(values) / len(values) for name, values in ratios.items()}


def _changes(found: Fairness, described: Mapping[str, Any]) -> dict[str, Any]:
    """The changes that replace drop-tail by RED on the links that are bottlenecks of several flows."""
    held = {row["queue"] for row in found.links.to_rows() if row["held_flows"] > 1}
    changes = {}
    for name, link in described.get("links", {}).items():
        queue = link.get("queue", {})
        is_drop_tail = queue.get("policy", "drop_tail") == "drop_tail" and queue.get("scheduler", "fifo") == "fifo"
        buffer = in_column_units(queue.get("buffer", "unlimited"))
        # RED has no thresholds in cells, and none without a buffer.
        if (name in held or f"{name}.reverse" in held) and is_drop_tail and buffer is not None and buffer[1] != "cells":
            unit = {"queue_unit": "bytes"} if buffer[1] == "bytes" else {}
            changes[f"links.{name}.queue"] = {**queue, "policy": "red", **_THRESHOLDS, **unit}
    return changes
