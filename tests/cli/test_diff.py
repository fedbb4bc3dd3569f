"""`tailback diff`: exit code, stdout and stderr."""

from __future__ import annotations

import json
from pathlib import Path

from support import SMALL, Command


def test_equal_sides_are_exit_code_0(command: Command, file: Path) -> None:
    stored = file.parent / "run"
    assert command("run", file, "--out", stored).returncode == 0
    done = command("diff", stored, file)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("all events up to the end of the shorter run are equal\nall tables are equal\n")


def test_different_sides_are_exit_code_1(command: Command, file: Path) -> None:
    other = file.with_name("other.toml")
    other.write_text(SMALL.replace("20 packets", "10 packets"))
    done = command("diff", file, other)
    assert (done.returncode, done.stderr) == (1, "")
    assert "topology.dumbbell.queue.buffer  20 packets  10 packets" in done.stdout
    assert "\nfirst difference at " in done.stdout
    document = json.loads(command("diff", file, other, "--json").stdout)
    assert document["same"] is False
    assert document["events_from"] == "simulation"


def test_a_side_that_does_not_exist_is_an_error(command: Command, file: Path) -> None:
    done = command("diff", file, file.with_name("none.toml"))
    assert done.returncode == 2
    assert "the file does not exist" in done.stderr
