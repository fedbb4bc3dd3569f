"""Figures 5.1 to 5.6 and tables 5.1 to 5.6: the per-connection dropping threshold of SPD (section 5.2)."""

from __future__ import annotations

from typing import Any

from tailback.papers import AxisValue, Claim, Curves, Experiment, Expression, Measure, at, lines, quick_form, vary
from tailback_papers.claims import claims_of
from tailback_papers.spd_1998 import conditions, measures, networks
from tailback_papers.spd_1998.networks import LONG, NO_EPD, SHORT, chain, packet, spd
from tailback_papers.spd_1998.published import DROPPING

__all__ = ["EXPERIMENTS"]

claim = claims_of(__name__)

MEASURES: dict[str, Measure] = {"ratio": measures.RATIO, "normalised_goodput": measures.normalised_goodput}

# Packets of 20 cells, fast retransmit, and a run that ends before any timer has expired.
EARLY = AxisValue({"setting": "EARLY"}, {"duration": "1 s", "flows.*.tcp.fast_retransmit": 3, **packet(20)})
# LONG without a congestion threshold.
OPEN = AxisValue({"setting": "OPEN"}, {**LONG.changes, "links.*.queue.congestion_threshold": "0 cells"})
# 8 s without fast retransmit, packets of 20 cells, a congestion threshold of 50, and either reading of the code.
_SLIP = {"duration": "8 s", "links.*.queue.congestion_threshold": "50 cells", **packet(20)}
PRINTED = AxisValue({"setting": "PRINTED"}, {**_SLIP, "links.*.queue.variant": "printed"})
CORRECTED = AxisValue({"setting": "CORRECTED"}, {**_SLIP, "links.*.queue.variant": "corrected"})

SETTINGS = (SHORT, LONG, EARLY, OPEN, PRINTED, CORRECTED)
OTHERS = {
    "EARLY": "1 s, fast retransmit, packets of 20 cells",
    "OPEN": "LONG without a congestion threshold",
    "PRINTED": "8 s, no fast retransmit, packets of 20 cells, congestion threshold 50, the code as printed",
    "CORRECTED": "the same with the code corrected",
}


def dropping(vcs: int) -> list[AxisValue]:
    """SPD at each threshold of the table, and at 21 if the table ends at 20; EPD is off."""
    table = DROPPING[vcs]
    values = []
    for threshold in sorted({*table, 21}):
        printed = table.get(threshold)
        (value,) = spd([NO_EPD], dropping=threshold)
        labels: dict[str, Any] = {"dropping_threshold": threshold}
        if printed:
            labels["printed"] = printed[0] if len(printed) == 1 else " and ".join(map(str, printed))
        values.append(AxisValue(labels, value.changes))
    return values


def ratio(*thresholds: int) -> Expression:
    """The ratio at some thresholds; at all by default."""
    where: dict[str, Any] = {"dropping_threshold": thresholds} if thresholds else {}
    return at("ratio", **where)


def fall(threshold: int, other: int) -> Expression:
    """Loss from one threshold to another."""
    return ratio(threshold) - ratio(other)


def claims(vcs: int) -> tuple[Claim, ...]:
    """Claims of the text about this table, each with the number of connections."""
    table = {threshold: sum(printed) / len(printed) for threshold, printed in DROPPING[vcs].items()}
    found = []
    # Table 5.6 has no runs above the plateau.
    if max(table) > 20:
        found.append(
            Claim(
                f"C32-{vcs}",
                "the best dropping threshold is 19 or 20 cells (distance of the better one from the best threshold)",
                (ratio(19, 20) - ratio().max()).max() >= 0,
                kind="conditional",
                published=0,
                note="They are the upper end of a plateau: up to one packet's length all thresholds give the same runs.",
            )
        )
    small = [threshold for threshold in table if threshold <= 12]
    if small:
        found.append(
            Claim(
                f"C33-{vcs}",
                f"small thresholds hurt: 20 cells are better than {max(small)}",
                fall(20, max(small)) > 0.05,
                kind="conditional",
                published=round(table[20] - table[max(small)], 4),
            )
        )
    if min(table.values()) < 0.6:
        found.append(
            Claim(
                f"C33b-{vcs}",
                "with the smallest thresholds most of the input is lost (smallest ratio)",
                ratio().min().equals(min(table.values()), 0.05),
                kind="not_reproduced",
                published=min(table.values()),
                note="Two thirds is the lower bound: one of three packets lost whenever a window has grown to two.",
            )
        )
    if vcs == 15:
        found += [
            claim("C34-15", fall(20, 54) > 0, published=round(table[20] - table[54], 4)),
            claim("C58-15", fall(54, 27) > 0, published=round(table[54] - table[27], 4)),
        ]
    if vcs == 40:
        found.append(claim("C58-40", fall(5, 20) > 0, published=round(table[5] - table[20], 4)))
    if 21 in table:
        found.append(
            Claim(
                f"C35-{vcs}",
                "the ratio falls from 20 to 21 cells",
                fall(20, 21) > 0,
                kind="conditional",
                published=round(table[20] - table[21], 4),
                note="With packets of 20 cells, a connection that has 20 in the buffer has one whole packet there.",
            )
        )
    return tuple(found)


def figure(number: int, vcs: int) -> Experiment:
    """Figure and table 5.NUMBER."""
    shown = lines("setting", conditions.SETTINGS_OF_5_2.values)
    return Experiment(
        id=f"spd-1998/fig5.{number}",
        title=f"The dropping threshold with {vcs} connections",
        question="At how many buffered cells of a connection should SPD discard one of its packets?",
        source=f"figure 5.{number}, table 5.{number}, section 5.2; single runs",
        variants=vary(chain(vcs), dropping(vcs), SETTINGS),
        measures=MEASURES,
        fractions=("normalised_goodput",),
        times=2,
        claims=claims(vcs),
        panels=(Curves("ratio", "dropping_threshold", shown, "goodput to input", "dropping threshold, cells", printed=True),),
        conditions=(conditions.SETTINGS_OF_5_2,),
        assumptions={
            **networks.DESCRIBED,
            "other settings": "; ".join(f"{name}: {text}" for name, text in OTHERS.items()),
        },
    )


EXPERIMENTS = tuple(
    quick_form(figure(number, vcs), "claims whose interval, with ten seeds, includes the bound")
    for number, vcs in enumerate(DROPPING, 1)
)
