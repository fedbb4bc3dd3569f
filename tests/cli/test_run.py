"""`tailback run`: exit code, stdout, stderr, and files."""

from __future__ import annotations

import csv
import json
import os
import pty
import select
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet
import pytest

import tailback as tb
from support import SMALL, Command, left_behind


def test_a_run_prints_a_summary_and_writes_nothing(command: Command, file: Path) -> None:
    done = command("run", file)
    assert (done.returncode, done.stderr) == (0, "")
    first, *_ = done.stdout.splitlines()
    assert first.startswith("small: 5 s simulated, seed 1, ")
    assert "bottleneck.reverse" in done.stdout
    assert left_behind(file.parent) == {"small.toml"}


def test_two_runs_print_the_same(command: Command, file: Path) -> None:
    assert command("run", file).stdout == command("run", file).stdout
    assert command("run", file, "--json").stdout == command("run", file, "--json").stdout


def test_json_is_one_document_with_all_tables(command: Command, file: Path) -> None:
    done = command("run", file, "--json", "--seed", 7)
    document = json.loads(done.stdout, parse_constant=pytest.fail)
    assert (done.returncode, done.stderr) == (0, "")
    assert (document["seed"], document["complete"], document["simulated_s"]) == (7, True, 5.0)
    assert set(document["tables"]) == {"flows", "queues", "groups", "cwnd", "queue", "drops"}
    assert document["tables"]["flows"]["flow"] == [0, 1]
    # Greedy flows never complete: null, not NaN.
    assert document["tables"]["flows"]["completion_time_s"] == [None, None]


def test_fair_rates_are_printed_with_the_measured_ones(command: Command, file: Path) -> None:
    done = command("run", file, "--fairness")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(command("run", file).stdout)
    assert "\n  max-min fair " in done.stdout
    document = json.loads(command("run", file, "--fairness", "--json").stdout, parse_constant=pytest.fail)
    assert document["fairness"]["flows"]["max_min_bps"] == pytest.approx([5e6 * 1460 / 1500] * 2)
    assert document["fairness"]["max_min"].keys() == {"distance", "fairness"}
    assert document["fairness"]["proportional"].keys() == {"distance", "fairness", "utility_gap"}


def test_weights_of_groups_change_the_optimum(command: Command, file: Path) -> None:
    group = str(tb.simulate(tb.load(file)).groups["group"][0])
    done = command("run", file, "--fairness", "--weight", f"{group}=3", "--json")
    assert (done.returncode, json.loads(done.stdout)["fairness"]["flows"]["max_min_bps"]) == (
        0,
        pytest.approx([5e6 * 1460 / 1500] * 2),
    )
    for words, says in [
        (["--weight", f"{group}=3"], "--weight sets the weight of flows in the fair rates; add --fairness"),
        (["--fairness", "--weight", f"{group}=x"], "is not a group and its weight; expected for example `web=2`"),
        (["--fairness", "--weight", "wbe=1"], "no flow group `wbe`"),
        (["--fairness", "--weight", f"{group}=0"], "expected a number from 1e-06 to 1e+06"),
    ]:
        refused = command("run", file, *words)
        assert refused.returncode == 2
        assert says in refused.stderr


def test_a_run_without_an_optimum_is_stored(command: Command, file: Path) -> None:
    file.write_text(SMALL.replace("[record]", '[[timeline]]\nat = "3 s"\nlink = "bottleneck"\nrate = "5 Mbps"\n\n[record]'))
    done = command("run", file, "--fairness", "--json")
    assert done.returncode == 1
    assert done.stderr.startswith("no fair rates: the rate of `bottleneck` changes at 3 s, in the measurement interval")
    assert json.loads(done.stdout)["fairness"] is None


def test_out_holds_every_table_and_provenance(command: Command, file: Path) -> None:
    done = command("run", file, "--out", "results", "--plot")
    results = file.parent / "results"
    assert (done.returncode, done.stderr) == (0, "wrote 6 tables and provenance to results\n")
    assert left_behind(file.parent) == {"small.toml", "results", *created_by_matplotlib(file.parent)}
    tables = {"flows", "queues", "groups", "cwnd", "queue", "drops"}
    assert left_behind(results) == {f"{name}.parquet" for name in tables} | {"provenance.json", "plot.svg"}
    run = tb.simulate(tb.load(file))
    for name in tables:
        written = pyarrow.parquet.read_table(results / f"{name}.parquet")
        columns = run.tables[name].to_dict()
        assert written.to_pydict() == {key: [None if one != one else one for one in column] for key, column in columns.items()}
    provenance = json.loads((results / "provenance.json").read_text())
    assert [*provenance.pop("tables")] == [*run.tables]
    assert provenance == run.provenance
    assert "<svg" in (results / "plot.svg").read_text()


