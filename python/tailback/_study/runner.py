"""Submits runs to the executors, and writes their results to the ledger.

Only this thread accesses the ledger and the traces. It keeps the workers busy first and then commits finished results together,
so that many short runs share the cost of a commit. If a worker dies, only its current runs are lost, and they are repeated.
"""

from __future__ import annotations

import queue
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Future
from dataclasses import dataclass, replace
from pathlib import Path

from tailback._study import trace_files
from tailback._study.executors import Pool
from tailback._study.ledger import Ledger
from tailback._study.work import Result, Task, WorkResult
from tailback.errors import StudyError

__all__ = ["Progress", "RunFailed", "Runner"]

# Maximum time that results wait to be committed with others, unless twice the duration of the last commit is longer: the speed
# of disks differs by a factor of a hundred.
_COMMIT_S = 0.2

# Work in seconds that is queued at the workers, in addition to twice the duration of a commit, so that they do not run idle.
_AHEAD_S = 0.2
_AHEAD_RUNS = 500

# If the workers have enough work for twice this time, this thread sleeps before it collects more results: each wake-up takes the
# GIL from the workers.
_REST_S = 0.02

# A run fails if its worker dies this many times while no other run is in progress.
_DEATHS = 2


@dataclass(frozen=True)
class Progress:
    """Progress of a study.

    Attributes
    ----------
    done, failed : int
        Number of runs that finished or failed.
    total : int
        Number of planned runs; grows if seeds are added to reach a width.
    """

    done: int
    failed: int
    total: int


class RunFailed(StudyError):
    """A run failed, and `fail_fast` was set."""

    def __init__(self, result: Result) -> None:
        super().__init__(f"a run failed, and the study stopped: {result.error}")
        self.result = result


