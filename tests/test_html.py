"""Templates escape their values, and a page allows only its own script."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

import pytest

from reports import fetched, parsed
from tailback import _html
from tailback._html import HtmlList, HtmlTable, notebook
from tailback._study.measurements import Tally
from tailback.papers import Document
from tailback.papers._report import Basis
from tailback.papers._report import page as report

HOSTILE = "<script>alert(1)</script>"


def test_notebook_output_is_escaped() -> None:
    shown = notebook(
        HOSTILE,
        tables=[HtmlTable(HOSTILE, [HOSTILE], [[HOSTILE]], HOSTILE)],
        lists=[HtmlList(HOSTILE, [HOSTILE])],
        texts=[HOSTILE],
        code=HOSTILE,
    )
    tree = parsed(shown)
    assert not list(tree.iter("script"))
    assert "".join(tree.itertext()).count(HOSTILE) == 9


def page() -> str:
    """A report without contents."""
    return report(Document("toy", "Toys", "A toy box", {}, ()), [], [], Basis(10, 0, Tally(0, 0, 0, 0.0, [])))


def policy(text: str) -> str:
    """The content security policy of a page."""
    return next(each.get("content", "") for each in parsed(text).iter("meta") if each.get("http-equiv"))


def test_the_policy_lets_the_script_run_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "plots.js"
    script.write_text("let one = 1;\n")
    monkeypatch.setattr(_html, "SCRIPT", script)
    shown = page()
    (element,) = parsed(shown).iter("script")
    digest = base64.b64encode(hashlib.sha256((element.text or "").encode()).digest()).decode()
    assert policy(shown) == f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    assert fetched(shown) == []


def test_a_missing_script_is_noted_on_the_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_html, "SCRIPT", tmp_path / "plots.js")
    shown = page()
    assert not list(parsed(shown).iter("script"))
    assert "cannot be zoomed" in shown
    assert policy(shown).endswith("script-src 'none'")


def test_the_installed_package_has_the_script() -> None:
    assert _html.SCRIPT.is_file(), "`make setup` builds it, and must do so before it builds the wheel"
    text = _html.SCRIPT.read_text()
    # uPlot with its licence, without the end tag of the script element.
    assert "Permission is hereby granted" in text
    assert "</script" not in text.lower()
    assert len(text) < 64_000
