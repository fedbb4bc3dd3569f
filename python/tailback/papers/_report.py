"""The report on a document: the verdict first, then each figure with its plot, its claims, and what was left open."""

from __future__ import annotations

import hashlib
import json
import platform
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from string import Template

from tailback._core import __version__
from tailback._interval import Interval
from tailback._study.readings import Tally
from tailback.papers._experiment import Document, Experiment, Grid, LeftOpen
from tailback.papers._experiment_plot import draw
from tailback.papers._outcome import Outcome, Verdict
from tailback.papers._wording import needed, number, sentence, word
from tailback.plots import require

__all__ = ["Basis", "page"]

_KINDS = (
    "A claim is judged by the 99.9 % interval of its values over the seeds (Student's t), which stands in brackets: so "
    "wide, because a page judges about a hundred. It holds when the whole interval fulfils what it must be, is contradicted"
    " when none of it does, and otherwise cannot be told; an order is judged by the difference with the same seeds. "
    "<i>Decided by</i> says how many seeds would do, if more of them vary like these. Kinds: <b>R</b> holds, as was found "
    "with seeds enough. <b>S</b> hangs on a setting that the document does not give; it is named, and shown next to "
    "another. <b>N</b> does not hold in any setting tried, or nothing tells. Intervals of plots and of other numbers are of"
    " 95 %. Numbers of the document are those that its text states; none is read off a picture."
)

# Points that the page lists in full; of more, the JSON beside it has all.
_LISTED = 120


# Seeds with which claims got their kinds.
_USUAL = 10


@dataclass(frozen=True)
class Basis:
    """What the numbers of a page rest on: seeds, runs that experiments asked for, and those that were done."""

    seeds: int
    asked: int
    tally: Tally


def page(document: Document, outcomes: list[Outcome], missing: list[str], basis: Basis) -> str:
    """One HTML file that needs no other. `missing` are experiments that were interrupted."""
    require()
    verdicts = [verdict for outcome in outcomes for verdict in outcome.claims]
    template = Template(files(__package__).joinpath("report.html").read_text(encoding="utf-8"))
    filled = template.substitute(
        title=escape(document.title),
        citation=escape(document.citation),
        cut=f'<p class="verdict">Interrupted: without {escape(", ".join(missing))}.</p>' if missing else "",
        verdict=sentence(verdicts) + ".",
        few=_few(basis.seeds),
        failed=_failed(verdicts),
        lead="\n".join(_experiment(outcome) for outcome in outcomes if outcome.experiment.id == document.lead),
        kinds=_KINDS,
        contents=_contents(outcomes),
        left_open=_left_open(document.left_open),
        experiments="\n".join(_experiment(outcome) for outcome in outcomes if outcome.experiment.id != document.lead),
        provenance=_provenance(basis),
    )
    return filled.replace(" %", "\N{NO-BREAK SPACE}%")


def _few(seeds: int) -> str:
    """A word on pages that tell less than others."""
    if seeds >= _USUAL:
        return ""
    return f"<p>Made with {seeds} seeds; with fewer than {_USUAL} many claims cannot be told, and intervals are wide.</p>"


def _failed(verdicts: list[Verdict]) -> str:
    """Claims that should hold and do not, at the top of the page."""
    failed = [verdict for verdict in verdicts if verdict.claim.kind == "R" and not verdict.holds]
    return f"<p>These held with enough seeds and do not here:</p>{_claims(failed)}" if failed else ""


def _contents(outcomes: list[Outcome]) -> str:
    """A line for each figure: where it is, and what became of its claims."""
    rows = [["", "figure", "claims"]]
    for outcome in outcomes:
        name = outcome.experiment.id
        link = f'<a href="#{name}">{name.partition("/")[2]}</a>'
        rows.append([link, escape(outcome.experiment.title), ", ".join(_brief(verdict) for verdict in outcome.claims)])
    return _table(rows)


def _brief(verdict: Verdict) -> str:
    claim = verdict.claim
    return f'<span class="{_colour(verdict)}" title="{escape(verdict.text)}">{claim.id} {word(verdict)}</span>'


def _experiment(outcome: Outcome) -> str:
    experiment = outcome.experiment
    runs = "nothing here is random: one run each" if experiment.exact else f"{outcome.seeds} seeds each"
    example = json.dumps(experiment.variants[0].scenario.to_dict(), indent=2)
    parts = [
        f'<h2 id="{experiment.id}">{escape(experiment.title)}</h2>',
        f'<p class="small">{escape(experiment.source)}; {_variants(experiment)}, {runs}</p>',
        f"<p>{escape(experiment.question)}</p>",
        f"<p>Quick form; <code>--full</code> decides {escape(experiment.undecided)}.</p>" if experiment.undecided else "",
        *(f"<p>{escape(paragraph)}</p>" for paragraph in outcome.answer.split("\n\n") if paragraph),
        *(_grid(outcome, grid) for grid in experiment.grids),
        *(f"<figure>{svg}</figure>" for svg in draw(experiment.panels, outcome)),
        _claims(outcome.claims) if outcome.claims else "",
        f'<p class="small">Left open here:</p>{_left_open(experiment.left_open)}' if experiment.left_open else "",
        f"<details><summary>All numbers</summary>{_points(outcome)}</details>",
        f"<details><summary>One of the scenarios</summary><pre>{escape(example)}</pre></details>",
    ]
    return "\n".join(part for part in parts if part)


