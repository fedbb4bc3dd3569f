"""The events of a qlog file, in the notations that implementations write.

Contained JSON, JSON text sequences (RFC 7464) and lines of JSON, from draft-01 on: events as arrays (``event_fields``) or as
objects, and names with or without a category, which drafts renamed (``transport:``, ``quic:``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tailback._formats.damage import CaptureDamage
from tailback._formats.format import WrongFormatError

__all__ = ["Event", "Log", "QlogReadError", "as_object", "is_qlog", "read"]

_RECORD = b"\x1e"
# Of drafts 00 to 13.
_KNOWN = ("draft-0", "0.1", "0.2", "0.3", "0.4", "urn:ietf:params:qlog:file:")


class QlogReadError(WrongFormatError):
    """The file is not a qlog file."""


@dataclass(frozen=True)
class Event:
    """An event of one connection.

    Attributes
    ----------
    trace : str
        Title of the trace, with the group of the event if the trace has several, and with its number if titles are equal.
    vantage : str
        ``client``, ``server``, ``network`` or ``unknown``.
    time_s : float
        Seconds; relative to the reference time of the trace, or absolute.
    name : str
        Without its category.
    data : dict
        Its fields.
    rtt_unit_s : float
        Unit of its round trips.
    """

    trace: str
    vantage: str
    time_s: float
    name: str
    data: dict[str, Any]
    rtt_unit_s: float = 1e-3


@dataclass
class Log:
    """A file: its title and description, its events, where it is damaged, and what limits its measurements."""

    comments: list[str]
    events: list[Event]
    damage: CaptureDamage | None = None
    notes: list[str] = field(default_factory=list)


def is_qlog(beginning: bytes) -> bool:
    """Whether a file with this beginning can only be qlog: no capture begins like JSON."""
    return beginning.lstrip(b" \t\r\n\xef\xbb\xbf").startswith((b"{", _RECORD))


def read(content: bytes) -> Log:
    """All events of a file.

    Raises
    ------
    QlogReadError
        The file is not JSON, or JSON that is not qlog.
    """
    content = content.removeprefix(b"\xef\xbb\xbf")
    if content.lstrip().startswith(_RECORD):
        return _sequence(content, _RECORD)
    first_line = content.lstrip().partition(b"\n")[0]
    if (header := _header(first_line)) is not None and "traces" not in header:
        return _sequence(content, b"\n")
    whole = _parsed(content)
    if not isinstance(whole, dict) or not isinstance(whole.get("traces"), list):
        raise QlogReadError("JSON without the field `traces` of a qlog file")
    log = Log(_comments(whole), [], notes=_notes(whole))
    titles: set[str] = set()
    for number, trace in enumerate(whole["traces"]):
        if isinstance(trace, dict) and isinstance(trace.get("events"), list):
            reader = _TraceReader(trace, number, whole)
            # Libraries give all their traces one name.
            reader.title = reader.title if reader.title not in titles else f"{reader.title} {number}"
            titles.add(reader.title)
            for place, raw in enumerate(trace["events"]):
                log.events += reader.events(raw, f"trace {number}, event {place}")
    return log


def _header(text: bytes) -> dict[str, Any] | None:
    """The first record of a sequence, if the text is one."""
    try:
        record = _parsed(text)
    except QlogReadError:
        return None
    is_header = isinstance(record, dict) and ("qlog_version" in record or "file_schema" in record)
    return record if is_header and isinstance(record.get("trace", {}), dict) else None


def _sequence(content: bytes, separator: bytes) -> Log:
    """Records up to the first that cannot be read."""
    log, reader, at_byte = Log([], []), None, 0
    for text in content.split(separator):
        start, at_byte = at_byte, at_byte + len(text) + len(separator)
        if not text.strip():
            continue
        try:
            if reader is None:
                header = _header(text)
                if header is None:
                    raise QlogReadError("a sequence of records whose first is not the header of a qlog file")
                log.comments, log.notes = _comments(header), _notes(header)
                reader = _TraceReader(header.get("trace") or {}, 0, header)
            else:
                log.events += reader.events(_parsed(text), "in a record")
        except QlogReadError as error:
            if reader is None:
                raise
            log.damage = CaptureDamage(start, str(error))
            break
    if reader is None:
        raise QlogReadError("a sequence without records")
    return log


def _parsed(text: bytes) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise QlogReadError(
            f"not complete JSON (line {error.lineno}: {error.msg}); JSON text sequences are read up to damage"
        ) from None
    except (ValueError, RecursionError) as error:
        raise QlogReadError(f"not JSON that can be read: {error}") from None


def _notes(file: Mapping[str, Any]) -> list[str]:
    """A version that is newer than this reader, or that no draft has."""
    version = file.get("qlog_version", file.get("file_schema"))
    if version is None or str(version).startswith(_KNOWN):
        return []
    return [f"the qlog version {json.dumps(version)[:60]} is not known; fields that it renames are missing"]


def _comments(file: Mapping[str, Any]) -> list[str]:
    return [str(file[key]) for key in ("title", "description") if file.get(key)]


class _TraceReader:
    """The events of one trace, with the fields that they have in common."""

    def __init__(self, trace: Mapping[str, Any], number: int, file: Mapping[str, Any]) -> None:
        common = as_object(trace.get("common_fields"))
        vantage = as_object(trace.get("vantage_point"))
        self.title = str(trace.get("title") or vantage.get("name") or number)
        self.vantage = str(vantage.get("type") or "unknown")
        self.group = common.get("group_id", common.get("group_ids"))
        fields = trace.get("event_fields")
        self.fields = [str(field) for field in fields] if isinstance(fields, list) else []
        format_ = str(common.get("time_format", ""))
        self.is_delta = format_ in {"delta", "relative_to_previous_event"} or "delta_time" in self.fields
        unit = as_object(trace.get("configuration")).get("time_units", common.get("time_units", "ms"))
        self.unit_s = {"us": 1e-6, "ns": 1e-9}.get(str(unit), 1e-3)
        # Later drafts fix milliseconds. Picoquic 1.1.53 writes draft-00.
        self.rtt_unit_s = self.unit_s if file.get("qlog_version") == "draft-00" else 1e-3
        self.time = 0.0

    def events(self, raw: Any, where: str) -> list[Event]:
        """The event in a list, which is empty for the empty element that ends some arrays."""
        if not raw:
            return []
        fields = dict(zip(self.fields, raw, strict=False)) if isinstance(raw, list) else as_object(raw)
        time = next((fields[key] for key in ("time", "relative_time", "reference_time", "delta_time") if key in fields), None)
        name = next((fields[key] for key in ("name", "event", "type", "event_type") if isinstance(fields.get(key), str)), None)
        try:
            elapsed = float(time)  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            elapsed = float("nan")
        if name is None or not abs(elapsed) < float("inf"):
            raise QlogReadError(f"a qlog file with an event without time or name ({where})")
        self.time = self.time + elapsed if self.is_delta else elapsed
        group = fields.get("group_id", self.group)
        title = self.title if group is None or str(group) == self.title else f"{self.title} {group}"
        kind, data = name.rpartition(":")[2].lower(), as_object(fields.get("data"))
        return [Event(title, self.vantage, self.time * self.unit_s, kind, data, self.rtt_unit_s)]


def as_object(value: Any) -> dict[str, Any]:
    """The fields of a value of a file; none if it is not an object."""
    return value if isinstance(value, dict) else {}
