"""The report of a validation in Markdown: first the differences between simulator and kernel, then all comparisons."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Iterator, Sequence

from tailback._interval import Interval
from tailback._validation.comparison import Comparison, Verdict

__all__ = ["markdown", "row"]

_WIDTH = 130
_HOW = (
    "Means over seeds with 95 % intervals; difference: simulator minus kernel, in per cent of the kernel's mean. They *agree* if "
    "the whole interval is within the tolerance (2 %, 3 % for periods), and *differ* if it is completely outside."
)
_HEAD = ("case", "measure", "kernel", "simulator", "difference", "verdict")


def markdown(head: str, timing: str, missing: Sequence[str], comparisons: Sequence[Comparison]) -> str:
    """The whole report: configuration, timing quality, cases without runs, and tables."""
    return "\n".join(_lines(head, timing, missing, comparisons)) + "\n"


def _lines(head: str, timing: str, missing: Sequence[str], comparisons: Sequence[Comparison]) -> Iterator[str]:
    yield "# Comparison of simulator and kernel"
    yield ""
    yield from textwrap.wrap(f"{head}. {_HOW}", _WIDTH)
    yield ""
    yield from textwrap.wrap(timing, _WIDTH)
    if missing:
        yield ""
        yield from textwrap.wrap(f"The kernel has not run these cases, or they changed since: {'; '.join(missing)}.", _WIDTH)
    differing = [each for each in comparisons if each.verdict is Verdict.DIFFER]
    yield ""
    yield "## Differences"
    yield ""
    if differing:
        yield from _table(_HEAD[:-1], (row(each)[:-1] for each in differing))
    else:
        yield "No significant differences."
    yield ""
    yield "## All comparisons"
    yield ""
    yield from _table(_HEAD, (row(each) for each in comparisons))


def row(comparison: Comparison) -> list[str]:
    """A comparison as cells of the table."""
    sides = [_interval(interval, comparison.unit) for interval in (comparison.kernel, comparison.simulated)]
    if comparison.measure.startswith(("share", "fairness")) and comparison.values:
        ranges = (f" ({min(values):.2f} to {max(values):.2f})" for values in zip(*comparison.values, strict=True))
        sides = [side + extent for side, extent in zip(sides, ranges, strict=True)]
    return [comparison.case, comparison.measure, *sides, _difference(comparison), comparison.verdict.value]


def _table(head: Iterable[str], rows: Iterable[list[str]]) -> Iterator[str]:
    names = list(head)
    yield f"| {' | '.join(names)} |"
    yield f"|{'---|' * len(names)}"
    for cells in rows:
        yield f"| {' | '.join(cells)} |"


def _interval(interval: Interval, unit: str) -> str:
    if math.isnan(interval.mean):
        return "not defined"
    text = f"{interval.mean:.4g} ± {interval.half:.2g}"
    return f"{text} {unit}" if unit else text


def _difference(comparison: Comparison) -> str:
    difference = comparison.difference
    if math.isnan(difference.mean):
        return ""
    if comparison.kernel.mean == 0:
        return f"{difference.mean:+.3g} ± {difference.half:.2g}"
    return f"{difference.mean:+.1%} ± {difference.half:.1%}"
