"""The directory of built kernels."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tailback import _core
from tailback.errors import OutputError, ParameterError

__all__ = ["MANIFEST", "UNFINISHED", "Kernel", "folder", "kernels", "remove", "remove_abandoned"]

MANIFEST = "kernel.json"

# Prefix of the directory of a build; the process number follows.
UNFINISHED = ".building-"


@dataclass(frozen=True)
class Kernel:
    """A built kernel: its directory and its manifest."""

    path: Path
    manifest: dict[str, Any]

    @property
    def name(self) -> str:
        """Version and tick rate, for example ``6.12.117-hz1000``."""
        return str(self.manifest["name"])

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(file.stat().st_size for file in self.path.iterdir())

    def described(self) -> dict[str, Any]:
        """The manifest without the layout of the kernel's memory, with the directory and its size in bytes."""
        internal = ("fields", "ca_state", "physmem")
        return {
            **{key: value for key, value in self.manifest.items() if key not in internal},
            "bytes": self.size,
            "path": str(self.path),
        }


def folder() -> Path:
    """The directory of built kernels, which may not exist: ``$TAILBACK_KERNELS``, or ``tailback/kernels`` in the user's cache
    directory."""
    return Path(_core.kernel_folder())


def kernels() -> list[Kernel]:
    """All built kernels, sorted by name. Directories without a readable manifest are not kernels."""
    return sorted(_readable(), key=lambda kernel: kernel.name)


def _readable() -> Iterator[Kernel]:
    try:
        paths = [path for path in folder().iterdir() if not path.name.startswith(".")]
    except OSError:
        return
    for path in paths:
        try:
            manifest = json.loads((path / MANIFEST).read_text())
        except (OSError, ValueError):
            continue
        if isinstance(manifest, dict) and manifest.get("name") == path.name:
            yield Kernel(path, manifest)


def remove(name: str) -> Kernel:
    """Remove a kernel.

    Raises
    ------
    ParameterError
        There is no kernel with this name.
    OutputError
        Its files cannot be removed.
    """
    found = {kernel.name: kernel for kernel in kernels()}
    if name not in found:
        known = ", ".join(f"`{known}`" for known in found)
        raise ParameterError(
            f"`{name}` is not a built kernel; expected {f'one of {known}' if known else 'nothing: none is built'}"
        )
    try:
        shutil.rmtree(found[name].path)
    except OSError as error:
        raise OutputError(f"{error.filename}: cannot be removed; {error.strerror}") from None
    return found[name]


def remove_abandoned() -> None:
    """Remove the directories of builds whose processes have been killed."""
    for path in folder().glob(f"{UNFINISHED}*"):
        process = path.name.removeprefix(UNFINISHED)
        if process.isdigit() and not _is_running(int(process)):
            shutil.rmtree(path, ignore_errors=True)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
