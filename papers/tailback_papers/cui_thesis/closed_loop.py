"""Figures 3.42 to 3.47 and the results that the text quotes for others: trunks loaded by TCP (sections 3.3, 3.4 and 3.7)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tailback import models
from tailback.papers import (
    Claim,
    Computation,
    Condition,
    Curves,
    Experiment,
    Expression,
    Line,
    Measure,
    Variant,
    at,
    axis,
    vary,
)
from tailback_papers.claims import claims_of
from tailback_papers.cui_thesis import losses
from tailback_papers.cui_thesis.sizing import PACKET_BYTES

__all__ = [
    "EXTRAPOLATIONS",
    "FIGURES",
    "HARMONIC_RTT_S",
    "MEANS_S",
    "MODELS",
    "RATES",
    "ROUND_TRIPS",
    "UNIFORM",
    "log10_loss",
    "trunk_of_tcp",
]

claim = claims_of(__name__)

RATE_BPS = 40e9
# Harmonic means, in seconds. Round trips of section 3.3.2 are uniform on 60 to 180 ms.
UNIFORM = "60 to 180 ms"
HARMONIC_RTT_S = models.round_trips({"uniform": [0.06, 0.18]}).harmonic_s
MEANS_S = {UNIFORM: HARMONIC_RTT_S, "50 ms": 0.05, "100 ms": 0.1, "200 ms": 0.2}
ROUND_TRIPS = Condition("round_trips", "section 3.7.2 states none", (UNIFORM, "50 ms", "200 ms"), "those of section 3.3.2")

MODELS = {name: by for by, name in losses.MODELS.items()}
LINKS = (*range(1, 10), *range(10, 101, 5))


def trunk_of_tcp(
    model: str,
    inputs: int,
    transmitters: int,
    buffer: int,
    flows: int,
    rate_bps: float = RATE_BPS,
    round_trips: str = UNIFORM,
) -> models.ClosedLoop:
    """The closed loop with the square-root law."""
    law: Any = MODELS[model]
    return models.closed_loop(
        model=law,
        inputs=inputs,
        transmitters=transmitters,
        buffer=buffer,
        flows=flows,
        rate_bps=rate_bps,
        packet_bytes=PACKET_BYTES,
        harmonic_rtt_s=MEANS_S[round_trips],
    )


def log10_loss(end: models.ClosedLoop) -> float:
    """Base-10 logarithm of the fraction lost."""
    return float(end.ln_loss) / math.log(10)


MEASURES: dict[str, Measure] = {"utilisation": "utilisation", "log10_loss": log10_loss}


def over_links(inputs_per_link: int, buffer: int) -> tuple[Variant, ...]:
    """All models over the links of a trunk, with 4000 flows per link."""
    links = {k: {"transmitters": k, "inputs": inputs_per_link * k, "flows": 4000 * k} for k in LINKS}
    loop = Computation(trunk_of_tcp, {"buffer": buffer})
    return vary(loop, axis("model", tuple(MODELS)), axis("links", links), axis("round_trips", ROUND_TRIPS.values))


def apart(*models: str) -> Expression:
    """Largest distance of any of these models from G1DM."""
    return abs(at("utilisation", model=models) - at("utilisation", model="G1DM")).max(each_seed=True)


def figure(number: str, inputs_per_link: int, buffer: int, *, falls: str = "") -> Experiment:
    """Utilisation over the links of a trunk."""
    differs = (inputs_per_link, buffer) == (2, 10)
    same = "" if differs else "without waiting places the models coincide; with few places or many inputs they nearly do"
    claims = (
        Claim(
            f"C-{number}.4",
            "utilisation rises with the links",
            at("utilisation", model="G1DM").steps("links").min(each_seed=True) > 0,
            kind="conditional" if falls else "reproduced",
            note=falls or "section 3.4.1 states it for figures 3.10 and 3.11",
            ours=True,
        ),
        Claim(f"C-{number}.2", "with EBI it equals that with G1DM, within a point", apart("EBI") <= 0.01),
        Claim(
            f"C-{number}.2b",
            "with EB or EBD it differs clearly, by two points or more",
            apart("EB", "EBD") >= 0.02,
            kind="reproduced" if differs else "not_reproduced",
            note=same,
        ),
        Claim(
            f"C-{number}.2c",
            "with M/M/K/(K+B) it differs clearly, by two points or more",
            apart("M/M/K/(K+B)") >= 0.02,
            kind="reproduced" if inputs_per_link == 2 else "not_reproduced",
            note="" if inputs_per_link == 2 else "with 16 inputs to a link arrivals are nearly a Poisson process",
        ),
    )
    return Experiment(
        id=f"cui-thesis/fig{number}",
        title=f"Figure {number}: utilisation over links, {inputs_per_link} input trunks, buffer {buffer}",
        question="How does closed-loop utilisation depend on the links per trunk, with each of the loss models?",
        source=f"figure {number}, section 3.7.2",
        variants=over_links(inputs_per_link, buffer),
        measures=MEASURES,
        claims=claims,
        panels=(
            Curves(
                "utilisation",
                "links",
                tuple(Line(name, {"model": name, "round_trips": UNIFORM}, dashed=name != "G1DM") for name in MODELS),
                "utilisation",
                "links of a trunk",
            ),
        ),
        conditions=(ROUND_TRIPS,),
        assumptions={
            "simulations": "in `-packets`, which judges C-3.42.1 (within 7 %) and C-3.42.3 (conservative)",
        },
        exact=True,
    )


def quoted(number: int, where: str, *, obtained: bool, note: str = "") -> Claim:
    """A utilisation that the text quotes from its simulations, compared with that of G1DM.

    The text states the distance of 7 % for figures 3.42 to 3.47 only.
    """
    return Claim(
        f"Q{number}",
        f"the closed loop with G1DM is within 7 points of {100 * QUOTED[where]:.3g} %, {where}",
        at("utilisation", place=where, model="G1DM").equals(QUOTED[where], 0.07),
        kind="reproduced" if obtained else "not_reproduced",
        published=QUOTED[where],
        note="; ".join(part for part in (note, "the document states 7 % for figures 3.42 to 3.47 only") if part),
        ours=True,
    )


# Simulation results quoted in the text: sections 3.3.2 and 3.4.
QUOTED = {
    "100 links, no buffer": 0.72,
    "16 links, no buffer": 0.30,
    "16 links, 16 packets": 0.73,
    "1 link, 2 packets": 0.317,
    "1 link, 10 packets": 0.703,
}
PLACES: dict[str, dict[str, int]] = {
    "100 links, no buffer": {"inputs": 400, "transmitters": 100, "buffer": 0, "flows": 400_000},
    "16 links, no buffer": {"inputs": 64, "transmitters": 16, "buffer": 0, "flows": 6_400},
    "16 links, 16 packets": {"inputs": 64, "transmitters": 16, "buffer": 16, "flows": 6_400},
    "1 link, 2 packets": {"inputs": 2, "transmitters": 1, "buffer": 2, "flows": 4_000},
    "1 link, 10 packets": {"inputs": 2, "transmitters": 1, "buffer": 10, "flows": 4_000},
}

SIMULATED = Experiment(
    id="cui-thesis/quoted",
    title="Simulations quoted in the text, compared with the closed loop",
    question="How near is the closed loop to the utilisations that the text quotes from extrapolated simulations?",
    source="sections 3.3.2 and 3.4, figures 3.6, 3.7, 3.10 and 3.11",
    variants=vary(Computation(trunk_of_tcp), axis("place", PLACES), axis("model", tuple(MODELS))),
    measures=MEASURES,
    claims=(
        quoted(1, "100 links, no buffer", obtained=True),
        quoted(2, "16 links, no buffer", obtained=True),
        quoted(3, "16 links, 16 packets", obtained=False, note="lower, as the closed loop is said to be"),
        quoted(4, "1 link, 2 packets", obtained=False, note="lower, as the closed loop is said to be"),
        quoted(5, "1 link, 10 packets", obtained=True),
    ),
    assumptions={
        "round trips of section 3.4": "those of section 3.3",
        "input links in figures 3.6 and 3.7": "two, as in section 3.3.1; with more inputs the utilisation is lower",
    },
    exact=True,
)

# Section 3.3.2: bit rates in Gb/s; nine of the ten were fitted in figure 3.7.
RATES = (0.4, 0.8, 1.2, 1.6, 2.0, 2.4, 4.0, 6.0, 8.0, 10.0)


def quoted_fit(a: float, b: float, c: float, standard_error: float, left_out: int) -> dict[str, float]:
    """A hyperbola quoted in the text: its value at 40 Gb/s, and the correlation consistent with its standard error."""
    rates = np.array(RATES)
    curve = models.fit(rates, a + b / (rates - c))
    kept = np.delete(rates, left_out)
    explained = float(((a + b / (kept - c) - np.mean(a + b / (kept - c))) ** 2).sum())
    residuals = standard_error**2 * (len(kept) - 3)
    return {"at_40": curve.predict(40).value, "correlation": math.sqrt(explained / (explained + residuals))}


FITS = {
    "utilisation, 10 packets": {"a": 0.7022, "b": 0.048088, "c": 0.125893, "standard_error": 0.00672871},
    "log10 of the loss, 10 packets": {"a": -3.7116276, "b": -0.11737622, "c": -0.32710271, "standard_error": 0.00698336},
}
UTILISATION, LOSS = FITS


def nearest(curve: str, published: float) -> Expression:
    """The correlation nearest to the published one, over the choices of the omitted point."""
    return at("correlation", curve=curve).fold(lambda values: values[abs(values[:, 0] - published).argmin()])


EXTRAPOLATED = Experiment(
    id="cui-thesis/fig3.7",
    title="Figures 3.7 and 3.9: the quoted fits at 40 Gb/s",
    question="What values do the quoted hyperbolas have at 40 Gb/s, and are their statistics consistent?",
    source="section 3.3.2, figures 3.7 and 3.9",
    variants=vary(
        Computation(quoted_fit),
        axis("curve", FITS),
        axis("left_out", {rate: {"left_out": place} for place, rate in enumerate(RATES)}),
    ),
    measures={"at_40": "at_40", "correlation": "correlation"},
    claims=(
        claim("C-3.7.2", at("at_40", curve=UTILISATION, left_out=RATES[0]).equals(0.703, 0.0005)),
        claim("C-3.9.0", at("at_40", curve=LOSS, left_out=RATES[0]).equals(-3.7145382, 5e-8), published=-3.7145382),
        claim("C-3.7.0", nearest(UTILISATION, 0.9991924046).equals(0.9991924046, 0.0005)),
        claim("C-3.9.1", nearest(LOSS, 0.98181725).equals(0.98181725, 0.0005)),
    ),
    assumptions={"which nine of the ten points were fitted": "each choice of the omitted point"},
    exact=True,
)

# Before and after the open loop, in the document's order.
EXTRAPOLATIONS = (EXTRAPOLATED, SIMULATED)
FIGURES = (
    figure("3.42", 2, 0),
    figure("3.43", 2, 1),
    figure(
        "3.44",
        2,
        10,
        falls="with ten places a single link has a higher utilisation than several, except with round trips of 200 ms",
    ),
    figure("3.45", 16, 0),
    figure("3.46", 16, 1),
    figure("3.47", 16, 10),
)
