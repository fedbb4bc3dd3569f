"""Figure 3.14: regular and paced NewReno over the access rate (section 3.4.3)."""

from __future__ import annotations

from typing import Any

from tailback.papers import Claim, Curves, Experiment, Inequality, LeftOpen, Line, Measured, Values, vary
from tailback.papers.cui_thesis.packets import EDGES, GBPS, LENGTH, SENDERS, fairness, switch, utilisation

__all__ = ["ACCESS"]

# A core of 1 Gb/s links and 400 flows.
CORES = {"8 inputs, 1 link, 10 packets": (8, 1, 10), "16 inputs, 4 links, 4 packets": (16, 4, 4)}
ACCESS_MBPS = (10, 30, 100, 300, 1000)


FIRST, SECOND = CORES


def gain(seen: Measured, core: str, access: int, measure: str = "utilisation") -> Values:
    """Of paced senders less that of regular ones."""
    where: dict[str, Any] = {"core": core, "access": access}
    return seen.values(measure, **where, senders="paced") - seen.values(measure, **where, senders="regular")


ACCESS = Experiment(
    id="cui-thesis/fig3.14",
    title="Figure 3.14: regular and paced NewReno over the access rate",
    question="When is pacing needed?",
    source="figure 3.14, section 3.4.3",
    variants=tuple(
        variant
        for core, (inputs, links, buffer) in CORES.items()
        for access in ACCESS_MBPS
        for senders in ("paced", "regular")
        for variant in vary(
            switch(inputs, links, buffer, 400, GBPS, 8, access=f"{access} Mbps", paced=senders == "paced"),
            core=core,
            access=access,
            senders=senders,
        )
    ),
    measures={"utilisation": utilisation, "fairness": fairness},
    claims=(
        Claim(
            "C-3.14.1-order",
            "R",
            f"paced TCP is better if the access rate is of the order of the core link's ({FIRST})",
            lambda seen: gain(seen, FIRST, 300),
            Inequality(">", 0),
            note="utilisation of paced less that of regular senders, with 0.3 of the core link's rate",
        ),
        Claim(
            "C-3.14.1-order-2",
            "N",
            f"paced TCP is better if the access rate is of the order of the core link's ({SECOND})",
            lambda seen: gain(seen, SECOND, 300),
            Inequality(">", 0),
            note="the same: with four links and four places it is as good",
        ),
        *(
            Claim(
                f"C-3.14.1-{number}",
                "N",
                f"paced TCP is better if the access rate is that of the core link ({core})",
                lambda seen, core=core: gain(seen, core, 1000),  # type: ignore[misc]
                Inequality(">", 0),
                note="of regular senders one or a few take the links and the others stand still, so that the links are full",
            )
            for number, core in enumerate(CORES, 1)
        ),
        *(
            Claim(
                f"C-3.14.1-fair-{number}",
                "R",
                f"paced TCP is fairer if the access rate is that of the core link ({core})",
                lambda seen, core=core: gain(seen, core, 1000, "fairness"),  # type: ignore[misc]
                Inequality(">", 0.5),
                note="Jain's index of goodput times round trip, paced less regular: ours",
                ours=True,
            )
            for number, core in enumerate(CORES, 1)
        ),
        Claim(
            "C-3.14.2-1",
            "N",
            f"regular TCP is not worse, by a point, if the access rate is a tenth of the core link's ({FIRST})",
            lambda seen: gain(seen, FIRST, 100),
            Inequality("<", 0.01),
            note="utilisation of paced less that of regular senders; a point is ours",
        ),
        Claim(
            "C-3.14.2-2",
            "R",
            f"regular TCP is not worse, by a point, if the access rate is a tenth of the core link's ({SECOND})",
            lambda seen: gain(seen, SECOND, 100),
            Inequality("<", 0.01),
            note="the same",
        ),
        Claim(
            "C-3.14.2-hundredth",
            "R",
            f"regular TCP is not worse, by a point, if the access rate is a hundredth of the core link's ({FIRST})",
            lambda seen: gain(seen, FIRST, 10),
            Inequality("<", 0.01),
            note="the same: ours",
            ours=True,
        ),
    ),
    panels=tuple(
        (
            Curves(
                "utilisation",
                "access",
                tuple(Line(senders, {"core": core, "senders": senders}) for senders in ("paced", "regular")),
                "utilisation",
                "access rate, Mb/s",
                title=core,
                log_over=True,
            ),
        )
        for core in CORES
    ),
    left_open=(SENDERS, EDGES, LENGTH, LeftOpen("inputs, links and places", " and ".join(CORES))),
    most_seeds=5,
)