def _grid(outcome: Outcome, grid: Grid) -> str:
    found = {
        (point.labels[grid.rows], point.labels[grid.columns]): outcome.interval(point.values[grid.measure])
        for point in outcome.points
    }
    names, columns = (list(dict.fromkeys(place[side] for place in found)) for side in (0, 1))
    choose = max if grid.best == "most" else min
    rows = [[escape(grid.title), *(f"*{escape(str(column))}" for column in columns)]]
    for name in names:
        means = {column: found[name, column].mean for column in columns}
        best = choose(means, key=means.__getitem__)
        cells = [_spread(found[name, column]) for column in columns]
        rows.append(
            [escape(str(name)), *(f"<b>{cell}</b>" if each == best else cell for each, cell in zip(columns, cells, strict=True))]
        )
    return _table(rows)


def _variants(experiment: Experiment) -> str:
    count = len(experiment.variants)
    return "one variant" if count == 1 else f"{count} variants"


def _claims(verdicts: list[Verdict]) -> str:
    rows = [["claim", "", "", "*published", "*measured", "*must be", "*seeds", "*decided by"]]
    for verdict in verdicts:
        claim = verdict.claim
        aside = "; ".join(part for part in ("ours" if claim.ours else "", claim.note) if part)
        note = f' <span class="aside">{escape(aside)}</span>' if aside else ""
        said = f'<span class="word {_colour(verdict)}">{word(verdict)}</span>'
        published = "" if claim.published is None else f"{claim.published:g}"
        rows.append(
            [
                f'<span class="word">{claim.id} {claim.kind}</span>',
                escape(verdict.text) + note,
                said,
                published,
                number(verdict),
                escape(str(claim.must)),
                str(verdict.seeds),
                escape(needed(verdict)),
            ]
        )
        if verdict.contrast:
            beside = f'<span class="aside">beside it: {escape(verdict.contrast.contrast.setting)}</span>'
            found = f'<span class="word">{verdict.contrast.finding}</span>'
            rows.append(["", beside, found, "", number(verdict.contrast), "", "", ""])
    return _table(rows)


def _colour(verdict: Verdict) -> str:
    """Good, bad although it should hold, or neither."""
    if verdict.holds and verdict.claim.kind != "N":
        return "yes"
    return "no" if verdict.claim.kind == "R" else "open"


def _left_open(choices: tuple[LeftOpen, ...]) -> str:
    return "<dl>" + "".join(f"<dt>{escape(each.what)}</dt><dd>{escape(each.choice)}</dd>" for each in choices) + "</dl>"


def _points(outcome: Outcome) -> str:
    points = outcome.points[:_LISTED]
    labels = list(dict.fromkeys(name for point in points for name in point.labels))
    measures = list(outcome.experiment.measures)
    rows = [[*labels, *(f"*{name}" for name in measures)]]
    for point in points:
        named = [escape(str(point.labels.get(name, ""))) for name in labels]
        rows.append([*named, *(_spread(outcome.interval(point.values[name])) for name in measures)])
    rest = len(outcome.points) - len(points)
    return _table(rows) + (f"<p>{rest} more are in the JSON file beside this page.</p>" if rest else "")


def _spread(interval: Interval) -> str:
    half = f"{interval.half:.2g}" if interval.half < 100 else f"{interval.half:.0f}"
    return f"{interval.mean:.4g}" + (f" \N{PLUS-MINUS SIGN} {half}" if interval.half else "")


def _table(rows: list[list[str]]) -> str:
    """Rows of HTML cells under a head; columns whose head begins with a star hold numbers."""
    kinds = [" class=n" if name.startswith("*") else "" for name in rows[0]]
    head = "".join(f"<th{kind}>{name.removeprefix('*')}</th>" for kind, name in zip(kinds, rows[0], strict=True))
    body = "".join(
        "<tr>" + "".join(f"<td{kind}>{cell}</td>" for kind, cell in zip(kinds, row, strict=True)) + "</tr>\n" for row in rows[1:]
    )
    return f'<div class="wide"><table><tr>{head}</tr>\n{body}</table></div>'


def _provenance(basis: Basis) -> str:
    tally = basis.tally
    digest = hashlib.sha256("".join(sorted(tally.hashes)).encode()).hexdigest()
    shared = f" instead of {basis.asked:,}, because figures share them" if basis.asked > tally.runs else ""
    return (
        f"Tailback {__version__}, Python {platform.python_version()}. {tally.runs:,} runs{shared}; "
        f"{tally.simulated_s:,.0f} simulated seconds, {tally.events:,} events. "
        f"Seeds 1 to {basis.seeds}, or as many as a figure says. "
        f"Hash of all scenarios with their seeds and version: <code>{digest[:16]}</code>. "
        "The same version gives the same numbers on every machine."
    )
