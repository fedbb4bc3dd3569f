"""The command without a subcommand."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import tailback as tb
from support import ROOT, SMALL, Command
from tailback._core import __commit__


def test_version(command: Command) -> None:
    done = command("--version")
    # Only an optimised build from a checkout has a commit.
    commit = f" (commit {__commit__})" if re.fullmatch("[0-9a-f]{12}", __commit__) else ""
    assert (done.returncode, done.stdout, done.stderr) == (0, f"tailback {tb.__version__}{commit}\n", "")


@pytest.mark.parametrize("arguments", [["--help"], ["run", "-h"], ["check", "--help"], ["schema", "--help"], ["demo", "--help"]])
def test_help(command: Command, arguments: list[str]) -> None:
    done = command(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Usage: " in done.stdout


def test_commands_are_listed_in_the_order_of_their_definition(command: Command) -> None:
    _, listed = command("--help").stdout.split("Commands:\n")
    names = [line.split()[0] for line in listed.splitlines()]
    assert names[:2] == ["run", "lab"]
    assert sorted(names) != names


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["runn"], "No such command 'runn'. Did you mean 'run'?"),
        (["study", "stats"], "No such command 'stats'. Did you mean 'status'?"),
        (["run", "small.toml", "--jsn"], "No such option '--jsn'. (Did you mean one of: '--csv', '--json'?)"),
        (
            ["run", "small.toml", "--seeds", "5"],
            "No such option: --seeds; one run has one `--seed`, and `tailback sweep FILE --seeds N` runs N seeds.",
        ),
        (["plot"], "No such command 'plot'; `tailback run FILE --plot` plots a run, and `tailback study plot DIR` a study."),
        (["run"], "Missing argument 'FILE'."),
        (["run", "small.toml", "more.toml"], "Got unexpected extra argument (more.toml)"),
        (["run", "small.toml", "--seed", "x"], "Invalid value for '--seed': 'x' is not a valid integer."),
        (["sweep", "small.toml", "--seeds", "0"], "Invalid value for '--seeds': 0 is not in the range x>=1."),
        (["run", ""], "Invalid value for 'FILE': the path is empty"),
        (["run", "small.toml", "--out", "x" * 300], "Invalid value for '--out': not a valid file name: File name too long"),
    ],
)
def test_invalid_words_are_reported_with_valid_ones(command: Command, arguments: list[str], message: str) -> None:
    done = command(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    usage, try_help, _, error = done.stderr.splitlines()
    assert usage.startswith("Usage: tailback ")
    assert try_help.endswith(" --help' for help.")
    assert error == f"Error: {message}"


@pytest.fixture
def installed(tmp_path: Path) -> dict[str, str]:
    """An environment with a program `tailback` in its path."""
    program = tmp_path / "tailback"
    program.write_text(f"#!/bin/sh\nexec '{sys.executable}' -m tailback \"$@\"\n")
    program.chmod(0o755)
    return {"PATH": f"{tmp_path}:/usr/bin:/bin"}


@pytest.mark.parametrize(
    ("typed", "completed"), [("re", "reproduce"), ("study m", "means"), ("run --che", "--checkpoint --checkpoint-every")]
)
def test_completion_works_in_bash_as_documented(installed: dict[str, str], typed: str, completed: str) -> None:
    [told] = re.findall("^    (eval .*)", (ROOT / "docs/reference/command_line.md").read_text(), re.MULTILINE)
    asked = (
        f"COMP_WORDS=(tailback {typed}); COMP_CWORD={typed.count(' ') + 1}; _tailback_completion tailback; echo ${{COMPREPLY[*]}}"
    )
    done = subprocess.run(["bash", "-c", f"{told}; {asked}"], env=installed, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{completed}\n", "")


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("export small.toml --as m", "mahimahi mininet"),
        ("size-buffer --preset linux/c", "linux/cubic"),
        ("study export x --format c", "csv"),
        ("sweep small.toml --executor p", "processes"),
        ("reproduce bpd", "bpd-2001"),
        ("sweep small.toml --vary topology.dumbbell.queue.pol", "topology.dumbbell.queue.policy="),
        (
            "sweep small.toml --vary topology.dumbbell.queue.policy=co",
            "topology.dumbbell.queue.policy=codel topology.dumbbell.queue.policy=cobalt",
        ),
        ("sweep small.toml --vary flows.tcp.tcp.preset=reno,linux/bb", "flows.tcp.tcp.preset=reno,linux/bbr"),
        ("sweep missing.toml --vary flows", ""),
    ],
)
def test_values_are_completed(installed: dict[str, str], tmp_path: Path, typed: str, completed: str) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    words = f"tailback {typed}"
    asked = {"_TAILBACK_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    done = subprocess.run(["tailback"], env=installed | asked, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    found = [line.removeprefix("plain,") for line in done.stdout.splitlines()]
    assert [word for word in found if word and not word.startswith("bpd-2001/")] == completed.split()


@pytest.mark.parametrize("arguments", [["help"], ["help", "run"], ["study", "help", "means"]])
def test_help_is_a_command_too(command: Command, arguments: list[str]) -> None:
    done = command(*arguments)
    rest = [word for word in arguments if word != "help"]
    assert (done.returncode, done.stdout) == (0, command(*rest, "--help").stdout)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_documented_shell_gets_its_completion_script(installed: dict[str, str], shell: str) -> None:
    assert f"{shell}_source" in (ROOT / "docs/reference/command_line.md").read_text()
    done = subprocess.run(["tailback"], env=installed | {"_TAILBACK_COMPLETE": f"{shell}_source"}, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"_TAILBACK_COMPLETE={shell}_complete" in done.stdout


@pytest.mark.parametrize("words", ["tailback run sm", "tailback check a.toml sm", "tailback run small.toml --out sm"])
def test_names_of_files_are_completed_by_the_shell(installed: dict[str, str], words: str) -> None:
    asked = {"_TAILBACK_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    done = subprocess.run(["tailback"], env=installed | asked, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "file,sm\n")
