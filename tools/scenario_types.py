"""Prints python/tailback/_types.pyi: the tables of a scenario as types, generated from the JSON Schema.

    .venv/bin/python tools/scenario_types.py > python/tailback/_types.pyi

A test compares the file with this output, so that fields are defined in the schema only.
"""

from __future__ import annotations

import keyword
import sys
from textwrap import wrap
from typing import Any

from tailback._scenario.schema_tables import POLICY, POLICY_TABLES, definitions, forms, python_type

HEAD = """\
# The tables of a scenario for type checkers, from the JSON Schema by tools/scenario_types.py; a test compares them.
# fmt: off
from typing import Any, Literal, TypeAlias, TypedDict

"""
_WIDTH = 130


def main() -> None:
    """Writes the stub to stdout."""
    # A base class precedes the classes that extend it.
    found = dict(sorted(definitions().items(), key=lambda one: (one[0] in POLICY_TABLES, one[0])))
    parts = [
        table(name, one) if properties(one) else filled(f"{name}: TypeAlias = {python_type(one)}") for name, one in found.items()
    ]
    sys.stdout.write("".join([HEAD, *parts]))


def table(name: str, definition: dict[str, Any]) -> str:
    """A table, in functional form if a key is a Python keyword."""
    fields = {key: union(values) for key, values in properties(definition).items()}
    if any(map(keyword.iskeyword, fields)):
        body = ", ".join(f'"{key}": {value}' for key, value in fields.items())
        return filled(f'{name} = TypedDict("{name}", {{{body}}}, total=False)')
    body = "".join(filled(f"    {key}: {value}") for key, value in fields.items())
    return f"class {name}({POLICY if name in POLICY_TABLES else 'TypedDict'}, total=False):\n{body}"


def filled(text: str) -> str:
    """A statement in lines that are not too long."""
    if len(text) > _WIDTH and ": TypeAlias = " in text:
        text = text.replace(" = ", " = (") + ")"
    return "\n".join(wrap(text, _WIDTH, subsequent_indent="        ", break_long_words=False, break_on_hyphens=False)) + "\n"


def properties(definition: dict[str, Any]) -> dict[str, list[Any]]:
    """The keys of a table in all its forms, each with its different schemas."""
    found: dict[str, list[Any]] = {}
    for form in forms(definition):
        for key, value in form.items():
            known = found.setdefault(key, [])
            if value not in known:
                known.append(value)
    return found


def union(values: list[Any]) -> str:
    """The Python type of a key; its literals are combined."""
    words = [value["const"] for value in values if "const" in value]
    others = [value for value in values if "const" not in value]
    types = [python_type({"enum": words})] if words else []
    return " | ".join(dict.fromkeys([*types, *map(python_type, others)]))


if __name__ == "__main__":
    main()
