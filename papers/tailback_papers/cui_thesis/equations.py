"""Numbers and statements of the text that follow from a single equation."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import count, product
from typing import Any

import numpy as np

from tailback import models
from tailback.papers import Claim, Computation, Contrast, Experiment, Expression, Variant, at, lowest

__all__ = ["EXPERIMENTS"]

# Section 4.4.3: alpha 50 on 100 Mb/s, with packets of 1040 bytes. r does not matter if it is large.
FIGURE_4_10 = {"alpha": 50.0, "capacity_pps": 100e6 / (8 * 1040), "slowdown": 1e6}
# Section 4.4.2: alpha / C is 2.5 ms.
SECTION_4_4_2 = {"alpha": 200.0, "capacity_pps": 80_000.0, "slowdown": 1e6}
STEP, PROBES = 1 / 16, 8


def emptied_before(rtt_ms: float) -> int:
    """The largest N for which the printed time, 4.16 (N^1.5 + N) ms, is less than a round trip."""
    return next(flows for flows in count(1) if 4.16 * ((flows + 1) ** 1.5 + flows + 1) >= rtt_ms)


def rem_over_ram(links: int) -> float:
    """Mean square error of the sum of prices by REM with its best phi, divided by that by RAM, after many packets.

    Prices are independent and uniform on 0 to 1. With k packets RAM has E[z (n - z)] / k, and REM E[phi^z - 1] / (k log(phi)^2).
    """
    logarithms = np.linspace(1e-3, 4, 100_000)
    rem = ((np.expm1(logarithms) / logarithms) ** links - 1) / logarithms**2
    return float(rem.min()) / (links**2 / 4 - links / 12)


def estimates(code: str) -> int:
    """Number of estimates of eight prices if each of their marks may precede or follow a change from 3 to 4."""
    marks = {"binary": (1, 2, 4), "unary": range(1, 8)}[code]
    read = [[price & mark if code == "binary" else price >= mark for price in (3, 4)] for mark in marks]
    return len({sum(chosen) for chosen in product(*read)})


def rate_error(order: Any) -> float:
    """Largest relative error of a rate from 1 kb/s to 100 Gb/s, whose logarithm is the price, after 1024 packets."""
    return math.expm1(float(models.adpm_error(probes=1024, order=order).largest) * math.log(100e9 / 1e3))


EQUATIONS: dict[str, tuple[Callable[..., Any], dict[str, Any], str]] = {
    "(2.9)": (models.tpm_probe_types, {"bits": 4, "max_hops": 30, "marking": "two_bits"}, "types"),
    "(4.27)": (models.late_arrival_coefficient, {"arrived": 2}, ""),
    "(4.31)": (models.drained_flows, {**SECTION_4_4_2, "base_rtt_s": 0.04}, "approximation"),
    "4.4.2, exact": (models.drained_flows, {**SECTION_4_4_2, "base_rtt_s": 0.04}, "flows"),
    "4.4.3, 200 ms": (emptied_before, {"rtt_ms": 200.0}, ""),
    "4.4.3, 40 ms": (emptied_before, {"rtt_ms": 40.0}, ""),
    "4.4.3, exact, 200 ms": (models.drained_flows, {**FIGURE_4_10, "base_rtt_s": 0.2}, "flows"),
    "4.4.3, exact, 40 ms": (models.drained_flows, {**FIGURE_4_10, "base_rtt_s": 0.04}, "flows"),
    "(5.2)": (models.adpm_error, {"probes": 1000, "order": "random"}, "mean"),
    "(5.4)": (models.adpm_undetected, {"step": STEP, "probes": PROBES, "form": "random"}, ""),
    "(5.5)": (models.adpm_undetected, {"step": STEP, "probes": PROBES, "form": "brc_printed"}, ""),
    "BRC": (models.adpm_undetected, {"step": STEP, "probes": PROBES, "form": "brc"}, ""),
    "detection": (models.adpm_detection_packets, {"step": STEP}, "brc"),
    **{f"REM over RAM, {links}": (rem_over_ram, {"links": links}, "") for links in (1, 2, 10, 30)},
    **{f"estimates, {code}": (estimates, {"code": code}, "") for code in ("binary", "unary")},
    **{f"rate, {order}": (rate_error, {"order": order}, "") for order in ("pure_brc", "random_brc")},
    "levels": (
        models.price_levels,
        {"max_rate_bps": 100e9, "min_rate_bps": 1e3, "granularity": 0.02},
        "levels",
    ),
}


def value(equation: str) -> dict[str, float]:
    """The value of an equation."""
    function, parameters, entry = EQUATIONS[equation]
    found = function(**parameters)
    return {"value": float(getattr(found, entry) if entry else found)}


def of(equation: str) -> Expression:
    """The value of an equation."""
    return at("value", equation=equation)


CLOSED = "the equation has no other parameters"

SINGLE = Experiment(
    id="cui-thesis/equations",
    title="Statements that follow from a single equation",
    question="Are the numbers right that the text derives from its equations?",
    source="sections 2.3.4, 2.3.5, 4.4.2, 4.4.3, 5.2.2, 5.2.3 and 5.3.2",
    variants=tuple(Variant({"equation": each}, Computation(value, {"equation": each})) for each in EQUATIONS),
    measures={"value": "value"},
    claims=(
        Claim("C-2.3.5", "16 levels on paths of 30 hops need 40 probe types (2.9)", of("(2.9)").equals(40), published=40),
        Claim(
            "C-2.3.4-optimal",
            "RAM outperforms even an optimally parameterised REM if prices are uniform (mean square error of REM with the best "
            "phi over that of RAM, after many packets, smallest over 1, 2, 10 and 30 links)",
            lowest(*(of(f"REM over RAM, {links}") for links in (1, 2, 10, 30))) > 1,
        ),
        Claim("C-4.4.1", "a2 in (4.27) is 0.801938", of("(4.27)").equals(0.801938, 5e-7), published=0.801938),
        Claim(
            "C-4.4.2-drained",
            "with alpha / C of 2.5 ms and 40 ms the buffer empties with about 7 flows, within one (4.31)",
            of("(4.31)").equals(7, 1),
            published=7,
        ),
        *(
            Claim(
                f"C-4.4.3-{case}",
                f"4.16 (N^1.5 + N) ms is less than {rtt_ms} ms for up to {flows} flows",
                of(f"4.4.3, {rtt_ms} ms").equals(flows),
                published=flows,
            )
            for case, rtt_ms, flows in (("a", 200, 11), ("c", 40, 3))
        ),
        *(
            Claim(
                f"4.4-exact-{name}",
                f"before its approximation, the equation gives {flows} flows {where}",
                of(equation).equals(flows),
                note=f"instead of {approximate}",
                ours=True,
            )
            for name, where, equation, flows, approximate in (
                ("7", "with alpha / C of 2.5 ms and 40 ms", "4.4.2, exact", 3, "7: (4.31) is for many flows"),
                ("a", "in figure 4.10 (a)", "4.4.3, exact, 200 ms", 9, "11"),
                ("c", "in figure 4.10 (c)", "4.4.3, exact, 40 ms", 2, "3"),
            )
        ),
        Claim(
            "C-5.2.2-factor",
            "the error of random probes is within a factor of four of that of a quantiser with as many levels, 1 / (4k) (its "
            "ratio to that, 1000 packets)",
            of("(5.2)") * 4 * 1000 <= 4,
        ),
        Claim(
            "C-5.2.2-undetected",
            "(5.5) is the probability that bit-reversed counting does not detect a step (a sixteenth and 8 packets, (5.5) minus "
            "the exact value)",
            (of("(5.5)") - of("BRC")).equals(0, 0.005),
            kind="not_reproduced",
            note="(5.5) multiplies the probabilities of all scales, although the packets of one are among those of the next.",
            closed=CLOSED,
        ),
        Claim(
            "C-5.2.2-sooner",
            "bit-reversed counting detects it no later than random probes (probability by (5.4) minus that of counting)",
            of("(5.4)") - of("BRC") >= 0,
        ),
        Claim(
            "C-5.2.2-within",
            "a step is detected within log2 of its inverse packets (mean number for a sixteenth, at most 4)",
            of("detection") <= 4,
            kind="not_reproduced",
            note="within 2 to that power, which is 16",
            closed=CLOSED,
        ),
        Claim(
            "C-5.2.3-binary",
            "while the price changes from 3 (011) to 4 (100), a binary code could estimate anything from 000 to 111 (number of "
            "its estimates)",
            of("estimates, binary").equals(8),
            published=8,
        ),
        Claim(
            "C-5.2.3-unary",
            "this cannot occur with unary coding (number of its estimates)",
            of("estimates, unary").equals(2),
            note="3 and 4",
        ),
        Claim(
            "C-5.3.2-1024",
            "with bit-reversed counting at most 1024 packets guarantee an error of the rate below 2 % (largest relative error)",
            of("rate, pure_brc") < 0.02,
            setting="the sequence starts at R(1)",
            contrast=Contrast("it starts anywhere, as sequential IPids do", of("rate, random_brc")),
            note="the text's 2 % are the granularity of 931 prices; an error of 1/1024 of the range is 1.8 %",
        ),
        Claim(
            "C-5.3.2-levels",
            "rates from 1 kb/s to 100 Gb/s in steps of 2 % need 931 prices, and thus 10 bits",
            of("levels").equals(931),
            published=931,
        ),
    ),
    exact=True,
)

EXPERIMENTS = (SINGLE,)
