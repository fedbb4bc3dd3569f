"""Comparison of discard and rate control for TCP over ATM: every scheme on both networks, with both senders."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from tailback.papers import (
    Assumption,
    Claim,
    Contrast,
    Curves,
    Experiment,
    Inequality,
    Line,
    Measured,
    Ranking,
    Value,
    Values,
    highest,
    lowest,
)
from tailback.papers.abr.measures import MEASURES
from tailback.papers.abr.networks import ABR, EDGES, NETWORKS, SENDERS, TARGETS, UBR, targets, variants

__all__ = ["EXPERIMENTS", "LEFT_OPEN"]

PLACES = tuple(product(NETWORKS, SENDERS))
LITTLE, MUCH = EDGES
HELD = "ERICA, ACKs held"
THREE, ONE = NETWORKS

LEFT_OPEN = (
    Assumption(
        "networks",
        "three switches and fifteen connections of spd-1998 (figure 4.1, setting LONG); one switch and five connections of "
        "bpd-2001 (topology B, tick 0.3 s); 10 s each, including the start. Tahoe has fast retransmit on both",
    ),
    Assumption(
        "settings of discard",
        "EPD's threshold is four fifths of the buffer, also in combination with SPD, whose other thresholds are 20 cells and a "
        "fifth of the buffer; BPD has 40 %, 90 % and a gap of 25, as in bpd-2001",
    ),
    Assumption(
        "settings of ABR",
        "the defaults of TM 4.0 except PCR (10 Mbit/s, the narrow link, on three switches; 30 Mbit/s, the source's own rate, on "
        "one), ICR, a twentieth of PCR, and RIF, which is 1 with ERICA. EFCI is set from a fifth of the buffer on. ERICA "
        "allocates 0.9 of the link, measured over 20 ms on three switches and 5 ms on one",
    ),
    Assumption(
        "buffers at the edges",
        "two sizes: all edges together as much as one switch's buffer (3 packets each on three switches, 20 on one), and one "
        "window each (64 and 122 packets), which cannot overflow",
    ),
    Assumption("held acknowledgements", "an edge holds them while two or more packets are queued in it"),
    Assumption(
        "goodput", "cells of packets delivered once, divided by the capacity of the narrow link: RM cells count as no delivery"
    ),
)


def at(results: Measured, measure: str, scheme: str, edge: str, place: tuple[str, str]) -> Values:
    """A measure at one point; `edge` applies to ABR only."""
    network, sender = place
    edge = edge if scheme in ABR else "none"
    return results.values(measure, scheme=scheme, edge=edge, network=network, sender=sender)


def difference(measure: str, one: str, edge: str, other: str, other_edge: str) -> Callable[[Measured], list[Values]]:
    """Difference of two schemes, at each point."""
    return lambda results: [
        at(results, measure, one, edge, place) - at(results, measure, other, other_edge, place) for place in PLACES
    ]


def least(of: Callable[[Measured], list[Values]]) -> Callable[[Measured], Values]:
    """Values at the point with the lowest mean."""
    return lambda results: lowest(*of(results))


def most(of: Callable[[Measured], list[Values]]) -> Callable[[Measured], Values]:
    """Values at the point with the highest mean."""
    return lambda results: highest(*of(results))


def each(measure: str, schemes: tuple[str, ...], edges: tuple[str, ...] = EDGES) -> Callable[[Measured], list[Values]]:
    """A measure of each of these schemes, at each point."""
    return lambda results: [
        at(results, measure, scheme, edge, place)
        for scheme in schemes
        for edge in (edges if scheme in ABR else ("none",))
        for place in PLACES
    ]


def answer(results: Measured) -> str:
    """The answer in words, with the measured values."""

    def mean(measure: str, scheme: str, edge: str, place: tuple[str, str]) -> float:
        return float(np.mean(at(results, measure, scheme, edge, place)))

    def over(measure: str, scheme: str, edge: str = MUCH) -> float:
        return float(np.mean([mean(measure, scheme, edge, place) for place in PLACES]))

    def best(schemes: tuple[str, ...], edge: str) -> str:
        return max(schemes, key=lambda scheme: over("goodput", scheme, edge))

    def both(measure: str, one: tuple[str, str], other: tuple[str, str], form: str) -> str:
        return f"{over(measure, *one):{form}} and {over(measure, *other):{form}}"

    def at_one(measure: str, scheme: str = HELD) -> float:
        return float(np.mean([mean(measure, scheme, LITTLE, (ONE, sender)) for sender in SENDERS]))

    discard, rate, little = best(UBR, MUCH), best(ABR, MUCH), best(ABR, LITTLE)
    gain = over("goodput", rate) - over("goodput", discard)
    gain_of_little = over("goodput", little, LITTLE) - over("goodput", discard)
    word = "rate control" if gain > 0 else "discard"
    same = "the same" if (gain > 0) == (gain_of_little > 0) else "the other way round"
    rows = "; ".join(
        f"{network}, {sender}: "
        + ", ".join(f"{scheme} {mean('goodput', scheme, MUCH, (network, sender)):.3f}" for scheme in (*UBR, *ABR))
        for network, sender in PLACES
    )
    return (
        f"Is discard or rate control better for TCP? By goodput, {word}: over both networks and both senders the best of "
        f"discard ({discard}) carries {over('goodput', discard):.3f} of the narrow link and the best of rate control ({rate}, "
        f"with a window's buffer at each edge) {over('goodput', rate):.3f}, with {over('total_queue', discard):.0f} cells "
        f"queued in total and {over('total_queue', rate):.0f}.\n\nIf all edges together have the buffer of one switch, the "
        f"answer is {same}: {little} carries {over('goodput', little, LITTLE):.3f}. Rate control serves individual connections "
        f"better over a short round trip: on one switch, held acknowledgements lose {100 * at_one('loss'):.1f} % of packets, "
        f"share with a fairness of {at_one('fairness'):.3f} and keep {at_one('total_queue'):.0f} cells queued in total, whereas "
        f"{discard} loses {100 * at_one('loss', discard):.1f} %, has {at_one('fairness', discard):.3f} and "
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


def on(network: str, of: Callable[[Measured, tuple[str, str]], Values]) -> Callable[[Measured], list[Values]]:
    """Both senders on one network."""
    return lambda results: [of(results, (network, sender)) for sender in SENDERS]


def held_against_room(results: Measured, place: tuple[str, str]) -> Values:
    """Goodput with held acknowledgements and small edge buffers, compared with that with a window's buffer: the largest
    difference.
    """
    return abs(at(results, "goodput", HELD, LITTLE, place) - at(results, "goodput", "ERICA", MUCH, place))


def on_one_switch(
    of: Callable[[Measured, tuple[str, str]], Values], pick: Callable[..., Callable[[Measured], Values]]
) -> dict[str, Any]:
    """Setting and contrast of the conditional claims."""
    return {
        "measured": pick(on(ONE, of)),
        "setting": "one switch, a round trip of 1.2 ms",
        "contrast": Contrast("three switches, 12 ms and more", pick(on(THREE, of))),
    }


CLAIMS = (
    Claim(
        "A1",
        "reproduced",
        "discard can carry more than rate control: BPD carries more than ERICA with a window's buffer at each edge "
        "(smallest difference)",
        least(difference("goodput", "BPD", MUCH, "ERICA", MUCH)),
        Inequality(">", 0),
        note="ERICA allocates nine tenths of the link, and one cell in 32 of that is an RM cell",
        ours=True,
    ),
    Claim(
        "A2",
        "reproduced",
        "rate control moves the queue to the edge (section 2.3.1): with a window's buffer there, more cells are queued in total "
        "than under drop-tail (ERICA, smallest difference, cells)",
        least(difference("total_queue", "ERICA", MUCH, "drop-tail", MUCH)),
        Inequality(">", 0),
    ),
    Claim(
        "A3",
        "conditional",
        "switches that set explicit rates lose no cell (ERICA and ACKs held, small edge buffers, largest fraction)",
        must=Value(0, 0),
        ours=True,
        **on_one_switch(
            lambda results, place: highest(*(at(results, "switch_loss", scheme, LITTLE, place) for scheme in ("ERICA", HELD))),
            most,
        ),
    ),
    Claim(
        "A4",
        "conditional",
        "held acknowledgements with small edge buffers give the goodput of a window's buffer (Narvaez and Siu, abstract; largest "
        "difference)",
        must=Inequality("<", 0.02),
        note="the bound is our choice",
        **on_one_switch(held_against_room, most),
    ),
    Claim(
        "A5",
        "conditional",
        "... and lose no packet (small edge buffers, largest fraction)",
        must=Value(0, 0),
        ours=True,
        **on_one_switch(lambda results, place: at(results, "loss", HELD, LITTLE, place), most),
    ),
    Claim(
        "A6",
        "conditional",
        "... and share equally: fairness (small edge buffers, smallest)",
        must=Inequality(">", 0.999),
        ours=True,
        **on_one_switch(lambda results, place: at(results, "fairness", HELD, LITTLE, place), least),
    ),
    Claim(
        "A7",
        "reproduced",
        "with Reno, a switch that only sets EFCI carries less than one that sets explicit rates (a window's buffer, "
        "smallest difference)",
        lambda results: lowest(
            *(
                at(results, "goodput", "ERICA", MUCH, (network, "Reno")) - at(results, "goodput", "EFCI", MUCH, (network, "Reno"))
                for network in NETWORKS
            )
        ),
        Inequality(">", 0),
        ours=True,
    ),
    Claim(
        "A8",
        "not_reproduced",
        "UBR is equally effective (section 2.3.1): EPD carries at least as much as ERICA with the same buffer at its edges "
        "(largest lead of ERICA)",
        most(difference("goodput", "ERICA", LITTLE, "EPD", LITTLE)),
        Inequality("<=", 0),
        note="with Reno on one switch, several losses of a window under EPD cause timeouts; elsewhere EPD carries more",
    ),
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
        *(
            (Ranking("goodput", rows(*place), f"goodput, as a fraction of the narrow link: {', '.join(place)}"),)
            for place in PLACES
        ),
        *(
            (Ranking("total_queue", rows(*place), f"cells queued at switch and edges, on average: {', '.join(place)}"),)
            for place in PLACES
        ),
        *((Ranking("loss", rows(*place), f"fraction of packets lost: {', '.join(place)}"),) for place in PLACES),
    ),
    assumptions=LEFT_OPEN,
    max_seeds=10,
)


def lead_of_bpd(results: Measured) -> list[Values]:
    """Goodput of BPD minus that of ERICA with the best target, at each point."""
    found = []
    for network, sender in PLACES:
        place = {"network": network, "sender": sender}
        held = [results.values("goodput", scheme=HELD, target=target, **place) for target in TARGETS]
        best = max(held, key=lambda values: float(np.mean(values)))
        found.append(results.values("goodput", scheme="BPD", **place) - best)
    return found


def share(target: float) -> float:
    """Fraction of the link that ERICA allocates, without RM cells."""
    return target * 31 / 32


def off_target(results: Measured, network: str) -> Values:
    """Largest deviation of goodput from the fraction of the link available to data, over the targets."""
    return highest(
        *(
            abs(results.values("goodput", scheme=HELD, target=each, network=network, sender="Reno") - share(each))
            for each in TARGETS
        )
    )


target = Experiment(
    id="abr/target",
    title="How much of the link should a switch allocate?",
    question="Does rate control carry as much as discard if ERICA allocates more of the link?",
    source="Kalyanaraman and others, section III; the comparison is not in the document",
    variants=targets(),
    measures=MEASURES,
    claims=(
        Claim(
            "T1",
            "conditional",
            "goodput equals the target minus the RM cells, 31/32 of it: largest difference over the targets (held "
            "acknowledgements, Reno)",
            must=Inequality("<", 0.01),
            ours=True,
            measured=lambda results: off_target(results, ONE),
            setting="one switch, a round trip of 1.2 ms",
            contrast=Contrast("three switches, 12 ms and more", lambda results: off_target(results, THREE)),
        ),
        Claim(
            "T2",
            "reproduced",
            "even with the best target, BPD carries more with fifteen connections over three switches (smaller difference)",
            lambda results: lowest(
                *(value for value, (network, _) in zip(lead_of_bpd(results), PLACES, strict=True) if network == THREE)
            ),
            Inequality(">", 0),
            ours=True,
        ),
        Claim(
            "T3",
            "not_reproduced",
            "and less with Reno on one switch (difference)",
            lambda results: lead_of_bpd(results)[PLACES.index((ONE, "Reno"))],
            Inequality("<", 0),
            note="the two are too close to be distinguished by ten seeds",
            ours=True,
        ),
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
