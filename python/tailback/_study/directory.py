"""The directory of a study: creation, locking, and work sessions."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tailback._study import trace_files
from tailback._study.executors import Pool
from tailback._study.failpoint import reach
from tailback._study.ledger import LEDGER, Ledger, PlannedPoint
from tailback._study.lock import Lock
from tailback._study.runner import Progress, Runner
from tailback._study.trace_files import TRACES
from tailback.errors import StudyError, StudyWarning, warn

__all__ = ["LOCK", "prepare_study", "working", "writing"]

LOCK = "lock"

_OURS = {LOCK, f"{LOCK}-journal", f"{LEDGER}.partial", f"{LEDGER}.partial-journal"}


def prepare_study(
    directory: Path,
    plan: dict[str, Any],
    points: Callable[[], Iterable[PlannedPoint]],
    *,
    needed: Iterable[tuple[str, str]] = (),
    extend: bool,
) -> None:
    """Create a study with this plan in `directory`, or open an existing one with the same plan.

    With `extend`, the plan of an existing study is replaced; `needed` as in `Ledger.replan`.

    Raises
    ------
    StudyError
        The directory contains other files, another kind of study or another plan, is in use, or cannot be written.
    """
    try:
        reach("study: about to be made")
        directory.mkdir(parents=True, exist_ok=True)
        reach("study: directory made")
        if not (directory / LEDGER).exists() and (strange := {entry.name for entry in directory.iterdir()} - _OURS):
            raise StudyError(f"`{directory}` is neither empty nor a study: it contains `{min(strange)}`; give a new name")
        with Lock(directory / LOCK):
            reach("study: locked")
            if not (directory / LEDGER).exists():
                Ledger.create(directory / LEDGER, plan, points()).close()
                return
            with Ledger(directory / LEDGER, thorough=True) as ledger:
                if _differs(directory, ledger.plan, plan, extend=extend):
                    ledger.replan(plan, points(), needed)
    except StudyError:
        raise
    except (OSError, sqlite3.OperationalError) as error:
        raise StudyError(f"cannot create a study in `{directory}`: {_reason(error)}") from error


@contextmanager
def working(
    directory: Path, pool: Pool, *, again: str, fail_fast: bool, on_progress: Callable[[Progress], object] | None
) -> Iterator[tuple[Ledger, Runner]]:
    """A locked ledger with a runner. After Ctrl-C, results that have arrived are stored before the exception propagates.

    Finished runs whose trace files are damaged become planned, with a warning.

    `again` is the command that resumes the study, for messages.

    Raises
    ------
    StudyError
        Another process has the lock, or the disk is full.
    """
    stop = True
    # User code may change the working directory.
    place = directory.absolute()
    try:
        with Lock(place / LOCK), writing(directory, again), Ledger(place / LEDGER, thorough=False) as ledger:
            _discard_damaged(ledger, directory)
            runner = Runner(ledger, place / TRACES, pool, fail_fast=fail_fast, on_progress=on_progress)
            try:
                yield ledger, runner
            except KeyboardInterrupt:
                pool.shut_down(stop=True)
                runner.store_arrived()
                raise
            stop = False
    finally:
        pool.shut_down(stop=stop)


def _discard_damaged(ledger: Ledger, directory: Path) -> None:
    found = list(trace_files.damaged(ledger, directory / TRACES))
    if found:
        ledger.discard(content_hash for content_hash, _ in found)
        runs = trace_files.names(trace for _, trace in found)
        warn(StudyWarning(f"`{directory}` has damaged trace files; these runs are repeated: {runs}"))


@contextmanager
def writing(directory: Path, again: str) -> Iterator[None]:
    """Convert errors of the disk to a `StudyError` that describes the state of the study."""
    try:
        yield
    except StudyError:
        raise
    except (OSError, sqlite3.OperationalError) as error:
        raise StudyError(
            f"cannot write to `{directory}`: {_reason(error)}; finished runs are stored, and {again} resumes when there is space"
        ) from error


def _differs(directory: Path, there: dict[str, Any], plan: dict[str, Any], *, extend: bool) -> bool:
    """Whether the existing study has another plan; raises an error if that is not allowed."""
    if there.get("kind") != plan.get("kind"):
        kind = there.get("kind") or "sweep"
        raise StudyError(f"`{directory}` contains a {kind}; give a new name")
    if all(there[key] == plan[key] for key in ("digest", "until")):
        return False
    if not extend:
        raise StudyError(
            f"`{directory}` contains another study ({'; '.join(there['axes']) or 'one point'}); give a new name, or use "
            "`--extend` (`extend=True`) to replace its plan and keep the results of runs in both"
        )
    return True


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
