"""Speed-up of one run on several threads: `tailback run SCENARIO --threads N`, as users type it.

    python bench/threads.py                  # one thread per processor
    python bench/threads.py --threads 4 --repetitions 5 --only 'fat tree'

Wall time and CPU time of the whole command, start-up and results included: medians of interleaved runs. Wall times require an
otherwise idle machine.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from report import machine, note, store, table

TAILBACK = Path(sys.executable).with_name("tailback")

FAT_TREE = """
duration = "{duration}"
routing = "ecmp"
topology.fat_tree = {{k = {k}, rate = "10 Gbps", delay = "2 us", queue = {{buffer = "200 packets"}}}}
"""
PERMUTATION = """
flows.bulk = {traffic = {permutation = "host*"}, tcp = {preset = "linux/cubic"}}
"""
TRANSFERS = """
[flows.transfers]
traffic = {random_pairs = "host*"}
arrivals = {load = 0.4, reference_rate = "10240 Gbps"}
size = {exponential = "100 kB"}
tcp = {preset = "linux/cubic"}
"""
HOPS = 20
PARKING_LOT = f"""
duration = "3 s"
topology.parking_lot = {{hops = {HOPS}, rate = "1 Gbps", delay = "5 ms", queue = {{buffer = "500 packets"}}}}
flows.long = {{from = "n0", to = "n{HOPS}", count = 20, tcp = {{preset = "linux/cubic"}}}}
""" + "".join(
    f'flows.short{hop} = {{from = "n{hop}", to = "n{hop + 1}", count = 20, tcp = {{preset = "linux/cubic"}}}}\n'
    for hop in range(HOPS)
)
DUMBBELL = """
duration = "4 s"
topology.dumbbell = {rate = "10 Gbps", delay = "50 ms", queue = {buffer = "5000 packets"}}
flows.bulk = {count = 1000, from = "left", to = "right", tcp = {preset = "linux/cubic"}}
"""
SCENARIOS = {
    "fat tree, 128 hosts, permutation": FAT_TREE.format(k=8, duration="100 ms") + PERMUTATION,
    "fat tree, 1024 hosts, permutation": FAT_TREE.format(k=16, duration="30 ms") + PERMUTATION,
    "fat tree, 1024 hosts, transfers": FAT_TREE.format(k=16, duration="8 ms") + TRANSFERS,
    "parking lot of 20 links": PARKING_LOT,
    "dumbbell, 1000 flows": DUMBBELL,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--threads", type=int, default=max(2, os.cpu_count() or 2), help="number of threads of the parallel runs")
    parser.add_argument("--repetitions", type=int, default=3, help="runs per measurement; the median counts")
    parser.add_argument("--only", default="", help="only scenarios whose names start with this text")
    arguments = parser.parse_args()
    counts = (1, arguments.threads)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, text in SCENARIOS.items():
            if not name.startswith(arguments.only):
                continue
            note(f"timing {name}")
            scenario = Path(folder) / "scenario.toml"
            scenario.write_text(text, encoding="utf-8")
            runs = [[measured(scenario, threads) for threads in counts] for _ in range(arguments.repetitions)]
            wall_s, cpu_s = ([statistics.median(run[of][kind] for run in runs) for of in (0, 1)] for kind in ("wall_s", "cpu_s"))
            rows.append({"name": name, "wall_s": wall_s, "cpu_s": cpu_s})
    report = {"machine": machine(), "threads": counts, "rows": rows}
    show(report)
    store("threads", report)


def measured(scenario: Path, threads: int) -> dict[str, float]:
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([TAILBACK, "run", scenario, "--threads", str(threads)], check=True, stdout=subprocess.DEVNULL)
    wall_s, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"wall_s": wall_s, "cpu_s": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}


def show(report: dict[str, Any]) -> None:
    one, several = report["threads"]
    rows = [["", f"{one} thread, s", f"{several} threads, s", "times", "CPU s", "CPU s"]]
    for row in report["rows"]:
        seconds = [f"{each:.2f}" for each in row["wall_s"]]
        times = f"{row['wall_s'][0] / row['wall_s'][1]:.2f}"
        rows.append([row["name"], *seconds, times, *(f"{each:.2f}" for each in row["cpu_s"])])
    table(f"`tailback run` with {one} and {several} threads, load {report['machine']['load_average']:.1f}", rows)


if __name__ == "__main__":
    main()
