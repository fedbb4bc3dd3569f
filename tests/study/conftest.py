"""What the tests of studies share: a scenario that costs little, and a study of it."""

from __future__ import annotations

from typing import Any

import pytest

import tailback as tb
from small_sweep import BUFFER, PRESET


@pytest.fixture
def small() -> tb.Scenario:
    """A second of one flow that starts at random."""
    flow: Any = {"start": {"uniform": ["0 s", "0.2 s"]}, "tcp": {"preset": "newreno"}}
    return tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="1 s", flows={"tcp": flow})


@pytest.fixture(scope="module")
def study() -> tb.Study:
    """Two buffers, two senders, two seeds; half a second each."""
    flow: Any = {"start": {"uniform": ["0 s", "0.2 s"]}}
    scenario = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="0.5 s", flows={"tcp": flow})
    return tb.sweep(scenario, {BUFFER: ["20 packets", "5 packets"], PRESET: ["reno", "sack"]}, seeds=2)
