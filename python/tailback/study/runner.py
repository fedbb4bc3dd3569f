"""Hands runs to a crew, and what comes back to the ledger.

Only this thread touches the ledger and the traces. Workers are kept busy first; what they finished is then committed together,
so that many short runs share the price of one commit. A worker that dies takes nothing with it but the runs it had: they are
done again.
"""

from __future__ import annotations

import os
import queue
import shutil
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Future
from dataclasses import dataclass
from pathlib import Path

from tailback.errors import StudyError
from tailback.study.crew import Crew
from tailback.study.failpoint import reach
from tailback.study.ledger import Job, Ledger, Result, synced
from tailback.study.work import Measured

__all__ = ["Progress", "Runner", "keep_traces"]

# Results wait at most this long for others to be committed with, or twice as long as the last commit took: disks differ a
# hundredfold.
_COMMIT_S = 0.2

# Workers are handed so much work ahead, and twice what a commit takes, so that they do not wait while results are written.
_AHEAD_S = 0.2
_AHEAD_RUNS = 500

# A run that is alone with a worker when that dies, so often, is the one that kills it.
_DEATHS = 2


@dataclass(frozen=True)
class Progress:
    """How far a study is.

    Attributes
    ----------
    done, failed : int
        Runs that are finished and kept.
    total : int
        Runs that are planned; grows where seeds are added until a width is reached.
    """

    done: int
    failed: int
    total: int


