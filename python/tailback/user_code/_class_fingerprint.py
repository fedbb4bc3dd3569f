"""What the source of a class is, so that results of different code never pass for each other's.

Covered is every file that the class and its bases outside Tailback are written in, as it was when the class was registered; of a
class from a notebook cell, the cell. Not covered is what those files import.
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

__all__ = ["Fingerprint", "fingerprint"]


@dataclass(frozen=True)
class Fingerprint:
    """SHA-256 of the source, what it is of (``file``, ``cell``, ``bytecode``), and the file of the class, if it has one."""

    sha256: str
    covers: str
    file: str | None


def fingerprint(cls: type) -> Fingerprint:
    """The fingerprint of a class. Where no source can be read, such as of `exec`, it is of the compiled code."""
    hash = hashlib.sha256()
    covers, own, seen = "file", None, set()
    for part in cls.__mro__:
        if part.__module__.split(".")[0] in ("tailback", "builtins", "abc", "typing"):
            continue
        for name in dict.fromkeys(code.co_filename for code in _codes(part)):
            file = Path(name)
            if part is cls and own is None and file.is_file():
                own = str(file.resolve())
            if name in seen:
                continue
            seen.add(name)
            if file.is_file():
                hash.update(file.read_bytes())
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
    """The code of the methods that a class itself defines."""
    for value in vars(cls).values():
        function = _unwrapped(value)
        if isinstance(function, FunctionType):
            yield function.__code__


def _unwrapped(value: Any) -> Any:
    """The function behind a property, a class method or a decorator."""
    value = getattr(value, "fget", None) or getattr(value, "__func__", value)
    return getattr(value, "__wrapped__", value)


def _compiled(code: CodeType) -> bytes:
    """Without file names and lines."""
    inner = [_compiled(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    constants = [constant for constant in code.co_consts if not isinstance(constant, CodeType)]
    return code.co_code + marshal.dumps((code.co_names, code.co_varnames)) + repr(constants).encode() + b"".join(inner)
