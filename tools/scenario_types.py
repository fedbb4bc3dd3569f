"""Prints python/tailback/_types.py: the tables of a scenario as types, generated from the JSON Schema.

    .venv/bin/python tools/scenario_types.py > python/tailback/_types.py

A test compares the file with this output, so that fields are defined in the schema only.
"""

from __future__ import annotations

import keyword
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import tailback as tb

HEAD = '''\
"""The tables of a scenario as types: plain dictionaries with keys for editors and type checkers.

Generated from the JSON Schema by tools/scenario_types.py; a test compares them. The core checks required keys and all values.

>>> import tailback as tb
>>> tb.Flow(count=3, propagation_rtt="100 ms", tcp=tb.Tcp(preset="sack"))
{'count': 3, 'propagation_rtt': '100 ms', 'tcp': {'preset': 'sack'}}
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypedDict
'''


# Maximum length of a type that leaves room for a name.
_LINE = 100


def main() -> None:
    """Writes the module to stdout, formatted."""
    schema = tb.schema()
    definitions: dict[str, Any] = {**schema["$defs"], "Description": schema}
    names = sorted([*definitions, POLICY])
    exported = "".join(f'    "{name}",\n' for name in names)
    parts = [HEAD, f"\n__all__ = [\n{exported}]\n"]
    # A base class precedes the classes that extend it.
    for name in sorted(names, key=lambda name: name in POLICY_TABLES):
        definition = policies(definitions) if name == POLICY else definitions[name]
        if name in POLICY_TABLES:
            parts.append(table(name, without_policies(definition), base=POLICY))
        else:
            parts.append(table(name, definition) if properties(definition) else alias(name, definition))
    ruff = [sys.executable, "-m", "ruff", "format", "--stdin-filename", "_types.py", "-"]
    subprocess.run(ruff, input="".join(parts), text=True, check=True)


# The type that tables with a queue policy extend, so that the settings of each policy are defined once.
POLICY = "Policy"
POLICY_TABLES = ("Queue", "Class")


def policies(definitions: dict[str, Any]) -> dict[str, Any]:
    """The keys of the queue policies, as a table: those that all tables with a policy have."""
    first, *others = (forms(definitions[name]) for name in POLICY_TABLES)
    shared = [
        {key: value for key, value in form.items() if all(value == other[at].get(key) for other in others)}
        for at, form in enumerate(first)
    ]
    description = "A queue policy with its settings: the keys that `Queue` and `Class` share."
    return {"description": description, "oneOf": [{"properties": form} for form in shared]}


def without_policies(definition: dict[str, Any]) -> dict[str, Any]:
    """A table with a policy, without the keys of the policies."""
    found = forms(definition)
    own = {key: value for key, value in found[0].items() if all(form.get(key) == value for form in found)}
    return {"description": definition["description"], "properties": own}


def alias(name: str, definition: dict[str, Any]) -> str:
    """A value with a name, such as a rate."""
    comment = "".join(f"# {line}\n" for line in wrapped(definition["description"]))
    found = kind(definition)
    # Literals refer to no later names, and may be long.
    is_words = found.startswith("Literal[") and found.endswith("]") and "|" not in found
    if is_words:
        return f"\n{comment}{name}: TypeAlias = {found}\n"
    # One string, split into one line per alternative if necessary.
    alternatives = found.split(" | ")
    joined = [f'"{one} | "' for one in alternatives[:-1]] + [f'"{alternatives[-1]}"']
    text = f'"{found}"' if len(found) < _LINE else "(\n    " + "\n    ".join(joined) + "\n)"
    return f"\n{comment}{name}: TypeAlias = {text}\n"


def table(name: str, definition: dict[str, Any], base: str = "TypedDict") -> str:
    """A table, in functional form if a key is a Python keyword."""
    fields = {key: union(values) for key, values in properties(definition).items()}
    described = "\n".join(f"    {line}".rstrip() for line in documentation(definition))
    if not any(map(keyword.iskeyword, fields)):
        body = "".join(f"    {key}: {value}\n" for key, value in fields.items())
        return f'\n\nclass {name}({base}, total=False):\n    """{described.strip()}\n    """\n\n{body}\n'
    body = "".join(f'        "{key}": "{value}",\n' for key, value in fields.items())
    called = f'{name} = TypedDict(\n    "{name}",\n    {{\n{body}    }},\n    total=False,\n)\n'
    return f'\n\n{called}{name}.__doc__ = """{described.strip()}\n"""\n\n'


def documentation(definition: dict[str, Any]) -> Iterator[str]:
    """The table's description and its keys: first the keys common to all forms, then the keys of each form."""
    yield from wrapped(definition["description"])
    found = forms(definition)
    tag = next((key for key, value in found[0].items() if "const" in value), "")
    common = {key: value for key, value in found[0].items() if key != tag and all(form.get(key) == value for form in found)}
    if common:
        yield from section("Attributes", common)
    if tag:
        yield from ("", tag, "    Selects the other keys of the table:", "")
        for form in found:
            tagged = form[tag]
            word = f'``"{tagged["const"]}"``' if "const" in tagged else "``user:NAME``"
            yield from (f"    {line}" for line in wrapped(f"* {word}: {tagged['description']}"))
    for form in found:
        own = {key: value for key, value in form.items() if key != tag and key not in common}
        if own:
            tagged = form[tag]
            yield from section(f'With {tag} = "{tagged.get("const", "user:NAME")}"', own)


def section(title: str, keys: dict[str, Any]) -> Iterator[str]:
    """Keys with their descriptions under a title."""
    yield from ("", title, "-" * len(title))
    for key, value in keys.items():
        yield key
        yield from (f"    {line}" for line in wrapped(value.get("description", "")))


def forms(definition: dict[str, Any]) -> list[dict[str, Any]]:
    """The keys of a table with their schemas, for each of its forms."""
    always = definition.get("properties", {})
    return [{**always, **form.get("properties", {})} for form in definition.get("oneOf", [{}])]


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
    types = [kind({"enum": words})] if words else []
    return " | ".join(dict.fromkeys([*types, *map(kind, others)]))


def kind(value: dict[str, Any]) -> str:
    """The Python type of a value."""
    if "$ref" in value:
        return str(value["$ref"]).removeprefix("#/$defs/")
    if "anyOf" in value:
        return " | ".join(dict.fromkeys(map(kind, value["anyOf"])))
    words = value.get("enum", [value["const"]] if "const" in value else [])
    if words:
        return f"Literal[{', '.join(repr(word) for word in words)}]"
    if value["type"] == "array":
        return f"list[{kind(value['items'])}]"
    if value["type"] == "object":
        inner = [*value.get("patternProperties", {}).values(), *filter(None, [value.get("additionalProperties")])]
        return f"dict[str, {kind(inner[0])}]" if inner else "dict[str, Any]"
    return {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}[value["type"]]


def wrapped(text: str, width: int = 110) -> Iterator[str]:
    """Lines of at most `width` characters."""
    line = ""
    for word in text.split():
        if line and len(line) + len(word) >= width:
            yield line
            line = ""
        line = f"{line} {word}".strip()
    if line:
        yield line


if __name__ == "__main__":
    main()
