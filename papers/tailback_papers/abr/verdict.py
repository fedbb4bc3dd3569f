"""Comparison of discard and rate control for TCP over ATM: every scheme on both networks, with both senders."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

from tailback.papers import Claim, Comparison, Contrast, Curves, Experiment, Expression, Line, Measured, Ranking, at
from tailback_papers.abr.measures import MEASURES
from tailback_papers.abr.networks import ABR, EDGES, NETWORKS, SENDERS, UBR, targets, variants
from tailback_papers.claims import claims_of

__all__ = ["EXPERIMENTS", "LEFT_OPEN"]

claim = claims_of(__name__)

PLACES = tuple(product(NETWORKS, SENDERS))
LITTLE, MUCH = EDGES
HELD = "ERICA, ACKs held"
THREE, ONE = NETWORKS

LEFT_OPEN = {
    "networks": "three switches and fifteen connections of spd-1998 (figure 4.1, setting LONG); one switch and five connections "
    "of bpd-2001 (topology B, tick 0.3 s); 10 s each, including the start. Tahoe has fast retransmit on both",
    "settings of discard": "EPD's threshold is four fifths of the buffer, also in combination with SPD, whose other thresholds "
    "are 20 cells and a fifth of the buffer; BPD has 40 %, 90 % and a gap of 25, as in bpd-2001",
    "settings of ABR": "the defaults of TM 4.0 except PCR (10 Mbit/s, the narrow link, on three switches; 30 Mbit/s, the "
    "source's own rate, on one), ICR, a twentieth of PCR, and RIF, which is 1 with ERICA. EFCI is set from a fifth of the buffer "
    "on. ERICA allocates 0.9 of the link, measured over 20 ms on three switches and 5 ms on one",
    "buffers at the edges": "two sizes: all edges together as much as one switch's buffer (3 packets each on three switches, 20 "
    "on one), and one window each (64 and 122 packets), which cannot overflow",
    "held acknowledgements": "an edge holds them while two or more packets are queued in it",
    "goodput": "cells of packets delivered once, divided by the capacity of the narrow link: RM cells count as no delivery",
}


def of(measure: str, scheme: str, edge: str = MUCH, **place: str) -> Expression:
    """A measure of one scheme; `edge` applies to ABR only."""
    return at(measure, scheme=scheme, edge=edge if scheme in ABR else "none", **place)


def answer(results: Measured) -> str:
    """The answer in words, with the measured values."""

    def over(measure: str, scheme: str, edge: str = MUCH, **place: str) -> float:
        return results.mean(of(measure, scheme, edge, **place).mean())

    def best(schemes: tuple[str, ...], edge: str) -> str:
        return max(schemes, key=lambda scheme: over("goodput", scheme, edge))

    def both(measure: str, one: tuple[str, str], other: tuple[str, str], form: str) -> str:
        return f"{over(measure, *one):{form}} and {over(measure, *other):{form}}"

    def at_one(measure: str, scheme: str = HELD) -> float:
        return over(measure, scheme, LITTLE, network=ONE)

    discard, rate, little = best(UBR, MUCH), best(ABR, MUCH), best(ABR, LITTLE)
    gain = over("goodput", rate) - over("goodput", discard)
    gain_of_little = over("goodput", little, LITTLE) - over("goodput", discard)
    word = "rate control" if gain > 0 else "discard"
    same = "the same" if (gain > 0) == (gain_of_little > 0) else "the other way round"
    rows = "; ".join(
        f"{network}, {sender}: "
        + ", ".join(f"{scheme} {over('goodput', scheme, network=network, sender=sender):.3f}" for scheme in (*UBR, *ABR))
        for network, sender in PLACES
    )
    return (
        f"Is discard or rate control better for TCP? By goodput, {word}: over both networks and both senders the best of discard "
        f"({discard}) carries {over('goodput', discard):.3f} of the narrow link and the best of rate control ({rate}, with a "
        f"window's buffer at each edge) {over('goodput', rate):.3f}, with {over('total_queue', discard):.0f} cells queued in "
        f"total and {over('total_queue', rate):.0f}.\n\nIf all edges together have the buffer of one switch, the answer is "
        f"{same}: {little} carries {over('goodput', little, LITTLE):.3f}. Rate control serves individual connections better over "
        f"a short round trip: on one switch, held acknowledgements lose {100 * at_one('loss'):.1f} % of packets, share with a "
        f"fairness of {at_one('fairness'):.3f} and keep {at_one('total_queue'):.0f} cells queued in total, whereas {discard} "
        f"loses {100 * at_one('loss', discard):.1f} %, has {at_one('fairness', discard):.3f} and "
        f"{at_one('total_queue', discard):.0f}.\n\nGoodput with a window's buffer at each edge. {rows}.\n\nWhere are packets "
        f"queued? Under drop-tail, {over('switch_queue', 'drop-tail'):.0f} cells at the switch. Under ERICA, "
        f"{over('switch_queue', 'ERICA'):.0f} there and {over('edge_queue', 'ERICA'):.0f} at the edges; if these hold "
        f"acknowledgements, {both('edge_queue', (HELD, MUCH), (HELD, LITTLE), '.0f')} with large and small buffers. A binary "
        f"switch has {over('switch_queue', 'EFCI'):.0f} and its edges {over('edge_queue', 'EFCI'):.0f}.\n\nHow much is lost? "
        f"{100 * over('loss', 'drop-tail'):.1f} % of packets under drop-tail, {100 * over('loss', 'EPD'):.1f} % under EPD, "
        f"{100 * over('loss', 'BPD'):.1f} % under BPD; under ERICA with small edge buffers "
        f"{100 * over('loss', 'ERICA', LITTLE):.1f} %, and {100 * over('loss', HELD, LITTLE):.1f} % if these hold "
        "acknowledgements."
    )


def rows(network: str, sender: str) -> tuple[Line, ...]:
    """Every scheme at one point."""
    place = {"network": network, "sender": sender}
    return (
        *(Line(scheme, {**place, "scheme": scheme, "edge": "none"}) for scheme in UBR),
        *(Line(f"{scheme}, room {edge}", {**place, "scheme": scheme, "edge": edge}) for edge in EDGES for scheme in ABR),
    )


def on_one_switch(statement: Callable[[str], Comparison]) -> dict[str, Any]:
    """Statement, setting and contrast of the conditional claims."""
    return {
        "statement": statement(ONE),
        "setting": "one switch, a round trip of 1.2 ms",
        "contrast": Contrast("three switches, 12 ms and more", statement(THREE).measured),
    }


CLAIMS = (
    claim("A1", (of("goodput", "BPD") - of("goodput", "ERICA")).min() > 0),
    claim("A2", (of("total_queue", "ERICA") - of("total_queue", "drop-tail")).min() > 0),
    Claim(
        "A3",
        "switches that set explicit rates lose no cell (ERICA and ACKs held, small edge buffers, largest fraction)",
        ours=True,
        **on_one_switch(lambda network: at("switch_loss", scheme=("ERICA", HELD), edge=LITTLE, network=network).max().equals(0)),
    ),
    Claim(
        "A4",
        "held acknowledgements with small edge buffers give the goodput of a window's buffer (Narvaez and Siu, abstract; largest "
        "difference)",
        note="the bound is our choice",
        **on_one_switch(
            lambda network: (
                abs(of("goodput", HELD, LITTLE, network=network) - of("goodput", "ERICA", network=network)).max() < 0.02
            )
        ),
    ),
    Claim(
        "A5",
        "... and lose no packet (small edge buffers, largest fraction)",
        ours=True,
        **on_one_switch(lambda network: of("loss", HELD, LITTLE, network=network).max().equals(0)),
    ),
    Claim(
        "A6",
        "... and share equally: fairness (small edge buffers, smallest)",
        ours=True,
        **on_one_switch(lambda network: of("fairness", HELD, LITTLE, network=network).min() > 0.999),
    ),
    claim("A7", (of("goodput", "ERICA", sender="Reno") - of("goodput", "EFCI", sender="Reno")).min() > 0),
    claim("A8", (of("goodput", "ERICA", LITTLE) - of("goodput", "EPD")).max() <= 0),
)

verdict = Experiment(
    id="abr/verdict",
    title="Is discard or rate control better for TCP over ATM?",
    question="How much do TCP connections carry over UBR with discard policies and over ABR with switches that set EFCI or "
    "explicit rates, how much is lost, and where is it queued?",
    source="spd-1998, section 2.3; the comparison is not in the document",
    variants=variants(),
    measures=MEASURES,
    answer=answer,
    claims=CLAIMS,
    panels=(
        *(Ranking("goodput", rows(*place), f"goodput, as a fraction of the narrow link: {', '.join(place)}") for place in PLACES),
        *(
            Ranking("total_queue", rows(*place), f"cells queued at switch and edges, on average: {', '.join(place)}")
            for place in PLACES
        ),
        *(Ranking("loss", rows(*place), f"fraction of packets lost: {', '.join(place)}") for place in PLACES),
    ),
    assumptions=LEFT_OPEN,
    max_seeds=10,
)


def lead(**place: str) -> Expression:
    """Goodput of BPD minus that of ERICA with the best target."""
    return at("goodput", scheme="BPD", **place) - at("goodput", scheme=HELD, **place).max("target")


def off_target(network: str) -> Expression:
    """Largest deviation of goodput from the allocated fraction of the link without RM cells, over the targets."""
    return abs(at("goodput", scheme=HELD, network=network, sender="Reno") - (lambda target: target * 31 / 32)).max()


target = Experiment(
    id="abr/target",
    title="How much of the link should a switch allocate?",
    question="Does rate control carry as much as discard if ERICA allocates more of the link?",
    source="Kalyanaraman and others, section III; the comparison is not in the document",
    variants=targets(),
    measures=MEASURES,
    claims=(
        claim("T1", off_target(ONE) < 0.01, contrast=Contrast("three switches, 12 ms and more", off_target(THREE))),
        claim("T2", lead(network=THREE).min() > 0),
        claim("T3", lead(network=ONE, sender="Reno") < 0),
    ),
    panels=(
        tuple(
            Curves(
                measure,
                "target",
                tuple(
                    Line(
                        f"{network}, {sender}, {scheme}",
                        {"network": network, "sender": sender, "scheme": scheme},
                        dashed=scheme == "BPD",
                    )
                    for network, sender in PLACES
                    for scheme in (HELD, "BPD")
                ),
                axis,
                "fraction of the link that is allocated",
            )
            for measure, axis in (("goodput", "goodput"),)
        ),
    ),
    assumptions=LEFT_OPEN,
    max_seeds=10,
)

EXPERIMENTS = (verdict, target)
