"""Reads a packetdrill script: the lines that concern a sender's window, loss recovery and ECN. Others are kept with the reason
why they are not used."""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass, field
from pathlib import Path

from tailback.errors import ParameterError, readable

__all__ = ["Assertion", "Incoming", "Outgoing", "Script", "Statement", "Unused", "Write", "read_script"]

# packetdrill's own default, in seconds.
_TOLERANCE_S = 0.004
# Bytes of the timestamp option, padded.
_TIMESTAMP_BYTES = 12
_MAX_BYTES = 4 << 20
_MAX_S = 86_400
_MAX_TOLERANCE_US = 60_000_000
# Segments of all writes together.
_MAX_SEGMENTS = 1_000_000
_MAX_SEQUENCE = (1 << 32) - 1
# RFC 7323 section 2.3.
_MAX_SCALE = 14


@dataclass(frozen=True)
class Statement:
    """A statement of a script.

    Attributes
    ----------
    line : int
        Its first line, from 1.
    time_s : float
        Its time, from the first statement.
    latest_s : float
        The same, or the end of a range of times; infinite for ``*``.
    text : str
        The statement without its time.
    """

    line: int
    time_s: float
    latest_s: float
    text: str


@dataclass(frozen=True)
class _Segment(Statement):
    flags: str
    start: int
    end: int
    ack: int | None

    @property
    def is_syn(self) -> bool:
        return "S" in self.flags


@dataclass(frozen=True)
class Incoming(_Segment):
    """A segment from the peer. `blocks`: SACK blocks, as byte ranges."""

    blocks: tuple[tuple[int, int], ...]
    window: int | None


@dataclass(frozen=True)
class Outgoing(_Segment):
    """A segment that the sender is expected to send."""


@dataclass(frozen=True)
class Write(Statement):
    """The application writes."""

    size: int


@dataclass(frozen=True)
class Assertion(Statement):
    """A statement about the state of the sender, of names such as ``tcpi_snd_cwnd``."""

    condition: ast.expr


@dataclass(frozen=True)
class Unused(Statement):
    """A statement without an effect here, and why."""

    why: str


@dataclass
class Script:
    """A script, and what its handshake and settings say of the connection.

    Attributes
    ----------
    statements : list of Statement
        All statements but the options, in order.
    tolerance_s : float
        Permitted difference of a time.
    mss : int
        Payload of a full segment in bytes.
    timestamps, sack, ecn : bool
        Options that the handshake negotiates.
    window_scale : int
        By which the windows of the peer are to be multiplied, after its SYN.
    congestion : str or None
        The congestion control that the script sets.
    unread_write : Statement or None
        The first write of an unknown number of bytes.
    """

    statements: list[Statement] = field(default_factory=list)
    tolerance_s: float = _TOLERANCE_S
    mss: int = 1460
    timestamps: bool = False
    sack: bool = False
    ecn: bool = False
    window_scale: int = 0
    congestion: str | None = None
    unread_write: Statement | None = None


_BLANK = re.compile(r"(?:\s+|//[^\n]*|\#[^\n]*|/\*.*?\*/)*", re.DOTALL)
_OPTION = re.compile(r"--(\w+)(?:=(\S+))?")
# A point that two others follow is the beginning of a range: `0...0.05`.
_NUMBER = r"\d+(?:\.(?!\.)\d*)?|\.\d+"
_TIME = re.compile(rf"\*|(?P<plus>\+)?(?P<time>{_NUMBER})(?:(?P<join>~|\.\.\.)(?P<plus2>\+)?(?P<end>{_NUMBER}))?")
_BLOCK = re.compile(r"%\{(.*?)\}%", re.DOTALL)
_COMMAND = re.compile(r"`([^`]*)`")
_PACKET = re.compile(r"([<>])([^\n]*)")
_CALL = re.compile(r"(\w+)\s*\(")
_RESULT = re.compile(r"[ \t]*=[ \t]*([^\n]*)")
_SEGMENT = re.compile(
    r"""\s*(?:\[[^\]]*\]\s*)?(?P<flags>[SFPRAEWUC.]+)(?P<ace>\d?)
    \s+(?P<start>\d+):(?P<end>\d+)\s*\((?P<length>\d+)\)
    (?:\s+ack\s+(?P<ack>\d+))?(?:\s+win\s+(?P<window>\d+))?(?:\s*<(?P<options>[^>]*)>)?\s*(?://.*|\#.*)?$""",
    re.VERBOSE,
)
_MSS = re.compile(r"\bmss\s+(\d+)")
_SCALE = re.compile(r"\bwscale\s+(\d+)")
_STAMP = re.compile(r"\bTS\s+val\s+(\d+)\s+ecr\s+(\d+)", re.IGNORECASE)
_SACK = re.compile(r"\bsack\s+((?:\d+:\d+\s*)+)")
_CONGESTION = re.compile(r"tcp_congestion_control\s*=\s*\"?(\w+)|TCP_CONGESTION\s*,\s*\[?\s*\"(\w+)\"")
# Calls that write, with the place of their last required argument. Their result is the number of bytes.
_WRITES = {"write": 2, "writev": 2, "send": 2, "sendto": 2, "sendmsg": 2, "sendfile": 3}
# Calls that may write to a connection an amount that a script does not give.
_UNREAD_WRITES = ("splice", "vmsplice", "tee", "sendmmsg", "io_submit")


