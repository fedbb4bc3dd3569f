"""Data files of Flent (https://flent.org): `writing` makes them from runs, `reading` measures them."""

from tailback._formats.flent.reading import is_flent, measured
from tailback._formats.flent.writing import write
from tailback._formats.format import Format, Reader, Writer

__all__ = ["FORMAT", "WRITER"]

WRITER = Writer(".flent.gz", write, suffix_required_by="Flent")

FORMAT = Format(
    "flent",
    Reader("a data file of Flent", is_flent, measured),
    WRITER,
)
