"""Kill a study at every critical place, resume it, and print the outcomes; run by `study/test_survives.py`.

Each trial is a fork with precomputed results, so that a trial takes milliseconds and a test can have hundreds of them.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import tailback as tb
from tailback._study import failpoint, runner
from tailback._study.work import Task, WorkResult

VARY: dict[Any, Any] = {"topology.dumbbell.queue.buffer": ["5 packets", "20 packets"], "flows.*.tcp.preset": ["reno", "sack"]}
SEEDS = 7


class Inline(Executor):
    """Executes tasks synchronously, so that each trial reaches the same places in the same order."""

    _max_workers = 1

    def submit(self, function: Any, /, *arguments: Any, **options: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(function(*arguments, **options))
        return future


class CachedExecutor(Inline):
    """Returns stored results: these tests are about the storage of results, not about their computation."""

    def submit(self, function: Any, /, *arguments: Any, **options: Any) -> Future[Any]:
        return super().submit(known, function, *arguments, **options)


@cache
def known(function: Any, task: Task) -> WorkResult:
    """The stored result of a task, with its traces as the bytes of their files."""
    measured: WorkResult = function(task)
    traces: Any = {name: StoredTrace(table) for name, table in measured.traces.items()}
    return replace(measured, traces=traces)


class StoredTrace:
    """A trace with the contents of its file."""

    def __init__(self, table: tb.Table) -> None:
        with tempfile.NamedTemporaryFile() as file:
            table.write_parquet(file.name)
            self._bytes = Path(file.name).read_bytes()

    def write_parquet(self, path: Path) -> None:
        path.write_bytes(self._bytes)


CACHED = CachedExecutor()


def scenario() -> tb.Scenario:
    return tb.dumbbell(
        rate="10 Mbps",
        delay="10 ms",
        buffer="20 packets",
        duration="1 s",
        flows={"a": {"start": {"uniform": ["0 s", "0.2 s"]}, "tcp": {"preset": "newreno"}}},
        traces=["cwnd", "queue"],
    )


def sweep(directory: Path, executor: Executor = CACHED) -> tb.Study:
    if directory.name.startswith("until"):
        return tb.sweep(
            scenario(), seeds=2, until="queues.bottleneck.mean_wait_s:0.01%", max_seeds=11, out=directory, executor=executor
        )
    return tb.sweep(scenario(), VARY, seeds=SEEDS, out=directory, executor=executor)


def go_on(directory: Path) -> None:
    """Resume the study if its ledger exists; otherwise start it again."""
    if (directory / "study.sqlite3").exists():
        tb.Study(directory).resume(executor=CACHED)
    else:
        sweep(directory)


def forked(work: Any) -> int:
    """The wait status of a child process that executed `work`."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except tb.StudyError:
            os._exit(2)
        except BaseException:
            import traceback

            traceback.print_exc()
            os._exit(3)
        os._exit(0)
    return os.waitpid(child, 0)[1]


def digest(directory: Path) -> str:
    """A hash of an export with all tables and traces."""
    export = directory.with_name(f"{directory.name}-export")
    tb.Study(directory).export(export, traces=True)
    files = sorted(file for file in export.rglob("*") if file.is_file())
    return hashlib.sha256(b"".join(file.name.encode() + file.read_bytes() for file in files)).hexdigest()


def worked(work: Callable[[], object]) -> int:
    """Counts the runs that workers return."""
    done = 0
    store = runner.Runner._store_result

    def counted(self: Any, measured: Any) -> None:
        nonlocal done
        done += 1
        store(self, measured)

    runner.Runner._store_result = counted  # type: ignore[method-assign]
    work()
    runner.Runner._store_result = store  # type: ignore[method-assign]
    return done


def trial(study: Path, action: str, at: int) -> dict[str, Any]:
    """Stop a sweep at a place, resume it, and return the differences from an uninterrupted one."""
    counter = study.with_name(f"{study.name}-counter")

    def stopped() -> None:
        failpoint.arm(f"{action}:{at}")
        sweep(study)

    def stopped_again() -> None:
        failpoint.arm(f"kill:{1 + at % 13}")
        go_on(study)

    def resumed() -> None:
        done_before = tb.Study(study).counts.done if (study / "study.sqlite3").exists() else 0
        counter.write_text(json.dumps([done_before, worked(lambda: go_on(study))]))

    status = forked(stopped)
    if at % 3 == 0:
        forked(stopped_again)
    again = forked(resumed)
    done_before, done_after = json.loads(counter.read_text())
    killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    refused = os.WIFEXITED(status) and os.WEXITSTATUS(status) == 2
    return {
        "at": at,
        "stopped": killed if action == "kill" else refused,
        "resumed": again == 0,
        "done_before": done_before,
        "done_after": done_after,
        "digest": digest(study),
    }


def trials(folder: Path, plan: str, action: str, step: int) -> dict[str, Any]:
    """An uninterrupted study, and one per interval of failpoints at which it can be stopped."""
    trap = failpoint.arm("count")
    assert trap is not None
    whole = folder / f"{plan}-{action}-whole"
    runs, places = sweep(whole, Inline()).counts.done, trap.reached
    failpoint.arm("")
    # From here on the result of every run is known, also in the forks.
    sweep(folder / f"{plan}-{action}-known")
    stopped = [trial(folder / f"{plan}-{action}-{at}", action, at) for at in range(1, places + 1, step)]
    return {"places": places, "runs": runs, "digest": digest(whole), "trials": stopped}


def main(folder: Path) -> None:
    runner._COMMIT_S, runner._AHEAD_S = 0.0, 0.0
    ways = {("grid", "kill"): 1, ("grid", "full"): 12, ("until", "kill"): 8}
    sys.stdout.write(json.dumps({"-".join(way): trials(folder, *way, step) for way, step in ways.items()}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
