"""`packetdrill`: replays a script with a simulated sender and compares line by line."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from tailback import _core, _store
from tailback._arguments import arguments_checked
from tailback._html import notebook
from tailback._packetdrill.conditions import Unavailable, holds, names
from tailback._packetdrill.script import Assertion, Incoming, Outgoing, Script, Statement, Unused, Write, read_script
from tailback._packetdrill.sender import ScriptedSender, Sent
from tailback._tables.summary import TextTable, listed, tabulated
from tailback._tables.table import Table
from tailback.errors import ParameterError

if TYPE_CHECKING:
    from tailback._types import Tcp

__all__ = ["Replay", "packetdrill"]

AGREES, DIFFERS, NOT_COMPARED = "agrees", "differs", "not compared"


@dataclass(frozen=True)
class _Row:
    line: int
    time_s: float
    statement: str
    verdict: str
    measured: str


@arguments_checked
class Replay:
    """The comparison of a packetdrill script with a simulated sender.

    Attributes
    ----------
    file : str
        The script.
    preset : str
        TCP preset of the sender.
    agree, differ : int
        Number of expected segments and assertions with the same and with another result. Segments that the script does not
        expect count as differences.
    settings : list of str
        Settings that the handshake of the script determines.
    """

    def __init__(self, file: str, preset: str, settings: list[str], rows: list[_Row]) -> None:
        self.file, self.preset, self.settings = file, preset, settings
        verdicts = Counter(row.verdict for row in rows)
        self.agree, self.differ = verdicts[AGREES], verdicts[DIFFERS]
        self._rows = rows
        columns: dict[str, list[Any]] = {
            "line": [row.line for row in rows],
            "time_s": [float(row.time_s) for row in rows],
            "statement": [row.statement for row in rows],
            "verdict": [row.verdict for row in rows],
            "measured": [row.measured for row in rows],
        }
        self.lines = Table._of("lines", columns)
        self.provenance = {
            "file": file,
            "version": _core.__version__,
            "preset": preset,
            "agree": self.agree,
            "differ": self.differ,
        }

    @property
    def tables(self) -> dict[str, Table]:
        """``lines``: line, time, statement, verdict (``agrees``, ``differs``, ``not compared``), and what the sender did."""
        return {"lines": self.lines}

    def save(self, directory: str | os.PathLike[str]) -> None:
        """Write the table as Parquet, and ``provenance.json``, to a new directory, atomically.

        Raises
        ------
        OutputError
            The directory exists or cannot be written.
        """
        with _store.staged(directory) as folder:
            _store.write(self.tables, self.provenance, folder)

    def listings(self) -> Iterator[TextTable]:
        """The lines that differ."""
        rows = [row for row in self._rows if row.verdict == DIFFERS]
        if rows:
            texts = [[str(row.line), row.statement, row.measured] for row in rows]
            yield TextTable("differences", ["line", "script", self.preset], texts, 0)

    def notes(self) -> Iterator[str]:
        """What was derived from the script, and what was not compared, by reason."""
        yield f"from the handshake: {', '.join(self.settings)}"
        unused = sorted((row.measured, row.line) for row in self._rows if row.verdict == NOT_COMPARED and row.measured)
        for why, rows in groupby(unused, key=lambda row: row[0]):
            lines = [str(line) for _, line in rows]
            shown = ", ".join(lines[:6]) + (f" and {len(lines) - 6} more" if len(lines) > 6 else "")
            yield f"not compared, line{'s' if len(lines) > 1 else ''} {shown}: {why}"

    def summary(self) -> str:
        """The differences and notes as text."""
        return listed(str(self), self.listings(), self.notes())

    def __str__(self) -> str:
        if not self.agree + self.differ:
            return (
                f"{self.file}: nothing was compared with {self.preset}; expected a data segment (`>`) or an assertion (`%{{ }}%`)"
            )
        return f"{self.file}: {self.agree} agree, {self.differ} differ from {self.preset}"

    def __repr__(self) -> str:
        return f"<Replay {self}>"

    def _repr_html_(self) -> str:
        return notebook(str(self), tables=tabulated(self.listings()), texts=self.notes())


@arguments_checked
def packetdrill(
    path: str | os.PathLike[str], *, preset: str | None = None, tcp: Tcp | None = None, tolerance: str | None = None
) -> Replay:
    """Replay a packetdrill script with a simulated sender, and compare what it sends and its state line by line.

    The script gives the writes of the application and the acknowledgements of the peer; expected data segments and assertions
    of ``tcpi_snd_cwnd``, ``tcpi_snd_ssthresh``, ``tcpi_ca_state``, ``tcpi_unacked``, ``tcpi_sacked``, ``tcpi_total_retrans``,
    ``tcpi_rto`` and ``tcpi_rtt`` are compared. Segment size, SACK and ECN follow from the handshake. Everything else (the
    receiver, closing, shell commands) is listed as not compared. Each segment is sent alone: an expected segment of several
    times the segment size stands for as many, within packetdrill's tolerance of 4 ms or ``--tolerance_usecs``.

    Timestamps are not read: an acknowledgement answers the last transmission, at least a minimum RTT ago, of the segments that
    it newly reports. A write that is
    not a multiple of the segment size ends with a short segment.

    Parameters
    ----------
    path : path
        The script, of at most 4 MiB.
    preset : str, optional
        TCP preset. Default: ``linux/`` and the congestion control that the script sets, or else ``linux/cubic``.
    tcp : mapping, optional
        Further TCP settings, as in a scenario.
    tolerance : str, optional
        Permitted difference of a time, up to 60 s, such as ``10 ms``. Default: ``--tolerance_usecs`` of the script, or 4 ms.

    Returns
    -------
    Replay
        The verdict of every line.

    Raises
    ------
    ParameterError
        The file, a statement or the tolerance cannot be read; the message gives the line. Or the controller is user
        code, or requires prices, counted marks or one-way delays.
    ScenarioError
        The preset or a setting is not valid.

    Examples
    --------
    >>> import pathlib, tempfile, tailback as tb
    >>> script = '''
    ... 0   < S 0:0(0) win 32792 <mss 1000,sackOK>
    ... +0  > S. 0:0(0) ack 1 <mss 1460,sackOK>
    ... +.1 < . 1:1(0) ack 1 win 32792
    ... +0  write(4, ..., 30000) = 30000
    ... +0  > P. 1:10001(10000) ack 1
    ... +.1 < . 1:1(0) ack 2001 win 32792
    ... +0  > . 10001:14001(4000) ack 1
    ... +0  %{ assert tcpi_snd_cwnd == 12 }%
    ... '''
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     file = pathlib.Path(directory, "slow_start.pkt")
    ...     file.write_text(script) > 0
    ...     replay = tb.packetdrill(file, preset="linux/cubic")
    True
    >>> replay.agree, replay.differ
    (3, 0)
    """
    script = read_script(Path(path))
    if tolerance is not None:
        script.tolerance_s = _tolerance(tolerance)
    preset = preset or f"linux/{script.congestion or 'cubic'}"
    settings = _settings(script)
    try:
        sender = ScriptedSender(script, cast("Tcp", {"preset": preset, **settings, **(tcp or {})}))
    except ValueError as error:
        if isinstance(error, ParameterError) or type(error) is not ValueError:
            raise
        raise ParameterError(f"`{preset}`: {error}") from None
    rows = _play(script, sender)
    rows += _compared(script, sender)
    rows.sort(key=lambda row: row.line)
    return Replay(os.fspath(path), preset, [f"{name} = {value}" for name, value in settings.items()], rows)


def _tolerance(text: str) -> float:
    found = _core.in_column_units(text)
    if found is None or found[1] != "s" or not 0 <= found[0] <= 60:
        raise ParameterError(f"`tolerance` is {text!r}; expected a time from 0 to 60 s, such as `10 ms`")
    return found[0]


def _settings(script: Script) -> Tcp:
    settings: Tcp = {"mss": f"{script.mss} B", "handshake": True, "ecn": script.ecn}
    # Without SACK, kernels repair as NewReno.
    return settings if script.sack else {**settings, "recovery": "newreno"}


def _play(script: Script, sender: ScriptedSender) -> list[_Row]:
    """Drives the sender by the events of the script. Returns the rows of all statements but the expected segments."""
    rows = []
    is_open = False
    awaited: Counter[tuple[int, int]] = Counter()

    def note(statement: Statement, verdict: str, measured: str) -> None:
        rows.append(_row(statement, verdict, measured))

    for statement in script.statements:
        sender.advance(statement.time_s)
        match statement:
            case Outgoing() if statement.is_syn and not is_open:
                is_open = True
                sender.open()
                note(statement, NOT_COMPARED, "")
            case Outgoing():
                awaited.update(sender.pieces(statement.start, statement.end) if _is_read(statement, script) else [])
                sender.wait(awaited, _latest(statement) + script.tolerance_s)
            case Incoming() if "R" in statement.flags:
                note(statement, NOT_COMPARED, "a reset has no effect here")
            case Incoming() if statement.ack is None:
                note(statement, NOT_COMPARED, "")
            case Incoming():
                note(statement, NOT_COMPARED, sender.acknowledge(statement))
            case Write():
                sender.write(statement.size)
                note(statement, NOT_COMPARED, "")
            case Assertion():
                note(statement, *_asserted(statement, sender.info()))
            case Unused(why=why):
                note(statement, NOT_COMPARED, why)
    return rows


def _asserted(assertion: Assertion, info: Mapping[str, int]) -> tuple[str, str]:
    try:
        does_hold = holds(assertion.condition, info)
    except Unavailable as error:
        return NOT_COMPARED, str(error)
    # Python does not evaluate the rest of a condition that is decided.
    measured = ", ".join(f"{name} = {info[name]}" for name in names(assertion.condition) if name in info)
    return (AGREES if does_hold else DIFFERS), measured


def _compared(script: Script, sender: ScriptedSender) -> Iterator[_Row]:
    """The rows of the expected segments, and of sent segments that are not expected."""
    expected: list[tuple[Outgoing, tuple[int, int]]] = []
    for statement in script.statements:
        if not isinstance(statement, Outgoing) or statement.is_syn:
            continue
        pieces = sender.pieces(statement.start, statement.end) if _is_read(statement, script) else []
        expected += [(statement, piece) for piece in pieces]
        unread = script.unread_write
        if statement.start == statement.end:
            yield _row(statement, NOT_COMPARED, "segments without data are not sent here")
        elif unread is not None and unread.line < statement.line:
            yield _row(statement, NOT_COMPARED, f"the data of line {unread.line}, which are not read, may be part of it")
        elif not pieces:
            yield _row(statement, DIFFERS, "contains data that nothing has written")
    if not expected:
        return
    sent = sender.sent
    matcher = SequenceMatcher(None, [piece for _, piece in expected], [(one.start, one.end) for one in sent], autojunk=False)
    found = {block.a + step: block.b + step for block in matcher.get_matching_blocks() for step in range(block.size)}
    for _, group in groupby(enumerate(expected), key=lambda item: id(item[1][0])):
        members = list(group)
        statement = members[0][1][0]
        yield _verdict(statement, [sent[found[place]] if place in found else None for place, _ in members], script, sender.now_s)
    matched = set(found.values())
    # packetdrill does not read what is sent behind the last segment that it awaits.
    if len(expected) - 1 in found:
        read = sent[: found[len(expected) - 1]]
    else:
        last = max(_latest(statement) for statement, _ in expected) + script.tolerance_s
        read = [one for one in sent if one.time_s <= last]
    for place, one in enumerate(read):
        if place not in matched and not (script.unread_write and script.unread_write.time_s <= one.time_s):
            causes = (statement for statement in script.statements if isinstance(statement, Incoming | Write))
            cause = max((cause for cause in causes if cause.time_s <= one.time_s), key=lambda cause: cause.line)
            what = f"sends {one.start}:{one.end}({one.end - one.start}) at {one.time_s:.6g} s"
            yield _Row(cause.line, one.time_s, "no such segment", DIFFERS, what)


def _is_read(statement: Outgoing, script: Script) -> bool:
    """Whether the segment has data, all of which the script describes."""
    unread = script.unread_write
    return statement.start < statement.end and (unread is None or statement.line < unread.line)


def _latest(statement: Outgoing) -> float:
    return statement.latest_s if math.isfinite(statement.latest_s) else statement.time_s


def _row(statement: Statement, verdict: str, measured: str) -> _Row:
    return _Row(statement.line, statement.time_s, statement.text, verdict, measured)


def _verdict(statement: Outgoing, sent: list[Sent | None], script: Script, end_s: float) -> _Row:
    """The verdict of an expected segment, of which these parts were sent before the end of the script."""
    parts = [part for part in sent if part is not None]
    if not parts:
        is_last = _latest(statement) + script.tolerance_s >= end_s
        return _row(statement, DIFFERS, f"not sent until {end_s:.6g} s, where the script ends" if is_last else "not sent")
    first, last = min(part.time_s for part in parts), max(part.time_s for part in parts)
    measured = f"sent at {first:.6g} s" if first == last else f"sent from {first:.6g} s to {last:.6g} s"
    if len(parts) < len(sent):
        return _row(statement, DIFFERS, f"{measured}, but {len(sent) - len(parts)} of {len(sent)} segments not")
    if first < statement.time_s - script.tolerance_s or last > statement.latest_s + script.tolerance_s:
        return _row(statement, DIFFERS, f"{measured} instead of {statement.time_s:.6g} s")
    reports = any(part.reports_reduction for part in parts)
    if script.ecn and reports != ("W" in statement.flags):
        return _row(statement, DIFFERS, f"{measured}, with{'' if reports else 'out'} CWR")
    return _row(statement, AGREES, measured)
