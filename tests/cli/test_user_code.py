"""`--code`."""

from __future__ import annotations

import json
from pathlib import Path

from scaling_law import LAW, law
from support import SMALL, Command


def test_the_command_line_loads_code(command: Command, tmp_path: Path) -> None:
    law(tmp_path, "mine")
    file = tmp_path / "mine.toml"
    mine = 'controller = { kind = "user:mine", parameters = { gain = 2 } }'
    file.write_text(SMALL.replace('preset = "newreno"', f'preset = "newreno", {mine}'))
    done = command("check", "mine.toml")
    assert done.returncode == 2
    assert "names an unknown controller: `user:mine`" in done.stderr
    assert "`--code FILE.py` loads the file that registers it" in done.stderr
    done = command("check", "mine.toml", "--code", "mine.py")
    assert (done.returncode, done.stdout) == (0, "mine.toml: valid\n")
    done = command("run", "mine.toml", "--code", "mine.py", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["user_code"][0]["file"] == "mine.py"
    vary = ["--vary", "flows.tcp.tcp.controller.parameters.gain=1,3"]
    done = command("sweep", "mine.toml", "--code", "mine.py", *vary, "--out", "study", "--workers", "2")
    assert done.returncode == 0, done.stderr
    assert "2 of 2 runs done" in done.stdout
    assert command("study", "resume", "study").returncode == 2
    done = command("study", "resume", "study", "--code", "mine.py")
    assert done.returncode == 0, done.stderr


def test_the_command_line_shows_the_traceback_of_user_code_and_no_other(command: Command, tmp_path: Path) -> None:
    law(tmp_path, "broken", LAW + "\n1 / 0\n")
    (tmp_path / "failing.toml").write_text(SMALL.replace('preset = "newreno"', 'preset = "newreno", controller = "user:failing"'))
    (tmp_path / "failing.py").write_text(LAW.replace("NAME", "failing").replace("if ack.window_validated", "if ack.limited"))
    done = command("run", "failing.toml", "--code", "failing.py", "--out", "results")
    assert (done.returncode, done.stdout) == (2, "")
    lines = done.stderr.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[1].endswith('failing.py", line 11, in on_ack')
    assert "error: `user:failing` failed: AttributeError" in done.stderr
    assert "  at       flows.tcp.tcp.controller, 0." in done.stderr
    assert "bug" not in done.stderr
    assert not (tmp_path / "results").exists()
    assert not list(tmp_path.glob(".*.partial"))
    done = command("run", "failing.toml", "--code", "broken.py", "--json")
    assert done.returncode == 2
    assert 'broken.py", line' in done.stderr
    assert "tailback/user_code/_loading.py" not in done.stderr
    assert json.loads(done.stdout)["errors"][0]["message"] == "ZeroDivisionError: division by zero"
    done = command("run", "failing.toml", "--code", "nowhere.py")
    assert done.returncode == 2
    assert "no such file" in done.stderr
