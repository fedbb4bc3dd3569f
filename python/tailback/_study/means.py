"""Means over seeds with confidence intervals, and paired differences on common random numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from typing import Any

from tailback._interval import Interval, Range
from tailback._study.columns import Column, column, varied
from tailback.errors import ParameterError, UnknownName
from tailback.statistics import Bounds, bootstrap

__all__ = ["Sample", "bootstrapped", "differences", "means", "student"]

Sample = tuple[dict[str, Any], int, float]
"""Labels, seed and value of one run."""


def means(
    samples: Iterable[Sample],
    columns: list[str],
    bounds: Callable[[list[float]], Bounds],
    is_random: Callable[[dict[str, Any]], bool],
) -> list[Column]:
    """One row per point: labels, number of seeds, mean, and the ends of the interval, which are NaN without randomness."""
    points: dict[str, tuple[dict[str, Any], list[float]]] = {}
    for labels, _, value in samples:
        points.setdefault(json.dumps(labels), (labels, []))[1].append(value)

    def bounded(labels: dict[str, Any], values: list[float]) -> Bounds:
        # The check of the scenario is slow and only needed for points where all seeds give the same value.
        varies = len(set(values)) > 1 or is_random(labels)
        return bounds(values) if varies else _unknown(values)

    rows = list(points.values())
    return _table(rows, [bounded(*row) for row in rows], columns)


def differences(
    samples: Iterable[Sample], columns: list[str], axis: str, left: Any, right: Any, *, within: Range
) -> list[Column]:
    """One row per combination of the other labels: `right` minus `left`, paired by seed. `within`: the range of the quantity.

    Both use the same seeds and random numbers, so the difference has a smaller variance than either value.
    Source: Law, Simulation Modeling and Analysis (5th ed., 2015), section 10.2.1 (paired-t) and 11.2 (common random numbers).
    """
    if axis not in columns:
        raise UnknownName("axis", axis, columns)
    values: dict[str, dict[Any, dict[int, float]]] = {}
    others: dict[str, dict[str, Any]] = {}
    known: dict[Any, None] = {}
    for labels, seed, value in samples:
        rest = {name: label for name, label in labels.items() if name != axis}
        others[json.dumps(rest)] = rest
        known[labels[axis]] = None
        values.setdefault(json.dumps(rest), {}).setdefault(labels[axis], {})[seed] = value
    for label in (left, right):
        if label not in known:
            raise UnknownName(f"value of `{axis}`", label, [str(word) for word in known])
    if left == right:
        raise ParameterError(f"`{left}` cannot be compared with itself")
    rows = []
    for key, labels in others.items():
        before, after = values[key].get(left, {}), values[key].get(right, {})
        rows.append((labels, [after[seed] - before[seed] for seed in sorted(before.keys() & after.keys())]))
    low, high = within
    bounds = student((low - high, high - low))
    return _table(rows, [bounds(values) for _, values in rows], [name for name in columns if name != axis])


def student(within: Range) -> Callable[[list[float]], Bounds]:
    """A function for the 95 % interval by Student's t of a quantity with this range; it returns NaN with one seed."""

    def bounds(values: list[float]) -> Bounds:
        if len(values) < 2:
            return _unknown(values)
        interval = Interval.of(values, within=within)
        return Bounds(interval.mean, interval.low, interval.high)

    return bounds


def bootstrapped(seed: int) -> Callable[[list[float]], Bounds]:
    """A function for the 95 % bootstrap interval (BCa) with this seed; it returns NaN with one value or a missing value."""

    def bounds(values: list[float]) -> Bounds:
        if not all(map(math.isfinite, values)):
            return Bounds(math.nan, math.nan, math.nan)
        return bootstrap(values, seed=seed) if len(values) > 1 else _unknown(values)

    return bounds


def _unknown(values: list[float]) -> Bounds:
    return Bounds(values[0] if values else math.nan, math.nan, math.nan)


def _table(rows: list[tuple[dict[str, Any], list[float]]], intervals: list[Bounds], columns: list[str]) -> list[Column]:
    return [
        *varied(columns, [labels for labels, _ in rows]),
        column("seeds", [len(values) for _, values in rows]),
        column("mean", [interval.mean for interval in intervals]),
        column("low", [interval.low for interval in intervals]),
        column("high", [interval.high for interval in intervals]),
    ]
