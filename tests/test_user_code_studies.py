"""Sweeps with user code: in processes that have to find it, keyed by its source, and on the command line."""

from __future__ import annotations

import json
import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import tailback as tb
import user_laws
from support import SMALL, Command
from tailback._study import study as studies
from tailback._study.crew import Processes, Threads, crew

LAW = """\
import tailback as tb


@tb.controller("NAME")
class Law(tb.user_code.Controller):
    def __init__(self, start, *, gain=1.0):
        super().__init__(start)
        self.gain = gain

    def on_ack(self, ack):
        if ack.window_limited:
            self.window += self.gain / self.window

    def on_congestion(self, seen):
        self.window = self.ssthresh = max(seen.in_flight / 2, 2.0)

    def on_timeout(self, seen):
        self.window = 1.0
"""


def scenario(controller: Any) -> tb.Scenario:
    made = tb.dumbbell(rate="5 Mbps", delay="10 ms", buffer="20 packets", duration="2 s")
    return made.with_({"flows.tcp.tcp.controller": controller})


def law(folder: Path, name: str, text: str = LAW) -> Path:
    """A file with a law of that name."""
    file = folder / f"{name}.py"
    file.write_text(text.replace("NAME", name))
    return file


def forget(name: str) -> None:
    """As in a process that has not loaded it."""
    tb.user_code._registry._registered.pop(("controller", name), None)
    sys.modules.pop(name, None)


def test_a_study_with_user_code_takes_processes_and_others_take_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[str] = []

    def noted(executor: Any, workers: Any, *, with_code: bool) -> Any:
        made = crew(executor, workers, with_code=with_code)
        taken.append(type(made).__name__)
        return made

    monkeypatch.setattr(studies, "crew", noted)
    brought = tb.sweep(scenario("user:reno"), seeds=2, workers=2)
    built_in = tb.sweep(scenario("reno"), seeds=2, workers=2)
    assert taken == [Processes.__name__, Threads.__name__]
    assert brought.counts.done == 2
    assert [row["goodput_bps"] for row in brought.flows.to_rows()] == [row["goodput_bps"] for row in built_in.flows.to_rows()]
    assert brought.runs["content_hash"].tolist() != built_in.runs["content_hash"].tolist()


@pytest.mark.parametrize("importable", [True, False], ids=["by its module", "by its file"])
def test_a_worker_that_knows_nothing_finds_the_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, importable: bool) -> None:
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
    with pytest.raises(tb.ScenarioError, match="`Law` takes no `gian`"):
        tb.sweep(base, vary={"flows.tcp.tcp.controller.parameters.gian": [1]})


def test_a_study_of_code_that_has_changed_is_refused_until_it_is_refreshed(tmp_path: Path) -> None:
    file, out = law(tmp_path, "changing"), tmp_path / "study"
    tb.user_code.load(file)
    before = tb.sweep(scenario("user:changing"), seeds=2, out=out, executor="threads")
    hashes, told = before.runs["content_hash"].tolist(), before.provenance(0, 1)["user_code"]
    forget("changing")
    with pytest.raises(tb.ScenarioError, match="unknown controller `user:changing`"):
        before.resume()
    tb.user_code.load(law(tmp_path, "changing", LAW.replace("self.gain / ", "2 * self.gain / ")))
    with pytest.raises(tb.StudyError, match="user code that has changed since"):
        before.resume()
    again = before.resume(refresh=True, executor="threads")
    assert again.counts.done == 2
    assert not set(hashes) & set(again.runs["content_hash"].tolist())
    assert again.provenance(0, 1)["user_code"][0]["sha256"] != told[0]["sha256"]


def test_a_worker_whose_code_is_another_does_no_run(tmp_path: Path) -> None:
    file = law(tmp_path, "elsewhere")
    tb.user_code.load(file)
    file.write_text(file.read_text().replace("2.0", "3.0"))
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        study = tb.sweep(scenario("user:elsewhere"), executor=pool)
    assert study.counts.failed == 1
    assert "the controller `elsewhere` has another source on this worker" in study.runs["error"][0]


def test_what_user_code_raises_is_the_error_of_its_run(tmp_path: Path) -> None:
    tb.user_code.load(law(tmp_path, "raising", LAW.replace("if ack.window_limited", "if 1 / 0")))
    study = tb.sweep(scenario("user:raising"), workers=1)
    assert study.counts.failed == 1
    assert "UserCodeError: `user:raising` failed: ZeroDivisionError" in study.runs["error"][0]
    assert "flows.tcp.tcp.controller, " in study.runs["error"][0]


def test_the_command_line_loads_code(command: Command, tmp_path: Path) -> None:
    law(tmp_path, "mine")
    file = tmp_path / "mine.toml"
    mine = 'controller = { kind = "user:mine", parameters = { gain = 2 } }'
    file.write_text(SMALL.replace('preset = "newreno"', f'preset = "newreno", {mine}'))
    done = command("check", "mine.toml")
    assert done.returncode == 2
    assert "unknown controller `user:mine`" in done.stderr
    assert "`--code FILE.py` loads the file that registers it" in done.stderr
    done = command("check", "mine.toml", "--code", "mine.py")
    assert (done.returncode, done.stdout) == (0, "mine.toml: sound\n")
    done = command("run", "mine.toml", "--code", "mine.py", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["user_code"][0]["file"] == "mine.py"
    vary = ["--vary", "flows.tcp.tcp.controller.parameters.gain=1,3"]
    done = command("sweep", "mine.toml", "--code", "mine.py", *vary, "--out", "study", "--workers", "2")
    assert done.returncode == 0, done.stderr
    assert "2 of 2 runs done" in done.stdout
    assert command("study", "resume", "study").returncode == 2
    done = command("study", "resume", "study", "--code", "mine.py")
    assert done.returncode == 0, done.stderr


def test_the_command_line_shows_the_traceback_of_user_code_and_no_other(command: Command, tmp_path: Path) -> None:
    law(tmp_path, "broken", LAW + "\n1 / 0\n")
    (tmp_path / "failing.toml").write_text(SMALL.replace('preset = "newreno"', 'preset = "newreno", controller = "user:failing"'))
    (tmp_path / "failing.py").write_text(LAW.replace("NAME", "failing").replace("if ack.window_limited", "if ack.limited"))
    done = command("run", "failing.toml", "--code", "failing.py", "--out", "results")
    assert (done.returncode, done.stdout) == (2, "")
    lines = done.stderr.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[1].endswith('failing.py", line 11, in on_ack')
    assert "error: `user:failing` failed: AttributeError" in done.stderr
    assert "  at       flows.tcp.tcp.controller, 0." in done.stderr
    assert "bug" not in done.stderr
    assert not (tmp_path / "results").exists()
    assert not list(tmp_path.glob(".*.partial"))
    done = command("run", "failing.toml", "--code", "broken.py", "--json")
    assert done.returncode == 2
    assert 'broken.py", line' in done.stderr
    assert "tailback/user_code/_loading.py" not in done.stderr
    assert json.loads(done.stdout)["errors"][0]["message"] == "ZeroDivisionError: division by zero"
    done = command("run", "failing.toml", "--code", "nowhere.py")
    assert done.returncode == 2
    assert "there is no such file" in done.stderr


def test_the_laws_of_these_tests_are_registered() -> None:
    assert tb.user_code._registry.registered_class("controller", "reno") is user_laws.Reno
