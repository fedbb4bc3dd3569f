"""Transport stacks and congestion controllers in libraries: those of installed packages, files, and the stack `linux` of this
package."""

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

__all__ = ["LibraryMember", "library_member", "library_names", "load_controllers", "load_stacks", "tables_at"]

# For each kind, the group of entry points in which packages name their members, each with a function that returns the address of
# the tables of its library. Files export a function `tailback_stacks` or `tailback_controllers`.
_GROUPS = {"controller": "tailback.controllers", "stack": "tailback.stacks"}


# Stacks of this package, each with the function that returns the address of its tables.
_OWN: dict[str, Callable[[], int]] = {"linux": _core.linux_stacks}

# The engine accepts tables only in a capsule, whose name identifies them. Capsules do not copy their names, which
# live as long as this module.
_CAPSULES = {kind: name.encode() for kind, name in _GROUPS.items()}
_capsule = ctypes.pythonapi.PyCapsule_New
_capsule.restype = ctypes.py_object
_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


@dataclass(frozen=True)
class LibraryMember:
    """A stack or controller: a capsule with its library's tables, its version, and the file of the library unless a package
    contains it."""

    tables: object
    version: str
    file: str | None = None


_loaded: dict[tuple[str, str], LibraryMember] = {}


@arguments_checked
def load_stacks(library: str | os.PathLike[str]) -> tuple[str, ...]:
    """Load a shared library with stacks, and return their names, which scenarios may use from then on.

    The library exports the function ``tailback_stacks`` of ``tailback.h``. Its names must differ from those of stacks of
    installed packages.

    Parameters
    ----------
    library : path
        For example ``./liblwip_host.so``.

    Raises
    ------
    ParameterError
        The file cannot be loaded, was built for another version of the interface, or its tables are empty, incomplete or have
        invalid names.
    """
    return _load("stack", library)


@arguments_checked
def load_controllers(library: str | os.PathLike[str]) -> tuple[str, ...]:
    """Load a shared library with congestion controllers, and return their names, which scenarios may use from then on as
    ``user:NAME``.

    The library exports the function ``tailback_controllers`` of ``tailback.h``. Its names must differ from those of controllers
    of installed packages. Classes registered with `controller` have precedence.

    Parameters
    ----------
    library : path
        For example ``./aimd.so``.

    Raises
    ------
    ParameterError
        The file cannot be loaded, was built for another version of the interface, or its tables are empty, incomplete or have
        invalid names.
    """
    return _load("controller", library)


def _load(kind: str, library: str | os.PathLike[str]) -> tuple[str, ...]:
    file = Path(library).resolve()
    try:
        function = getattr(ctypes.CDLL(str(file)), f"tailback_{kind}s")
    except (OSError, AttributeError) as error:
        raise ParameterError(f"`{library}` cannot be loaded as a library with {kind}s: {error}") from None
    function.restype = ctypes.c_void_p
    found = _members(kind, function, str(file))
    if taken := sorted(found.keys() & {*_own(kind), *(entry.name for entry in entry_points(group=_GROUPS[kind]))}):
        raise ParameterError(f"`{library}` has a {kind} `{taken[0]}`, as an installed package has; expected another name")
    _loaded.update({(kind, name): member for name, member in found.items()})
    return tuple(found)


def _own(kind: str) -> dict[str, Callable[[], int]]:
    return _OWN if kind == "stack" else {}


def library_names(kind: str) -> list[str]:
    """The names of all stacks or controllers of libraries."""
    loaded = {name for of, name in _loaded if of == kind}
    return sorted({*loaded, *_own(kind), *(entry.name for entry in entry_points(group=_GROUPS[kind]))})


def library_member(kind: str, name: str) -> LibraryMember:
    """The stack or controller with this name, which must be one of `library_names`."""
    return _loaded.get((kind, name)) or _installed(kind, name)


@cache
def _installed(kind: str, name: str) -> LibraryMember:
    if own := _own(kind).get(name):
        return _members(kind, own)[name]
    (entry, *_) = entry_points(group=_GROUPS[kind], name=name)
    return _members(kind, entry.load())[name]


def _members(kind: str, function: Callable[[], int], file: str | None = None) -> dict[str, LibraryMember]:
    tables = tables_at(kind, function())
    return {name: LibraryMember(tables, version, file) for name, version in _core.library_versions(kind, tables)}


def tables_at(kind: str, address: int | None) -> object:
    """The tables of stacks or controllers at an address that a library has returned, for the engine."""
    if not address:
        raise ParameterError(f"the library cannot be used: it has no {kind}s")
    capsule: object = _capsule(address, _CAPSULES[kind], None)
    return capsule
