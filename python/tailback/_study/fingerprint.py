"""Fingerprint of a Python function: a hash of its code and of all code that it refers to.

Results of a function are stored under its fingerprint, so that they are recomputed after a change of the function, but not after
a change elsewhere in its file. The hash follows names of functions, classes and constants of Tailback and of the function's own
package, through closures, defaults, modules and local imports. Other packages are represented by their versions, and the compiled
part of Tailback by its sources. Comments, docstrings and line numbers are ignored.

Methods of the function's arguments are not followed: callers must name their classes as well.
"""

from __future__ import annotations

import copyreg
import dis
import hashlib
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, cached_property, partial
from importlib import import_module, metadata
from typing import Any

from tailback import _core
from tailback.errors import ParameterError

__all__ = ["Fingerprints", "fingerprint"]

_ATOMS = (type(None), bool, int, float, complex, str, bytes, type(...), type(NotImplemented))


def fingerprint(function: Callable[..., Any], *values: Any) -> str:
    """A hash in hexadecimal of a function and its arguments; the same in every process with the same code.

    Raises
    ------
    ParameterError
        The function refers to an object without hashable content, such as an open file.
    """
    return Fingerprints(function).given(*values)


class Fingerprints:
    """Fingerprints of one function with different arguments; its code is read only once."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._reader = _Reader({"tailback", _top(getattr(function, "__module__", None))})

    def given(self, *values: Any) -> str:
        """Like `fingerprint`."""
        return self._reader.of((sys.version_info[:2], self._function, *values)).hex()


class _Reader:
    """Computes one fingerprint. Caches the hashes of objects, and detects cycles."""

    def __init__(self, own: set[str]) -> None:
        self._own = own
        self._known: dict[int, tuple[Any, bytes]] = {}
        self._open: set[int] = set()

    def of(self, value: Any) -> bytes:
        """The hash of a value and of everything that it refers to."""
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
        # Keep a reference to the value, so that its id is not reused.
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
            # For example a cached function.
            yield self.of(wrapped)
        elif isinstance(value, types.ModuleType):
            yield self._version(value.__name__)
        elif isinstance(value, type):
            yield from self._class(value)
        elif isinstance(value, (staticmethod, classmethod)):
            yield self.of(value.__func__)
        elif isinstance(value, property):
            yield from map(self.of, (value.fget, value.fset))
        elif isinstance(value, cached_property):
            yield self.of(value.func)
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
        # A cell is empty while its function is being defined.
        yield from (self.of(cell.cell_contents) if cell != _EMPTY else b"empty" for cell in function.__closure__ or ())
        yield from self._code(function.__code__, function.__globals__, function.__doc__)

    def _code(self, code: types.CodeType, names: dict[str, Any], doc: str | None) -> Iterator[bytes]:
        """The instructions, the constants without the docstring, and the values of names."""
        yield from (code.co_code, getattr(code, "co_exceptiontable", b""))
        yield self.of((*code.co_names, *code.co_varnames, code.co_argcount, code.co_kwonlyargcount, code.co_flags))
        for place, constant in enumerate(code.co_consts):
            if isinstance(constant, types.CodeType):
                yield from self._code(constant, names, _docstring(constant))
            elif place or constant != doc:
                yield self.of(constant)
        attributes, references = _references(code)
        for name, following, is_import in references:
            if is_import:
                module = self._imported(name, names)
                yield self.of(module)
                yield from self._attributes(module, attributes)
            elif name in names:
                reached = names[name]
                yield self.of(reached)
                if isinstance(reached, types.ModuleType):
                    # A package may load a name that it exports on first use, so that its namespace does not show it yet.
                    exported = set(getattr(reached, "__all__", ())) if hasattr(reached, "__getattr__") else set()
                    yield from self._attributes(reached, attributes - exported)
                    if following in exported and _top(reached.__name__) in self._own:
                        exporting = getattr(reached, following)
                        yield self.of(exporting)
                        yield from self._attributes(exporting if isinstance(exporting, types.ModuleType) else None, attributes)

    def _attributes(self, module: types.ModuleType | None, wanted: Iterable[str]) -> Iterator[bytes]:
        """Attributes of an own module that a function uses."""
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
        # Sorted by name: the order of a compiled class differs between processes.
        for name, value in sorted(vars(kind).items()):
            # Attributes that Python adds are not code of the class, except methods such as `__init__`.
            own = not (name.startswith("__") and name.endswith("__")) and name != "_abc_impl"
            if isinstance(value, types.FunctionType) or own:
                yield name.encode()
                yield self.of(value)

    def _object(self, value: Any) -> Iterator[bytes]:
        """The object's pickle representation: constructor and state."""
        if type(value) in _MEMBERS:
            yield str(getattr(value, "__qualname__", value)).encode()
            return
        # Patterns of `re`, among others, register their reduction.
        reduce: Callable[[Any], Any] = copyreg.dispatch_table.get(type(value), lambda value: value.__reduce_ex__(4))
        try:
            made = reduce(value)
        except Exception:
            raise ParameterError(
                f"`{value!r}` has no fingerprint: functions with stored results may refer to functions, classes and plain values"
            ) from None
        if isinstance(made, str):
            yield made.encode()
            return
        yield from (self.of(tuple(part) if isinstance(part, Iterator) else part) for part in made)

    def _elsewhere(self, value: Any) -> bytes:
        """Name of an object and version of its package."""
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
        """The module of a local import, if available. Packages that are represented by their version are not loaded."""
        if _top(name) not in self._own and _installed(_top(name)):
            return types.ModuleType(name)
        for full in (name, f"{names.get('__package__')}.{name}"):
            try:
                return sys.modules.get(full) or import_module(full)
            except (ImportError, ValueError):
                pass
        return None


