"""Drawn scenarios over everything that `predict` accepts, compared with simulations.

The test takes 100 scenarios of up to 5 Mbit/s. `TAILBACK_DRAWN=500` takes 500 of up to 100 Mbit/s, the comparison of
docs/evidence/theory.md, and prints predictions that are off by more than the limit.
"""

from __future__ import annotations

import math
import os
import random
import warnings
from dataclasses import dataclass
from typing import Any

import tailback as tb

# Largest relative error of a right prediction.
LIMIT = 0.15


def drawn(index: int, max_mbps: float = 100) -> tb.Scenario:
    """A scenario of one or two groups over a dumbbell or a chain, limited by windows, buffers, random loss or the source."""
    draw = random.Random(f"drawn {index}")
    kind = draw.choice(["buffer", "buffer", "buffer", "window", "loss", "loss", "datagrams", "late", "late", "paced"])
    mbps = min(max_mbps, draw.choice([2, 5, 10, 20, 50, 100]))
    rtt_s = draw.choice([0.01, 0.02, 0.04, 0.08, 0.1, 0.15])
    product = max(1.0, mbps * 1e6 * rtt_s / 12000)
    duration, warmup = draw.choice([30, 60, 120]), draw.choice([0, 5, 10, 20])
    link: dict[str, Any] = {"rate": f"{mbps} Mbps"}
    buffer = draw.choice([1, 2, 0.05 * product, 0.1 * product, 0.2 * product, 0.5 * product, product, product, 2 * product])
    link["queue"] = {"buffer": f"{max(1, round(buffer))} packets"}
    flow: dict[str, Any] = {"count": draw.choice([1, 1, 2, 3, 5, 10, 20, 30, 50]), "propagation_rtt": f"{rtt_s} s"}
    flow["tcp"] = {"preset": draw.choice(["reno", "newreno", "sack", "linux/reno", "cubic", "linux/cubic"])}
    if draw.random() < 0.3:
        flow["propagation_rtt"] = {"uniform": [f"{0.7 * rtt_s} s", f"{1.5 * rtt_s} s"]}
    if draw.random() < 0.5:
        flow["start"] = {"uniform": ["0 s", f"{draw.choice([1, 2, 5])} s"]}
    match kind:
        case "window":
            flow["tcp"]["receiver_window"] = draw.choice([2, 3, 4, 8, 10, 20, 35, 64, 100, 200])
        case "loss":
            link |= {"rate": "1 Gbps", "loss": {"probability": draw.choice([0.002, 0.005, 0.01, 0.02, 0.03])}}
            link["queue"] = {"buffer": draw.choice(["unlimited", "1000 packets", "10 packets"])}
            flow["count"] = min(flow["count"], 10)
        case "datagrams":
            count, load = draw.randint(1, 8), draw.uniform(0.3, 1.3)
            size = draw.choice(["500 B", "1000 B", {"exponential": "1000 B"}])
            source = {"kind": "poisson", "rate": f"{1e6 * mbps * load / count:.0f} bps", "packet_size": size}
            flow = {"count": count, "source": source}
            link["queue"] = {"buffer": draw.choice(["unlimited", "5 packets", "20 packets"])}
        case "late":
            late = duration * draw.uniform(0.2, 0.8)
            flow["start"] = draw.choice([f"{late} s", {"uniform": ["0 s", f"{late} s"]}])
        case "paced":
            flow["tcp"]["pacing"] = True
    flows = {"a": flow}
    if "tcp" in flow and draw.random() < 0.15:
        flows["b"] = {**flow, "count": draw.choice([1, 2, 5])}
    common: dict[str, Any] = {"flows": flows, "duration": f"{duration} s", "warmup": f"{warmup} s", "seed": index}
    if draw.random() < 0.3:
        rates, delays = [link.pop("rate"), "2 Gbps"], ["1 ms", "1 ms"]
        return tb.chain(rates=rates, delays=delays, **link, **common)
    return tb.dumbbell(delay="1 ms", **link, **common)


@dataclass(frozen=True)
class Compared:
    """A prediction and the largest relative error of its goodputs and utilisations."""

    index: int
    models: tuple[str, ...]
    warned: bool
    error: float


def compared(index: int, max_mbps: float = 100) -> Compared | None:
    """Compare one scenario; `None` if no model covers it."""
    scenario = drawn(index, max_mbps)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        prediction = tb.predict(scenario)
        if not prediction.models:
            return None
        rows = prediction.compare(tb.simulate(scenario))
    pairs = [(row.predicted, row.measured) for row in rows if row.quantity in ("goodput_bps", "utilisation")]
    error = max(
        (abs(predicted / measured - 1) if measured else math.inf for predicted, measured in pairs if predicted or measured),
        default=0,
    )
    warned = any(model.warnings for model in prediction.models)
    return Compared(index, tuple(model.model for model in prediction.models), warned, error)


def test_predictions_without_a_warning_are_within_fifteen_percent() -> None:
    count = int(os.environ.get("TAILBACK_DRAWN", "0"))
    found = [row for index in range(count or 100) if (row := compared(index, 100 if count else 5))]
    accepted = [row for row in found if not row.warned]
    wrong = [row for row in accepted if row.error > LIMIT]
    shown = f"{len(found)} predicted, {len(accepted)} without a warning, {len(wrong)} of these off: {wrong}"
    # 62 % of the 500 scenarios have a prediction without a warning, and 297 of 309 of these are right.
    assert len(accepted) >= 0.5 * (count or 100), shown
    assert len(wrong) <= 0.05 * len(accepted), shown
