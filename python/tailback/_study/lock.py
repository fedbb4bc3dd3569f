"""One process at a time works on a study.

The lock is SQLite's own exclusive lock on an empty database beside the ledger: the system gives it up when its owner dies,
however it dies, so that no lock is ever stale and no clock has to decide who lives. It is the same on every platform, holds
within a process too, and is not inherited by worker processes, as `flock` would be.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from types import TracebackType

from tailback.errors import StudyError

__all__ = ["Lock", "held"]


class Lock:
    """Held from construction until `release`, or the end of the process.

    Raises
    ------
    StudyError
        Another process, or another `Study` of this one, holds it.
    """

    def __init__(self, file: Path) -> None:
        try:
            self._connection = sqlite3.connect(file, timeout=0, isolation_level=None, check_same_thread=False)
            self._connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.DatabaseError as error:
            if "locked" in str(error):
                raise StudyError(
                    f"`{file.parent}` is being worked on by another process; `tailback study status` shows how far it is"
                ) from None
            if not isinstance(error, sqlite3.OperationalError):
                raise StudyError(f"`{file}` is damaged: {error}. It holds nothing that is needed: remove it") from None
            raise StudyError(f"`{file.parent}` cannot be locked: {error}") from None

    def release(self) -> None:
        """Let others in."""
        self._connection.close()

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.release()


def held(file: Path) -> bool:
    """Whether somebody works on the study now."""
    if not file.exists():
        return False
    connection = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, timeout=0, isolation_level=None)
    try:
        # A reader is refused while there is a writer.
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.DatabaseError as error:
        # A damaged one cannot be held.
        return "locked" in str(error)
    finally:
        connection.close()
    return False
