"""The tables of a scenario with their keys and descriptions, from the JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from textwrap import wrap
from typing import Any, TypedDict

from tailback import _core

__all__ = ["POLICY", "POLICY_TABLES", "definitions", "forms", "python_type", "table"]

# The type that tables with a queue policy extend, so that the settings of each policy are defined once.
POLICY = "Policy"
POLICY_TABLES = ("Queue", "Class")


def table(name: str) -> Any:
    """A table as a type, with its description and those of its keys as documentation; for ``__all__`` the names of all tables."""
    if name == "__all__":
        return sorted(each for each, definition in definitions().items() if any(forms(definition)))
    definition = definitions().get(name, {})
    keys = {key for form in forms(definition) for key in form}
    if not keys:
        raise AttributeError(f"module 'tailback._types' has no attribute {name!r}")
    made: Any = TypedDict(name, dict.fromkeys(sorted(keys), Any), total=False)  # type: ignore[misc]
    made.__module__ = "tailback._types"
    made.__doc__ = "\n".join(_documentation(definition))
    return made


@cache
def definitions() -> dict[str, dict[str, Any]]:
    """Every type of the schema. Tables with a policy have only their own keys; the keys of policies are those of `Policy`."""
    schema = json.loads(_core.schema())
    found = {**schema["$defs"], "Description": schema}
    policies = _policies(found)
    return {**found, **{name: _without_policies(found[name]) for name in POLICY_TABLES}, POLICY: policies}


def forms(definition: dict[str, Any]) -> list[dict[str, Any]]:
    """The keys of a table with their schemas, for each of its forms."""
    always = definition.get("properties", {})
    return [{**always, **form.get("properties", {})} for form in definition.get("oneOf", [{}])]


def python_type(value: dict[str, Any]) -> str:
    """The Python type of a value."""
    if "$ref" in value:
        return str(value["$ref"]).removeprefix("#/$defs/")
    if "anyOf" in value:
        return " | ".join(dict.fromkeys(map(python_type, value["anyOf"])))
    words = value.get("enum", [value["const"]] if "const" in value else [])
    if words:
        return f"Literal[{', '.join(repr(word) for word in words)}]"
    if value["type"] == "array":
        return f"list[{python_type(value.get('items') or {'anyOf': value['prefixItems']})}]"
    if value["type"] == "object":
        inner = [*value.get("patternProperties", {}).values(), *filter(None, [value.get("additionalProperties")])]
        return f"dict[str, {python_type(inner[0])}]" if inner else "dict[str, Any]"
    return {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}[value["type"]]


def _policies(found: dict[str, Any]) -> dict[str, Any]:
    """The keys of the queue policies, as a table: those that all tables with a policy have."""
    first, *others = (forms(found[name]) for name in POLICY_TABLES)
    shared = [
        {key: value for key, value in form.items() if all(value == other[at].get(key) for other in others)}
        for at, form in enumerate(first)
    ]
    description = "A queue policy with its settings: the keys that `Queue` and `Class` share."
    return {"description": description, "oneOf": [{"properties": form} for form in shared]}


def _without_policies(definition: dict[str, Any]) -> dict[str, Any]:
    """A table with a policy, without the keys of the policies."""
    found = forms(definition)
    own = {key: value for key, value in found[0].items() if all(form.get(key) == value for form in found)}
    return {"description": definition["description"], "properties": own}


def _documentation(definition: dict[str, Any]) -> Iterator[str]:
    """The table's description and its keys: first the keys common to all forms, then the keys of each form."""
    yield from _lines(definition["description"])
    found = forms(definition)
    tag = next((key for key, value in found[0].items() if "const" in value), "")
    common = {key: value for key, value in found[0].items() if key != tag and all(form.get(key) == value for form in found)}
    if common:
        yield from _section("Attributes", common)
    if tag:
        yield from ("", tag, "    Selects the other keys of the table:", "")
        for form in found:
            tagged = form[tag]
            word = f'``"{tagged["const"]}"``' if "const" in tagged else "``user:NAME``"
            yield from (f"    {line}" for line in _lines(f"* {word}: {tagged['description']}"))
    for form in found:
        own = {key: value for key, value in form.items() if key != tag and key not in common}
        if own:
            tagged = form[tag]
            yield from _section(f'With {tag} = "{tagged.get("const", "user:NAME")}"', own)


def _section(title: str, keys: dict[str, Any]) -> Iterator[str]:
    """Keys with their descriptions under a title."""
    yield from ("", title, "-" * len(title))
    for key, value in keys.items():
        yield key
        yield from (f"    {line}" for line in _lines(value.get("description", "")))


def _lines(text: str) -> list[str]:
    return wrap(text, 110, break_long_words=False, break_on_hyphens=False)
