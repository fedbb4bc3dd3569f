"""`tailback reproduce list | ID...`: rerun the experiments of published documents and evaluate their claims."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tailback._cli import completion, options
from tailback._cli.output import ExitCode, command, data, note, termination_as_interrupt
from tailback._progress import RunsBar

if TYPE_CHECKING:
    from tailback.papers._reproduction import Reproduction

__all__ = ["KEPT", "reproduce"]

# Directory of the study, within the directory of a report.
KEPT = "study"


def _known() -> list[str]:
    from tailback import papers

    ids = [each.id for each in papers.experiments()]
    return [*dict.fromkeys(each.partition("/")[0] for each in ids), *ids, "list"]


@click.command
@click.argument(
    "wanted",
    nargs=-1,
    required=True,
    metavar="ID...",
    shell_complete=completion.words(_known),
    help="Experiments (bpd-2001/fig12) or patterns for them (cui-thesis/*3.*), documents (bpd-2001), or `list` to list all.",
)
@click.option(
    "--seeds",
    type=options.WholeNumber(2),
    metavar="N",
    help="Run each variant with seeds 1 to N; by default 10, or the number that an experiment defines. Points that are only "
    "drawn have at most 3.",
)
@click.option(
    "--out",
    type=options.PATH,
    metavar="DIR",
    help="Write the report and the results of each document to DIR, created if missing; DIR/study stores the runs, and the same "
    "command resumes there.",
)
@click.option("--fresh", is_flag=True, help="Repeat runs that are already stored in DIR/study.")
@click.option(
    "--full",
    is_flag=True,
    help="Run at the document's full size and with all seeds, which can take hours, instead of the quick form.",
)
@click.option(
    "--workers", type=options.WholeNumber(1), metavar="N", help="Number of parallel runs; by default one per processor."
)
@click.option("--json", "as_json", is_flag=True, help="Print results and claims as one JSON document.")
@command
def reproduce(
    wanted: tuple[str, ...], seeds: int | None, out: Path | None, fresh: bool, full: bool, workers: int | None, as_json: bool
) -> ExitCode:
    """Reproduce published figures, and evaluate the documents' claims.

    Shows published and measured values side by side. Exit code 1 if a claim marked `reproduced` does not hold, or is contradicted
    in a quick form.
    """
    from tailback import papers, plots
    from tailback._store import ensure_writable

    if wanted == ("list",):
        data(_listed(seeds, as_json=as_json))
        return ExitCode.DONE
    if out is not None:
        papers.experiments(*wanted)
        plots.require()
        ensure_writable(out)
    code = ExitCode.DONE
    try:
        with termination_as_interrupt(), RunsBar("reproducing") as bar:
            study = None if out is None else out / KEPT
            done = papers.reproduce(*wanted, seeds=seeds, study=study, fresh=fresh, full=full, workers=workers, progress=bar)
    except papers.ReproductionInterrupted as stopped:
        done, code = stopped.reproduction, ExitCode.INTERRUPTED
        rest = f"without {', '.join(done.missing)}"
        if out is not None:
            note(f"{stopped}; stored the finished experiments, {rest}; the same command resumes")
        else:
            note(f"{stopped}; nothing was stored" + (f"; showing the finished experiments, {rest}" if done.experiments else ""))
    data(done.to_json() if as_json else "\n".join(_lines(done)))
    if out is not None:
        if done.kept:
            note(f"{done.kept:,} of {done.tally.planned:,} runs were already stored in {out / KEPT}; `--fresh` repeats them")
        note("\n".join(f"wrote {file}" for file in done.save(out)))
    if code is ExitCode.DONE and not done.holds:
        return ExitCode.CLAIM_FAILED
    return code


def _listed(seeds: int | None, *, as_json: bool) -> str:
    from tailback import papers
    from tailback._tables.text import aligned

    found = papers.experiments()
    if as_json:
        rows = [
            {"id": each.id, "title": each.title, "claims": [claim.id for claim in each.claims], "runs": each.runs(seeds)}
            for each in found
        ]
        return json.dumps(rows, indent=2)
    table = [[each.id, str(len(each.claims)), str(each.runs(seeds)), f" {each.title}"] for each in found]
    # The title is left-aligned: it is the last column and can be long.
    width = max(len(each.title) for each in found) + 1
    return aligned([["id", "claims", "runs", " title".ljust(width)], *([*row[:3], row[3].ljust(width)] for row in table)])


def _lines(done: Reproduction) -> Iterator[str]:
    """Text of the experiments with their claims, then the overall verdict."""
    from tailback.papers._claim_text import failures, finding_label, left_to_full_form, number, seeds_used

    for outcome in done.experiments:
        yield f"{outcome.experiment.id}  {outcome.experiment.title}"
        if outcome.experiment.is_full:
            yield "  Full form: at the document's size, all points with all seeds."
        if outcome.experiment.undecided:
            quick = f"Quick form; `--full` decides {outcome.experiment.undecided}."
            yield from textwrap.wrap(quick, 108, initial_indent="  ", subsequent_indent="  ")
        for paragraph in outcome.answer.split("\n\n"):
            yield from textwrap.wrap(paragraph, 108, initial_indent="  ", subsequent_indent="  ")
        width = 1 + max((len(verdict.claim.id) for verdict in outcome.claims), default=0)
        margin = " " * (width + 4)
        for verdict in outcome.claims:
            claim = verdict.claim
            published = "" if claim.published is None else f", published {claim.published:g}"
            kind = claim.kind.replace("_", " ")
            measured = f"{number(verdict)}{published}; required: {claim.must}"
            yield f"  {claim.id:<{width}}{kind}  {finding_label(verdict)}: {measured}"
            yield f"{margin}{seeds_used(verdict)}"
            yield textwrap.fill(verdict.text, 100, initial_indent=margin, subsequent_indent=margin)
            for judged in verdict.settings if len(verdict.settings) > 1 else ():
                yield f"{margin}{judged.setting}: {number(judged)}, {judged.finding}"
        yield ""
    yield from (line for line in (done.verdict(), failures(done.failed), left_to_full_form(done.left)) if line)
