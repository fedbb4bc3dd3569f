"""Where a file of packets or events is damaged."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CaptureDamage"]


@dataclass(frozen=True)
class CaptureDamage:
    """Position and kind of the first error in a damaged capture.

    Attributes
    ----------
    at_byte : int
        Offset of the block or record that cannot be read, in bytes from 0.
    what : str
        Description of the error.
    """

    at_byte: int
    what: str

    def __str__(self) -> str:
        return f"the file is damaged at byte {self.at_byte:,}: {self.what}"
