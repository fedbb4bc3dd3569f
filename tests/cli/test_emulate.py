"""`tailback emulate`: exit code, stdout, stderr, and files."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from made_hosts import SCENARIO, Traces, fine, python
from support import HANGS_S, ROOT, Command, left_behind

pytestmark = pytest.mark.usefixtures("emulation")

HEARD = "import socket; s = socket.create_connection(('right', 9), 5); print(s.recv(5).decode())"
SAYS = "import socket; l = socket.create_server(('', 9)); c, _ = l.accept(); c.send(b'hello'); c.close()"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "emulated.toml").write_text(SCENARIO)
    return tmp_path / "emulated.toml"


def test_commands_communicate_through_the_scenario(command: Command, file: Path) -> None:
    server = " ".join(["right:", sys.executable, "-c", f'"{SAYS}"'])
    # The server listens half a second after its start.
    server = server.replace("l = ", "import time; time.sleep(0.5); l = ")
    done = command("emulate", file, "--server", server, "--node", "left", "--", *python(HEARD))
    assert fine(done), done.stderr
    assert done.stdout.startswith("hello\nemulated: ")
    assert "left->right" in done.stdout
    assert left_behind(file.parent) == {"emulated.toml"}


def test_json_is_all_of_stdout(command: Command, file: Path) -> None:
    done = command("emulate", file, "--json", "--node", "left", "--", "echo", "hello")
    document = json.loads(done.stdout)
    assert done.returncode in (0, 1)
    assert "hello" in done.stderr
    assert document["emulation"]["commands"] == [{"node": "left", "command": "echo hello", "code": 0, "server": False}]
    assert document["tables"]["emulation"]["lateness_p99_s"] == [None]


def test_tables_are_written(command: Command, file: Path, tmp_path: Path) -> None:
    done = command("emulate", file, "--out", tmp_path / "out", "--node", "left", "--", "true")
    assert fine(done), done.stderr
    assert {"flows.parquet", "queues.parquet", "emulation.parquet", "provenance.json"} <= left_behind(tmp_path / "out")


def test_a_failed_command_sets_the_exit_code(command: Command, file: Path) -> None:
    done = command("emulate", file, "--node", "left", "--", "sh", "-c", "exit 7")
    assert done.returncode == 1
    assert "`sh -c 'exit 7'` at left exited with 7" in done.stderr


def test_a_command_that_does_not_exit_is_stopped_and_reported(traces: Traces, command: Command, file: Path) -> None:
    file.write_text(SCENARIO.replace('duration = "20 s"', 'duration = "0.5 s"'))
    done = command("emulate", file, "--run-on", "left:sleep 1000")
    assert done.returncode == 1
    assert "`sleep 1000` at left was still running at the end of the scenario's duration" in done.stderr
    assert traces.are_gone()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "there is nothing to run"),
        (["--", "true"], "choose one with --node"),
        (["--node", "left", "--", "no-such-program"], "`no-such-program` cannot be started on `left`: No such file or directory"),
        (["--run-on", "sleep 1"], "`sleep 1` is not a node and a command; expected for example `right:iperf3 -s`"),
        (["--run-on", "rihgt:sleep 1"], "did you mean `right`?"),
        (["--server", "right:sleep 1"], "there are only servers"),
        (["--sysctl", "tcp_ecn", "--run-on", "left:true"], "`tcp_ecn` is not a sysctl"),
        (["--sysctl", "kernel.hostname=me", "--run-on", "left:true"], "`kernel.hostname` is not a sysctl of the network stack"),
        (["--sysctl", "net./../../etc=1", "--run-on", "left:true"], "is not a sysctl of the network stack"),
        (["--run-on", "left:'unbalanced"], "is not a command: no closing quotation"),
        (["--kernel-flows", "web"], "`flows` has no group `web`"),
    ],
)
def test_invalid_commands_are_rejected(command: Command, file: Path, arguments: list[str], message: str) -> None:
    done = command("emulate", file, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_a_scenario_with_cells_is_rejected(command: Command) -> None:
    done = command("emulate", ROOT / "examples" / "atm.toml", "--run-on", "switch:true")
    assert done.returncode == 2
    assert "real packets are not sent in cells" in done.stderr


def test_an_end_within_the_warm_up_is_reported(command: Command, file: Path) -> None:
    file.write_text(SCENARIO.replace('duration = "20 s"', 'duration = "20 s"\nwarmup = "10 s"'))
    done = command("emulate", file, "--run-on", "left:true")
    assert "the emulation ended within the warm-up of 10 s: NOTHING WAS MEASURED" in done.stdout
    assert done.returncode == 1


def test_ctrl_c_keeps_the_results_so_far(traces: Traces, file: Path) -> None:
    words = [sys.executable, "-m", "tailback", "emulate", str(file), "--run-on", "left:echo here", "--run-on", "right:sleep 1000"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "here\n"
    os.killpg(process.pid, signal.SIGINT)
    stdout, stderr = process.communicate(timeout=HANGS_S)
    assert process.returncode == 130, stderr
    assert "ended by an interruption, INCOMPLETE" in stdout
    assert "Traceback" not in stderr
    assert traces.are_gone()


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("setpriv") is None, reason="needs root, to become somebody else")
def test_missing_permission_for_the_device_is_reported_with_a_remedy() -> None:
    if Path("/dev/net/tun").stat().st_mode & 0o002:
        pytest.skip("everyone may open /dev/net/tun here")
    words = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", sys.executable, "-m", "tailback"]
    done = subprocess.run(
        [*words, "emulate", ROOT / "examples" / "emulated.toml", "--run-on", "left:true"], capture_output=True, text=True, cwd="/"
    )
    if "Permission denied" in done.stderr and "/dev/net/tun" not in done.stderr:
        pytest.skip("another user cannot run this Python, or read this file")
    assert done.returncode == 2
    assert "/dev/net/tun cannot be opened" in done.stderr or "may not create network namespaces" in done.stderr
