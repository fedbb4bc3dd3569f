"""HTML of reports and notebooks, from templates that escape their values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

__all__ = ["SCRIPT", "HtmlList", "HtmlTable", "hint", "markup", "notebook", "page", "rendered"]

# Makes plots of reports and of the site interactive. `make setup` builds it from web/; the wheel contains it.
SCRIPT = Path(__file__).parents[1] / "_web" / "plots.js"


@dataclass(frozen=True)
class HtmlTable:
    """A table of text.

    Attributes
    ----------
    caption : str
        Text above the table; none if empty.
    columns : sequence of str
        Column heads.
    rows : iterable of sequences of str
        Cells.
    rest : str
        Line below the table, for example the number of omitted rows; none if empty.
    """

    caption: str
    columns: Sequence[str]
    rows: Iterable[Sequence[str]]
    rest: str = ""


@dataclass(frozen=True)
class HtmlList:
    """A list under a title."""

    title: str
    lines: Sequence[str]


def rendered(template: str, **values: Any) -> str:
    """Render a template of the package, given its path in the package (``papers/report.html``)."""
    return _environment().get_template(template).render(values)


def notebook(
    title: str = "",
    *,
    tables: Iterable[HtmlTable] = (),
    lists: Iterable[HtmlList] = (),
    texts: Iterable[str] = (),
    code: str = "",
) -> str:
    """HTML representation for a notebook: title, tables, lists, paragraphs and verbatim text, in this order."""
    return rendered("_html/notebook.html", title=title, tables=tables, lists=lists, texts=texts, code=code)


def page(template: str, inks: Mapping[str, str], **values: Any) -> str:
    """Render a report from a template that extends ``_html/page.html``. `inks` are CSS variables of the dark mode."""
    return rendered(template, inks=inks, script=_Script.of_package(), **values)


def hint() -> str:
    """A paragraph that explains how to use plots; hidden until the script has made them interactive."""
    parts: Any = _environment().get_template("_html/parts.html").module
    return str(parts.hint())


def markup(text: str) -> Markup:
    """Mark text as HTML that needs no escaping: an SVG by matplotlib, or a template's output."""
    from markupsafe import Markup

    return Markup(text)


@dataclass(frozen=True)
class _Script:
    """The script of a page, with its source for the content security policy; empty if it has not been built (in a checkout)."""

    text: Markup
    source: str

    @classmethod
    def of_package(cls) -> _Script:
        if not SCRIPT.is_file():
            return cls(markup(""), "'none'")
        import base64
        import hashlib

        text = SCRIPT.read_text(encoding="utf-8")
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        return cls(markup(text), f"'sha256-{digest}'")


@cache
def _environment() -> Environment:
    # Imported here because most commands produce no HTML.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("tailback", "")
    made = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    # JSON does not allow NaN.
    made.policies["json.dumps_kwargs"] = {"allow_nan": False}
    made.filters["markup"] = markup
    made.filters["thousands"] = lambda number: f"{number:,.0f}"
    # Prevents line breaks before a percent sign.
    made.filters["unbroken"] = lambda text: text.replace(" %", markup("\N{NO-BREAK SPACE}%"))
    return made
