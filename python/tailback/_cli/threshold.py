"""`tailback threshold FILE --over PATH=LOW..HIGH`: the value of a setting at which a quantity reaches a target."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from tailback._cli import completion, options
from tailback._cli.output import ExitCode, command, data, jsonable
from tailback._cli.studies import selected_executor
from tailback._cli.user_code import load_code
from tailback._progress import RunsBar

__all__ = ["threshold"]


@click.command
@options.file
@click.option("--quantity", required=True, metavar="QUANTITY", help="`queues.bottleneck.utilisation`, `goodput`, or a formula.")
@click.option("--target", required=True, metavar="VALUE", help="0.98, or with its unit: `98 %`, `20 ms`.")
@click.option(
    "--over",
    required=True,
    metavar="PATH=LOW..HIGH",
    shell_complete=completion.paths,
    help="A setting and its range: `topology.dumbbell.queue.buffer=1 packet..2000 packets`.",
)
@click.option(
    "--out", type=options.PATH, metavar="DIR", help="Directory of the runs: new, or of the same search, which is resumed."
)
@click.option("--seeds", type=options.WholeNumber(1), default=10, metavar="N", help="Number of seeds per value.")
@options.executor
@options.workers
@options.cluster
@options.wait
@click.option("--extend", is_flag=True, help="If DIR has a different search, replace it by this one and keep the runs in both.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@options.code
@command
def threshold(
    file: Path,
    quantity: str,
    target: str,
    over: str,
    out: Path | None,
    seeds: int,
    executor: str | None,
    workers: int | None,
    cluster: str | None,
    wait_s: int | None,
    extend: bool,
    as_json: bool,
    code: tuple[Path, ...],
) -> ExitCode:
    """Find the value of a setting at which a quantity reaches a target, with its 95 % interval, by bisection over seeds.

    Exit code 1 if the target is outside the range, or the quantity is not monotonic.
    """
    from tailback import _study as library
    from tailback._scenario import load
    from tailback._study.span import parse

    load_code(code)
    scenario = load(file)
    with selected_executor(executor, cluster, workers, wait_s) as (pool, size), RunsBar(file.name) as bar:
        found = library.threshold(
            scenario,
            quantity,
            _number(target),
            over=parse(over),
            seeds=seeds,
            out=out,
            executor=pool,
            workers=size,
            extend=extend,
            progress=bar,
        )
    data(json.dumps(jsonable(found.to_dict()), indent=2) if as_json else str(found))
    return ExitCode.INCOMPLETE if found.problem else ExitCode.DONE


def _number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text
