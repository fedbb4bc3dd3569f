"""A scenario: a plain dictionary in the schema of scenario files. The core validates all fields; this module defines none."""

from __future__ import annotations

import json
import operator
import os
import re
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tailback import _core
from tailback._arguments import arguments_checked
from tailback._html import notebook
from tailback._scenario.description import copied, places, plain, set_at, short, steps_of, value_at
from tailback._scenario.named_files import may_name_files, put_contents
from tailback._scenario.parquet_flows import inline_parquet, of_tables, without_parquet
from tailback._scenario.toml import toml
from tailback._store import staged_file
from tailback.errors import ScenarioError, ScenarioWarning, in_one_line, warn

if TYPE_CHECKING:
    import networkx

    from tailback._export import Export

__all__ = ["Scenario", "load", "schema", "seed_number"]

# Far above the size of real scenarios; prevents reading endlessly from a device.
_MAX_BYTES = 32 * 1024 * 1024

_MAX_SEED = 2**53 - 1

# The directive of editors that names the schema of a TOML file, with a path relative to the file.
_RELATIVE_SCHEMA = re.compile(r"^#:schema +(?!/|\w+:).*\n", re.MULTILINE)


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
        self._description = plain(_table(description))
        tables = inline_parquet(self._description, "", None)
        self._text = json.dumps(self._description)
        self._format: Literal["json", "toml"] = "json"
        self._warn_of_graph_file()
        try:
            self._inline_files()
        except ScenarioError as error:
            raise of_tables(error, tables) from None

    def _warn_of_graph_file(self) -> None:
        """Issue the warnings about a graph's file now: its content becomes part of the scenario, the file does not."""
        if not any(value_at(self._description, ("topology", "graph", key)) for key in ("graphml", "gml")):
            return
        # All others, and errors, are reported when the scenario is used.
        with warnings.catch_warnings(record=True) as found, suppress(ScenarioError):
            warnings.simplefilter("always")
            self._check()
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
        if ".parquet" in text and (full := without_parquet(text, file, format)):
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
        if not may_name_files(self._description):
            return
        complete, read = _core.normalise_with_files(self._text, self._file, self._format)
        before = json.dumps(self._description)
        put_contents(self._description, json.loads(complete), read)
        if (text := json.dumps(self._description)) != before:
            self._text, self._format = text, "json"

    @property
    def name(self) -> str:
        """The scenario's ``name``, or else the name of its file, with control characters as escapes."""
        return in_one_line(str(self._description.get("name", "") or self._file or "scenario"))

    def to_dict(self) -> dict[str, Any]:
        """A copy of the description as given."""
        copy: dict[str, Any] = copied(self._description)
        return copy

    def to_toml(self) -> str:
        """The scenario as TOML, the inverse of `from_toml`.

        Text that was read from TOML remains as it is, with its comments, unless it names further files: their contents are part
        of the result.

        Raises
        ------
        ScenarioError
            The scenario is not valid.

        Examples
        --------
        >>> import tailback as tb
        >>> scenario = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="2 s")
        >>> print(scenario.to_toml())
        duration = "2 s"
        <BLANKLINE>
        [topology]
        dumbbell = {rate = "10 Mbps", delay = "10 ms", queue = {policy = "drop_tail", buffer = "20 packets"}}
        <BLANKLINE>
        [flows.tcp]
        from = "left"
        to = "right"
        count = 1
        tcp = {preset = "newreno"}
        <BLANKLINE>
        """
        self._check()
        return self._text if self._format == "toml" else toml(self._description)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the scenario to a new file, which `tailback.load` and the command line read.

        Parameters
        ----------
        path : path
            File to write: JSON if its name ends in ``.json``, otherwise TOML as by `to_toml`. In another folder than that of the
            scenario's file, a line ``#:schema`` with a relative path is left out.

        Raises
        ------
        ScenarioError
            The scenario is not valid.
        OutputError
            The file exists or cannot be written.

        Examples
        --------
        >>> import tempfile, tailback as tb
        >>> scenario = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="2 s")
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     scenario.save(f"{directory}/small.toml")
        ...     tb.load(f"{directory}/small.toml") == scenario
        True
        """
        self._check()
        written = f"{json.dumps(self._description, indent=2)}\n" if Path(path).suffix == ".json" else self.to_toml()
        if Path(self._file).parent.resolve() != Path(path).parent.resolve():
            written = _RELATIVE_SCHEMA.sub("", written)
        with staged_file(path) as file:
            file.write_bytes(written.encode())

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

    def _check(self) -> None:
        """Validate the scenario, which need not have flows: `tailback.emulate` requires none."""
        _core.check(self._text, self._file, self._format, may_lack_flows=True)

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
        source, sink = _core.flow_ends(*self._source(), None if seed is None else seed_number(seed))
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
        text = _core.expanded(*self._source(), None if seed is None else seed_number(seed))
        return Scenario(json.loads(text))

    def export(self, target: str, seed: int | None = None) -> Export:
        """The network and its flows as input of another tool: real queues of Linux, another emulator, or another simulator.

        Parameters
        ----------
        target : str
            Such as ``tc`` (network namespaces of Linux) or ``ns3``; ``tailback export --help`` lists all.
        seed : int, optional
            Seed of the run, by default the scenario's: random delays, starts and sizes of flows are exported as drawn.

        Returns
        -------
        Export
            ``text`` is the file; ``omissions`` lists the parts of the scenario that it does not express, as does its header, and
            ``remarks`` what does not change the network.

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
        ['dev l0a parent 3:1 handle 2: pfifo limit 20']
        """
        from tailback._export import exported

        number = None if seed is None else seed_number(seed)
        description = json.loads(_core.expanded(*self._source(), number))
        return exported(description, json.loads(_core.described_flows(*self._source(), number)), target)

    def to_networkx(self, seed: int | None = None) -> networkx.MultiDiGraph:
        """The network as a NetworkX graph; requires networkx.

        Nodes have the attribute ``kind``. Each direction of a link is an edge, whose key is the name of the queue in the table
        `queues`. It has the attributes ``rate_bps``, ``delay_s``, ``loss``, ``buffer`` and ``policy``, and ``rate`` and
        ``delay`` as text for `tailback.from_networkx`. ``networkx.write_graphml`` writes the graph to a file, which a scenario
        reads with ``graph = {graphml = "network.graphml", rate_attribute = "rate"}``.

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

        return networkx_graph(json.loads(_core.expanded(*self._source(), None if seed is None else seed_number(seed))))

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
                    [("changes", "a path is not text", short(path), "text such as `flows.web.count`", None)]
                )
            set_at(description, steps_of(path), value, path)
        return Scenario(description)

    def __getitem__(self, path: str) -> Any:
        """The value at a path such as ``links.bottleneck.rate``; KeyError if it is not set."""
        value: Any = self._description
        for step in steps_of(path):
            if step not in places(value):
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
        return _core.Simulation(self._parsed, None if seed is None else seed_number(seed), threads)

    @cached_property
    def _parsed(self) -> _core.ParsedScenario:
        return _core.ParsedScenario(*self._source())

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_parsed"}

    def _emulation(self, seed: int | None, played: Sequence[str]) -> _core.Emulation:
        return _core.Emulation(*self._source(), None if seed is None else seed_number(seed), list(played))

    def _lone_sender(self) -> _core.LoneSender:
        return _core.LoneSender(*self._source())

    def _shared_network(self, seed: int) -> str:
        return _core.shared_network(*self._source(), seed)

    def _predicted(self, seed: int | None) -> dict[str, Any]:
        return _core.predict(*self._source(), None if seed is None else seed_number(seed))


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
        hint = "`Scenario.from_toml(text)` reads text" if is_text else f"`tailback.load({short(description)})` reads a file"
    expected = "a Scenario, or a dictionary as in a scenario file"
    raise _core.argument_errors([("", "the scenario is not a dictionary", short(description), expected, hint)])


def seed_number(seed: Any) -> int:
    """Validate a seed."""
    expected = f"a whole number from 0 to {_MAX_SEED}"
    try:
        number = None if isinstance(seed, bool) else operator.index(seed)
    except TypeError:
        number = None
    if number is None:
        raise _core.argument_errors([("seed", "`seed` is not a whole number", short(seed), expected, None)])
    if not 0 <= number <= _MAX_SEED:
        raise _core.argument_errors([("seed", "`seed` is out of range", short(seed), expected, None)])
    return number
