"""Chapter 3 by packets: results that the document extrapolated from ns-2, simulated at full size or scaled down (section 3.3).

Scaling down reduces rates and flows together, as in the document, so that each flow has the same share. Experiments whose full
size takes long have a quick form; `--full` runs the full size.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

import tailback as tb
from tailback import models
from tailback.errors import ParameterError
from tailback.papers import (
    Claim,
    Computation,
    Curves,
    Experiment,
    Expression,
    Line,
    Measure,
    ReferenceLine,
    Values,
    Variant,
    at,
    by_means,
    lines,
    variants,
    vary,
)
from tailback_papers.claims import claims_of
from tailback_papers.cui_thesis import closed_loop
from tailback_papers.cui_thesis.closed_loop import RATES
from tailback_papers.cui_thesis.sizing import PACKET_BYTES

__all__ = [
    "BEGINS",
    "EDGES",
    "EXPERIMENTS",
    "FLOW_BPS",
    "GBPS",
    "LENGTH",
    "MEASURES",
    "NAME",
    "SENDERS",
    "TRUNK",
    "begins",
    "fairness",
    "flows_at",
    "switch",
    "utilisation",
]

claim = claims_of(__name__)

# Rates per flow at which the document scales: 4000 flows on 40 Gb/s.
FLOW_BPS = 10e6
GBPS = 1e9
NAME = "packets"

SENDERS = {
    "senders": "NewReno, one packet per acknowledgement, initial window of 10, starts within the first second; paced over the "
    "round trip; an initial and minimum timeout of 1 s, as in the presets"
}
LENGTH = {
    "length of a run": "8 s to settle and 4 s measured; 40 s and 20 s if flows have more than 20 Mb/s and therefore many seconds "
    "between losses (20 and 10 in figures 3.10 to 3.13)"
}
# Harmonic mean of 60 to 180 ms.
MEAN_RTT_S = 0.12
# As a fraction of a flow's share times the mean round trip. From there, one link with ten places settles within 8 s; after slow
# starts within one second it takes 20 s, and a slow start without a loss queues gigabytes in front of its access link, with
# thousands of flows.
LEAVES_SLOW_START = 0.4
BEGINS = {
    "slow start": "ends at two fifths of a flow's share times the mean round trip, or with the initial window; starts are then "
    "within 0.2 s"
}
EDGES = {"edge routers": "unlimited buffers, store and forward"}


def switch(
    inputs: int,
    transmitters: int,
    buffer: int,
    flows: int,
    rate_bps: float,
    measured_s: float | None = None,
    *,
    settling_s: float | None = None,
    access: str = "100 Mbps",
    paced: bool = True,
    rtt: Any = None,
    first_ssthresh: float | None = None,
) -> tb.Scenario:
    """Edge routers, a switch with full wavelength conversion, and a trunk shared by greedy flows (section 3.2).

    A larger share per flow means rarer losses and a longer settling time. With `first_ssthresh`, flows start within 0.2 s and
    leave slow start there.
    """
    is_large = transmitters * rate_bps / flows > 2 * FLOW_BPS
    settling_s = settling_s or (40.0 if is_large else 8.0)
    measured_s = measured_s or (20.0 if is_large else 4.0)
    group: Any = {
        "count": flows,
        "propagation_rtt": rtt or {"uniform": ["60 ms", "180 ms"]},
        "start": {"uniform": ["0 s", "1 s"]},
        "sender_access": {"rate": access},
        "tcp": {"preset": "newreno", "mss": "1000 B", "delayed_ack": False, "pacing": paced},
    }
    if first_ssthresh is not None:
        group["tcp"]["initial_ssthresh"] = first_ssthresh
        group["start"] = {"uniform": ["0 s", "0.2 s"]}
    return tb.dwdm(
        name=f"cui-thesis, {inputs} inputs, {transmitters} channels, {flows} flows",
        inputs=inputs,
        transmitters=transmitters,
        rate=f"{rate_bps / 1e6:.12g} Mbps",
        buffer=f"{buffer} packets",
        flows={"tcp": group},
        duration=f"{settling_s + measured_s:g} s",
        warmup=f"{settling_s:g} s",
    )


def begins(share_bps: float) -> dict[str, Any]:
    """Settings of `switch` for flows that leave slow start below the window at which they settle."""
    return {"first_ssthresh": round(LEAVES_SLOW_START * share_bps * MEAN_RTT_S / (8 * PACKET_BYTES))}


def by_model(inputs: int, transmitters: int, buffer: int, flows: int, rate_bps: float) -> models.ClosedLoop:
    """The closed loop with G1DM, for the same trunk."""
    return closed_loop.trunk_of_tcp("G1DM", inputs, transmitters, buffer, flows, rate_bps)


def utilisation(found: tb.Run | models.ClosedLoop) -> float:
    """Utilisation as a fraction of the channels' capacity."""
    return found.value("queues.trunk.utilisation") if isinstance(found, tb.Run) else float(found.utilisation)


