"""The report of a validation in Markdown: counts of the verdicts, the differences, then all comparisons."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from tailback._interval import Interval
from tailback._validation import measures
from tailback._validation.comparison import Comparison, Verdict
from tailback._validation.measures import Measure

__all__ = ["all_comparisons", "differences", "markdown", "overview", "table"]

_WIDTH = 130
_HOW = (
    "Means over seeds with 95 % intervals; difference: simulator minus kernel, in per cent of the kernel's mean. They *agree* if "
    "the whole interval is within the tolerance (2 %, 3 % for periods; for queues, at least the packet rate times the lateness "
    "of packets), and *differ* if it is completely outside. Otherwise they are *within the spread* if the kernel ran in virtual "
    "time and the mean of each side is in the range of the other side's values: other starts change as much. Else they are "
    "*inconclusive*."
)
_CELLS = (
    "One flow at 20 Mbit/s and 40 ms unless the case says otherwise. Each cell gives the kernel's mean and the difference. "
    "**Bold** cells differ, cells with ~ are within the spread, *italic* ones are inconclusive."
)

# The columns of each table; a case belongs to the first one that has all its measures. Timeouts, almost always 0, have none.
_TABLES: tuple[tuple[Measure, ...], ...] = (
    (measures.COMPLETION, measures.RETRANSMISSIONS),
    (
        measures.UTILISATION,
        measures.QUEUE,
        measures.FAIRNESS,
        measures.SHARE,
        measures.RETRANSMISSIONS,
    ),
    (
        measures.UTILISATION,
        measures.QUEUE,
        measures.PERIOD,
        measures.DEPTH,
        measures.DROPS_PER_EVENT,
        measures.RETRANSMISSIONS,
    ),
)


def markdown(head: str, timing: str, missing: Sequence[str], comparisons: Sequence[Comparison]) -> str:
    """The whole report: configuration, timing quality, cases without runs, and tables."""
    paragraphs = [head, timing]
    if missing:
        paragraphs.append(f"The kernel has not run these cases, or they changed since: {'; '.join(missing)}.")
    parts = [
        "# Comparison of simulator and kernel",
        *("\n".join(textwrap.wrap(paragraph, _WIDTH)) for paragraph in [f"{paragraphs[0]}. {_HOW}", *paragraphs[1:]]),
        overview(comparisons),
        "## Differences",
        differences(comparisons) or "No significant differences.",
        "## All comparisons",
        _CELLS,
        *all_comparisons(comparisons),
    ]
    return "\n\n".join(parts) + "\n"


def overview(comparisons: Sequence[Comparison]) -> str:
    """A table of the number of comparisons by measure and verdict."""
    names = list(dict.fromkeys(each.measure for each in comparisons))
    counts = {
        name: [sum(each.measure == name and each.verdict is verdict for each in comparisons) for verdict in Verdict]
        for name in names
    }
    total = [sum(column) for column in zip(*counts.values(), strict=True)]
    rows = [*counts.items(), ("all", total)]
    return table(["measure", *(verdict.value for verdict in Verdict)], ([name, *map(str, row)] for name, row in rows))


def differences(comparisons: Sequence[Comparison]) -> str:
    """A table of the comparisons that differ; empty without any."""
    rows = [
        [
            each.case,
            each.measure,
            *(_interval(side, each.unit) for side in (each.kernel, each.simulated)),
            f"{_difference(each)}{'' if each.kernel.mean == 0 else ' %'}",
        ]
        for each in comparisons
        if each.verdict is Verdict.DIFFER
    ]
    return table(["case", "measure", "kernel", "simulator", "difference"], rows) if rows else ""


def all_comparisons(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Tables with a row per case."""
    shown = (each for each in comparisons if each.measure != measures.TIMEOUTS.name)
    cases = {name: {each.measure: each for each in row} for name, row in groupby(shown, key=lambda each: each.case)}
    for columns in _TABLES:
        titles = {measure.name: f"{measure.name}, {measure.unit}" if measure.unit else measure.name for measure in columns}
        rows = {name: row for name, row in cases.items() if row.keys() <= titles.keys()}
        cases = {name: row for name, row in cases.items() if name not in rows}
        used = [title for title in titles if any(title in row for row in rows.values())]
        if rows:
            cells = ([name, *(_cell(row[title]) if title in row else "" for title in used)] for name, row in rows.items())
            yield table(["case", *(titles[title] for title in used)], cells)


def table(head: Iterable[str], rows: Iterable[list[str]]) -> str:
    names = list(head)
    lines = [f"|{'|'.join(names)}|", f"|{'---|' * len(names)}", *(f"|{'|'.join(cells)}|" for cells in rows)]
    return "\n".join(lines)


def _cell(comparison: Comparison) -> str:
    if math.isnan(comparison.difference.mean):
        return "*not defined*"
    text = f"{comparison.kernel.mean:.4g}, {_difference(comparison)}"
    mark = {Verdict.AGREE: "", Verdict.WITHIN_SPREAD: "~", Verdict.DIFFER: "**", Verdict.INCONCLUSIVE: "*"}[comparison.verdict]
    return f"~{text}" if mark == "~" else f"{mark}{text}{mark}"


def _interval(interval: Interval, unit: str) -> str:
    spread = f"±{interval.half:.2g}" if interval.is_symmetric else f" ({interval.low:.3g} to {interval.high:.3g})"
    text = f"{interval.mean:.4g}{spread}"
    return f"{text} {unit}" if unit else text


def _difference(comparison: Comparison) -> str:
    """In per cent; absolute if the kernel's mean is 0. An interval within 0.05 of 0 is 0."""
    difference = comparison.difference
    if comparison.kernel.mean == 0:
        return "0" if difference.mean == difference.half == 0 else f"{difference.mean:+.3g}±{difference.half:.2g}"
    mean, half = 100 * difference.mean, 100 * difference.half
    return "0" if abs(mean) + half < 0.05 else f"{mean:+.1f}±{half:.1f}"
