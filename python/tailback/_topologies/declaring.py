"""The functions of the topologies, made from the JSON Schema: signature, documentation, and the scenario that they return."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from textwrap import wrap
from typing import Any, NamedTuple

from tailback import _core
from tailback._scenario import Scenario
from tailback._scenario.description import plain
from tailback._scenario.schema_tables import definitions, python_type
from tailback._topologies.building import fabric, from_end_to_end, queue_table, topology_function

__all__ = ["functions", "signature", "topologies"]


class Topology(NamedTuple):
    """A generator of crates/scenario with flows."""

    name: str
    summary: str
    # Names of its nodes and links.
    nodes: str
    # Its keys except `queue`, required ones first, in the order of the example.
    keys: dict[str, dict[str, Any]]
    required: list[str]
    routing: str
    # Settings of the example.
    example: dict[str, Any]
    # One pattern for both ends of its flows, or one for each.
    ends: list[str]


def topologies() -> Iterator[Topology]:
    """All generators with flows."""
    found = definitions()
    for name, table, routing, text in _core.topologies():
        example = json.loads(_core.toml_as_json(text) or "{}")
        if ends := _core.flow_ends_of_topology(json.dumps({name: example})):
            keys = dict(found[table]["properties"])
            required = sorted(found[table]["required"], key=[*example].index)
            ordered = {key: keys[key] for key in dict.fromkeys([*required, *example, *keys]) if key != "queue"}
            nodes = found["Topology"]["properties"][name]["description"]
            required.remove("queue")
            yield Topology(name, found[table]["description"], nodes, ordered, required, routing, example, ends)


def parameters(topology: Topology) -> Iterator[tuple[str, str, Any]]:
    """Name, type and default of each parameter; `...` stands for no default."""
    for key, schema in topology.keys.items():
        default = ... if key in topology.required else schema.get("default")
        yield key, python_type(schema) + " | None" * (default is None), default
    yield "buffer", "str | None", None
    yield "queue", "Queue | None", None
    if topology.routing != "shortest":
        yield "routing", "Routing", topology.routing
    yield "flows", "int | Mapping[str, Flow]", 1
    yield "duration", "str", ...


def signature(topology: Topology) -> str:
    """The head of a function."""
    declared = (f"{name}: {kind}{'' if default is ... else f' = {default!r}'}" for name, kind, default in parameters(topology))
    return f"def {topology.name}(*, {', '.join(declared)}, **rest: Any) -> Scenario:"


def make(name: str, settings: dict[str, Any], defaults: dict[str, Any], rest: dict[str, Any]) -> Scenario:
    """A scenario. Settings that have their defaults are left out."""
    buffer, queue, flows, duration = (settings.pop(key) for key in ("buffer", "queue", "flows", "duration"))
    if "routing" in settings:
        rest = {"routing": settings.pop("routing"), **rest}
    given = {key: value for key, value in settings.items() if value is not None and value != defaults.get(key)}
    table = {name: {**given, "queue": queue_table(buffer, queue)}}
    ends = _core.flow_ends_of_topology(json.dumps(plain(table, "topology")))
    if len(ends) == 1:
        return fabric(table, ends[0], flows, duration, rest)
    source, sink = ends or ("", "")
    return from_end_to_end(table, flows, (source, sink), duration, rest)


def _documentation(topology: Topology) -> str:
    lines = [*_filled(topology.summary), "", *_filled(topology.nodes), "", "Parameters", "----------"]
    for key, schema in topology.keys.items():
        lines += _documented(key, python_type(schema), key not in topology.required, schema["description"])
    lines += _documented("buffer", "str", True, 'Buffer of each queue with drop-tail: ``"100 packets"`` or ``"150 kB"``.')
    lines += _documented(
        "queue", "Queue", True, 'Queue of each link instead of `buffer`: ``{"policy": "codel", "buffer": "1 MB"}``.'
    )
    if topology.routing != "shortest":
        lines += _documented("routing", "str", True, 'Routing of the flows, ``"ecmp"`` or ``"shortest"``.')
    lines += _documented("flows", "int or mapping", True, _flows(topology.ends))
    lines += _documented("duration", "str", False, 'Simulated time: ``"60 s"``.')
    other = 'Other tables and values of a scenario, such as ``warmup="10 s"``, ``seed=7`` and ``record={...}``; `traces` is short'
    lines += ["**rest", *_filled(f'{other} for ``record={{"traces": [...]}}``.', "    ")]
    example = {**topology.example, "buffer": topology.example["queue"]["buffer"]}
    del example["queue"]
    given = ", ".join(f"{key}={json.dumps(value)}" for key, value in example.items())
    lines += ["", "Examples", "--------", ">>> import tailback as tb"]
    lines.append(f'>>> scenario = tb.{topology.name}({given}, duration="1 s")')
    lines += ['>>> [*scenario["topology"]]', f"['{topology.name}']"]
    return "\n".join(lines)


def _flows(ends: list[str]) -> str:
    if len(ends) == 1:
        usual = f"By default both are between random nodes ``{ends[0]}``: pairs, or permutations"
    else:
        usual = f"By default both are from ``{ends[0]}`` to ``{ends[1]}`` in the example"
    return f"Number of greedy NewReno flows in a group ``tcp``, or flow groups as in a scenario file. {usual}."


def _documented(name: str, kind: str, is_optional: bool, text: str) -> list[str]:
    return [f"{name} : {kind}{', optional' * is_optional}", *_filled(text, "    ")]


def _filled(text: str, indent: str = "") -> list[str]:
    return wrap(text, 120, initial_indent=indent, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def functions() -> dict[str, Callable[..., Scenario]]:
    """The function of each topology."""
    made = {}
    for topology in sorted(topologies()):
        defaults = {key: default for key, _, default in parameters(topology) if default is not ...}
        given = ", ".join(f"{key!r}: {key}" for key, *_ in parameters(topology))
        # Compiled functions check their arguments like all others.
        names: dict[str, Any] = {"make": make, "__name__": f"{__package__}.generators"}
        exec(f"{signature(topology)} return make({topology.name!r}, {{{given}}}, {defaults!r}, rest)", names)
        function = names[topology.name]
        function.__doc__ = _documentation(topology)
        made[topology.name] = topology_function(function)
    return made
