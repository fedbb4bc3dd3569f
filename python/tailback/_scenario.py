"""A scenario: a plain dictionary in the schema that TOML files use too. Nothing here knows a field; the core checks them all."""

from __future__ import annotations

import json
import math
import operator
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from tailback import _core
from tailback._html import notebook

__all__ = ["Scenario", "load", "schema"]

# Far above any scenario written by hand or by a script; a device that never ends is refused instead of read.
_MAX_BYTES = 32 * 1024 * 1024

# As the core has it: deeper than any scenario, and what refers to itself has no end.
_DEEPEST = 64

# More than the core reads exactly; Python itself refuses to write numbers of thousands of digits.
_HUGE = 2**127

_MAX_SEED = 2**53 - 1


class Scenario:
    """What to simulate: nodes, links, queues, flows, what to record, for how long, and the seed.

    Parameters
    ----------
    description : mapping
        Tables and values as in a scenario file (``tailback schema`` prints the schema). It is copied.

    Raises
    ------
    ScenarioError
        If it holds something that no scenario file could, such as a function or NaN. Everything else is checked
        by `check` and before every run.

    Examples
    --------
    >>> import tailback as tb
    >>> scenario = tb.Scenario({
    ...     "duration": "5 s",
    ...     "topology": {"dumbbell": {"rate": "10 Mbps", "delay": "10 ms", "queue": {"buffer": "20 packets"}}},
    ...     "flows": {"web": {"from": "left", "to": "right", "count": 3, "rtt": "100 ms", "tcp": {"preset": "sack"}}},
    ... })
    >>> scenario.check()
    >>> scenario.with_({"flows.web.count": 5})["flows.web.count"]
    5
    """

    def __init__(self, description: Mapping[str, Any]) -> None:
        self._file = ""
        self._description = _plain(_table(description))
        _take_in_parquet(self._description, "", None)
        self._text = json.dumps(self._description)
        self._format: Literal["json", "toml"] = "json"
        self._take_in_files()

    @classmethod
    def from_toml(cls, text: str, file: str = "scenario.toml") -> Scenario:
        """A scenario from TOML text; `file` is the name that errors give it.

        Raises
        ------
        ScenarioError
            With the line of every problem.
        """
        return cls._from_text(text, file, "toml")

    @classmethod
    def from_json(cls, text: str, file: str = "scenario.json") -> Scenario:
        """A scenario from JSON text; otherwise as `from_toml`."""
        return cls._from_text(text, file, "json")

    @classmethod
    def _from_text(cls, text: str, file: str, format: Literal["json", "toml"]) -> Scenario:
        # Where errors find their lines once the text is no longer what was written.
        written = None
        if ".parquet" in text and (full := _without_parquet(text, file, format)):
            written = text if format == "toml" else None
            text, format = full, "json"
        # One without flows is for real packets (`tailback.emulate`).
        _core.check(text, file, format, may_lack_flows=True, written=written)
        scenario = cls.__new__(cls)
        scenario._file, scenario._text, scenario._format = file, text, format
        # The core reads TOML 1.1, which `tomllib` does not.
        scenario._description = json.loads(text if format == "json" else _core.toml_as_json(text) or "{}")
        scenario._take_in_files()
        return scenario

    def _take_in_files(self) -> None:
        """Has what files hold instead of their names: files are read once, from where the scenario is."""
        if not any(word in self._text for word in ("csv", "table", "graphml", "trace")):
            return
        groups = self._description.get("flows")
        flows = groups.items() if isinstance(groups, Mapping) else ()
        named: list[tuple[str, ...]] = [
            ("flows", name, key)
            for name, group in flows
            if isinstance(group, Mapping)
            for key in ("rtt", "start", "size")
            if isinstance(group.get(key), Mapping) and "csv" in group[key]
        ]
        for name, group in flows:
            traffic = group.get("traffic") if isinstance(group, Mapping) else None
            if isinstance(traffic, Mapping) and "table" in traffic:
                # Columns of a table are sizes and starts of the group.
                named += [("flows", name, key) for key in ("traffic", "size", "start")]
        topology = self._description.get("topology")
        graph = topology.get("graph") if isinstance(topology, Mapping) else None
        if isinstance(graph, Mapping) and "graphml" in graph:
            named.append(("topology", "graph"))
        links = self._description.get("links")
        holders = [("links", name) for name in links] if isinstance(links, Mapping) else []
        for holder in [*holders, ("topology", "dumbbell")]:
            for place in ((*holder, "rate"), (*holder, "reverse", "rate")):
                rate = _at(self._description, place)
                if isinstance(rate, Mapping) and "trace" in rate:
                    named.append(place)
        if named:
            read = self.normalised()
            for *path, key in named:
                said, own = read, self._description
                for step in path:
                    said, own = said[step], own[step]
                if key in said:
                    own[key] = said[key]
            self._text, self._format = json.dumps(self._description), "json"

    @property
    def name(self) -> str:
        """The scenario's ``name``, or where it came from."""
        return str(self._description.get("name", "") or self._file or "scenario")

    def to_dict(self) -> dict[str, Any]:
        """A copy of the description, as it was given."""
        copy: dict[str, Any] = _copied(self._description)
        return copy

    def normalised(self) -> dict[str, Any]:
        """The description as the core reads it, defaults filled in."""
        full: dict[str, Any] = json.loads(_core.normalise(self._text, self._file, self._format))
        return full

    @property
    def is_random(self) -> bool:
        """Whether seeds make a difference; False only if it is certain that nothing is drawn.

        Examples
        --------
        >>> import tailback as tb
        >>> fixed = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="2 s")
        >>> fixed.is_random, fixed.with_({"flows.tcp.start": {"uniform": ["0 s", "1 s"]}}).is_random
        (False, True)
        """
        return _core.is_random(*self._source())

    def check(self) -> None:
        """Raise a `ScenarioError` with every problem, if there is one."""
        _core.check(self._text, self._file, self._format)

    def ends(self, seed: int | None = None) -> dict[str, list[str]]:
        """The nodes where each flow begins (``source``) and ends (``sink``), in the order of the table ``flows`` of a run.

        Parameters
        ----------
        seed : int, optional
            Of the run, if not the scenario's own: some patterns of `traffic` are drawn.

        Raises
        ------
        ScenarioError
            If nodes or patterns make no sense.

        Examples
        --------
        >>> import tailback as tb
        >>> web = {"traffic": {"shift": {"among": "host*", "by": 4}}, "size": "10 kB", "tcp": {"preset": "newreno"}}
        >>> scenario = tb.fat_tree(
        ...     k=4, rate="10 Gbps", delay="1 us", buffer="50 packets", flows={"web": web}, duration="10 ms"
        ... )
        >>> scenario.ends()["sink"][:3]
        ['host4', 'host5', 'host6']
        """
        source, sink = _core.flow_ends(*self._source(), None if seed is None else _whole(seed))
        return {"source": source, "sink": sink}

    def remarks(self) -> list[str]:
        """What a reader of the results should know, such as where a few flows share a drop-tail queue and nothing is random."""
        return _core.remarks(*self._source())

    def with_(self, changes: Mapping[str, Any]) -> Scenario:
        """A copy with some values changed.

        Parameters
        ----------
        changes : mapping
            Path to new value. ``*`` stands for every name (``flows.*.tcp.preset``), ``[0]`` for a place in a list
            (``timeline[0].at``). ``None`` removes what is there.

        Raises
        ------
        ScenarioError
            If a path leads through something that is not a table.
        """
        description = self.to_dict()
        for path, value in changes.items():
            if not isinstance(path, str):
                raise _core.scenario_error("", "", "not a path", given=_short(path), expected="text such as `flows.web.count`")
            _set(description, _steps(path), value, path)
        return Scenario(description)

    def __getitem__(self, path: str) -> Any:
        """The value at a path such as ``links.bottleneck.rate``; KeyError if it is not given."""
        value: Any = self._description
        for step in _steps(path):
            if step not in _places(value):
                raise KeyError(path)
            value = value[step]
        return value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and self._description == other._description

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Scenario({self._description!r})"

    def _repr_html_(self) -> str:
        return notebook(code=json.dumps(self._description, indent=2))

    def _source(self) -> tuple[str, str, str]:
        """Text, file and format, as the core reads it."""
        return self._text, self._file, self._format

    def _simulation(self, seed: int | None, threads: int = 1) -> _core.Simulation:
        return _core.Simulation(*self._source(), None if seed is None else _whole(seed), threads)

    def _emulation(self, seed: int | None, played: Sequence[str]) -> _core.Emulation:
        return _core.Emulation(*self._source(), None if seed is None else _whole(seed), list(played))

    def _shared_network(self, seed: int) -> str:
        return _core.shared_network(*self._source(), seed)

    def _outline(self, seed: int | None) -> tuple[str, bytes]:
        return _core.outline(*self._source(), None if seed is None else _whole(seed))


