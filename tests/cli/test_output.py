"""Output to a closed pipe, to a full disk, and the report of bugs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import tailback as tb
from support import left_behind
from tailback._cli import app


def test_a_closed_pipe_is_not_an_error(file: Path) -> None:
    words = f"'{sys.executable}' -m tailback run --json '{file}' | head -c 10"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", words], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("words", ["run FILE", "run --json FILE", "run --json nowhere.toml", "schema", "--version", "--help"])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_behind_stdout_is_not_a_bug(file: Path, words: str, unbuffered: str) -> None:
    arguments = words.replace("FILE", file.name).split()
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "tailback", *arguments]
        done = subprocess.run(command, cwd=file.parent, env=environment, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr.endswith("error: cannot write the output: No space left on device\n")
    assert "Traceback" not in done.stderr


def test_a_closed_stdout_is_reported_before_the_run(file: Path) -> None:
    words = f"'{sys.executable}' -m tailback run '{file}' >&-"
    done = subprocess.run(["bash", "-c", words], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "error: cannot write the output: stdout is closed\n")


@pytest.mark.parametrize("bug", [tb.InternalError("a packet vanished", "abc", 7), ZeroDivisionError("division by zero")])
def test_a_bug_requests_a_report(file: Path, monkeypatch: pytest.MonkeyPatch, bug: Exception) -> None:
    def simulate(*_arguments: object, **_options: object) -> None:
        raise bug

    monkeypatch.setattr("tailback._simulation.simulating.simulate_keeping_checkpoint", simulate)
    done = CliRunner().invoke(app, ["run", "--json", str(file), "--out", str(file.parent / "results")])
    assert done.exit_code == 3
    assert "please report it" in done.stderr
    if isinstance(bug, tb.InternalError):
        assert "scenario abc, seed 7" in done.stderr
    assert json.loads(done.stdout)["exit_code"] == 3
    assert left_behind(file.parent) == {"small.toml"}
