"""Congestion controllers in libraries: the example in C, and those of the package `tailback-stacks`."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

import tailback as tb
from support import ROOT
from tailback import _core
from tailback.user_code import _libraries
from tailback.user_code._libraries import tables_at

ALONE = ("quinn-cubic", "quinn-newreno", "noq-cubic", "noq-newreno", "s2n-cubic")


def scenario(controller: str, duration: str = "20 s") -> tb.Scenario:
    """One flow through a buffer of a bandwidth-delay product."""
    tcp: Any = {"preset": "sack", "controller": f"user:{controller}"}
    return tb.dumbbell(
        rate="10 Mbps", delay="20 ms", buffer="34 packets", duration=duration, warmup="5 s", flows={"web": {"tcp": tcp}}
    )


def utilisation(run: tb.Run) -> float:
    return float(run.queues.where(queue="bottleneck")["utilisation"][0])


def contents(run: tb.Run) -> dict[str, str]:
    # As text, because missing numbers differ from themselves.
    return {name: str(table.to_dict()) for name, table in run.tables.items()}


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The example in C, as a library that is loaded for one test."""
    file = compiled(ROOT / "examples/c/aimd.c", tmp_path)
    monkeypatch.setattr(_libraries, "_loaded", {})
    assert tb.user_code.load_controllers(file) == ("aimd-c",)
    return file


def compiled(source: Path, folder: Path) -> Path:
    compiler = shutil.which("cc")
    if compiler is None or sys.platform == "win32":
        pytest.skip("no C compiler `cc`")
    options = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-I", str(ROOT / "crates/host/include")]
    file = folder / f"{source.stem}.so"
    subprocess.run([compiler, *options, "-o", str(file), str(source), "-lm"], check=True)
    return file


def test_a_controller_in_c_behaves_like_the_same_in_python(library: Path) -> None:
    @tb.controller("aimd-python")
    class Aimd(tb.user_code.Controller):
        def on_ack(self, ack: tb.user_code.Ack) -> None:
            if ack.window_validated:
                self.window += ack.counted if self.window < self.ssthresh else ack.counted / self.window

        def on_congestion(self, _seen: tb.user_code.Congestion) -> None:
            self.window = self.ssthresh = max(self.window / 2, 2.0)

        def on_timeout(self, _seen: tb.user_code.Congestion) -> None:
            self.ssthresh, self.window = max(self.window / 2, 2.0), 1.0

    lossy = {"topology.dumbbell.loss": {"probability": "0.2 %"}}
    c, python = (tb.simulate(scenario(name).with_(lossy)) for name in ("aimd-c", "aimd-python"))
    assert c.flows["retransmitted_packets"][0] > 5
    assert contents(c) == contents(python)
    assert c.provenance["user_code"] == [
        {"at": "flows.web.tcp.controller", "kind": "controller", "name": "aimd-c", "version": "aimd-c 1"}
    ]


def test_a_controller_in_c_counts_all_losses_and_acknowledgements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_libraries, "_loaded", {})
    file = compiled(Path(__file__).with_name("counting_controller.c"), tmp_path)
    assert tb.user_code.load_controllers(file) == ("counting",)
    changes: dict[str, Any] = {"topology.dumbbell.loss": {"probability": "0.5 %"}, "warmup": "0 s"}
    changes["record.traces"] = ["ssthresh", "acks", "drops"]
    counted = {}
    for what in ("acks", "losses"):
        parameters = {"flows.web.tcp.controller": {"kind": "user:counting", "parameters": {what: True}}}
        run = tb.simulate(scenario("counting", "5 s").with_({**changes, **parameters}))
        counted[what] = run.trace("ssthresh")["ssthresh_packets"].max() - 10
    assert counted == {"acks": len(run.trace("acks")["time_s"]), "losses": len(run.trace("drops")["time_s"])}
    assert counted["losses"] > 4


def test_a_study_loads_the_library_in_other_processes(library: Path, tmp_path: Path) -> None:
    study = tb.sweep(scenario("aimd-c", "6 s"), seeds=2, out=tmp_path / "study", executor="processes", workers=2)
    assert (study.counts.done, study.counts.failed) == (2, 0)


def test_libraries_without_controllers_and_unknown_names_are_errors(library: Path) -> None:
    with pytest.raises(tb.ParameterError, match="cannot be loaded as a library with stacks"):
        tb.user_code.load_stacks(library)
    with pytest.raises(tb.ScenarioError, match="did you mean `user:aimd-c`"):
        tb.simulate(scenario("aimd-d"))


class TestControllersOfQuic:
    """Those of quinn, noq and s2n-quic."""

    @pytest.fixture(autouse=True)
    def package(self) -> None:
        pytest.importorskip("tailback_stacks", reason="`make stacks` builds the package")

    def test_the_package_names_what_its_library_has(self) -> None:
        import tailback_stacks

        for kind, address in (("controller", tailback_stacks.controllers()), ("stack", tailback_stacks.stacks())):
            names = {entry.name for entry in entry_points(group=f"tailback.{kind}s") if entry.module == "tailback_stacks"}
            assert names == {name for name, _ in _core.library_versions(kind, tables_at(kind, address))}

    @pytest.mark.parametrize("name", ALONE)
    def test_it_fills_a_link_with_a_buffer_of_a_bandwidth_delay_product(self, name: str) -> None:
        runs = [tb.simulate(scenario(name)) for _ in range(2)]
        assert utilisation(runs[0]) > 0.9
        assert contents(runs[0]) == contents(runs[1])
        assert runs[0].provenance["user_code"][0]["version"].split("-")[0] == name.split("-")[0]

    @pytest.mark.parametrize("name", ALONE)
    def test_it_recovers_from_the_losses_of_a_long_slow_start(self, name: str) -> None:
        fast = {
            "topology.dumbbell.rate": "100 Mbps",
            "topology.dumbbell.delay": "10 ms",
            "topology.dumbbell.queue.buffer": "170 packets",
        }
        assert tb.simulate(scenario(name, "2 s").with_({**fast, "warmup": "0 s"})).flows["retransmitted_packets"][0] > 100
        assert utilisation(tb.simulate(scenario(name, "10 s").with_(fast))) > 0.95

    def test_newreno_of_quinn_behaves_like_the_builtin_one(self) -> None:
        paced = {"flows.web.tcp.pacing": True}
        mine, builtin = (
            tb.simulate(scenario("quinn-newreno").with_(changes)).flows["goodput_bps"][0]
            for changes in (paced, paced | {"flows.web.tcp.controller": "reno"})
        )
        assert mine == pytest.approx(builtin, rel=0.03)

    def test_they_have_no_parameters(self) -> None:
        with pytest.raises(tb.ScenarioError, match="unknown field `gain`"):
            tb.simulate(scenario("x").with_({"flows.web.tcp.controller": {"kind": "user:s2n-cubic", "parameters": {"gain": 1}}}))
