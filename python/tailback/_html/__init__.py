"""Everything that is HTML: pages and what notebooks show, from templates that escape whatever they are handed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["Lines", "Shown", "notebook", "rendered"]


@dataclass(frozen=True)
class Shown:
    """A table of text.

    Attributes
    ----------
    caption : str
        What stands above it; nothing if empty.
    columns : sequence of str
        The heads.
    rows : iterable of sequences of str
        Cells.
    rest : str
        A line below, such as what is left out; nothing if empty.
    """

    caption: str
    columns: Sequence[str]
    rows: Iterable[Sequence[str]]
    rest: str = ""


@dataclass(frozen=True)
class Lines:
    """A list under a title."""

    title: str
    lines: Sequence[str]


def rendered(template: str, **values: Any) -> str:
    """A template of the package, by its path in it (``papers/report.html``), with these values."""
    return _environment().get_template(template).render(values)


def notebook(
    title: str = "", *, tables: Iterable[Shown] = (), lists: Iterable[Lines] = (), texts: Iterable[str] = (), code: str = ""
) -> str:
    """What a notebook shows of an object: a title, tables, lists, paragraphs and verbatim text, in this order."""
    return rendered("_html/notebook.html", title=title, tables=tables, lists=lists, texts=texts, code=code)


@cache
def _environment() -> Environment:
    # Whoever shows no HTML does without it.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("tailback", "")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