def created_by_matplotlib(home: Path) -> set[str]:
    """Matplotlib stores its font cache in the home directory, which is temporary here."""
    return {".cache", ".config"} & left_behind(home)


def test_an_existing_directory_is_not_written_to(command: Command, file: Path) -> None:
    (file.parent / "results").mkdir()
    done = command("run", file, "--out", "results")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: `results` exists already; give a new name or remove it\nnothing was run\n"
    assert left_behind(file.parent) == {"small.toml", "results"}
    assert left_behind(file.parent / "results") == set()


@pytest.mark.parametrize("option", ["--out", "--code", "--capture", "--checkpoint"])
def test_an_invalid_file_name_is_reported(command: Command, file: Path, option: str) -> None:
    done = command("run", file, option, "a" * 300)
    assert done.returncode == 2
    assert "not a valid file name" in done.stderr


def test_a_checkpoint_interval_requires_a_checkpoint(command: Command, file: Path) -> None:
    done = command("run", file, "--checkpoint-every", 5)
    assert (done.returncode, done.stdout) == (2, "")
    assert "add --checkpoint FILE" in done.stderr


@pytest.mark.parametrize("out", ["missing/results", "/proc/results", "small.toml/results"])
def test_an_unwritable_directory_is_reported_before_the_run(command: Command, file: Path, out: str) -> None:
    done = command("run", file, "--out", out)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: cannot write to `{out}`: ")
    assert left_behind(file.parent) == {"small.toml"}


