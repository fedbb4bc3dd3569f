"""Units of work, executed in a thread, another process or on another machine. They access no files.

The usual unit is `Simulated`, a simulation with all its results; `measurements` has other kinds.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Protocol

from tailback import _core
from tailback._run import advance
from tailback._scenario import Scenario
from tailback._tables.table import COUNTERS, Table
from tailback.errors import HostError, readable
from tailback.user_code._loading import ClassLocation, ensure

__all__ = [
    "Result",
    "Simulated",
    "Task",
    "Work",
    "WorkFailed",
    "WorkInterrupted",
    "WorkOutput",
    "WorkResult",
    "measure",
    "measure_in_process",
    "prepare_process",
]

# Tables outside `COUNTERS` are traces.

Watch = Callable[[float], None]


@dataclass(frozen=True)
class WorkOutput:
    """Output of a unit of work: packed tables for the ledger, and traces; `content_hash` identifies the executed run. `fault` is
    the error that ended the run early."""

    content_hash: str
    tables: dict[str, bytes]
    version: str = ""
    events: int = 0
    simulated_s: float = 0.0
    traces: dict[str, Table] = field(default_factory=dict)
    fault: Exception | None = None


class Work(Protocol):
    """A function of a seed. It must be picklable for execution in another process."""

    def __call__(self, seed: int, watch: Watch) -> WorkOutput:
        """Execute; `watch` is called repeatedly, and an exception that it raises ends the work."""


@dataclass(frozen=True)
class Task:
    """A unit of work to execute; `runs` is the number of runs of the plan that share it."""

    content_hash: str
    seed: int
    work: Work
    runs: int = 1


@dataclass(frozen=True)
class Result:
    """Stored outcome of a unit of work; `error` is set if it failed, and `tables` are those up to the failure, if any. `traces`
    are the digests of their files by kind."""

    content_hash: str
    error: str | None = None
    version: str = ""
    events: int = 0
    simulated_s: float = 0.0
    cpu_s: float = 0.0
    tables: dict[str, bytes] = field(default_factory=dict)
    traces: dict[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class WorkResult:
    """Return value of a worker: the result with its traces."""

    result: Result
    traces: dict[str, Table] = field(default_factory=dict)


class WorkFailed(Exception):
    """Raised by work whose failure needs its own description instead of the exception's type."""


class WorkInterrupted(Exception):
    """The study was interrupted; the run has no result."""


@dataclass(frozen=True)
class Simulated:
    """A simulation of a scenario, given as JSON, with all its results; `code` locates user code for workers."""

    scenario: str
    code: tuple[ClassLocation, ...] = ()

    def __call__(self, seed: int, watch: Watch) -> WorkOutput:
        ensure(self.code)
        simulation = _described(self.scenario)._simulation(seed)
        fault = None
        try:
            advance(simulation, watch)
        except HostError as error:
            fault = error
        results = simulation.results()
        return WorkOutput(
            simulation.content_hash,
            {name: table.packed() for name, table in results.tables if name in COUNTERS},
            _core.__version__,
            results.events,
            results.simulated_s,
            {name: Table(table) for name, table in results.tables if name not in COUNTERS and fault is None},
            fault,
        )


@lru_cache(maxsize=256)
def _described(text: str) -> Scenario:
    """The scenario of a point, cached for its seeds."""
    return Scenario(json.loads(text))


def measure(task: Task, stopping: Callable[[], bool] | None = None) -> WorkResult:
    """Execute a unit of work. Failures are returned as results, except interruptions."""

    def watch(_fraction: float) -> None:
        if stopping is not None and stopping():
            raise WorkInterrupted

    began = time.thread_time()
    try:
        done = task.work(task.seed, watch)
    except WorkInterrupted:
        raise
    except Exception as error:
        return WorkResult(Result(task.content_hash, _reason(error), cpu_s=time.thread_time() - began))
    cpu_s = time.thread_time() - began
    if done.content_hash != task.content_hash:
        # The worker runs another version of Tailback; its results are not comparable.
        return WorkResult(Result(task.content_hash, f"OtherVersion: the worker runs different code (Tailback {done.version})"))
    result = Result(
        task.content_hash,
        None if done.fault is None else _reason(done.fault),
        done.version,
        done.events,
        done.simulated_s,
        cpu_s,
        done.tables,
    )
    return WorkResult(result, done.traces)


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, WorkFailed) else readable(f"{type(error).__name__}: {error}")


def prepare_process(stopping: Any) -> None:
    """Initialise a worker process: Ctrl-C reaches all processes of a terminal, but only the main process handles it."""
    import signal

    global _stopping
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _stopping = stopping


def measure_in_process(task: Task) -> WorkResult:
    """Like `measure`, stopped by the event given to `prepare_process`."""
    return measure(task, None if _stopping is None else _stopping.is_set)


_stopping: Any = None
