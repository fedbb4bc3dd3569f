"""Data files of Flent: the version that Flent 1.3 to 2.2 read, with the series of the test RRUL."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import tailback as tb

CUBIC: Any = {"tcp": {"preset": "linux/cubic"}}
PING: Any = {
    "application": {
        "kind": "requests",
        "requests": 1000,
        "request_size": "64 B",
        "response_size": "64 B",
        "think_time": "200 ms",
    },
    **CUBIC,
}
FLOWS: Any = {"down": {"count": 2, **CUBIC}, "up": {"from": "right", "to": "left", **CUBIC}, "ping": PING}
SERIES = {"TCP download BE": "down", "TCP upload BE": "up", "Ping (ms) ICMP": "ping"}


@pytest.fixture(scope="module")
def run() -> tb.Run:
    return tb.simulate(
        tb.dumbbell(
            rate="20 Mbps",
            delay="10 ms",
            buffer="50 packets",
            reverse={"rate": "10 Mbps", "queue": {"buffer": "50 packets"}},
            flows=FLOWS,
            duration="10 s",
            traces={"throughput": {"flows": ["down", "up"], "bin": "100 ms"}, "rtt": ["down"]},
        )
    )


def written(run: tb.Run, path: Path, series: dict[str, str] = SERIES, **more: Any) -> dict[str, Any]:
    run.write_flent(path, series, **more)
    document: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()), parse_constant=pytest.fail)
    return document


def test_series_are_the_throughput_and_the_round_trips(run: tb.Run, tmp_path: Path) -> None:
    document = written(run, tmp_path / "run.flent.gz")
    assert (document["version"], document["metadata"]["NAME"], len(document["x_values"])) == (4, "rrul", 51)
    assert all(len(values) == 51 for values in document["results"].values())
    for series, group in (("TCP download BE", "down"), ("TCP upload BE", "up")):
        raw = [point["val"] for point in document["raw_values"][series]]
        goodput = run.groups.where(group=group)["goodput_bps"][0]
        assert sum(raw) / len(raw) == pytest.approx(goodput / 1e6, rel=0.01)
    assert document["results"]["TCP download sum"] == document["results"]["TCP download BE"]
    pings = [point["val"] for point in document["raw_values"]["Ping (ms) ICMP"]]
    # At least the base RTT of 20 ms.
    assert min(pings) > 20
    assert written(run, tmp_path / "again.flent.gz")["results"] == document["results"]


def test_round_trips_of_tcp_are_pings_without_requests(run: tb.Run, tmp_path: Path) -> None:
    document = written(run, tmp_path / "run.flent.gz", {"Ping (ms) ICMP": "down"}, step="1 s")
    trace = run.trace("rtt")
    assert [point["val"] for point in document["raw_values"]["Ping (ms) ICMP"]] == pytest.approx(sorted_by_time(trace))
    assert document["metadata"]["SERIES_META"]["Ping (ms) avg"]["UNITS"] == "ms"


def sorted_by_time(trace: tb.Table) -> list[float]:
    return [1e3 * rtt for _, rtt in sorted(zip(trace["time_s"], trace["rtt_s"], strict=True))]


def test_flent_opens_the_file(run: tb.Run, tmp_path: Path) -> None:
    if not shutil.which("flent"):
        pytest.skip("needs flent")
    run.write_flent(tmp_path / "run.flent.gz", SERIES)
    done = subprocess.run(["flent", "-f", "summary", tmp_path / "run.flent.gz"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "TCP download sum" in done.stdout


def test_what_was_not_recorded_is_an_error(run: tb.Run, tmp_path: Path) -> None:
    file = tmp_path / "run.flent.gz"
    with pytest.raises(tb.UnknownName, match="no flow group `dwon`"):
        run.write_flent(file, {"TCP download BE": "dwon"})
    with pytest.raises(tb.ParameterError, match="has no flows of `ping`"):
        run.write_flent(file, {"TCP download BE": "ping"})
    with pytest.raises(tb.ParameterError, match="`step` is '20 s'"):
        run.write_flent(file, SERIES, step="20 s")
    with pytest.raises(tb.ParameterError, match="`series` is empty"):
        run.write_flent(file, {})
    for name in ("run.flent", "run.json.gz", "run"):
        with pytest.raises(tb.ParameterError, match=r"run\S* has another suffix; expected `\.flent\.gz`"):
            run.write_flent(tmp_path / name, SERIES)
        assert not (tmp_path / name).exists()
    with pytest.raises(tb.OutputError, match="cannot write"):
        run.write_flent(tmp_path / "none" / "run.flent.gz", SERIES)
    plain = tb.simulate(tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="1 s"))
    with pytest.raises(tb.UnknownName, match="no trace `throughput`"):
        plain.write_flent(file, {"TCP download BE": "tcp"})
    assert not file.exists()
