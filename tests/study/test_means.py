"""Means over seeds and paired differences."""

from __future__ import annotations

import numpy as np
import pytest

import tailback as tb
from small_sweep import BUFFER, PRESET, VARY
from tailback._interval import Interval


class TestStatistics:
    def test_a_mean_has_the_interval_of_its_seeds(self, small: tb.Scenario) -> None:
        study = tb.sweep(small, VARY, seeds=4)
        means = study.means("queues.bottleneck.utilisation")
        by_hand = Interval.of(study.queues.where(point=2, queue="bottleneck")["utilisation"].tolist())
        assert means.columns == [BUFFER, f"{BUFFER}_packets", PRESET, "seeds", "mean", "low", "high"]
        assert (means["seeds"][2], means["mean"][2], means["low"][2]) == (4, by_hand.mean, by_hand.mean - by_hand.half)

    def test_a_mean_can_have_a_bootstrap_interval(self, small: tb.Scenario) -> None:
        study = tb.sweep(small, VARY, seeds=4)
        values = study.queues.where(point=2, queue="bottleneck")["utilisation"].tolist()
        with pytest.warns(tb.IntervalWarning, match="of 4 values"):
            by_hand = tb.statistics.bootstrap(values, seed=8)
        with pytest.warns(tb.IntervalWarning, match="of 4 values"):
            row = study.means("queues.bottleneck.utilisation", interval="bootstrap", seed=8).to_rows()[2]
        assert (row["mean"], row["low"], row["high"]) == (by_hand.mean, by_hand.low, by_hand.high)
        with pytest.raises(tb.ParameterError, match="`interval` is 'z'; expected `t` or `bootstrap`"):
            study.means(interval="z")  # type: ignore[arg-type]

    def test_goodput_is_that_of_all_groups_together(self, small: tb.Scenario) -> None:
        both = small.with_({"flows.web": {"from": "left", "to": "right", "tcp": {"preset": "sack"}}})
        study = tb.sweep(both)
        assert study.means()["mean"][0] == sum(study.groups["goodput_bps"])
        assert np.isnan(study.means()["low"][0])

    def test_without_randomness_there_is_no_interval_and_no_target(self) -> None:
        fixed = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="9 packets", duration="2 s")
        drawn = {"flows.tcp.start": {"uniform": ["0 s", "1 s"]}}
        study = tb.sweep(fixed, {"start": {"fixed": {}, "drawn": drawn}}, seeds=3)
        means = {row["start"]: row for row in study.means().to_rows()}
        assert np.isnan(means["fixed"]["low"])
        assert means["drawn"]["low"] < means["drawn"]["mean"]
        # Randomness without effect has an interval of width 0.
        assert study.means("flows.*.timeouts").to_rows()[1]["low"] == 0
        with pytest.raises(tb.ParameterError, match=r"nothing is random at start=fixed: every seed gives the same run"):
            tb.sweep(fixed, {"start": {"drawn": drawn, "fixed": {}}}, until="goodput:2%")

    def test_a_difference_is_paired_by_seed(self, small: tb.Scenario) -> None:
        study = tb.sweep(small, VARY, seeds=5)
        goodput = {label: study.groups.where(**{BUFFER: "5 packets", PRESET: label})["goodput_bps"] for label in ("reno", "sack")}
        by_hand = Interval.of((goodput["sack"] - goodput["reno"]).tolist())
        row = study.difference(PRESET, "reno", "sack").to_rows()[0]
        assert row == {
            BUFFER: "5 packets",
            f"{BUFFER}_packets": 5.0,
            "seeds": 5,
            "mean": by_hand.mean,
            "low": by_hand.mean - by_hand.half,
            "high": by_hand.mean + by_hand.half,
        }

    def test_unknown_names_are_reported(self, small: tb.Scenario) -> None:
        study = tb.sweep(small, VARY)
        for wrong in (("presets", "reno", "sack"), (PRESET, "reno", "sakc"), (PRESET, "reno", "sack", "queues.x.utilisation")):
            with pytest.raises(tb.UnknownName):
                study.difference(*wrong)
        for text in ("goodputs", "queues.utilisation"):
            with pytest.raises(tb.ParameterError, match="is not a quantity"):
                study.means(text)
