"""Sweeps with user code: in processes that have to find it, stored by its source."""

from __future__ import annotations

import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import tailback as tb
import user_laws
from scaling_law import LAW, forget, law, scenario
from tailback._study import study as studies
from tailback._study.executors import Processes, Threads, open_pool


def test_a_study_with_user_code_takes_processes_and_others_take_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[str] = []

    def noted(executor: Any, workers: Any, *, with_code: bool) -> Any:
        made = open_pool(executor, workers, with_code=with_code)
        taken.append(type(made).__name__)
        return made

    monkeypatch.setattr(studies, "open_pool", noted)
    brought = tb.sweep(scenario("user:reno"), seeds=2, workers=2)
    built_in = tb.sweep(scenario("reno"), seeds=2, workers=2)
    assert taken == [Processes.__name__, Threads.__name__]
    assert brought.counts.done == 2
    assert [row["goodput_bps"] for row in brought.flows.to_rows()] == [row["goodput_bps"] for row in built_in.flows.to_rows()]
    assert brought.runs["content_hash"].tolist() != built_in.runs["content_hash"].tolist()


@pytest.mark.parametrize("importable", [True, False], ids=["by its module", "by its file"])
def test_a_new_worker_finds_the_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, importable: bool) -> None:
    name = f"spawned_{importable}".lower()
    monkeypatch.setattr(sys, "path", list(sys.path))
    tb.user_code.load(law(tmp_path, name))
    if not importable:
        sys.path.remove(str(tmp_path))
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        study = tb.sweep(scenario(f"user:{name}"), seeds=2, executor=pool)
    assert study.counts.done == 2, study.runs["error"].tolist()
    here = tb.simulate(scenario(f"user:{name}"), seed=2)
    assert study.flows["goodput_bps"][1] == here.flows["goodput_bps"][0]
    assert study.provenance(0, 2)["user_code"] == here.provenance["user_code"]


def test_parameters_of_user_code_vary_though_the_scenario_gives_none(tmp_path: Path) -> None:
    tb.user_code.load(law(tmp_path, "varied"))
    path = "flows.tcp.tcp.controller.parameters.gain"
    base = scenario({"kind": "user:varied"})
    study = tb.sweep(base, vary={path: [0.5, 4.0]}, executor="threads")
    assert study.runs[path].tolist() == [0.5, 4.0]
    low, high = study.flows["sent_packets"].tolist()
    assert low != high
    with pytest.raises(tb.ScenarioError, match="`Law` has no parameter `gian`"):
        tb.sweep(base, vary={"flows.tcp.tcp.controller.parameters.gian": [1]})


def test_a_study_of_changed_code_is_rejected_unless_refreshed(tmp_path: Path) -> None:
    file, out = law(tmp_path, "changing"), tmp_path / "study"
    tb.user_code.load(file)
    before = tb.sweep(scenario("user:changing"), seeds=2, out=out, executor="threads")
    hashes, told = before.runs["content_hash"].tolist(), before.provenance(0, 1)["user_code"]
    forget("changing")
    with pytest.raises(tb.ScenarioError, match="names an unknown controller: `user:changing`"):
        before.resume()
    tb.user_code.load(law(tmp_path, "changing", LAW.replace("self.gain * ", "2 * self.gain * ")))
    text = r"version of the controller `changing` \(`changing.Law`\).* repeats 2 of 2 runs, those that use the changed class;"
    with pytest.raises(tb.StudyError, match=text):
        before.resume()
    again = before.resume(refresh=True, executor="threads")
    assert again.counts.done == 2
    assert not set(hashes) & set(again.runs["content_hash"].tolist())
    assert again.provenance(0, 1)["user_code"][0]["sha256"] != told[0]["sha256"]


