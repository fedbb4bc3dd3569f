"""Data files of Flent: those that Tailback writes, and others with gaps and without units."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from typing import Any

import pytest

import tailback as tb
from support import Command

DATA: dict[str, Any] = {
    "version": 4,
    "x_values": [0.0, 0.2, 0.4],
    "results": {"TCP download": [1.0, None, 3.0], "Ping (ms) ICMP": [None, None, None]},
    "metadata": {"NAME": "rrul", "SERIES_META": {"TCP download": {"UNITS": "Mbits/s"}}},
    "raw_values": {},
}


@pytest.mark.parametrize("name", ["x.flent.gz", "x.flent", "x.json"])
def test_series_have_their_statistics_and_units(tmp_path: Path, name: str, command: Command) -> None:
    text = json.dumps(DATA).encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    analysis = tb.analyse(path, samples=True)
    download, ping = analysis.tables["series"].to_rows()
    assert (download["unit"], download["samples"], download["missing"], download["mean"]) == ("Mbits/s", 2, 1, 2.0)
    assert (download["min"], download["p50"], download["p95"], download["max"]) == (1.0, 1.0, 3.0, 3.0)
    assert (ping["unit"], ping["samples"], math.isnan(ping["mean"])) == ("", 0, True)
    assert analysis.tables["values"]["time_s"].tolist() == [0.0, 0.2, 0.4] * 2
    assert len(analysis.connections) == 0
    done = command("analyse", path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 series of Flent" in done.stdout
    assert "TCP download" in done.stdout


def test_a_file_without_series_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.flent"
    path.write_text(json.dumps({**DATA, "results": {}}))
    assert "0 series of Flent" in tb.analyse(path).summary()


def test_what_a_run_writes_is_read(tmp_path: Path) -> None:
    flows: Any = {"down": {"tcp": {"preset": "sack"}}}
    link = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="5 s", flows=flows, traces=["throughput"])
    run = tb.simulate(link)
    path = tmp_path / "run.flent.gz"
    run.write_flent(path, {"TCP download BE": "down"})
    rows = {row["series"]: row for row in tb.analyse(path).tables["series"].to_rows()}
    assert rows["TCP download BE"]["unit"] == "Mbits/s"
    assert rows["TCP download BE"]["mean"] == pytest.approx(run.groups["goodput_bps"][0] / 1e6, rel=0.05)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x1f\x8b\x08damaged", "its compressed data are damaged"),
        (b"[]", "the document is not an object"),
        (b"{}", "`x_values` is missing or not a list"),
        (b"{", "is not a data file of Flent"),
        (json.dumps({**DATA, "results": {"a": [1.0]}}).encode(), "`results.a` is not a list as long as `x_values`"),
        (json.dumps({**DATA, "results": {"a": [1.0, "x", 2.0]}}).encode(), r"`results.a\[1\]` is not a number"),
    ],
)
def test_other_contents_are_refused_with_their_place(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "x.flent.gz"
    path.write_bytes(content)
    with pytest.raises(tb.CaptureError, match=message):
        tb.analyse(path)
