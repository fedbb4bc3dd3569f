"""The gallery shows what its scripts draw."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from support import ROOT

LARGEST = 120_000
"""Bytes of a picture and its numbers: what a page of them can bear."""


def test_pictures_and_page_are_what_the_scripts_say(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-W", "error", "tools/gallery.py", str(tmp_path)], cwd=ROOT, check=True)
    made = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "images/gallery").iterdir()}
    there = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs/images/gallery").iterdir()}
    assert made.keys() == there.keys(), "run: .venv/bin/python tools/gallery.py docs"
    assert [name for name in made if made[name] != there[name]] == [], "run: .venv/bin/python tools/gallery.py docs"
    assert (tmp_path / "gallery.md").read_text(encoding="utf-8") == (ROOT / "docs/howto/gallery.md").read_text(encoding="utf-8")
    assert made
    assert max(map(len, made.values())) < LARGEST
