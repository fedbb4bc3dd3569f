"""`tailback.reproduce`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tailback as tb
from tailback.papers import Claim, Document, Experiment, Ranking, at, document
from tailback.papers._plan import Plan
from toy_experiment import TOY


@pytest.mark.parametrize("seeds", [1, 0, 2.5, "many", True])
def test_python_rejects_the_same_arguments(seeds: object) -> None:
    with pytest.raises(tb.ParameterError, match="seeds"):
        tb.reproduce("bpd-2001/fig1", seeds=seeds)  # type: ignore[arg-type]


def test_python_rejects_unknown_experiments() -> None:
    with pytest.raises(tb.UnknownName, match="did you mean `bpd-2001`"):
        tb.reproduce("bpd-2002")


def test_python_requires_an_experiment() -> None:
    with pytest.raises(tb.ParameterError, match=r"no experiment is given; .* documents: `bpd-2001`, `spd-1998`"):
        tb.reproduce()
    with pytest.raises(tb.ParameterError, match="5 is not an experiment; expected an ID"):
        tb.reproduce(5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"measures": {"goodput": "goodputt / 5e6"}}, "measure `goodput` of `notes/fig1`: `goodputt / 5e6` is not a quantity"),
        ({"claims": [at("goodputt", packets=50) > 0]}, "claim `C` of `notes/fig1`: no measure `goodputt`; .* mean `goodput`"),
        ({"claims": [at("goodput", packet=50) > 0]}, "no label `packet`; expected one of .*; did you mean `packets`"),
        ({"claims": [at("goodput", packets=51) > 0]}, "no packets 51; expected one of 2, 50"),
        ({"panels": (Ranking("goodputs", (), "share"),)}, "a panel or grid of `notes/fig1`: no measure `goodputs`; .* mean"),
        ({"measures": {"goodput": "groups.webb.goodput_bps"}}, r"notes/fig1 \(.*seed [12]: .*no .*`webb`"),
    ],
)
def test_names_in_own_experiments_are_checked(changes: dict[str, Any], message: str) -> None:
    claims = tuple(Claim("C", "", each) for each in changes.get("claims", [at("goodput", packets=50) > 0]))
    own = Experiment("notes/fig1", "", "", "", TOY.variants, changes.get("measures", {"goodput": "goodput / 1e7"}), claims)
    own = replace(own, panels=changes.get("panels", ()))
    with pytest.raises(tb.ParameterError, match=message):
        tb.reproduce(own, seeds=2)


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
