"""Exceptions carry data, also to another process."""

from __future__ import annotations

import pickle
from importlib.metadata import PackageNotFoundError

import pytest

import tailback as tb


def test_errors_survive_a_process_boundary() -> None:
    with pytest.raises(tb.ScenarioError) as caught:
        tb.Scenario({}).check()
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.problems) == (str(caught.value), caught.value.problems)
    bug = pickle.loads(pickle.dumps(tb.InternalError("a packet vanished", "abc", 7)))
    assert (bug.content_hash, bug.seed) == ("abc", 7)
    assert "please report it" in str(bug)


def test_a_missing_library_is_named_as_its_extra_asks_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert str(tb.MissingExtra("plotting", "matplotlib", "plot")).startswith(
        "plotting needs matplotlib: pip install 'matplotlib>="
    )
    assert " 'pyarrow>=" in str(tb.MissingExtra("a data frame", "pandas", "pandas"))

    def absent(name: str) -> list[str]:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.requires", absent)
    assert str(tb.MissingExtra("plotting", "matplotlib", "plot")) == "plotting needs matplotlib: pip install 'tailback[plot]'"
