"""Durability of studies: `kill -9` and a full disk at every critical place, a damaged ledger, a second process."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tailback as tb
from support import ROOT
from tailback._study import ledger, runner
from tailback._study.lock import Lock

VARY = {"topology.dumbbell.queue.buffer": ["5 packets", "20 packets"]}


@pytest.fixture(scope="module")
def report() -> Iterator[dict[str, Any]]:
    """The outcomes of hundreds of stopped studies. Files survive in the page cache, so a RAM disk is sufficient."""
    shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=shared) as folder:
        killer = [sys.executable, str(ROOT / "tests" / "study_killer.py"), folder]
        done = subprocess.run(killer, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        yield json.loads(done.stdout)


@pytest.fixture
def small() -> tb.Scenario:
    return tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="1 s")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="each trial is a fork")
@pytest.mark.parametrize("way", ["grid-kill", "grid-full", "until-kill"])
class TestStopped:
    def test_it_was_stopped_there_and_resumed(self, report: dict[str, Any], way: str) -> None:
        assert [trial["at"] for trial in report[way]["trials"] if not trial["stopped"] or not trial["resumed"]] == []

    def test_no_finished_run_is_lost_or_repeated(self, report: dict[str, Any], way: str) -> None:
        trials, runs = report[way]["trials"], report[way]["runs"]
        assert [trial for trial in trials if trial["done_before"] + trial["done_after"] != runs] == []
        assert len({trial["done_before"] for trial in trials}) > 5

    def test_the_export_equals_that_of_an_uninterrupted_study(self, report: dict[str, Any], way: str) -> None:
        assert {trial["digest"] for trial in report[way]["trials"]} == {report[way]["digest"]}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="each trial is a fork")
def test_it_was_killed_at_each_of_hundreds_of_places(report: dict[str, Any]) -> None:
    killed = report["grid-kill"]
    assert killed["places"] >= 200
    assert [trial["at"] for trial in killed["trials"]] == list(range(1, killed["places"] + 1))


def test_a_ledger_on_a_full_disk_keeps_finished_runs(tmp_path: Path, small: tb.Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite itself reports a full disk."""
    monkeypatch.setattr(runner, "_COMMIT_S", 0.0)
    monkeypatch.setattr(runner, "_AHEAD_S", 0.0)
    connect = ledger._connect

    def cramped(file: Path, mode: str = "rw") -> sqlite3.Connection:
        connection = connect(file, mode)
        connection.execute("PRAGMA max_page_count = 30")
        return connection

    with monkeypatch.context() as patched:
        patched.setattr(ledger, "_connect", cramped)
        with pytest.raises(tb.StudyError, match=r"full.*finished runs are stored.*study resume"):
            tb.sweep(small, VARY, seeds=40, out=tmp_path / "study", workers=1)
    kept = tb.Study(tmp_path / "study").counts
    assert (kept.done > 0, kept.planned > 0, kept.running, kept.total) == (True, True, 0, 80)
    assert tb.Study(tmp_path / "study").resume().counts.done == 80


HOLD = """
import sys
from pathlib import Path
from tailback._study.lock import Lock

lock = Lock(Path(sys.argv[1]))
print("held", flush=True)
input()
"""


def test_a_second_process_is_rejected_and_status_still_works(tmp_path: Path, small: tb.Scenario) -> None:
    study = tb.sweep(small, VARY, out=tmp_path / "study")
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(study.directory / "lock")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        assert study.working
        assert study.counts.done == 2
        with pytest.raises(tb.StudyError, match="another process"):
            study.resume()
        with pytest.raises(tb.StudyError, match="another process"):
            study.prune()
        with pytest.raises(tb.StudyError, match="another process"):
            tb.sweep(small, VARY, out=study.directory)
        # The lock is released with its process.
        other.kill()
        other.wait()
    assert tb.Study(study.directory).resume().counts.done == 2


