"""`tailback sweep FILE --vary PATH=VALUES --out DIR`: run a grid of scenarios and store it as a study."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tailback._cli import completion, options
from tailback._cli.output import ExitCode, command, data, note
from tailback._cli.studies import finished, selected_executor
from tailback._cli.user_code import load_code
from tailback._progress import RunsBar

if TYPE_CHECKING:
    from tailback._study.cost import Estimate
    from tailback._study.grid import Grid

__all__ = ["sweep"]

# Number of points that a dry run lists.
_LISTED = 20


@click.command
@options.file
@click.option(
    "--vary",
    multiple=True,
    metavar="PATH=VALUES",
    shell_complete=completion.paths,
    help="A setting and its values: `flows.web.count=1,10`, a range `1..9:2` or `10..50:10 Mbps`, named variants "
    "`policy=old{a.b=1;a.c=2},new{a.b=3}`, or coupled settings `a.x=1,2 & a.y=3,4`. Repeat for each axis of the grid.",
)
@click.option(
    "--out", type=options.PATH, metavar="DIR", help="Directory of the study: new, or one with the same plan, which is resumed."
)
@click.option(
    "--seeds",
    type=options.WholeNumber(1),
    metavar="N",
    help="Number of seeds per point; by default 1, or 10 with --until.",
)
@click.option(
    "--until",
    metavar="QUANTITY:WIDTH%",
    help="Add seeds until the half width of the 95 % interval is below this share of the mean: `goodput:2%`, "
    "`queues.bottleneck.utilisation:1%`.",
)
@click.option(
    "--max-seeds", type=options.WholeNumber(2), default=1000, metavar="N", help="With --until: maximum number of seeds."
)
@options.executor
@options.workers
@options.cluster
@options.wait
@options.fail_fast
@click.option("--extend", is_flag=True, help="If DIR has a different plan, replace it by this one and keep the runs in both.")
@click.option("--dry-run", is_flag=True, help="Show the grid and its estimated cost without running it.")
@click.option("--json", "as_json", is_flag=True, help="Print the result, or the dry run, as JSON.")
@options.code
@command
def sweep(
    file: Path,
    vary: tuple[str, ...],
    out: Path | None,
    seeds: int | None,
    until: str | None,
    max_seeds: int,
    executor: str | None,
    workers: int | None,
    cluster: str | None,
    wait_s: int | None,
    fail_fast: bool,
    extend: bool,
    dry_run: bool,
    as_json: bool,
    code: tuple[Path, ...],
) -> ExitCode:
    """Run FILE at every point of a grid with every seed. Finished runs are stored in DIR, and the same command resumes."""
    from tailback import _study as library
    from tailback._scenario import load
    from tailback._study.vary import parse
    from tailback.errors import ParameterError

    load_code(code)
    scenario = load(file)
    axes = parse(vary)
    if dry_run:
        from tailback._process.processors import processors
        from tailback._study.cost import estimate
        from tailback._study.sweeping import planned

        grid, _ = planned(scenario, axes, seeds=seeds, until=until, max_seeds=max_seeds)
        _show(grid, estimate(grid, workers or processors()), until, as_json=as_json)
        return ExitCode.DONE
    if out is None:
        raise ParameterError("a sweep stores its results: add --out DIR, or --dry-run, which stores nothing")
    with selected_executor(executor, cluster, workers, wait_s) as (pool, size), RunsBar(file.name) as bar:
        study = library.sweep(
            scenario,
            axes,
            seeds=seeds,
            out=out,
            until=until,
            max_seeds=max_seeds,
            executor=pool,
            workers=size,
            fail_fast=fail_fast,
            extend=extend,
            progress=bar,
        )
    return finished(study, as_json=as_json)


def _show(grid: Grid, cost: Estimate, until: str | None, *, as_json: bool) -> None:
    if as_json:
        listed = [{"point": point.index, **point.labels} for point in (grid.point(index) for index in range(len(grid)))]
        document: dict[str, Any] = {
            "points": len(grid),
            "seeds": list(grid.seeds),
            "runs": grid.runs,
            "until": until,
            "grid": listed,
            "estimate": vars(cost),
        }
        data(json.dumps(document, indent=2))
        return
    data(f"{len(grid):,} points x {len(grid.seeds):,} seeds = {grid.runs:,} runs" + (f", more for {until}" if until else ""))
    for axis in grid.axes:
        data(f"  {axis.text}")
    for index in range(min(len(grid), _LISTED)):
        data(f"  point {index}: {grid.where(index) or 'the unchanged scenario'}")
    if len(grid) > _LISTED:
        data(f"  ... and {len(grid) - _LISTED:,} more points")
    data(
        f"estimate: {_time(cost.wall_s)} on {cost.workers} workers, {_time(cost.cpu_s)} of processor time "
        f"({_time(cost.lowest_s)} to {_time(cost.highest_s)}), from {cost.probes} probes of at most half a second"
    )
    note("dry run: nothing was simulated")


def _time(seconds: float) -> str:
    for unit, length in (("h", 3600.0), ("min", 60.0), ("s", 1.0)):
        if seconds >= 2 * length:
            return f"{seconds / length:.1f} {unit}"
    return f"{seconds * 1000:.3g} ms" if seconds < 1 else f"{seconds:.1f} s"
