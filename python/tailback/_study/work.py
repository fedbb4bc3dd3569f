"""One unit of work, wherever it happens: in a thread, in another process, on another machine. It touches no file.

Usually that is a run of a scenario of which everything is kept (`Simulated`); `readings` has others.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Protocol

from tailback import _core
from tailback._scenario import Scenario
from tailback._simulation import advance
from tailback._table import COUNTERS, Table
from tailback.user_code._loading import Place, ensure

__all__ = [
    "Done",
    "Measured",
    "Result",
    "Simulated",
    "Stopped",
    "Task",
    "Work",
    "WorkFailed",
    "measure",
    "measure_in_process",
    "prepare_process",
]

# What every run has, and the ledger keeps; all other tables are traces.

Watch = Callable[[float], None]


@dataclass(frozen=True)
class Done:
    """What a unit of work gave: packed tables for the ledger, and traces as they are; `content_hash` is what it was done of."""

    content_hash: str
    tables: dict[str, bytes]
    version: str = ""
    events: int = 0
    simulated_s: float = 0.0
    traces: dict[str, Table] = field(default_factory=dict)


class Work(Protocol):
    """What is done with a seed. It can be pickled, if it is to be done in another process."""

    def __call__(self, seed: int, watch: Watch) -> Done:
        """Do it; `watch` is called now and then, and whatever it raises ends the work."""


@dataclass(frozen=True)
class Task:
    """Work that is to be done; `runs` of the plan are this one."""

    content_hash: str
    seed: int
    work: Work
    runs: int = 1


@dataclass(frozen=True)
class Result:
    """What the ledger keeps of a unit of work; `error` if nothing came of it."""

    content_hash: str
    error: str | None = None
    version: str = ""
    events: int = 0
    simulated_s: float = 0.0
    cpu_s: float = 0.0
    tables: dict[str, bytes] = field(default_factory=dict)
    traces: tuple[str, ...] = ()


@dataclass(frozen=True)
class Measured:
    """What comes back from a worker: the result, and the traces that it names."""

    result: Result
    traces: dict[str, Table] = field(default_factory=dict)


class WorkFailed(Exception):
    """Raised by work whose failure needs more words than the name of an exception."""


class Stopped(Exception):
    """The study was interrupted; the run is none."""


@dataclass(frozen=True)
class Simulated:
    """A run of a scenario, given as JSON, of which everything is kept; `code` is where a worker finds user code."""

    scenario: str
    code: tuple[Place, ...] = ()

    def __call__(self, seed: int, watch: Watch) -> Done:
        ensure(self.code)
        simulation = _described(self.scenario)._simulation(seed)
        advance(simulation, watch)
        results = simulation.results()
        return Done(
            simulation.content_hash,
            {name: table.packed() for name, table in results.tables if name in COUNTERS},
            _core.__version__,
            results.events,
            results.simulated_s,
            {name: Table(table) for name, table in results.tables if name not in COUNTERS},
        )


@lru_cache(maxsize=256)
def _described(text: str) -> Scenario:
    """The scenario of a point, which the runs of many seeds share."""
    return Scenario(json.loads(text))


def measure(task: Task, stopping: Callable[[], bool] | None = None) -> Measured:
    """Do a unit of work. What goes wrong in it is a result too; only an interruption is not."""

    def watch(_fraction: float) -> None:
        if stopping is not None and stopping():
            raise Stopped

    began = time.thread_time()
    try:
        done = task.work(task.seed, watch)
    except Stopped:
        raise
    except Exception as error:
        reason = str(error) if isinstance(error, WorkFailed) else f"{type(error).__name__}: {error}"
        return Measured(Result(task.content_hash, reason, cpu_s=time.thread_time() - began))
    cpu_s = time.thread_time() - began
    if done.content_hash != task.content_hash:
        # A worker elsewhere may have another Tailback; its results are not what was asked for.
        return Measured(Result(task.content_hash, f"OtherVersion: the worker runs different code (Tailback {done.version})"))
    result = Result(
        task.content_hash,
        None,
        done.version,
        done.events,
        done.simulated_s,
        cpu_s,
        done.tables,
        tuple(done.traces),
    )
    return Measured(result, done.traces)


def prepare_process(stopping: Any) -> None:
    """In a worker process: Ctrl-C reaches all processes of a terminal, but only the first one decides what it means."""
    import signal

    global _stopping
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _stopping = stopping


def measure_in_process(task: Task) -> Measured:
    """As `measure`, stopped by the event that `prepare_process` was given."""
    return measure(task, None if _stopping is None else _stopping.is_set)


_stopping: Any = None
