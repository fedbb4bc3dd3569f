"""Beyond section 3.4.2: buffers for senders without pacing. The document has no rule for them; `unpaced` is ours."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

import tailback as tb
from tailback import models
from tailback.papers import Claim, Curves, Experiment, Expression, Measured, Values, Variant, at, computed, lines, vary
from tailback_papers.claims import claims_of
from tailback_papers.cui_thesis.closed_loop import HARMONIC_RTT_S
from tailback_papers.cui_thesis.packets import BEGINS, EDGES, SENDERS, begins, fairness, switch, utilisation
from tailback_papers.cui_thesis.sizing import PACKET_BYTES

__all__ = ["UNPACED"]

claim = claims_of(__name__)

MEAN_RTT_S = 0.12
FLOWS = 250
INPUTS = 6
# Packets in flight per flow: two values to which the rule was fitted, one between them, and one beyond.
FITTED, OTHER, BEYOND = (15, 58), 29, 90
# Buffers, in windows.
BUFFERS = (2, 3, 4, 6)
FEW = (2, 4)
# Label of a buffer given by another rule.
BY_RULE = "cui_trunk"
# Rate of an access link divided by that of the channel.
FIFTH, TENTH, HUNDREDTH = 0.2, 0.1, 0.01
MANY = 1000
CHANNELS = 4
# Constants of the rule, in windows.
BURST = 0.22
# cui_trunk's buffer for this utilisation, with senders without pacing.
TARGET = 0.8


def link(window: float, flows: int = FLOWS) -> dict[str, Any]:
    """A channel with a fixed number of packets in flight per flow."""
    return {"rate_bps": window * flows * 8 * PACKET_BYTES / MEAN_RTT_S, "packet_bytes": PACKET_BYTES, "flows": flows}


def trunk(window: float, packets: int, access: float, flows: int = FLOWS, channels: int = 1) -> tb.Scenario:
    """Channels that share a buffer, with six edge routers each."""
    rate_bps = link(window, flows)["rate_bps"] / channels
    return switch(
        INPUTS * channels,
        channels,
        packets,
        flows,
        rate_bps,
        20,
        settling_s=8,
        access=f"{access * rate_bps / 1e6:.6g} Mbps",
        paced=False,
        **begins(rate_bps * channels / flows),
    )


def by_rule(window: float) -> int:
    """Buffer by `cui_trunk`, which applies to paced senders."""
    result = models.cui_trunk_buffer(
        inputs=INPUTS, transmitters=1, **link(window), harmonic_rtt_s=HARMONIC_RTT_S, utilisation=TARGET
    )
    return int(result.buffer)


def variants(windows: tuple[int, ...]) -> Iterator[Variant]:
    """Buffers in windows; slower access links; the buffer of another rule; many flows; and several channels."""
    usual: dict[str, Any] = {"access": FIFTH, "flows": FLOWS, "channels": 1}
    for window in windows:
        for buffer in buffers(window):
            yield from vary(trunk(window, buffer * window, FIFTH), **{**usual, "window": window, "buffer": buffer})
        for access in (TENTH, HUNDREDTH):
            yield from vary(trunk(window, by_rule(window), access), window=window, access=access, by=BY_RULE)
    for buffer in BUFFERS:
        labels = {**usual, "window": OTHER, "access": TENTH, "buffer": buffer}
        yield from vary(trunk(OTHER, buffer * OTHER, TENTH), **labels)
    for buffer in FEW:
        labels = {**usual, "window": OTHER, "buffer": buffer}
        yield from vary(trunk(OTHER, buffer * OTHER, FIFTH, channels=CHANNELS), **{**labels, "channels": CHANNELS})
        yield from vary(trunk(OTHER, buffer * OTHER, FIFTH, MANY), **{**labels, "flows": MANY})


def buffers(window: int) -> tuple[int, ...]:
    """Buffers in windows; fewer for long windows, whose runs take long."""
    return BUFFERS if window <= FITTED[1] else FEW


def used(windows: int | tuple[int, ...], access: float, **where: Any) -> Expression:
    """Utilisation with buffers of a number of windows; all buffers by default."""
    return at("utilisation", window=windows, access=access, **{"flows": FLOWS, "channels": 1, **where})


def used_by_rule(windows: tuple[int, ...], access: float) -> Expression:
    """Utilisation with the buffer of `cui_trunk`."""
    return at("utilisation", window=windows, access=access, by=BY_RULE)


def decay(utilisation: Values) -> Values:
    """theta of M/D/1, exp(theta) = 1 + theta / U, by Newton's method from above."""
    theta = 2 - 2 * np.log(utilisation)
    for _ in range(50):
        theta = theta - (np.expm1(theta) - theta / utilisation) / (np.exp(theta) - 1 / utilisation)
    found: Values = theta
    return found


