"""Packet simulations of chapter 3 of cui-thesis: scenarios, measures, and quick and full forms of experiments."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tailback as tb
from tailback import papers
from tailback.papers._experiment import Experiment
from tailback_papers.cui_thesis import closed_loop_packets, intervals, packets, parameters, single_link_packets, tables, unpaced
from tailback_papers.cui_thesis.conditions import PACED, REGULAR
from toy_experiment import BASE, buffers, goodput

SMALL = (8, 4, 10, 80, 200e6)


def test_the_duration_of_a_run_depends_on_its_flows() -> None:
    short, long = packets.switch(*SMALL), packets.switch(8, 4, 10, 16, 200e6)
    assert (short["warmup"], short["duration"], long["warmup"], long["duration"]) == ("8 s", "12 s", "40 s", "60 s")
    assert packets.switch(*SMALL, 12, settling_s=8)["duration"] == "20 s"


def test_flows_begin_below_the_window_that_is_their_share() -> None:
    # 10 Mb/s times 120 ms are 150 packets of 1000 bytes; the experiments count 1040 bytes per packet.
    assert packets.begins(10e6) == {"first_ssthresh": 58}
    group = packets.switch(*SMALL, **packets.begins(10e6))["flows"]["tcp"]
    assert (group["tcp"]["initial_ssthresh"], group["start"]) == (58, {"uniform": ["0 s", "0.2 s"]})


def test_packets_and_the_closed_loop_have_the_same_measures() -> None:
    run, loop = tb.simulate(packets.switch(*SMALL), seed=1), packets.by_model(*SMALL)
    for measure in (packets.utilisation, packets.log10_loss):
        assert measure(run) == pytest.approx(measure(loop), rel=0.4)
    assert parameters.throughput(run) == pytest.approx(4 * 200e6 * packets.utilisation(run))
    assert 1 / 80 < intervals.largest_share(run) < packets.fairness(run) < 1 == packets.fairness(loop)


def test_points_unlike_a_hyperbola_have_no_correlation() -> None:
    rates = [0.4, 0.8, 1.6, 4.0]
    assert packets.correlation(rates, 0.7 + 0.05 / (np.array(rates) - 0.1)) == pytest.approx(1)
    assert packets.correlation(rates, 1 - 0.2 * np.array(rates)) == 0


def gaps(times: Any) -> dict[str, Any]:
    return {"gaps": np.asarray(times), "packet_s": 0.5, "largest": 0.5}


def test_gaps_of_a_poisson_process_are_distinguished() -> None:
    random = np.random.default_rng(1)
    poisson, regular = gaps(random.exponential(1, 100_000)), gaps(np.full(100_000, 1.0))
    assert intervals.from_exponential(poisson) < 0.006
    # At the mean: 1 - 1/e are below it, nothing measured.
    assert intervals.from_exponential(regular) == pytest.approx(1 - np.exp(-1))
    assert intervals.dispersion(poisson) == pytest.approx(1, abs=0.15)
    assert intervals.dispersion(regular) < 0.02
    assert intervals.spread_of_gaps(poisson) == pytest.approx(1, abs=0.01)
    assert intervals.near_packet_time(poisson) == pytest.approx(1, abs=0.05)
    assert intervals.near_packet_time(gaps(np.full(100, 0.5))) > 10


def test_the_minimum_buffer_is_just_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(single_link_packets, "LINK_SECONDS", 20)
    found = int(single_link_packets.min_buffer(30, 0.75, PACED, seed=1)["buffer"])

    def used(buffer: int) -> float:
        run = tb.simulate(single_link_packets.single(30, buffer), seed=1)
        return float(run.queues.where(queue="bottleneck")["utilisation"][0])

    assert used(found) >= 0.75 > used(found - 1)


def test_an_unreachable_target_has_no_minimum_buffer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(single_link_packets, "LINK_SECONDS", 4)
    monkeypatch.setattr(single_link_packets, "MAX_BUFFER", 4)
    assert np.isnan(single_link_packets.min_buffer(1, 0.999, PACED, seed=1)["buffer"])


@pytest.mark.parametrize("enough", [1, 3, 2048, 2049, 3999, 4000])
def test_the_largest_buffer_is_tried_before_a_target_is_unreachable(monkeypatch: pytest.MonkeyPatch, enough: int) -> None:
    def simulate(buffer: int, _seed: int) -> Any:
        return SimpleNamespace(value=lambda _quantity: float(buffer >= enough))

    monkeypatch.setattr(single_link_packets, "single", lambda _flows, buffer, _seconds, _senders: buffer)
    monkeypatch.setattr(tb, "simulate", simulate)
    found = single_link_packets.min_buffer(10, 0.999, PACED, seed=1)["buffer"]
    assert enough <= found <= max(enough, 1.06 * enough)


def test_an_overflow_leaves_half_of_the_excess_over_the_product() -> None:
    assert [single_link_packets.bound(part) for part in (0.9, 1.1, 1.5)] == [0, 30, 150]
    run = tb.simulate(single_link_packets.filled(REGULAR, 1, 1.5), seed=1)
    assert run.value(single_link_packets.IDLE) == 0
    assert single_link_packets.min_queue(run) == pytest.approx(150, abs=1)


def test_trunks_filled_by_access_links_are_distinguished() -> None:
    by_rule = [row for number in ("3.1", "3.2", "3.3", "3.4") for row in tables.table(number) if row.rule == "(3.23)"]
    assert {row.flows for row in by_rule if closed_loop_packets.just_filled(row)} == {400, 3200}
    counted = [
        claim
        for each in closed_loop_packets.SIZING
        for claim in each.claims
        if claim.id.startswith("C-3.48.1") and not claim.ours
    ]
    assert len(counted) == 7


def test_round_trips_have_the_harmonic_mean_of_a_table() -> None:
    row = next(row for row in tables.table("3.1") if row.rule == "(3.23)")
    experiment = next(each for each in closed_loop_packets.SIZING if each.id.endswith("table3.1-packets"))
    low, high = (
        float(text.removesuffix(" ms"))
        for text in experiment.variants[0].scenario.to_dict()["flows"]["tcp"]["propagation_rtt"]["uniform"]
    )
    assert (high - low) / np.log(high / low) == pytest.approx(1000 * row.rtt_s, rel=1e-5)


def toy(**more: Any) -> Experiment:
    return Experiment(
        id="toy/quick",
        title="A toy",
        question="Which?",
        source="nowhere",
        variants=papers.vary(BASE, buffers(5)),
        measures={"goodput": goodput},
        claims=(),
        **more,
    )


def test_a_quick_form_names_undecided_claims_and_full_decides_them(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = replace(toy(), title="The whole of it", variants=papers.vary(BASE, buffers(5, 10)))
    quick = toy(full=whole, undecided="ten packets", max_seeds=2)
    monkeypatch.setattr("tailback.papers._reproduce.experiments", lambda *_: [quick])
    done = tb.reproduce("toy/quick")
    (outcome,) = done.experiments
    assert (outcome.experiment.title, outcome.seeds, len(outcome.points)) == ("A toy", 2, 1)
    document = papers.Document("toy", "Toys", "A toy box", {}, (quick,))
    shown = papers._report.page(document, [outcome], [], papers._report.Basis(5, done.requested, done.tally))
    assert "Quick form; <code>--full</code> decides ten packets." in shown
    (outcome,) = tb.reproduce("toy/quick", seeds=3, full=True).experiments
    assert (outcome.experiment.title, outcome.seeds, len(outcome.points)) == ("The whole of it", 3, 2)


def test_a_quick_form_requires_a_description() -> None:
    with pytest.raises(ValueError, match="`undecided` is required"):
        toy(full=toy())
    with pytest.raises(ValueError, match="`undecided` is required"):
        toy(undecided="much")


def test_fits_recover_the_constants_of_bursts() -> None:
    """On points that follow the rule exactly."""
    experiment = unpaced.UNPACED
    points = []
    for variant in experiment.variants:
        labels = variant.labels
        if labels.get("channels") == 1 and labels["flows"] == unpaced.FLOWS:
            window, buffer = int(labels["window"]), float(labels["buffer"])
            exact = tb.models.unpaced_utilisation(**unpaced.link(window), mean_rtt_s=0.12, buffer=buffer * window)
            points.append(papers.Point(labels, {"utilisation": np.array([float(exact)])}))
    results = papers.Measured(points)
    burst, prefactor = unpaced.fit(results)
    assert burst == pytest.approx(0.22, rel=1e-6)
    assert prefactor == pytest.approx(1.1, rel=1e-5)
    assert unpaced.prefactor(results) == pytest.approx(1.1, rel=1e-5)
    assert abs(unpaced.off((15, 29), unpaced.FIFTH)).max()(results) < 1e-12
