"""`tailback reproduce`."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from support import HANGS_S, ROOT, Command
from tailback import papers
from tailback._cli import app
from tailback.papers import (
    Claim,
    Contrast,
    Experiment,
    Kind,
)
from toy_experiment import MORE_WITH_FIFTY, TOY, replaced


@pytest.mark.parametrize(("kind", "code"), [("reproduced", 1), ("not_reproduced", 0)])
def test_only_a_claim_that_is_no_longer_reproduced_fails_the_command(toys: list[Experiment], kind: Kind, code: int) -> None:
    toys[:] = [replaced(Claim("T", "false", MORE_WITH_FIFTY.measured < 0, kind=kind))]
    done = CliRunner().invoke(app, ["reproduce", "toy", "--seeds", "4"])
    assert done.exit_code == code, done.output
    assert ("CONTRADICTED" if kind == "reproduced" else "contradicted") in done.stdout


def test_a_conditional_claim_that_holds_nowhere_does_not_fail_the_command(toys: list[Experiment]) -> None:
    claim = Claim(
        "T",
        "false",
        MORE_WITH_FIFTY.measured < 0,
        setting="here",
        contrast=Contrast("there", MORE_WITH_FIFTY.measured),
    )
    toys[:] = [replaced(claim)]
    done = CliRunner().invoke(app, ["reproduce", "toy", "--seeds", "4"])
    assert (done.exit_code, "contradicted" in done.stdout) == (0, True)


def test_a_bug_in_an_experiment_exits_with_3(toys: list[Experiment]) -> None:
    toys[:] = [Experiment("toy/fig9", "", "", "", TOY.variants, {"broken": lambda _run: float("x")}, ())]
    done = CliRunner().invoke(app, ["reproduce", "toy"])
    assert done.exit_code == 3
    assert re.search(r"toy/fig9 \(policy drop_tail, packets \d+\), seed \d+: .*: ValueError", done.stderr)


def test_the_list_names_every_experiment() -> None:
    done = CliRunner().invoke(app, ["reproduce", "list"])
    assert (done.exit_code, done.stderr) == (0, "")
    rows = json.loads(CliRunner().invoke(app, ["reproduce", "list", "--json"]).stdout)
    assert set(rows[0]) == {"id", "title", "claims", "runs"}
    assert [row["id"] for row in rows] == [experiment.id for experiment in papers.experiments()]
    assert all(row["id"] in done.stdout for row in rows)


def test_a_figure_of_the_document(command: Command, tmp_path: Path) -> None:
    done = command("reproduce", "bpd-2001/fig2", "--json", "--out", "out")
    wrote = "wrote out/bpd-2001.html\nwrote out/bpd-2001.json\n"
    assert (done.returncode, done.stderr) == (0, wrote)
    document = json.loads(done.stdout, parse_constant=pytest.fail)
    assert list(document) == ["experiments"]
    (experiment,) = document["experiments"]
    # C1b: the five single losses from windows of two and three segments need a timeout, the four from windows of four do not.
    measured = {claim["id"]: claim["measured"] for claim in experiment["claims"]}
    assert measured == {"C1": 1, "C1b": pytest.approx(5 / 9), "C1c": 1, "C3": 1, "C3b": 1}
    assert json.loads((tmp_path / "out" / "bpd-2001.json").read_text()) == document
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"bpd-2001.html", "bpd-2001.json", "study"}
    again = command("reproduce", "bpd-2001/fig2", "--json", "--out", "out")
    assert (again.returncode, again.stdout) == (0, done.stdout)
    said = re.search(r"(\d+) of (\d+) runs were already stored in out/study; `--fresh` repeats them\n", again.stderr)
    assert said
    assert said[1] == said[2]
    assert again.stderr.endswith(wrote)
    assert "already" not in command("reproduce", "bpd-2001/fig2", "--out", "out", "--fresh").stderr


def test_an_unknown_experiment_gets_the_nearest_name(command: Command) -> None:
    done = command("reproduce", "bpd-2001/fg2")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: no experiment or document `bpd-2001/fg2`; expected one of `bpd-2001`, ")
    assert "did you mean `bpd-2001/fig2`?" in done.stderr


@pytest.mark.parametrize("seeds", ["0", "1", "-3", "many", "2.5"])
def test_fewer_than_two_seeds_are_rejected(command: Command, seeds: str) -> None:
    done = command("reproduce", "bpd-2001/fig1", "--seeds", seeds)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--seeds" in done.stderr


@pytest.mark.parametrize("out", ["taken", "/proc/out", "taken/out"])
def test_an_unwritable_directory_is_reported_before_anything_runs(command: Command, tmp_path: Path, out: str) -> None:
    (tmp_path / "taken").touch()
    done = command("reproduce", "bpd-2001/fig1", "--out", out)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: cannot write to `{out}`: ")


@pytest.mark.parametrize(
    ("options", "number", "told"),
    [
        (["--out", "out"], signal.SIGINT, "stored the finished experiments, without toy/fig2; the same command resumes"),
        ([], signal.SIGINT, "nothing was stored; showing the finished experiments, without toy/fig2"),
        ([], signal.SIGTERM, "nothing was stored; showing the finished experiments, without toy/fig2"),
    ],
)
def test_interruptions_keep_the_finished_experiments(options: list[str], number: int, told: str, tmp_path: Path) -> None:
    (tmp_path / "temporary").mkdir()
    script = tmp_path / "endless.py"
    script.write_text(
        """\
import sys, types
from tailback import papers
from tailback._cli import app
from tailback.papers import Document, Experiment, vary
from toy_experiment import BASE, TOY, goodput

endless = Experiment("toy/fig2", "", "", "", vary(BASE.with_({"duration": "1000000 s"})), {"goodput": goodput}, ())
def said(self, progress):
    if progress.done == 5:
        sys.stderr.write("done so far\\n")
        sys.stderr.flush()
module = sys.modules["toys"] = types.ModuleType("toys")
module.DOCUMENT = Document("toy", "Toys", "", {}, (TOY, endless))
papers._documents.DOCUMENTS = {"toy": "toys"}
from tailback._progress import RunsBar
RunsBar.__call__ = said
app()
"""
    )
    words = [sys.executable, str(script), "reproduce", "toy", "--seeds", "2", *options, "--json"]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'tests'}:{os.environ.get('PYTHONPATH', '')}", "MPLBACKEND": "agg"}
    environment["TMPDIR"] = str(tmp_path / "temporary")
    with subprocess.Popen(
        words, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr
        assert process.stderr.readline() == "done so far\n"
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=HANGS_S)
    assert process.returncode == 130, stderr
    assert list((tmp_path / "temporary").iterdir()) == []
    assert f"interrupted after 5 of 7 runs; {told}" in stderr
    assert [experiment["id"] for experiment in json.loads(stdout)["experiments"]] == ["toy/fig1"]
    assert not options or "Interrupted; incomplete: toy/fig2." in (tmp_path / "out" / "toy.html").read_text()
