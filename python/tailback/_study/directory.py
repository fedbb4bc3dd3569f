"""The directory of a study: made, locked, and worked in."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tailback._study.crew import Crew
from tailback._study.failpoint import reach
from tailback._study.ledger import LEDGER, Ledger, Planned
from tailback._study.lock import Lock
from tailback._study.runner import Progress, Runner
from tailback.errors import StudyError

__all__ = ["LOCK", "TRACES", "laid", "working", "writing"]

LOCK = "lock"
TRACES = "traces"

_OURS = {LOCK, f"{LOCK}-journal", f"{LEDGER}.partial", f"{LEDGER}.partial-journal"}


def laid(
    directory: Path,
    plan: dict[str, Any],
    points: Callable[[], Iterable[Planned]],
    *,
    needed: Iterable[tuple[str, str]] = (),
    extend: bool,
) -> None:
    """Have a study in `directory` with this plan: a new one, or the one that is there.

    With `extend` the one that is there may have another plan, and gets this one; `needed` as in `Ledger.replan`.

    Raises
    ------
    StudyError
        The directory holds something else, another kind of study or another plan, is in use, or cannot be written.
    """
    try:
        reach("study: about to be made")
        directory.mkdir(parents=True, exist_ok=True)
        reach("study: directory made")
        if not (directory / LEDGER).exists() and (strange := {entry.name for entry in directory.iterdir()} - _OURS):
            raise StudyError(f"`{directory}` is not a study and not empty: it has `{min(strange)}`; give a new name")
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
        raise StudyError(f"no study can be made in `{directory}`: {_reason(error)}") from error


@contextmanager
def working(
    directory: Path, crew: Crew, *, again: str, fail_fast: bool, tell: Callable[[Progress], object] | None
) -> Iterator[tuple[Ledger, Runner]]:
    """The ledger and a runner, for as long as nobody else may have them. Ctrl-C keeps what has come back, and goes on as such.

    `again` is what goes on if this stops, as a person would type it.

    Raises
    ------
    StudyError
        Another process works here, or the disk is full.
    """
    stop = True
    try:
        with Lock(directory / LOCK), writing(directory, again), Ledger(directory / LEDGER, thorough=False) as ledger:
            runner = Runner(ledger, directory / TRACES, crew, fail_fast=fail_fast, tell=tell)
            try:
                yield ledger, runner
            except KeyboardInterrupt:
                crew.dismiss(stop=True)
                runner.rescue()
                raise
            stop = False
    finally:
        crew.dismiss(stop=stop)


@contextmanager
def writing(directory: Path, again: str) -> Iterator[None]:
    """What goes wrong on the disk is told with what it means for the study."""
    try:
        yield
    except StudyError:
        raise
    except (OSError, sqlite3.OperationalError) as error:
        raise StudyError(
            f"`{directory}` cannot be written: {_reason(error)}; what was finished is kept, and {again} resumes once there "
            "is room"
        ) from error


def _differs(directory: Path, there: dict[str, Any], plan: dict[str, Any], *, extend: bool) -> bool:
    """Whether the study that is there is to have another plan, if it may."""
    if there.get("kind") != plan.get("kind"):
        kind = there.get("kind") or "sweep"
        raise StudyError(f"`{directory}` holds a {kind}; give a new name")
    if all(there[key] == plan[key] for key in ("digest", "until")):
        return False
    if not extend:
        raise StudyError(
            f"`{directory}` holds another study ({'; '.join(there['axes']) or 'one point'}); give a new name, or `--extend` it "
            "with this plan, which keeps the results that both ask for"
        )
    return True


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
