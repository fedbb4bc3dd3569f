"""The axes of a sweep: paths with lists or ranges of values, or named variants; axes are crossed, coupled paths are not.

In Python a mapping; on the command line one text per axis:

    links.bottleneck.queue.gap=5,10,15                  a list
    topology.dumbbell.rate=10..50:10 Mbps               10, 20, 30, 40 and 50 Mbps
    flows.*.tcp.preset=reno,sack                        all flow groups together
    policy=old{a.b=1;a.c=2},new{a.b=3;a.c=4}            named variants, each with several changes
    links.a.rate=1 Mbps,2 Mbps & links.b.rate=3 Mbps,4 Mbps     coupled paths: two points, not four
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any, overload

from tailback._arguments import arguments_checked
from tailback._scenario import Scenario
from tailback._scenario.description import plain
from tailback._study.paths import Paths
from tailback._study.problems import Problems
from tailback.errors import ParameterError

__all__ = ["Axis", "AxisValue", "Range", "Vary", "axes", "parse"]

Label = str | int | float

# Columns of the tables of runs and of means, which axes cannot be named after.
_TAKEN = {"point", "state", "error", "events", "simulated_s", "content_hash", "file", "seeds", "mean", "low", "high"}

Vary = Mapping[Any, Any]
"""Maps a path, or a tuple of coupled paths, to values; or a name to named variants."""


@arguments_checked
@dataclass(frozen=True)
class AxisValue:
    """One value on an axis: its label in each column of the results, and its changes to the scenario by path."""

    labels: Mapping[str, Label]
    changes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Axis:
    """One axis of the grid. Values are computed on demand."""

    columns: tuple[str, ...]
    paths: tuple[str, ...]
    values: Sequence[Any]
    named: Mapping[str, Mapping[str, Any]] | None = None

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: int) -> AxisValue:
        value = self.values[index]
        if self.named is not None:
            return AxisValue({self.columns[0]: value}, dict(self.named[value]))
        together = (value,) if len(self.columns) == 1 else tuple(value)
        changes = dict(zip(self.columns, together, strict=True))
        return AxisValue({path: label(value) for path, value in changes.items()}, changes)

    @property
    def text(self) -> str:
        """A short description."""
        shown = [", ".join(str(value) for value in self[index].labels.values()) for index in range(min(len(self), 6))]
        rest = [] if len(self) <= 6 else [f"... ({len(self):,} values)"]
        return f"{' & '.join(self.columns)} = {' | '.join(shown + rest)}"


@arguments_checked
@dataclass(frozen=True)
class Range(Sequence[Any]):
    """Evenly spaced values from `first` to at most `last`, with an optional unit; computed on demand.

    Examples
    --------
    >>> from tailback._study import Range
    >>> list(Range("10", "30", "10", unit="Mbps"))
    ['10 Mbps', '20 Mbps', '30 Mbps']
    >>> list(Range(0.1, 0.3, 0.1)), len(Range(1, 10**9))
    ([0.1, 0.2, 0.3], 1000000000)
    """

    first: Any
    last: Any
    step: Any = 1
    unit: str = ""

    def __post_init__(self) -> None:
        try:
            first, last, step = (Decimal(str(value)) for value in (self.first, self.last, self.step))
        except InvalidOperation:
            raise ParameterError(f"the range `{self.first}..{self.last}:{self.step}` is not numeric") from None
        if not all(number.is_finite() for number in (first, last, step)) or step <= 0 or last < first:
            text = f"`{self.first}..{self.last}:{self.step}`"
            raise ParameterError(f"the range {text} has no values; expected FIRST..LAST:STEP with STEP > 0 and LAST >= FIRST")
        object.__setattr__(self, "_start", first)
        object.__setattr__(self, "_step", step)
        try:
            size = (last - first) / step + 1
        except ArithmeticError:
            size = Decimal("Infinity")
        if size > sys.maxsize:
            raise ParameterError(f"the range `{self.first}..{self.last}:{self.step}` has too many values")
        object.__setattr__(self, "_size", int(size))

    def __len__(self) -> int:
        size: int = self.__dict__["_size"]
        return size

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        value: Decimal = self.__dict__["_start"] + (index % len(self)) * self.__dict__["_step"]
        number = int(value) if value == value.to_integral_value() else float(value)
        return f"{number} {self.unit}" if self.unit else number


def label(value: Any) -> Label:
    """The label of a value in the columns of the results."""
    if isinstance(value, (str, int, float)) and not isinstance(value, bool):
        return value
    return "none" if value is None else json.dumps(value, separators=(",", ":"))


def axes(scenario: Scenario, vary: Any) -> list[Axis]:
    """The axes of a grid, with validated paths; points are not built.

    Raises
    ------
    ScenarioError
        The scenario does not have a path (the message names the nearest one), an axis has no values, or a value is given twice.
    """
    problems = Problems(scenario)
    if vary is not None and not isinstance(vary, Mapping):
        problems.add("", "`vary` is not a mapping", given=vary, expected="a mapping such as {'flows.web.count': [1, 10]}")
        problems.raise_if_any()
    paths = Paths(scenario)
    found: list[Axis] = []
    for name, values in (vary or {}).items():
        axis = _axis(name, values, paths, problems)
        if axis is not None:
            found.append(axis)
    for column in (column for axis in found for column in axis.columns):
        if column in _TAKEN:
            problems.add(column, f"`{column}` is a column of the results", expected="another name for the axis")
    changed: dict[str, None] = {}
    for axis in found:
        for path in axis.paths:
            _check(path, paths, problems)
            if path in changed:
                problems.add(path, f"`{path}` varies twice", expected="each path on one axis")
        changed |= dict.fromkeys(axis.paths)
    problems.raise_if_any()
    return found


def _axis(name: Any, values: Any, paths: Paths, problems: Problems) -> Axis | None:
    columns = name if isinstance(name, tuple) else (name,)
    if not columns or not all(isinstance(column, str) and column for column in columns):
        problems.add("", "a path is not text", given=name, expected="text such as `flows.web.count`")
        return None
    at = " & ".join(columns)
    if isinstance(values, Mapping):
        if len(columns) > 1 or not all(isinstance(word, str) for word in values):
            problems.add(at, "named variants require one name and words as labels", given=values)
            return None
        named = _named(columns[0], values, paths, problems)
        if len(named) < len(values):
            return None
        axis = Axis(columns, tuple(dict.fromkeys(path for changes in named.values() for path in changes)), list(named), named)
    else:
        if hasattr(values, "tolist"):
            values = values.tolist()
        if isinstance(values, (str, bytes)) or not isinstance(values, Sequence):
            values = [values]
        if not isinstance(values, (range, Range)):
            values = [_plain_or_none(value, at) for value in values]
        if len(columns) > 1 and not _together(at, columns, values, problems):
            return None
        axis = Axis(columns, columns, values)
    if not len(axis):
        problems.add(at, "the grid is empty: there are no values", expected="at least one value")
        return None
    if not isinstance(axis.values, (range, Range)):
        _distinct(at, axis, problems)
    return axis


def _named(name: str, values: Mapping[str, Any], paths: Paths, problems: Problems) -> dict[str, dict[str, Any]]:
    """Changes by label. If the name is a key of the scenario, the values are values of this key."""
    if "." in name or "[" in name or paths.is_field(name):
        return {word: {name: _plain_or_none(value, name)} for word, value in values.items()}
    named = {}
    for word, changes in values.items():
        if not isinstance(changes, Mapping):
            expected = "a mapping of paths to values; empty for the unchanged scenario"
            problems.add(name, f"the variant `{word}` is not a table of changes", given=changes, expected=expected)
        else:
            named[word] = {path: _plain_or_none(value, f"{name}.{word}.{path}") for path, value in changes.items()}
    return named


def _plain_or_none(value: Any, at: str) -> Any:
    """A value in the form of a scenario, or None, which removes a key."""
    return None if value is None else plain(value, at)


def _together(at: str, columns: tuple[str, ...], values: Sequence[Any], problems: Problems) -> bool:
    for index, together in enumerate(values):
        if isinstance(together, str) or not isinstance(together, Sequence) or len(together) != len(columns):
            expected = f"{len(columns)} values, one per path"
            problems.add(at, f"value {index + 1} does not match the coupled paths", given=together, expected=expected)
            return False
    return True


def _distinct(at: str, axis: Axis, problems: Problems) -> None:
    seen: set[str] = set()
    for index in range(len(axis)):
        text = json.dumps(list(axis[index].labels.values()))
        if text in seen:
            problems.add(at, f"`{at}` has the same value twice", given=text[1:-1], expected="each value once")
            return
        seen.add(text)


def _check(path: Any, paths: Paths, problems: Problems) -> None:
    if not isinstance(path, str):
        problems.add("", "a path is not text", given=path, expected="text such as `flows.web.count`")
    elif path == "seed":
        problems.add(path, "`seed` cannot be an axis of the grid", expected="`seeds`, which runs every point with each of them")
    elif (fault := paths.fault(path)) is not None:
        message, expected, hint = fault
        problems.add(path, message, expected=expected, hint=hint)


def parse(texts: Sequence[str]) -> dict[Any, Any]:
    """Parse the texts of the command line.

    Raises
    ------
    ParameterError
        A text is not valid; the message shows the text and the expected form.

    Examples
    --------
    >>> from tailback._study.vary import parse
    >>> parse(["flows.web.count=1,10", "flows.*.tcp.preset=reno,sack"])
    {'flows.web.count': [1, 10], 'flows.*.tcp.preset': ['reno', 'sack']}
    >>> parse(["a.x=1,2 & a.y=3,4"])
    {('a.x', 'a.y'): [(1, 3), (2, 4)]}
    >>> parse(["policy=old{a.b=1;a.c=x y},new{a.b=2}"])
    {'policy': {'old': {'a.b': 1, 'a.c': 'x y'}, 'new': {'a.b': 2}}}
    """
    found: dict[Any, Any] = {}
    for text in texts:
        parts = [_assignment(part, text) for part in _split(text, "&")]
        names = tuple(name for name, _ in parts)
        key = names if len(names) > 1 else names[0]
        if key in found:
            raise ParameterError(f"`{text}`: this axis is given twice")
        if len(parts) == 1:
            found[key] = parts[0][1]
            continue
        sizes = {len(values) for _, values in parts}
        if len(sizes) > 1 or any(isinstance(values, Mapping) for _, values in parts):
            raise ParameterError(f"`{text}`: coupled paths require lists of equal length; given {sorted(sizes)}")
        found[key] = _zipped([values for _, values in parts])
    return found


def _zipped(columns: list[Sequence[Any]]) -> Sequence[Any]:
    # The list of tuples is built in memory, so its length is limited here.
    if len(columns[0]) > 1_000_000:
        raise ParameterError(f"coupled paths have {len(columns[0]):,} values; expected at most 1,000,000")
    return list(zip(*columns, strict=True))


def _assignment(part: str, text: str) -> tuple[str, Any]:
    name, equals, values = part.partition("=")
    name = name.strip()
    if not equals or not name:
        raise ParameterError(f"`{text}` is not an axis; expected PATH=VALUE,VALUE,..., for example `flows.web.count=1,10`")
    words = [word.strip() for word in _split(values, ",")]
    if words == [""]:
        return name, []
    if "" in words:
        raise ParameterError(f"`{text}`: a value is missing between two commas")
    variants = [re.fullmatch(r"([\w.-]+)\s*\{(.*)\}", word, re.DOTALL) for word in words]
    if any(variants):
        if not all(variants):
            raise ParameterError(f"`{text}`: either all or none of the values must be variants, for example `new{{a.b=1;a.c=2}}`")
        return name, _variants([(match[1], match[2]) for match in variants if match], text)
    if len(words) == 1 and ".." in words[0] and (span := _span(words[0])) is not None:
        return name, span
    if len(words) == 1 and (range_ := _written_otherwise(words[0])) is not None:
        hint = f'write `{name}={range_}` for a range, or `{name}="{words[0]}"` for this text'
        raise ParameterError(f"`{text}`: `{words[0]}` is neither a value nor a range; {hint}")
    return name, [_value(word) for word in words]


def _variants(given: list[tuple[str, str]], text: str) -> dict[str, dict[str, Any]]:
    named: dict[str, dict[str, Any]] = {}
    for word, inside in given:
        if word in named:
            raise ParameterError(f"`{text}`: the variant `{word}` is given twice")
        named[word] = {}
        for change in _split(inside, ";") if inside.strip() else ():
            path, equals, value = change.partition("=")
            if not equals or not path.strip() or not value.strip():
                raise ParameterError(f"`{text}`: `{change.strip()}` is not a change; expected PATH=VALUE")
            named[word][path.strip()] = _value(value.strip())
    return named


def _span(word: str) -> Range | None:
    number = r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
    match = re.fullmatch(rf"({number})\s*\.\.\s*({number})(?:\s*:\s*({number}))?\s*(\D.*)?", word)
    return Range(match[1], match[2], match[3] or "1", (match[4] or "").strip()) if match else None


def _written_otherwise(word: str) -> str | None:
    """A range in another notation (``1-10``, ``1:10``, ``1:2:10``, ``1 to 10 Mbps``) in that of `vary`; None for other text."""
    number = r"\d+(?:\.\d+)?"
    match = re.fullmatch(rf"({number})(?:\s*:\s*({number}))?\s*(?:-|:|\u2013|\.\.\.|\bto\b)\s*({number})\s*([^\W\d].*|%)?", word)
    if match is None:
        return None
    first, step, last, unit = match.groups()
    return f"{first}..{last}" + (f":{step}" if step else "") + (f" {unit}" if unit else "")


def _value(word: str) -> Any:
    """A TOML number, boolean, list, table or quoted string; any other text is a string."""
    try:
        value = tomllib.loads(f"value = {word}")["value"]
    except tomllib.TOMLDecodeError:
        return word
    # Dates and `inf` are strings in a scenario.
    return value if isinstance(value, (int, str, list, dict)) or (isinstance(value, float) and abs(value) < 1e308) else word


def _split(text: str, mark: str) -> Iterator[str]:
    """Split at each mark outside brackets and quotes."""
    depth, quote, begin = 0, "", 0
    for index, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "[{":
            depth += 1
        elif letter in "]}":
            depth -= 1
        elif letter == mark and depth == 0:
            yield text[begin:index]
            begin = index + 1
    yield text[begin:]