@pytest.mark.parametrize("arguments", [["run", "small.toml", "--out", ""], ["run", ""], ["check", ""], ["demo", "--out", ""]])
def test_an_empty_name_is_not_the_current_directory(command: Command, file: Path, arguments: list[str]) -> None:
    done = command(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "the path is empty" in done.stderr
    assert left_behind(file.parent) == {"small.toml"}


def test_an_existing_file_is_not_overwritten(command: Command, file: Path) -> None:
    done = command("run", file, "--out", file.name)
    assert done.returncode == 2
    assert done.stderr == "error: `small.toml` exists already; give a new name or remove it\nnothing was run\n"
    assert file.read_text() == SMALL


def test_a_plot_requires_a_display_or_a_directory(command: Command, file: Path) -> None:
    done = command("run", file, "--plot")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: there is no display for a plot; with --out DIR")


def test_a_seed_out_of_range_is_rejected(command: Command, file: Path) -> None:
    assert command("run", file, "--seed", 2**53).returncode == 2
    assert command("run", file, "--seed", -1).returncode == 2


def test_errors_of_a_run_are_also_json(command: Command, file: Path) -> None:
    file.write_text(SMALL.replace("newreno", "newrino"))
    done = command("run", "--json", file.name)
    document = json.loads(done.stdout)
    assert done.returncode == document["exit_code"] == 2
    assert document["file"] == "small.toml"
    (problem,) = document["errors"]
    place = {"line", "column", "end_column", "source_line"}
    assert set(problem) == {"at", "message", "given", "expected", "hint", *place}
    assert (problem["at"], problem["line"], problem["hint"]) == ("flows.tcp.tcp.preset", 14, "did you mean `newreno`?")
    assert "did you mean `newreno`?" in done.stderr


# A run that takes minutes unless it is interrupted.
ENDLESS = SMALL.replace('duration = "5 s"', 'duration = "1000000 s"').replace('traces = ["cwnd", "queue", "drops"]', "")


@pytest.mark.parametrize("options", [[], ["--json"], ["--out", "results"]])
def test_ctrl_c_keeps_the_results_so_far(file: Path, options: list[str]) -> None:
    file.write_text(ENDLESS)
    code, stdout, stderr = interrupted(["run", file.name, *options], file.parent)
    assert code == 130
    kept = "stored" if "--out" in options else "shown"
    assert f"the measurements up to this time are {kept} and marked incomplete" in stderr
    assert "Traceback" not in stderr
    if options == ["--json"]:
        provenance = json.loads(stdout)
        assert provenance["tables"]["queues"]["departed_units"][0] > 0
    elif options:
        provenance = json.loads((file.parent / "results" / "provenance.json").read_text())
        assert left_behind(file.parent) == {"small.toml", "results"}
    else:
        assert "INCOMPLETE" in stdout
        return
    assert provenance["complete"] is False
    assert 0 < provenance["simulated_s"] < 1_000_000


def interrupted(arguments: list[str], directory: Path) -> tuple[int, str, str]:
    """Run the command with a terminal as stderr; send Ctrl-C when its progress bar shows the middle of the run."""
    screen, terminal = pty.openpty()
    words = [sys.executable, "-m", "tailback", *arguments]
    environment = {**os.environ, "TERM": "xterm"}
    with subprocess.Popen(words, cwd=directory, env=environment, stdout=subprocess.PIPE, stderr=terminal) as process:
        os.close(terminal)
        seen = b""
        signalled = False
        while chunk := read(screen):
            seen += chunk
            if not signalled and "━".encode() in seen:
                process.send_signal(signal.SIGINT)
                signalled = True
        stdout, _ = process.communicate()
    os.close(screen)
    return process.returncode, stdout.decode(), seen.decode()


def read(screen: int) -> bytes:
    """The next output of a terminal; empty after the other end is closed."""
    try:
        select.select([screen], [], [])
        return os.read(screen, 4096)
    except OSError:
        return b""


def test_a_full_disk_at_the_end_keeps_the_checkpoint(command: Command, tmp_path: Path) -> None:
    # A limit of the file size, as a full disk would: the checkpoint fits, a trace does not.
    traced = tmp_path / "traced.toml"
    traced.write_text(SMALL.replace('duration = "5 s"', 'duration = "60 s"').replace('"cwnd"', '"acks"'))
    arguments = ["run", traced, "--out", tmp_path / "out", "--checkpoint", tmp_path / "kept"]
    program = (
        "import resource, sys\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))\n"
        "from tailback._cli import main\n"
        "main()\n"
    )
    limited = [sys.executable, "-c", program, *map(str, arguments)]
    failed = subprocess.run(limited, capture_output=True, text=True)
    assert failed.returncode == 2
    assert failed.stderr.endswith(f"the same command resumes from {tmp_path / 'kept'}\n")
    assert "nothing was run" not in failed.stderr
    assert (tmp_path / "kept").is_file()
    assert not (tmp_path / "out").exists()
    resumed = command(*arguments)
    assert (resumed.returncode, (tmp_path / "kept").exists()) == (0, False)
    assert (tmp_path / "out" / "flows.parquet").is_file()


def test_csv_prints_every_table_after_its_name(command: Command, file: Path) -> None:
    done = command("run", file, "--csv")
    assert (done.returncode, done.stderr) == (0, "")
    parts = [part.splitlines() for part in done.stdout.strip().split("\n\n")]
    tables = {head.removeprefix("# "): list(csv.DictReader(rows)) for head, *rows in parts}
    run = tb.simulate(tb.load(file))
    assert list(tables) == list(run.tables)
    assert [float(row["goodput_bps"]) for row in tables["flows"]] == list(run.flows["goodput_bps"])
    # Missing numbers are empty.
    assert {row["completion_time_s"] for row in tables["flows"]} == {""}


def test_csv_with_a_directory_writes_csv_files(command: Command, file: Path) -> None:
    done = command("run", file, "--csv", "--out", "results")
    assert done.returncode == 0
    folder = file.parent / "results"
    assert {path.name for path in folder.iterdir()} == {
        *(f"{name}.csv" for name in tb.simulate(tb.load(file)).tables),
        "provenance.json",
    }
    assert (folder / "groups.csv").read_text() == tb.simulate(tb.load(file)).groups.to_csv()
    with pytest.raises(tb.ParameterError, match="has CSV files, which are not read"):
        tb.Run.read(folder)


def test_csv_and_json_exclude_each_other(command: Command, file: Path) -> None:
    done = command("run", file, "--csv", "--json")
    assert done.returncode == 2
    assert "--json and --csv select different output" in done.stderr


def test_the_summary_shows_delay_percentiles_that_are_recorded(command: Command, tmp_path: Path) -> None:
    # An empty link: 0.8 ms of transmission at 10 Mbit/s and 20 ms, for every datagram.
    link = 'rate = "10 Mbps"\ndelay = "20 ms"\nqueue = {buffer = "100 packets"}'
    source = 'source = {kind = "constant", rate = "1 Mbps", packet_size = "1000 B"}'
    text = f'duration = "2 s"\n[topology.dumbbell]\n{link}\n[flows.voice]\n{source}\n[record]\ndelay_percentiles = true\n'
    (tmp_path / "voice.toml").write_text(text)
    done = command("run", "voice.toml")
    assert done.returncode == 0
    heads, row = (line.split("  ") for line in done.stdout.splitlines()[3:5])
    assert [head.strip() for head in heads if "delay" in head] == ["delay p50", "delay p95", "delay p99"]
    assert [cell.strip() for cell in row if cell.strip()][-3:] == ["20.8 ms"] * 3
    assert "wait p99" in done.stdout
