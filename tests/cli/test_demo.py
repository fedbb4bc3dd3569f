"""`tailback demo`."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from support import Command
from tailback._cli import app
from tailback._demo import buffer, switch, switch_grid


def test_a_place_that_cannot_be_written_is_refused_at_once(command: Command, tmp_path: Path) -> None:
    (tmp_path / "taken").touch()
    done = command("demo", "--out", "taken")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: cannot write to `taken`: ")


@pytest.mark.parametrize("is_installed", [True, False])
def test_the_second_question_requires_the_package_that_defines_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_installed: bool
) -> None:
    answered: list[str] = []

    def answer(question: str) -> int:
        answered.append(question)
        return 0

    monkeypatch.setattr(buffer, "answer", lambda *_arguments, **_options: answer("buffer"))
    monkeypatch.setattr(switch, "answer", lambda *_arguments, **_options: answer("switch"))
    if not is_installed:
        monkeypatch.setattr(switch_grid, "entry_points", lambda **_which: [])
    done = CliRunner().invoke(app, ["demo", "--out", str(tmp_path)])
    assert done.exit_code == 0
    assert answered == (["buffer", "switch"] if is_installed else ["buffer"])
    requires = "the second question, about an ATM switch, requires tailback-papers: "
    assert (requires in done.stderr) == ("pip install" in done.stderr) == (not is_installed)