class Runner:
    """One work session of a study."""

    def __init__(
        self, ledger: Ledger, traces: Path, pool: Pool, *, fail_fast: bool, on_progress: Callable[[Progress], object] | None
    ) -> None:
        self._ledger, self._traces, self._pool = ledger, traces, pool
        self._fail_fast, self._on_progress = fail_fast, on_progress
        self._waiting: deque[Task] = deque()
        self._flying: dict[Future[WorkResult], Task] = {}
        self._ended: queue.SimpleQueue[Future[WorkResult]] = queue.SimpleQueue()
        self._results: list[Result] = []
        self._committed = time.monotonic()
        self._commit_took_s = 0.0
        self._recorded_running = 0
        # Runs of dead workers are repeated one at a time, and the deaths of their workers are counted from then on.
        self._suspects: deque[Task] = deque()
        self._deaths: dict[str, int] = {}
        self._mean_s = 0.0
        # Number of runs of the plan that share a task.
        self._runs: dict[str, int] = {}
        self._progress = Progress(0, 0, 0)

    def run(self, tasks: Iterable[Task], more: Callable[[Sequence[Result]], Iterable[Task]] | None = None) -> None:
        """Execute tasks; every task has its result in the ledger afterwards.

        `more` receives the results that are in the ledger, and returns additional tasks.
        """
        self._add(tasks)
        try:
            while self._waiting or self._suspects or self._flying:
                self._refill()
                self._take(self._timeout())
                self._refill()
                if not self._flying or time.monotonic() >= self._due():
                    committed = self._commit()
                    if more is not None and committed and (further := list(more(committed))):
                        self._add(further, first=True)
        except BaseException:
            for future in self._flying:
                future.cancel()
            raise
        if more is not None:
            # Corrects the count of runs that several points share.
            self._recount()

    def store_arrived(self) -> None:
        """Store the results that arrived before an interruption, without reporting progress."""
        self._on_progress, self._fail_fast = None, False
        while not self._ended.empty():
            future = self._ended.get()
            if future in self._flying and not future.cancelled() and future.exception() is None:
                self._store_result(future.result())
            self._flying.pop(future, None)
        self._commit()

    def _add(self, tasks: Iterable[Task], *, first: bool = False) -> None:
        """Queue tasks; `first` puts them before the others, because their results may require further tasks."""
        added = list(tasks)
        if first:
            self._waiting.extendleft(reversed(added))
        else:
            self._waiting.extend(added)
        self._runs |= {task.content_hash: task.runs for task in added}
        self._recount()

    def _recount(self) -> None:
        counts = self._ledger.counts(working=True)
        self._report(Progress(counts.done, counts.failed, counts.total))

    def _refill(self) -> None:
        room = self._room() - len(self._flying)
        source = self._suspects or self._waiting
        while room > 0 and source:
            task = source[0]
            try:
                future = self._pool.submit(task)
            except BrokenExecutor:
                # The pool broke before a future reported it; runs in progress are collected first.
                if self._flying:
                    return
                self._pool.replace_workers()
                continue
            source.popleft()
            self._flying[future] = task
            future.add_done_callback(self._ended.put)
            room -= 1

    def _room(self) -> int:
        """Maximum number of submitted runs: enough to keep all workers busy during a commit."""
        if self._suspects or self._deaths:
            return 1
        ahead_s = _AHEAD_S and _AHEAD_S + 2 * self._commit_took_s
        ahead = int(ahead_s / self._mean_s) if self._mean_s else 0
        return self._pool.workers * (1 + min(_AHEAD_RUNS, ahead)) + 1

    def _spare_s(self) -> float:
        """Minimum time for which all workers have work."""
        spare = len(self._flying) - 2 * self._pool.workers
        return spare * self._mean_s / self._pool.workers

    def _timeout(self) -> float | None:
        """Maximum time to wait for a run; unlimited if nothing waits to be committed."""
        return max(0.0, self._due() - time.monotonic()) if self._results else None

    def _due(self) -> float:
        """Time of the next commit."""
        return self._committed + (_COMMIT_S and max(_COMMIT_S, 2 * self._commit_took_s))

    def _take(self, timeout: float | None) -> None:
        """Wait for a run to end, and collect all that have ended."""
        try:
            self._handle_ended(self._ended.get(timeout=timeout))
            if self._spare_s() > 2 * _REST_S:
                time.sleep(_REST_S)
            while True:
                self._handle_ended(self._ended.get_nowait())
        except queue.Empty:
            pass

    def _handle_ended(self, future: Future[WorkResult]) -> None:
        task = self._flying.pop(future)
        try:
            measured = future.result()
        except (BrokenExecutor, CancelledError):
            self._worker_died(task)
        except Exception as error:
            # Failures of a run are returned as results; this is a failure to return a result.
            self._store_result(WorkResult(Result(task.content_hash, f"{type(error).__name__}: {error}")))
        else:
            self._store_result(measured)
            self._deaths.pop(task.content_hash, None)

    def _worker_died(self, task: Task) -> None:
        """Repeat the runs of dead workers one at a time, because it is unknown which of them killed the worker."""
        if task.content_hash in self._deaths:
            self._deaths[task.content_hash] += 1
        else:
            self._deaths[task.content_hash] = 0
        if self._deaths[task.content_hash] >= _DEATHS:
            del self._deaths[task.content_hash]
            self._store_result(
                WorkResult(Result(task.content_hash, "WorkerDied: the worker process died each time it was given this run"))
            )
        else:
            self._suspects.append(task)
        if not self._flying:
            self._pool.replace_workers()

    def _store_result(self, measured: WorkResult) -> None:
        result = measured.result
        self._mean_s = result.cpu_s if not self._mean_s else 0.9 * self._mean_s + 0.1 * result.cpu_s
        if measured.traces:
            result = replace(result, traces=trace_files.write(self._traces, result.content_hash, measured.traces))
        self._results.append(result)

    def _commit(self) -> list[Result]:
        """Commit the results since the last commit, and return them."""
        results, self._results = self._results, []
        running = sum(self._runs[task.content_hash] for task in self._flying.values())
        if results or running != self._recorded_running:
            began = time.monotonic()
            self._ledger.record(results, running)
            self._recorded_running = running
            self._commit_took_s = time.monotonic() - began
            before = self._progress
            failures = sum(self._runs[result.content_hash] for result in results if result.error)
            successes = sum(self._runs[result.content_hash] for result in results if not result.error)
            self._report(Progress(before.done + successes, before.failed + failures, before.total))
            failed = [result for result in results if result.error]
            if failed and self._fail_fast:
                raise RunFailed(failed[0])
        self._committed = time.monotonic()
        return results

    def _report(self, progress: Progress) -> None:
        self._progress = progress
        if self._on_progress is not None:
            self._on_progress(progress)
