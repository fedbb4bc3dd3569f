"""Which classes there are, by the names that scenarios give them."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from tailback.errors import ParameterError
from tailback.user_code._class_fingerprint import Fingerprint, fingerprint
from tailback.user_code._interfaces import Controller, Policy, Source

__all__ = [
    "Registered",
    "controller",
    "misfit",
    "policy",
    "provenance_of",
    "registered",
    "registered_class",
    "registered_names",
    "required",
    "source",
    "sources",
]

C = TypeVar("C", bound=type)

_BASES: dict[str, type] = {"controller": Controller, "policy": Policy, "source": Source}

# What a controller may want.
_ASKED_FOR = ("marks", "price", "one_way_delay", "delivered_rate", "release")

# As the scenario has it.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True)
class Registered:
    """A class, and what its source was when it was registered."""

    cls: type
    fingerprint: Fingerprint


_registered: dict[tuple[str, str], Registered] = {}


def controller(name: str) -> Callable[[C], C]:
    """Register a subclass of `Controller`, for scenarios to name as ``user:NAME``.

    Parameters
    ----------
    name : str
        At most 64 letters, digits, ``_`` and ``-``. Built-in laws have names of their own: ``user:reno`` is not ``reno``.

    Raises
    ------
    ParameterError
        The name is not valid or belongs to another class, or the class is not a subclass or lacks a method. A class that is
        defined again, as when a notebook cell is rerun, replaces the previous one.
    """
    return _register("controller", name)


def policy(name: str) -> Callable[[C], C]:
    """Register a subclass of `Policy`; otherwise as `controller`."""
    return _register("policy", name)


def source(name: str) -> Callable[[C], C]:
    """Register a subclass of `Source`; otherwise as `controller`."""
    return _register("source", name)


def _register(kind: str, name: Any) -> Callable[[C], C]:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        expected = "at most 64 letters, digits, `_` and `-`"
        raise ParameterError(f"{name!r} is not a valid name; expected {expected}, as in `@tailback.{kind}(NAME)`")

    def register(cls: C) -> C:
        base = _BASES[kind]
        if not isinstance(cls, type) or not issubclass(cls, base):
            raise ParameterError(f"{cls!r} is no {kind}; expected a subclass of `tailback.user_code.{base.__name__}`")
        if missing := sorted(getattr(cls, "__abstractmethods__", ())):
            raise ParameterError(f"`{cls.__qualname__}` has no {', '.join(f'`{method}`' for method in missing)}")
        if isinstance(asked := getattr(cls, "asks_for", ()), str):
            raise ParameterError(f"`{cls.__qualname__}` asks for {asked!r}; expected a set of words: {{{asked!r}}}")
        for word in sorted(asked):
            if word not in _ASKED_FOR:
                raise ParameterError(
                    f"`{cls.__qualname__}` asks for `{word}`; expected any of {', '.join(f'`{known}`' for known in _ASKED_FOR)}"
                )
        known = _registered.get((kind, name))
        if known is not None and _place(known.cls) != _place(cls):
            raise ParameterError(f"the {kind} `{name}` is `{_place(known.cls)}` already; `{_place(cls)}` needs another name")
        _registered[kind, name] = Registered(cls, fingerprint(cls))
        return cls

    return register


def _place(cls: type) -> str:
    """Where a class is written. The main module of a process that was started by another has a name of its own there."""
    module = "__main__" if cls.__module__ == "__mp_main__" else cls.__module__
    return f"{module}.{cls.__qualname__}"


def registered(kind: str, name: str) -> Registered | None:
    """What has that name, if anything has."""
    return _registered.get((kind, name))


def required(kind: str, name: str) -> Registered:
    """What has that name, as something has."""
    return _registered[kind, name]


def provenance_of(names: Iterable[tuple[str, str]]) -> list[dict[str, Any]]:
    """What provenance tells of some classes, which are registered: kind, name, class, file, hash and what that covers."""
    return [_provenance_of(kind, name) for kind, name in names]


def _provenance_of(kind: str, name: str) -> dict[str, Any]:
    known = required(kind, name)
    return {
        "kind": kind,
        "name": name,
        "class": _place(known.cls),
        "file": known.fingerprint.file and Path(known.fingerprint.file).name,
        "sha256": known.fingerprint.sha256,
        "covers": known.fingerprint.covers,
    }


# What the core asks.


def registered_names(kind: str) -> list[str]:
    """Names that a scenario may give."""
    return sorted(name for known, name in _registered if known == kind)


def registered_class(kind: str, name: str) -> type:
    """The class of that name, which there is."""
    return required(kind, name).cls


def misfit(kind: str, name: str, parameters: str) -> tuple[str, str, str] | None:
    """What is wrong with the parameters (JSON) for the class of that name: which, what, and what would fit."""
    given: dict[str, Any] = json.loads(parameters)
    cls = registered_class(kind, name)
    try:
        takes = inspect.signature(cls).parameters
    except (TypeError, ValueError):
        # A class whose constructor cannot be looked into says so when it is made.
        return None
    positional = 1 if kind == "controller" else 0
    keywords = {
        word: parameter
        for place, (word, parameter) in enumerate(takes.items())
        if parameter.kind is parameter.KEYWORD_ONLY or (parameter.kind is parameter.POSITIONAL_OR_KEYWORD and place >= positional)
    }
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in takes.values())
    listed = ", ".join(f"`{word}`" for word in keywords) or "no parameters"
    for word in given:
        if word not in keywords and not takes_any:
            return word, f"`{cls.__qualname__}` takes no `{word}`", f"{'one of ' if len(keywords) > 1 else ''}{listed}"
    missing = [word for word, parameter in keywords.items() if parameter.default is parameter.empty and word not in given]
    if missing:
        return "", f"`{cls.__qualname__}` needs `{missing[0]}`", f"`{missing[0]}` among the parameters; it takes {listed}"
    return None


def sources(places: list[tuple[str, str, str]]) -> tuple[str, str]:
    """For each place, kind and name: what content hashes cover, and what provenance tells, as JSON."""
    covered = {f"{kind} {name} {required(kind, name).fingerprint.sha256}" for _, kind, name in places}
    return "\n".join(sorted(covered)), json.dumps([{"at": at, **_provenance_of(kind, name)} for at, kind, name in places])
