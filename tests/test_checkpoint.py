"""Runs resumed from a checkpoint give the same bytes, also after kill -9; other files are rejected."""

from __future__ import annotations

import hashlib
import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest

import tailback as tb
from tailback._cli.run import run as run_command
from tailback._simulation import simulating

# A scenario with all kinds of state: marks, traces, random loss, an application, changes, and prices by marks.
FLOWS: dict[str, Any] = {
    "web": {"count": 3, "propagation_rtt": {"uniform": ["20 ms", "60 ms"]}, "tcp": {"preset": "sack", "ecn": True}},
    "paid": {"tcp": {"preset": "sack", "controller": {"kind": "rem", "max_rate": "10 Mbps"}}},
    "udp": {"source": {"kind": "poisson", "rate": "1 Mbps", "packet_size": "500 B"}},
}
SCENARIO = tb.dumbbell(
    rate="10 Mbps",
    delay="5 ms",
    queue={"policy": "rem", "target": "5 packets", "gamma": 1e-5, "buffer": "80 packets"},
    flows=FLOWS,
    duration="200 s",
    warmup="2 s",
    prices={"scheme": "ram", "min_price": 0, "max_price": 10, "identification": "counting"},
    timeline=[{"at": "120 s", "link": "bottleneck", "rate": "8 Mbps"}],
    traces=["cwnd", "queue"],
)


def stopped(path: Path, after: float) -> tb.Run:
    """A run that was interrupted by Ctrl-C, with its checkpoint."""

    def stop(done: float) -> None:
        if done >= after:
            raise KeyboardInterrupt

    with pytest.raises(tb.Interrupted) as caught:
        tb.simulate(SCENARIO, seed=3, progress=stop, checkpoint=path)
    return caught.value.run


def alike(one: tb.Run, other: tb.Run) -> None:
    assert one.provenance == other.provenance
    for name, table in one.tables.items():
        for column in table.columns:
            np.testing.assert_array_equal(table[column], other.tables[name][column])


def test_an_interrupted_run_resumes_to_the_same_bytes(tmp_path: Path) -> None:
    path = tmp_path / "run.checkpoint"
    partial = stopped(path, 0.1)
    assert path.exists()
    assert not partial.complete
    seen: list[float] = []
    run = tb.simulate(SCENARIO, seed=3, progress=seen.append, checkpoint=path)
    assert seen[0] > partial.simulated_s / 200
    alike(run, tb.simulate(SCENARIO, seed=3))
    assert list(tmp_path.iterdir()) == []


KILLED = """
import os, signal, sys
import tailback as tb
from tailback._simulation import simulating
from tailback._cli.run import run as run_command

# Every chance to write is taken.
simulating._WRITING = float("inf")


def kill(done):
    if done > 0.1:
        os.kill(os.getpid(), signal.SIGKILL)


tb.simulate(tb.load(sys.argv[1]), progress=kill, checkpoint=sys.argv[2], checkpoint_every_s=1e-9)
"""


def test_a_killed_run_resumes_to_the_same_bytes(tmp_path: Path) -> None:
    file, path, out = tmp_path / "scenario.json", tmp_path / "run.checkpoint", tmp_path / "results"
    file.write_text(json.dumps(SCENARIO.to_dict()))
    killed = subprocess.run([sys.executable, "-c", KILLED, file, path], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert json.loads(path.read_bytes().split(b"\n")[1])["simulated_s"] > 0
    words = [sys.executable, "-m", "tailback", "run", file, "--checkpoint", path, "--out", out]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    straight = tb.simulate(SCENARIO)
    for name, table in straight.tables.items():
        written = pyarrow.parquet.read_table(out / f"{name}.parquet")
        for column in table.columns:
            np.testing.assert_array_equal(written[column].to_numpy(), np.asarray(table[column]))
    assert not path.exists()


def test_a_second_interrupt_reports_the_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    file, path = tmp_path / "scenario.json", tmp_path / "run.checkpoint"
    file.write_text(json.dumps(SCENARIO.to_dict()))
    monkeypatch.setattr(simulating, "simulate_keeping_checkpoint", interrupted)
    words = [str(file), "--checkpoint", str(path)]
    assert run_command.main(words, standalone_mode=False) == 130
    assert capsys.readouterr().err == "interrupted; no results were stored\n"
    path.write_bytes(b"")
    assert run_command.main(words, standalone_mode=False) == 130
    assert f"interrupted; the same command resumes from {path}" in capsys.readouterr().err


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1000])


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:30])


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def other_version(path: Path) -> None:
    written = path.read_bytes()[:-32].replace(f'"version":"{tb.__version__}"'.encode(), b'"version":"0.0.1"')
    path.write_bytes(written + hashlib.sha256(written).digest())


