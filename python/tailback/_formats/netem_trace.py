"""Traces of netem-trace (https://docs.rs/netem-trace): JSON with bandwidth, delay or loss over time."""

from __future__ import annotations

import json
import os
import re
from bisect import bisect_right
from collections.abc import Callable
from fractions import Fraction
from itertools import accumulate
from pathlib import Path
from typing import Any

from tailback._arguments import arguments_checked
from tailback.errors import ParameterError

__all__ = ["read_netem_trace"]

# Seconds, as in the crate humantime; bit/s.
_TIMES = {
    **dict.fromkeys(("ns", "nsec"), Fraction(1, 10**9)),
    **dict.fromkeys(("us", "usec", "µs"), Fraction(1, 10**6)),
    **dict.fromkeys(("ms", "msec"), Fraction(1, 10**3)),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), Fraction(1)),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), Fraction(60)),
    **dict.fromkeys(("h", "hr", "hour", "hours"), Fraction(3600)),
}
_RATES = {"bps": 1, "kbps": 10**3, "Kbps": 10**3, "Mbps": 10**6, "Gbps": 10**9, "Tbps": 10**12}

# Maximum number of intervals, as a file may nest repetitions.
_MAX_INTERVALS = 4_000_000
_MAX_DEPTH = 64

# Duration in seconds, and value.
_Interval = tuple[Fraction, Fraction]


