"""Each controller and queue policy has its page, and the page's figure is up to date."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import tailback as tb
from support import ROOT

FAMILIES = ("controllers", "policies")
MAKE = "run: .venv/bin/python tools/members.py docs"


def files(docs: Path, *folders: str) -> dict[str, str]:
    return {f"{folder}/{path.name}": path.read_text(encoding="utf-8") for folder in folders for path in (docs / folder).iterdir()}


def test_pages_and_pictures_are_up_to_date(tmp_path: Path) -> None:
    """Checks all numbers of all members; only some of the figures, which take longer to draw than to compute."""
    drawn = {"reno", "maxnet", "codel", "threshold"}
    subprocess.run([sys.executable, "-W", "error", "tools/members.py", str(tmp_path), *drawn], cwd=ROOT, check=True)
    folders = [f"reference/{family}" for family in FAMILIES]
    pages, pages_there = files(tmp_path, *folders), files(ROOT / "docs", *folders)
    assert pages.keys() == pages_there.keys(), MAKE
    assert [name for name in pages if pages[name] != pages_there[name]] == [], MAKE
    folders = ["images/controllers", "images/queues"]
    pictures, pictures_there = files(tmp_path, *folders), files(ROOT / "docs", *folders)
    assert {name for page in pages.values() for name in re.findall(r"images/\w+/\w+\.svg", page)} == pictures_there.keys(), MAKE
    assert [name for name in pictures if pictures[name] != pictures_there[name]] == [], MAKE
    assert {Path(name).stem for name in pictures} >= drawn


def test_every_member_has_a_page_in_the_table_of_all() -> None:
    definitions = tb.schema()["$defs"]
    for folder, definition, tag in (("controllers", "ControllerTable", "kind"), ("policies", "Queue", "policy")):
        index = (ROOT / f"docs/reference/{folder}/index.md").read_text(encoding="utf-8")
        forms = [form["properties"][tag] for form in definitions[definition]["oneOf"]]
        for name in [form["const"] for form in forms if "const" in form]:
            assert (ROOT / f"docs/reference/{folder}/{name}.md").is_file(), MAKE
            assert f"[`{name}`]({name}.md)" in index, MAKE