def log10_loss(found: tb.Run | models.ClosedLoop) -> float:
    """Base-10 logarithm of the fraction that the trunk loses."""
    if not isinstance(found, tb.Run):
        return closed_loop.log10_loss(found)
    lost = found.value("queues.trunk.loss_rate")
    return math.log10(lost) if lost > 0 else math.nan


def fairness(found: tb.Run | models.ClosedLoop) -> float:
    """Jain's index of the flows' goodputs times their round trips, which the square-root law makes equal."""
    return found.value("jain(flows.*.goodput_bps * flows.*.base_rtt_s)") if isinstance(found, tb.Run) else 1.0


MEASURES: dict[str, Measure] = {"utilisation": utilisation, "log10_loss": log10_loss}


# Section 3.3.2: waiting places, and bit rates that the quick form omits.
PLACES = (2, 10)
QUICK_RATES = tuple(rate for rate in RATES if rate <= 4)


def flows_at(rate_gbps: float, links: int = 1) -> int:
    """Number of shares of 10 Mb/s."""
    return round(rate_gbps * GBPS / FLOW_BPS) * links


def small(buffer: int, rate: float) -> tb.Scenario:
    """Two inputs and one link."""
    return switch(2, 1, buffer, flows_at(rate), rate * GBPS, 12, settling_s=8, **begins(FLOW_BPS))


