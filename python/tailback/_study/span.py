"""The values between two ends that a search may choose: numbers of three significant digits, in the units of the ends.

Three digits are finer than the interval of any simulated threshold, and keep the answer readable. Counts, sizes and rates stay
whole, because a scenario rejects half a packet.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

from tailback import _core
from tailback._scenario.description import short
from tailback.errors import ParameterError

__all__ = ["Span", "parse", "span"]

_EXPECTED = 'expected two numbers, or two quantities with units of one kind, such as ("1 packet", "2000 packets")'

# Units for values between ends of different units.
_UNITS = {
    "s": {"s": "1", "ms": "1e-3", "us": "1e-6", "ns": "1e-9"},
    "bps": {"Gbps": "1e9", "Mbps": "1e6", "kbps": "1e3", "bps": "1"},
    "bytes": {"GB": "1e9", "MB": "1e6", "kB": "1e3", "B": "1"},
}

# The smallest step between two values, by the unit of columns; the engine's time is in whole picoseconds.
_STEPS = {unit: Decimal(1) for unit in ("packets", "cells", "bytes", "bps")} | {"s": Decimal("1e-12")}


@dataclass(frozen=True)
class End:
    """One end: the value as given, its number in the unit of columns, that unit, and the own unit's word and size."""

    given: Any
    number: Decimal
    kind: str
    unit: str
    size: Decimal


@dataclass(frozen=True)
class Span:
    """Ascending values from `low` to `high`."""

    low: End
    high: End

    def __len__(self) -> int:
        return len(self.numbers)

    @cached_property
    def numbers(self) -> list[Decimal]:
        """All values, in the unit of columns."""
        low, high, step = self.low.number, self.high.number, self._step
        return [low, *(number for number in _rounded(low, high, step) if low < number < high), high]

    def value(self, index: int) -> Any:
        """A value as written in a scenario; the ends as given."""
        if index in (0, len(self) - 1):
            return (self.low if index == 0 else self.high).given
        number = self.numbers[index]
        if not self.high.kind:
            return int(number) if self._step else float(number)
        unit, size = self._unit(number)
        return f"{(number / size).normalize():f} {unit}"

    def middle(self, low: int, high: int) -> int:
        """An index between two others that are not neighbours: the geometric mean of their values if these are above 0."""
        if self.numbers[low] <= 0:
            return (low + high) // 2
        mean = (self.numbers[low] * self.numbers[high]).sqrt()
        return min(max(bisect_left(self.numbers, mean), low + 1), high - 1)

    def _unit(self, number: Decimal) -> tuple[str, Decimal]:
        """The unit in which a number is written, and its size: the ends' own, or the largest one that it reaches."""
        if self.low.size == self.high.size:
            return self.high.unit, self.high.size
        units = {word: Decimal(size) for word, size in _UNITS[self.high.kind].items()}
        return next(((word, size) for word, size in units.items() if number >= size), (self.low.unit, self.low.size))

    @property
    def _step(self) -> Decimal | None:
        """The smallest step; None if values are continuous."""
        whole = isinstance(self.low.given, int) and isinstance(self.high.given, int)
        return Decimal(1) if whole else _STEPS.get(self.high.kind)


def span(key: str, ends: Any) -> Span:
    """The values between two ends, for messages of the setting `key`.

    Raises
    ------
    ParameterError
        The ends are not two quantities of one kind, or the first is not below the second.
    """
    if isinstance(ends, (str, bytes)) or not hasattr(ends, "__len__") or len(ends) != 2:
        raise ParameterError(f"`{key}` has the range {short(ends)}; {_EXPECTED}")
    low, high = (_end(key, given) for given in ends)
    if low.kind != high.kind:
        raise ParameterError(f"`{key}` has the range `{low.given}` to `{high.given}`, of two kinds; {_EXPECTED}")
    if not low.number < high.number:
        raise ParameterError(f"`{key}` has the range `{low.given}` to `{high.given}`; expected a first value below the second")
    return Span(low, high)


def parse(text: str) -> dict[str, tuple[Any, Any]]:
    """Parse the text of the command line.

    Raises
    ------
    ParameterError
        The text is not ``PATH=LOW..HIGH``.

    Examples
    --------
    >>> from tailback._study.span import parse
    >>> parse("links.a.delay=1 ms..50 ms"), parse("flows.web.count=1..100"), parse("links.a.rate=1..9 Mbps")
    ({'links.a.delay': ('1 ms', '50 ms')}, {'flows.web.count': (1, 100)}, {'links.a.rate': ('1 Mbps', '9 Mbps')})
    """
    key, equals, values = (part.strip() for part in text.partition("="))
    low, dots, high = (part.strip() for part in values.partition(".."))
    if not (key and equals and low and dots and high):
        raise ParameterError(
            f"`{text}` is not a range; expected PATH=LOW..HIGH, such as `topology.dumbbell.queue.buffer=1 packet..2000 packets`"
        )
    ends = [_value(low), _value(high)]
    unit = re.fullmatch(r"[0-9.eE+-]+?\s*([^\d\s.].*)", high)
    if not isinstance(ends[0], str) and unit is not None:
        ends[0] = f"{low} {unit[1]}"
    return {key: (ends[0], ends[1])}


def _value(word: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word


def _end(key: str, given: Any) -> End:
    if isinstance(given, (int, float)) and not isinstance(given, bool):
        number = Decimal(str(given))
        if number.is_finite():
            return End(given, number, "", "", Decimal(1))
    match = re.fullmatch(r"([0-9.eE+-]+?)\s*([^\d\s.].*)", given.strip()) if isinstance(given, str) else None
    size = None if match is None else _core.in_column_units(f"1 {match[2]}")
    if match is None or size is None or _core.in_column_units(given) is None:
        raise ParameterError(f"`{key}` has the value {short(given)} in its range; {_EXPECTED}")
    unit_size = Decimal(str(size[0]))
    return End(given, Decimal(match[1]) * unit_size, size[1], match[2], unit_size)


def _rounded(low: Decimal, high: Decimal, step: Decimal | None) -> Iterator[Decimal]:
    """Multiples of `step` with three significant digits; evenly spaced numbers where 0 leaves no smallest digit."""
    if low < 0 or (low == 0 and step is None):
        even = _digit(max(abs(low), abs(high)), 4)
        number = (low // even) * even
        while number < high:
            yield number
            number += even
        return
    number = max(low, step or low)
    while number < high:
        grain = max(_digit(number, 3), step or Decimal(0))
        number = (number // grain) * grain
        yield number
        number += grain


def _digit(number: Decimal, digits: int) -> Decimal:
    """The size of the last of the significant digits of a number."""
    return Decimal(1).scaleb(number.adjusted() - digits + 1)
