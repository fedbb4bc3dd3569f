"""Values that a class takes from an enclosing function, which its source does not show: those of closures, of default arguments,
and of attributes of the class.

They are encoded as of the registration of the class, in a form that is the same in every process.
"""

from __future__ import annotations

import marshal
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import PurePath
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from tailback.user_code._imports import Import

__all__ = ["CapturedValues", "compiled", "unwrapped"]


class CapturedValues:
    """Encodes captured values. `imports` collects the functions and classes of modules among them, and `uncovered` the names of
    values that cannot be compared, with their types."""

    def __init__(self) -> None:
        self.imports: list[Import] = []
        self.uncovered: dict[str, str] = {}
        # Objects that contain the current one, or whose code is encoded already.
        self._seen: set[int] = set()

    def of_class(self, cls: type) -> Iterator[bytes]:
        """The values that a class has from outside its source. The source of a class outside functions shows its attributes."""
        self._seen.add(id(cls))
        is_local = "<locals>" in cls.__qualname__
        for name, value in vars(cls).items():
            inner = unwrapped(value)
            if isinstance(inner, FunctionType):
                yield from self._of_function(inner, with_defaults=is_local)
            elif is_local and not name.startswith(("__", "_abc_")):
                yield self._encoded(name, value)

    def _of_function(self, function: FunctionType, *, with_defaults: bool) -> Iterator[bytes]:
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            # A cell is empty before its variable is assigned.
            with suppress(ValueError):
                if name != "__class__":
                    yield self._encoded(name, cell.cell_contents)
        if with_defaults:
            for value in [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).items()]:
                yield self._encoded(f"{function.__name__}()", value)

    def _encoded(self, name: str, value: Any) -> bytes:
        return name.encode() + b"=" + self._value(name, value) + b"\0"

    def _value(self, name: str, value: Any) -> bytes:
        kind = type(value).__qualname__.encode()
        if id(value) in self._seen:
            return kind
        match value:
            case None | bool() | int() | float() | complex() | str() | bytes() | PurePath() | Enum():
                return kind + repr(value).encode()
            case BuiltinFunctionType() | ModuleType():
                return kind + f"{getattr(value, '__module__', '')}.{value.__name__}".encode()
            case FunctionType() | type():
                return self._code(value)
        items: Iterable[Any]
        match value:
            case tuple() | list():
                items = value
            case dict():
                items = value.items()
            case MethodType():
                items = (value.__self__, value.__func__)
            case BaseException():
                items = value.args
            case set() | frozenset():
                return kind + b",".join(sorted(self._value(name, item) for item in value))
            case _ if is_dataclass(value):
                items = [getattr(value, field.name) for field in fields(value)]
            case _ if hasattr(value, "dtype") and hasattr(value, "tobytes"):  # Of NumPy.
                return kind + f"{value.dtype}{value.shape}".encode() + bytes(value.tobytes())
            case _:
                self.uncovered[name] = type(value).__qualname__
                return kind
        self._seen.add(id(value))
        encoded = b",".join(self._value(name, item) for item in items)
        self._seen.discard(id(value))
        return kind + b"[" + encoded + b"]"

    def _code(self, value: FunctionType | type) -> bytes:
        module, name = value.__module__ or "", value.__qualname__
        place = name.encode()
        if "<" not in name and module not in ("__main__", "__mp_main__"):
            self.imports.append(Import(module, frozenset({name.partition(".")[0]}), optional=True))
            return place
        self._seen.add(id(value))
        if isinstance(value, FunctionType):
            return place + compiled(value.__code__) + b"".join(self._of_function(value, with_defaults=True))
        functions = [inner for inner in map(unwrapped, vars(value).values()) if isinstance(inner, FunctionType)]
        return place + b"".join(compiled(function.__code__) for function in functions) + b"".join(self.of_class(value))


def unwrapped(value: Any) -> Any:
    """The function of a property, class method or decorated function."""
    value = getattr(value, "fget", None) or getattr(value, "__func__", value)
    return getattr(value, "__wrapped__", value)


def compiled(code: CodeType) -> bytes:
    """The compiled code without file names and line numbers."""
    inner = [compiled(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    # The order of a set differs between processes.
    constants = [
        sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant
        for constant in code.co_consts
        if not isinstance(constant, CodeType)
    ]
    return code.co_code + marshal.dumps((code.co_names, code.co_varnames)) + repr(constants).encode() + b"".join(inner)
