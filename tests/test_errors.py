"""Exceptions carry data, also to another process."""

from __future__ import annotations

import pickle

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
