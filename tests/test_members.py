"""Each controller and queue policy has its page, and its picture is what the simulator does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import tailback as tb
from support import ROOT

FOLDERS = ("controllers", "images/controllers", "queues", "images/queues")
MAKE = "run: .venv/bin/python tools/members.py docs"


def files(docs: Path) -> dict[str, str]:
    return {f"{folder}/{path.name}": path.read_text(encoding="utf-8") for folder in FOLDERS for path in (docs / folder).iterdir()}


def test_pages_and_pictures_are_up_to_date(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-W", "error", "tools/members.py", str(tmp_path)], cwd=ROOT, check=True)
    made, there = files(tmp_path), files(ROOT / "docs")
    assert made.keys() == there.keys(), MAKE
    assert [name for name in made if made[name] != there[name]] == [], MAKE


def test_every_member_has_a_page_in_the_table_of_all() -> None:
    definitions = tb.schema()["$defs"]
    for folder, definition, tag in (("controllers", "ControllerTable", "kind"), ("queues", "Queue", "policy")):
        index = (ROOT / f"docs/{folder}/index.md").read_text(encoding="utf-8")
        forms = [form["properties"][tag] for form in definitions[definition]["oneOf"]]
        for name in [form["const"] for form in forms if "const" in form]:
            assert (ROOT / f"docs/{folder}/{name}.md").is_file(), MAKE
            assert f"[`{name}`]({name}.md)" in index, MAKE