_EMPTY = types.CellType()

# Members of classes written in C, for example slots.
_MEMBERS = (types.MemberDescriptorType, types.GetSetDescriptorType, types.WrapperDescriptorType, types.MethodDescriptorType)


def _hashed(kind: str, *parts: bytes) -> bytes:
    """A hash of several parts, with unambiguous boundaries."""
    hash = hashlib.sha256(kind.encode())
    for part in parts:
        hash.update(len(part).to_bytes(8, "little"))
        hash.update(part)
    return hash.digest()


def _top(module: str | None) -> str:
    return (module or "").partition(".")[0]


def _docstring(code: types.CodeType) -> str | None:
    """Docstring of an inner function. Before Python 3.13 the first constant of every `def` is its docstring, or None."""
    documented = code.co_flags & 0x4000000 if sys.version_info >= (3, 13) else not code.co_name.startswith("<")
    first = code.co_consts[0] if documented and code.co_consts else None
    return first if isinstance(first, str) else None


@cache
def _references(code: types.CodeType) -> tuple[frozenset[str], list[tuple[str, Any, bool]]]:
    """The attributes that code loads, and its global names and imports, each with the argument of the next instruction.

    They depend only on the code. Functions with results share most of it, and decoding takes two thirds of a fingerprint's time.
    """
    instructions = list(dis.get_instructions(code))
    attributes = frozenset(i.argval for i in instructions if i.opname in ("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM"))
    references = [
        (instruction.argval, following and following.argval, instruction.opname == "IMPORT_NAME")
        for instruction, following in zip(instructions, [*instructions[1:], None], strict=True)
        if instruction.opname in ("IMPORT_NAME", "LOAD_NAME") or "GLOBAL" in instruction.opname
    ]
    return attributes, references


@cache
def _installed(package: str) -> str | None:
    """The version of an installed package, without loading it; None if it is not installed."""
    try:
        return metadata.version(package)
    except (metadata.PackageNotFoundError, ValueError):
        # An empty name raises ValueError from Python 3.12 on.
        return None
