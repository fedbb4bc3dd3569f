"""Keyword arguments of public functions: an unknown one is an error with the valid names and the nearest one."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from inspect import CO_VARKEYWORDS
from types import FunctionType
from typing import Any, NoReturn, TypeVar

from tailback import _core

__all__ = ["arguments_checked", "refuse_unknown"]

Public = TypeVar("Public", bound=Callable[..., Any])


def arguments_checked(public: Public, others: Callable[[], Iterable[str]] | None = None) -> Public:
    """Decorates a public function, or the constructor and public methods of a class, which rejects unknown keyword arguments.

    The `ArgumentError` is raised before Python reports missing arguments. `others` gives the names that a function accepts by
    ``**``; without it, such a function checks them itself. Signature, types, documentation and pickling stay the same.
    """
    if isinstance(public, FunctionType):
        return _checked(public, others)  # type: ignore[return-value]
    for name, member in list(vars(public).items()):
        if name == "__init__" or not name.startswith("_"):
            if isinstance(member, FunctionType):
                setattr(public, name, _checked(member, is_method=True))
            elif isinstance(member, classmethod):
                setattr(public, name, classmethod(_checked(member.__func__, is_method=True)))
    return public


def _checked(
    function: Callable[..., Any], others: Callable[[], Iterable[str]] | None = None, is_method: bool = False
) -> Callable[..., Any]:
    code = function.__code__
    if code.co_flags & CO_VARKEYWORDS and others is None:
        return function
    own = code.co_varnames[max(code.co_posonlyargcount, int(is_method)) : code.co_argcount + code.co_kwonlyargcount]
    names = frozenset(own)

    @functools.wraps(function)
    def checked(*arguments: Any, **keywords: Any) -> Any:
        if not keywords.keys() <= names:
            known = list(dict.fromkeys([*own, *(others() if others else ())]))
            if unknown := [name for name in keywords if name not in known]:
                refuse_unknown(f"{_called(function, arguments if is_method else ())}()", unknown, known)
        return function(*arguments, **keywords)

    return checked


def _called(function: Callable[..., Any], bound: Sequence[Any]) -> str:
    """The name of a function for messages; that of a method begins with the class of its object, which may have inherited it."""
    if not bound:
        return function.__qualname__.removesuffix(".__init__")
    kind = bound[0] if isinstance(bound[0], type) else type(bound[0])
    return f"{kind.__qualname__}.{function.__name__}".removesuffix(".__init__")


def refuse_unknown(call: str, unknown: Sequence[str], known: Sequence[str]) -> NoReturn:
    """Raise the `ArgumentError` about unknown keyword arguments of a call."""
    expected = _core.listed(known) if known else "no keyword arguments"
    problems = [
        (name, f"`{call}` has no argument `{name}`", None, expected, _core.hint(name, known) if known else None)
        for name in unknown
    ]
    raise _core.argument_errors(problems)
