"""A study on a real Dask cluster on this machine, whose workers are killed."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

import tailback as tb
from support import Command
from tailback._study import cluster

distributed = pytest.importorskip("distributed")

VARY: dict[Any, Any] = {"topology.dumbbell.queue.buffer": ["5 packets", "20 packets"], "flows.*.tcp.preset": ["reno", "sack"]}

# Dask's own warnings about ports that other tests use, and about killed workers.
pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.skipif(os.name == "nt", reason="signals")]


@pytest.fixture
def small() -> tb.Scenario:
    flow: Any = {"start": {"uniform": ["0 s", "0.2 s"]}, "tcp": {"preset": "newreno"}}
    return tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="1 s", flows={"tcp": flow}, traces=["cwnd"])


def exported(study: tb.Study, folder: Path) -> dict[str, bytes]:
    study.export(folder, traces=True)
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def test_runs_of_killed_workers_are_repeated_and_counted_once(small: tb.Scenario, tmp_path: Path) -> None:
    alone = tb.sweep(small, VARY, seeds=10)
    alive: list[int] = []
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as local,
        distributed.Client(local) as client,
    ):
        alive += [nanny.pid for nanny in local.workers.values()]

        def watch(progress: Any) -> None:
            """One worker dies when runs are submitted, the other when some are finished; their nannies start new ones."""
            if alive and progress.done >= (0, 10)[len(alive) == 1]:
                os.kill(alive.pop(), signal.SIGKILL)

        study = tb.sweep(small, VARY, seeds=10, executor=client.get_executor(), workers=2, out=tmp_path / "study", progress=watch)
    assert alive == []
    assert (study.counts.done, study.counts.failed, study.counts.total) == (40, 0, 40)
    assert exported(study, tmp_path / "a") == exported(alone, tmp_path / "b")


def test_the_command_line_starts_a_local_cluster(command: Command, file: Path) -> None:
    swept = command("sweep", file, "--seeds", 3, "--out", "a", "--cluster", "local", "--workers", 1)
    assert swept.returncode == 0, swept.stderr
    assert swept.stdout.startswith("a: 3 of 3 runs done")


def test_a_missing_scheduler_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_TIMEOUT_S", 0.2)
    with (
        pytest.raises(tb.StudyError, match=r"cannot connect to a Dask scheduler at `tcp://127.0.0.1:9`"),
        cluster.connected("tcp://127.0.0.1:9", 1),
    ):
        pass


def test_a_study_waits_for_the_first_worker() -> None:
    said: list[str] = []
    with distributed.LocalCluster(n_workers=0, threads_per_worker=1, dashboard_address=None) as scheduler:

        def start_worker(message: str) -> None:
            said.append(message)
            scheduler.scale(1)

        with cluster.connected(scheduler.scheduler_address, None, wait_s=60, on_wait=start_worker) as (_, workers):
            assert workers == 1
        assert len(said) == 1
        assert "waiting up to 60 s" in said[0]


def test_a_cluster_without_workers_is_reported_after_the_wait() -> None:
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=None) as scheduler,
        pytest.raises(tb.StudyError, match=r"has no workers after 0\.2 s; nothing was run"),
        cluster.connected(scheduler.scheduler_address, None, wait_s=0.2),
    ):
        pass


def test_a_wait_without_a_cluster_is_refused(command: Command, file: Path) -> None:
    swept = command("sweep", file, "--out", "a", "--wait", 5)
    assert swept.returncode == 2
    assert "--wait is for the workers of a cluster" in swept.stderr
