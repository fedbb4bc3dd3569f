"""Damaged files of a study: each damage is harmless, refused with the name of the file, or repaired; none is silent.

`TAILBACK_SOAK` sets the number of damages.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import tailback as tb

DAMAGES = int(os.environ.get("TAILBACK_SOAK", "20"))


def flipped(content: bytearray, chance: random.Random) -> bytes:
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    return bytes(content)


def zeroed(content: bytearray, chance: random.Random) -> bytes:
    first = chance.randrange(len(content))
    length = min(chance.randrange(1, 5000), len(content) - first)
    content[first : first + length] = bytes(length)
    return bytes(content)


def truncated(content: bytearray, chance: random.Random) -> bytes:
    return bytes(content[: chance.randrange(len(content))])


def extended(content: bytearray, chance: random.Random) -> bytes:
    return bytes(content) + chance.randbytes(chance.randrange(1, 100))


KINDS: list[Callable[[bytearray, random.Random], bytes]] = [flipped, zeroed, truncated, extended]


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished study with traces, and its export."""
    folder = tmp_path_factory.mktemp("intact")
    scenario = tb.dumbbell(rate="10 Mbps", delay="5 ms", buffer="20 packets", duration="1 s", traces=["cwnd", "queue"])
    study = tb.sweep(scenario, vary={"flows.tcp.count": [1, 2]}, seeds=2, out=folder / "study")
    study.export(folder / "export", traces=True)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def damage(folder: Path, chance: random.Random) -> str:
    """Damage one file; returns its name."""
    files = sorted(file for file in folder.rglob("*") if file.is_file() and file.stat().st_size)
    file = chance.choice(files)
    if chance.random() < 0.1 and file.suffix == ".parquet":
        file.unlink()
    else:
        file.write_bytes(chance.choice(KINDS)(bytearray(file.read_bytes()), chance))
    return file.name


@pytest.mark.parametrize("seed", range(DAMAGES))
@pytest.mark.filterwarnings("ignore::tailback.StudyWarning")
def test_no_damage_is_silent(intact: Path, tmp_path: Path, seed: int) -> None:
    folder = tmp_path / "study"
    shutil.copytree(intact / "study", folder)
    name = damage(folder, random.Random(seed))
    refusal = ""
    try:
        study = tb.Study(folder)
    except tb.StudyError as error:
        refusal = str(error)
    if refusal:
        assert name in refusal
        return
    if study.verify():
        with pytest.raises(tb.StudyError, match=name):
            study.export(tmp_path / "refused", traces=True)
        assert not (tmp_path / "refused").exists()
        study.resume()
    study.export(tmp_path / "export", traces=True)
    assert contents(tmp_path / "export") == contents(intact / "export")


def test_damaged_runs_are_named_and_repeated(intact: Path, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    shutil.copytree(intact / "study", folder)
    study = tb.Study(folder)
    trace = study.traces("cwnd")[0]
    trace["file"].unlink()
    (found,) = study.verify()
    assert (found.point, found.seed, found.kind, found.file) == (trace["point"], trace["seed"], "cwnd", trace["file"])
    with pytest.raises(tb.StudyError, match="cannot be read"):
        study.trace("cwnd", trace["point"], trace["seed"])
    with pytest.warns(tb.StudyWarning, match=f"these runs are repeated: point {trace['point']}, seed {trace['seed']}$"):
        study.resume()
    assert study.verify() == []
    assert len(study.trace("cwnd", trace["point"], trace["seed"])) > 0
