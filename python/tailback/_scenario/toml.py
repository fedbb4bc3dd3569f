"""Write a scenario as TOML in the layout of the examples, which libraries for TOML do not have: a section for each flow group and
link, with inline tables in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["toml"]

# Sections of a scenario that contain tables by name; each of these tables becomes a section.
_OF_NAMES = ("flows", "links", "nodes")


def toml(description: Mapping[str, Any]) -> str:
    """Convert a description to TOML, with a section for the network, for each flow group, link and change over time.

    Examples
    --------
    >>> print(toml({"duration": "1 s", "links": {"a": {"rate": "1 Mbps", "queue": {"buffer": "9 packets"}}}}))
    duration = "1 s"
    <BLANKLINE>
    [links.a]
    rate = "1 Mbps"
    queue = {buffer = "9 packets"}
    <BLANKLINE>
    """
    plain, sections = "", []
    for name, value in description.items():
        if own := list(_sections(name, value)):
            sections += own
        else:
            plain += f"{_key(name)} = {_value(value)}\n"
    return "\n".join([*([plain] if plain else []), *sections])


def _sections(name: str, value: Any) -> Iterator[str]:
    """The sections of a key of the scenario; none for plain values."""
    if isinstance(value, Mapping) and name in _OF_NAMES and all(isinstance(table, Mapping) for table in value.values()):
        yield from (_section(f"[{name}.{_key(key)}]", table) for key, table in value.items())
    elif isinstance(value, Mapping):
        yield _section(f"[{_key(name)}]", value)
    elif isinstance(value, list) and all(isinstance(table, Mapping) for table in value):
        yield from (_section(f"[[{_key(name)}]]", table) for table in value)


def _section(head: str, table: Mapping[str, Any]) -> str:
    return f"{head}\n" + "".join(f"{_key(key)} = {_value(value)}\n" for key, value in table.items())


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)} = {_value(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    # Strings, numbers and booleans are the same in JSON and TOML, except for one character that TOML requires to be escaped.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(key: str) -> str:
    return key if key.replace("_", "").replace("-", "").isalnum() and key.isascii() else _value(key)
