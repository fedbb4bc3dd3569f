"""`--code`."""

from __future__ import annotations

import json
from pathlib import Path

from scaling_law import LAW, law
from support import SMALL, Command, left_behind


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


def test_code_that_changes_the_directory_leaves_results_where_they_belong(command: Command, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    moves = LAW.replace("NAME", "moving")
    (tmp_path / "moving.py").write_text(f"import os\nos.chdir({str(tmp_path / 'elsewhere')!r})\n{moves}")
    (tmp_path / "moving.toml").write_text(SMALL.replace('preset = "newreno"', 'preset = "newreno", controller = "user:moving"'))
    done = command("run", "moving.toml", "--code", "moving.py", "--out", "results")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "results" / "flows.parquet").is_file()
    later = LAW.replace("NAME", "later").replace(
        "if ack.window", f"os.chdir({str(tmp_path / 'elsewhere')!r})\n        if ack.window"
    )
    (tmp_path / "later.py").write_text(f"import os\n{later}")
    (tmp_path / "later.toml").write_text(SMALL.replace('preset = "newreno"', 'preset = "newreno", controller = "user:later"'))
    done = command("run", "later.toml", "--code", "later.py", "--out", "others")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "others" / "flows.parquet").is_file()
    assert left_behind(tmp_path / "elsewhere") == set()
    assert not list(tmp_path.glob(".*.partial"))


def test_messages_of_user_code_are_short_and_printable(command: Command, tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text("raise ValueError('\\x1b[31m\\x07' + 'a' * 20_000_000)\n")
    (tmp_path / "small.toml").write_text(SMALL)
    done = command("run", "small.toml", "--code", "loud.py")
    assert done.returncode == 2
    assert "\\x1b[31m\\x07aaa" in done.stderr
    assert "more characters" in done.stderr
    assert "\x1b" not in done.stderr
    assert len(done.stderr) < 20_000


def test_an_interrupt_that_code_raises_is_an_error_of_the_code(command: Command, tmp_path: Path) -> None:
    (tmp_path / "stops.py").write_text("raise KeyboardInterrupt\n")
    (tmp_path / "small.toml").write_text(SMALL)
    done = command("run", "small.toml", "--code", "stops.py")
    assert done.returncode == 2
    assert "error: `stops.py` cannot be loaded: KeyboardInterrupt" in done.stderr
    (tmp_path / "signals.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    assert command("run", "small.toml", "--code", "signals.py").returncode == 130
