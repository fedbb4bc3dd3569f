"""The assertions of a script: comparisons of integers and names, without any other Python."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["Unavailable", "holds", "names"]

# The states of Linux's senders, and the threshold before the first loss.
CONSTANTS = {
    "TCP_CA_Open": 0,
    "TCP_CA_Disorder": 1,
    "TCP_CA_CWR": 2,
    "TCP_CA_Recovery": 3,
    "TCP_CA_Loss": 4,
    "TCP_INFINITE_SSTHRESH": 0x7FFF_FFFF,
}

_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
}


class Unavailable(Exception):
    """A condition uses a name or an operation that does not exist here."""


def holds(condition: ast.expr, state: Mapping[str, int]) -> bool:
    """Whether a condition holds. Raises `Unavailable`."""
    try:
        return bool(_value(condition, {**CONSTANTS, **state}))
    except (ArithmeticError, ValueError, RecursionError) as error:
        raise Unavailable(f"cannot be evaluated: {error}") from None


def names(condition: ast.expr) -> list[str]:
    """The names in a condition that are no constants, in order."""
    found = [node.id for node in ast.walk(condition) if isinstance(node, ast.Name) and node.id not in CONSTANTS]
    return list(dict.fromkeys(found))


def _value(node: ast.expr, known: Mapping[str, int]) -> Any:
    match node:
        case ast.Constant(value=int()):
            return node.value
        case ast.Name(id=name) if name in known:
            return known[name]
        case ast.Name(id=name):
            raise Unavailable(f"`{name}` does not exist here; there are {', '.join(sorted(known))}")
        case ast.BoolOp(op=ast.And()):
            return all(_value(part, known) for part in node.values)
        case ast.BoolOp(op=ast.Or()):
            return any(_value(part, known) for part in node.values)
        case ast.UnaryOp() if type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](_value(node.operand, known))
        case ast.BinOp() if type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](_value(node.left, known), _value(node.right, known))
        case ast.Compare() if all(type(op) in _OPERATORS for op in node.ops):
            values = [_value(part, known) for part in (node.left, *node.comparators)]
            compared = zip(node.ops, values[:-1], values[1:], strict=True)
            return all(_OPERATORS[type(op)](left, right) for op, left, right in compared)
    raise Unavailable(f"`{ast.unparse(node)}` is not a comparison of integers and names")
