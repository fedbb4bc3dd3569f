"""A small sweep, and manipulations of it for tests."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tailback as tb
from tailback._study import executors, runner, work

BUFFER, PRESET = "topology.dumbbell.queue.buffer", "flows.*.tcp.preset"


VARY: dict[Any, Any] = {BUFFER: ["5 packets", "20 packets"], PRESET: ["reno", "sack"]}


def exported(study: tb.Study, folder: Path, **options: Any) -> dict[str, bytes]:
    study.export(folder, **options)
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The content hashes of the runs that threads execute from now on."""
    done: list[str] = []
    measure = work.measure

    def counting(task: work.Task, stopping: Callable[[], bool] | None = None) -> work.WorkResult:
        done.append(task.content_hash)
        return measure(task, stopping)

    monkeypatch.setattr(executors, "measure", counting)
    return done


def one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Submit and commit runs one at a time, independent of the clock."""
    monkeypatch.setattr(runner, "_COMMIT_S", 0.0)
    monkeypatch.setattr(runner, "_AHEAD_S", 0.0)


def failing(monkeypatch: pytest.MonkeyPatch, seeds: set[int]) -> None:
    """Let runs with these seeds fail from now on, in threads."""
    measure = work.measure

    def broken(task: work.Task, stopping: Callable[[], bool] | None = None) -> work.WorkResult:
        failed = work.Result(task.content_hash, "MemoryError: no")
        return work.WorkResult(failed) if task.seed in seeds else measure(task, stopping)

    monkeypatch.setattr(executors, "measure", broken)


def until_there(there: Callable[[], bool]) -> None:
    """Wait for a condition, with a timeout."""
    for _ in range(6000):
        if there():
            return
        time.sleep(0.01)
