"""Who does the runs: threads of this process, processes of this machine, or any executor."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any, Protocol

from tailback._processors import processors
from tailback._study.work import Measured, Task, measure, measure_in_process, prepare_process
from tailback.errors import ParameterError, StudyError

__all__ = ["Crew", "check", "crew"]


class Crew(Protocol):
    """Workers that take runs."""

    workers: int

    def submit(self, task: Task) -> Future[Measured]:
        """Have a run done, some time."""

    def renew(self) -> None:
        """Replace workers that died."""

    def dismiss(self, *, stop: bool) -> None:
        """No more runs; with `stop`, those under way end as soon as they can."""


class Threads:
    """The usual crew: the core does not hold Python's lock."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._stopping = threading.Event()
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="tailback")

    def submit(self, task: Task) -> Future[Measured]:
        return self._pool.submit(measure, task, self._stopping.is_set)

    def renew(self) -> None:
        raise StudyError("a thread pool that does not take runs any more")

    def dismiss(self, *, stop: bool) -> None:
        if stop:
            self._stopping.set()
        self._pool.shutdown(cancel_futures=True)


class Processes:
    """Where user code in Python holds the lock, or may take its process down."""

    def __init__(self, workers: int) -> None:
        import multiprocessing

        self.workers = workers
        self._context = multiprocessing.get_context()
        self._stopping: Any = self._context.Event()
        self._pool = self._made()

    def _made(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self.workers, self._context, initializer=prepare_process, initargs=(self._stopping,))

    def submit(self, task: Task) -> Future[Measured]:
        return self._pool.submit(measure_in_process, task)

    def renew(self) -> None:
        self._pool.shutdown(cancel_futures=True)
        self._pool = self._made()

    def dismiss(self, *, stop: bool) -> None:
        if stop:
            self._stopping.set()
        self._pool.shutdown(cancel_futures=True)


class Borrowed:
    """An executor that the caller made, and closes."""

    def __init__(self, executor: Executor, workers: int | None) -> None:
        # Pools of the standard library say how many they are; one that does not is thought to be as large as this machine.
        self.workers = workers or getattr(executor, "_max_workers", None) or processors()
        self._executor = executor

    def submit(self, task: Task) -> Future[Measured]:
        return self._executor.submit(measure, task)

    def renew(self) -> None:
        raise StudyError("the executor's workers died; the study is kept, and resumes with a new executor")

    def dismiss(self, *, stop: bool) -> None:
        # Futures are cancelled one by one by whoever holds them; the executor is not ours to close.
        pass


_OWN: dict[str, Callable[[int], Crew]] = {"threads": Threads, "processes": Processes}


def check(executor: str | Executor | None, workers: int | None) -> None:
    """Raise a `ParameterError` if that is neither a known word nor an executor, or if there are no workers."""
    if workers is not None and (not isinstance(workers, int) or isinstance(workers, bool) or workers < 1):
        raise ParameterError(f"`workers` is {workers!r}; expected a whole number of at least 1")
    if executor is None:
        return
    if executor not in _OWN if isinstance(executor, str) else not callable(getattr(executor, "submit", None)):
        raise ParameterError(f"no executor {executor!r}; expected `threads`, `processes` or a `concurrent.futures.Executor`")


def crew(executor: str | Executor | None, workers: int | None, *, with_code: bool = False) -> Crew:
    """The crew that a caller asked for, or else threads, or processes `with_code` in Python; `ParameterError` as from `check`."""
    check(executor, workers)
    if executor is None:
        executor = "processes" if with_code else "threads"
    if isinstance(executor, str):
        return _OWN[executor](workers or processors())
    return Borrowed(executor, workers)