def no_object_in_the_head(path: Path) -> None:
    first, _, state = path.read_bytes()[:-32].split(b"\n", 2)
    written = b"\n".join([first, b"[]", state])
    path.write_bytes(written + hashlib.sha256(written).digest())


def flip_the_head(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b'"content_hash":"', b'"content_hash":"0', 1))


def other_file(path: Path) -> None:
    path.write_text("dear diary\n")


def empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (cut, "the file is truncated or damaged: remove it to start the run from the beginning"),
        (cut_short, "the file is truncated or damaged"),
        (flip, "the file is truncated or damaged"),
        (flip_the_head, "the file is truncated or damaged"),
        (no_object_in_the_head, "the file is truncated or damaged"),
        (other_version, "it was written by Tailback 0.0.1, and this is"),
        (other_file, "it is not a Tailback checkpoint"),
        (empty, "it is not a Tailback checkpoint"),
    ],
)
def test_an_invalid_checkpoint_is_rejected_and_not_modified(tmp_path: Path, spoil: Callable[[Path], None], says: str) -> None:
    path = tmp_path / "run.checkpoint"
    stopped(path, 0.1)
    spoil(path)
    before = path.read_bytes()
    with pytest.raises(tb.CheckpointError) as refused:
        tb.simulate(SCENARIO, seed=3, checkpoint=path)
    assert says in str(refused.value)
    assert path.read_bytes() == before


def test_a_checkpoint_of_another_run_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "run.checkpoint"
    stopped(path, 0.1)
    with pytest.raises(tb.CheckpointError, match="it belongs to a run with seed 3, and this run has seed 4"):
        tb.simulate(SCENARIO, seed=4, checkpoint=path)
    with pytest.raises(tb.CheckpointError, match="it belongs to another scenario"):
        tb.simulate(SCENARIO.with_({"flows.web.count": 4}), seed=3, checkpoint=path)


def test_an_unwritable_checkpoint_is_reported_before_anything_runs(tmp_path: Path) -> None:
    def never(_: float) -> None:
        raise AssertionError

    with pytest.raises(tb.CheckpointError, match="cannot be used: "):
        tb.simulate(SCENARIO, progress=never, checkpoint=tmp_path / "missing" / "run.checkpoint")
    with pytest.raises(tb.CheckpointError, match="cannot be used: "):
        tb.simulate(SCENARIO, progress=never, checkpoint=tmp_path)
    with pytest.raises(tb.ParameterError, match="checkpoint_every_s is 0; expected seconds above 0"):
        tb.simulate(SCENARIO, checkpoint=tmp_path / "run.checkpoint", checkpoint_every_s=0)


def test_a_disk_that_fills_up_does_not_end_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulating, "_WRITING", float("inf"))
    folder = tmp_path / "there"
    folder.mkdir()

    def vanish(_: float) -> None:
        if folder.exists():
            shutil.rmtree(folder)

    with pytest.warns(tb.CheckpointWarning, match="the run continues"):
        run = tb.simulate(SCENARIO, progress=vanish, checkpoint=folder / "run.checkpoint", checkpoint_every_s=1e-9)
    assert run.complete


def test_the_error_of_the_file_is_reported(tmp_path: Path) -> None:
    # A limit of the file size, as a full disk would.
    program = (
        "import resource, sys, tailback as tb\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))\n"
        "flows = {'web': {'count': 1000, 'tcp': {'preset': 'sack'}}}\n"
        "link = {'rate': '10 Mbps', 'delay': '5 ms', 'buffer': '20 packets'}\n"
        "tb.simulate(tb.dumbbell(**link, flows=flows, duration='1 s'), checkpoint=sys.argv[1])\n"
    )
    done = subprocess.run([sys.executable, "-c", program, tmp_path / "run.checkpoint"], capture_output=True, text=True)
    assert "cannot be used: File too large" in done.stderr


def test_user_code_has_no_checkpoint(tmp_path: Path) -> None:
    import user_laws

    tb.controller("reno")(user_laws.Reno)
    scenario = tb.dumbbell(
        rate="10 Mbps",
        delay="5 ms",
        buffer="20 packets",
        duration="1 s",
        flows={"web": {"tcp": {"preset": "sack", "controller": "user:reno"}}},
    )
    with pytest.raises(tb.CheckpointError, match="user code cannot be saved in a checkpoint"):
        tb.simulate(scenario, checkpoint=tmp_path / "run.checkpoint")
