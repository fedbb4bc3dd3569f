"""The fast experiments of `cui-thesis`, and the computation of their intervals."""

from __future__ import annotations

import numpy as np
import pytest

import tailback as tb
from tailback.papers import Measured, Point, at, by_means, experiments
from tailback_papers.cui_thesis import fast
from tailback_papers.cui_thesis.conditions import DELAYS
from tailback_papers.cui_thesis.losses import SIMULATION, off, ratio
from tailback_papers.cui_thesis.open_loop import NOT_HELD
from tailback_papers.cui_thesis.tables import RULES, table


def losses(**by: list[float]) -> Measured:
    """Points with the given losses by name, one value per seed, at a load of 0.5."""
    points = [Point({"by": name, "load": 0.5}, {"loss": np.array(values)}) for name, values in by.items()]
    return Measured(points)


def test_an_interval_of_a_ratio_is_the_jackknife_of_mean_losses() -> None:
    results = losses(simulation=[0.1, 0.2, 0.3], g1dm=[0.4, 0.4, 0.4])
    # Means of all values and of all except one: 0.2; 0.25, 0.2, 0.15.
    np.testing.assert_allclose(at("loss", by=SIMULATION)(results.means()), [0.2, 0.25, 0.2, 0.15])
    values = by_means(ratio("g1dm"))(results)
    np.testing.assert_allclose(values, [3 * 2 - 2 * 0.4 / each for each in (0.25, 0.2, 0.15)])


def test_exact_values_have_an_interval_of_width_0() -> None:
    results = losses(simulation=[0.1, 0.1, 0.1], ebd=[0.3] * 3, g1dm=[0.7] * 3)
    values = by_means(ratio("g1dm", "ebd"))(results)
    assert set(values) == {0.7 / 0.3}


def test_noise_does_not_bias_the_distance_of_a_model() -> None:
    noise = np.random.default_rng(1).normal(0, 0.2, 200)
    results = losses(simulation=list(0.1 * np.exp(noise - noise.mean())), g1dm=[0.1] * 200)
    plain = np.mean(np.abs(np.log(results.values("loss", by="g1dm") / results.values("loss", by=SIMULATION))))
    held = np.mean(by_means(off("g1dm"))(results))
    assert plain > 0.1
    assert abs(held) < 0.03


@pytest.mark.parametrize(("number", "entries"), [("3.1", 30), ("3.4", 30)])
def test_every_entry_of_a_table_is_evaluated(number: str, entries: int) -> None:
    printed = table(number)
    assert len(printed) == entries
    assert {entry.rule for entry in printed} == set(RULES.values())
    (outcome,) = tb.reproduce(f"cui-thesis/table{number}").experiments
    assert {(point.labels["case"], point.labels["rule"], point.labels.get("target")) for point in outcome.points} >= {
        (f"M = {row.inputs}, K = {row.transmitters}, N = {row.flows}, {1e3 * row.rtt_s:g} ms", row.rule, row.target)
        for row in printed
    }
    assert [verdict.claim.id for verdict in outcome.claims if verdict.claim.kind == "reproduced" and not verdict.holds] == []
    own = [point.values for point in outcome.where(rule="(3.23)")]
    assert len(own) == 8
    assert all(values["buffer"] == values["printed"] for values in own)


@pytest.mark.parametrize("name", ["fig3.7", "quoted", "fig3.44", "fig3.52", "chapter6", "fig4.1", "figB.1", "table4.1", "figB.5"])
def test_deterministic_claims_hold_as_they_did(name: str) -> None:
    for verdict in tb.reproduce(f"cui-thesis/{name}").claims:
        assert verdict.holds or verdict.claim.kind != "reproduced", verdict.claim.id


def test_the_delay_of_a_link_decides_whether_two_flows_share_evenly() -> None:
    apart = {
        (delay, form): abs(float(np.diff(fast.shares(tb.simulate(fast.three_flows(form, 80, delay))))[0]))
        for delay in DELAYS
        for form in fast.FORMS
    }
    assert list(apart.values()) == pytest.approx([0.0034, 0.0008, 0.168, 0.174], abs=5e-4)


def test_the_simulation_of_two_inputs_without_a_buffer_is_correct() -> None:
    done = tb.reproduce("cui-thesis/fig3.23", seeds=5)
    holds = {verdict.claim.id: verdict.holds for verdict in done.claims}
    assert [name for name in ("best", "poisson", "1", "nearer", "exact") if not holds[f"C-3.23.{name}"]] == []


def test_every_figure_is_included_and_deviations_are_claims() -> None:
    found = experiments("cui-thesis")
    figures = [experiment.id.removeprefix("cui-thesis/fig3.") for experiment in found if "/fig3." in experiment.id]
    by_packets = ["3", "4", "6", "10", "12", "14", *(f"{number}-packets" for number in (*range(42, 48), *range(52, 56)))]
    assert [number for number in figures if number not in by_packets] == [str(number) for number in (7, *range(17, 56))]
    assert [number for number in figures if number in by_packets] == by_packets
    ids = [claim.id for experiment in found for claim in experiment.claims]
    assert len(ids) == len(set(ids))
    assert set(NOT_HELD) <= set(ids)
