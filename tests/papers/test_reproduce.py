"""`tailback.reproduce`."""

from __future__ import annotations

import pytest

import tailback as tb


@pytest.mark.parametrize("seeds", [1, 0, 2.5, "many", True])
def test_python_rejects_the_same_arguments(seeds: object) -> None:
    with pytest.raises(tb.ParameterError, match="seeds"):
        tb.reproduce("bpd-2001/fig1", seeds=seeds)  # type: ignore[arg-type]


def test_python_rejects_unknown_experiments() -> None:
    with pytest.raises(tb.UnknownName, match="did you mean `bpd-2001`"):
        tb.reproduce("bpd-2002")
