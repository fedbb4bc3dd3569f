"""Results on disk: a directory that appears complete or not at all."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tailback.errors import OutputError

if TYPE_CHECKING:
    from tailback.run import Run

__all__ = ["staged", "write"]


@contextmanager
def staged(directory: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary directory that becomes `directory` at the end, or vanishes if the block raises.

    It is made beside its destination before anything runs, so that a full night is not spent on results that have no place.

    Raises
    ------
    OutputError
        `directory` exists, or its parent is missing or cannot be written.
    """
    target = Path(directory)
    if target.exists() or target.is_symlink():
        raise OutputError(f"`{target}` exists already; give a new name or remove it")
    try:
        folder = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".partial", dir=target.parent))
    except OSError as error:
        raise OutputError(f"nothing can be written to `{target}`: {error.strerror}") from None
    try:
        yield folder
        # mkdtemp keeps others out; results are for whoever may read the parent.
        folder.chmod(0o777 & ~_umask())
        folder.rename(target)
    except OSError as error:
        raise OutputError(f"nothing was written to `{target}`: {error.strerror or error}") from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write(run: Run, folder: Path) -> None:
    """Every table of `run` as ``NAME.parquet``, and its provenance."""
    for name, table in run.tables.items():
        table.write_parquet(folder / f"{name}.parquet")
    (folder / "provenance.json").write_text(json.dumps(run.provenance, indent=2) + "\n", encoding="utf-8")


def _umask() -> int:
    """The process's mask, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
