"""Results on disk are written atomically."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tailback import _store


def test_files_of_a_killed_run_are_removed_and_those_of_a_live_one_are_kept(tmp_path: Path) -> None:
    begin = f"""
import os, sys
from tailback import _store
with _store.staged({str(tmp_path / "results")!r}) as folder:
    print(folder.name, flush=True)
    sys.stdin.read()
    os._exit(9)
"""
    dead, living = (
        subprocess.Popen([sys.executable, "-c", begin], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    )
    assert dead.stdout is not None
    assert living.stdout is not None
    left, kept = dead.stdout.readline().strip(), living.stdout.readline().strip()
    other = tmp_path / ".results.more.abcdefgh.partial"
    other.mkdir()
    try:
        dead.communicate("")
        assert {left, kept, other.name} == {path.name for path in tmp_path.iterdir()}
        with _store.staged(tmp_path / "results"):
            assert {path.name for path in tmp_path.iterdir()} > {kept, other.name}
            assert left not in {path.name for path in tmp_path.iterdir()}
        assert {path.name for path in tmp_path.iterdir()} == {"results", kept, other.name}
    finally:
        living.communicate("")
