"""Comparison of standards: the participants, and properties of the experiments."""

from __future__ import annotations

import warnings

import pytest

import tailback as tb
from tailback import papers
from tailback._study.measurements import number
from tailback_papers.standards.coexistence import MEASURES, ONE_QUEUE, RATIO, competing
from tailback_papers.standards.members import controllers, queues
from tailback_papers.standards.queues import SCENARIOS, mean_wait_ms, tcp_share, under
from tailback_papers.standards.response import mean_window, through_losses


def test_the_participants_are_the_end_to_end_controllers() -> None:
    laws = controllers()
    assert {"reno", "cubic", "vegas", "bbrv1", "hstcp"} <= set(laws)
    # These depend on prices or marks, or do not compete.
    assert not {"maxnet", "rcp", "xcp", "rem", "clamp", "dctcp", "fixed"} & set(laws)
    assert {"drop_tail", "red", "codel", "pie", "rem", "threshold", "ramp", "policer", "fq_codel", "fq_pie", "dualpi2"} <= set(
        queues()
    )
    assert not {"epd", "spd", "bpd", "maxnet", "xcp"} & set(queues())


def test_every_claim_is_unique_and_names_points_of_its_experiment() -> None:
    found = papers.experiments("standards")
    ids = [claim.id for experiment in found for claim in experiment.claims]
    assert len(ids) == len(set(ids)) >= 20


def test_a_loss_in_a_thousand_leaves_reno_the_window_of_the_square_root_law() -> None:
    # sqrt(3 / 2p) = 38.7, minus the round trip in which a loss at a window of about 50 is repaired.
    window = mean_window(tb.simulate(through_losses("reno", 1_000)))
    assert 36 < window < 38.7


def test_incast_agrees_with_the_document() -> None:
    by_id = {verdict.claim.id: verdict for verdict in tb.reproduce("standards/incast", seeds=3).claims}
    assert by_id["I-dctcp"].interval.mean == 0
    assert by_id["I-tcp"].interval.mean > 5


def test_every_policy_runs_every_scenario_of_rfc_7928_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", tb.ScenarioWarning)
        # Senders have the same ECN setting with every policy, whether or not it marks.
        warnings.filterwarnings("ignore", "`(threshold|ramp)` discards packets|`ecn` has no effect", tb.ScenarioWarning)
        for variant in SCENARIOS.variants:
            assert isinstance(variant.scenario, tb.Scenario)
            variant.scenario.check()
    sections = {str(variant.labels["traffic"]).split()[0] for variant in SCENARIOS.variants}
    assert {"5.1.1", "5.1.2", "5.2", "5.3", "5.4", "6.2", "7.2", "8.2.2", "8.2.6", "9.1", "9.2", "10.2", "4.4", "4.5"} <= sections


def test_of_two_queues_in_a_row_the_second_is_measured() -> None:
    run = tb.simulate(under("codel", "10.2 two queues in a row").with_({"duration": "25 s"}))
    assert list(run.queues["queue"])[:3:2] == ["hop1", "hop2"]
    assert mean_wait_ms(run) == 1e3 * run.queues.where(queue="hop2")["mean_wait_s"][0] > 0
    # Traffic of the first link only is not counted.
    of = {name: run.groups.where(group=name)["goodput_bps"][0] for name in ("through", "second")}
    assert tcp_share(run) == pytest.approx(sum(of.values()) / (1e7 / 1.04))


def test_prague_and_cubic_share_a_link_of_dualpi2_and_wait_each_their_time() -> None:
    run = tb.simulate(competing("prague", "cubic").with_({"duration": "40 s", "warmup": "10 s"}))
    assert 0.5 < run.value(RATIO) < 2
    assert number(MEASURES["l_wait_ms"], run) < 1
    assert abs(number(MEASURES["c_wait_ms"], run) - 15) < 1.5


def test_one_queue_has_one_wait() -> None:
    run = tb.simulate(competing("dctcp", "reno", queue=ONE_QUEUE).with_({"duration": "10 s", "warmup": "5 s"}))
    assert number(MEASURES["l_wait_ms"], run) == number(MEASURES["c_wait_ms"], run) > 0
