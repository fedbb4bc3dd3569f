"""`tailback run FILE`: simulate a scenario and print or write the results."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tailback._cli import options
from tailback._cli.output import ExitCode, command, data, document, note, summary, user_traceback
from tailback._cli.user_code import load_code
from tailback._progress import ProgressBar

if TYPE_CHECKING:
    from tailback._run import Run
    from tailback._scenario import Scenario

__all__ = ["run", "show"]


@click.command
@options.file
@options.out
@click.option("--json", "as_json", is_flag=True, help="Print all measurements as one JSON document.")
@click.option(
    "--csv", "as_csv", is_flag=True, help="Print all tables as CSV, each after its name; with --out, write CSV files instead."
)
@click.option(
    "--capture", type=options.PATH, metavar="FILE", help="Write the packets seen by the senders to this new pcapng file."
)
@click.option(
    "--qlog", type=options.PATH, metavar="FILE", help="Write the events of the senders to this new qlog file, for qvis."
)
@click.option(
    "--fairness",
    is_flag=True,
    help="Also compare the flows' rates with the max-min and proportionally fair rates, and those at drop-tail queues with RED.",
)
@click.option(
    "--weight",
    multiple=True,
    metavar="GROUP=NUMBER",
    help="With --fairness: weight of each flow of this group (default 1). Repeatable.",
)
@click.option("--plot", is_flag=True, help="Plot to DIR/plot.svg with --out DIR, otherwise in a window.")
@click.option(
    "--checkpoint",
    type=options.PATH,
    metavar="FILE",
    help="Resume from this checkpoint if it exists, and save to it periodically.",
)
@click.option(
    "--checkpoint-every",
    type=float,
    metavar="SECONDS",
    help="With --checkpoint: seconds of wall-clock time between saves; by default 60.",
)
@options.threads
@options.seed
@options.code
@command
def run(
    file: Path,
    out: Path | None,
    as_json: bool,
    as_csv: bool,
    capture: Path | None,
    qlog: Path | None,
    fairness: bool,
    weight: tuple[str, ...],
    plot: bool,
    checkpoint: Path | None,
    checkpoint_every: float | None,
    threads: int,
    seed: int | None,
    code: tuple[Path, ...],
) -> ExitCode:
    """Simulate a scenario. Without --out, print a summary and write no files."""
    from tailback import _store
    from tailback._formats import pcapng
    from tailback._formats import qlog as log
    from tailback._scenario import load
    from tailback._simulation import has_stack
    from tailback.errors import OutputError, ParameterError
    from tailback.plots import require

    if plot:
        require(window=out is None)
    if as_json and as_csv:
        raise ParameterError("--json and --csv select different output; use one of them")
    load_code(code)
    scenario = load(file)
    if fairness and has_stack(scenario.to_dict()):
        # The refusal, with its place in the file.
        scenario._shared_network(0)
    # Real packets are captured during the run, simulated ones are recorded in a trace.
    is_traced = capture is not None and not has_stack(scenario.to_dict())
    scenario = with_traces(scenario, (("packets",) if is_traced else ()) + (() if qlog is None else log.TRACES))
    if checkpoint_every is not None and checkpoint is None:
        raise ParameterError("--checkpoint-every sets the interval between checkpoints; add --checkpoint FILE")
    if weight and not fairness:
        raise ParameterError("--weight sets the weight of flows in the fair rates; add --fairness")
    weights = dict(_weight(text) for text in weight)
    if weights:
        from tailback._run.fairness import check_weights

        check_weights(weights, list(scenario.normalised().get("flows", {})))
    try:
        with (
            nullcontext() if out is None else _store.staged(out) as folder,
            nullcontext() if capture is None else _store.staged_file(capture) as packets,
            nullcontext() if qlog is None else _store.staged_file(qlog) as events,
        ):
            real = None if is_traced else packets
            result, exit_code = _simulated(scenario, seed, file.name, checkpoint, checkpoint_every, threads, real)
            if folder:
                _store.write(result.tables, result.provenance, folder, as_csv=as_csv)
                if plot:
                    result.plot().savefig(folder / "plot.svg")
            if packets and is_traced:
                pcapng.write(result, packets)
            if events:
                log.write(result, events)
    except OutputError as error:
        if not error.was_run:
            raise
        is_kept = checkpoint is not None and checkpoint.is_file()
        error.args = (f"{error}; {f'the same command resumes from {checkpoint}' if is_kept else 'the results are lost'}",)
        raise
    if checkpoint is not None and exit_code is not ExitCode.INTERRUPTED:
        checkpoint.unlink(missing_ok=True)
    best = None
    if fairness:
        try:
            best = result.fairness(weights)
        except ParameterError as error:
            note(f"no fair rates: {error}")
            exit_code = exit_code or ExitCode.INCOMPLETE
    if as_json:
        extra = {"fairness": best and best.to_dict()} if fairness else {}
        data(document({**result.provenance, **extra, "notes": result.notes}, result.tables))
    elif as_csv and out is None:
        data("\n".join(f"# {name}\n{table.to_csv()}" for name, table in result.tables.items()))
    else:
        show(result)
        if best:
            data(f"\n{best}")
    if out is not None:
        note(f"wrote {len(result.tables)} tables and provenance to {out}")
    if capture is not None:
        written = f"{len(result.trace('packets'))} packets" if is_traced else "the packets of flows with a stack"
        note(f"wrote {written} to {capture}")
    if qlog is not None:
        note(f"wrote the events of {len(result.trace('packets'))} packets to {qlog}")
        if has_stack(scenario.to_dict()):
            note("flows with a stack have no acknowledgements or losses in the log; windows and RTTs are those that it reports")
    if plot and out is None:
        from tailback._run.plot import show as show_plot

        show_plot(str(result), result.tables)
    if exit_code is ExitCode.INTERRUPTED:
        kept = "shown" if out is None else "stored"
        note(f"interrupted at {result.simulated_s:g} s; the measurements up to this time are {kept} and marked incomplete")
        if checkpoint is not None:
            other = " with another --out" if out is not None else ""
            there = f"the same command{other} resumes from {checkpoint}"
            note(there if checkpoint.is_file() else f"{checkpoint} could not be written, so the run cannot be resumed")
    return exit_code


def _simulated(
    scenario: Scenario,
    seed: int | None,
    title: str,
    checkpoint: Path | None,
    checkpoint_every: float | None,
    threads: int,
    packets: Path | None,
) -> tuple[Run, ExitCode]:
    """The results, up to Ctrl-C if it was pressed. The checkpoint remains, in case the results cannot be written."""
    from tailback._run import Interrupted
    from tailback._run.starvation import warn_of_starved_flows
    from tailback._simulation import simulating
    from tailback.errors import HostError

    if checkpoint is not None and checkpoint.is_file():
        note(f"resuming from {checkpoint}")
    try:
        with ProgressBar(title) as bar:
            result = simulating.simulate_keeping_checkpoint(
                scenario,
                seed,
                progress=bar,
                checkpoint=checkpoint,
                checkpoint_every_s=simulating.CHECKPOINT_EVERY_S if checkpoint_every is None else checkpoint_every,
                threads=threads,
                packets=packets,
            )
    except Interrupted as stopped:
        return stopped.run, ExitCode.INTERRUPTED
    except HostError as error:
        note(f"{user_traceback(error)}error: {error}; the measurements up to this time are marked incomplete")
        return error.run, ExitCode.INCOMPLETE
    except KeyboardInterrupt:
        # A second Ctrl-C, before the first one was handled.
        if checkpoint is None or not checkpoint.is_file():
            raise
        raise KeyboardInterrupt(f"interrupted; the same command resumes from {checkpoint}") from None
    warn_of_starved_flows([result.tables])
    return result, ExitCode.DONE


def _weight(text: str) -> tuple[str, float]:
    from tailback.errors import ParameterError

    group, _, number = text.rpartition("=")
    try:
        return group, float(number)
    except ValueError:
        raise ParameterError(f"`{text}` is not a group and its weight; expected for example `web=2`") from None


def with_traces(scenario: Scenario, kinds: tuple[str, ...]) -> Scenario:
    """The scenario with these traces enabled: for the flows that it lists, or for all flows if it lists none."""
    if not kinds:
        return scenario
    description = scenario.to_dict()
    traces = description.get("record", {}).get("traces", [])
    if isinstance(traces, list):
        return scenario.with_({"record.traces": list(dict.fromkeys([*traces, *kinds]))})
    # An empty list of flows counts as no list.
    of = {kind: traces.get(kind) or list(description.get("flows", {})) for kind in kinds}
    return scenario.with_({"record.traces": {**traces, **of}})


def show(result: Run) -> None:
    """Print the summary of a run: tables to a terminal, plain text to a pipe."""
    from tailback._tables.summary import listings

    summary(str(result), listings(result.tables), result.summary(), [f"note: {text}" for text in result.notes])
