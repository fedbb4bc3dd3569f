"""Presets of the kernel's congestion modules, against the sawteeth of Linux 6.12.117 at 1000 Hz in virtual time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tailback as tb

# Over 20 Mbit/s with 40 ms and 67 packets: the period in seconds, 0 without losses, and the mean queue in packets. Vegas's
# queue is a whole number of segments, which depends on the start by one.
KERNEL = {
    "linux/bic": (1.401, 54.46),
    "linux/highspeed": (3.269, 39.82),
    "linux/htcp": (2.479, 27.98),
    "linux/hybla": (4.536, 36.38),
    "linux/illinois": (7.342, 48.17),
    "linux/scalable": (1.174, 58.42),
    "linux/vegas": (0.0, 3.83),
    "linux/veno": (8.347, 37.49),
    "linux/westwood": (4.290, 36.46),
    "linux/yeah": (4.242, 37.07),
}

DURATION_S, WARMUP_S = 65, 5

# Losses that are less than this apart belong to one event.
GAP_S = 0.25


def over_one_bottleneck(tcp: dict[str, Any]) -> dict[str, Any]:
    link = {"from": "a", "to": "b", "rate": "20 Mbps", "delay": "20 ms", "queue": {"buffer": "67 packets"}}
    return {
        "duration": f"{DURATION_S} s",
        "warmup": f"{WARMUP_S} s",
        "nodes": {"a": {}, "b": {}},
        "links": {"bottleneck": {**link, "reverse": {"rate": "100 Gbps"}}},
        "flows": {"bulk": {"from": "a", "to": "b", "start": "0.05 s", "tcp": tcp}},
        "record": {"traces": {"drops": ["bottleneck"]}},
    }


def period_s(run: tb.Run) -> float:
    """Mean time between loss events; 0 without two."""
    times = np.asarray(run.trace("drops")["time_s"])
    times = times[times >= WARMUP_S]
    begins = times[np.diff(times, prepend=-math.inf) > GAP_S]
    return float(np.diff(begins).mean()) if len(begins) > 1 else 0.0


@pytest.mark.parametrize("preset", KERNEL)
def test_the_sawtooth_of_a_module_is_that_of_the_kernel(preset: str) -> None:
    run = tb.simulate(over_one_bottleneck({"preset": preset, "timer": {"jiffy": "1 ms"}}))
    period, queue = KERNEL[preset]
    assert period_s(run) == pytest.approx(period, rel=0.05)
    (bottleneck,) = run.queues.where(queue="bottleneck").to_rows()
    assert bottleneck["mean_queue_units"] == pytest.approx(queue, rel=0.05, abs=1.01 if period == 0 else 0)


@pytest.mark.parametrize("module", ["cdg", "nv", "lp"])
def test_modules_without_a_law_have_no_preset(module: str) -> None:
    with pytest.raises(tb.ScenarioError, match=f"`linux/{module}`"):
        tb.simulate(over_one_bottleneck({"preset": f"linux/{module}"}))
