"""An old option or command is an error whose message gives the new name."""

from __future__ import annotations

import pytest

from support import Command
from tailback._cli.renamed import RENAMED_COMMANDS, RENAMED_OPTIONS


@pytest.mark.parametrize(("names", "new"), RENAMED_OPTIONS.items())
def test_an_old_option_gives_the_new_one(command: Command, names: tuple[str, str], new: str) -> None:
    name, old = names
    done = command(name, old, "1", "small.toml")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"No such option: {old}; it has been renamed to {new}." in done.stderr
    assert f"{new} " in command(name, "--help").stdout


@pytest.mark.parametrize(("names", "new"), RENAMED_COMMANDS.items())
def test_an_old_command_gives_the_new_one(command: Command, names: tuple[str, str], new: str) -> None:
    group, old = names
    done = command(group, old, "study")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"No such command '{old}'; it has been renamed to '{new}'." in done.stderr
    assert command(group, new, "--help").returncode == 0
