"""Differences between two runs: settings, the first differing event, and the values of their tables."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tailback import _core
from tailback._arguments import arguments_checked
from tailback._html import notebook
from tailback._process.time_slices import in_slices
from tailback._run import Run
from tailback._scenario import Scenario
from tailback._scenario.description import short
from tailback._simulation import has_stack, simulate
from tailback._tables.summary import COLUMNS, ROWS, TextTable, listed, tabulated, title
from tailback._tables.table import COUNTERS, Table, shown
from tailback._tables.text import quantity
from tailback.errors import ParameterError

__all__ = ["EventDifference", "RunDifferences", "SettingDifference", "ValueDifference", "diff"]

# Columns that identify a row, in all tables of counters that have them.
_KEYS = ("queue", "class", "group", "flow", "message")

_FIRST_EVENTS = 10_000


@dataclass(frozen=True)
class SettingDifference:
    """A value of the complete scenario that differs.

    Attributes
    ----------
    at : str
        Path of the value, such as ``links.bottleneck.queue.buffer``.
    left, right : Any
        The values; None where the key does not exist.
    """

    at: str
    left: Any
    right: Any


@dataclass(frozen=True)
class EventDifference:
    """The first event at which two runs differ.

    Attributes
    ----------
    time_s : float
        Time of the earlier one of the two events, in seconds.
    left, right : str or None
        The events; None if that run has no further events.
    left_s, right_s : float or None
        Their times, in seconds.
    """

    time_s: float
    left: str | None
    right: str | None
    left_s: float | None
    right_s: float | None


@dataclass(frozen=True)
class ValueDifference:
    """A value of a table that differs.

    Attributes
    ----------
    table, row, column : str
        Its place, such as ``flows``, ``web 0``, ``goodput_bps``.
    left, right : float, int, str or None
        The values; None where the row or the column does not exist, or the value is missing.
    """

    table: str
    row: str
    column: str
    left: float | int | str | None
    right: float | int | str | None


@dataclass(frozen=True)
class RunDifferences:
    """The differences between two runs; false if their tables and events are equal.

    Attributes
    ----------
    left, right : Run
        The runs.
    settings : tuple of SettingDifference
        Settings that differ, including seeds, in the order of the scenario.
    event : EventDifference or None
        The first differing event; None without one.
    events_from : str
        Origin of `event`: ``simulation`` if both runs were simulated again and compared event by event, ``traces`` if the traces
        that both runs recorded were compared, or ``nothing`` if neither was possible: a run is an emulation, has a transport
        stack or is from another version, and there are no common traces.
    values : tuple of ValueDifference
        Values that differ in the tables other than traces.
    """

    left: Run
    right: Run
    settings: tuple[SettingDifference, ...]
    event: EventDifference | None
    events_from: str
    values: tuple[ValueDifference, ...]

    def __bool__(self) -> bool:
        return self.event is not None or bool(self.values)

    def to_dict(self) -> dict[str, Any]:
        """All differences with JSON types."""
        return {
            "same": not self,
            "settings": [asdict(setting) for setting in self.settings],
            "event": self.event and asdict(self.event),
            "events_from": self.events_from,
            "values": [asdict(value) for value in self.values],
        }

    def listings(self) -> Iterator[TextTable]:
        """Settings, and the rows of the summary's tables that differ, one below the other."""
        if self.settings:
            rows = [[each.at, _setting(each.left), _setting(each.right)] for each in self.settings[:ROWS]]
            yield TextTable("settings", ["setting", "A", "B"], rows, len(self.settings) - len(rows))
        for name, columns in COLUMNS.items():
            listing = _side_by_side(name, columns, [value for value in self.values if value.table == name])
            if listing.rows:
                yield listing

    def notes(self) -> Iterator[str]:
        """Sentences about the events, the values that `listings` omits, and the limits of the comparison."""
        if self.event:
            yield f"first difference at {self.event.time_s:.9g} s"
            yield f"  A: {_at(self.event.left, self.event.left_s)}"
            yield f"  B: {_at(self.event.right, self.event.right_s)}"
        elif self.events_from == "nothing":
            why = "a run is an emulation, has a transport stack or is from another version, and no trace is in both"
            yield f"events were not compared: {why}"
        else:
            what = "events" if self.events_from == "simulation" else "events of the recorded traces"
            yield f"all {what} up to the end of the shorter run are equal"
        if self.values:
            tables = ", ".join(dict.fromkeys(value.table for value in self.values))
            yield f"{len(self.values):,} values differ in the tables: {tables}"
        else:
            yield "all tables are equal"

    def __str__(self) -> str:
        head = f"A: {self.left}\nB: {self.right}"
        return listed(head, self.listings(), ["\n".join(self.notes())])

    def __repr__(self) -> str:
        return f"<RunDifferences: {len(self.settings)} settings, {len(self.values)} values>"

    def _repr_html_(self) -> str:
        return notebook("\n".join(self.notes()), tables=tabulated(self.listings()))


