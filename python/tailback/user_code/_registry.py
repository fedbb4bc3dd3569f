"""The registry of user-defined classes by name."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from tailback import _core
from tailback._arguments import arguments_checked
from tailback.errors import ParameterError
from tailback.user_code._class_fingerprint import Fingerprint, fingerprint
from tailback.user_code._interfaces import Application, Controller, Host, Policy, Source
from tailback.user_code._libraries import LibraryMember, library_member, library_names

__all__ = [
    "RegisteredClass",
    "application",
    "conflict",
    "controller",
    "controller_library",
    "host",
    "of_library",
    "policy",
    "provenance_of",
    "registered",
    "registered_class",
    "registered_names",
    "required",
    "source",
    "sources",
    "stack_library",
]

C = TypeVar("C", bound=type)

_BASES: dict[str, type] = {
    "application": Application,
    "controller": Controller,
    "host": Host,
    "policy": Policy,
    "source": Source,
}

# Valid values of `Controller.subscriptions`.
_ASKED_FOR = ("marks", "price", "one_way_delay", "delivered_rate", "release")

# Valid names, as in the scenario's schema.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True)
class RegisteredClass:
    """A class and its fingerprint at registration."""

    cls: type
    fingerprint: Fingerprint


_registered: dict[tuple[str, str], RegisteredClass] = {}


@arguments_checked
def controller(name: str) -> Callable[[C], C]:
    """Register a subclass of `Controller`, which scenarios refer to as ``user:NAME``.

    Parameters
    ----------
    name : str
        At most 64 letters, digits, ``_`` and ``-``. Names of built-in controllers may be reused: ``user:reno`` is not ``reno``.

    Raises
    ------
    ParameterError
        The name is not valid or belongs to another class, or the class is not a subclass or lacks a method. A class that is
        defined again, for example by rerunning a notebook cell, replaces the previous one.
    """
    return _register("controller", name)


@arguments_checked
def policy(name: str) -> Callable[[C], C]:
    """Register a subclass of `Policy`; otherwise like `controller`."""
    return _register("policy", name)


@arguments_checked
def source(name: str) -> Callable[[C], C]:
    """Register a subclass of `Source`; otherwise like `controller`."""
    return _register("source", name)


@arguments_checked
def application(name: str) -> Callable[[C], C]:
    """Register a subclass of `Application`; otherwise like `controller`."""
    return _register("application", name)


@arguments_checked
def host(name: str) -> Callable[[C], C]:
    """Register a subclass of `Host`; otherwise like `controller`."""
    return _register("host", name)


def _register(kind: str, name: Any) -> Callable[[C], C]:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        expected = "at most 64 letters, digits, `_` and `-`"
        raise ParameterError(f"{name!r} is not a valid name; expected {expected}, as in `@tailback.{kind}(NAME)`")

    def register(cls: C) -> C:
        base = _BASES[kind]
        if not isinstance(cls, type) or not issubclass(cls, base):
            raise ParameterError(f"{cls!r} is not a {kind}; expected a subclass of `tailback.user_code.{base.__name__}`")
        if missing := sorted(getattr(cls, "__abstractmethods__", ())):
            raise ParameterError(f"`{cls.__qualname__}` does not define {', '.join(f'`{method}`' for method in missing)}")
        if isinstance(asked := getattr(cls, "subscriptions", ()), str):
            raise ParameterError(f"`{cls.__qualname__}.subscriptions` is {asked!r}; expected a set of words: {{{asked!r}}}")
        for word in sorted(asked):
            if word not in _ASKED_FOR:
                expected = ", ".join(f"`{known}`" for known in _ASKED_FOR)
                raise ParameterError(f"`{cls.__qualname__}.subscriptions` has `{word}`; expected any of {expected}")
        known = _registered.get((kind, name))
        if known is not None and _place(known.cls) != _place(cls):
            raise ParameterError(f"the {kind} `{name}` is `{_place(known.cls)}` already; `{_place(cls)}` needs another name")
        _registered[kind, name] = RegisteredClass(cls, fingerprint(cls))
        return cls

    return register


def _place(cls: type) -> str:
    """Module and name of a class. The main module has another name in a process started by multiprocessing."""
    module = "__main__" if cls.__module__ == "__mp_main__" else cls.__module__
    return f"{module}.{cls.__qualname__}"


def registered(kind: str, name: str) -> RegisteredClass | None:
    """The class with this name, or None."""
    return _registered.get((kind, name))


def required(kind: str, name: str) -> RegisteredClass:
    """The class with this name, which must exist."""
    return _registered[kind, name]


def of_library(kind: str, name: str) -> LibraryMember | None:
    """The stack or controller of a library with this name, which must exist; None if the name belongs to a class."""
    return library_member(kind, name) if kind in ("controller", "stack") and (kind, name) not in _registered else None


def provenance_of(names: Iterable[tuple[str, str]]) -> list[dict[str, Any]]:
    """Provenance of registered classes: kind, name, class, file, hash, kind of source, and own modules that it covers. That of a
    member of a library is its version."""
    return [_provenance_of(kind, name) for kind, name in names]


def _provenance_of(kind: str, name: str) -> dict[str, Any]:
    if member := of_library(kind, name):
        return {"kind": kind, "name": name, "version": member.version}
    known = required(kind, name)
    return {
        "kind": kind,
        "name": name,
        "class": _place(known.cls),
        "file": known.fingerprint.file and Path(known.fingerprint.file).name,
        "sha256": known.fingerprint.sha256,
        "covers": known.fingerprint.covers,
        "imports": list(known.fingerprint.imports),
    }


# Functions that the core calls.


def registered_names(kind: str) -> list[str]:
    """All names that scenarios may use."""
    libraries = library_names(kind) if kind in ("controller", "stack") else []
    return sorted({*libraries, *(name for known, name in _registered if known == kind)})


def registered_class(kind: str, name: str) -> type:
    """The class with this name, which must exist."""
    return required(kind, name).cls


def conflict(kind: str, name: str, parameters: str, mtu: int, has_size: bool) -> tuple[str, str, str, str] | None:
    """Check parameters (JSON) against the constructor of a class, or a library. Returns place, problem, given word and expected
    values, or None."""
    given: dict[str, Any] = json.loads(parameters)
    if member := of_library(kind, name):
        problem = _core.library_conflict(kind, member.tables, name, parameters, mtu, has_size)
        return _refusal(problem, kind, given) if problem else None
    cls = registered_class(kind, name)
    try:
        takes = inspect.signature(cls).parameters
    except (TypeError, ValueError):
        # The constructor has no signature; it reports errors itself when it is called.
        return None
    positional = 1 if kind in ("controller", "host") else 0
    keywords = {
        word: parameter
        for place, (word, parameter) in enumerate(takes.items())
        if parameter.kind is parameter.KEYWORD_ONLY or (parameter.kind is parameter.POSITIONAL_OR_KEYWORD and place >= positional)
    }
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in takes.values())
    listed = ", ".join(f"`{word}`" for word in keywords) or "no parameters"
    for word in given:
        if word not in keywords and not takes_any:
            expected = f"{'one of ' if len(keywords) > 1 else ''}{listed}"
            return f"parameters.{word}", f"`{cls.__qualname__}` has no parameter `{word}`", word, expected
    missing = [word for word, parameter in keywords.items() if parameter.default is parameter.empty and word not in given]
    if missing:
        expected = f"`{missing[0]}` in the parameters; it takes {listed}"
        return "parameters", f"`{cls.__qualname__}` requires `{missing[0]}`", "", expected
    return None


def _refusal(problem: str, kind: str, given: dict[str, Any]) -> tuple[str, str, str, str]:
    """As `conflict`, from the text of a library, which may begin with the setting: "`train` is 0; expected at least 1"."""
    found = re.match(r"(?:unknown field )?`([^`]+)`", problem)
    word = found[1] if found and (found[1] in given or found[1] in ("mtu", "size")) else ""
    if not word:
        return "parameters", problem, "", f"settings of the {kind}"
    own = word in given and not (kind == "stack" and word == "congestion")
    text, _, expected = re.sub(r"[,;] expected ", "\0", problem, count=1).partition("\0")
    value = given.get(word)
    near = word if text.startswith("unknown") else value if isinstance(value, str) else ""
    # The path is below `tcp`; a size is a key of the flow.
    place = f"parameters.{word}" if own else "stack" if word == "size" else word
    return place, text, near, expected or f"settings of the {kind}"


def sources(places: list[tuple[str, str, str, str]]) -> tuple[str, str]:
    """The text that content hashes cover, and the provenance as JSON, for places, kinds, names and parameters (JSON)."""
    kernels = [_kernel(kind, name, parameters) for _, kind, name, parameters in places]
    covered = {
        f"{kind} {name} {_version(kind, name)}{kernel and f' {kernel}'}"
        for (_, kind, name, _), kernel in zip(places, kernels, strict=True)
    }
    provenance = [
        {"at": at, **_provenance_of(kind, name), **({"kernel": kernel} if kernel else {})}
        for (at, kind, name, _), kernel in zip(places, kernels, strict=True)
    ]
    return "\n".join(sorted(covered)), json.dumps(provenance)


def _kernel(kind: str, name: str, parameters: str) -> str:
    """The kernel that the stack `linux` runs with these parameters, with its hashes; empty for everything else."""
    is_linux = (kind, name) == ("stack", "linux") and of_library(kind, name) is not None
    return _core.linux_kernel(parameters) if is_linux else ""


def _version(kind: str, name: str) -> str:
    member = of_library(kind, name)
    return member.version if member else required(kind, name).fingerprint.sha256


def stack_library(name: str) -> object:
    """The stacks of the library that has the stack with this name, which must exist, in a capsule."""
    return library_member("stack", name).tables


def controller_library(name: str) -> object | None:
    """Likewise of a controller; None if it is a class."""
    member = of_library("controller", name)
    return member.tables if member else None
