"""Fingerprints of the source of classes, so that results of different code are never confused.

A fingerprint covers the source of the class and of its bases outside Tailback, as of the registration of the class, and the
functions, classes and assignments of the same files that they refer to (`relevant_lines`); for a class from a notebook cell, the
cell. It does not cover modules that these files import.
"""

from __future__ import annotations

import hashlib
import linecache
import marshal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from tailback.user_code._relevant_lines import relevant_lines

__all__ = ["Fingerprint", "fingerprint"]


@dataclass(frozen=True)
class Fingerprint:
    """SHA-256 of the source, its kind (``class``, ``cell``, ``bytecode``), and the file of the class, if any."""

    sha256: str
    covers: str
    file: str | None


def fingerprint(cls: type) -> Fingerprint:
    """The fingerprint of a class. If the source is not available, for example with `exec`, it covers the compiled code."""
    hash = hashlib.sha256()
    covers, own, seen = "class", None, set()
    for part in cls.__mro__:
        if part.__module__.split(".")[0] in ("tailback", "builtins", "abc", "typing"):
            continue
        for name in dict.fromkeys(code.co_filename for code in _codes(part)):
            file = Path(name)
            if part is cls and own is None and file.is_file():
                own = str(file.resolve())
            if (part, name) in seen:
                continue
            seen.add((part, name))
            if file.is_file():
                hash.update(relevant_lines(file.read_bytes(), part.__qualname__.partition(".")[0]))
            elif lines := linecache.getlines(name):
                covers = "cell"
                hash.update("".join(lines).encode())
            else:
                covers = "bytecode"
                for code in _codes(part):
                    hash.update(_compiled(code))
            hash.update(b"\0")
    return Fingerprint(hash.hexdigest(), covers, own)


def _codes(cls: type) -> Iterator[CodeType]:
    """The code objects of the methods that the class itself defines."""
    for value in vars(cls).values():
        function = _unwrapped(value)
        if isinstance(function, FunctionType):
            yield function.__code__


def _unwrapped(value: Any) -> Any:
    """The function of a property, class method or decorated function."""
    value = getattr(value, "fget", None) or getattr(value, "__func__", value)
    return getattr(value, "__wrapped__", value)


def _compiled(code: CodeType) -> bytes:
    """The compiled code without file names and line numbers."""
    inner = [_compiled(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    constants = [constant for constant in code.co_consts if not isinstance(constant, CodeType)]
    return code.co_code + marshal.dumps((code.co_names, code.co_varnames)) + repr(constants).encode() + b"".join(inner)
