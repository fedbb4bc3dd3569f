"""Cost of models: a sizing answer with all rules, a closed loop of a large trunk, and arrays in one call.

    python bench/models.py

CPU time on one core, the minimum of several measurements.
"""

# ruff: noqa: T201 (the purpose of this script is to print)

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import tailback as tb
from tailback.models import LOSS_MODELS

TRUNK: dict[str, Any] = {"rate_bps": 40e9, "packet_bytes": 1040, "harmonic_rtt_s": 0.1091}
LARGE: dict[str, Any] = {"transmitters": 1000, "buffer": 1_000_000, "flows": 4_000_000, **TRUNK}
# The state-by-state part of the models ends where all inputs are busy.
INPUTS = (2_000, 16_000, 1_000_000)
ROWS = 100_000
REPEAT = 7


def seconds(call: Callable[[], object], times: int = 1) -> float:
    """CPU seconds per call, the minimum of several rounds of `times` calls."""
    rounds = []
    for _ in range(REPEAT):
        began = time.process_time()
        for _ in range(times):
            call()
        rounds.append((time.process_time() - began) / times)
    return min(rounds)


def all_rules() -> object:
    """Every rule's answer at a trunk of 1000 channels."""
    trunk: dict[str, Any] = {"rate": "40 Gbps", "packet_size": "1040 B", "transmitters": 1000, "inputs": 2000}
    return tb.size_buffer(**trunk, base_rtt="109.1 ms", flows=4_000_000, target=0.8)


def closed_loop(model: str, inputs: int) -> Callable[[], object]:
    """1000 channels and a million places."""
    return lambda: tb.models.closed_loop(model=model, inputs=inputs, **LARGE)  # type: ignore[arg-type]


def mark_ns(scheme: str, **settings: Any) -> float:
    """Cost of a queue's decision per packet: the difference between paths of nine queues and of one, per additional queue."""
    probes, paths = 20_000, 20

    def path(queues: int) -> Callable[[], object]:
        return lambda: tb.prices.probe([[0.4] * queues] * paths, [probes], scheme=scheme, **settings)

    return 1e9 * (seconds(path(9)) - seconds(path(1))) / (8 * probes * paths)


def main() -> None:
    flows = np.arange(1, ROWS + 1)
    targets = np.linspace(0.5, 0.95, ROWS)
    link = {"rate_bps": 40e9, "packet_bytes": 1040}
    report = {
        "sizing_answer_ms": 1e3 * seconds(all_rules, 100),
        **{
            f"closed_loop_{model}_{inputs}_inputs_ms": 1e3 * seconds(closed_loop(model, inputs))
            for model in LOSS_MODELS
            for inputs in INPUTS
        },
        "cui_link_ns_per_row": 1e9
        * seconds(lambda: tb.models.cui_link_buffer(**link, harmonic_rtt_s=0.1, flows=flows, utilisation=targets))
        / ROWS,
        "appenzeller_ns_per_row": 1e9
        * seconds(lambda: tb.models.appenzeller_buffer(**link, mean_rtt_s=0.1, flows=flows + 1000, utilisation=targets))
        / ROWS,
        **{f"mark_ns_{scheme}": mark_ns(scheme) for scheme in ("adpm", "rem", "ram", "tpm", "rpm")},
        "load_average": os.getloadavg()[0],
    }
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
