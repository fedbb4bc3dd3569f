"""The lines of a Python file on which a class of it depends, found by reading names, without running the file.

A change elsewhere in the file then leaves the class unchanged. Statements of the file that only define names (functions, classes,
assignments to names, imports) count if the class refers to one of these names, directly or through other such statements.
All other statements always count. The whole file counts if the class looks names up at run time.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

__all__ = ["relevant_lines"]

# Names that give access to all names of a file.
_LOOK_UP = frozenset({"globals", "vars", "locals", "eval", "exec", "__import__", "sys", "importlib", "inspect"})


def relevant_lines(source: bytes, *names: str) -> bytes:
    """The lines of a file on which its definitions of some names depend, in their order; all if that cannot be determined."""
    try:
        statements = ast.parse(source).body
    except (SyntaxError, ValueError):
        # The file has been changed since it was loaded.
        return source
    defined = [_defined(statement) for statement in statements]
    used = [frozenset(_words(statement)) for statement in statements]
    if not set(names) <= {word for words in defined if words for word in words}:
        return source
    wanted = set(names)
    chosen: set[int] = set()
    while True:
        more = {
            place for place, made in enumerate(defined) if place not in chosen and (made is None or not wanted.isdisjoint(made))
        }
        if not more:
            break
        chosen |= more
        wanted |= {word for place in more for word in used[place]}
    if not wanted.isdisjoint(_LOOK_UP):
        return source
    lines = source.splitlines(keepends=True)
    return b"".join(
        line for place in sorted(chosen) for line in lines[_first_line(statements[place]) - 1 : statements[place].end_lineno]
    )


def _defined(statement: ast.stmt) -> frozenset[str] | None:
    """The names that a statement defines, if it has no other effect; None for other statements."""
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return frozenset({name})
        case ast.Import(names=names) | ast.ImportFrom(names=names) if all(alias.name != "*" for alias in names):
            return frozenset(alias.asname or alias.name.partition(".")[0] for alias in names)
        # A call may have effects.
        case ast.Assign() | ast.AnnAssign() | ast.AugAssign() if not any(
            isinstance(node, ast.Call) for node in ast.walk(statement)
        ):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            assigned = frozenset(target.id for target in targets if isinstance(target, ast.Name))
            return assigned if all(isinstance(target, ast.Name) for target in targets) else None
        # A docstring.
        case ast.Expr(value=ast.Constant()):
            return frozenset()
        case ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
            return frozenset(_stored(statement))
        case _:
            return None


def _stored(statement: ast.stmt) -> Iterator[str]:
    """The names that the block of a script defines."""
    for node in ast.walk(statement):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.alias():
                yield node.asname or node.name.partition(".")[0]
            case _:
                pass


def _words(statement: ast.stmt) -> Iterator[str]:
    """All names in a statement, and texts that may be names."""
    for node in ast.walk(statement):
        match node:
            case ast.Name(id=name):
                yield name
            # A quoted annotation, or a name for a look-up.
            case ast.Constant(value=str(text)) if text.isidentifier():
                yield text
            case _:
                pass


def _first_line(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])
