"""How `make docs` builds the site: pages are MyST Markdown, and what they compute tools/pages.py has filled in before."""

import re

from sphinx.application import Sphinx

project = "Tailback"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]

# The reference of Python is made of docstrings; types stand in their text, and signatures without them are shorter.
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
# Names that several classes have, such as `flows`, stand in the text of each.
suppress_warnings = ["ref.python"]
napoleon_google_docstring = False
napoleon_use_ivar = True
# Headings that pages link to, as tools/reference.py writes them.
myst_heading_anchors = 3

# Nothing here is fetched from elsewhere: the site opens without a network.
html_theme = "furo"
html_title = "Tailback"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_copyright = False


def navigate(app: Sphinx, page: str, source: list[str]) -> None:
    """Gives pages that list others their place in the navigation, which a reader of the sources need not see."""
    if page == "index":
        for section in source[0].split("\n## ")[1:]:
            caption, _, rest = section.partition("\n")
            pages = re.findall(r"^\* \[[^]]+\]\((\S+)\.md\)", rest, re.MULTILINE)
            source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n" + "\n".join(pages) + "\n```\n"
    elif page == "python":
        source[0] = re.sub(r"^## `([\w.]+)`\n(?:.*\n)+?(?=\n## |\Z)", docstrings, source[0], flags=re.MULTILINE)
    elif page.endswith("/index"):
        source[0] += "\n```{toctree}\n:hidden:\n:glob:\n\n*\n```\n"


def docstrings(section: re.Match[str]) -> str:
    """The section of a module, and below its table the docstrings of all that this names."""
    members = ", ".join(re.findall(r"^\| `(\w+)` \|", section[0], re.MULTILINE))
    body = f".. automodule:: {section[1]}\n   :members: {members}\n   :imported-members:\n"
    return f"{section[0]}\n```{{eval-rst}}\n{body}```\n"


def setup(app: Sphinx) -> None:
    app.connect("source-read", navigate)