def test_two_studies_of_one_process_lock_each_other_out(tmp_path: Path) -> None:
    with Lock(tmp_path / "lock"), pytest.raises(tb.StudyError, match="another process"):
        Lock(tmp_path / "lock")
    Lock(tmp_path / "lock").release()


def truncated(file: Path) -> None:
    with file.open("rb+") as stream:
        stream.truncate(file.stat().st_size - 4096)


def half_a_header(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:50])


def empty(file: Path) -> None:
    file.write_bytes(b"")


def text(file: Path) -> None:
    file.write_text("my thesis\n" * 1000)


def another_database(file: Path) -> None:
    file.unlink()
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE thesis (chapter TEXT)")
    connection.close()


def overwritten_inside(file: Path) -> None:
    with file.open("rb+") as stream:
        stream.seek(4096)
        stream.write(b"\xff" * 4096)


def newer(file: Path) -> None:
    connection = sqlite3.connect(file)
    connection.execute("PRAGMA user_version = 99")
    connection.close()


def older(file: Path) -> None:
    connection = sqlite3.connect(file)
    connection.execute("PRAGMA user_version = 1")
    connection.close()


@pytest.mark.parametrize("damage", [older, truncated, half_a_header, empty, text, another_database, overwritten_inside, newer])
def test_a_damaged_or_foreign_ledger_is_rejected_and_not_modified(tmp_path: Path, small: tb.Scenario, damage: Any) -> None:
    directory = tb.sweep(small, VARY, seeds=3, out=tmp_path / "study").directory
    damage(directory / "study.sqlite3")
    before = (directory / "study.sqlite3").read_bytes()
    with pytest.raises(tb.StudyError, match=r"damaged|not the ledger|newer|older"):
        tb.Study(directory)
    with pytest.raises(tb.StudyError, match=r"damaged|not the ledger|newer|older"):
        tb.sweep(small, VARY, seeds=3, out=directory)
    assert (directory / "study.sqlite3").read_bytes() == before
    assert {entry.name for entry in directory.iterdir()} == {"study.sqlite3", "lock"}


def test_a_directory_with_other_files_is_not_modified(tmp_path: Path, small: tb.Scenario) -> None:
    (tmp_path / "thesis.tex").write_text("chapter 1")
    with pytest.raises(tb.StudyError, match=r"neither empty nor a study: it contains `thesis.tex`"):
        tb.sweep(small, VARY, out=tmp_path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_directory_without_a_study_is_reported(tmp_path: Path) -> None:
    with pytest.raises(tb.StudyError, match="there is no study"):
        tb.Study(tmp_path)


def test_a_flipped_bit_is_detected_or_has_no_effect(tmp_path: Path, small: tb.Scenario) -> None:
    study = tb.sweep(small, seeds=3, out=tmp_path / "study")
    study.export(tmp_path / "whole", format="csv")
    whole = {file.name: file.read_bytes() for file in (tmp_path / "whole").iterdir()}
    ledger = tmp_path / "study" / "study.sqlite3"
    intact = ledger.read_bytes()
    written = [place for place, byte in enumerate(intact) if byte]
    noticed = 0
    for number, place in enumerate(written[:: len(written) // 97]):
        changed = bytearray(intact)
        changed[place] ^= 1 << number % 8
        ledger.write_bytes(changed)
        try:
            tb.Study(tmp_path / "study").export(tmp_path / f"read-{number}", format="csv")
        except tb.StudyError:
            noticed += 1
        else:
            assert {file.name: file.read_bytes() for file in (tmp_path / f"read-{number}").iterdir()} == whole
    assert noticed > 80


def test_a_damaged_lock_can_be_removed(tmp_path: Path, small: tb.Scenario) -> None:
    study = tb.sweep(small, out=tmp_path / "study")
    lock = tmp_path / "study" / "lock"
    lock.write_bytes(b"no database " * 99)
    assert not study.working
    with pytest.raises(tb.StudyError, match="It contains no data and can be removed"):
        study.resume()
    lock.unlink()
    assert study.resume().counts.done == 1
