"""Runs are written in the formats of other programs, which are found by their names and suffixes."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import tailback as tb
from tailback import _formats
from tailback._formats.qlog import TRACES

SERIES = {"TCP download BE": "tcp"}


# File, arguments of `save_as`, and the method that writes the same file.
WRITTEN: dict[str, tuple[str, dict[str, Any], Callable[[tb.Run, Path], None]]] = {
    "pcapng": ("run.pcapng", {}, lambda run, path: run.save_capture(path)),
    "qlog": ("run.qlog", {}, lambda run, path: run.save_qlog(path)),
    "flent": ("run.flent.gz", {"series": SERIES}, lambda run, path: run.write_flent(path, SERIES)),
    "mahimahi": ("run.trace", {"queue": "bottleneck"}, lambda run, path: run.write_mahimahi(path, "bottleneck")),
}


@pytest.fixture(scope="module")
def run() -> tb.Run:
    traces: dict[str, Any] = {kind: ["tcp"] for kind in TRACES}
    traces |= {"departures": ["bottleneck"], "throughput": {"flows": ["tcp"], "bin": "100 ms"}}
    return tb.simulate(tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="9 packets", duration="2 s", traces=traces))


def test_every_format_is_listed() -> None:
    modules = [import_module(f"tailback._formats.{found.name}") for found in pkgutil.iter_modules(_formats.__path__)]
    declared = {module.FORMAT.name: module.FORMAT for module in modules if hasattr(module, "FORMAT")}
    assert declared == {each.name: each for each in _formats.FORMATS}
    assert len(declared) >= 5
    assert all(each.reader or each.writer for each in declared.values())


@pytest.mark.parametrize("format", [each.name for each in _formats.FORMATS if each.writer])
def test_a_file_is_the_same_by_suffix_by_name_and_by_method(run: tb.Run, tmp_path: Path, format: str) -> None:
    name, options, method = WRITTEN[format]
    files = [tmp_path / way / name for way in ("suffix", "name", "method")]
    for file in files:
        file.parent.mkdir()
    run.save_as(files[0], **options)
    run.save_as(files[1], format, **options)
    method(run, files[2])
    by_suffix, by_name, by_method = (file.read_bytes() for file in files)
    assert len(by_suffix) > 100
    assert by_suffix == by_name == by_method


def test_a_format_without_its_suffix_is_named(run: tb.Run, tmp_path: Path) -> None:
    run.save_as(tmp_path / "events.json", "qlog")
    assert tb.analyse(tmp_path / "events.json").packets > 100


@pytest.mark.parametrize(
    ("name", "arguments", "error", "message"),
    [
        (
            "run.qlog",
            {"format": "qlgo"},
            tb.UnknownName,
            "no format `qlgo`; expected one of `pcapng`, `qlog`, `flent`, `mahimahi`; did you mean `qlog`?",
        ),
        ("run.qlog", {"format": "iperf3"}, tb.UnknownName, "no format `iperf3`"),
        (
            "run.qlgo",
            {},
            tb.ParameterError,
            "expected one of `.pcapng`, `.qlog`, `.flent.gz`, `.trace`, or the argument `format`; did you mean `.qlog`?",
        ),
        ("run", {}, tb.ParameterError, "the suffix of `"),
        ("run.json", {"format": "flent", "series": SERIES}, tb.ParameterError, "expected `.flent.gz`, as Flent requires"),
        ("run.trace", {}, tb.ParameterError, "files of the format `mahimahi` require the argument `queue`"),
        ("run.trace", {"queue": "botleneck"}, tb.UnknownName, "did you mean `bottleneck`?"),
        ("run.flent.gz", {"series": SERIES, "stp": "1 s"}, tb.ArgumentError, "did you mean `step`?"),
        ("run.qlog", {"queue": "bottleneck"}, tb.ArgumentError, "has no argument `queue`"),
        ("none/run.qlog", {}, tb.OutputError, "cannot write"),
    ],
)
def test_an_error_has_the_valid_values_and_leaves_no_file(
    run: tb.Run, tmp_path: Path, name: str, arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        run.save_as(tmp_path / name, **arguments)
    assert message in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_exists_is_kept(run: tb.Run, tmp_path: Path) -> None:
    (tmp_path / "run.trace").write_text("1\n")
    with pytest.raises(tb.OutputError, match="exists already"):
        run.save_as(tmp_path / "run.trace", queue="bottleneck")
    assert (tmp_path / "run.trace").read_text() == "1\n"


def test_a_trace_that_was_not_recorded_is_named(tmp_path: Path) -> None:
    plain = tb.simulate(tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="1 s"))
    for name, options in {"run.pcapng": {}, "run.qlog": {}, "run.trace": {"queue": "bottleneck"}}.items():
        with pytest.raises(tb.UnknownName, match=r"add it to `record\.traces`"):
            plain.save_as(tmp_path / name, **options)
    assert list(tmp_path.iterdir()) == []