def read_script(file: Path) -> Script:
    """Reads a script. Raises `ParameterError` with the line of what cannot be read."""
    try:
        with file.open("rb") as opened:
            data = opened.read(_MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise ParameterError(f"`{file}` cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(data) > _MAX_BYTES:
        raise ParameterError(f"{file}: exceeds the maximum size of a script of {_MAX_BYTES >> 20} MiB")
    return _Reader(str(file), data.decode(errors="replace")).read()


class _Reader:
    """The position in the text, and the time of the last statement."""

    def __init__(self, file: str, text: str) -> None:
        self.file, self.text, self.at = file, text, 0
        self.now = self.latest = 0.0
        self.script = Script()
        self._write_places: list[int] = []

    def read(self) -> Script:
        while (self._take(_BLANK), self.at < len(self.text))[1]:
            if option := self._take(_OPTION):
                self._option(*option.groups())
            elif command := self._take(_COMMAND):
                self._add(Unused, command[0], self._command(command[1]), self.at - len(command[0]))
            else:
                self._event()
        self._negotiate()
        return self.script

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return found

    def _line(self, at: int) -> int:
        return self.text.count("\n", 0, at) + 1

    def _refuse(self, what: str, at: int) -> ParameterError:
        shown = readable(self.text[at : at + 60].split("\n")[0])
        return ParameterError(f"{self.file}, line {self._line(at)}: {what}; found `{shown}`")

    def _number(self, digits: str, name: str, most: int, at: int, *, least: int = 0) -> int:
        """A number of a statement that begins at `at`, within its range."""
        # Longer ones are not within any range.
        value = int(digits[:25])
        if not least <= value <= most:
            raise self._refuse(
                f"{name} is {value if len(digits) <= 25 else digits[:25] + '...'}; expected {least} to {most:,}", at
            )
        return value

    def _option(self, name: str, value: str | None) -> None:
        if name == "tolerance_usecs" and value and value.isdecimal():
            at = self.at - len(value)
            self.script.tolerance_s = self._number(value, "`tolerance_usecs`", _MAX_TOLERANCE_US, at) / 1e6
        else:
            text = f"--{name}" + (f"={value}" if value else "")
            self._add(Unused, text, "an option of packetdrill that has no meaning here", self.at - len(text))

    def _command(self, command: str) -> str:
        """Reads a shell command. Returns why the rest of it is not used."""
        if found := _CONGESTION.search(command):
            self.script.congestion = found[1] or found[2]
        return "shell commands are not run; only `tcp_congestion_control` is read"

    def _add(self, kind: type, text: str, value: object, at: int) -> None:
        self.script.statements.append(kind(self._line(at), self.now, self.latest, _shown(text), value))

    def _event(self) -> None:
        at = self.at
        if not (time := self._take(_TIME)):
            raise self._refuse("expected a time such as `+0.1`, `0.5`, `+.1~+.2` or `*`", at)
        self._advance(time)
        if max(self.now, 0.0 if time[0] == "*" else self.latest) > _MAX_S:
            raise self._refuse(f"the time is {max(self.now, self.latest):.6g} s; expected at most {_MAX_S:,} s", at)
        self._take(_BLANK)
        if command := self._take(_COMMAND):
            self._add(Unused, command[0], self._command(command[1]), at)
        elif block := self._take(_BLOCK):
            self._assertions(block[1], at)
        elif packet := self._take(_PACKET):
            self._packet(packet[1], packet[2], at)
        elif call := self._take(_CALL):
            self._call(call[1], at)
        else:
            raise self._refuse("expected a packet (`<` or `>`), a system call, a command in backticks or `%{ code }%`", self.at)

    def _advance(self, time: re.Match[str]) -> None:
        if time[0] == "*":
            self.latest = float("inf")
            return
        last = self.now
        self.now = float(time["time"]) + (last if time["plus"] else 0.0)
        self.latest = self.now
        # The end of a blocking call does not count.
        if time["join"] == "~":
            self.latest = float(time["end"]) + (last if time["plus2"] else 0.0)

    def _assertions(self, code: str, at: int) -> None:
        try:
            # Python warns of literals such as `1and`.
            with warnings.catch_warnings(action="ignore"):
                body = ast.parse("\n".join(line.strip() for line in code.splitlines())).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self._add(Unused, "%{ }%", "is not a list of Python assertions", at)
            return
        for node in body:
            text = ast.unparse(node)
            if isinstance(node, ast.Assert):
                self._add(Assertion, text, node.test, at)
            else:
                self._add(Unused, text, "only assertions are evaluated; other code is not run", at)

    def _call(self, name: str, at: int) -> None:
        depth, start = 1, self.at
        while depth and self.at < len(self.text):
            depth += {"(": 1, ")": -1}.get(self.text[self.at], 0)
            self.at += 1
        if depth:
            raise self._refuse(f"the arguments of `{name}` have no end", at)
        arguments = self.text[start : self.at - 1]
        result = self._take(_RESULT)
        text = f"{name}({arguments})"
        if name in {*_WRITES, *_UNREAD_WRITES} and result and result[1].startswith("-1"):
            self._add(Unused, text, "a call that fails writes nothing", at)
            return
        if (place := _WRITES.get(name)) is None:
            if found := _CONGESTION.search(arguments):
                self.script.congestion = found[1] or found[2]
            self._add(Unused, text, "", at)
            if name in _UNREAD_WRITES:
                self.script.unread_write = self.script.unread_write or self.script.statements[-1]
            return
        sizes = [argument.strip() for argument in arguments.split(",")]
        written = re.match(r"\d+", result[1]) if result else None
        if written is None or len(sizes) <= place:
            self._add(Unused, text, "the number of written bytes cannot be read", at)
            self.script.unread_write = self.script.unread_write or self.script.statements[-1]
        else:
            self._add(Write, text, self._number(written[0], "the number of written bytes", _MAX_SEQUENCE, at), at)
            self._write_places.append(at)

    def _packet(self, direction: str, text: str, at: int) -> None:
        found = _SEGMENT.match(text)
        if not found:
            self._add(
                Unused, direction + text, "is not a TCP segment of the form `flags start:end(length) ack N win N <options>`", at
            )
            return
        options = found["options"] or ""
        sack = _SACK.search(options)
        ack, window = found["ack"], found["window"]
        start, end, length = (self._number(found[name], f"the {name}", _MAX_SEQUENCE, at) for name in ("start", "end", "length"))
        if end - start != length:
            raise self._refuse(f"the length of {start}:{end}({length}) is {length}; expected {end - start}", at)
        segment = _Segment(
            self._line(at),
            self.now,
            self.latest,
            _shown((direction + text).split("//")[0]),
            flags=found["flags"],
            start=start,
            end=end,
            ack=self._number(ack, "the acknowledgement", _MAX_SEQUENCE, at) if ack else None,
        )
        if direction == ">":
            self.script.statements.append(Outgoing(**vars(segment)))
            return
        blocks = tuple(self._block(pair, at) for pair in (sack[1].split() if sack else []))
        advertised = self._number(window, "the window", 65_535, at) if window else None
        self.script.statements.append(Incoming(**vars(segment), blocks=blocks, window=advertised))
        if segment.is_syn:
            script = self.script
            mss, scale = _MSS.search(options), _SCALE.search(options)
            script.mss = self._number(mss[1], "the MSS", 65_535, at, least=1) if mss else script.mss
            script.window_scale = self._number(scale[1], "the window scale", _MAX_SCALE, at) if scale else 0
            script.sack = "sackOK" in options
            script.timestamps = _STAMP.search(options) is not None

    def _block(self, pair: str, at: int) -> tuple[int, int]:
        start, end = (self._number(digits, "the edge of a SACK block", _MAX_SEQUENCE, at) for digits in pair.split(":"))
        if start >= end:
            raise self._refuse(f"the SACK block {pair} is empty; expected a start below its end", at)
        return start, end

    def _negotiate(self) -> None:
        """What both SYNs agree on."""
        script = self.script
        synchronising = [segment for segment in script.statements if isinstance(segment, _Segment) and segment.is_syn]
        script.ecn = len({type(segment) for segment in synchronising if "E" in segment.flags}) == 2
        if script.timestamps:
            script.mss -= _TIMESTAMP_BYTES
        if not synchronising:
            raise ParameterError(f"{self.file}: there is no SYN; expected a handshake, which gives the segment size")
        if script.mss < 1:
            raise ParameterError(f"{self.file}: the segment size of the handshake is {script.mss} B; expected at least 1 B")
        segments = 0
        writes = (statement for statement in script.statements if isinstance(statement, Write))
        for write, at in zip(writes, self._write_places, strict=True):
            segments += -(-write.size // script.mss)
            if segments > _MAX_SEGMENTS:
                expected = f"expected at most {_MAX_SEGMENTS:,} in the whole script"
                raise self._refuse(f"{write.size:,} bytes make {segments:,} segments of {script.mss} B; {expected}", at)


def _shown(text: str) -> str:
    """A statement on one line, with control characters escaped."""
    return readable(" ".join(text.split()))
