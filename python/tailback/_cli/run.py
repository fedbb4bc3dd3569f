"""`tailback run FILE`: simulate a scenario and show or write what was measured."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tailback._cli import options
from tailback._cli.output import Exit, command, data, document, note, summary
from tailback._cli.user_code import load_code
from tailback._progress import ProgressBar

if TYPE_CHECKING:
    from tailback._run import Run
    from tailback._scenario import Scenario

__all__ = ["run", "show"]


@click.command
@options.file
@options.out
@click.option("--json", "as_json", is_flag=True, help="Print everything measured as one JSON document.")
@click.option("--capture", type=options.PATH, metavar="FILE", help="Write what senders send and hear to this new pcapng file.")
@click.option("--optimum", is_flag=True, help="Also say how far the flows are from max-min and proportionally fair rates.")
@click.option(
    "--weight",
    multiple=True,
    metavar="GROUP=NUMBER",
    help="With --optimum: of each flow of a group, instead of 1. May be repeated.",
)
@click.option("--plot", is_flag=True, help="Plot to DIR/plot.svg with --out DIR, otherwise in a window.")
@click.option(
    "--checkpoint",
    type=options.PATH,
    metavar="FILE",
    help="Go on from this file if it is there, and keep the run in it, so that it can be killed.",
)
@click.option(
    "--checkpoint-every",
    type=float,
    metavar="SECONDS",
    help="With --checkpoint: how often, in wall-clock time; 60 if not given.",
)
@options.threads
@options.seed
@options.code
@command
def run(
    file: Path,
    out: Path | None,
    as_json: bool,
    capture: Path | None,
    optimum: bool,
    weight: tuple[str, ...],
    plot: bool,
    checkpoint: Path | None,
    checkpoint_every: float | None,
    threads: int,
    seed: int | None,
    code: tuple[Path, ...],
) -> Exit:
    """Simulate a scenario. Without --out, print a summary and write nothing."""
    from tailback import _simulation, _store
    from tailback._optimum import check_weights
    from tailback._run import Interrupted
    from tailback._scenario import load
    from tailback.errors import ParameterError
    from tailback.plots import require

    if plot:
        require(window=out is None)
    load_code(code)
    scenario = load(file) if capture is None else with_packets(load(file))
    if checkpoint_every is not None and checkpoint is None:
        raise ParameterError("--checkpoint-every is how often a checkpoint is written; add --checkpoint FILE")
    if weight and not optimum:
        raise ParameterError("--weight is of the optimum; add --optimum")
    weights = dict(_weight(text) for text in weight)
    if weights:
        check_weights(weights, list(scenario.normalised().get("flows", {})))
    exit_code = Exit.DONE
    with (
        nullcontext() if out is None else _store.staged(out) as folder,
        nullcontext() if capture is None else _store.staged_file(capture) as packets,
    ):
        if checkpoint is not None and checkpoint.is_file():
            note(f"going on from {checkpoint}")
        try:
            with ProgressBar(file.name) as bar:
                result = _simulation.simulate(
                    scenario,
                    seed,
                    progress=bar,
                    checkpoint=checkpoint,
                    checkpoint_every_s=_simulation.CHECKPOINT_EVERY_S if checkpoint_every is None else checkpoint_every,
                    threads=threads,
                )
        except Interrupted as stopped:
            result, exit_code = stopped.run, Exit.INTERRUPTED
        except KeyboardInterrupt:
            # Once more, before the first was answered.
            if checkpoint is None or not checkpoint.is_file():
                raise
            raise KeyboardInterrupt(f"interrupted; the same command goes on from {checkpoint}") from None
        if folder:
            _store.write(result.tables, result.provenance, folder)
            if plot:
                result.plot().savefig(folder / "plot.svg")
        if packets:
            result._write_capture(packets)
    best = None
    if optimum:
        try:
            best = result.optimum(weights)
        except ParameterError as error:
            note(f"no optimum: {error}")
            exit_code = exit_code or Exit.INCOMPLETE
    if as_json:
        extra = {"optimum": best and best.to_dict()} if optimum else {}
        data(document({**result.provenance, **extra}, result.tables))
    else:
        show(result)
        if best:
            data(f"\n{best}")
    if out is not None:
        note(f"wrote {len(result.tables)} tables and provenance to {out}")
    if capture is not None:
        note(f"wrote {len(result.trace('packets'))} packets to {capture}")
    if plot and out is None:
        from tailback._run_plot import show as show_plot

        show_plot(str(result), result.tables)
    if exit_code is Exit.INTERRUPTED:
        kept = "shown" if out is None else "kept"
        note(f"interrupted at {result.simulated_s:g} s; what was measured until then is {kept} and marked incomplete")
        if checkpoint is not None:
            other = " with another --out" if out is not None else ""
            there = f"the same command{other} goes on from there: {checkpoint}"
            note(there if checkpoint.is_file() else f"nothing could be written to {checkpoint}, so nothing goes on from there")
    return exit_code


def _weight(text: str) -> tuple[str, float]:
    from tailback.errors import ParameterError

    group, _, number = text.rpartition("=")
    try:
        return group, float(number)
    except ValueError:
        raise ParameterError(f"`{text}` is not a group and its weight; expected such as `web=2`") from None


def with_packets(scenario: Scenario) -> Scenario:
    """A scenario that traces packets: of all flows, unless it says of which."""
    description = scenario.to_dict()
    traces = description.get("record", {}).get("traces", [])
    if isinstance(traces, list):
        return scenario.with_({"record.traces": [*traces, "packets"]})
    # An empty list is no wish.
    of = traces.get("packets") or list(description.get("flows", {}))
    return scenario.with_({"record.traces": {**traces, "packets": of}})


def show(result: Run) -> None:
    """Tables for a terminal, plain text for a pipe."""
    from tailback._summary import listings

    summary(str(result), listings(result.tables), result.summary(), [f"note: {remark}" for remark in result.remarks])
