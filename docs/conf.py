"""How `make docs` builds the site: pages are MyST Markdown, and what they compute tools/pages.py has filled in before."""

project = "Tailback"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["deflist"]

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
