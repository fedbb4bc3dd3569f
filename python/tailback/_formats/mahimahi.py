"""Mahimahi traces: files with one line per delivery opportunity of 1500 bytes, which gives its time in milliseconds."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from math import ceil, lcm
from pathlib import Path

from tailback import _store
from tailback._arguments import arguments_checked
from tailback._core import in_column_units
from tailback._formats.format import Format, RecordedRun, Writer
from tailback.errors import ParameterError, UnknownName

__all__ = ["FORMAT", "write", "write_mahimahi"]

OPPORTUNITY_BYTES = 1500
# An opportunity of mm-link has 4 bytes more, and each packet a TUN header of 4 bytes (commit ae477d4).
_HEADER_BYTES = 4
# Maximum size of a file that `rate = {trace = "FILE"}` accepts.
_MAX_BYTES = 32 << 20
_TOO_MUCH = f"the trace exceeds the maximum size of {_MAX_BYTES >> 20} MiB; expected lower rates or a shorter time"


@arguments_checked
def write_mahimahi(path: str | os.PathLike[str], rates: Sequence[tuple[str, str]]) -> None:
    """Write a Mahimahi trace of a link with a piecewise constant rate, for `mm-link` or for a link of a scenario.

    A trace repeats after its last opportunity, so it cannot end with an outage: put the outage first.

    Parameters
    ----------
    path : str or PathLike
        File to write; one that exists is overwritten.
    rates : list of (str, str)
        Rates and their durations, ``[("10 Mbps", "5 s"), ("0 bps", "1 s"), ("2.5 Mbps", "5 s")]``.

    Raises
    ------
    ParameterError
        A rate or duration is not valid, the last one is an outage or too short for one opportunity, all rates are 0, or the
        trace exceeds the maximum file size.
    OutputError
        The file cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile, tailback as tb
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     file = pathlib.Path(directory, "link.trace")
    ...     tb.write_mahimahi(file, [("12 Mbps", "2 ms"), ("0 bps", "3 ms"), ("24 Mbps", "1 ms")])
    ...     file.read_text().split()
    ['1', '2', '6', '6']
    """
    with _store.replaced_file(path) as file:
        _write_opportunities(file, _rate_opportunities(rates))


def write(run: RecordedRun, file: Path, *, queue: str) -> None:
    """Write the departures of a queue; see `Run.write_mahimahi`."""
    departures = run.trace("departures")
    queues = [str(name) for name in run.tables["queues"]["queue"]]
    if queue not in queues:
        raise UnknownName("queue", queue, queues)
    rows = [row for row, name in enumerate(departures["queue"]) if name == queue]
    times, sizes = departures["time_s"], departures["bytes"]
    _write_opportunities(file, _departure_opportunities((times[row] for row in rows), (sizes[row] for row in rows)))


def _departure_opportunities(times_s: Iterable[float], sizes: Iterable[int]) -> Iterator[int]:
    """The milliseconds in which the total of departed bytes, with the header of each packet, completes another opportunity."""
    waiting, full = 0, OPPORTUNITY_BYTES + _HEADER_BYTES
    for time_s, size in zip(times_s, sizes, strict=True):
        waiting += size + _HEADER_BYTES
        for _ in range(waiting // full):
            yield max(1, ceil(time_s * 1000))
        waiting %= full


def _write_opportunities(file: Path, milliseconds: Iterable[int]) -> None:
    """Write one line per opportunity. Raises `ParameterError`, and writes nothing, if there are none."""
    lines, size = [], 0
    for millisecond in milliseconds:
        lines.append(f"{millisecond}\n")
        size += len(lines[-1])
        if size > _MAX_BYTES:
            raise ParameterError(_TOO_MUCH)
    if not lines:
        raise ParameterError(f"the trace has no opportunity to send {OPPORTUNITY_BYTES} bytes; expected at least one")
    file.write_text("".join(lines), encoding="ascii")


def _rate_opportunities(rates: Sequence[tuple[str, str]]) -> Iterator[int]:
    """One opportunity whenever the bits since the start complete another 1500 bytes, at the end of that millisecond."""
    begin, bits, opportunity = Fraction(0), Fraction(0), 8 * OPPORTUNITY_BYTES
    is_outage = is_left_out = False
    for entry in rates:
        if isinstance(entry, str) or len(entry) != 2:
            raise ParameterError(f'`rates` has {entry!r}; expected pairs, for example ("10 Mbps", "5 s")')
        rate, duration = _read(entry[0], "bps", "a rate such as `10 Mbps`"), _read(entry[1], "s", "a duration such as `5 s`")
        is_outage = rate == 0 < duration
        before, after = bits // opportunity, (bits + rate * duration) // opportunity
        is_left_out = before == after and duration > 0
        # Each line has at least two bytes.
        if 2 * after > _MAX_BYTES:
            raise ParameterError(_TOO_MUCH)
        if rate:
            # Opportunity n is at `offset + n * step` ms. Integer arithmetic is faster than fractions here.
            offset, step = 1000 * (begin - bits / rate), 1000 * Fraction(opportunity) / rate
            parts = lcm(offset.denominator, step.denominator)
            first, each = int(offset * parts), int(step * parts)
            yield from (max(1, -(-(first + each * number) // parts)) for number in range(before + 1, after + 1))
        begin, bits = begin + duration, bits + rate * duration
    if bits and is_outage:
        raise ParameterError("`rates` end with an outage, which a repeating trace cannot contain; expected the outage first")
    if bits and is_left_out:
        raise ParameterError(
            f"the last of `rates` sends less than one opportunity of {OPPORTUNITY_BYTES} bytes, which a repeating trace cannot "
            "contain; expected a longer duration, or this rate first"
        )


def _read(text: str, unit: str, expected: str) -> Fraction:
    read = in_column_units(text) if isinstance(text, str) else None
    if read is None or read[1] != unit:
        raise ParameterError(f"`{text}` in `rates`; expected {expected}")
        # The shortest decimal representation of the float is the number as written by the user.
    return Fraction(str(read[0]))


FORMAT = Format("mahimahi", writer=Writer(".trace", write))
