"""Common parts of the functions that make scenarios."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from tailback import _core
from tailback._arguments import arguments_checked
from tailback._scenario import Scenario, schema
from tailback._types import Flow, Queue

__all__ = ["fabric", "from_end_to_end", "queue_table", "topology_function", "without_none"]

Function = TypeVar("Function", bound=Callable[..., Scenario])


def topology_function(function: Function) -> Function:
    """Decorates a function that accepts the keys of a scenario which it does not set itself."""
    return arguments_checked(function, _others)


@functools.cache
def _others() -> tuple[str, ...]:
    return (*(key for key in schema()["properties"] if key != "topology"), "traces")


def without_none(**settings: Any) -> dict[str, Any]:
    """The settings that are not None."""
    return {name: value for name, value in settings.items() if value is not None}


def fabric(
    topology: dict[str, Any],
    among: str | list[str],
    flows: int | Mapping[str, Flow],
    duration: str,
    rest: dict[str, Any],
    matrix: Mapping[str, Any] | None = None,
) -> Scenario:
    """A scenario with flows among many nodes, by default of a traffic matrix if there is one."""
    groups: Any = flows
    if isinstance(flows, int):
        pairs: Any = {"random_pairs": among} if matrix is None else {"matrix": matrix}
        groups = {"tcp": Flow(count=flows, traffic=pairs, tcp={"preset": "newreno"})}
    elif isinstance(flows, Mapping):
        usual = {"permutation": among} if matrix is None else {"matrix": matrix}
        groups = {name: _with_traffic(group, usual) for name, group in flows.items()}
    return _described(topology, groups, duration, rest)


def _with_traffic(group: Any, usual: Mapping[str, Any]) -> Any:
    """Add the default traffic to a group without its own; values that are not tables are left to the core's validation."""
    if not isinstance(group, Mapping) or {"from", "to", "traffic"} & group.keys():
        return group
    return {**group, "traffic": usual}


def queue_table(buffer: str | None, queue: Queue | None) -> Queue:
    if queue is not None and buffer is None:
        return queue
    if buffer is not None and queue is None:
        return {"policy": "drop_tail", "buffer": buffer}
    message = "`buffer` or `queue` is required" if buffer is None else "`buffer` and `queue` exclude each other"
    raise _core.argument_errors([("queue", message, None, "either `buffer` or `queue`", None)])


def from_end_to_end(
    topology: dict[str, Any],
    flows: int | Mapping[str, Flow],
    ends: tuple[str, str],
    duration: str,
    rest: dict[str, Any],
) -> Scenario:
    groups: Any = {"tcp": Flow(count=flows, tcp={"preset": "newreno"})} if isinstance(flows, int) else flows
    if isinstance(groups, Mapping):
        # Values that are not tables are left to the core's validation.
        filled = {"from": ends[0], "to": ends[1]}
        groups = {name: {**filled, **group} if isinstance(group, Mapping) else group for name, group in groups.items()}
    return _described(topology, groups, duration, rest)


def _described(topology: dict[str, Any], groups: Any, duration: str, rest: dict[str, Any]) -> Scenario:
    if "traces" in rest:
        rest["record"] = {**(rest.get("record") or {}), "traces": rest.pop("traces")}
    return Scenario({"duration": duration, **rest, "topology": topology, "flows": groups})
