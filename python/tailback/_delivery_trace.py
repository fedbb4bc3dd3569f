"""When a link can send, as files of Mahimahi's have it: a line for each opportunity of 1500 bytes, with its millisecond."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from math import ceil, lcm
from pathlib import Path

from tailback._core import in_column_units
from tailback.errors import OutputError, ParameterError

__all__ = ["write_mahimahi"]

OPPORTUNITY_BYTES = 1500
# A file that `rate = {trace = "FILE"}` reads has no more than this.
_MOST_BYTES = 32 << 20
_TOO_MUCH = f"more opportunities than a file of {_MOST_BYTES >> 20} MiB has room for; expected lower rates or a shorter time"


def write_mahimahi(path: str | os.PathLike[str], rates: Sequence[tuple[str, str]]) -> None:
    """Write a trace of Mahimahi's for a link with these rates, one after another: `mm-link` reads it, and so does a link here.

    After its last opportunity a trace begins anew, so that it cannot end with an outage: begin with that instead.

    Parameters
    ----------
    path : str or PathLike
        File to write; one that exists is overwritten.
    rates : list of (str, str)
        Rates and how long each holds, ``[("10 Mbps", "5 s"), ("0 bps", "1 s"), ("2.5 Mbps", "5 s")]``.

    Raises
    ------
    ParameterError
        There are no such rates or durations, the last of them is an outage or too short for one opportunity, nothing can ever
        be sent, or more than a file is to have.
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
    write_opportunities(path, _of_rates(rates))


def of_departures(times_s: Iterable[float], sizes: Iterable[int]) -> Iterator[int]:
    """The milliseconds in which what was sent has filled one opportunity more."""
    waiting = 0
    for time_s, size in zip(times_s, sizes, strict=True):
        waiting += size
        for _ in range(waiting // OPPORTUNITY_BYTES):
            yield max(1, ceil(time_s * 1000))
        waiting %= OPPORTUNITY_BYTES


def write_opportunities(path: str | os.PathLike[str], milliseconds: Iterable[int]) -> None:
    """A line for each; nothing is written if there are none."""
    lines, size = [], 0
    for millisecond in milliseconds:
        lines.append(f"{millisecond}\n")
        size += len(lines[-1])
        if size > _MOST_BYTES:
            raise ParameterError(_TOO_MUCH)
    if not lines:
        raise ParameterError(f"no opportunity to send {OPPORTUNITY_BYTES} bytes; expected one at least")
    try:
        Path(path).write_text("".join(lines), encoding="ascii")
    except OSError as error:
        raise OutputError(f"nothing was written to `{path}`: {error.strerror}") from None


def _of_rates(rates: Sequence[tuple[str, str]]) -> Iterator[int]:
    """As soon as the bits since the beginning are those of one opportunity more, the millisecond that then ends is one."""
    begin, bits, opportunity = Fraction(0), Fraction(0), 8 * OPPORTUNITY_BYTES
    is_outage = is_left_out = False
    for entry in rates:
        if isinstance(entry, str) or len(entry) != 2:
            raise ParameterError(f'`rates` has {entry!r}; expected pairs such as ("10 Mbps", "5 s")')
        rate, duration = _read(entry[0], "bps", "a rate such as `10 Mbps`"), _read(entry[1], "s", "a duration such as `5 s`")
        is_outage = rate == 0 < duration
        before, after = bits // opportunity, (bits + rate * duration) // opportunity
        is_left_out = before == after and duration > 0
        # A line has two bytes at least.
        if 2 * after > _MOST_BYTES:
            raise ParameterError(_TOO_MUCH)
        if rate:
            # That of number n is at `offset + n * step` ms; in whole numbers, for there are many.
            offset, step = 1000 * (begin - bits / rate), 1000 * Fraction(opportunity) / rate
            parts = lcm(offset.denominator, step.denominator)
            first, each = int(offset * parts), int(step * parts)
            yield from (max(1, -(-(first + each * number) // parts)) for number in range(before + 1, after + 1))
        begin, bits = begin + duration, bits + rate * duration
    if bits and is_outage:
        raise ParameterError("`rates` end with an outage, which no trace can: it begins anew; expected the outage first")
    if bits and is_left_out:
        raise ParameterError(
            f"the last of `rates` sends less than one opportunity of {OPPORTUNITY_BYTES} bytes, so that no trace has it, for it"
            " begins anew after its last opportunity; expected one that lasts longer, or this one first"
        )


def _read(text: str, unit: str, expected: str) -> Fraction:
    read = in_column_units(text) if isinstance(text, str) else None
    if read is None or read[1] != unit:
        raise ParameterError(f"`{text}` in `rates`; expected {expected}")
    # A float has the digits that were written.
    return Fraction(str(read[0]))
