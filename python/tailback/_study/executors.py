"""Executors of runs: threads of this process, processes of this machine, or any `concurrent.futures.Executor`."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any, Protocol

from tailback._process.processors import processors
from tailback._study.work import Task, WorkResult, measure, measure_in_process, prepare_process
from tailback.errors import ParameterError, StudyError

__all__ = ["Pool", "check", "open_pool"]


class Pool(Protocol):
    """A pool of workers that executes runs."""

    workers: int

    def submit(self, task: Task) -> Future[WorkResult]:
        """Schedule a run."""

    def replace_workers(self) -> None:
        """Replace workers that died."""

    def shut_down(self, *, stop: bool) -> None:
        """Accept no more runs; with `stop`, running ones end as soon as possible."""


class Threads:
    """Threads of this process; the default, because the core releases the GIL."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._stopping = threading.Event()
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="tailback")

    def submit(self, task: Task) -> Future[WorkResult]:
        return self._pool.submit(measure, task, self._stopping.is_set)

    def replace_workers(self) -> None:
        raise StudyError("the thread pool does not accept runs any more")

    def shut_down(self, *, stop: bool) -> None:
        if stop:
            self._stopping.set()
        self._pool.shutdown(cancel_futures=True)


class Processes:
    """Processes of this machine, for user code in Python, which holds the GIL and may crash its process."""

    def __init__(self, workers: int) -> None:
        import multiprocessing

        self.workers = workers
        self._context = multiprocessing.get_context()
        self._stopping: Any = self._context.Event()
        self._pool = self._made()

    def _made(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self.workers, self._context, initializer=prepare_process, initargs=(self._stopping,))

    def submit(self, task: Task) -> Future[WorkResult]:
        return self._pool.submit(measure_in_process, task)

    def replace_workers(self) -> None:
        self._pool.shutdown(cancel_futures=True)
        self._pool = self._made()

    def shut_down(self, *, stop: bool) -> None:
        if stop:
            self._stopping.set()
        self._pool.shutdown(cancel_futures=True)


class ExternalExecutor:
    """An executor that the caller created and closes."""

    def __init__(self, executor: Executor, workers: int | None) -> None:
        # Pools of the standard library have this attribute; for others, the number of processors is a guess.
        self.workers = workers or getattr(executor, "_max_workers", None) or processors()
        self._executor = executor

    def submit(self, task: Task) -> Future[WorkResult]:
        return self._executor.submit(measure, task)

    def replace_workers(self) -> None:
        raise StudyError(
            "the executor's workers died; finished runs are stored, and the study can be resumed with a new executor"
        )

    def shut_down(self, *, stop: bool) -> None:
        # The runner cancels its futures; the caller closes the executor.
        pass


_OWN: dict[str, Callable[[int], Pool]] = {"threads": Threads, "processes": Processes}


def check(executor: str | Executor | None, workers: int | None) -> None:
    """Raise a `ParameterError` if `executor` is neither a known name nor an executor, or if `workers` is not valid."""
    if workers is not None and (not isinstance(workers, int) or isinstance(workers, bool) or workers < 1):
        raise ParameterError(f"`workers` is {workers!r}; expected a whole number of at least 1")
    if executor is None:
        return
    if executor not in _OWN if isinstance(executor, str) else not callable(getattr(executor, "submit", None)):
        raise ParameterError(
            f"executor {executor!r} is not valid; expected `threads`, `processes` or a `concurrent.futures.Executor`"
        )


def open_pool(executor: str | Executor | None, workers: int | None, *, with_code: bool = False) -> Pool:
    """The requested executor, by default threads, or processes `with_code` in Python; errors as in `check`."""
    check(executor, workers)
    if executor is None:
        executor = "processes" if with_code else "threads"
    if isinstance(executor, str):
        return _OWN[executor](workers or processors())
    return ExternalExecutor(executor, workers)