def at_40(rates: Sequence[float], points: Values, form: Any = "hyperbola") -> float:
    """Value at 40 Gb/s of a curve through the points; a constant from the middle on if the fit fails."""
    try:
        return float(models.fit(rates, points, form).predict(40).value)
    except ParameterError:
        return float(points[len(points) // 2 :].mean())


def curve(statistic: Callable[[Sequence[float], Values], float], measure: str, buffer: int, rates: Sequence[float]) -> Expression:
    """A statistic of a curve over the rates, for each seed."""
    points = at(measure, buffer=buffer, rate=tuple(rates))
    return points.fold(lambda values: np.array([statistic(rates, column) for column in values.T]))


def from_a_line(rates: Sequence[float], points: Values) -> float:
    """Largest distance from the least-squares line."""
    return float(np.abs(points - np.polyval(np.polyfit(rates, points, 1), rates)).max())


def correlation(rates: Sequence[float], points: Values) -> float:
    """Correlation of the least-squares hyperbola; 0 if the fit fails."""
    try:
        return float(models.fit(rates, points, "hyperbola").correlation)
    except ParameterError:
        return 0.0


def scaled(rates: tuple[float, ...]) -> Experiment:
    """Figures 3.6 to 3.9 with these rates."""

    def used(rate: float) -> Expression:
        return at("utilisation", buffer=10, rate=rate)

    fast = [rate for rate in rates if rate >= 1.2]
    return Experiment(
        id="cui-thesis/fig3.6",
        title="Figures 3.6 to 3.9: utilisation and loss over the bit rate, simulated",
        question="What do small networks predict for a large one with the same rate per flow?",
        source="figures 3.6 to 3.9, section 3.3.2",
        variants=variants(lambda buffer, rate: small(buffer, rate), buffer=PLACES, rate=rates),
        measures={**MEASURES, "fairness": fairness, "largest": "max(flows.*.goodput_bps) / sum(flows.*.goodput_bps)"},
        claims=(
            claim("C-3.7.1", used(rates[0]) > used(rates[-1])),
            claim("C-3.7.1-converges", 2 * used(2.0) - used(rates[0]) - used(rates[-1]) < 0),
            claim("C-3.7.1-hyperbola", by_means(curve(correlation, "utilisation", 10, rates)) >= 0.99),
            claim("C-3.7.2-simulated", abs(curve(at_40, "utilisation", 10, rates) - 0.703) <= 0.04),
            claim("C-3.6.1", by_means(curve(from_a_line, "utilisation", 2, rates)) <= 0.005),
            claim("C-3.6.2", at("largest", buffer=2, rate=rates[0]) < 0.5),
            claim("C-3.7.2-two", curve(partial(at_40, form="constant"), "utilisation", 2, fast).equals(0.317, 0.04)),
            claim("C-3.8.1", curve(partial(at_40, form="constant"), "log10_loss", 2, fast).equals(-3.04, 0.1), published=-3.04),
            claim("C-3.9.2", curve(at_40, "log10_loss", 10, rates).equals(-3.7145382, 0.1), published=-3.7145382),
            claim(
                "C-3.9.1-simulated",
                by_means(curve(correlation, "utilisation", 10, rates)) > by_means(curve(correlation, "log10_loss", 10, rates)),
            ),
            claim("C-3.7.3", at("fairness", buffer=10, rate=rates[0]) < at("fairness", buffer=10, rate=rates[-1])),
        ),
        panels=tuple(
            Curves(
                measure,
                "rate",
                lines("buffer", {f"{buffer} packets": buffer for buffer in PLACES}),
                name,
                "Gb/s",
                reference_lines=tuple(ReferenceLine(f"published, {text} at 40 Gb/s", value) for text, value in levels.items()),
            )
            for measure, name, levels in (
                ("utilisation", "utilisation", {"2 packets": 0.317, "10 packets": 0.703}),
                ("log10_loss", "log10 of the loss", {"2 packets": -3.04, "10 packets": -3.7145}),
            )
        ),
        assumptions={**SENDERS, **BEGINS, **EDGES, "length of a run": "8 s to settle and 12 s measured"},
        times=2,
        max_seeds=10,
    )


SCALED = replace(
    scaled(QUICK_RATES),
    max_seeds=6,
    full=scaled(RATES),
    undecided="6, 8 and 10 Gb/s, which change the curves at 40 Gb/s slightly",
)

# Trunks that the document extrapolated, at their own size: inputs, channels, places, flows, and the document's utilisation.
DIRECT: dict[str, tuple[int, int, int, int, float | None]] = {
    "1 link, 2 packets": (2, 1, 2, 4_000, 0.317),
    "1 link, 10 packets": (2, 1, 10, 4_000, 0.703),
}
LARGEST, WITHOUT, UNSETTLED = (
    "100 links, no buffer, 400,000 flows",
    "16 links, no buffer, 6,400 flows",
    "16 links, 16 packets, 6,400 flows",
)
RISES = "; a tenth of rate and flows uses 77 % after 100 s and 84 % after 200 s, so that it has not settled after 40"
LARGE: dict[str, tuple[int, int, int, int, float | None]] = {
    "4 links, no buffer": (8, 4, 0, 16_000, None),
    WITHOUT: (64, 16, 0, 6_400, 0.30),
    UNSETTLED: (64, 16, 16, 6_400, 0.73),
    "16 links, no buffer, 64,000 flows": (32, 16, 0, 64_000, None),
    LARGEST: (400, 100, 0, 400_000, 0.72),
}
# Trunks that are cheap to scale down, with the document's statement.
QUOTED = {LARGEST: ("C-3.10.2", 0.72), WITHOUT: ("C-3.11.1-without", 0.30)}
# A tenth and a hundredth of rates and flows.
SCALES = (0.01, 0.1, 1.0)
# To avoid hours of simulation, flows leave slow start below the window at which they settle, 144 packets at most, and the trunk
# is within half a point of its steady state after a second and a half. After slow starts within one second it varies by five
# points for ten seconds.
MANY = 50_000
SETTLED = {"first_ssthresh": 100.0, "settling_s": 1.5, "measured_s": 1.0}


def scaled_down(place: str, scale: float) -> tuple[Variant, ...]:
    """A trunk with this fraction of its rate and flows, by packets and by the closed loop."""
    inputs, transmitters, buffer, flows, _ = {**DIRECT, **LARGE}[place]
    trunk = (inputs, transmitters, buffer, round(flows * scale), 40 * scale * GBPS)
    start = SETTLED if flows > MANY else begins(transmitters * 40 * GBPS / flows)
    return (
        *vary(switch(*trunk, **start), place=place, scale=scale, by=NAME),
        *vary(Computation(by_model, dict(zip(TRUNK, trunk, strict=True))), place=place, scale=scale, by="G1DM"),
    )


def used(place: str, scale: float, by: str = NAME) -> Expression:
    """Utilisation of a trunk by packets or by the closed loop."""
    return at("utilisation", place=place, scale=scale, by=by)


def direct(places: dict[str, tuple[int, int, int, int, float | None]]) -> Experiment:
    """Trunks at their own size, next to smaller ones and the closed loop."""
    variants = [variant for place in QUOTED if place not in places for variant in scaled_down(place, SCALES[0])]
    claims = [
        Claim(
            f"{id}-small",
            f"{place}: a hundredth of rate and flows has the utilisation stated for the whole, {100 * published:g} %, within 4 "
            "points",
            abs(used(place, SCALES[0]) - published) <= 0.04,
            kind="not_reproduced" if place == WITHOUT else "reproduced",
            note="the distance; the bound is our choice",
        )
        for place, (id, published) in QUOTED.items()
    ]
    shown = {**places, **{place: LARGE[place] for place in QUOTED}}
    for place, (*_, published) in places.items():
        for scale in SCALES:
            variants += scaled_down(place, scale)
        if published is not None:
            claims.append(
                Claim(
                    QUOTED[place][0] if place in QUOTED else f"D-{place}",
                    f"{place}: extrapolated to {100 * published:.3g} %, and measured within 4 points of it",
                    abs(used(place, 1.0) - published) <= 0.04,
                    kind="not_reproduced" if place == UNSETTLED else "reproduced",
                    note=f"the distance; the bound is our choice{RISES if place == UNSETTLED else ''}",
                )
            )
        claims += [
            Claim(
                f"E-{place}",
                f"{place}: a tenth of rate and flows has the same utilisation, within 4 points",
                abs(used(place, 0.1) - used(place, 1.0)) <= 0.04,
                kind="not_reproduced" if place == "1 link, 10 packets" else "reproduced",
                note="the distance; the bound is our choice",
                ours=True,
            ),
            Claim(
                f"M-{place}",
                f"{place}: the closed loop with G1DM is no more than 7 points off, as stated for figures 3.42 to 3.47",
                abs(used(place, 1.0, "G1DM") - used(place, 1.0)) <= 0.07,
                kind="not_reproduced" if place in ("1 link, 2 packets", UNSETTLED) else "reproduced",
                ours=True,
            ),
            Claim(
                f"C-3.42.3-{place}",
                f"{place}: the closed loop with G1DM is conservative, as stated for figures 3.42 to 3.47: below the simulation",
                used(place, 1.0, "G1DM") <= used(place, 1.0),
                kind="not_reproduced" if place == "1 link, 10 packets" else "reproduced",
                note="its excess over the simulation",
                ours=True,
            ),
        ]
    return Experiment(
        id="cui-thesis/direct",
        title="Extrapolated results, simulated directly",
        question="Do small trunks predict a trunk of 40 Gb/s links?",
        source="sections 3.3.2 and 3.4; the document could not simulate these sizes",
        variants=tuple(variants),
        measures={**MEASURES, "fairness": fairness},
        claims=tuple(claims),
        panels=(
            Curves(
                "utilisation",
                "scale",
                tuple(
                    Line(label, {"place": place, "by": by}, dashed=by != NAME)
                    for place in shown
                    for label, by in ((place, NAME), (f"{place}, G1DM", "G1DM"))
                ),
                "utilisation",
                "size: rate and flows over those of 40 Gb/s links",
                reference_lines=tuple(
                    ReferenceLine(f"published, {place}", published)
                    for place, (*_, published) in shown.items()
                    if published is not None
                ),
                log_over=True,
            ),
        ),
        assumptions={
            **SENDERS,
            **BEGINS,
            **EDGES,
            **LENGTH,
            f"trunks with more than {MANY} flows at their full size, also scaled down": "start within 0.2 s and leave slow start "
            "at 100 packets, so that 1.5 s to settle and 1 s measured are enough",
        },
        max_seeds=4,
    )


TRUNK = ("inputs", "transmitters", "buffer", "flows", "rate_bps")

EXPERIMENTS = (
    SCALED,
    replace(
        direct(DIRECT),
        full=direct({**DIRECT, **LARGE}),
        undecided="trunks of 4, 16 and 100 links; two of them are shown here at a hundredth of rate and flows",
    ),
)
