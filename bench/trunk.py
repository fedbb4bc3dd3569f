"""Simulation speed of the detailed trunk model: packets per CPU second by inputs, places and load.

    python bench/trunk.py
    python bench/trunk.py --packets 1000000000

Direct simulation on one core, without splitting; packets of the warm-up rounds are included, because they cost the same.
"""

# ruff: noqa: T201 (the purpose of this script is to print)

from __future__ import annotations

import argparse
import json
import os
import time
from typing import Any

import tailback as tb
from tailback.models import TrunkVariant

TRUNKS: tuple[dict[str, Any], ...] = (
    {"inputs": 16, "transmitters": 2, "buffer": 10},
    {"inputs": 16_000, "transmitters": 2, "buffer": 10},
    {"inputs": 16_000, "transmitters": 2, "buffer": 10_000},
    {"inputs": 1_000, "transmitters": 100, "buffer": 10},
)
LOADS = (0.5, 0.8, 1.0, 1.5)
TRUNK_VARIANTS: tuple[TrunkVariant, ...] = ("own_length", "fresh", "coupled")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packets", type=int, default=50_000_000)
    packets = parser.parse_args().packets
    rows: list[dict[str, Any]] = []
    for trunk in TRUNKS:
        for variant in TRUNK_VARIANTS:
            row: dict[str, Any] = {**trunk, "variant": variant}
            for load in LOADS:
                began = time.process_time()
                measured = tb.models.simulate_trunk(
                    **trunk, load=load, variant=variant, relative_width=1e-9, max_arrivals=packets, splitting=False, threads=1
                )
                row[f"million_per_cpu_s_at_{load}"] = round(measured.simulated / (time.process_time() - began) / 1e6, 1)
            rows.append(row)
    print(json.dumps({"packets": packets, "rows": rows, "load_average": os.getloadavg()[0]}, indent=2))


if __name__ == "__main__":
    main()
