"""Instructions and events per packet with presets, paced controllers and AQMs: the networks that people run.

    python bench/presets.py
    python bench/presets.py target/setup/examples/cost

Ten flows over 100 Mbit/s for 10 s; see `SCENARIO`. Counted by callgrind (`valgrind`), without set-up: a run of 0.1 ms is
subtracted. The argument is a built example `cost` of `crates/scenario`; otherwise it is built with the release profile.
"""

# ruff: noqa: T201 (the purpose of this script is to print)

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SCENARIO = """
duration = "{duration}"

[topology.dumbbell]
rate = "100 Mbps"
delay = "10 ms"
queue = {{{queue}}}

[flows.bulk]
count = 10
from = "left"
to = "right"
sender_access = {{rate = "1 Gbps"}}
receiver_access = {{rate = "1 Gbps", delay = "1 ms"}}
propagation_rtt = {{uniform = ["60 ms", "180 ms"]}}
start = {{uniform = ["0 s", "1 s"]}}
tcp = {{{tcp}}}
"""
DROP_TAIL = 'buffer = "10 packets"'
LARGE = 'buffer = "100 packets"'
FQ_CODEL = f'{LARGE}, policy = "codel", scheduler = {{kind = "flow_queue", queues = 1024}}'
CUBIC = 'preset = "linux/cubic"'
PRAGUE = 'preset = "sack", controller = "prague", ecn = true, timestamps = true'
ROWS = {
    "newreno, an ACK per packet": ('preset = "newreno", delayed_ack = false', DROP_TAIL),
    "newreno, delayed ACKs": ('preset = "newreno"', DROP_TAIL),
    "linux/reno": ('preset = "linux/reno"', DROP_TAIL),
    "linux/cubic": (CUBIC, DROP_TAIL),
    "linux/cubic, 1000 packets": (CUBIC, 'buffer = "1000 packets"'),
    "linux/cubic, CoDel": (CUBIC, f'{LARGE}, policy = "codel"'),
    "linux/cubic, PIE": (CUBIC, f'{LARGE}, policy = "pie"'),
    "linux/cubic, FQ-CoDel": (CUBIC, FQ_CODEL),
    "linux/cubic, DualPI2": (CUBIC, f'{LARGE}, scheduler = "dualpi2"'),
    "prague, DualPI2": (PRAGUE, f'{LARGE}, scheduler = "dualpi2"'),
    "bbrv3": (f'{CUBIC}, controller = "bbrv3"', DROP_TAIL),
    "linux/bbr": ('preset = "linux/bbr"', DROP_TAIL),
}
"""TCP settings and queue of each row."""


def built() -> Path:
    """The example of the release build."""
    build = ["cargo", "build", "--release", "--locked", "-p", "tailback-scenario", "--example", "cost"]
    subprocess.run(build, check=True, cwd=ROOT)
    return ROOT / "target" / "release" / "examples" / "cost"


def counted(program: Path, scenario: Path, text: str) -> tuple[int, dict[str, Any]]:
    """Instructions of a run, and its counts of packets and events."""
    scenario.write_text(text, encoding="utf-8")
    command: list[str | Path] = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, scenario]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    return int(run.stderr.split("Collected :")[1].split()[0]), json.loads(run.stdout)


def main() -> None:
    program = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else built()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scenario.toml"
        print(f"{'':28}instructions  ratio  events")
        first = None
        for name, (tcp, queue) in ROWS.items():
            set_up, _ = counted(program, file, SCENARIO.format(tcp=tcp, queue=queue, duration="0.1 ms"))
            whole, run = counted(program, file, SCENARIO.format(tcp=tcp, queue=queue, duration="10 s"))
            cost = (whole - set_up) / run["delivered"]
            first = first or cost
            print(f"{name:28}{cost:12.0f}{cost / first:7.2f}{run['events'] / run['delivered']:8.2f}", flush=True)


if __name__ == "__main__":
    main()
