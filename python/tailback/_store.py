"""Results on disk: a directory that appears complete or not at all."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tailback.errors import OutputError, ParameterError

if TYPE_CHECKING:
    from tailback._table import Table

if sys.platform != "win32":
    import fcntl

__all__ = ["claimed", "put", "read", "staged", "staged_file", "write"]


@contextmanager
def staged(directory: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary directory that becomes `directory` at the end, or vanishes if the block raises.

    It is made beside its destination before anything runs, so that a full night is not spent on results that have no place. What
    a process that was killed has left of the same destination is removed; what a living one is writing is not.

    Raises
    ------
    OutputError
        `directory` exists, or its parent is missing or cannot be written.
    """
    target = Path(directory)
    with _beside(target) as folder:
        yield folder
        # mkdtemp keeps others out; results are for whoever may read the parent.
        folder.chmod(0o777 & ~_umask())
        folder.rename(target)


@contextmanager
def staged_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """The same for a single file: one beside its destination, which it becomes at the end.

    Raises
    ------
    OutputError
        `path` exists, or its parent is missing or cannot be written.
    """
    target = Path(path)
    with _beside(target) as folder:
        yield folder / target.name
        (folder / target.name).rename(target)


def write(tables: Mapping[str, Table], provenance: Mapping[str, Any], folder: Path) -> None:
    """Every table of a run as ``NAME.parquet``, and its provenance, with the tables' names and SHA-256."""
    for name, table in tables.items():
        table.write_parquet(folder / f"{name}.parquet")
    said = {**provenance, _TABLES: {name: _digest(folder / f"{name}.parquet") for name in tables}}
    (folder / "provenance.json").write_text(json.dumps(said, indent=2) + "\n", encoding="utf-8")


def _digest(file: Path) -> str:
    import hashlib

    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


_TABLES = "tables"

# What a run's provenance says at least.
_SAID: dict[str, type | tuple[type, ...]] = {
    "scenario": dict,
    "seed": int,
    "complete": bool,
    "simulated_s": (int, float),
    "events": int,
    _TABLES: dict,
}


def read(directory: str | os.PathLike[str]) -> tuple[dict[str, Table], dict[str, Any]]:
    """The tables and the provenance that `write` wrote.

    Raises
    ------
    ParameterError
        There are none, or they are damaged.
    """
    from tailback import _core
    from tailback._table import COUNTERS, Table

    folder = Path(directory)
    if not (folder / "provenance.json").exists():
        raise ParameterError(f"{_why_no_run(folder)}; expected what `save` of a run, or `tailback run --out`, wrote")
    file = folder / "provenance.json"
    try:
        provenance = json.loads(file.read_text(encoding="utf-8"))
        _check(provenance)
        tables = {}
        for name, digest in provenance.pop(_TABLES).items():
            file = folder / f"{name}.parquet"
            if _digest(file) != digest:
                raise ValueError("it is not what was written: its SHA-256 is another")
            tables[name] = Table(_core.Table.read_parquet(name, file))
        missing = next(
            (name for name in COUNTERS if name not in tables and name not in ("classes", "edges", "queue_flows")), None
        )
        if missing is not None:
            file = folder / "provenance.json"
            raise ValueError(f"it says nothing of a table `{missing}`")
    except (OSError, ValueError) as error:
        raise ParameterError(f"`{folder}` holds no run that can be read: {file.name}: {error}") from None
    return tables, provenance


def _why_no_run(folder: Path) -> str:
    if not folder.is_dir():
        return f"`{folder}` is a file" if folder.exists() else f"there is no directory `{folder}`"
    if (folder / "study.sqlite3").exists():
        return f"`{folder}` is a study, which `tb.Study` opens"
    return f"`{folder}` holds no run: it has no provenance.json"


def _check(provenance: Any) -> None:
    if not isinstance(provenance, dict):
        raise ValueError("it says nothing of a scenario and its run")
    for key, kind in _SAID.items():
        value = provenance.get(key)
        if key not in provenance:
            raise ValueError(f"it says nothing of a scenario and its run: `{key}` is missing")
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise ValueError(f"`{key}` is {value!r}")
    if not all(isinstance(name, str) and name.isidentifier() for name in provenance[_TABLES]):
        raise ValueError(f"`{_TABLES}` is {provenance[_TABLES]!r}")


def claimed(directory: Path) -> None:
    """Make a directory if it is missing, and see that files can be written to it.

    Raises
    ------
    OutputError
        They cannot.
    """
    probe = directory / ".partial"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise OutputError(f"nothing can be written to `{directory}`: {error.strerror}") from None


def put(file: Path, text: str) -> Path:
    """A file that appears complete or not at all, in a directory that is made if missing."""
    claimed(file.parent)
    partial = file.with_name(f".{file.name}.partial")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(file)
    except OSError as error:
        raise OutputError(f"nothing was written to `{file}`: {error.strerror}") from None
    finally:
        partial.unlink(missing_ok=True)
    return file


@contextmanager
def _beside(target: Path) -> Iterator[Path]:
    """A temporary directory beside what is to be made, until the block ends."""
    if target.exists() or target.is_symlink():
        raise OutputError(f"`{target}` exists already; give a new name or remove it")
    try:
        folder, lock = _stage(target)
    except OSError as error:
        raise OutputError(f"nothing can be written to `{target}`: {error.strerror}") from None
    try:
        yield folder
    except OSError as error:
        raise OutputError(f"nothing was written to `{target}`: {error.strerror or error}") from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _stage(target: Path) -> tuple[Path, int | None]:
    """A new temporary directory beside `target`, and the lock that says for how long somebody writes there.

    The system gives up the locks of a process that dies. The parent is locked meanwhile, so that nobody takes the new directory
    for a dead one before it has its lock.
    """
    parent = _locked(target.parent, wait=True)
    try:
        if parent is not None:
            _remove_dead(target)
        folder = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".partial", dir=target.parent))
        return folder, _locked(folder)
    finally:
        if parent is not None:
            os.close(parent)


def _remove_dead(target: Path) -> None:
    """Remove the temporary directories of `target` that nobody holds a lock on."""
    name = re.compile(rf"\.{re.escape(target.name)}\.[a-z0-9_]{{8}}\.partial")
    for folder in target.parent.iterdir():
        if name.fullmatch(folder.name) and (lock := _locked(folder)) is not None:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(lock)


def _locked(folder: Path, *, wait: bool = False) -> int | None:
    """A lock on a directory, until it is closed; None where somebody else has it, or where there are no such locks."""
    if sys.platform == "win32":
        return None
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _umask() -> int:
    """The process's mask, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
