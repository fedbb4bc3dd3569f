"""Fingerprints of the source of classes, so that results of different code are never confused.

A fingerprint covers the source of the class and of its bases outside Tailback, as of the registration of the class, and the
functions, classes and assignments of the same files that they refer to (`relevant_lines`); for a class from a notebook cell, the
cell. It also covers values of enclosing functions (`_captured_values`), and the user's own modules that these import
(`_imports`), but not installed packages.
"""

from __future__ import annotations

import hashlib
import linecache
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

from tailback.errors import UserCodeWarning, warn
from tailback.user_code._captured_values import CapturedValues, compiled, unwrapped
from tailback.user_code._imports import Import, ImportedModules
from tailback.user_code._relevant_lines import relevant_lines

__all__ = ["Fingerprint", "fingerprint"]


@dataclass(frozen=True)
class Fingerprint:
    """SHA-256 of the source, its kind (``class``, ``cell``, ``bytecode``), the file of the class, if any, and own modules that
    it imports."""

    sha256: str
    covers: str
    file: str | None
    imports: tuple[str, ...]


def fingerprint(cls: type) -> Fingerprint:
    """The fingerprint of a class. If the source is not available, for example with `exec`, it covers the compiled code.

    Warns
    -----
    UserCodeWarning
        The class imports a module whose source is not found or whose name is computed, or has a value of an enclosing function
        that cannot be compared.
    """
    hash = hashlib.sha256()
    covers, own, seen = "class", None, set()
    wanted: list[Import] = []
    captured = CapturedValues()
    files = [Path(code.co_filename) for code in _codes(cls)]
    imported = ImportedModules(next((file.resolve().parent for file in files if file.is_file()), None))
    for part in cls.__mro__:
        if part.__module__.split(".")[0] in ("tailback", "builtins", "abc", "typing"):
            continue
        package = getattr(sys.modules.get(part.__module__), "__package__", None) or ""
        for name in dict.fromkeys(code.co_filename for code in _codes(part)):
            file = Path(name)
            if part is cls and own is None and file.is_file():
                own = str(file.resolve())
            if (part, name) in seen:
                continue
            seen.add((part, name))
            if file.is_file():
                lines = relevant_lines(file.read_bytes(), part.__qualname__.partition(".")[0])
                hash.update(lines)
                wanted += imported.imports(lines, package)
            elif cell := linecache.getlines(name):
                covers = "cell"
                hash.update("".join(cell).encode())
                wanted += [*imported.imports("".join(cell).encode(), package), *_reached(part)]
            else:
                covers = "bytecode"
                for code in _codes(part):
                    hash.update(compiled(code))
                wanted += _reached(part)
            hash.update(b"\0")
        for value in captured.of_class(part):
            hash.update(value)
    for source in imported.source([*wanted, *captured.imports]):
        hash.update(source + b"\0")
    for module in sorted(imported.uncovered):
        warn(
            UserCodeWarning(
                f"`{cls.__qualname__}` imports with `{module}`, whose source is not found before it runs: results are not "
                "repeated if the imported code changes"
                if module in ("__import__", "importlib", "runpy")
                else f"`{cls.__qualname__}` imports `{module}`, whose source is not found: results are not repeated if it changes"
            )
        )
    for name, kind in sorted(captured.uncovered.items()):
        warn(
            UserCodeWarning(
                f"`{cls.__qualname__}` uses `{name}` of an enclosing function, a `{kind}`, which cannot be compared: results are "
                "not repeated if it changes"
            )
        )
    return Fingerprint(hash.hexdigest(), covers, own, tuple(sorted(imported.modules)))


def _reached(cls: type) -> Iterator[Import]:
    """The modules, and functions and classes of modules, that methods refer to by global names."""
    for value in vars(cls).values():
        function = unwrapped(value)
        if not isinstance(function, FunctionType):
            continue
        for name in sorted(set(_names(function.__code__))):
            reached = function.__globals__.get(name)
            module = getattr(reached, "__module__", None)
            if isinstance(reached, ModuleType):
                yield Import(reached.__name__, None, optional=True)
            elif isinstance(reached, (FunctionType, type)) and module and module != cls.__module__:
                yield Import(module, frozenset({reached.__qualname__.partition(".")[0]}), optional=True)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _codes(cls: type) -> Iterator[CodeType]:
    """The code objects of the methods that the class itself defines."""
    for value in vars(cls).values():
        function = unwrapped(value)
        if isinstance(function, FunctionType):
            yield function.__code__
