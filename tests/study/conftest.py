"""Shared fixtures of study tests: a fast scenario, and a study of it."""

from __future__ import annotations

from typing import Any

import pytest

import tailback as tb
from small_sweep import BUFFER, PRESET


@pytest.fixture
def small() -> tb.Scenario:
    """One second of one flow with a random start."""
    flow: Any = {"start": {"uniform": ["0 s", "0.2 s"]}, "tcp": {"preset": "newreno"}}
    return tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="1 s", flows={"tcp": flow})


@pytest.fixture(scope="module")
def study() -> tb.Study:
    """Two buffers, two presets, two seeds; half a second each."""
    flow: Any = {"start": {"uniform": ["0 s", "0.2 s"]}}
    scenario = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="0.5 s", flows={"tcp": flow})
    return tb.sweep(scenario, {BUFFER: ["20 packets", "5 packets"], PRESET: ["reno", "sack"]}, seeds=2)