def load(path: str | os.PathLike[str]) -> Scenario:
    """Read and check a scenario file.

    Parameters
    ----------
    path : path
        A TOML file, or JSON if the name ends in ``.json``.

    Raises
    ------
    ScenarioError
        For every problem in it, each with its line; also if it is missing, a directory, or not text.
    """
    if not os.fspath(path):
        raise _core.scenario_error("", "", "the name of the file is empty", expected="a scenario file")
    file = Path(path)
    # As errors show it: a name need not be UTF-8.
    name = str(file).encode(errors="backslashreplace").decode()
    text = _read(file, name)
    return Scenario.from_json(text, name) if file.suffix == ".json" else Scenario.from_toml(text, name)


def _at(description: object, path: tuple[str, ...]) -> object:
    """What a description has at a place, if there is any."""
    for step in path:
        description = description.get(step) if isinstance(description, Mapping) else None
    return description


def _without_parquet(text: str, file: str, format: Literal["json", "toml"]) -> str | None:
    """As JSON, with the columns of Parquet files instead of their names; None if there are none or it cannot be read."""
    try:
        description = json.loads(text if format == "json" else _core.toml_as_json(text) or "")
    except ValueError:
        return None
    if not isinstance(description, dict) or not _take_in_parquet(description, file, text if format == "toml" else None):
        return None
    return json.dumps(description)