@arguments_checked
def diff(
    left: Scenario | Mapping[str, Any] | Run,
    right: Scenario | Mapping[str, Any] | Run,
    *,
    seed: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> RunDifferences:
    """Compare two runs: settings, the first differing event, and the values of all tables.

    Events are the transmissions, acknowledgements and windows of the first 64 flows, and the occupancy and discards of the first
    64 queues. They are compared by simulating both runs again, which requires that this version of Tailback made both. For other
    runs, the traces that both have recorded are compared.

    Parameters
    ----------
    left, right : Scenario, mapping or Run
        Scenarios are simulated. A stored run is read with `tailback.read_run`.
    seed : int, optional
        Seed for scenarios, instead of theirs.
    progress : callable, optional
        As in `tailback.simulate`; it is called with 0 to 1 for each simulation.

    Returns
    -------
    RunDifferences
        True if there are differences of events or values.

    Raises
    ------
    ScenarioError
        A scenario or the seed is not valid.
    ParameterError
        `seed` is given for two runs.

    Examples
    --------
    >>> import tailback as tb
    >>> scenario = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="5 s")
    >>> found = tb.diff(scenario, scenario.with_({"topology.dumbbell.queue.buffer": "15 packets"}))
    >>> [(each.at, each.left, each.right) for each in found.settings]
    [('topology.dumbbell.queue.buffer', '20 packets', '15 packets')]
    >>> found.event.right
    'bottleneck discards segment 56 of tcp 0 (full)'
    >>> bool(tb.diff(scenario, scenario))
    False
    """
    if seed is not None and isinstance(left, Run) and isinstance(right, Run):
        raise ParameterError("`seed` is the seed of scenarios, and both arguments are runs")
    one, other = (side if isinstance(side, Run) else simulate(side, seed, progress=progress) for side in (left, right))
    event, origin = _first_event(one, other, progress or (lambda _done: None))
    return RunDifferences(one, other, tuple(_settings(one, other)), event, origin, tuple(_values(one, other)))


def _first_event(left: Run, right: Run, progress: Callable[[float], None]) -> tuple[EventDifference | None, str]:
    """The first differing event, and its origin."""
    if all(_can_be_repeated(run) for run in (left, right)):
        return _first_simulated(left, right, progress), "simulation"
    kinds = [kind for kind in left.traces if kind in right.traces]
    found = [event for kind in kinds if (event := _first_traced(left.trace(kind), right.trace(kind)))]
    return min(found, key=lambda event: event.time_s, default=None), "traces" if kinds else "nothing"


def _can_be_repeated(run: Run) -> bool:
    """Whether a simulation by this version gives the run's results, without the code of transport stacks."""
    if "emulation" in run.provenance or has_stack(run.scenario):
        return False
    return _core.content_hashes(*_source(run), [run.seed]) == [run.content_hash]


def _source(run: Run) -> tuple[str, str, str]:
    return json.dumps(run.scenario), "", "json"


def _first_simulated(left: Run, right: Run, progress: Callable[[float], None]) -> EventDifference | None:
    compared = _core.EventComparison((*_source(left), left.seed), (*_source(right), right.seed))
    share: float | None = 0.0
    ours: tuple[float, str] | None = None
    theirs: tuple[float, str] | None = None

    def advance(steps: int) -> bool:
        nonlocal share, ours, theirs
        share, ours, theirs = compared.advance(steps)
        return share is None or share >= 1

    in_slices(advance, _FIRST_EVENTS, lambda: progress(1.0 if share is None else share))
    if share is not None:
        return None
    return _difference(ours, theirs)


def _difference(ours: tuple[float, str] | None, theirs: tuple[float, str] | None) -> EventDifference:
    """Of two events with their times, of which one may be missing."""
    (left_s, left), (right_s, right) = ours or (None, None), theirs or (None, None)
    return EventDifference(min(time for time in (left_s, right_s) if time is not None), left, right, left_s, right_s)


def _first_traced(left: Table, right: Table) -> EventDifference | None:
    """The first row in which two traces of a kind differ."""
    columns = [column for column in left if column in right]
    rows = min(len(left), len(right))
    first = rows
    for column in columns:
        ours, theirs = left[column][:first], right[column][:first]
        differs = (ours != theirs) & ((ours == ours) | (theirs == theirs))
        if differs.any():
            first = int(differs.argmax())
    if first == len(left) == len(right):
        return None
    return _difference(_traced(left, columns, first), _traced(right, columns, first))


def _traced(table: Table, columns: Sequence[str], row: int) -> tuple[float, str] | None:
    if row >= len(table):
        return None
    values = ", ".join(f"{column} {shown(table[column][row].item())}" for column in columns if column != "time_s")
    return float(table["time_s"][row]), f"trace `{table.name}`: {values}"


def _settings(left: Run, right: Run) -> Iterator[SettingDifference]:
    ours, theirs = ({**dict(_leaves(run.scenario)), "seed": run.seed} for run in (left, right))
    for at in dict.fromkeys([*ours, *theirs]):
        if ours.get(at) != theirs.get(at):
            yield SettingDifference(at, ours.get(at), theirs.get(at))


def _leaves(value: Any, at: str = "") -> Iterator[tuple[str, Any]]:
    """The values of nested tables with their paths."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, f"{at}.{key}" if at else key)
    elif isinstance(value, list) and any(isinstance(inner, (dict, list)) for inner in value):
        for index, inner in enumerate(value):
            yield from _leaves(inner, f"{at}[{index}]")
    else:
        yield at, value


def _values(left: Run, right: Run) -> Iterator[ValueDifference]:
    for name in COUNTERS:
        ours, theirs = (_rows(run.tables.get(name)) for run in (left, right))
        for row in dict.fromkeys([*ours, *theirs]):
            one, other = ours.get(row, {}), theirs.get(row, {})
            for column in dict.fromkeys([*one, *other]):
                a, b = one.get(column), other.get(column)
                if a != b:
                    yield ValueDifference(name, row, column, a, b)


def _rows(table: Table | None) -> dict[str, dict[str, Any]]:
    """Rows by the values that identify them; missing numbers are None."""
    if table is None:
        return {}
    keys = [column for column in _KEYS if column in table]
    return {
        " ".join(str(row[key]) for key in keys): {
            column: None if isinstance(value, float) and math.isnan(value) else value for column, value in row.items()
        }
        for row in table.to_rows()
    }


def _side_by_side(name: str, columns: Sequence[str], values: Sequence[ValueDifference]) -> TextTable:
    """The differing values of a summary's columns: A and B of a row below one another."""
    values = [value for value in values if value.column in columns]
    heads = [column for column in columns if any(value.column == column for value in values)]
    rows = list(dict.fromkeys(value.row for value in values))
    cells = {(value.row, value.column): (value.left, value.right) for value in values}
    lines = []
    for row in rows[:ROWS]:
        for side, label in enumerate("AB"):
            known = [cells.get((row, column)) for column in heads]
            texts = ["=" if pair is None else _cell(column, pair[side]) for column, pair in zip(heads, known, strict=True)]
            lines.append([row if side == 0 else "", label, *texts])
    return TextTable(name, ["", "run", *map(title, heads)], lines, len(rows) - len(rows[:ROWS]))


def _at(event: str | None, time_s: float | None) -> str:
    return "no further events" if time_s is None else f"{event} at {time_s:.12g} s"


def _cell(column: str, value: float | int | str | None) -> str:
    return "-" if value is None else quantity(column, value)


def _setting(value: Any) -> str:
    if value is None:
        return "-"
    return value if isinstance(value, str) and len(value) <= 60 else short(value)
