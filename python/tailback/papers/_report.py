"""The report on a document: the overall verdict, then the plots, claims and assumptions of each figure."""

from __future__ import annotations

import hashlib
import json
import platform
from dataclasses import dataclass

from tailback import _html
from tailback._core import __version__
from tailback._html.pictures import Picture, dark_inks
from tailback._interval import Interval
from tailback._study.measurements import Tally
from tailback.papers._claim_text import finding_label, number, seeds_needed, summary
from tailback.papers._experiment import SEEDS, Condition, Document, Experiment, Grid
from tailback.papers._experiment_plot import draw
from tailback.papers._figure_numbers import Figures
from tailback.papers._outcome import Outcome, Verdict
from tailback.plots import require

__all__ = ["Basis", "page"]

# Maximum number of points listed on the page; the JSON file contains all of them.
_LISTED = 120


@dataclass(frozen=True)
class Basis:
    """Provenance of a page's numbers: seeds, requested runs, and completed runs."""

    seeds: int
    requested: int
    tally: Tally


def page(document: Document, outcomes: list[Outcome], missing: list[str], basis: Basis) -> str:
    """Render one self-contained HTML page. `missing` lists interrupted experiments."""
    require()
    verdicts = [verdict for outcome in outcomes for verdict in outcome.claims]
    conditions: dict[Condition, list[str]] = {}
    for outcome in outcomes:
        for condition in outcome.experiment.conditions:
            decided = [verdict.claim.id for verdict in outcome.claims if verdict.decided_by_condition(condition.label)]
            conditions.setdefault(condition, []).extend(decided)
    # In page order: plots without a number in the document are counted from the top.
    ordered = sorted(outcomes, key=lambda outcome: outcome.experiment.id != document.lead)
    figures = Figures.of(outcome.experiment for outcome in ordered)
    sections = [_section(outcome, figures) for outcome in outcomes]
    tally = basis.tally
    return _html.page(
        "papers/report.html",
        dark_inks(picture for section in sections for _, picture in section.figures),
        document=document,
        missing=missing,
        verdict=summary(verdicts),
        seeds=basis.seeds,
        usual_seeds=SEEDS,
        failed=[verdict for verdict in verdicts if verdict.claim.kind == "reproduced" and not verdict.holds],
        sections=sections,
        conditions=[_Condition(*row) for row in conditions.items()],
        linked=figures.linked,
        asides=_asides,
        colour=_colour,
        finding_label=finding_label,
        number=number,
        seeds_needed=seeds_needed,
        tally=tally,
        shared=f"instead of {basis.requested:,}, because figures share runs" if basis.requested > tally.runs else "",
        digest=hashlib.sha256("".join(sorted(tally.hashes)).encode()).hexdigest()[:16],
        version=__version__,
        python=platform.python_version(),
    )


@dataclass(frozen=True)
class _Condition:
    """A row of the table of open conditions: the claims whose finding differs between its values."""

    condition: Condition
    claims: list[str]


@dataclass(frozen=True)
class _Row:
    """A row of a grid; `best` is the index of its best cell."""

    name: str
    cells: list[str]
    best: int


@dataclass(frozen=True)
class _Grid:
    """A table of one measure."""

    title: str
    columns: list[str]
    rows: list[_Row]


@dataclass(frozen=True)
class _Points:
    """Points with their labels and measures, and the number of points not listed."""

    head: list[str]
    rows: list[list[str]]
    rest: int


@dataclass(frozen=True)
class _Section:
    """Contents of an experiment's section of the page."""

    outcome: Outcome
    runs: str
    grids: list[_Grid]
    figures: list[tuple[str, Picture]]
    points: _Points
    scenario: str


def _section(outcome: Outcome, figures: Figures) -> _Section:
    experiment = outcome.experiment
    runs = "deterministic: one run each" if experiment.exact else f"{outcome.seeds} seeds each"
    least = min(len(values) for point in outcome.points for values in point.values.values())
    if least < outcome.seeds:
        runs += f", {least} for points that are only drawn"
    return _Section(
        outcome,
        f"{_variants(experiment)}, {runs}",
        [_grid(outcome, grid) for grid in experiment.grids],
        list(zip(figures.names[experiment.id], draw(experiment.rows, outcome), strict=True)),
        _points(outcome),
        json.dumps(experiment.variants[0].scenario.to_dict(), indent=2),
    )


def _grid(outcome: Outcome, grid: Grid) -> _Grid:
    found = {
        (point.labels[grid.rows], point.labels[grid.columns]): outcome.interval_of(point, grid.measure)
        for point in outcome.points
    }
    names, columns = (list(dict.fromkeys(place[side] for place in found)) for side in (0, 1))
    choose = max if grid.best == "max" else min
    rows = []
    for name in names:
        means = [found[name, column].mean for column in columns]
        cells = [_spread(found[name, column]) for column in columns]
        rows.append(_Row(str(name), cells, means.index(choose(means))))
    return _Grid(grid.title, [str(column) for column in columns], rows)


def _variants(experiment: Experiment) -> str:
    count = len(experiment.variants)
    return "one variant" if count == 1 else f"{count} variants"


def _asides(verdict: Verdict) -> str:
    """Remarks on a claim, set in small type."""
    return "; ".join(part for part in ("ours" if verdict.claim.ours else "", verdict.claim.note) if part)


def _colour(verdict: Verdict) -> str:
    """Good, bad (for a claim that should hold), or neutral."""
    if verdict.holds and verdict.claim.kind != "not_reproduced":
        return "yes"
    return "no" if verdict.claim.kind == "reproduced" else "open"


def _points(outcome: Outcome) -> _Points:
    points = outcome.points[:_LISTED]
    labels = list(dict.fromkeys(name for point in points for name in point.labels))
    measures = list(outcome.experiment.measures)
    rows = [
        [
            *(str(point.labels.get(name, "")) for name in labels),
            *(_spread(outcome.interval_of(point, name)) for name in measures),
        ]
        for point in points
    ]
    return _Points([*labels, *(f"*{name}" for name in measures)], rows, len(outcome.points) - len(points))


def _spread(interval: Interval) -> str:
    if not interval.is_symmetric:
        return f"{interval.mean:.4g} ({interval.low:.3g} to {interval.high:.3g})"
    half = f"{interval.half:.2g}" if interval.half < 100 else f"{interval.half:.0f}"
    return f"{interval.mean:.4g}" + (f" \N{PLUS-MINUS SIGN} {half}" if interval.half else "")
