"""The grid of a sweep: all combinations of the axes' values, each with every seed. Its size is checked first."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tailback import _core
from tailback._scenario import Scenario
from tailback._scenario.description import short
from tailback._scenario.scenario import seed_number
from tailback._study.ledger import PlannedPoint
from tailback._study.problems import Problems
from tailback._study.vary import Axis, Label, Vary, axes
from tailback.errors import ScenarioError

__all__ = ["Grid", "Point", "grid"]

# A thousand points with a thousand seeds. Checking a larger plan takes minutes, and it is probably a mistake.
MAX_RUNS = 1_000_000


@dataclass(frozen=True)
class Point:
    """One point of the grid.

    Attributes
    ----------
    index : int
        Index of the point; the last axis varies fastest.
    labels : dict
        Maps column names to labels, for every axis.
    scenario : Scenario
        The scenario of the point.
    """

    index: int
    labels: dict[str, Label]
    scenario: Scenario

    @property
    def text(self) -> str:
        """The description as JSON."""
        return json.dumps(self.scenario.to_dict())

    def normalised(self) -> str:
        """The complete description, as interpreted by the core."""
        return _core.normalise(self.text, "", "json")

    def keys(self, seeds: Iterable[int]) -> list[str]:
        """The content hash of each run."""
        return _core.content_hashes(self.text, "", "json", list(seeds))


@dataclass(frozen=True)
class Grid:
    """The runs of a sweep.

    Attributes
    ----------
    scenario : Scenario
        The base scenario.
    axes : tuple of Axis
        The axes.
    seeds : tuple of int
        Seeds of every point: points share their random numbers.
    """

    scenario: Scenario
    axes: tuple[Axis, ...]
    seeds: tuple[int, ...]

    def __len__(self) -> int:
        """Number of points."""
        return math.prod(len(axis) for axis in self.axes)

    @property
    def runs(self) -> int:
        """Number of points times number of seeds."""
        return len(self) * len(self.seeds)

    @property
    def columns(self) -> list[str]:
        """Names of the axes' columns in the results."""
        return [column for axis in self.axes for column in axis.columns]

    def point(self, index: int) -> Point:
        """One point; the last axis varies fastest."""
        labels: dict[str, Label] = {}
        changes: dict[str, Any] = {}
        rest = index
        places = []
        for axis in reversed(self.axes):
            rest, place = divmod(rest, len(axis))
            places.append(place)
        for axis, place in zip(self.axes, reversed(places), strict=True):
            value = axis[place]
            labels |= value.labels
            changes |= value.changes
        return Point(index, labels, self.scenario.with_(changes) if changes else self.scenario)

    def points(self) -> Iterator[Point]:
        """All points, built one at a time."""
        return (self.point(index) for index in range(len(self)))

    def planned(self) -> Iterator[PlannedPoint]:
        """All points with the content hashes of their runs, for the ledger."""
        for point in self.points():
            runs = list(zip(self.seeds, point.keys(self.seeds), strict=True))
            yield PlannedPoint(point.labels, point.text, point.normalised(), runs)

    def check(self) -> None:
        """Validate every point. Raises a `ScenarioError` that lists each problem once, with the number of affected points."""
        problems = Problems(self.scenario)
        for index in range(len(self)):
            try:
                self.point(index).scenario.check()
            except ScenarioError as error:
                problems.add_point(error, self.where(index))
        problems.raise_if_any()

    def where(self, index: int) -> str:
        """A description of a point for messages."""
        if not self.axes:
            return ""
        try:
            labels = self.point(index).labels
        except ScenarioError:
            return f"point {index}"
        return ", ".join(f"{column}={value}" for column, value in labels.items())

    def digest(self) -> str:
        """A hash that is equal for grids with the same runs under the same labels, in the same order."""
        hash = hashlib.sha256(json.dumps([self.scenario.to_dict(), self.seeds]).encode())
        for axis in self.axes:
            for index in range(len(axis)):
                hash.update(json.dumps([list(axis[index].labels.items()), list(axis[index].changes.items())]).encode())
                for file in _files(list(axis[index].changes.values())):
                    hash.update(file.read_bytes())
            hash.update(b"\n")
        return hash.hexdigest()


def _files(value: Any) -> Iterator[Path]:
    """The files that the values of an axis may name, relative to the current directory."""
    if isinstance(value, (list, dict)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _files(inner)
    elif isinstance(value, str):
        # The text may be longer than any name of a file.
        with suppress(OSError):
            if Path(value).is_file():
                yield Path(value)


def grid(scenario: Scenario, vary: Vary | None, seeds: int | Iterable[int]) -> Grid:
    """Create a grid and check its size, but not its points.

    Raises
    ------
    ScenarioError
        The scenario does not have one of the paths, the grid is empty, or it has too many runs.
    """
    directions = tuple(axes(scenario, vary))
    chosen = _seeds(scenario, seeds)
    made = Grid(scenario, directions, tuple(chosen) if len(chosen) <= MAX_RUNS else ())
    points, runs = len(made), len(made) * len(chosen)
    if runs > MAX_RUNS:
        problems = Problems(scenario)
        sizes = " x ".join(f"{len(axis):,}" for axis in directions) or "1"
        given = f"{sizes} points, {len(chosen):,} seed{'' if len(chosen) == 1 else 's'}"
        problems.add(
            "",
            f"a grid of {points:,} point{'' if points == 1 else 's'} and {runs:,} runs",
            given=given,
            expected=f"at most {MAX_RUNS:,} runs",
        )
        problems.raise_if_any()
    return made


def _seeds(scenario: Scenario, seeds: int | Iterable[int]) -> range | list[int]:
    problems = Problems(scenario)
    chosen: range | list[int]
    if isinstance(seeds, int) and not isinstance(seeds, bool):
        chosen = range(1, seeds + 1)
    elif isinstance(seeds, Iterable) and not isinstance(seeds, (str, bytes)):
        chosen = [seed_number(seed) for seed in seeds]
    else:
        problems.add(
            "seeds",
            "`seeds` is neither a number nor a list of seeds",
            given=short(seeds),
            expected="a number of seeds, or a list of seeds",
        )
        problems.raise_if_any()
        raise AssertionError
    if not len(chosen):
        problems.add("seeds", "the grid is empty: there are no seeds", given=short(seeds), expected="at least one")
    elif isinstance(chosen, list) and len(set(chosen)) < len(chosen):
        problems.add("seeds", "`seeds` has the same seed twice", given=short(chosen), expected="each seed once")
    problems.raise_if_any()
    return chosen
