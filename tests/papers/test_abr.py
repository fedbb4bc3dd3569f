"""The discard and rate control pack: its networks and measures, and single runs of each kind."""

from __future__ import annotations

import pytest

import tailback as tb
from tailback import papers
from tailback._study.measurements import number
from tailback_papers.abr.measures import MEASURES
from tailback_papers.abr.networks import ABR, EDGES, UBR, variants


def run_of(**labels: str) -> tb.Run:
    """The run of the variant with these labels."""
    (found,) = [each.scenario for each in variants() if {**each.labels, **labels} == each.labels]
    assert isinstance(found, tb.Scenario)
    return tb.simulate(found)


def test_every_scheme_is_run_at_every_place_without_warnings() -> None:
    found = variants()
    assert len(found) == 2 * 2 * (len(UBR) + len(EDGES) * len(ABR))
    assert len({str(each) for each in found}) == len(found)
    # Warnings are errors in tests.
    for each in found:
        assert isinstance(each.scenario, tb.Scenario)
        each.scenario.check()


def test_claims_are_unique() -> None:
    ids = [claim.id for experiment in papers.experiments("abr") for claim in experiment.claims]
    assert len(ids) == len(set(ids)) == 11


def test_queues_and_losses_are_counted_at_switch_and_edges() -> None:
    held = run_of(network="one switch", sender="Reno", scheme="ERICA, ACKs held", edge="as the switch")
    results = {name: number(measure, held) for name, measure in MEASURES.items()}
    assert results["loss"] == results["switch_loss"] == 0
    assert results["total_queue"] == results["switch_queue"] + results["edge_queue"]
    # Two packets of 12 cells at each of five edges, and the packets that an acknowledgement releases in addition.
    assert 5 * 12 < results["edge_queue"] < 5 * 3 * 12
    # Nine tenths of the link, up to a tenth more by delta, where one cell in 32 is an RM cell.
    assert 0.85 < results["goodput"] < 0.9 * 1.1 * 31 / 32


def test_without_edges_their_queues_are_empty() -> None:
    plain = run_of(network="one switch", sender="Reno", scheme="drop-tail", edge="none")
    assert number(MEASURES["edge_queue"], plain) == 0
    lost = float((plain.flows["loss_rate"] * plain.flows["sent_packets"]).sum() / plain.flows["sent_packets"].sum())
    assert number(MEASURES["loss"], plain) == pytest.approx(lost)
    assert lost > 0
