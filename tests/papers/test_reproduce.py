"""`tailback.reproduce`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import tailback as tb
from tailback.papers import Document, document
from tailback.papers._plan import Plan
from toy_experiment import TOY


@pytest.mark.parametrize("seeds", [1, 0, 2.5, "many", True])
def test_python_rejects_the_same_arguments(seeds: object) -> None:
    with pytest.raises(tb.ParameterError, match="seeds"):
        tb.reproduce("bpd-2001/fig1", seeds=seeds)  # type: ignore[arg-type]


def test_python_rejects_unknown_experiments() -> None:
    with pytest.raises(tb.UnknownName, match="did you mean `bpd-2001`"):
        tb.reproduce("bpd-2002")


def test_own_experiments_need_no_package(tmp_path: Path) -> None:
    own = replace(TOY, id="notes/fig1")
    done = tb.reproduce(own, seeds=2)
    assert [outcome.experiment for outcome in done.experiments] == [own]
    assert [file.name for file in done.save(tmp_path)] == ["notes.html", "notes.json"]
    assert own.title in (tmp_path / "notes.html").read_text()
    whole = Document("notes", "Notes on buffers", "A notebook", {}, (own,))
    assert tb.reproduce(whole, own, seeds=2).documents == ["notes"]
    assert len(repr(whole)) < 100 > len(repr(document("bpd-2001")))


def test_ctrl_c_before_the_first_run_is_an_interruption(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tailback._study.measurements.prepare_study", interrupted)
    with pytest.raises(tb.ReproductionInterrupted, match="interrupted after 0 of") as caught:
        tb.reproduce(TOY, seeds=2)
    assert caught.value.reproduction.missing == [TOY.id]
    with pytest.raises(KeyboardInterrupt):
        Plan([TOY], 2).run()