@arguments_checked
def read_netem_trace(
    rate: str | os.PathLike[str],
    *,
    delay: str | os.PathLike[str] | None = None,
    loss: str | os.PathLike[str] | None = None,
) -> dict[str, Any]:
    """Read traces in the JSON format of netem-trace, as the ``rate`` of a link.

    Parameters
    ----------
    rate : path
        A bandwidth trace: ``StaticBwConfig``, ``TraceBwConfig``, or ``RepeatedBwPatternConfig`` of these.
    delay, loss : path, optional
        Traces of the delay and of the loss probability of the same link. The shortest traces repeat until the end of the longest,
        and all of them after it.

    Returns
    -------
    dict
        ``{"table": {"at": [...], "rate": [...], ...}}``.

    Raises
    ------
    ParameterError
        A file cannot be read, is not such a trace, or contains a random model or losses that depend on earlier losses.

    Examples
    --------
    >>> import pathlib, tempfile, tailback as tb
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     file = pathlib.Path(directory, "bw.json")
    ...     _ = file.write_text('{"TraceBwConfig": {"pattern": [["20ms", ["12Mbps", "6Mbps"]]]}}')
    ...     rate = tb.read_netem_trace(file)
    >>> rate
    {'table': {'at': ['0 ps', '20000000000 ps'], 'rate': ['12000000 bps', '6000000 bps']}}
    >>> scenario = tb.dumbbell(rate=rate, delay="10 ms", buffer="20 packets", duration="2 s")
    """
    columns = {"rate": _read(rate, "Bw", "bw", _bandwidth)}
    if delay is not None:
        columns["delay"] = _read(delay, "Delay", "delay", _time)
    if loss is not None:
        columns["loss"] = _read(loss, "Loss", "loss", _probability)
    ends = {name: list(accumulate(length for length, _ in intervals)) for name, intervals in columns.items()}
    whole = max(times[-1] for times in ends.values())
    begins = {Fraction(0)}
    for times in ends.values():
        passes = -(-whole // times[-1])
        if passes * len(times) > _MAX_INTERVALS:
            raise ParameterError(
                f"the traces have more than {_MAX_INTERVALS:,} intervals, as the shortest repeats {passes:,} times; expected "
                "traces of similar durations"
            )
        begins |= {end + number * times[-1] for number in range(passes) for end in times if end + number * times[-1] < whole}
    at = sorted(begins)
    # The last row of a table lasts as long as the one before it.
    if len(at) < 2 or whole - at[-1] != at[-1] - at[-2]:
        at.append((at[-1] + whole) / 2)
    formats: dict[str, Callable[[Fraction], Any]] = {
        "rate": lambda value: f"{round(value)} bps",
        "delay": lambda value: f"{round(value * 10**12)} ps",
        "loss": float,
    }
    table: dict[str, list[Any]] = {"at": [f"{round(time * 10**12)} ps" for time in at]}
    for name, intervals in columns.items():
        values = [intervals[bisect_right(ends[name], time % ends[name][-1])][1] for time in at]
        table[name] = [formats[name](value) for value in values]
    return {"table": table}


def _read(path: str | os.PathLike[str], kind: str, key: str, value: Callable[[Any], Fraction]) -> list[_Interval]:
    """The intervals of a file."""
    try:
        found = _intervals(json.loads(Path(path).read_text()), kind, key, value)
    except (OSError, ValueError) as error:
        raise ParameterError(f"`{path}` is not a {key} trace of netem-trace: {error}") from None
    except RecursionError:
        raise ParameterError(f"`{path}` is not a {key} trace of netem-trace: models are nested too deeply") from None
    found = [(length, value) for length, value in found if length > 0]
    if not found:
        raise ParameterError(f"`{path}` is not a {key} trace of netem-trace: it has no duration")
    return found


def _intervals(model: Any, kind: str, key: str, value: Callable[[Any], Fraction], depth: int = 0) -> list[_Interval]:
    """The intervals of a model. Raises `ValueError`."""
    if depth > _MAX_DEPTH:
        raise ValueError(f"models are nested more than {_MAX_DEPTH} deep")
    found: list[_Interval] = []
    if not isinstance(model, dict) or len(model) != 1:
        raise ValueError(f"a model is {model!r:.80}; expected a table such as {{'Static{kind}Config': {{...}}}}")
    [(name, fields)] = model.items()
    if name == f"Static{kind}Config":
        found.append((_time(_field(fields, "duration")), value(_field(fields, key))))
    elif name == f"Repeated{kind}PatternConfig":
        # A count of 0 repeats for ever, as tables do.
        count = max(1, _integer(_field(fields, "count"), "count"))
        for inner in _list(_field(fields, "pattern"), "pattern"):
            found += _intervals(inner, kind, key, value, depth + 1)
        if count * len(found) > _MAX_INTERVALS:
            raise ValueError(f"it has more than {_MAX_INTERVALS:,} intervals, with a `count` of {count:,}")
        found *= count if found else 1
    elif name == f"Trace{kind}Config":
        for row in _list(_field(fields, "pattern"), "pattern"):
            if not isinstance(row, list) or len(row) != 2:
                raise ValueError(f"`pattern` has {row!r:.80}; expected pairs of a duration and a list of values")
            length = _time(row[0])
            found += [(length, value(each)) for each in _list(row[1], "pattern")]
            if len(found) > _MAX_INTERVALS:
                raise ValueError(f"it has more than {_MAX_INTERVALS:,} intervals")
    else:
        known = ", ".join(f"`{form.format(kind)}`" for form in ("Static{}Config", "Trace{}Config", "Repeated{}PatternConfig"))
        raise ValueError(f"`{name}` is not supported; expected {known}")
    return found


def _field(fields: Any, name: str) -> Any:
    if not isinstance(fields, dict) or fields.get(name) is None:
        raise ValueError(f"`{name}` is missing")
    return fields[name]


def _integer(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**64:
        raise ValueError(f"`{name}` is {value!r:.80}; expected a whole number from 0 to 2^64 - 1")
    return value


def _list(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"`{name}` is {value!r:.80}; expected a list")
    return value


def _time(written: Any) -> Fraction:
    if isinstance(written, dict):
        secs, nanos = (_integer(_field(written, name), name) for name in ("secs", "nanos"))
        return Fraction(secs) + Fraction(nanos, 10**9)
    return _sum(written, _TIMES, "a duration such as `20ms`")


def _bandwidth(written: Any) -> Fraction:
    if isinstance(written, dict):
        gbps, bps = (_integer(_field(written, name), name) for name in ("gbps", "bps"))
        return Fraction(gbps * 10**9 + bps)
    return _sum(written, {unit: Fraction(size) for unit, size in _RATES.items()}, "a bandwidth such as `12Mbps`")


def _probability(written: Any) -> Fraction:
    """A loss pattern: the probability of a loss, and those after one, two, ... losses in a row."""
    numbers = _list(written, "loss")
    for chance in numbers:
        if isinstance(chance, bool) or not isinstance(chance, int | float) or not 0 <= chance <= 1:
            raise ValueError(f"`loss` has {chance!r:.80}; expected probabilities from 0 to 1")
    chances = [Fraction(str(chance)) for chance in numbers] or [Fraction(0)]
    if any(chance != chances[0] for chance in chances):
        raise ValueError("a loss depends on earlier losses, which tables do not have")
    return chances[0]


def _sum(written: Any, units: dict[str, Fraction], expected: str) -> Fraction:
    """A text of numbers with units, which are added: `1s 500ms`."""
    parts = re.findall(r"(\d+(?:\.\d+)?)\s*([A-Za-zµ]+)\s*", written) if isinstance(written, str) else []
    known = all(unit in units for _, unit in parts)
    if not parts or not known or not re.fullmatch(r"(\d+(\.\d+)?\s*[A-Za-zµ]+\s*)+", written):
        raise ValueError(f"{written!r:.80} is not {expected}")
    return sum((Fraction(number) * units[unit] for number, unit in parts), Fraction(0))
