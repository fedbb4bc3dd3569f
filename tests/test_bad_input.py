"""Invalid input gives an error with its place and exit code 2, without a traceback or leftovers."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tailback as tb
from support import ROOT, SMALL, Command

CORPUS = sorted((ROOT / "tests" / "bad_input").rglob("*.toml"))


def rejected(command: Command, path: object) -> str:
    """The error output of a run of a file, after checks of its form."""
    done = command("run", path)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert done.stderr.endswith("; nothing was run\n")
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_corpus_reads_the_same_in_python(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    with pytest.raises(tb.ScenarioError) as caught:
        # A scenario without flows is invalid for a run.
        tb.load(path.name).check()
    assert str(caught.value) + "\n" == path.with_suffix(".expected").read_text()
    assert caught.value.file == path.name
    assert all(problem.message for problem in caught.value.problems)


def test_the_corpus_on_the_command_line(command: Command) -> None:
    done = command("check", *CORPUS)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    assert done.stderr.count("; nothing was run\n") == len(CORPUS)


def test_a_missing_file(command: Command) -> None:
    assert rejected(command, "nowhere.toml") == (
        "error: the file does not exist\n --> nowhere.toml\n  expected a scenario file\n"
        "1 error in nowhere.toml; nothing was run\n"
    )


def test_a_directory(command: Command, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    assert rejected(command, "folder").startswith("error: the file is a directory\n --> folder\n")


def test_a_name_that_is_not_utf_8(command: Command, tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.toml")
    assert rejected(command, name).startswith("error: the file does not exist\n --> caf\\udce9.toml\n")
    (tmp_path / name).write_text(SMALL)
    assert command("run", name).returncode == 0


def test_an_empty_file(command: Command, tmp_path: Path) -> None:
    (tmp_path / "empty.toml").touch()
    assert "duration" in rejected(command, "empty.toml")


@pytest.mark.parametrize("seed", [1, 2])
def test_ten_megabytes_of_noise(command: Command, tmp_path: Path, seed: int) -> None:
    noise = random.Random(seed).randbytes(10_000_000)
    printable = bytes(32 + byte % 95 for byte in noise)
    (tmp_path / "noise.toml").write_bytes(noise if seed == 1 else printable)
    assert len(rejected(command, "noise.toml")) < 100_000


def test_a_file_without_end(command: Command) -> None:
    assert "too large" in rejected(command, "/dev/zero")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(command: Command, tmp_path: Path) -> None:
    (tmp_path / "secret.toml").write_text(SMALL)
    (tmp_path / "secret.toml").chmod(0)
    assert "cannot be read: Permission denied" in rejected(command, "secret.toml")


def test_more_packets_in_flight_than_memory_holds(command: Command, tmp_path: Path) -> None:
    # 10 Tbps for 200 s are 1.7e11 packets of 1500 bytes; each takes at least 16 bytes.
    huge = SMALL.replace("10 Mbps", "10 Tbps").replace('"10 ms"', '"200 s"').replace("count = 2", "count = 1000")
    huge = huge.replace('preset = "newreno"', 'preset = "newreno", receiver_window = 1000000000')
    huge = huge.replace('"5 s"', '"2 s"')
    (tmp_path / "huge.toml").write_text(huge)
    said = rejected(command, "huge.toml")
    assert said.startswith(
        "error: the scenario needs more memory than is available\n --> huge.toml\n  at       links\n  given    up to "
    )
    assert "GiB that are available" in said
    assert "or set TAILBACK_MEMORY" in said


def test_an_estimate_of_memory_names_its_cause() -> None:
    # 100 Gbit/s for 1000 s into a link of 10 Mbit/s are 1.04e10 datagrams of 1200 bytes, which wait behind CoDel.
    link = {"rate": "10 Mbps", "delay": "10 ms", "queue": {"buffer": "unlimited", "policy": "codel"}}
    source = {"kind": "constant", "rate": "100 Gbps", "packet_size": "1200 B"}
    scenario: Any = {"duration": "1000 s", "topology": {"dumbbell": link}, "flows": {"a": {"source": source}}}
    with pytest.raises(tb.ScenarioError, match=r"up to 10415\d{6} packets or cells in the unlimited buffer of `bottleneck`"):
        tb.Scenario(scenario).check()
    # A size bounds them.
    scenario["flows"]["a"]["size"] = "100 kB"
    tb.Scenario(scenario).check()


def test_the_environment_sets_the_memory_of_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    flows: Any = {"web": {"count": 1000, "tcp": {"preset": "newreno", "receiver_window": 1000000000}}}
    huge: Any = {"rate": "10 Tbps", "delay": "200 s", "buffer": "20 packets", "flows": flows, "duration": "2 s"}
    with pytest.raises(tb.ScenarioError, match="needs more memory than is available"):
        tb.dumbbell(**huge).check()
    monkeypatch.setenv("TAILBACK_MEMORY", "1e9")
    tb.dumbbell(**huge).check()
    monkeypatch.setenv("TAILBACK_MEMORY", "0.5")
    with pytest.raises(tb.ScenarioError, match=r"at most the 0\.5 GiB that are available"):
        tb.dumbbell(**huge).check()
    monkeypatch.setenv("TAILBACK_MEMORY", "0.0005")
    with pytest.raises(tb.ScenarioError, match=r"at most the 0\.5 MiB that are available"):
        tb.dumbbell(**huge).check()
    for wrong in ("", "much", "0", "-1", "inf", "NaN", "20 GiB"):
        monkeypatch.setenv("TAILBACK_MEMORY", wrong)
        with pytest.raises(tb.ScenarioError, match=f"`{wrong}` in the environment"):
            tb.dumbbell(**huge).check()


@pytest.mark.parametrize(
    ("description", "at"),
    [
        ({"duration": float("nan")}, "duration"),
        ({"flows": {"web": {"start": [object()]}}}, "flows.web.start[0]"),
        ({"nodes": {1: {}}}, "nodes"),
        pytest.param({"seed": 10**5000}, "seed", id="huge"),
    ],
)
def test_python_values_that_files_cannot_contain_are_rejected(description: dict[str, object], at: str) -> None:
    with pytest.raises(tb.ScenarioError) as caught:
        tb.Scenario(description)
    assert [problem.at for problem in caught.value.problems] == [at]


def test_an_unknown_path_is_rejected(scenario: tb.Scenario) -> None:
    with pytest.raises(tb.ScenarioError, match="the path has no `x`"):
        scenario.with_({"duration.x": "1 s"})


def test_a_path_that_is_not_text_is_rejected(scenario: tb.Scenario) -> None:
    with pytest.raises(tb.ScenarioError, match="a path is not text"):
        scenario.with_({3: 4})  # type: ignore[dict-item]


def test_an_empty_file_name_is_not_the_current_directory() -> None:
    with pytest.raises(tb.ScenarioError, match="`path` is empty"):
        tb.load("")


@pytest.mark.parametrize(
    ("flows", "at"),
    [("web", "flows"), (["web"], "flows"), (2.0, "flows"), ({"web": "tcp"}, "flows.web"), (-1, "flows.tcp.count")],
)
def test_invalid_flows_have_their_place(flows: Any, at: str) -> None:
    scenario = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", flows=flows, duration="5 s")
    with pytest.raises(tb.ScenarioError) as caught:
        scenario.check()
    assert caught.value.problems[0].at == at


def test_a_rate_is_not_a_list_of_letters() -> None:
    scenario = tb.chain(rates="10 Mbps", delays=["10 ms"], buffer="20 packets", duration="5 s")  # type: ignore[arg-type]
    with pytest.raises(tb.ScenarioError, match="`rates` must be a list, not text"):
        scenario.check()


@pytest.mark.parametrize("seed", [-1, 2**53, pytest.param(10**5000, id="huge")])
def test_a_seed_out_of_range(scenario: tb.Scenario, seed: int) -> None:
    with pytest.raises(tb.ScenarioError, match="`seed` is out of range"):
        tb.simulate(scenario, seed=seed)


@pytest.mark.parametrize("seed", [True, 1.5, "1", [1]])
def test_a_seed_that_is_not_a_whole_number(scenario: tb.Scenario, seed: Any) -> None:
    with pytest.raises(tb.ScenarioError, match="`seed` is not a whole number") as caught:
        tb.simulate(scenario, seed=seed)
    (problem,) = caught.value.problems
    assert (problem.at, problem.given, problem.expected) == ("seed", repr(seed), f"a whole number from 0 to {2**53 - 1}")


def test_a_numpy_integer_is_a_seed(scenario: tb.Scenario) -> None:
    assert tb.simulate(scenario, seed=np.int64(3)).seed == 3  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ("small.toml", "`tailback.load('small.toml')` reads a file"),
        (Path("small.toml"), "`tailback.load('small.toml')` reads a file"),
        ("duration = '1 s'\n", "`Scenario.from_toml(text)` reads text"),
        (None, None),
        ([], None),
    ],
)
def test_a_scenario_that_is_not_a_dictionary_is_rejected(given: Any, hint: str | None) -> None:
    with pytest.raises(tb.ScenarioError, match="the scenario is not a dictionary") as caught:
        tb.simulate(given)
    (problem,) = caught.value.problems
    assert (problem.given, problem.hint) == (repr(given), hint)


def test_a_dictionary_that_contains_itself_is_rejected() -> None:
    description: dict[str, Any] = {"duration": "1 s"}
    description["flows"] = [description]
    deep: dict[str, Any] = {}
    for _ in range(100_000):
        deep = {"a": deep}
    for endless in (description, deep):
        with pytest.raises(tb.ScenarioError, match="nested deeper than 64 levels\n"):
            tb.Scenario(endless)
    with pytest.raises(tb.ScenarioError, match="nested deeper"):
        tb.Scenario({}).with_({"flows": deep})
    # Released level by level, because releasing it at once overflows the stack of some interpreters.
    while deep:
        deep = deep["a"]
