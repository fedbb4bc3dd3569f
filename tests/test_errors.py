"""Exceptions carry data, also across processes."""

from __future__ import annotations

import pickle
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

import tailback as tb
from tailback.errors import how_to_install


def test_errors_survive_a_process_boundary() -> None:
    with pytest.raises(tb.ScenarioError) as caught:
        tb.Scenario({}).check()
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.problems) == (str(caught.value), caught.value.problems)
    bug = pickle.loads(pickle.dumps(tb.InternalError("a packet vanished", "abc", 7)))
    assert (bug.content_hash, bug.seed) == ("abc", 7)
    assert "please report it" in str(bug)


def test_a_missing_library_is_named_with_the_version_of_its_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    missing = tb.MissingExtra("plotting", "matplotlib", "plot")
    assert str(missing).startswith(f'plotting requires matplotlib: {sys.executable} -m pip install "matplotlib>=')
    assert str(pickle.loads(pickle.dumps(missing))) == str(missing)
    assert ' "pyarrow>=' in str(tb.MissingExtra("a data frame", "pandas", "pandas"))


def test_the_pip_command_is_relative_to_the_working_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def absent(name: str) -> list[str]:
        raise PackageNotFoundError(name)

    # Without an installed package its extras are unknown.
    monkeypatch.setattr("importlib.metadata.requires", absent)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "executable", str(tmp_path / ".venv" / "bin" / "python"))
    short = str(Path(".venv") / "bin" / "python")
    assert (
        str(tb.MissingExtra("plotting", "matplotlib", "plot"))
        == f"plotting requires matplotlib: {short} -m pip install matplotlib"
    )
    monkeypatch.setattr(sys, "executable", "/my tools/python")
    assert how_to_install("plot", "matplotlib") == f'"{Path("/my tools/python")}" -m pip install matplotlib'
