"""`tailback analyse` and `tailback run --capture`: exit code, stdout, stderr, and files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support import SMALL, Command, left_behind


@pytest.fixture
def capture(command: Command, file: Path) -> Path:
    assert command("run", file, "--capture", "small.pcapng").returncode == 0
    return file.parent / "small.pcapng"


def test_a_capture_of_a_run_traces_packets_of_all_flows(command: Command, file: Path) -> None:
    done = command("run", file, "--capture", "small.pcapng", "--json")
    document = json.loads(done.stdout)
    assert done.returncode == 0
    rows = len(document["tables"]["packets"]["time_s"])
    assert done.stderr == f"wrote {rows} packets to small.pcapng\n"
    assert set(document["tables"]["packets"]["flow"]) == {0, 1}
    assert document["scenario"]["record"]["traces"] == ["cwnd", "queue", "drops", "packets"]
    assert left_behind(file.parent) == {"small.toml", "small.pcapng"}


@pytest.mark.parametrize(
    ("traces", "flows"), [('{ cwnd = ["tcp"] }', {0, 1}), ('{ packets = ["tcp[1]"] }', {1}), ("{ packets = [] }", {0, 1})]
)
def test_a_scenario_that_names_flows_is_followed(command: Command, file: Path, traces: str, flows: set[int]) -> None:
    file.write_text(SMALL.replace('["cwnd", "queue", "drops"]', traces))
    done = command("run", file, "--capture", "small.pcapng", "--json")
    assert set(json.loads(done.stdout)["tables"]["packets"]["flow"]) == flows


def test_an_existing_file_is_not_overwritten(command: Command, file: Path) -> None:
    done = command("run", file, "--capture", file.name)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: `small.toml` exists already; give a new name or remove it\nnothing was run\n"
    assert file.read_text() == SMALL


def test_an_analysis_prints_a_summary_and_writes_nothing(command: Command, capture: Path) -> None:
    done = command("analyse", capture.name)
    assert (done.returncode, done.stderr) == (0, "")
    first, *_ = done.stdout.splitlines()
    assert first.startswith("small.pcapng: ")
    assert first.endswith(" packets, 2 connections")
    assert "198.18.0.2:49152" in done.stdout
    assert left_behind(capture.parent) == {"small.toml", "small.pcapng"}


def test_json_is_one_document_with_all_tables(command: Command, capture: Path) -> None:
    done = command("analyse", capture.name, "--json", "--samples")
    document = json.loads(done.stdout, parse_constant=pytest.fail)
    assert (done.returncode, done.stderr, document["complete"], document["damage"]) == (0, "", True, None)
    assert set(document["tables"]) == {"connections", "udp_flows", "skipped", "losses", "rtt", "in_flight"}
    assert document["tables"]["connections"]["handshake_rtt_s"] == [None] * 4


def test_out_holds_every_table_and_provenance(command: Command, capture: Path) -> None:
    done = command("analyse", capture.name, "--out", "results")
    assert (done.returncode, done.stderr) == (0, "wrote 4 tables and provenance to results\n")
    assert left_behind(capture.parent / "results") == {
        "connections.parquet",
        "udp_flows.parquet",
        "skipped.parquet",
        "losses.parquet",
        "provenance.json",
    }


def test_a_damaged_file_is_analysed_up_to_the_damage_and_exits_with_1(command: Command, capture: Path) -> None:
    cut = capture.with_name("cut.pcapng")
    cut.write_bytes(capture.read_bytes()[:-5])
    done = command("analyse", cut.name)
    assert done.returncode == 1
    assert "INCOMPLETE: the file is damaged at byte " in done.stdout
    assert done.stderr.startswith("the file is damaged at byte ")
    assert "the file ends within a block" in done.stderr
    document = json.loads(command("analyse", cut.name, "--json").stdout)
    assert document["complete"] is False
    assert capture.stat().st_size - document["damage"]["at_byte"] < 200


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "small.toml",
            'error: `small.toml` is not a capture: the file begins with `name = "`; expected pcap, pcapng, qlog, reports of',
        ),
        ("missing.pcap", "error: `missing.pcap` cannot be read: No such file or directory"),
        (".", "error: `.` cannot be read: Is a directory"),
    ],
)
def test_a_file_that_is_not_a_capture_exits_with_2(command: Command, file: Path, name: str, said: str) -> None:
    done = command("analyse", name)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(said)
    assert done.stderr.endswith("nothing was analysed\n")
    assert json.loads(command("analyse", "--json", name).stdout)["exit_code"] == 2


def test_help_names_the_options(command: Command) -> None:
    done = command("analyse", "--help")
    assert done.returncode == 0
    assert "--samples" in done.stdout


def test_a_log_of_a_run_is_written_beside_its_capture_and_analysed(command: Command, file: Path) -> None:
    done = command("run", file, "--qlog", "small.qlog", "--capture", "small.pcapng")
    assert done.returncode == 0
    notes = done.stderr.splitlines()
    assert [note.rpartition(" ")[2] for note in notes] == ["small.pcapng", "small.qlog"]
    analysed = command("analyse", "small.qlog")
    assert analysed.returncode == 0
    assert analysed.stdout.splitlines()[0].startswith("small.qlog: ")
    assert "tcp 0" in analysed.stdout
