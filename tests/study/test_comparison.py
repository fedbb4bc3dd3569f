"""Comparison of two studies."""

from __future__ import annotations

import tailback as tb
from small_sweep import BUFFER, PRESET, VARY


class TestCompare:
    def test_studies_of_one_plan_are_the_same(self, small: tb.Scenario) -> None:
        found = tb.sweep(small, VARY, seeds=2).compare(tb.sweep(small, VARY, seeds=2))
        assert (bool(found), found.runs) == (True, 8)

    def test_differences_are_located(self, small: tb.Scenario) -> None:
        found = tb.sweep(small, VARY).compare(tb.sweep(small.with_({"topology.dumbbell.rate": "11 Mbps"}), VARY))
        goodput = next(one for one in found.differences if one.at == "groups.goodput_bps[0]")
        assert (bool(found), goodput.run) == (
            False,
            f'{PRESET}="reno", {BUFFER}="20 packets", seed 1',
        ) or goodput.left < goodput.right

    def test_runs_that_only_one_has_are_differences(self, small: tb.Scenario) -> None:
        found = tb.sweep(small, seeds=2).compare(tb.sweep(small, seeds=3))
        assert [(one.run, one.left, one.right) for one in found.differences] == [("seed 3", "missing", "present")]
