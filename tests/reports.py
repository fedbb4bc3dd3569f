"""Parse reports like a browser."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from xml.etree.ElementTree import Element, SubElement

# Elements without an end tag.
VOID = {"meta", "br", "hr", "img", "link", "input"}


class _Tree(HTMLParser):
    """The nesting of elements; an unmatched end tag is an error."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Element("document")
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open an element."""
        made = SubElement(self.open[-1], tag, {name: value or "" for name, value in attrs})
        if tag not in VOID:
            self.open.append(made)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Handle an element without content, in the notation of SVG."""
        SubElement(self.open[-1], tag, {name: value or "" for name, value in attrs})

    def handle_endtag(self, tag: str) -> None:
        """Close the current element."""
        assert self.open[-1].tag == tag, f"</{tag}> within <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        """Handle text, including the contents of scripts and styles."""
        here = self.open[-1]
        if len(here):
            here[-1].tail = (here[-1].tail or "") + data
        else:
            here.text = (here.text or "") + data


def parsed(page: str) -> Element:
    """The elements of a page, all of them closed."""
    tree = _Tree()
    tree.feed(page)
    tree.close()
    assert tree.open == [tree.root], f"<{tree.open[-1].tag}> is never closed"
    return tree.root


def fetched(page: str) -> list[str]:
    """Addresses that a page would fetch, or links to other pages."""
    found = []
    for element in parsed(page).iter():
        for name in ("src", "href", "xlink:href", "srcset", "data", "action"):
            address = element.get(name)
            if address is not None and not address.startswith("#"):
                found.append(address)
        styles = element.get("style", "") + (element.text or "" if element.tag == "style" else "")
        found += re.findall(r"@import[^;]*|url\((?!#)[^)]*\)", styles)
    return found
