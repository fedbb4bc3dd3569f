"""The places of a scenario that name files, whose contents become part of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tailback._scenario.description import places, steps_of

__all__ = ["KEYS_OF_FILES", "may_name_files", "put_contents"]

# Keys whose text may be the name of a file. A test compares them with the schema.
KEYS_OF_FILES = frozenset({"cdf", "file", "gml", "graphml", "profile", "table", "trace", "weights", "writes"})


def may_name_files(value: dict[str, Any] | list[Any]) -> bool:
    """Whether one of these keys has text, at any depth, or a table is given."""
    # Loops, because documents define thousands of scenarios, and most values are text.
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in KEYS_OF_FILES and (key == "table" or isinstance(inner, str)):
                return True
            if isinstance(inner, (dict, list)) and may_name_files(inner):
                return True
        return False
    return any(isinstance(inner, (dict, list)) and may_name_files(inner) for inner in value)


def put_contents(description: dict[str, Any], complete: Mapping[str, Any], read: list[str]) -> None:
    """Replace the names of files by their contents.

    Parameters
    ----------
    description : dict
        The scenario as given.
    complete : mapping
        Its normalised form.
    read : list of str
        The paths of the values that the core has read from files.
    """
    for path in read:
        _replace(description, complete, steps_of(path))
    for name, group in description.get("flows", {}).items():
        if "table" in group.get("traffic", {}):
            # Columns of a flow table become sizes and start times of the group, in a file or not.
            full = complete["flows"][name]
            group["traffic"] = full["traffic"]
            group.update({key: full[key] for key in ("size", "start") if key in full})


def _replace(own: Any, full: Any, steps: list[str | int]) -> None:
    """Replace the value at the last of the steps that both descriptions have."""
    step, *rest = steps
    if rest and all(rest[0] in places(value[step]) for value in (own, full)):
        _replace(own[step], full[step], rest)
    else:
        own[step] = full[step]
