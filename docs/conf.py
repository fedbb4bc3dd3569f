"""Configuration of the documentation site. Pages are MyST Markdown; tools/pages.py fills in their results before the build."""

import gc
import inspect
import re
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from docutils import nodes
from jinja2.utils import htmlsafe_json_dumps
from sphinx.application import Sphinx
from sphinx.search.en import SearchEnglish

import tailback
from tailback._html import SCRIPT, hint

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

import panels

# Document trees consist of many long-lived objects; collecting garbage less often saves a seventh of the build time.
gc.set_threshold(200_000)
# The pages contain the same words; stemming each of them once saves a twentieth.
SearchEnglish.stem = cache(SearchEnglish.stem)

project = "Tailback"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]

# Docstrings state the types, so signatures omit them.
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
# Attribute names such as `flows` belong to several classes, so references to them are ambiguous.
suppress_warnings = ["ref.python"]
napoleon_google_docstring = False
napoleon_use_ivar = True
# Anchors of the headings that pages link to.
myst_heading_anchors = 3

# The site works without a network: nothing is loaded from elsewhere.
html_theme = "furo"
html_title = "Tailback"
html_static_path = ["static", str(SCRIPT)]
# Schemas by version, at addresses that do not change.
html_extra_path = ["site"]
html_css_files = ["site.css"]
# All pages load the package's script; it does nothing on pages without plots.
html_js_files = [(SCRIPT.name, {"defer": "defer"})]
html_copy_source = False
html_show_copyright = False


def navigate(app: Sphinx, page: str, source: list[str]) -> None:
    """Adds the table of contents of an index page, made from the links in its lists."""
    if page == "reference/python":
        source[0] = re.sub(r"^## `([\w.]+)`\n(?:.*\n)+?(?=\n## |\Z)", docstrings, source[0], flags=re.MULTILINE)
    elif page in ("reference/controllers/index", "reference/policies/index"):
        source[0] += "\n```{toctree}\n:hidden:\n:glob:\n\n*\n```\n"
    elif page == "index" or page.endswith("/index"):
        pages = re.findall(r"^\* \[[^]]+\]\(([^)#]+)\.md\)", source[0], re.MULTILINE)
        source[0] += "\n```{toctree}\n:hidden:\n\n" + "\n".join(pages) + "\n```\n"
    if page == "index":
        # `make site` adds the lab.
        source[0] += '\n```{raw} html\n<p><a href="lab/index.html">Run scenarios in your browser</a> (the lab)</p>\n```\n'


def docstrings(section: re.Match[str]) -> str:
    """The section of a module, followed by the docstrings of its names."""
    names = re.findall(r"^\* `(\w+)`", section[0], re.MULTILINE) or re.findall(r"`(\w+)`", section[0])
    # A module with inherited members would also have names that are not in its list.
    composed = [name for name in names if has_parts(getattr(import_module(section[1]), name))]
    members = ", ".join(name for name in names if name not in composed)
    body = f".. automodule:: {section[1]}\n   :members: {members}\n   :imported-members:\n"
    for name in composed:
        body += f"\n.. autoclass:: {section[1]}.{name}\n   :members:\n   :inherited-members: {', '.join({*names} - {name})}\n"
    return f"{section[0]}\n```{{eval-rst}}\n{body}```\n"


def has_parts(thing: object) -> bool:
    """Whether a public class inherits from private ones of its package, each of which is a part of it."""
    bases = thing.__bases__ if inspect.isclass(thing) else ()
    return any(base.__module__.startswith("tailback._") and not hasattr(tailback, base.__name__) for base in bases)


def plots(app: Sphinx, page: nodes.document, _name: str) -> None:
    """Add the numbers of each picture for the script, and a hint on plots below the first."""
    hinted = False
    for image in list(page.findall(nodes.image)):
        path = Path(app.srcdir, image["uri"])
        found = panels.read(path.read_text(encoding="utf-8")) if path.suffix == ".svg" else None
        if found is None:
            continue
        # Fetched only where it is seen: without scripts, and in print.
        image["loading"] = "lazy"
        numbers = htmlsafe_json_dumps(found, separators=(",", ":"))
        end = f'</div><script type="application/json">{numbers}</script></figure>{"" if hinted else hint()}'
        begin = '<figure data-plot><div class="picture">'
        image.parent.replace_self([nodes.raw("", begin, format="html"), image, nodes.raw("", end, format="html")])
        hinted = True


def collapse(_app: Sphinx, _page: str, _template: str, context: dict[str, Any], _document: nodes.document | None) -> None:
    """List only the pages of the same part in the navigation, instead of all pages."""
    whole = context["toctree"]
    context["toctree"] = lambda **options: whole(**{**options, "collapse": True})


def setup(app: Sphinx) -> None:
    app.connect("source-read", navigate)
    app.connect("doctree-resolved", plots)
    # Tests do not read the navigation, which the theme makes for each page in half of the build time. It does so at priority 500.
    if app.tags.has("collapsed"):
        app.connect("html-page-context", collapse, priority=400)
