"""`tailback study status | resume | export | compare | gc`: what to do with a study on disk."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tailback.cli.code import Code
from tailback.cli.code import load as load_code
from tailback.cli.out import Exit, command, data, jsonable, note, path

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

    from tailback.study.runner import Progress
    from tailback.study.study import Study

__all__ = ["Executor", "RunsBar", "crew_named", "finished", "study"]

study = typer.Typer(
    name="study", help="Studies on disk: how far they are, what is left, what came of them.", no_args_is_help=True
)

# Differences, and errors of runs, that are shown to a person.
_SHOWN = 20

Directory = Annotated[Path, typer.Argument(metavar="DIR", help="A study.", parser=path)]
Executor = Annotated[
    str | None, typer.Option(help="`threads` or `processes`; if not given threads, and processes where user code needs them.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print it as JSON.")]


@study.command()
@command
def status(directory: Directory, as_json: AsJson = False) -> Exit:
    """How many runs are planned, running, done and failed."""
    from tailback.study import Study

    _report(Study(directory), as_json=as_json)
    return Exit.DONE


@study.command()
@command
def resume(
    directory: Directory,
    executor: Executor = None,
    workers: Annotated[int | None, typer.Option(min=1, help="How many; one a processor if not given.")] = None,
    cluster: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="A Dask scheduler, or `local` for a cluster of its own.")
    ] = None,
    fail_fast: Annotated[bool, typer.Option("--fail-fast", help="Stop at the first run that fails.")] = False,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Do failed runs again, too.")] = False,
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Tailback, or user code, has changed since: do all runs again with this one.")
    ] = False,
    as_json: AsJson = False,
    code: Code = None,
) -> Exit:
    """Do what is left of a study."""
    from tailback.study import Study

    load_code(code)
    found = Study(directory)
    with crew_named(executor, cluster, workers) as (crew, size), RunsBar(directory.name) as bar:
        found.resume(executor=crew, workers=size, fail_fast=fail_fast, retry_failed=retry_failed, refresh=refresh, progress=bar)
    return finished(found, as_json=as_json)


@study.command()
@command
def export(
    directory: Directory,
    out: Annotated[Path, typer.Option(metavar="DIR", help="A new directory.", parser=path)],
    format: Annotated[str, typer.Option(help="`parquet`, `csv` or `json`.")] = "parquet",
    traces: Annotated[bool, typer.Option("--traces", help="The traces as well, as Parquet.")] = False,
) -> Exit:
    """Write all tables to a new directory: the same bytes for the same plan, whatever happened on the way."""
    from tailback.study import Study

    found = Study(directory)
    found.export(out, format=format, traces=traces)  # type: ignore[arg-type]
    counts = found.counts
    if counts.done < counts.total:
        note(f"{counts.done} of {counts.total} runs are done; the others have no rows")
    note(f"wrote {out}")
    return Exit.DONE


@study.command()
@command
def compare(
    left: Annotated[Path, typer.Argument(metavar="A", help="A study.", parser=path)],
    right: Annotated[Path, typer.Argument(metavar="B", help="Another.", parser=path)],
    as_json: AsJson = False,
) -> Exit:
    """Say where the results of two studies differ; exit code 1 if they do."""
    from tailback.study import Study

    found = Study(left).compare(Study(right))
    if as_json:
        differences = [vars(difference) for difference in found.differences]
        data(json.dumps(jsonable({"same": bool(found), "runs": found.runs, "differences": differences}), indent=2))
    elif found:
        data(f"the same: {found.runs} runs")
    else:
        for difference in found.differences[:_SHOWN]:
            data(str(difference))
        if len(found.differences) > _SHOWN:
            data(f"... and {len(found.differences) - _SHOWN} more")
        data(f"{len(found.differences)} differences; {found.runs} runs are in both")
    return Exit.DONE if found else Exit.DIFFERENT


@study.command()
@command
def gc(directory: Directory, as_json: AsJson = False) -> Exit:
    """Remove what nothing refers to: results of an earlier plan or version, traces of runs that were cut off."""
    from tailback.study import Study

    removed = Study(directory).gc()
    if as_json:
        data(json.dumps(vars(removed), indent=2))
    else:
        data(f"removed {removed.results} results and {removed.traces} traces ({removed.bytes:,} bytes)")
    return Exit.DONE


def finished(study: Study, *, as_json: bool) -> Exit:
    """Shows what a sweep has become, and the goodput at its points."""
    _report(study, as_json=as_json)
    if not as_json and study.counts.done:
        data(_means(study))
    return Exit.RUNS_FAILED if study.counts.failed else Exit.DONE


@contextmanager
def crew_named(executor: str | None, cluster: str | None, workers: int | None) -> Iterator[tuple[Any, int | None]]:
    """The executor that the command line names, and how many workers it has, if that is known."""
    if cluster is None:
        yield executor, workers
        return
    from tailback.study.cluster import connected

    with connected(cluster, workers) as remote:
        yield remote


def _report(study: Study, *, as_json: bool) -> None:
    counts, plan = study.counts, study.plan
    if as_json:
        document = {
            **vars(counts),
            "total": counts.total,
            "working": study.working,
            "owner": study.owner,
            "directory": str(study.directory),
        }
        plan_shown = {key: plan[key] for key in ("axes", "columns", "seeds", "until", "version")}
        data(json.dumps({**document, "plan": plan_shown, "errors": _errors(study)}, indent=2))
        return
    lines = [f"{study.directory}: {counts.done} of {counts.total} runs done"]
    lines += [f"  {word} {count}" for word, count in vars(counts).items() if word != "done" and count]
    if (owner := study.owner) is not None:
        lines.append(f"  process {owner['process']} on {owner['host']} works on it")
    lines += [f"  {axis}" for axis in plan["axes"]]
    errors = _errors(study)
    lines += [f"  failed: point {error['point']}, seed {error['seed']}: {error['error']}" for error in errors[:_SHOWN]]
    data("\n".join(lines))


def _means(study: Study) -> str:
    """Goodput of all groups together at each point, with its 95 % interval where there are seeds for one."""
    from tailback.summary import aligned, quantity

    means = study.means()
    listed = means.to_rows()
    columns = study.plan["columns"]
    lines = [[*(columns or ["scenario"]), "seeds", "goodput", "95 % interval"]]
    for row in listed[:_SHOWN]:
        labels = [str(row[column]) for column in columns] or ["as it is"]
        low, high = (quantity("goodput_bps", row[end]) for end in ("low", "high"))
        lines.append(
            [*labels, str(row["seeds"]), quantity("goodput_bps", row["mean"]), "-" if low == "-" else f"{low} to {high}"]
        )
    rest = f"\n  and {len(listed) - _SHOWN} more points" if len(listed) > _SHOWN else ""
    return aligned(lines) + rest


def _errors(study: Study) -> list[dict[str, Any]]:
    runs = study.runs.to_dict()
    columns = zip(runs["point"], runs["seed"], runs["error"], strict=True)
    return [{"point": point, "seed": seed, "error": error} for point, seed, error in columns if error]


class RunsBar:
    """Runs done, rate, time left and failures, on stderr; shown after a second, and only to a terminal."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._began = time.monotonic()
        self._bar: Bars | None = None

    def __enter__(self) -> RunsBar:
        return self

    def __call__(self, progress: Progress) -> None:
        finished = progress.done + progress.failed
        if self._bar is None:
            if not sys.stderr.isatty() or time.monotonic() - self._began < 1:
                return
            self._bar = _bars()
            self._bar.start()
            self._bar.add_task(self._what, total=progress.total, completed=finished, rate="", failed="")
        failed = f"{progress.failed} failed" if progress.failed else ""
        task = self._bar.tasks[0]
        rate = f"{task.speed:.3g} runs/s" if task.speed else ""
        self._bar.update(task.id, completed=finished, total=progress.total, rate=rate, failed=failed)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()


def _bars() -> Bars:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("runs {task.fields[rate]}"),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("[red]{task.fields[failed]}"),
        console=Console(stderr=True),
        transient=True,
    )
