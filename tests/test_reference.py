"""The reference pages agree with the schema, the commands and the results."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import tailback as tb
from support import ROOT
from tailback import _core

MAKE = "run: .venv/bin/python tools/reference.py docs/reference"


def test_the_pages_are_up_to_date(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "tools/reference.py", str(tmp_path)], cwd=ROOT, check=True)
    made = {path.relative_to(tmp_path): path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.md")}
    there = {path: ROOT / "docs/reference" / path for path in made}
    assert len(made) > 15
    assert [
        str(path) for path in made if not there[path].exists() or there[path].read_text(encoding="utf-8") != made[path]
    ] == [], MAKE
    scenario = {path.relative_to(ROOT / "docs/reference") for path in (ROOT / "docs/reference/scenario").glob("*.md")}
    assert scenario <= made.keys(), MAKE


@tb.host("silent")
class Silent(tb.user_code.Host):
    """Sends and reports nothing."""

    def receive(self, now_s: float, data: bytes, ecn: int) -> None: ...

    def poll(self, now_s: float) -> None: ...


def everything() -> list[tb.Run]:
    """Runs that together have every table with all its columns."""
    traces = ["cwnd", "ssthresh", "rtt", "rto", "in_flight", "segments", "acks", "state", "queue", "drops", "packets"]
    tcp = tb.dumbbell(
        rate="10 Mbps",
        delay="10 ms",
        buffer="9 packets",
        duration="2 s",
        flows={"web": {"count": 2, "tcp": {"preset": "sack", "controller": "cubic"}}},
        traces=traces,
    ).with_({"record.delay_percentiles": True})
    law = tcp.with_({"record.traces": ["controller"], "flows.web.tcp.controller": "fast", "flows.web.tcp.timestamps": True})
    bins = tcp.with_({"record.traces": {"throughput": {"flows": ["web"], "bin": "100 ms"}}})
    priced = tcp.with_(
        {
            "record.traces": [],
            "topology.dumbbell.queue": {"policy": "rem", "buffer": "90 packets", "target": "30 packets"},
            "flows.web.tcp.ecn": True,
        }
    )
    policed = {"name": "bulk", "policy": "policer", "rate": "1 Mbps", "burst": "9 kB"}
    queues = {"buffer": "9 packets", "scheduler": "drr", "classes": [policed]}
    classes = tcp.with_({"record.traces": [], "topology.dumbbell.queue": queues, "flows.web.class": "bulk"})
    policer = {"policy": "policer", "rate": "5 Mbps", "burst": "20 kB", "buffer": "9 packets"}
    links = tcp.with_(
        {
            "record.traces": ["departures"],
            "record.queue_flows": True,
            "topology.dumbbell.duplication": 0.01,
            "topology.dumbbell.queue": policer,
            "topology.dumbbell.mtu": "1500 B",
        }
    )
    rates = tb.load(ROOT / "examples/abr.toml").with_({"duration": "1 s"})
    chunks = {"kind": "video", "ladder": ["1 Mbps", "3 Mbps"], "chunk": "200 ms"}
    video = tcp.with_({"record.traces": [], "flows.web.application": chunks, "flows.web.tcp": {"preset": "sack"}})
    stack: tb.Flow = {"from": "left", "to": "right", "tcp": {"stack": "user:silent"}}
    hosted = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="9 packets", duration="1 s", flows={"web": stack})
    return [tb.simulate(scenario) for scenario in (tcp, law, bins, priced, classes, links, rates, video, hosted)]


@pytest.mark.filterwarnings("ignore::tailback.ScenarioWarning")
def test_exactly_the_existing_columns_are_described() -> None:
    seen: dict[str, list[str]] = {}
    for run in everything():
        for name, table in run.tables.items():
            assert list(table.meanings) == table.columns, name
            known = seen.setdefault(name, [])
            known += [column for column in table.columns if column not in known]
    described = {table: [column for column, _ in columns] for table, _, columns in _core.described_tables()}
    assert {name: sorted(columns) for name, columns in seen.items()} == {
        name: sorted(columns) for name, columns in described.items()
    }
