"""Transport stacks in libraries: those of installed packages, and files."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

from tailback import _core
from tailback._arguments import arguments_checked
from tailback.errors import ParameterError

__all__ = ["Stack", "load_stacks", "stack", "stack_names"]

# Packages with stacks: the name of each, and a function that returns the address of the stacks of its library.
_GROUP = "tailback.stacks"


@dataclass(frozen=True)
class Stack:
    """A stack: the address of its library's stacks, its version, and the file of the library unless a package contains it."""

    library: int
    version: str
    file: str | None = None


_loaded: dict[str, Stack] = {}


@arguments_checked
def load_stacks(library: str | os.PathLike[str]) -> tuple[str, ...]:
    """Load a shared library with stacks, and return their names, which scenarios may use from then on.

    The library exports the function ``tailback_stacks`` of ``tailback.h``. It replaces stacks of installed packages.

    Parameters
    ----------
    library : path
        For example ``./liblwip_host.so``.

    Raises
    ------
    ParameterError
        The file cannot be loaded, or was built for another version of the interface.
    """
    file = Path(library).resolve()
    try:
        function = ctypes.CDLL(str(file)).tailback_stacks
    except (OSError, AttributeError) as error:
        raise ParameterError(f"`{library}` cannot be loaded as a library with stacks: {error}") from None
    function.restype = ctypes.c_void_p
    found = _stacks(function, str(file))
    _loaded.update(found)
    return tuple(found)


def stack_names() -> list[str]:
    """The names of all stacks."""
    return sorted(_loaded.keys() | {entry.name for entry in entry_points(group=_GROUP)})


def stack(name: str) -> Stack:
    """The stack with this name, which must be one of `stack_names`."""
    return _loaded.get(name) or _installed(name)


@cache
def _installed(name: str) -> Stack:
    (entry, *_) = entry_points(group=_GROUP, name=name)
    return _stacks(entry.load())[name]


def _stacks(function: Callable[[], int], file: str | None = None) -> dict[str, Stack]:
    address = function()
    return {name: Stack(address, version, file) for name, version in _core.stack_versions(address)}
