"""Standards on one bench: who takes part, and what the experiments must show."""

from __future__ import annotations

import tailback as tb
from tailback import papers
from tailback.papers.standards.members import controllers, queues
from tailback.papers.standards.response import mean_window, through_losses


def test_who_needs_nothing_of_the_network_takes_part_and_nobody_else() -> None:
    laws = controllers()
    assert {"reno", "cubic", "vegas", "bbrv1", "hstcp"} <= set(laws)
    # They go by prices or by marks, or do not compete.
    assert not {"maxnet", "rcp", "xcp", "rem", "clamp", "dctcp", "fixed"} & set(laws)
    assert {"drop_tail", "red", "codel", "pie", "fq_codel"} <= set(queues())
    assert not {"epd", "spd", "bpd", "maxnet", "xcp"} & set(queues())


def test_every_claim_stands_there_once_and_names_its_experiment_s_points() -> None:
    found = papers.experiments("standards")
    ids = [claim.id for experiment in found for claim in experiment.claims]
    assert len(ids) == len(set(ids)) >= 20


def test_a_loss_in_a_thousand_leaves_reno_the_window_of_the_square_root_law() -> None:
    # sqrt(3 / 2p) = 38.7, less the round trip in which a loss of some 50 is repaired.
    window = mean_window(tb.simulate(through_losses("reno", 1_000)))
    assert 36 < window < 38.7


def test_incast_is_as_the_document_says() -> None:
    by_id = {verdict.claim.id: verdict for verdict in tb.reproduce("standards/incast", seeds=3).claims}
    assert by_id["I-dctcp"].interval.mean == 0
    assert by_id["I-tcp"].interval.mean > 5
