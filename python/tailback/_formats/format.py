"""What a format declares."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, Protocol

from tailback._formats.damage import CaptureDamage
from tailback._tables.table import Table
from tailback.errors import ParameterError

__all__ = ["Format", "Measured", "Reader", "RecordedRun", "Writer", "WrongFormatError"]


class WrongFormatError(ValueError):
    """The file has another format; the text continues "FILE is"."""


@dataclass(frozen=True)
class Measured:
    """The measurements of a file, for `tailback.analyse`."""

    tables: dict[str, Table]
    packets: int = 0
    comments: tuple[str, ...] = ()
    damage: CaptureDamage | None = None
    packets_out_of_time: tuple[tuple[str, int], ...] = ()
    losses_left_out: int = 0
    began_ns: int | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reader:
    """How `tailback.analyse` reads a format."""

    # For error messages.
    files: str
    # Whether a file that begins so, with this name, has the format.
    recognises: Callable[[bytes, str], bool]
    # Measures a file, with samples if the second argument is true, and reports the completed fraction to the third. Raises
    # `ValueError` with a text that continues "FILE is".
    measure: Callable[[Path, bool, Callable[[float], None]], Measured]


class RecordedRun(Protocol):
    """The part of `tailback.Run` that writers use."""

    simulated_s: float

    @property
    def seed(self) -> int: ...
    @property
    def content_hash(self) -> str: ...
    @property
    def scenario(self) -> dict[str, Any]: ...
    @property
    def tables(self) -> dict[str, Table]: ...
    def trace(self, kind: str) -> Table: ...


@dataclass(frozen=True)
class Writer:
    """How `tailback.Run.save_as` writes a format."""

    # Usual end of a file's name.
    suffix: str
    # Writes a `RecordedRun` to a `Path`. Keyword arguments are the options of the format.
    write: Callable[..., None]
    # The program that requires the suffix, if any.
    suffix_required_by: str = ""

    @property
    def options(self) -> dict[str, bool]:
        """The names of the options, and whether each is required."""
        parameters = signature(self.write).parameters.values()
        return {each.name: each.default is Parameter.empty for each in parameters if each.kind is Parameter.KEYWORD_ONLY}

    def check_name(self, path: str | os.PathLike[str]) -> None:
        """Raise `ParameterError` if programs would not read a file with this name."""
        if self.suffix_required_by and not Path(path).name.endswith(self.suffix):
            raise ParameterError(
                f"{os.fspath(path)} has another suffix; expected `{self.suffix}`, as {self.suffix_required_by} requires"
            )


@dataclass(frozen=True)
class Format:
    """A format of files, which Tailback reads, writes, or both."""

    name: str
    reader: Reader | None = None
    writer: Writer | None = None