def _take_in_parquet(description: dict[str, Any], file: str, written: str | None) -> bool:
    """Has the columns of flow tables in Parquet files, beside the scenario's, instead of their names; whether there were any.

    `written` is the TOML text, if there is one.
    """
    groups = description.get("flows")
    found = False
    for name, group in groups.items() if isinstance(groups, dict) else ():
        traffic = group.get("traffic") if isinstance(group, dict) else None
        if not isinstance(traffic, dict):
            continue
        table = traffic.get("table")
        if isinstance(table, str) and table.endswith(".parquet"):
            path = Path(file).parent / table
            at = f"flows.{name}.traffic.table"
            try:
                names = _core.Table.parquet_columns(path)
                # Others are not looked at.
                columns = [name for name in names if re.fullmatch(_LOOKED_AT, name)]
                if twice := [name for name in columns if columns.count(name) > 1]:
                    said = f"{table} has several columns `{twice[0]}`"
                    raise _core.scenario_error(file, at, said, given=", ".join(names), expected="one", written=written)
                if missing := [name for name in ("source", "sink") if name not in columns]:
                    said, expected = f"{table} has no column `{missing[0]}`", "`source` and `sink`"
                    raise _core.scenario_error(file, at, said, given=", ".join(names), expected=expected, written=written)
                read = _core.Table.read_parquet("flows", path, columns)
            except OSError as error:
                said, expected = f"cannot be read: {error}", "a Parquet file that can be read, beside the scenario's"
                raise _core.scenario_error(file, at, said, given=str(path), expected=expected, written=written) from None
            traffic["table"] = dict(_of_parquet(column, read.values(column), columns) for column in columns)
            found = True
    return found


# Columns of a flow table, some with a unit.
_LOOKED_AT = "source|sink|(size|start)(_.*)?"


def _of_parquet(column: str, values: Iterable[Any], columns: Sequence[str]) -> tuple[str, list[Any]]:
    """A column as a scenario has it: where lists have none with that unit in its name, each value has it."""
    name, _, unit = column.partition("_")
    # What is missing reads as an empty word, or as no number; JSON has no infinity.
    plain = [None if value == "" or value != value else str(value) if value in _INFINITE else value for value in values]
    # Two columns for one thing are told as one that there is not.
    if unit and column not in ("size_bytes", "start_s") and name not in columns:
        return name, [None if value is None else f"{value} {unit}" for value in plain]
    return column, plain


_INFINITE = (float("inf"), -float("inf"))


def schema() -> dict[str, Any]:
    """The JSON Schema of a scenario."""
    exported: dict[str, Any] = json.loads(_core.schema())
    return exported


