"""The version of a piece of Python code: a hash of it and of all code that it can be seen to reach.

What a function computes is kept under its fingerprint, so that it is computed again once the function has changed, and not when
a neighbour in its file has. Followed are names: of functions, classes and constants of Tailback and of the package that the
function is of, through closures, defaults, modules and imports inside of functions. Of other packages, their version counts; of
the compiled part of Tailback, its sources. Comments, docstrings and places in a file count for nothing.

Not followed are methods of an object that the function is handed: whoever takes the fingerprint names their class as well.
"""

from __future__ import annotations

import dis
import hashlib
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from importlib import import_module, metadata
from typing import Any

from tailback import _core
from tailback.errors import ParameterError

__all__ = ["Fingerprints", "fingerprint"]

_ATOMS = (type(None), bool, int, float, complex, str, bytes, type(...), type(NotImplemented))


def fingerprint(function: Callable[..., Any], *values: Any) -> str:
    """A hash in hexadecimal, the same in every process with the same code: of a function, and of what it will be given.

    Raises
    ------
    ParameterError
        Something that the function refers to, such as an open file, has no content that could be hashed.
    """
    return Fingerprints(function).given(*values)


class Fingerprints:
    """Those of one function with whatever it will be given: its code is read once, while this is kept."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._reader = _Reader({"tailback", _top(getattr(function, "__module__", None))})

    def given(self, *values: Any) -> str:
        """As `fingerprint`."""
        return self._reader.of((sys.version_info[:2], self._function, *values)).hex()


class _Reader:
    """One fingerprint in the making. What it has seen it does not read again; what it is reading it does not enter."""

    def __init__(self, own: set[str]) -> None:
        self._own = own
        self._known: dict[int, tuple[Any, bytes]] = {}
        self._open: set[int] = set()

    def of(self, value: Any) -> bytes:
        """The hash of a value and of what it refers to."""
        if isinstance(value, _ATOMS):
            return _hashed(type(value).__name__, repr(value).encode())
        place = id(value)
        if place in self._known:
            return self._known[place][1]
        if place in self._open:
            return _hashed("again", str(getattr(value, "__qualname__", type(value).__qualname__)).encode())
        self._open.add(place)
        digest = _hashed(type(value).__name__, *self._parts(value))
        self._open.discard(place)
        # The value is kept as well: another one might get its place in memory.
        self._known[place] = (value, digest)
        return digest

    def _parts(self, value: Any) -> Iterator[bytes]:
        if isinstance(value, types.FunctionType):
            yield from self._function(value)
        elif isinstance(value, types.MethodType):
            yield from map(self.of, (value.__func__, value.__self__))
        elif isinstance(value, types.BuiltinFunctionType):
            yield self._elsewhere(value)
        elif isinstance(wrapped := getattr(value, "__wrapped__", None), types.FunctionType):
            # What remembers its results, for example.
            yield self.of(wrapped)
        elif isinstance(value, types.ModuleType):
            yield self._version(value.__name__)
        elif isinstance(value, type):
            yield from self._class(value)
        elif isinstance(value, (staticmethod, classmethod)):
            yield self.of(value.__func__)
        elif isinstance(value, property):
            yield from map(self.of, (value.fget, value.fset))
        elif isinstance(value, partial):
            yield from map(self.of, (value.func, value.args, value.keywords))
        elif isinstance(value, (tuple, list)):
            yield from map(self.of, value)
        elif isinstance(value, (set, frozenset)):
            yield from sorted(map(self.of, value))
        elif isinstance(value, Mapping):
            yield from (self.of(pair) for pair in value.items())
        else:
            yield from self._object(value)

    def _function(self, function: types.FunctionType) -> Iterator[bytes]:
        if _top(function.__module__) not in self._own:
            yield self._elsewhere(function)
            return
        yield from map(self.of, (function.__defaults__, function.__kwdefaults__))
        # A cell without contents is of a function that is being defined.
        yield from (self.of(cell.cell_contents) if cell != _EMPTY else b"empty" for cell in function.__closure__ or ())
        yield from self._code(function.__code__, function.__globals__, function.__doc__)

    def _code(self, code: types.CodeType, names: dict[str, Any], doc: str | None) -> Iterator[bytes]:
        """The instructions, the constants without the docstring, and what is reached by names."""
        yield from (code.co_code, getattr(code, "co_exceptiontable", b""))
        yield self.of((*code.co_names, *code.co_varnames, code.co_argcount, code.co_kwonlyargcount, code.co_flags))
        for place, constant in enumerate(code.co_consts):
            if isinstance(constant, types.CodeType):
                yield from self._code(constant, names, _docstring(constant))
            elif place or constant != doc:
                yield self.of(constant)
        attributes = {i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM")}
        for instruction in dis.get_instructions(code):
            if instruction.opname == "IMPORT_NAME":
                module = self._imported(instruction.argval, names)
                yield self.of(module)
                yield from self._attributes(module, attributes)
            elif ("GLOBAL" in instruction.opname or instruction.opname == "LOAD_NAME") and instruction.argval in names:
                reached = names[instruction.argval]
                yield self.of(reached)
                if isinstance(reached, types.ModuleType):
                    yield from self._attributes(reached, attributes)

    def _attributes(self, module: types.ModuleType | None, wanted: Iterable[str]) -> Iterator[bytes]:
        """Those of an own module that a function speaks of."""
        if module is None or _top(module.__name__) not in self._own:
            return
        for name in sorted(wanted):
            if name in vars(module):
                reached = vars(module)[name]
                yield self.of(reached)
                if isinstance(reached, types.ModuleType):
                    yield from self._attributes(reached, wanted)

    def _class(self, kind: type) -> Iterator[bytes]:
        yield self._elsewhere(kind)
        if _top(kind.__module__) not in self._own:
            return
        yield from map(self.of, kind.__bases__)
        # In order of their names: those of a compiled class come in another order in each process.
        for name, value in sorted(vars(kind).items()):
            # What Python adds of its own is no code of the class, but for methods such as `__init__`.
            own = not (name.startswith("__") and name.endswith("__")) and name != "_abc_impl"
            if isinstance(value, types.FunctionType) or own:
                yield name.encode()
                yield self.of(value)

    def _object(self, value: Any) -> Iterator[bytes]:
        """As it would be pickled: what makes it, out of which state."""
        if type(value) in _MEMBERS:
            yield str(getattr(value, "__qualname__", value)).encode()
            return
        try:
            made = value.__reduce_ex__(4)
        except Exception:
            raise ParameterError(
                f"`{value!r}` has no version: a function whose results are kept may refer to functions, classes and plain values"
            ) from None
        if isinstance(made, str):
            yield made.encode()
            return
        yield from (self.of(tuple(part) if isinstance(part, Iterator) else part) for part in made)

    def _elsewhere(self, value: Any) -> bytes:
        """By name, and the version of where it comes from."""
        module = getattr(value, "__module__", None) or ""
        return _hashed(module, str(getattr(value, "__qualname__", value)).encode(), self._version(module))

    def _version(self, module: str) -> bytes:
        top = _top(module)
        if module == "tailback._core":
            return _core.sources().encode()
        if top in self._own or top in sys.stdlib_module_names:
            return b""
        return (_installed(top) or str(getattr(sys.modules.get(top), "__version__", ""))).encode()

    def _imported(self, name: str, names: dict[str, Any]) -> types.ModuleType | None:
        """The module of an import inside of a function, if it is there; one that only counts by its version is not loaded."""
        if _top(name) not in self._own and _installed(_top(name)):
            return types.ModuleType(name)
        for full in (name, f"{names.get('__package__')}.{name}"):
            try:
                return sys.modules.get(full) or import_module(full)
            except (ImportError, ValueError):
                pass
        return None


_EMPTY = types.CellType()

# Members of classes that are written in C: slots and the like.
_MEMBERS = (types.MemberDescriptorType, types.GetSetDescriptorType, types.WrapperDescriptorType, types.MethodDescriptorType)


def _hashed(kind: str, *parts: bytes) -> bytes:
    """One hash of several parts, none of which can pass for two."""
    hash = hashlib.sha256(kind.encode())
    for part in parts:
        hash.update(len(part).to_bytes(8, "little"))
        hash.update(part)
    return hash.digest()


def _top(module: str | None) -> str:
    return (module or "").partition(".")[0]


def _docstring(code: types.CodeType) -> str | None:
    """Of an inner function. Before Python 3.13 the first constant of every `def` is its docstring, or None."""
    documented = code.co_flags & 0x4000000 if sys.version_info >= (3, 13) else not code.co_name.startswith("<")
    first = code.co_consts[0] if documented and code.co_consts else None
    return first if isinstance(first, str) else None


@cache
def _installed(package: str) -> str | None:
    """The version of an installed package, without loading it; None if none is installed under this name."""
    try:
        return metadata.version(package)
    except (metadata.PackageNotFoundError, ValueError):
        # From Python 3.12 on, no name at all is a ValueError.
        return None
