"""The gallery shows the pictures of its scripts."""

from __future__ import annotations

import subprocess
import sys

from support import ROOT

MAX_CHARACTERS = 120_000
"""Of a picture and its numbers, so that the page with all of them stays small."""


def test_pictures_and_page_are_those_of_the_scripts() -> None:
    """Scripts with long simulations run reduced."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "tools/gallery.py", "--check"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{done.stderr}\nto draw them: .venv/bin/python tools/gallery.py"


def test_pictures_are_small() -> None:
    sizes = {path.name: len(path.read_text(encoding="utf-8")) for path in (ROOT / "docs/images/gallery").glob("*.svg")}
    assert sizes
    assert max(sizes.values()) < MAX_CHARACTERS
