"""A scenario: a plain dictionary in the schema of scenario files. The core validates all fields; this module defines none."""

from __future__ import annotations

import json
import math
import operator
import os
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tailback import _core
from tailback._arguments import arguments_checked
from tailback._html import notebook
from tailback.errors import ScenarioError, ScenarioWarning, warn

if TYPE_CHECKING:
    import networkx

    from tailback._export import Export

__all__ = ["Scenario", "load", "schema"]

# Far above the size of real scenarios; prevents reading endlessly from a device.
_MAX_BYTES = 32 * 1024 * 1024

# Maximum number of problems of an error, as in the core.
_MAX_PROBLEMS = 100

# Maximum nesting, as in the core: deeper than any scenario, and finite for a structure that contains itself.
_DEEPEST = 64

# Larger than any number that the core reads exactly; Python refuses to print integers with thousands of digits.
_HUGE = 2**127

_MAX_SEED = 2**53 - 1


@arguments_checked
class Scenario:
    """The description of a simulation: nodes, links, queues, flows, recorded data, duration and seed.

    Parameters
    ----------
    description : mapping
        Tables and values as in a scenario file; ``tailback schema`` prints the schema. The mapping is copied.

    Raises
    ------
    ScenarioError
        The description contains a value that no scenario file can contain, such as a function or NaN. All other checks are made
        by `check` and before every run.

    Examples
    --------
    >>> import tailback as tb
    >>> scenario = tb.Scenario({
    ...     "duration": "5 s",
    ...     "topology": {"dumbbell": {"rate": "10 Mbps", "delay": "10 ms", "queue": {"buffer": "20 packets"}}},
    ...     "flows": {"web": {"from": "left", "to": "right", "count": 3, "propagation_rtt": "100 ms", "tcp": {"preset": "sack"}}},
    ... })
    >>> scenario.check()
    >>> scenario.with_({"flows.web.count": 5})["flows.web.count"]
    5
    """

    def __init__(self, description: Mapping[str, Any]) -> None:
        self._file = ""
        self._description = _plain(_table(description))
        tables = _inline_parquet(self._description, "", None)
        self._text = json.dumps(self._description)
        self._format: Literal["json", "toml"] = "json"
        self._warn_of_graph_file()
        try:
            self._inline_files()
        except ScenarioError as error:
            raise _of_tables(error, tables) from None

    def _warn_of_graph_file(self) -> None:
        """Issue the warnings about a graph's file, of which nothing remains when its content becomes part of the scenario."""
        if not any(_at(self._description, ("topology", "graph", key)) for key in ("graphml", "gml")):
            return
        # All others, and errors, are reported when the scenario is used.
        with warnings.catch_warnings(record=True) as found, suppress(ScenarioError):
            warnings.simplefilter("always")
            _core.check(self._text, self._file, self._format, may_lack_flows=True)
        for each in found:
            if isinstance(each.message, ScenarioWarning) and each.message.problem.at == "topology.graph":
                warn(each.message)

    @classmethod
    def from_toml(cls, text: str, file: str = "scenario.toml") -> Scenario:
        """Parse a scenario in TOML; `file` is its name in error messages.

        Raises
        ------
        ScenarioError
            The text is not a valid scenario; lists every problem with its line.
        """
        return cls._from_text(text, file, "toml")

    @classmethod
    def from_json(cls, text: str, file: str = "scenario.json") -> Scenario:
        """Parse a scenario in JSON; otherwise like `from_toml`."""
        return cls._from_text(text, file, "json")

    @classmethod
    def _from_text(cls, text: str, file: str, format: Literal["json", "toml"]) -> Scenario:
        # The original text, in which errors find their lines even if the text is replaced below.
        written = None
        if ".parquet" in text and (full := _without_parquet(text, file, format)):
            written = text if format == "toml" else None
            text, format = full, "json"
        # A scenario without flows is valid for `tailback.emulate`.
        _core.check(text, file, format, may_lack_flows=True, written=written)
        scenario = cls.__new__(cls)
        scenario._file, scenario._text, scenario._format = file, text, format
        # The core reads TOML 1.1, which `tomllib` does not support.
        scenario._description = json.loads(text if format == "json" else _core.toml_as_json(text) or "{}")
        scenario._inline_files()
        return scenario

    def _inline_files(self) -> None:
        """Replace file names by the contents of the files, which are read once, relative to the scenario's directory."""
        if not any(word in self._text for word in ("csv", "table", "graphml", "gml", "trace")):
            return
        groups = self._description.get("flows")
        flows = groups.items() if isinstance(groups, Mapping) else ()
        named: list[tuple[str, ...]] = [
            ("flows", name, key)
            for name, group in flows
            if isinstance(group, Mapping)
            for key in ("propagation_rtt", "start", "size")
            if isinstance(group.get(key), Mapping) and "csv" in group[key]
        ]
        for name, group in flows:
            traffic = group.get("traffic") if isinstance(group, Mapping) else None
            if isinstance(traffic, Mapping) and "table" in traffic:
                # Columns of a table become sizes and start times of the group.
                named += [("flows", name, key) for key in ("traffic", "size", "start")]
            elif _at(group, ("traffic", "matrix", "table")) is not None:
                named.append(("flows", name, "traffic"))
        topology = self._description.get("topology")
        graph = topology.get("graph") if isinstance(topology, Mapping) else None
        if isinstance(graph, Mapping) and ("graphml" in graph or "gml" in graph):
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
        """The scenario's ``name``, or else the name of its file."""
        return str(self._description.get("name", "") or self._file or "scenario")

    def to_dict(self) -> dict[str, Any]:
        """A copy of the description as given."""
        copy: dict[str, Any] = _copied(self._description)
        return copy

    def normalised(self) -> dict[str, Any]:
        """The complete description with defaults, as interpreted by the core."""
        full: dict[str, Any] = json.loads(_core.normalise(self._text, self._file, self._format))
        return full

    @property
    def is_random(self) -> bool:
        """Whether results depend on the seed. False only if the scenario is certainly deterministic.

        Examples
        --------
        >>> import tailback as tb
        >>> fixed = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="2 s")
        >>> fixed.is_random, fixed.with_({"flows.tcp.start": {"uniform": ["0 s", "1 s"]}}).is_random
        (False, True)
        """
        return _core.is_random(*self._source())

    def check(self) -> None:
        """Validate the scenario. Raises a `ScenarioError` that lists every problem."""
        _core.check(self._text, self._file, self._format)

    def ends(self, seed: int | None = None) -> dict[str, list[str]]:
        """The source and destination node of every flow, as ``source`` and ``sink``, in the order of a run's ``flows`` table.

        Parameters
        ----------
        seed : int, optional
            Seed of the run, by default the scenario's: some patterns of `traffic` are random.

        Raises
        ------
        ScenarioError
            Nodes or traffic patterns are not valid.

        Examples
        --------
        >>> import tailback as tb
        >>> web = {"traffic": {"shift": {"nodes": "host*", "offset": 4}}, "size": "10 kB", "tcp": {"preset": "newreno"}}
        >>> scenario = tb.fat_tree(
        ...     k=4, rate="10 Gbps", delay="1 us", buffer="50 packets", flows={"web": web}, duration="10 ms"
        ... )
        >>> scenario.ends()["sink"][:3]
        ['host4', 'host5', 'host6']
        """
        source, sink = _core.flow_ends(*self._source(), None if seed is None else _whole(seed))
        return {"source": source, "sink": sink}

    def expanded(self, seed: int | None = None) -> Scenario:
        """The same network with `nodes` and `links` in place of the generators of `topology`, and with all defaults.

        Parameters
        ----------
        seed : int, optional
            Seed of the run, by default the scenario's: some topologies are random.

        Raises
        ------
        ScenarioError
            The scenario is not valid.

        Examples
        --------
        >>> import tailback as tb
        >>> scenario = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="2 s").expanded()
        >>> scenario["links.bottleneck.from"], scenario["links.bottleneck.rate"]
        ('left', '10 Mbps')
        """
        text = _core.expanded(*self._source(), None if seed is None else _whole(seed))
        return Scenario(json.loads(text))

    def export(self, target: str, seed: int | None = None) -> Export:
        """The network and its flows as input of another tool: real queues of Linux, another emulator, or another simulator.

        Parameters
        ----------
        target : str
            ``tc``: a shell script with network namespaces, qdiscs and iperf3. ``mahimahi``: a shell script with nested shells for
            the path of the first flow. ``mininet``: a Python script. ``ns3``: a C++ program for ns-3.37 or later.
        seed : int, optional
            Seed of the run, by default the scenario's: random delays, starts and sizes of flows are exported as drawn.

        Returns
        -------
        Export
            ``text`` is the file; ``omissions`` lists the parts of the scenario that it does not express, as does its header.

        Raises
        ------
        ScenarioError
            The scenario is not valid.
        UnknownName
            There is no such target.

        Examples
        --------
        >>> import tailback as tb
        >>> flows = {"bulk": {"tcp": {"preset": "linux/cubic"}, "jitter": "1 ms"}}
        >>> found = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", flows=flows, duration="2 s").export("tc")
        >>> found.omissions
        (('flows.bulk.jitter', 'has no counterpart'),)
        >>> [line.split("qdisc add ")[1] for line in found.text.splitlines() if "handle 2: pfifo limit 20" in line]
        ['dev l0a parent 1:1 handle 2: pfifo limit 20']
        """
        from tailback._export import exported

        number = None if seed is None else _whole(seed)
        description = json.loads(_core.expanded(*self._source(), number))
        return exported(description, json.loads(_core.described_flows(*self._source(), number)), target)

    def to_networkx(self, seed: int | None = None) -> networkx.MultiDiGraph:
        """The network as a NetworkX graph; requires networkx.

        Nodes have the attribute ``kind``. Each direction of a link is an edge, whose key is the name of the queue in the table
        `queues`. It has the attributes ``rate_bps``, ``delay_s``, ``loss``, ``buffer`` and ``policy``, and ``rate`` and
        ``delay`` as text for `tailback.from_networkx`. ``networkx.write_graphml`` writes the graph to a file.

        Parameters
        ----------
        seed : int, optional
            Seed of the run, by default the scenario's: some topologies are random.

        Raises
        ------
        ScenarioError
            The scenario is not valid.
        MissingExtra
            networkx is not installed.

        Examples
        --------
        >>> import tailback as tb
        >>> scenario = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="2 s")
        >>> graph = scenario.to_networkx()  # doctest: +SKIP
        >>> graph.edges["left", "right", "bottleneck"]["rate_bps"]  # doctest: +SKIP
        10000000.0
        """
        from tailback._export.graph import networkx_graph

        return networkx_graph(json.loads(_core.expanded(*self._source(), None if seed is None else _whole(seed))))

    def notes(self) -> list[str]:
        """Notes that affect the interpretation of results, for example about a few deterministic flows at a drop-tail queue."""
        return [text for _, text in _core.notes(*self._source())]

    def with_(self, changes: Mapping[str, Any]) -> Scenario:
        """A copy of the scenario with changed values.

        Parameters
        ----------
        changes : mapping
            Maps paths to new values. ``*`` matches every name (``flows.*.tcp.preset``), ``[0]`` is an index into a list
            (``timeline[0].at``). ``None`` removes the value.

        Raises
        ------
        ScenarioError
            A path passes through a value that is not a table.
        """
        description = self.to_dict()
        for path, value in changes.items():
            if not isinstance(path, str):
                raise _core.argument_errors(
                    [("changes", "a path is not text", _short(path), "text such as `flows.web.count`", None)]
                )
            _set(description, _steps(path), value, path)
        return Scenario(description)

    def __getitem__(self, path: str) -> Any:
        """The value at a path such as ``links.bottleneck.rate``; KeyError if it is not set."""
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
        """Text, file name and format, as arguments for the core."""
        return self._text, self._file, self._format

    def _simulation(self, seed: int | None, threads: int = 1) -> _core.Simulation:
        return _core.Simulation(*self._source(), None if seed is None else _whole(seed), threads)

    def _emulation(self, seed: int | None, played: Sequence[str]) -> _core.Emulation:
        return _core.Emulation(*self._source(), None if seed is None else _whole(seed), list(played))

    def _lone_sender(self) -> _core.LoneSender:
        return _core.LoneSender(*self._source())

    def _shared_network(self, seed: int) -> str:
        return _core.shared_network(*self._source(), seed)

    def _predicted(self, seed: int | None) -> dict[str, Any]:
        return _core.predict(*self._source(), None if seed is None else _whole(seed))