def rarity_and_bursts(results: Measured) -> tuple[Values, Values]:
    """ln((U W)^2) and B theta / W, one row per point used in the fit; by the rule these are on a line."""
    places = [(window, buffer) for window in FITTED for buffer in BUFFERS]
    rarity = np.array([2 * np.log(used(window, FIFTH, buffer=buffer)(results) * window) for window, buffer in places])
    bursts = np.array([buffer * decay(used(window, FIFTH, buffer=buffer)(results)) for window, buffer in places])
    return rarity, bursts


def fit(results: Measured) -> tuple[Values, Values]:
    """Burst, in windows, and prefactor, by least squares."""
    rarity, bursts = rarity_and_bursts(results)
    away = rarity - rarity.mean(axis=0)
    slope = (away * bursts).sum(axis=0) / (away**2).sum(axis=0)
    return slope, np.exp(bursts.mean(axis=0) / slope - rarity.mean(axis=0))


def prefactor(results: Measured) -> Values:
    """The prefactor for the rule's burst: in a joint fit, one compensates for the other."""
    rarity, bursts = rarity_and_bursts(results)
    found: Values = np.exp(bursts.mean(axis=0) / BURST - rarity.mean(axis=0))
    return found


def promised(window: int, buffer: int) -> float:
    """Utilisation by the rule."""
    return float(models.unpaced_utilisation(**link(window), mean_rtt_s=MEAN_RTT_S, buffer=buffer * window))


def off(windows: int | tuple[int, ...], access: float) -> Expression:
    """Utilisation by the rule minus the simulated one."""
    return promised - used(windows, access)


def unpaced(windows: tuple[int, ...]) -> Experiment:
    """Points with these windows."""
    others = tuple(window for window in windows if window not in FITTED)
    return Experiment(
        id="cui-thesis/unpaced",
        title="Beyond figure 3.14: buffers for senders without pacing",
        question="How much buffer does a channel need if its senders do not pace?",
        source="section 3.4.2 leaves it open; the rule is not in the document",
        variants=tuple(variants(windows)),
        measures={"utilisation": utilisation, "fairness": fairness},
        claims=(
            claim("U-burst", computed(lambda results: fit(results)[0]).equals(BURST, 0.06)),
            claim("U-prefactor", computed(prefactor).equals(1.1, 0.5)),
            Claim(
                "U-others",
                f"for windows not used in the fit ({', '.join(map(str, others))}) its root-mean-square error over buffers is at "
                "most 4 points",
                (off(others, FIFTH) ** 2).mean() ** 0.5 <= 0.04,
                note="single buffers have larger errors",
                ours=True,
            ),
            Claim(
                "U-farthest",
                f"for none of these buffers and windows ({', '.join(map(str, others))}) is its error more than 8 points",
                abs(off(others, FIFTH)).max(each_seed=True) <= 0.08,
                kind="not_reproduced",
                note="largest distance, where the utilisation is lowest; ten seeds cannot distinguish 7 points from 8",
                ours=True,
            ),
            claim("U-slower", off(OTHER, TENTH).max(each_seed=True) <= 0.02),
            Claim(
                "U-flows",
                f"only the window matters: with {MANY} flows instead of {FLOWS} the same buffer gives the same utilisation "
                "within 4 points",
                abs(used(OTHER, FIFTH, buffer=FEW, flows=MANY) - used(OTHER, FIFTH, buffer=FEW)).max(each_seed=True) <= 0.04,
                ours=True,
            ),
            Claim(
                "U-channels",
                f"{CHANNELS} channels that share the buffer have at least the utilisation of one, except for 2 points (largest "
                "loss)",
                (used(OTHER, FIFTH, buffer=FEW) - used(OTHER, FIFTH, buffer=FEW, channels=CHANNELS)).max(each_seed=True) <= 0.02,
                ours=True,
            ),
            claim("U-tenth", used_by_rule(windows, TENTH).max(each_seed=True) < TARGET),
            claim("U-hundredth", used_by_rule(windows, HUNDREDTH).min(each_seed=True) >= TARGET),
        ),
        panels=(
            Curves(
                "utilisation",
                "buffer",
                lines("window", {f"{window} packets": window for window in windows}, access=FIFTH, flows=FLOWS, channels=1),
                "utilisation",
                "buffer, in windows of a flow",
            ),
        ),
        assumptions={
            "senders": SENDERS["senders"].replace("paced over the round trip", "not paced"),
            **BEGINS,
            **EDGES,
            "length of a run": "8 s to settle and 20 s measured",
        },
    )


WINDOWS = (FITTED[0], OTHER, FITTED[1], BEYOND)
UNPACED = replace(
    unpaced(WINDOWS),
    max_seeds=6,
    full=unpaced((*WINDOWS, 144)),
    undecided="windows of 144 packets, those of the document's flows, and claims whose interval, with six seeds, includes the "
    "bound",
)
