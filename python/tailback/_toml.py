"""A scenario as TOML, laid out as the examples are."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

__all__ = ["toml"]

# Sections of a scenario that hold tables by name: each of these is a section of its own.
_OF_NAMES = ("flows", "links", "nodes")


def toml(description: Mapping[str, Any]) -> str:
    """A description, with a section for the network, for each group of flows and for each link.

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
    plain = [f"{_key(name)} = {_value(value)}\n" for name, value in description.items() if not isinstance(value, Mapping)]
    sections = []
    for name, value in description.items():
        if isinstance(value, Mapping) and name in _OF_NAMES:
            sections += [_section(f"{name}.{_key(key)}", table) for key, table in value.items()]
        elif isinstance(value, Mapping):
            sections.append(_section(name, value))
    return "\n".join(["".join(plain), *sections])


def _section(name: str, table: Mapping[str, Any]) -> str:
    return f"[{name}]\n" + "".join(f"{_key(key)} = {_value(value)}\n" for key, value in table.items())


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)} = {_value(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    # Text, numbers and truth are written alike in JSON and TOML, but for one character that TOML wants escaped.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(key: str) -> str:
    return key if key.replace("_", "").replace("-", "").isalnum() and key.isascii() else _value(key)