class Runner:
    """One working session of a study."""

    def __init__(
        self, ledger: Ledger, traces: Path, crew: Crew, *, fail_fast: bool, tell: Callable[[Progress], object] | None
    ) -> None:
        self._ledger, self._traces, self._crew = ledger, traces, crew
        self._fail_fast, self._tell = fail_fast, tell
        self._waiting: deque[Job] = deque()
        self._flying: dict[Future[Measured], Job] = {}
        self._ended: queue.SimpleQueue[Future[Measured]] = queue.SimpleQueue()
        self._results: list[Result] = []
        self._started: list[str] = []
        self._committed = time.monotonic()
        self._commit_took_s = 0.0
        # Runs that dead workers had: they are done one at a time, and their workers' deaths counted from then on.
        self._suspects: deque[Job] = deque()
        self._deaths: dict[str, int] = {}
        self._mean_s = 0.0
        # Runs of the plan that a job stands for.
        self._runs: dict[str, int] = {}
        self._progress = Progress(0, 0, 0)

    def run(self, jobs: list[Job]) -> None:
        """Do these runs; every one has its result in the ledger afterwards."""
        self._waiting.extend(jobs)
        self._runs = {job.content_hash: job.runs for job in jobs}
        counts = self._ledger.counts(working=True)
        self._report(Progress(counts.done, counts.failed, counts.total))
        try:
            while self._waiting or self._suspects or self._flying:
                self._refill()
                self._take(self._patience())
                self._refill()
                if not self._flying or time.monotonic() >= self._due():
                    self._commit()
        except BaseException:
            for future in self._flying:
                future.cancel()
            raise
        self._commit()

    def rescue(self) -> None:
        """After an interruption: keep what came back before it, and tell nobody."""
        self._tell, self._fail_fast = None, False
        while not self._ended.empty():
            future = self._ended.get()
            if future in self._flying and not future.cancelled() and future.exception() is None:
                self._kept(future.result())
            self._flying.pop(future, None)
        self._commit()

    def _refill(self) -> None:
        room = self._room() - len(self._flying)
        source = self._suspects or self._waiting
        while room > 0 and source:
            job = source[0]
            try:
                future = self._crew.submit(job)
            except BrokenExecutor:
                # The pool broke before anything told; what is under way comes back first.
                if self._flying:
                    return
                self._crew.renew()
                continue
            source.popleft()
            self._flying[future] = job
            self._started.append(job.content_hash)
            future.add_done_callback(self._ended.put)
            room -= 1

    def _room(self) -> int:
        """How many runs may be under way: enough to keep all workers busy while results are written, and no more."""
        if self._suspects or self._deaths:
            return 1
        ahead_s = _AHEAD_S and _AHEAD_S + 2 * self._commit_took_s
        ahead = int(ahead_s / self._mean_s) if self._mean_s else 0
        return self._crew.workers * (1 + min(_AHEAD_RUNS, ahead)) + 1

    def _patience(self) -> float | None:
        """How long to wait for a run: for ever if nothing waits to be committed."""
        return max(0.0, self._due() - time.monotonic()) if self._results else None

    def _due(self) -> float:
        """When to commit."""
        return self._committed + (_COMMIT_S and max(_COMMIT_S, 2 * self._commit_took_s))

    def _take(self, patience: float | None) -> None:
        """Wait for a run to end, and take all that have."""
        try:
            self._ended_one(self._ended.get(timeout=patience))
            while True:
                self._ended_one(self._ended.get_nowait())
        except queue.Empty:
            pass

    def _ended_one(self, future: Future[Measured]) -> None:
        job = self._flying.pop(future)
        try:
            measured = future.result()
        except (BrokenExecutor, CancelledError):
            self._died(job)
        except Exception as error:
            # Not the run's own failure, which comes back as a result, but a run that did not come back.
            self._kept(Measured(job.content_hash, f"{type(error).__name__}: {error}"))
        else:
            self._kept(measured)
            self._deaths.pop(job.content_hash, None)

    def _died(self, job: Job) -> None:
        """Whose fault it was is not known while others were under way; so each that was is done again, alone."""
        if job.content_hash in self._deaths:
            self._deaths[job.content_hash] += 1
        else:
            self._deaths[job.content_hash] = 0
        if self._deaths[job.content_hash] >= _DEATHS:
            del self._deaths[job.content_hash]
            self._kept(Measured(job.content_hash, "WorkerDied: the worker process died each time it was given this run"))
        else:
            self._suspects.append(job)
        if not self._flying:
            self._crew.renew()

    def _kept(self, measured: Measured) -> None:
        self._mean_s = measured.cpu_s if not self._mean_s else 0.9 * self._mean_s + 0.1 * measured.cpu_s
        traces = keep_traces(self._traces, measured) if measured.traces else ()
        self._results.append(
            Result(
                measured.content_hash,
                measured.error,
                measured.version,
                measured.events,
                measured.simulated_s,
                measured.cpu_s,
                measured.tables,
                traces,
            )
        )

    def _commit(self) -> None:
        finished = {result.content_hash for result in self._results}
        started = [content_hash for content_hash in self._started if content_hash not in finished]
        self._started.clear()
        if self._results or started:
            results, self._results = self._results, []
            began = time.monotonic()
            self._ledger.record(results, started)
            self._commit_took_s = time.monotonic() - began
            before = self._progress
            failures = sum(self._runs[result.content_hash] for result in results if result.error)
            successes = sum(self._runs[result.content_hash] for result in results if not result.error)
            self._report(Progress(before.done + successes, before.failed + failures, before.total))
            failed = [result.error for result in results if result.error]
            if failed and self._fail_fast:
                raise StudyError(f"a run failed, and the study stopped: {failed[0]}")
        self._committed = time.monotonic()

    def _report(self, progress: Progress) -> None:
        self._progress = progress
        if self._tell is not None:
            self._tell(progress)


def keep_traces(folder: Path, measured: Measured) -> tuple[str, ...]:
    """Write the traces of a run, complete and on the disk before its result is; what kinds there are."""
    target, partial = folder / measured.content_hash, folder / f".{measured.content_hash}.partial"
    for left_behind in (target, partial):
        shutil.rmtree(left_behind, ignore_errors=True)
    reach("traces: about to be written")
    partial.mkdir(parents=True)
    for kind, table in measured.traces.items():
        file = partial / f"{kind}.parquet"
        table.write_parquet(file)
        with file.open("rb+") as stream:
            os.fsync(stream.fileno())
        reach("traces: one written")
    synced(partial)
    partial.rename(target)
    reach("traces: named")
    synced(folder)
    reach("traces: name synced")
    return tuple(measured.traces)