def _read(file: Path, name: str) -> str:
    try:
        with file.open("rb") as stream:
            data = stream.read(_MAX_BYTES + 1)
    except FileNotFoundError:
        raise _core.scenario_error(name, "", "no such file", expected="a scenario file") from None
    except IsADirectoryError:
        raise _core.scenario_error(name, "", "this is a directory", expected="a scenario file") from None
    except (OSError, ValueError) as error:
        raise _core.scenario_error(name, "", f"the file cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(data) > _MAX_BYTES:
        raise _core.scenario_error(name, "", "the file is too large for a scenario", expected=f"at most {_MAX_BYTES >> 20} MiB")
    try:
        return data.decode()
    except UnicodeDecodeError:
        expected = "a scenario in TOML, encoded as UTF-8"
        raise _core.scenario_error(name, "", "this is not text", expected=expected) from None


def _table(description: Any) -> Mapping[str, Any]:
    """The description itself, if it is a table; says what to do with the name or the text of a file instead."""
    if isinstance(description, Mapping):
        return description
    hint = None
    if isinstance(description, os.PathLike):
        hint = f"`tailback.load({os.fspath(description)!r})` reads a file"
    elif isinstance(description, str):
        is_text = "\n" in description or "=" in description or description.lstrip().startswith("{")
        hint = "`Scenario.from_toml(text)` reads text" if is_text else f"`tailback.load({_short(description)})` reads a file"
    raise _core.scenario_error(
        "",
        "",
        "not a scenario",
        given=_short(description),
        expected="a Scenario, or a dictionary as in a scenario file",
        hint=hint,
    )


def _whole(seed: Any) -> int:
    """A seed that the core takes."""
    expected = f"a whole number from 0 to {_MAX_SEED}"
    try:
        number = None if isinstance(seed, bool) else operator.index(seed)
    except TypeError:
        number = None
    if number is None:
        raise _core.scenario_error("", "seed", "not a seed", given=_short(seed), expected=expected)
    if not 0 <= number <= _MAX_SEED:
        raise _core.scenario_error("", "seed", "a seed out of range", given=_short(seed), expected=expected)
    return number


def _short(value: Any) -> str:
    """As Python writes it, cut to what fits in a message."""
    try:
        written = repr(value)
    except (RecursionError, ValueError):
        # Too deep, or a number of thousands of digits.
        written = f"a {type(value).__name__}"
    return written if len(written) <= 80 else f"{written[:77]}..."


def _plain(value: Any, at: str = "", depth: int = 0) -> Any:
    """A deep copy in the types that JSON has; NumPy scalars and arrays become numbers and lists."""
    if depth > _DEEPEST:
        hint = "does something contain itself?"
        raise _core.scenario_error("", _short_path(at), f"nested deeper than {_DEEPEST} levels", hint=hint)
    # First what most values are, and `dict` before `Mapping`, which takes longer to tell: documents make thousands of scenarios.
    if isinstance(value, (str, bool)):
        return value
    if isinstance(value, (dict, Mapping)):
        for key in value:
            if not isinstance(key, str):
                raise _core.scenario_error("", at, "a key that is not text", given=_short(key))
        return {key: _plain(inner, f"{at}.{key}" if at else key, depth + 1) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner, f"{at}[{index}]", depth + 1) for index, inner in enumerate(value)]
    if hasattr(value, "tolist") and not isinstance(value, bytes):
        return _plain(value.tolist(), at, depth + 1)
    if isinstance(value, float) and not math.isfinite(value):
        raise _core.scenario_error("", at, "not a finite number", given=str(value))
    if isinstance(value, int) and not -_HUGE < value < _HUGE:
        raise _core.scenario_error("", at, "a number out of range", given=_short(value))
    if isinstance(value, (int, float)):
        return value
    raise _core.scenario_error(
        "", at, "not a value of a scenario", given=_short(value), expected="text, a number, a list or a table"
    )


def _copied(value: Any) -> Any:
    """A deep copy of what is plain already."""
    if isinstance(value, dict):
        return {key: _copied(inner) for key, inner in value.items()}
    return [_copied(inner) for inner in value] if isinstance(value, list) else value


def _short_path(at: str) -> str:
    """The beginning of a path that may have no end."""
    return at if len(at) <= 60 else f"{at[:57]}..."


def _steps(path: str) -> list[str | int]:
    """``timeline[0].at`` as ``["timeline", 0, "at"]``. Text that is no path is one step, which leads nowhere."""
    if not re.fullmatch(r"[^.\[\]]+(\.[^.\[\]]+|\[\d+\])*", path):
        return [path]
    steps = re.findall(r"([^.\[\]]+)|\[(\d+)\]", path)
    return [int(place) if place else name for name, place in steps]


def _places(value: Any) -> list[str | int]:
    """What leads into a table or a list."""
    return list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []


def _set(parent: Any, steps: list[str | int], value: Any, path: str) -> None:
    step, rest = steps[0], steps[1:]
    for place in _chosen(parent, step, path):
        if rest:
            _set(parent.setdefault(place, {}) if isinstance(parent, dict) else parent[place], rest, value, path)
        elif value is None and isinstance(parent, dict):
            parent.pop(place, None)
        else:
            parent[place] = value


def _chosen(parent: Any, step: str | int, path: str) -> list[str | int]:
    if step == "*":
        return _places(parent)
    if step in _places(parent) or (isinstance(parent, dict) and isinstance(step, str)):
        return [step]
    raise _core.scenario_error("", path, f"there is no `{step}` in this path", given=_short(parent))
