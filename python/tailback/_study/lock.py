"""A lock that allows one process at a time to work on a study.

It is SQLite's exclusive lock on an empty database next to the ledger. The operating system releases it when its owner dies, so
it never becomes stale and needs no timeout. It works on every platform and within a process, and is not inherited by worker
processes, as `flock` would be.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from types import TracebackType

from tailback.errors import StudyError

__all__ = ["Lock", "held"]


class Lock:
    """A lock held from construction until `release`, or until the process ends.

    Raises
    ------
    StudyError
        Another process, or another `Study` in this process, holds the lock.
    """

    def __init__(self, file: Path) -> None:
        try:
            self._connection = sqlite3.connect(file, timeout=0, isolation_level=None, check_same_thread=False)
            self._connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.DatabaseError as error:
            if "locked" in str(error):
                raise StudyError(
                    f"`{file.parent}` is in use by another process; `tailback study status` shows its progress"
                ) from None
            if not isinstance(error, sqlite3.OperationalError):
                raise StudyError(f"`{file}` is damaged: {error}. It contains no data and can be removed") from None
            raise StudyError(f"cannot lock `{file.parent}`: {error}") from None

    def release(self) -> None:
        """Release the lock."""
        self._connection.close()

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.release()


def held(file: Path) -> bool:
    """Whether a process holds the lock."""
    if not file.exists():
        return False
    connection = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, timeout=0, isolation_level=None)
    try:
        # Reading fails while another connection has an exclusive lock.
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.DatabaseError as error:
        # A damaged file cannot be locked.
        return "locked" in str(error)
    finally:
        connection.close()
    return False
