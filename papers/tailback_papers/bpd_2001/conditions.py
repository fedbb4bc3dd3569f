"""Conditions that the document leaves open and that decide claims, with the values that are compared."""

from __future__ import annotations

from dataclasses import replace

from tailback.papers import Condition

__all__ = ["ACCESS", "DURATION", "NETWORK", "OFF", "PERIOD", "SSTHRESH", "TICK", "TICK_A", "TICK_B", "TOPOLOGY", "UPPER"]

TICK = Condition(
    "tick",
    'not stated for the simulations; "coarse granularity timer, typically 500 ms" (section 2.1)',
    (0.1, 0.02, 0.3, 0.5),
    "the default of ns, and most timeouts",
)
TICK_B = replace(TICK, values=(0.1, 0.3, 0.5))
TICK_A = replace(TICK, values=(0.1, 0.5))

# Rates of the access links of topology A.
ACCESS = Condition(
    "access",
    '"10 incoming links, each of 75 Mbit/s [...] and one outgoing link of 75 Mbit/s" (section 3); clocks are not mentioned',
    ("20 ppm faster", "equal"),
    "the tolerance of SONET; with equal clocks a source that has filled the buffer loses nothing, and the others send nothing",
)

NETWORK = Condition(
    "network",
    '"they suffer from low fairness" (section 1, after other studies) names no network',
    ("A", "A, equal clocks", "B"),
    "all of section 3",
)

TOPOLOGY = Condition(
    "topology",
    'figures 15 to 18 name no topology; the text before them speaks of topology B, "[2]" (threshold of figure 18) has topology A',
    ("B", "A"),
    "the text before figure 15",
)

UPPER = Condition(
    "upper",
    'figures 12 to 14 name no upper threshold; "UT = 90 %" in figures 15 and 16',
    ("90 %", "100 %"),
    "as in figures 15 and 16",
)

PERIOD = Condition(
    "start",
    '"the amount of used buffer space during the simulation time" (figure 18); the losses at the start are not mentioned',
    ("whole run", "from 1 s on"),
    "as stated",
)

OFF = Condition(
    "off",
    '"with BPD turned off" (section 6.2)',
    ("plain", "PPD", "EPD"),
    "nothing that is discarded on purpose",
)

DURATION = Condition(
    "duration_s",
    "not stated for section 6.2; 10 s on the axis of figure 17",
    (15, 14, 10),
    "34 timeouts of one connection do not fit into 10 s",
)

SSTHRESH = Condition(
    "ssthresh",
    "the initial slow-start threshold is not stated",
    (122, 16),
    "the largest window, as in ns",
)