@arguments_checked
def load(path: str | os.PathLike[str]) -> Scenario:
    """Read and check a scenario file.

    Parameters
    ----------
    path : path
        A TOML file, or JSON if the name ends in ``.json``.

    Raises
    ------
    ScenarioError
        The file is missing, is not a file or not text, or the scenario is not valid; lists every problem with its line.
    """
    if not os.fspath(path):
        raise _core.argument_errors([("path", "`path` is empty", None, "the name of a scenario file", None)])
    file = Path(path)
    # A file name need not be valid UTF-8; this is how errors show it.
    name = str(file).encode(errors="backslashreplace").decode()
    text = _read(file, name)
    return Scenario.from_json(text, name) if file.suffix == ".json" else Scenario.from_toml(text, name)


def _at(description: object, path: tuple[str, ...]) -> object:
    """The value at a path of the description, or None."""
    for step in path:
        description = description.get(step) if isinstance(description, Mapping) else None
    return description


def _without_parquet(text: str, file: str, format: Literal["json", "toml"]) -> str | None:
    """The scenario as JSON with Parquet columns in place of file names; None if it has none or cannot be parsed."""
    try:
        description = json.loads(text if format == "json" else _core.toml_as_json(text) or "")
    except ValueError:
        return None
    if not isinstance(description, dict) or not _inline_parquet(description, file, text if format == "toml" else None):
        return None
    return json.dumps(description)


