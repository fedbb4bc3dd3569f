"""Figure 3.14: regular and paced NewReno over the access rate (section 3.4.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import tailback as tb
from tailback.papers import Claim, Condition, Curves, Experiment, Expression, Line, Variant, at
from tailback_papers.claims import claims_of
from tailback_papers.cui_thesis.packets import BEGINS, EDGES, GBPS, SENDERS, begins, fairness, switch, utilisation

__all__ = ["ACCESS"]

claim = claims_of(__name__)

# A core of 1 Gb/s links.
FLOWS = 400
DRAWN = {"8 inputs, 1 link, 10 packets": (8, 1, 10), "16 inputs, 4 links, 4 packets": (16, 4, 4)}
# One link with several buffers.
OTHERS = {
    "16 inputs, 1 link, 10 packets": (16, 1, 10),
    "16 inputs, 1 link, 3 packets": (16, 1, 3),
    "16 inputs, 1 link, no buffer": (16, 1, 0),
}
CORES = DRAWN | OTHERS
ACCESS_MBPS = (10, 30, 100, 300, 1000)
# Those of the claims about all cores.
CLAIMED_MBPS = (30, 100, 300)
# Settling time and measured time.
SECONDS = 8

FIRST, SECOND = DRAWN
# Labels: slow start ends at a fraction of a flow's share, or with the first loss.
BELOW, UNTIL_LOSS = "below their share", "with a loss"


def trunk(core: str, access: int, senders: str, begin: str) -> tb.Scenario:
    """400 flows over links of 1 Gb/s."""
    inputs, links, buffer = CORES[core]
    start = begins(links * GBPS / FLOWS) if begin == BELOW else {}
    lasts: dict[str, Any] = {"measured_s": SECONDS, "settling_s": SECONDS, **start}
    return switch(inputs, links, buffer, FLOWS, GBPS, access=f"{access} Mbps", paced=senders == "paced", **lasts)


def gain(access: int, measure: str = "utilisation", **where: str) -> Expression:
    """Value for paced senders minus that for regular ones."""
    paced, regular = (at(measure, access=access, senders=senders, **where) for senders in ("paced", "regular"))
    return paced - regular


# Access rates at which slow start also ends with the first loss.
BOTH_MBPS = dict.fromkeys(DRAWN, (30, 100, 1000))
# In the quick form without those where the start does not decide.
QUICK_BOTH_MBPS = {FIRST: (30, 100, 1000), SECOND: (1000,)}
START = Condition(
    "begin",
    "neither the starts of the flows nor the end of their slow start are stated",
    (BELOW, UNTIL_LOSS),
    "runs of 90 s stay in the state that the start selects: after slow starts to the first loss, most regular senders stall",
)
CORE = Condition(
    "core",
    "the curves of figure 3.14 are of several M, K and B; section 3.4.2 names none",
    tuple(CORES),
    "as much buffer as in figures 3.22 and 3.29",
)


def over_access(both_mbps: Mapping[str, tuple[int, ...]], max_seeds: int) -> Experiment:
    """Figure 3.14; `both_mbps`: access rates of each core at which slow start also ends with the first loss."""
    rates = "; ".join(f"{', '.join(map(str, mbps))} Mb/s ({core})" for core, mbps in both_mbps.items())
    return Experiment(
        id="cui-thesis/fig3.14",
        title="Figure 3.14: regular and paced NewReno over the access rate",
        question="When is pacing needed?",
        source="figure 3.14, section 3.4.2",
        variants=tuple(
            Variant({"core": core, "access": access, "senders": senders, "begin": begin}, trunk(core, access, senders, begin))
            for core in CORES
            for access in (ACCESS_MBPS if core in DRAWN else CLAIMED_MBPS)
            for senders in ("paced", "regular")
            for begin in ((BELOW, UNTIL_LOSS) if access in both_mbps.get(core, ()) else (BELOW,))
        ),
        measures={"utilisation": utilisation, "fairness": fairness},
        claims=(
            claim("C-3.14.1-order", gain(300) > 0),
            *(
                Claim(
                    f"C-3.14.1-{number}",
                    f"paced TCP is better if the access rate is that of the core link ({core})",
                    gain(1000, core=core) > 0,
                    kind="conditional",
                )
                for number, core in enumerate(DRAWN, 1)
            ),
            *(
                Claim(
                    f"C-3.14.1-fair-{number}",
                    "after slow starts to the first loss paced TCP is fairer if the access rate is that of the core link "
                    f"({core})",
                    gain(1000, "fairness", core=core, begin=UNTIL_LOSS) > 0.5,
                    note="Jain's index of goodput times round trip, paced minus regular: not in the document",
                    ours=True,
                )
                for number, core in enumerate(DRAWN, 1)
            ),
            claim("C-3.14.1-only-1", gain(30) < 0.01),
            claim("C-3.14.2-1", gain(100) < 0.01),
            Claim(
                "C-3.14.2-hundredth",
                "regular TCP is not worse, by more than one point, if the access rate is a hundredth of the core link's "
                f"({FIRST})",
                gain(10, core=FIRST) < 0.01,
                note="not in the document",
                ours=True,
            ),
        ),
        panels=tuple(
            (
                Curves(
                    "utilisation",
                    "access",
                    (
                        *(Line(senders, {"core": core, "senders": senders, "begin": BELOW}) for senders in ("paced", "regular")),
                        *(
                            Line(
                                f"{senders}, after slow starts to a loss", {"core": core, "senders": senders, "begin": UNTIL_LOSS}
                            )
                            for senders in ("paced", "regular")
                        ),
                    ),
                    "utilisation",
                    "access rate, Mb/s",
                    title=core,
                    log_over=True,
                ),
            )
            for core in DRAWN
        ),
        conditions=(START, CORE),
        assumptions={
            **SENDERS,
            "slow start": f"{BEGINS['slow start']}; also until the first loss, for access rates of {rates}",
            **EDGES,
            "length of a run": f"{SECONDS} s to settle and {SECONDS} s measured",
        },
        max_seeds=max_seeds,
    )


ACCESS = replace(
    over_access(QUICK_BOTH_MBPS, max_seeds=6),
    full=over_access(BOTH_MBPS, max_seeds=10),
    undecided="claims whose interval, with six seeds, includes the bound; slow starts until the first loss with access rates of "
    f"30 and 100 Mb/s ({SECOND}), which decided nothing",
)
