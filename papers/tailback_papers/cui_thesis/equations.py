"""Numbers and statements of the text that follow from a single equation."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import count, product
from typing import Any

import numpy as np

from tailback import models
from tailback.papers import Claim, Computation, Contrast, Experiment, Expression, Variant, at, lowest
from tailback_papers.claims import claims_of

__all__ = ["EXPERIMENTS"]

claim = claims_of(__name__)

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
        claim("C-2.3.5", of("(2.9)").equals(40)),
        claim("C-2.3.4-optimal", lowest(*(of(f"REM over RAM, {links}") for links in (1, 2, 10, 30))) > 1),
        claim("C-4.4.1", of("(4.27)").equals(0.801938, 5e-7)),
        claim("C-4.4.2-drained", of("(4.31)").equals(7, 1)),
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
        claim("C-5.2.2-factor", of("(5.2)") * 4 * 1000 <= 4),
        claim("C-5.2.2-undetected", (of("(5.5)") - of("BRC")).equals(0, 0.005), closed=CLOSED),
        claim("C-5.2.2-sooner", of("(5.4)") - of("BRC") >= 0),
        claim("C-5.2.2-within", of("detection") <= 4, closed=CLOSED),
        claim("C-5.2.3-binary", of("estimates, binary").equals(8)),
        claim("C-5.2.3-unary", of("estimates, unary").equals(2)),
        claim(
            "C-5.3.2-1024",
            of("rate, pure_brc") < 0.02,
            contrast=Contrast("it starts anywhere, as sequential IPids do", of("rate, random_brc")),
        ),
        claim("C-5.3.2-levels", of("levels").equals(931)),
    ),
    exact=True,
)

EXPERIMENTS = (SINGLE,)