def test_a_change_of_one_class_repeats_only_its_runs(tmp_path: Path) -> None:
    other = LAW.replace("NAME", "pair_other").replace("class Law", "class Other").removeprefix("import tailback as tb\n")
    path = "flows.tcp.tcp.controller"
    tb.user_code.load(law(tmp_path, "pair", LAW + other))
    vary: dict[Any, Any] = {path: ["user:pair", "user:pair_other"]}
    study = tb.sweep(scenario("user:pair"), vary=vary, seeds=2, out=tmp_path / "study", executor="threads")
    before = dict(zip(zip(study.runs["point"], study.runs["seed"], strict=True), study.runs["content_hash"], strict=True))
    for name in ("pair", "pair_other"):
        forget(name)
    tb.user_code.load(law(tmp_path, "pair", LAW + other.replace("self.gain * ", "2 * self.gain * ")))
    study.resume(refresh=True, executor="threads")
    after = dict(zip(zip(study.runs["point"], study.runs["seed"], strict=True), study.runs["content_hash"], strict=True))
    assert {point for (point, _), value in after.items() if before[point, _] != value} == {1}


def test_a_change_of_an_imported_file_repeats_the_runs_that_use_it(tmp_path: Path) -> None:
    (tmp_path / "gains.py").write_text("def imported():\n    return 1.0\n")
    importing = LAW.replace("import tailback as tb\n", "import tailback as tb\nfrom gains import imported\n", 1)
    text = importing.replace("self.gain * ", "imported() * ") + LAW.replace("NAME", "alone").replace(
        "class Law", "class Alone"
    ).removeprefix("import tailback as tb\n")
    tb.user_code.load(law(tmp_path, "importing", text))
    vary: dict[Any, Any] = {"flows.tcp.tcp.controller": ["user:importing", "user:alone"]}
    study = tb.sweep(scenario("user:importing"), vary=vary, out=tmp_path / "study", executor="threads")
    before = study.runs["content_hash"].tolist()
    for name in ("importing", "alone", "gains"):
        forget(name)
    (tmp_path / "gains.py").write_text("def imported():\n    return 2.0\n")
    tb.user_code.load(tmp_path / "importing.py")
    with pytest.raises(tb.StudyError, match=r"controller `importing` .* repeats 1 of 2 runs"):
        study.resume()
    after = study.resume(refresh=True, executor="threads").runs["content_hash"].tolist()
    assert [old != new for old, new in zip(before, after, strict=True)] == [True, False]
    assert study.provenance(0, 1)["user_code"][0]["imports"] == ["gains"]
    forget("gains")


def test_code_that_changes_the_directory_does_not_move_the_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    moving = LAW.replace("import", "import os\nimport", 1).replace(
        "        if ack", f"        os.chdir({str(tmp_path / 'elsewhere')!r})\n        if ack"
    )
    tb.user_code.load(law(tmp_path, "wandering", moving))
    traced = scenario("user:wandering").with_({"record.traces": ["cwnd"]})
    study = tb.sweep(traced, seeds=2, out="study", executor="threads", workers=1)
    assert study.counts.done == 2
    assert len(study.trace("cwnd", 0, 1)) > 0
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_worker_with_different_code_executes_no_run(tmp_path: Path) -> None:
    file = law(tmp_path, "elsewhere")
    tb.user_code.load(file)
    file.write_text(file.read_text().replace("2.0", "3.0"))
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        study = tb.sweep(scenario("user:elsewhere"), executor=pool)
    assert study.counts.failed == 1
    assert "the controller `elsewhere` has a different source on this worker" in study.runs["error"][0]


def test_an_exception_in_user_code_is_the_error_of_its_run(tmp_path: Path) -> None:
    tb.user_code.load(law(tmp_path, "raising", LAW.replace("if ack.window_validated", "if 1 / 0")))
    study = tb.sweep(scenario("user:raising"), workers=1)
    assert study.counts.failed == 1
    assert "UserCodeError: `user:raising` failed: ZeroDivisionError" in study.runs["error"][0]
    assert "flows.tcp.tcp.controller, " in study.runs["error"][0]


def test_the_laws_of_these_tests_are_registered() -> None:
    assert tb.user_code._registry.registered_class("controller", "reno") is user_laws.Reno
