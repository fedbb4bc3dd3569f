"""Everything that is HTML: pages and what notebooks show, from templates that escape whatever they are handed."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

__all__ = ["SCRIPT", "Lines", "Shown", "hint", "markup", "notebook", "page", "rendered"]

# What makes plots of reports and of the site interactive. `make web` builds it from web/; the wheel has it.
SCRIPT = files("tailback") / "_web" / "plots.js"


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


def page(template: str, inks: Mapping[str, str], **values: Any) -> str:
    """A report: a template that extends ``_html/page.html``. `inks`: variables of its style when the page is dark."""
    return rendered(template, inks=inks, script=_Script.of_package(), **values)


def hint() -> str:
    """A paragraph that says how plots are used; hidden until the script has made some."""
    parts: Any = _environment().get_template("_html/parts.html").module
    return str(parts.hint())


def markup(text: str) -> Markup:
    """Text that is HTML already, made by a program that escapes: an SVG of matplotlib's, or a template's output."""
    from markupsafe import Markup

    return Markup(text)


@dataclass(frozen=True)
class _Script:
    """The one script of a page, and by which source its policy lets it run; empty in a checkout that has not built it."""

    text: Markup
    source: str

    @classmethod
    def of_package(cls) -> _Script:
        if not SCRIPT.is_file():
            return cls(markup(""), "'none'")
        text = SCRIPT.read_text(encoding="utf-8")
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        return cls(markup(text), f"'sha256-{digest}'")


@cache
def _environment() -> Environment:
    # Whoever shows no HTML does without it.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("tailback", "")
    made = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    # JSON in a page: NaN would be no JSON.
    made.policies["json.dumps_kwargs"] = {"allow_nan": False}
    made.filters["markup"] = markup
    made.filters["thousands"] = lambda number: f"{number:,.0f}"
    # No line begins with the sign of percent.
    made.filters["unbroken"] = lambda text: text.replace(" %", markup("\N{NO-BREAK SPACE}%"))
    return made
