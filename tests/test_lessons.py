"""The lessons of the lab: their scenarios, and those that their tasks change, are valid."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import tailback as tb
from support import ROOT, Command

SCENARIOS = sorted((ROOT / "web/lab/lessons").glob("*.toml"))
# Each lesson begins with its name.
_, *LESSONS = re.split(r'^    name: "(\w+)",$', (ROOT / "web/lab/lessons.ts").read_text(encoding="utf-8"), flags=re.MULTILINE)
TEXTS = dict(zip(LESSONS[::2], LESSONS[1::2], strict=True))


def test_every_lesson_has_a_file() -> None:
    assert {path.stem for path in SCENARIOS} == TEXTS.keys()
    assert len(SCENARIOS) == 6


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_the_scenario_of_a_lesson_passes_the_check(command: Command, path: Path) -> None:
    done = command("check", path)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_the_changes_of_its_tasks_are_valid(path: Path) -> None:
    # Lists of strings are written alike in Python.
    tasks = [ast.literal_eval(change) for change in re.findall(r"^ +change: (\[.*\]),$", TEXTS[path.stem], re.MULTILINE)]
    assert len(tasks) == 3
    for changes in tasks:
        text = path.read_text(encoding="utf-8")
        for before, after in changes:
            assert before in text
            text = text.replace(before, after, 1)
        tb.Scenario.from_toml(text).check()
