"""Reports of the benchmarks: tables on the terminal, and a file from which the page on performance is computed."""

# ruff: noqa: T201 (tables are printed)

from __future__ import annotations

import datetime
import json
import os
import pathlib
import platform
import subprocess
import sys
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILE = ROOT / "bench.json"
"""The page reads a copy of this file, docs/evidence/performance.json."""


def store(section: str, report: dict[str, Any]) -> None:
    """Replace a section of the file of reports."""
    sections = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    FILE.write_text(json.dumps(sections | {section: report}, indent=1) + "\n", encoding="utf-8")


def table(title: str, rows: list[list[str]]) -> None:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    print(title)
    for row in rows:
        left = row[0].ljust(widths[0])
        print("  " + "  ".join([left, *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]))
    print()


def note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def machine() -> dict[str, Any]:
    """Processor and load, versions, and the date."""
    lines = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    model = [line.split(":")[1].strip() for line in lines if "model name" in line]
    return {
        "cpu": model[0] if model else platform.machine(),
        "cores": os.cpu_count(),
        "load_average": os.getloadavg()[0],
        "ns2": version("ns2"),
        "ns3": version("libns3-dev"),
        "commit": commit(),
        "date": datetime.date.today().isoformat(),
    }


def version(package: str) -> str:
    """Installed version of a Debian package; empty if it is not installed."""
    query = ["dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", package]
    status, _, number = subprocess.run(query, capture_output=True, text=True).stdout.partition(" ")
    return number if status == "installed" else ""


def commit() -> str:
    described = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True)
    return described.stdout.strip() or "unknown"