def _inline_parquet(description: dict[str, Any], file: str, written: str | None) -> dict[str, str]:
    """Replace the names of Parquet flow tables, relative to the scenario's directory, by their columns. Returns the names by
    their places in the scenario.

    `written` is the original TOML text, if any.
    """
    groups = description.get("flows")
    found = {}
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
                # Other columns are ignored.
                columns = [name for name in names if re.fullmatch(_READ_COLUMNS, name)]
                if twice := [name for name in columns if columns.count(name) > 1]:
                    said = f"`{table}` has several columns `{twice[0]}`"
                    raise _core.scenario_error(file, at, said, given=", ".join(names), expected="one column", written=written)
                if missing := [name for name in ("source", "sink") if name not in columns]:
                    said, expected = f"`{table}` has no column `{missing[0]}`", "`source` and `sink`"
                    raise _core.scenario_error(file, at, said, given=", ".join(names), expected=expected, written=written)
                read = _core.Table.read_parquet("flows", path, columns)
            except OSError as error:
                said, expected = f"`{table}` cannot be read: {error}", "a Parquet file, relative to the scenario's directory"
                raise _core.scenario_error(file, at, said, given=str(path), expected=expected, written=written) from None
            traffic["table"] = dict(_of_parquet(column, read.values(column), columns) for column in columns)
            found[at] = table
    return found


