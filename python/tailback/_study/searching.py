"""The search for a threshold: its question, and the runs that it requires in the ledger of a study."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tailback import _core
from tailback._interval import Interval
from tailback._scenario import Scenario
from tailback._scenario.description import short
from tailback._study.columns import unpack
from tailback._study.crossing import Crossing
from tailback._study.grid import Grid, grid
from tailback._study.ledger import Ledger, PlannedPoint
from tailback._study.runner import RunFailed, Runner
from tailback._study.span import span
from tailback._study.sweeping import check_quantity
from tailback._study.work import Simulated, Task
from tailback._tables.quantity import Quantity, quantity_of
from tailback.errors import ParameterError, StudyError
from tailback.statistics import Bounds
from tailback.user_code._loading import ClassLocation

__all__ = ["Search"]


@dataclass
class Search:
    """A search for the value of a setting at which a quantity reaches a target.

    Attributes
    ----------
    ends : Grid
        The scenario at both ends of the range.
    key : str
        Path of the setting.
    measured : Quantity
    crossing : Crossing
        The state of the search.
    is_random : bool
        Whether the seed has an effect at either end.
    precision : float or None
        The number of seeds doubles, up to `max_seeds`, until the half width of the interval of the mean at the answer is at most
        this.
    max_seeds : int
    asked : str
        Digest of the ends with the initial seeds.
    """

    ends: Grid
    key: str
    measured: Quantity
    crossing: Crossing
    is_random: bool
    precision: float | None
    max_seeds: int
    asked: str

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        quantity: str,
        target: Any,
        over: Any,
        seeds: int | Iterable[int],
        precision: float | None,
        max_seeds: int,
        rises: bool | None = None,
    ) -> Search:
        """The validated question; errors as in `tailback.threshold`."""
        if not isinstance(over, Mapping) or len(over) != 1 or not isinstance(next(iter(over)), str):
            raise ParameterError(
                f"`over` is {short(over)}; expected one path with the ends of its range, such as "
                '{"topology.dumbbell.queue.buffer": ("1 packet", "2000 packets")}'
            )
        [(key, given)] = over.items()
        values, measured = span(key, given), quantity_of(quantity)
        ends = grid(scenario, {key: [values.value(0), values.value(len(values) - 1)]}, seeds)
        ends.check()
        check_quantity(ends, measured.name)
        is_random = any(point.scenario.is_random for point in ends.points())
        if is_random and len(ends.seeds) < 2:
            raise ParameterError(f"`seeds` is {len(ends.seeds)}; expected at least 2, because one seed has no interval")
        if precision is not None and (not isinstance(seeds, int) or not 0 < precision < math.inf):
            raise ParameterError(f"`precision` is {precision!r}; expected a number above 0, and `seeds` as a number")
        crossing = Crossing(values, _target(measured, target), rises)
        return cls(ends, key, measured, crossing, is_random, precision, max_seeds, ends.digest())

    @property
    def quantity(self) -> str:
        """Name of the quantity."""
        return self.measured.name

    @property
    def plan(self) -> dict[str, Any]:
        """The question in the form of the ledger."""
        target = self.crossing.target
        asked = [self.asked, self.quantity, target, self.precision, self.max_seeds if self.precision else None]
        return {
            "kind": "threshold",
            "command": "tailback threshold",
            "digest": hashlib.sha256(json.dumps(asked).encode()).hexdigest(),
            "scenario": self.ends.scenario.to_dict(),
            "columns": [self.key],
            "axes": [f"{self.ends.axes[0].text}, where {self.quantity} = {target:g}"],
            "seeds": list(self.ends.seeds),
            "until": None,
        }

    def value(self, index: int) -> Any:
        """A value of the setting."""
        return self.crossing.span.value(index)

    def run(self, ledger: Ledger, runner: Runner, code: tuple[ClassLocation, ...]) -> None:
        """Execute the runs that the search requires and `ledger` does not have."""
        self._search(ledger, runner, code)
        while self._needs_seeds():
            self.ends = replace(self.ends, seeds=tuple(range(1, 2 * len(self.ends.seeds) + 1)))
            self.crossing.known.clear()
            ledger.restart(self.plan)
            self._search(ledger, runner, code)

    def _needs_seeds(self) -> bool:
        crossing, seeds = self.crossing, len(self.ends.seeds)
        if self.precision is None or not self.is_random or crossing.outside or 2 * seeds > self.max_seeds:
            return False
        found = crossing.known[crossing.answer]
        return found.high - found.low > 2 * self.precision

    def _search(self, ledger: Ledger, runner: Runner, code: tuple[ClassLocation, ...]) -> None:
        while due := self.crossing.following():
            planned = {index: self._planned(index) for index in due}
            for point in planned.values():
                ledger.add_point(point)
            tasks = [
                Task(key, seed, Simulated(point.text, code))
                for point in planned.values()
                for seed, key in point.runs
                if not ledger.has(key)
            ]
            try:
                runner.run(tasks)
            except RunFailed as failure:
                raise StudyError(self._failure(planned, failure)) from None
            for index, point in planned.items():
                self.crossing.known[index] = self._mean(ledger, index, point)

    @property
    def problem(self) -> str:
        """Why the answer is missing or not unique; empty if neither."""
        crossing = self.crossing
        parts = []
        if crossing.outside is not None:
            low, high = (self._measured(index) for index in (0, len(crossing.span) - 1))
            side = "below" if crossing.outside == "below" else "above"
            parts.append(f"{self.quantity} reaches {crossing.target:g} {side} the range, if at all: {low}, {high}")
        if (pair := crossing.reversal) is not None:
            first, second = map(self._measured, pair)
            unique = "" if crossing.outside else "; the answer is the last crossing that was found"
            parts.append(f"{self.quantity} is not monotonic: {first}, but {second}{unique}")
        return "; ".join(parts)

    def _planned(self, index: int) -> PlannedPoint:
        value = self.value(index)
        # Without randomness all seeds give the same run.
        seeds = self.ends.seeds if self.is_random else self.ends.seeds[:1]
        point = grid(self.ends.scenario, {self.key: [value]}, seeds).point(0)
        return PlannedPoint(point.labels, point.text, point.normalised(), list(zip(seeds, point.keys(seeds), strict=True)))

    def _mean(self, ledger: Ledger, index: int, point: PlannedPoint) -> Bounds:
        values = []
        for _, key in point.runs:
            packed = {name: ledger.table(key, name) for name in self.measured.tables}
            values.append(self.measured.value({name: unpack(table) for name, table in packed.items() if table is not None}))
        if not all(map(math.isfinite, values)):
            raise ParameterError(
                f"`{self.quantity}` has no value at `{self.key}` = {self.value(index)}; expected a number at each value"
            )
        if len(values) == 1:
            return Bounds(values[0], values[0], values[0])
        interval = Interval.of(values, within=self.measured.range)
        return Bounds(interval.mean, interval.low, interval.high)

    def _measured(self, index: int) -> str:
        """The mean at a value, with its interval, as text."""
        found = self.crossing.known[index]
        ends = f" ({found.low:.5g} to {found.high:.5g})" if found.low < found.high else ""
        return f"{found.mean:.5g}{ends} at {self.value(index)}"

    def _failure(self, planned: Mapping[int, PlannedPoint], failure: RunFailed) -> str:
        where = {key: (index, seed) for index, point in planned.items() for seed, key in point.runs}
        index, seed = where[failure.result.content_hash]
        return f"the run with {self.key} = {self.value(index)} and seed {seed} failed: {failure.result.error}"


def _target(measured: Quantity, given: Any) -> float:
    """The target in the unit of the quantity."""
    if isinstance(given, (int, float)) and not isinstance(given, bool) and math.isfinite(given):
        least, most = measured.range
        if not least <= given <= most:
            hint = f"; write `{given:g} %`" if most == 1 and 1 < given <= 100 else ""
            raise ParameterError(f"the target of `{measured.name}` is {given:g}; expected {least:g} to {most:g}{hint}")
        return float(given)
    number = _core.in_column_units(given) if isinstance(given, str) else None
    column = "" if measured.column is None else measured.column.column
    if number is not None and number[1] == "percent" and not column.endswith(("_s", "_bps", "_bytes", "_packets", "_units")):
        return number[0] / 100
    if number is not None and column.endswith(f"_{number[1]}"):
        return number[0]
    raise ParameterError(
        f"the target of `{measured.name}` is {short(given)}; expected a number in the unit of the quantity, or text with its unit"
    )
