"""Results on disk, written atomically: a directory appears complete or not at all."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tailback.errors import OutputError, ParameterError, TailbackError

if TYPE_CHECKING:
    from tailback._tables.table import Table

if sys.platform != "win32":
    import fcntl

__all__ = ["ensure_writable", "read", "replaced_file", "staged", "staged_file", "write", "write_atomically"]


@contextmanager
def staged(directory: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary directory that is renamed to `directory` at the end, or removed if the block raises.

    It is created next to its destination before anything runs, so that write errors appear before a long run and not after it.
    Remains of killed processes with the same destination are removed; directories that a live process is writing are not.

    Raises
    ------
    OutputError
        `directory` exists, or its parent is missing or cannot be written.
    """
    # Code of the block may change the working directory.
    target = Path(directory).absolute()
    with _staging_directory(target, os.fspath(directory)) as folder:
        yield folder
        # mkdtemp restricts access; the results get the usual permissions.
        folder.chmod(0o777 & ~_umask())
        folder.rename(target)


@contextmanager
def staged_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Like `staged`, for a single file.

    Raises
    ------
    OutputError
        `path` exists, or its parent is missing or cannot be written.
    """
    target = Path(path).absolute()
    with _staging_directory(target, os.fspath(path)) as folder:
        yield folder / target.name
        (folder / target.name).rename(target)


@contextmanager
def replaced_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """The file, for a block that writes it and replaces one that exists. Raises `OutputError` if it cannot be written."""
    try:
        yield Path(path)
    except TailbackError:
        raise
    except OSError as error:
        raise OutputError(f"cannot write `{os.fspath(path)}`: {error.strerror or error}") from None


def write(tables: Mapping[str, Table], provenance: Mapping[str, Any], folder: Path, *, as_csv: bool = False) -> None:
    """Write every table of a run as ``NAME.parquet`` or ``NAME.csv``, and its provenance with the tables' names and SHA-256."""
    files = {name: folder / f"{name}.{'csv' if as_csv else 'parquet'}" for name in tables}
    for name, table in tables.items():
        if as_csv:
            files[name].write_text(table.to_csv(), encoding="utf-8", newline="")
        else:
            table.write_parquet(files[name])
    stored = {**provenance, _TABLES: {name: _digest(file) for name, file in files.items()}}
    (folder / "provenance.json").write_text(json.dumps(stored, indent=2) + "\n", encoding="utf-8")


def _digest(file: Path) -> str:
    import hashlib

    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


_TABLES = "tables"

# Required keys of a run's provenance.
_REQUIRED_KEYS: dict[str, type | tuple[type, ...]] = {
    "scenario": dict,
    "seed": int,
    "complete": bool,
    "simulated_s": (int, float),
    "events": int,
    _TABLES: dict,
}


def read(directory: str | os.PathLike[str]) -> tuple[dict[str, Table], dict[str, Any]]:
    """Read the tables and the provenance that `write` wrote.

    Raises
    ------
    ParameterError
        The files are missing or damaged.
    """
    from tailback import _core
    from tailback._tables.table import COUNTERS, Table

    folder = Path(directory)
    if not (folder / "provenance.json").exists():
        raise ParameterError(f"{_why_no_run(folder)}; expected the output of `Run.save` or `tailback run --out`")
    file = folder / "flows.csv"
    if file.exists():
        raise ParameterError(
            f"{folder} has CSV files, which are not read; expected the output of `tailback run --out` without --csv"
        )
    file = folder / "provenance.json"
    try:
        provenance = json.loads(file.read_text(encoding="utf-8"))
        _check(provenance)
        tables = {}
        for name, digest in provenance.pop(_TABLES).items():
            file = folder / f"{name}.parquet"
            if _digest(file) != digest:
                raise ValueError("the file was modified: its SHA-256 differs")
            tables[name] = Table(_core.Table.read_parquet(name, file))
        missing = next(
            (name for name in COUNTERS if name not in tables and name not in ("classes", "edges", "messages", "queue_flows")),
            None,
        )
        if missing is not None:
            file = folder / "provenance.json"
            raise ValueError(f"the table `{missing}` is missing")
    except (OSError, ValueError) as error:
        raise ParameterError(f"the run in `{folder}` cannot be read: {file.name}: {error}") from None
    return tables, provenance


def _why_no_run(folder: Path) -> str:
    if not folder.is_dir():
        return f"`{folder}` is a file" if folder.exists() else f"there is no directory `{folder}`"
    if (folder / "study.sqlite3").exists():
        return f"`{folder}` is a study; open it with `tb.Study`"
    return f"`{folder}` contains no run: provenance.json is missing"


def _check(provenance: Any) -> None:
    if not isinstance(provenance, dict):
        raise ValueError("not the provenance of a run")
    for key, kind in _REQUIRED_KEYS.items():
        value = provenance.get(key)
        if key not in provenance:
            raise ValueError(f"not the provenance of a run: `{key}` is missing")
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise ValueError(f"`{key}` is {value!r}")
    if not all(isinstance(name, str) and name.isidentifier() for name in provenance[_TABLES]):
        raise ValueError(f"`{_TABLES}` is {provenance[_TABLES]!r}")


def ensure_writable(directory: Path) -> None:
    """Create a directory if it is missing, and check that files can be written to it.

    Raises
    ------
    OutputError
        The directory cannot be created or written.
    """
    probe = directory / ".partial"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise OutputError(f"cannot write to `{directory}`: {error.strerror}") from None


def write_atomically(file: Path, text: str) -> Path:
    """Write a text file atomically; its directory is created if missing."""
    ensure_writable(file.parent)
    partial = file.with_name(f".{file.name}.partial")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(file)
    except OSError as error:
        raise OutputError(f"cannot write `{file}`: {error.strerror}") from None
    finally:
        partial.unlink(missing_ok=True)
    return file


@contextmanager
def _staging_directory(target: Path, name: str) -> Iterator[Path]:
    """A temporary directory next to `target`, removed after the block; `name` is the name of `target` in messages."""
    if target.exists() or target.is_symlink():
        raise OutputError(f"`{name}` exists already; give a new name or remove it")
    try:
        folder, lock = _stage(target)
    except OSError as error:
        raise OutputError(f"cannot write to `{name}`: {error.strerror}") from None
    try:
        yield folder
    except TailbackError:
        # Of the block, for example about a file that it reads.
        raise
    except OSError as error:
        late = OutputError(f"cannot write `{name}`: {error.strerror or error}")
        late.was_run = True
        raise late from None
    finally:
        _remove(folder)
        if lock is not None:
            os.close(lock)


def _stage(target: Path) -> tuple[Path, int | None]:
    """A new temporary directory next to `target`, and a lock that marks it as in use.

    The operating system releases the locks of a process that dies. The parent is locked meanwhile, so that no other process
    removes the new directory before it is locked.
    """
    import tempfile

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
    """Remove the temporary directories of `target` that no process has locked."""
    name = re.compile(rf"\.{re.escape(target.name)}\.[a-z0-9_]{{8}}\.partial")
    for folder in target.parent.iterdir():
        if name.fullmatch(folder.name) and (lock := _locked(folder)) is not None:
            _remove(folder)
            os.close(lock)


def _remove(folder: Path) -> None:
    # Imported here, as below, because most runs write no files.
    import shutil

    shutil.rmtree(folder, ignore_errors=True)


def _locked(folder: Path, *, wait: bool = False) -> int | None:
    """Lock a directory, until the descriptor is closed; None if another process has the lock or locks are not supported."""
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
    """The process's umask, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
