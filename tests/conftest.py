"""Shared fixtures: the command, run like by a user, and a small scenario."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import time
import types
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

import tailback as tb
from disturbance import Disturbance
from made_hosts import MARK, Traces, why_not
from support import HANGS_S, SMALL, Command, without_progress
from tailback.papers import Document, Experiment, _documents
from toy_experiment import TOY

LONG = [
    "test_lab_editing.py",
    "test_lab_runs.py",
    "test_lab_page.py",
    "test_lab_text.py",
    "test_pages.py",
    "test_docs.py",
    "test_survives.py",
    "test_gallery.py",
    "test_buffer.py",
    "test_members.py",
]
"""Files whose tests together take more than half a minute, the longest first."""

collect_ignore = ["user_laws.py"]
"""Doctests would import it under a second name, and its controllers can be registered only once."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Schedule long files first, so that no process is left with one of them at the end."""
    place = {name: index for index, name in enumerate(LONG)}
    items.sort(key=lambda item: place.get(item.path.name, len(LONG)))


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, Any, Any]:
    """Let the first process import all modules alone. It stores their bytecode, so that the others need not compile it."""
    worker: dict[str, Any] | None = getattr(session.config, "workerinput", None)
    if worker is None:
        return (yield)
    imported = Path(session.config.option.basetemp).parent / "imported"
    end = time.monotonic() + HANGS_S
    while worker["workerid"] != "gw0" and not imported.exists() and time.monotonic() < end:
        time.sleep(0.05)
    # Modules and tests are objects that live as long as the process; there is nothing to collect, now or later.
    gc.disable()
    result = yield
    gc.freeze()
    gc.enable()
    imported.touch()
    return result


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, Any, Any]:
    """Skip a failed test of real time if this machine delayed it, with the measured delay as the reason."""
    if pyfuncitem.get_closest_marker("real_time") is None:
        return (yield)
    disturbance = Disturbance()
    try:
        return (yield)
    except (AssertionError, TimeoutError) as failed:
        if measured := disturbance.measured():
            statement, _, _ = str(failed).partition("\n")
            pytest.skip(f"inconclusive, because {measured}: {statement}")
        raise
    finally:
        disturbance.end()


@pytest.fixture
def command(tmp_path: Path) -> Command:
    """Runs `tailback ARGUMENTS` in an empty directory, without a terminal or a display, and leaves out its progress."""

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "MPLBACKEND": "agg"}
        environment |= {MARK: os.environ[MARK]} if MARK in os.environ else {}
        words = [sys.executable, "-m", "tailback", *map(str, arguments)]
        done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True)
        done.stderr = without_progress(done.stderr)
        return done

    return run


@pytest.fixture
def scenario() -> tb.Scenario:
    """Two flows at a small bottleneck, with traces: some thousand packets."""
    return tb.dumbbell(
        rate="10 Mbps",
        delay="10 ms",
        buffer="20 packets",
        flows=2,
        duration="5 s",
        warmup="1 s",
        traces=["cwnd", "queue", "drops"],
    )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The same scenario as a file."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch) -> list[Experiment]:
    """A document with toy experiments, which tests may replace."""
    experiments = [TOY]
    module = types.ModuleType("toys")
    monkeypatch.setitem(sys.modules, "toys", module)
    monkeypatch.setattr(_documents, "DOCUMENTS", {"toy": "toys"})
    monkeypatch.setattr(
        module, "__getattr__", lambda _name: Document("toy", "Toys", "A toy box", {}, tuple(experiments)), raising=False
    )
    return experiments


@pytest.fixture(scope="session")
def emulation() -> None:
    """Skips the test if emulation is not possible on this machine."""
    if why_not():
        pytest.skip(why_not())


@pytest.fixture
def traces(monkeypatch: pytest.MonkeyPatch) -> Traces:
    """Traces that the emulations of one test leave on this machine."""
    return Traces(monkeypatch)
