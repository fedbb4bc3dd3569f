"""Completion times of transfers, by size class."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from numbers import Real

from tailback import _core
from tailback._tables.table import Table
from tailback.errors import ParameterError

__all__ = ["completions"]


def completions(flows: Table, classes: Sequence[str], percentiles: Sequence[float]) -> Table:
    """One row per flow group and size class (`Run.completions`)."""
    bounds = [0.0, *_bounds(classes), math.inf]
    shares = _shares(percentiles)
    # The transports of some flows do not report completions, or timeouts either.
    of = {name: flows.head(name, len(flows)) for name in ("group", "size_bytes", "completion_time_s", "slowdown", "timeouts")}
    members: dict[tuple[str, int], list[int]] = {}
    for index, (group, size) in enumerate(zip(of["group"], of["size_bytes"], strict=True)):
        if not math.isnan(size):
            members.setdefault((group, bisect_left(bounds, size) - 1), []).append(index)
    order = {group: place for place, group in enumerate(dict.fromkeys(of["group"]))}
    rows = []
    for group, place in sorted(members, key=lambda key: (order[key[0]], key[1])):
        done = [index for index in members[group, place] if not math.isnan(of["completion_time_s"][index])]
        is_known = bool(done) or not any(math.isnan(of["timeouts"][index]) for index in members[group, place])
        times, slowdowns = ([of[name][index] for index in done] for name in ("completion_time_s", "slowdown"))
        up_to = bounds[place + 1]
        row: dict[str, str | int | float] = {
            "group": group,
            "above_bytes": bounds[place],
            "up_to_bytes": up_to if math.isfinite(up_to) else math.nan,
            "flows": len(members[group, place]),
            "completed": len(done) if is_known else math.nan,
            **dict(_statistics("completion", "_s", times, shares)),
            **dict(_statistics("slowdown", "", slowdowns, shares)),
        }
        rows.append(row)
    if not rows:
        raise ParameterError("no flow of this run has a `size`; for endless flows, use `flows` and `groups`")
    return Table._of("completions", {name: [row[name] for row in rows] for name in rows[0]})


def _bounds(classes: object) -> list[float]:
    if isinstance(classes, str) or not isinstance(classes, Sequence):
        raise ParameterError(f'`classes` is {classes!r}; expected a list of sizes, for example ["100 kB"]')
    bounds = []
    for text in classes:
        read = _core.in_column_units(text) if isinstance(text, str) else None
        if read is None or read[1] != "bytes":
            raise ParameterError(f'`classes` has {text!r}; expected sizes with units, for example "100 kB"')
        bounds.append(read[0])
    if bounds != sorted(set(bounds)) or bounds[:1] == [0.0]:
        raise ParameterError(f"`classes` is {list(classes)}; expected sizes above 0 in ascending order")
    return bounds


def _shares(percentiles: object) -> dict[str, Fraction]:
    """Column suffixes of the percentiles, with exact shares: 99.9 is taken as the decimal number 99.9."""
    if isinstance(percentiles, str) or not isinstance(percentiles, Sequence):
        raise ParameterError(f"`percentiles` is {percentiles!r}; expected a list of numbers, for example [50, 99]")
    shares = {}
    for percentile in percentiles:
        if isinstance(percentile, bool) or not isinstance(percentile, Real) or not 0 < float(percentile) <= 100:
            raise ParameterError(f"`percentiles` has {percentile!r}; expected numbers above 0 and at most 100, for example 99")
        written = repr(float(percentile)).removesuffix(".0")
        shares[written.replace(".", "_")] = Fraction(written) / 100
    return shares


def _statistics(what: str, unit: str, values: list[float], shares: Mapping[str, Fraction]) -> Iterator[tuple[str, float]]:
    """Mean and nearest-rank percentiles, by the same rule as in the core; NaN if there are no values."""
    ordered = sorted(values)
    yield f"{what}_mean{unit}", math.fsum(ordered) / len(ordered) if ordered else math.nan
    for written, share in shares.items():
        yield f"{what}_p{written}{unit}", ordered[math.ceil(share * len(ordered)) - 1] if ordered else math.nan
