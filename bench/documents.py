"""Cost of a whole document: every run of its experiments, in sequence, without stored results.

python bench/documents.py                            # spd-1998 with ten seeds: minutes
python bench/documents.py bpd-2001 --seeds 2
"""

# ruff: noqa: T201 (the purpose of this script is to print)

from __future__ import annotations

import argparse
import json
import os
import time
from typing import Any

import tailback as tb


def cpu_seconds() -> float:
    """User and system time of this process and its finished child processes."""
    return sum(os.times()[:4])


def whole(document: str, seeds: int) -> dict[str, Any]:
    """Cost of a document, and the amount of simulation."""
    cpu, wall = cpu_seconds(), time.perf_counter()
    tally = tb.reproduce(document, seeds=seeds, workers=1).tally
    cpu, wall = cpu_seconds() - cpu, time.perf_counter() - wall
    return {
        "document": document,
        "seeds": seeds,
        "runs": tally.runs,
        "simulated_s": round(tally.simulated_s),
        "events": tally.events,
        "cpu_s": round(cpu, 1),
        "wall_s": round(wall, 1),
        "million_events_per_cpu_s": round(tally.events / cpu / 1e6, 2),
        "load_average": os.getloadavg()[0],
        "version": tb.__version__,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents", nargs="*", default=["spd-1998"])
    parser.add_argument("--seeds", type=int, default=10)
    arguments = parser.parse_args()
    for document in arguments.documents:
        print(json.dumps(whole(document, arguments.seeds)))


if __name__ == "__main__":
    main()
