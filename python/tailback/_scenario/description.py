"""Descriptions of scenarios as plain dictionaries: copies with JSON types only, and paths such as ``timeline[0].at``."""

from __future__ import annotations

import json
import math
import numbers
import re
from collections.abc import Mapping
from typing import Any

from tailback import _core
from tailback.errors import in_one_line

__all__ = ["copied", "name_of", "places", "plain", "set_at", "short", "steps_of", "value_at"]

# Maximum nesting, as in the core: deeper than any scenario, and finite for a structure that contains itself.
_DEEPEST = 64

# Larger than any number that the core reads exactly; Python refuses to print integers with thousands of digits.
_HUGE = 2**127


def name_of(description: Mapping[str, Any]) -> str:
    """The name of a scenario, or else the word "scenario", in one line."""
    return in_one_line(str(description.get("name") or "scenario"))


def short(value: Any) -> str:
    """The `repr` of a value, shortened for messages."""
    try:
        written = repr(value)
    except (RecursionError, ValueError):
        # The value is nested too deeply, or a number has thousands of digits.
        written = f"a {type(value).__name__}"
    return written if len(written) <= 80 else f"{written[:77]}..."


def plain(value: Any, at: str = "", depth: int = 0) -> Any:
    """A deep copy with JSON types only; NumPy scalars and arrays become numbers and lists."""
    if depth > _DEEPEST:
        hint = "a value may contain itself"
        raise _core.scenario_error("", _short_path(at), f"the scenario is nested deeper than {_DEEPEST} levels", hint=hint)
    # Ordered by frequency for speed: `dict` before the slower check for `Mapping`.
    if type(value) is str or isinstance(value, bool):
        return value
    if isinstance(value, str):
        # NumPy's text is a class of its own.
        return str.__str__(value)
    if isinstance(value, (dict, Mapping)):
        for key in value:
            if not isinstance(key, str):
                raise _core.scenario_error("", at, f"{_key(at)} has a key that is not text", given=short(key))
        return {key: plain(inner, f"{at}.{key}" if at else key, depth + 1) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner, f"{at}[{index}]", depth + 1) for index, inner in enumerate(value)]
    if hasattr(value, "tolist") and not isinstance(value, bytes):
        listed = value.tolist()
        # Python has no type for NumPy's long doubles.
        is_long = type(listed) is type(value) and isinstance(value, numbers.Real)
        return plain(float(listed) if is_long else listed, at, depth + 1)
    if isinstance(value, float) and not math.isfinite(value):
        raise _core.scenario_error("", at, f"{_key(at)} is not a finite number", given=str(value))
    if isinstance(value, int) and not -_HUGE < value < _HUGE:
        raise _core.scenario_error("", at, f"{_key(at)} is out of range", given=short(value))
    if isinstance(value, (int, float)):
        return value
    raise _core.scenario_error(
        "",
        at,
        f"{_key(at)} has a type that scenarios do not have",
        given=short(value),
        expected="text, a number, a list or a table",
    )


def _key(at: str) -> str:
    """The last key of a path, as messages name it."""
    return f"`{at.rpartition('.')[2]}`" if at else "the scenario"


def copied(value: Any) -> Any:
    """A deep copy of a value that has JSON types only."""
    if isinstance(value, dict):
        return {key: copied(inner) for key, inner in value.items()}
    return [copied(inner) for inner in value] if isinstance(value, list) else value


def _short_path(at: str) -> str:
    """A shortened path, for structures that contain themselves."""
    return at if len(at) <= 60 else f"{at[:57]}..."


def steps_of(path: str) -> list[str | int]:
    """Split ``timeline[0].at`` into ``["timeline", 0, "at"]``. Invalid paths become a single step that does not exist."""
    if not re.fullmatch(r"[^.\[\]]+(\.[^.\[\]]+|\[\d+\])*", path):
        return [path]
    found = re.findall(r"([^.\[\]]+)|\[(\d+)\]", path)
    return [int(place) if place else name for name, place in found]


def places(value: Any) -> list[str | int]:
    """The keys of a table or the indices of a list."""
    return list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []


def set_at(parent: Any, steps: list[str | int], value: Any, path: str) -> None:
    """Set the values at these steps of `path`, where ``*`` matches every key; None removes them.

    Raises
    ------
    ScenarioError
        The path passes through a value that is not a table, or an index that does not exist.
    """
    step, rest = steps[0], steps[1:]
    for place in _chosen(parent, step, path):
        if rest:
            if isinstance(parent, dict):
                parent[place] = _long_form(place, parent.get(place, {}))
            set_at(parent[place], rest, value, path)
        elif value is None and isinstance(parent, dict):
            parent.pop(place, None)
        else:
            parent[place] = value


def _long_form(key: str | int, value: Any) -> Any:
    """The table that a value such as ``queue = "codel"`` stands for; other values unchanged."""
    if not isinstance(value, (str, int, float)):
        return value
    table = _core.long_form(str(key), json.dumps(value))
    return value if table is None else json.loads(table)


def _chosen(parent: Any, step: str | int, path: str) -> list[str | int]:
    if step == "*":
        return places(parent)
    if step in places(parent) or (isinstance(parent, dict) and isinstance(step, str)):
        return [step]
    raise _core.scenario_error("", path, f"the path has no `{step}`", given=short(parent))


def value_at(description: object, path: tuple[str, ...]) -> object:
    """The value at a path of the description, or None."""
    for step in path:
        description = description.get(step) if isinstance(description, Mapping) else None
    return description
