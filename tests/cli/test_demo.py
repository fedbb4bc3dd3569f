"""`tailback demo`."""

from __future__ import annotations

from pathlib import Path

from support import Command


def test_a_place_that_cannot_be_written_is_refused_at_once(command: Command, tmp_path: Path) -> None:
    (tmp_path / "taken").touch()
    done = command("demo", "--out", "taken")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: cannot write to `taken`: ")
