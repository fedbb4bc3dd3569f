"""One run, wherever it happens: in a thread, in another process, on another machine. It touches no file."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tailback.scenario import Scenario
from tailback.simulation import simulate
from tailback.study.ledger import Job
from tailback.study.rows import pack
from tailback.table import Table

__all__ = ["Measured", "Stopped", "measure", "measure_in_process", "prepare_process"]

# What every run has, and the ledger keeps; all other tables are traces.
COUNTERS = ("flows", "queues", "groups")


@dataclass(frozen=True)
class Measured:
    """What comes back of a run: packed tables, traces as they are, or the error."""

    content_hash: str
    error: str | None = None
    version: str = ""
    events: int = 0
    simulated_s: float = 0.0
    cpu_s: float = 0.0
    tables: dict[str, bytes] = field(default_factory=dict)
    traces: dict[str, Table] = field(default_factory=dict)


class Stopped(Exception):
    """The study was interrupted; the run is none."""


def measure(job: Job, stopping: Callable[[], bool] | None = None) -> Measured:
    """Do a run. What goes wrong in it is a result too; only an interruption is not."""

    def watch(_fraction: float) -> None:
        if stopping is not None and stopping():
            raise Stopped

    began = time.thread_time()
    try:
        run = simulate(Scenario(json.loads(job.scenario)), job.seed, progress=watch)
    except Stopped:
        raise
    except Exception as error:
        return Measured(job.content_hash, f"{type(error).__name__}: {error}", cpu_s=time.thread_time() - began)
    cpu_s = time.thread_time() - began
    if run.content_hash != job.content_hash:
        # A worker elsewhere may have another Tailback; its results are not what was asked for.
        return Measured(
            job.content_hash, f"OtherVersion: the worker's core is another one (Tailback {run.provenance['version']})"
        )
    tables = run.tables
    return Measured(
        job.content_hash,
        version=run.provenance["version"],
        events=run.events,
        simulated_s=run.simulated_s,
        cpu_s=cpu_s,
        tables={name: pack(table) for name, table in tables.items() if name in COUNTERS},
        traces={name: table for name, table in tables.items() if name not in COUNTERS},
    )


def prepare_process(stopping: Any) -> None:
    """In a worker process: Ctrl-C reaches all processes of a terminal, but only the first one decides what it means."""
    import signal

    global _stopping
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _stopping = stopping


def measure_in_process(job: Job) -> Measured:
    """As `measure`, stopped by the event that `prepare_process` was given."""
    return measure(job, None if _stopping is None else _stopping.is_set)


_stopping: Any = None
