"""The command without a verb."""

from __future__ import annotations

import pytest

import tailback as tb
from support import Command


def test_version(command: Command) -> None:
    done = command("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"tailback {tb.__version__}\n", "")


@pytest.mark.parametrize("arguments", [["--help"], ["run", "-h"], ["check", "--help"], ["schema", "--help"], ["demo", "--help"]])
def test_help(command: Command, arguments: list[str]) -> None:
    done = command(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Usage: " in done.stdout