def _of_tables(error: ScenarioError, tables: Mapping[str, str]) -> Exception:
    """The error, in which invalid values of Parquet flow tables name their file."""
    # Further problems are only counted in the text.
    if not tables or len(error.problems) >= _MAX_PROBLEMS:
        return error
    listed = []
    for problem in error.problems:
        table = next((table for at, table in tables.items() if problem.at.startswith(f"{at}.")), None)
        given = problem.given if table is None else f"{problem.given or 'a value'} in `{table}`"
        listed.append((problem.at, problem.message, given, problem.expected, problem.hint))
    return _core.scenario_errors(error.file, listed, 0)


# Columns of a flow table that are read; some have a unit suffix.
_READ_COLUMNS = "source|sink|(size|start)(_.*)?"


def _of_parquet(column: str, values: Iterable[Any], columns: Sequence[str]) -> tuple[str, list[Any]]:
    """Convert a Parquet column to the scenario's form; a unit in its name moves to the values unless the schema has that name."""
    name, _, unit = column.partition("_")
    # Missing values are empty words or NaN here, and null in JSON. JSON has no infinity.
    plain = [None if value == "" or value != value else str(value) if value in _INFINITE else value for value in values]
    # If both columns exist, keep the original name, so that the core reports the unknown column.
    if unit and column not in ("size_bytes", "start_s") and name not in columns:
        return name, [None if value is None else f"{value} {unit}" for value in plain]
    return column, plain


_INFINITE = (float("inf"), -float("inf"))


@arguments_checked
def schema() -> dict[str, Any]:
    """The JSON Schema of a scenario."""
    exported: dict[str, Any] = json.loads(_core.schema())
    return exported


