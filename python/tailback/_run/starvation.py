"""Reports of starved flows, which the column `starved` of the table of groups counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tailback._tables.table import Table
from tailback.errors import StarvationWarning, warn

__all__ = ["starved_flows", "warn_of_starved_flows"]


def starved_flows(runs: Iterable[Mapping[str, Table]]) -> Iterator[str]:
    """A sentence about the starved flows of runs, given by their tables; nothing if there are none."""
    flows, starved, number, affected = 0.0, dict[str, float](), 0, 0
    for tables in runs:
        groups, before = tables["groups"], sum(starved.values())
        number += 1
        # Runs of earlier versions do not have the column, and it is missing for real flows.
        counts = groups.head("starved", len(groups)) if "starved" in groups.columns else []
        for name, count in zip(groups.head("group", len(groups)), counts, strict=False):
            if count > 0:
                starved[str(name)] = starved.get(str(name), 0) + count
        flows += sum(groups.head("flows", len(groups)))
        affected += sum(starved.values()) > before
    if starved:
        where = ", ".join(f"{count:,.0f} of `{name}`" for name, count in starved.items())
        of_runs = f" in {affected:,} of {number:,} runs" if number > 1 else ""
        yield (
            f"{sum(starved.values()):,.0f} of {flows:,.0f} flows{of_runs} starved ({where}): they had data for at least ten "
            "round trips, and delivered nothing, or less than 1 % of an equal share of their bottleneck"
        )


def warn_of_starved_flows(runs: Iterable[Mapping[str, Table]]) -> None:
    """Issue one warning about the starved flows of these runs, if there are any."""
    for text in starved_flows(runs):
        warn(StarvationWarning(text))
