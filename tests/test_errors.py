"""Exceptions carry data, also across processes."""

from __future__ import annotations

import json
import pickle
import sys
from importlib.metadata import Distribution, PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest

import tailback as tb
from support import ROOT
from tailback.errors import how_to_install
from tailback.papers import _documents


def test_errors_survive_a_process_boundary() -> None:
    with pytest.raises(tb.ScenarioError) as caught:
        tb.Scenario({}).check()
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.problems) == (str(caught.value), caught.value.problems)
    bug = pickle.loads(pickle.dumps(tb.InternalError("a packet vanished", "abc", 7)))
    assert (bug.content_hash, bug.seed) == ("abc", 7)
    assert "please report it" in str(bug)


def test_a_missing_library_is_named_with_the_version_of_its_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    missing = tb.MissingExtra("plotting", "matplotlib", "plot")
    assert str(missing).startswith(f'plotting requires matplotlib: {sys.executable} -m pip install "matplotlib>=')
    assert str(pickle.loads(pickle.dumps(missing))) == str(missing)
    assert ' "pyarrow>=' in str(tb.MissingExtra("a data frame", "pandas", "pandas"))


def test_the_pip_command_is_relative_to_the_working_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def absent(name: str) -> Distribution:
        raise PackageNotFoundError(name)

    # Without an installed package its extras are unknown.
    monkeypatch.setattr("importlib.metadata.distribution", absent)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "executable", str(tmp_path / ".venv" / "bin" / "python"))
    short = str(Path(".venv") / "bin" / "python")
    assert (
        str(tb.MissingExtra("plotting", "matplotlib", "plot"))
        == f"plotting requires matplotlib: {short} -m pip install matplotlib"
    )
    monkeypatch.setattr(sys, "executable", "/my tools/python")
    assert how_to_install("plot", "matplotlib") == f'"{Path("/my tools/python")}" -m pip install matplotlib'


class Installed(Distribution):
    """Tailback, installed from a URL."""

    def __init__(self, url: str) -> None:
        self.texts = {
            "METADATA": "Requires-Dist: tailback-papers; extra == 'papers'\n",
            "direct_url.json": json.dumps({"url": url}),
        }

    def read_text(self, filename: str) -> str | None:
        return self.texts.get(filename)

    def locate_file(self, path: object) -> Path:
        raise NotImplementedError


@pytest.mark.parametrize(
    ("url", "package"),
    [
        ((ROOT / "target/wheels/setup/tailback-0.1.0.whl").as_uri(), str(ROOT / "papers")),
        (ROOT.as_uri(), str(ROOT / "papers")),
        ("file:///removed/tailback-0.1.0.whl", "tailback-papers"),
        ("https://example.org/tailback-0.1.0.whl", "tailback-papers"),
    ],
)
def test_the_documents_come_from_the_checkout_that_tailback_was_built_from(
    monkeypatch: pytest.MonkeyPatch, url: str, package: str
) -> None:
    monkeypatch.setattr("importlib.metadata.distribution", lambda _name: Installed(url))
    monkeypatch.setattr(_documents, "DOCUMENTS", {})
    with pytest.raises(tb.MissingExtra) as caught:
        tb.reproduce("bpd-2001/fig2")
    assert str(caught.value) == f"bpd-2001 requires tailback-papers: {how_to_install('papers', 'tailback-papers')}"
    assert str(caught.value).endswith(f" -m pip install {package}")
    with pytest.raises(tb.MissingExtra, match="a list of experiments requires"):
        tb.papers.experiments()
    with pytest.raises(tb.UnknownName, match="did you mean `bpd-2001`"):
        tb.papers.experiments("bdp-2001")


@pytest.mark.parametrize(
    ("function", "arguments", "found"),
    [
        (tb.dumbbell, {"rate": "1 Mbps", "duraton": "1 s"}, {"duraton": "`duration`"}),
        (tb.fat_tree, {"k": 4, "rat": "1 Gbps", "bufer": "9 packets"}, {"rat": "`rate`", "bufer": "`buffer`"}),
        (tb.chain, {"rates": ["1 Mbps"], "warmpu": "1 s"}, {"warmpu": "`warmup`"}),
        (tb.waxman, {"routers": 9, "topology": {}}, {"topology": None}),
    ],
)
def test_unknown_arguments_are_reported_before_missing_ones(function: Any, arguments: Any, found: dict[str, str | None]) -> None:
    with pytest.raises(tb.errors.ArgumentError) as caught:
        function(**arguments)
    assert isinstance(caught.value, TypeError)
    assert isinstance(caught.value, tb.ScenarioError)
    hints = {problem.at: problem.hint for problem in caught.value.problems}
    assert hints == {name: near and f"did you mean {near}?" for name, near in found.items()}
    assert str(caught.value).startswith(f"error: `{function.__name__}()` has no argument")
    assert "in the scenario" not in str(caught.value)


@pytest.mark.parametrize(("more", "message"), [({}, "is required"), ({"buffer": "9 packets", "queue": {}}, "exclude each other")])
def test_a_topology_has_a_buffer_or_a_queue(more: Any, message: str) -> None:
    with pytest.raises(tb.errors.ArgumentError, match=message):
        tb.dumbbell(rate="1 Mbps", delay="1 ms", duration="1 s", **more)


def test_errors_and_warnings_have_the_place_in_the_text() -> None:
    text = 'duration = "1 s"\n[topology.dumbbell]\nrate = "10 Mbit"\ndelay = "1 ms"\nqueue = {buffer = "9 packets"}\n'
    with pytest.raises(tb.ScenarioError) as caught:
        tb.Scenario.from_toml(text, "small.toml")
    (problem,) = (problem for problem in caught.value.problems if problem.at == "topology.dumbbell.rate")
    assert (problem.line, problem.column, problem.end_column, problem.source_line) == (3, 8, 17, 'rate = "10 Mbit"')
    assert problem.hint == "write `10 Mbps`"
    assert "Mbit/s" in str(problem.expected)
    assert ' --> small.toml:3:8\n  |\n3 | rate = "10 Mbit"\n  |        ^^^^^^^^^\n' in str(caught.value)
    flows = '[flows.web]\nfrom = "left"\nto = "right"\nstart = "5 s"\ntcp = {preset = "sack"}\n'
    with pytest.warns(tb.ScenarioWarning) as emitted:
        tb.Scenario.from_toml(text.replace("Mbit", "Mbps") + flows, "small.toml")
    warning = emitted[0].message
    assert isinstance(warning, tb.ScenarioWarning)
    assert (warning.problem.at, warning.problem.line, warning.problem.column) == ("flows.web.start", 9, 9)
    copy = pickle.loads(pickle.dumps(warning))
    assert (str(copy), copy.problem) == (str(warning), warning.problem)


def test_errors_of_a_dictionary_have_paths_only() -> None:
    with pytest.raises(tb.ScenarioError) as caught:
        tb.dumbbell(rate="10 Mbit", delay="1 ms", buffer="9 packets", duration="1 s").check()
    (problem,) = caught.value.problems
    assert (problem.at, problem.line, problem.source_line) == ("topology.dumbbell.rate", None, None)
    assert "-->" not in str(caught.value)
    assert "nothing was run" not in str(caught.value)