def _read(file: Path, name: str) -> str:
    try:
        with file.open("rb") as stream:
            data = stream.read(_MAX_BYTES + 1)
    except FileNotFoundError:
        raise _core.scenario_error(name, "", "the file does not exist", expected="a scenario file") from None
    except IsADirectoryError:
        raise _core.scenario_error(name, "", "the file is a directory", expected="a scenario file") from None
    except (OSError, ValueError) as error:
        raise _core.scenario_error(name, "", f"the file cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(data) > _MAX_BYTES:
        raise _core.scenario_error(name, "", "the file is too large for a scenario", expected=f"at most {_MAX_BYTES >> 20} MiB")
    try:
        return data.decode()
    except UnicodeDecodeError:
        expected = "a scenario in TOML, encoded as UTF-8"
        raise _core.scenario_error(name, "", "the file is not text", expected=expected) from None


def _table(description: Any) -> Mapping[str, Any]:
    """The description itself if it is a table; otherwise an error with a hint for file names and file contents."""
    if isinstance(description, Mapping):
        return description
    hint = None
    if isinstance(description, os.PathLike):
        hint = f"`tailback.load({os.fspath(description)!r})` reads a file"
    elif isinstance(description, str):
        is_text = "\n" in description or "=" in description or description.lstrip().startswith("{")
        hint = "`Scenario.from_toml(text)` reads text" if is_text else f"`tailback.load({_short(description)})` reads a file"
    expected = "a Scenario, or a dictionary as in a scenario file"
    raise _core.argument_errors([("", "the scenario is not a dictionary", _short(description), expected, hint)])


def _whole(seed: Any) -> int:
    """Validate a seed."""
    expected = f"a whole number from 0 to {_MAX_SEED}"
    try:
        number = None if isinstance(seed, bool) else operator.index(seed)
    except TypeError:
        number = None
    if number is None:
        raise _core.argument_errors([("seed", "`seed` is not a whole number", _short(seed), expected, None)])
    if not 0 <= number <= _MAX_SEED:
        raise _core.argument_errors([("seed", "`seed` is out of range", _short(seed), expected, None)])
    return number


def _short(value: Any) -> str:
    """The `repr` of a value, shortened for messages."""
    try:
        written = repr(value)
    except (RecursionError, ValueError):
        # The value is nested too deeply, or a number has thousands of digits.
        written = f"a {type(value).__name__}"
    return written if len(written) <= 80 else f"{written[:77]}..."


def _plain(value: Any, at: str = "", depth: int = 0) -> Any:
    """A deep copy with JSON types only; NumPy scalars and arrays become numbers and lists."""
    if depth > _DEEPEST:
        hint = "a value may contain itself"
        raise _core.scenario_error("", _short_path(at), f"the scenario is nested deeper than {_DEEPEST} levels", hint=hint)
    # Ordered by frequency for speed: `dict` before the slower check for `Mapping`.
    if isinstance(value, (str, bool)):
        return value
    if isinstance(value, (dict, Mapping)):
        for key in value:
            if not isinstance(key, str):
                raise _core.scenario_error("", at, f"{_key(at)} has a key that is not text", given=_short(key))
        return {key: _plain(inner, f"{at}.{key}" if at else key, depth + 1) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner, f"{at}[{index}]", depth + 1) for index, inner in enumerate(value)]
    if hasattr(value, "tolist") and not isinstance(value, bytes):
        return _plain(value.tolist(), at, depth + 1)
    if isinstance(value, float) and not math.isfinite(value):
        raise _core.scenario_error("", at, f"{_key(at)} is not a finite number", given=str(value))
    if isinstance(value, int) and not -_HUGE < value < _HUGE:
        raise _core.scenario_error("", at, f"{_key(at)} is out of range", given=_short(value))
    if isinstance(value, (int, float)):
        return value
    raise _core.scenario_error(
        "",
        at,
        f"{_key(at)} has a type that scenarios do not have",
        given=_short(value),
        expected="text, a number, a list or a table",
    )


def _key(at: str) -> str:
    """The last key of a path, as messages name it."""
    return f"`{at.rpartition('.')[2]}`" if at else "the scenario"


def _copied(value: Any) -> Any:
    """A deep copy of a value that has JSON types only."""
    if isinstance(value, dict):
        return {key: _copied(inner) for key, inner in value.items()}
    return [_copied(inner) for inner in value] if isinstance(value, list) else value


def _short_path(at: str) -> str:
    """A shortened path, for structures that contain themselves."""
    return at if len(at) <= 60 else f"{at[:57]}..."


def _steps(path: str) -> list[str | int]:
    """Split ``timeline[0].at`` into ``["timeline", 0, "at"]``. Invalid paths become a single step that does not exist."""
    if not re.fullmatch(r"[^.\[\]]+(\.[^.\[\]]+|\[\d+\])*", path):
        return [path]
    steps = re.findall(r"([^.\[\]]+)|\[(\d+)\]", path)
    return [int(place) if place else name for name, place in steps]


def _places(value: Any) -> list[str | int]:
    """The keys of a table or the indices of a list."""
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
    raise _core.scenario_error("", path, f"the path has no `{step}`", given=_short(parent))
