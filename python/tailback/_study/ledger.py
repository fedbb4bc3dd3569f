"""The ledger of a study: an SQLite file with the runs, their states and their results.

Durability: a rollback journal and `synchronous=EXTRA`, so that committed data survives a crash of the process or the machine, and
the ledger is a single file that can be copied. A run counts as finished when the transaction with its results is committed.

Integrity: SQLite does not detect a changed byte in a value. Every row therefore ends with a digest of its other columns, which is
checked when the ledger is opened with `thorough`.

Results are stored by content hash, not by point: points with the same run share it, and a changed plan keeps the results that it
still needs.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from tailback import _core
from tailback._study.failpoint import reach
from tailback._study.work import Result
from tailback.errors import StudyError

__all__ = ["LEDGER", "Counts", "Ledger", "PendingRun", "PlannedPoint", "RunRow", "StoredTrace"]

LEDGER = "study.sqlite3"

# "tail" in ASCII, which identifies a ledger, and the version of the schema below.
_APPLICATION = 0x7461696C
_SCHEMA = 4

_TABLES = """
CREATE TABLE study (key TEXT PRIMARY KEY, value TEXT NOT NULL, digest BLOB) WITHOUT ROWID;
CREATE TABLE points (
    point INTEGER PRIMARY KEY, labels TEXT NOT NULL, scenario TEXT NOT NULL, normalised TEXT NOT NULL, digest BLOB
);
CREATE TABLE runs (
    point INTEGER NOT NULL, seed INTEGER NOT NULL, content_hash TEXT NOT NULL, digest BLOB, PRIMARY KEY (point, seed)
) WITHOUT ROWID;
CREATE INDEX runs_by_hash ON runs (content_hash);
CREATE TABLE results (
    content_hash TEXT PRIMARY KEY,
    state TEXT NOT NULL CHECK (state IN ('done', 'failed')),
    error TEXT, version TEXT, events INTEGER, simulated_s REAL, cpu_s REAL, finished TEXT, digest BLOB
);
CREATE TABLE tables (
    content_hash TEXT NOT NULL, name TEXT NOT NULL, data BLOB NOT NULL, digest BLOB, UNIQUE (content_hash, name)
);
CREATE TABLE traces (
    content_hash TEXT NOT NULL, kind TEXT NOT NULL, file BLOB NOT NULL, digest BLOB, UNIQUE (content_hash, kind)
);
"""


# Columns that the digest of a row covers. The time at which a result was finished is informational and not covered.
_SEALED = {
    "study": "key, value",
    "points": "point, labels, scenario, normalised",
    "runs": "point, seed, content_hash",
    "results": "content_hash, state, error, version, events, simulated_s, cpu_s",
    "tables": "content_hash, name, data",
    "traces": "content_hash, kind, file",
}
_INSERT_RUN = "INSERT INTO runs VALUES (?1, ?2, ?3, digest(?1, ?2, ?3))"


def _digest(*values: str | float | bytes | None) -> bytes:
    """Digest of the values of a row, called by SQLite."""
    found = hashlib.blake2b(digest_size=8)
    for value in values:
        data = value if isinstance(value, bytes) else repr(value).encode("utf-8", "surrogateescape")
        found.update(len(data).to_bytes(8, "little") + data)
    return found.digest()


@dataclass(frozen=True)
class PlannedPoint:
    """A point of a plan: labels, description, complete description, and seed and content hash of each run."""

    labels: dict[str, Any]
    text: str
    normalised: str
    runs: list[tuple[int, str]]


@dataclass(frozen=True)
class PendingRun:
    """A run without a result, and the number of planned runs with the same content hash."""

    content_hash: str
    point: int
    seed: int
    runs: int


@dataclass(frozen=True)
class RunRow:
    """A run of the plan and its state."""

    point: int
    seed: int
    content_hash: str
    state: str
    error: str | None
    events: int
    simulated_s: float


@dataclass(frozen=True)
class Counts:
    """Number of runs by state."""

    planned: int
    running: int
    done: int
    failed: int

    @property
    def total(self) -> int:
        """Number of runs of the plan."""
        return self.planned + self.running + self.done + self.failed


@dataclass(frozen=True)
class StoredTrace:
    """A trace of a finished run, with the digest of its file."""

    point: int
    seed: int
    kind: str
    content_hash: str
    file: bytes


class Ledger:
    """An open ledger. `thorough` verifies its integrity by reading all of it, which should happen only once.

    Raises
    ------
    StudyError
        The ledger is missing, damaged, not a ledger, or of a newer version of Tailback. It is not modified.
    """

    def __init__(self, file: Path, *, thorough: bool) -> None:
        self.file = file
        if not file.exists():
            raise StudyError(f"there is no study in `{file.parent}`")
        try:
            self._connection = _connect(file)
            try:
                self._verify(thorough=thorough)
            except BaseException:
                self.close()
                raise
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise StudyError(f"the ledger `{file}` is damaged or not a ledger, and was not modified: {error}") from None

    @classmethod
    def create(cls, file: Path, plan: dict[str, Any], points: Iterable[PlannedPoint]) -> Ledger:
        """Create a ledger with the whole plan, atomically."""
        partial = file.with_name(f"{file.name}.partial")
        for left_behind in (partial, partial.with_name(f"{partial.name}-journal")):
            left_behind.unlink(missing_ok=True)
        reach("ledger: about to be made")
        connection = _connect(partial, mode="rwc")
        try:
            with _transaction(connection):
                connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                connection.execute(f"PRAGMA user_version = {_SCHEMA}")
                for statement in _TABLES.split(";"):
                    connection.execute(statement)
                reach("ledger: tables made")
                _write_plan(connection, plan, points)
                reach("ledger: planned")
        finally:
            connection.close()
        reach("ledger: plan committed")
        partial.rename(file)
        reach("ledger: named")
        synced(file.parent)
        reach("ledger: name synced")
        return cls(file, thorough=False)

    def close(self) -> None:
        """Close the file. There is nothing to flush: every change is a transaction."""
        self._connection.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    # The plan.

    @property
    def plan(self) -> dict[str, Any]:
        """The requested sweep, and the version of Tailback."""
        plan: dict[str, Any] = json.loads(self._value("plan") or "{}")
        return plan

    @property
    def owner(self) -> dict[str, Any] | None:
        """Process and host of the last work session."""
        owner = self._value("owner")
        return None if owner is None else json.loads(owner)

    def replan(self, plan: dict[str, Any], points: Iterable[PlannedPoint], needed: Iterable[tuple[str, str]] = ()) -> None:
        """Replace the plan; results of runs in both plans are kept.

        `needed` lists content hashes and names of required tables. A result without one of them is deleted, because the old plan
        required fewer tables of it.
        """
        with _transaction(self._connection):
            for table in ("study", "points", "runs"):
                self._connection.execute(f"DELETE FROM {table}")
            reach("ledger: old plan gone")
            _write_plan(self._connection, plan, points)
            self._connection.execute("CREATE TEMPORARY TABLE needed (content_hash, name)")
            self._connection.executemany("INSERT INTO needed VALUES (?, ?)", needed)
            self._connection.execute(
                "DELETE FROM results WHERE content_hash IN "
                "(SELECT content_hash FROM needed LEFT JOIN tables USING (content_hash, name) WHERE data IS NULL)"
            )
            self._connection.execute("DROP TABLE needed")
            reach("ledger: new plan written")

    def restart(self, plan: dict[str, Any]) -> None:
        """Replace the plan by one without points, and start a session; results are kept."""
        code = self.code
        self.replan(plan, ())
        self.keep_code(code)
        self.begin()

    @property
    def code(self) -> list[dict[str, Any]]:
        """Provenance of the user code in the plan: kind, name, class, file and hash of each class."""
        row = self._connection.execute("SELECT value FROM study WHERE key = 'code'").fetchone()
        return [] if row is None else json.loads(row[0])

    def keep_code(self, classes: list[dict[str, Any]]) -> None:
        """Store the provenance of the user code for the runs from now on."""
        with _transaction(self._connection):
            self._set("code", json.dumps(classes))

    def points(self) -> list[tuple[int, dict[str, Any], str]]:
        """Index, labels and description of every point."""
        rows = self._connection.execute("SELECT point, labels, scenario FROM points ORDER BY point")
        return [(point, json.loads(labels), scenario) for point, labels, scenario in rows]

    def normalised(self, point: int) -> dict[str, Any]:
        """The complete description of a point."""
        (text,) = self._connection.execute("SELECT normalised FROM points WHERE point = ?", (point,)).fetchone()
        described: dict[str, Any] = json.loads(text)
        return described

    def add_point(self, point: PlannedPoint) -> int:
        """Add a point to the plan. Returns its index."""
        with _transaction(self._connection):
            (index,) = self._connection.execute("SELECT coalesce(max(point) + 1, 0) FROM points").fetchone()
            _write_point(self._connection, index, point)
            reach("ledger: point added")
        return int(index)

    def add_runs(self, runs: Iterable[tuple[int, int, str]]) -> None:
        """Add seeds to points: point, seed, content hash."""
        with _transaction(self._connection):
            self._connection.executemany(_INSERT_RUN, runs)
            reach("ledger: seeds added")
        reach("ledger: seeds committed")

    def rehash(self, runs: Iterable[tuple[int, int, str]]) -> None:
        """Replace content hashes after a change of the core, which invalidates earlier results."""
        with _transaction(self._connection):
            self._connection.executemany(
                "UPDATE runs SET content_hash = ?3, digest = digest(point, seed, ?3) WHERE point = ?1 AND seed = ?2",
                runs,
            )

    # The results.

    def begin(self) -> None:
        """Start a session: runs that another process started but did not finish become planned."""
        owner = json.dumps({"process": os.getpid(), "host": socket.gethostname()})
        with _transaction(self._connection):
            self._set("owner", owner)
            self._set("running", "0")
        reach("ledger: begun")

    def retry_failed(self) -> None:
        """Make failed runs planned."""
        with _transaction(self._connection):
            self._connection.execute("DELETE FROM results WHERE state = 'failed'")

    def discard(self, content_hashes: Iterable[str]) -> None:
        """Make runs planned."""
        with _transaction(self._connection):
            self._connection.executemany("DELETE FROM results WHERE content_hash = ?", ((each,) for each in content_hashes))

    def discard_results(self) -> None:
        """Make all runs of the plan planned."""
        with _transaction(self._connection):
            self._connection.execute("DELETE FROM results WHERE content_hash IN (SELECT content_hash FROM runs)")

    def todo(self) -> list[PendingRun]:
        """Distinct runs without a result, in the order of points and seeds."""
        rows = self._connection.execute(
            "SELECT content_hash, min(point), min(seed), count(*) FROM runs "
            "WHERE content_hash NOT IN (SELECT content_hash FROM results) "
            "GROUP BY content_hash ORDER BY min(point), min(seed)"
        )
        return [PendingRun(*row) for row in rows]

    def record(self, results: Sequence[Result], running: int) -> None:
        """Commit results, and the number of running runs, in one transaction. When it returns, these runs are finished."""
        reach("ledger: about to record")
        with _transaction(self._connection):
            # The time of day is informational; it affects neither decisions nor exports.
            self._connection.executemany(
                "INSERT OR REPLACE INTO results VALUES "
                "(?1, ?2, ?3, ?4, ?5, ?6, ?7, datetime('now'), digest(?1, ?2, ?3, ?4, ?5, ?6, ?7))",
                map(_row, results),
            )
            tables = ((result.content_hash, *table) for result in results for table in result.tables.items())
            self._connection.executemany("INSERT OR REPLACE INTO tables VALUES (?1, ?2, ?3, digest(?1, ?2, ?3))", tables)
            traces = ((result.content_hash, *trace) for result in results for trace in result.traces.items())
            self._connection.executemany("INSERT OR REPLACE INTO traces VALUES (?1, ?2, ?3, digest(?1, ?2, ?3))", traces)
            reach("ledger: results written")
            self._set("running", str(running))
            reach("ledger: about to commit")
        reach("ledger: committed")

    def counts(self, *, working: bool) -> Counts:
        """Number of runs by state; none is running unless a session is active."""
        query = "SELECT coalesce(state, 'planned'), count(*) FROM runs LEFT JOIN results USING (content_hash) GROUP BY 1"
        found = dict(self._connection.execute(query).fetchall())
        left = found.get("planned", 0)
        running = min(left, int(self._value("running") or 0)) if working else 0
        return Counts(left - running, running, found.get("done", 0), found.get("failed", 0))

    def runs(self) -> list[RunRow]:
        """All runs of the plan, by point and seed."""
        rows = self._connection.execute(
            "SELECT point, seed, content_hash, coalesce(state, 'planned'), error, coalesce(events, 0), "
            "coalesce(simulated_s, 0.0) FROM runs LEFT JOIN results USING (content_hash) ORDER BY point, seed"
        )
        return [RunRow(*row) for row in rows]

    def of(self, point: int) -> list[tuple[int, str, str]]:
        """Seed, content hash and state of the runs of a point."""
        query = (
            "SELECT seed, content_hash, coalesce(state, 'planned') FROM runs LEFT JOIN results USING (content_hash) "
            "WHERE point = ? ORDER BY seed"
        )
        return self._connection.execute(query, (point,)).fetchall()

    def has(self, content_hash: str) -> bool:
        """Whether a run is finished."""
        query = "SELECT count(*) FROM results WHERE content_hash = ?"
        found: int = self._connection.execute(query, (content_hash,)).fetchone()[0]
        return bool(found)

    def version(self, content_hash: str) -> str:
        """The version that computed a result."""
        row = self._connection.execute("SELECT version FROM results WHERE content_hash = ?", (content_hash,)).fetchone()
        return str(row[0])

    def table_names(self, state: str = "done") -> list[str]:
        """Names of the tables in the results of runs in this state."""
        joined = "tables JOIN runs USING (content_hash) JOIN results USING (content_hash)"
        rows = self._connection.execute(f"SELECT DISTINCT name FROM {joined} WHERE state = ?", (state,)).fetchall()
        order = {"flows": 0, "queues": 1, "groups": 2, "classes": 3}
        return sorted((name for (name,) in rows), key=lambda name: (order.get(name, 4), name))

    def tables(self, name: str, state: str = "done") -> Iterator[tuple[int, int, bytes]]:
        """A packed table of every run in this state, with point and seed."""
        return iter(
            self._connection.execute(
                "SELECT point, seed, data FROM runs JOIN tables USING (content_hash) JOIN results USING (content_hash) "
                "WHERE name = ? AND state = ? ORDER BY point, seed",
                (name, state),
            )
        )

    def table(self, content_hash: str, name: str) -> bytes | None:
        """A packed table of one run."""
        query = "SELECT data FROM tables WHERE content_hash = ? AND name = ?"
        row = self._connection.execute(query, (content_hash, name)).fetchone()
        return None if row is None else bytes(row[0])

    def traces(self) -> list[StoredTrace]:
        """Every trace of the plan's finished runs."""
        query = (
            "SELECT point, seed, kind, content_hash, file FROM runs JOIN traces USING (content_hash) JOIN results "
            "USING (content_hash) ORDER BY point, seed, kind"
        )
        return [StoredTrace(*row) for row in self._connection.execute(query)]

    def delete_unreferenced(self) -> int:
        """Delete results that the plan does not need. Returns their number."""
        with _transaction(self._connection):
            unasked = "content_hash NOT IN (SELECT content_hash FROM runs)"
            removed = self._connection.execute(f"DELETE FROM results WHERE {unasked}").rowcount
            for table in ("tables", "traces"):
                self._connection.execute(f"DELETE FROM {table} WHERE {unasked}")
            # A plan that names its tables needs no others, such as those of measurements that have changed.
            if wanted := self.plan.get("tables"):
                others = "name NOT IN (SELECT value FROM json_each(?))"
                self._connection.execute(f"DELETE FROM tables WHERE {others}", (json.dumps(wanted),))
        self._connection.execute("VACUUM")
        return removed

    def _value(self, key: str) -> str | None:
        row = self._connection.execute("SELECT value FROM study WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def _set(self, key: str, value: str) -> None:
        self._connection.execute("INSERT OR REPLACE INTO study VALUES (?1, ?2, digest(?1, ?2))", (key, value))

    def _verify(self, *, thorough: bool) -> None:
        application = self._connection.execute("PRAGMA application_id").fetchone()[0]
        schema = self._connection.execute("PRAGMA user_version").fetchone()[0]
        if application != _APPLICATION:
            raise StudyError(f"`{self.file}` is not the ledger of a study, and was not modified")
        if schema != _SCHEMA:
            other = "a newer" if schema > _SCHEMA else "an older"
            raise StudyError(
                f"`{self.file}` was written by {other} version of Tailback (schema {schema}; this one reads {_SCHEMA})"
            )
        pages = self._connection.execute("PRAGMA page_count").fetchone()[0]
        size = self._connection.execute("PRAGMA page_size").fetchone()[0]
        (verdict,) = self._connection.execute("PRAGMA integrity_check(1)").fetchone() if thorough else ("ok",)
        if self.file.stat().st_size < pages * size:
            verdict = "the file is truncated"
        if verdict != "ok":
            raise StudyError(f"the ledger `{self.file}` is damaged, and was not modified: {verdict}")
        for table, columns in _SEALED.items() if thorough else ():
            query = f"SELECT count(*) FROM {table} WHERE digest IS NOT digest({columns})"
            if changed := self._connection.execute(query).fetchone()[0]:
                rows = f"{changed} rows of `{table}` have" if changed > 1 else f"a row of `{table}` has"
                raise StudyError(f"the ledger `{self.file}` is damaged, and was not modified: {rows} changed")


def _row(result: Result) -> tuple[Any, ...]:
    state = "failed" if result.error else "done"
    return result.content_hash, state, result.error, result.version, result.events, result.simulated_s, result.cpu_s


def synced(directory: Path) -> None:
    """Sync a directory, so that renames in it survive a power failure. Windows has no such call and does not need one."""
    if os.name == "nt":
        return
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _connect(file: Path, mode: str = "rw") -> sqlite3.Connection:
    # Readers also write, for example to roll back the journal of a killed process. The timeout covers commits of others.
    uri = f"{file.absolute().as_uri()}?mode={mode}"
    connection = sqlite3.connect(uri, uri=True, timeout=60, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA synchronous = EXTRA")
        connection.create_function("digest", -1, _digest, deterministic=True)
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # SQLite may have rolled back already, for example on a full disk.
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def _write_plan(connection: sqlite3.Connection, plan: dict[str, Any], points: Iterable[PlannedPoint]) -> None:
    described = json.dumps({**plan, "version": _core.__version__})
    connection.execute("INSERT INTO study VALUES ('plan', ?1, digest('plan', ?1))", (described,))
    for index, point in enumerate(points):
        _write_point(connection, index, point)


def _write_point(connection: sqlite3.Connection, index: int, point: PlannedPoint) -> None:
    row = (index, json.dumps(point.labels), point.text, point.normalised)
    connection.execute("INSERT INTO points VALUES (?1, ?2, ?3, ?4, digest(?1, ?2, ?3, ?4))", row)
    connection.executemany(_INSERT_RUN, ((index, seed, key) for seed, key in point.runs))
