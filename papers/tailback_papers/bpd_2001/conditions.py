"""Conditions that the document leaves open and that decide claims, with the values that are compared."""

from __future__ import annotations

from dataclasses import replace

from tailback.papers import Condition

__all__ = [
    "ACCESS",
    "DURATION",
    "NETWORK",
    "OFF",
    "PERIOD",
    "SSTHRESH",
    "TICK",
    "TICKS",
    "TICKS_OF_A",
    "TICK_A",
    "TICK_B",
    "TOPOLOGY",
    "TYPICAL",
    "UPPER",
    "USUAL",
]

# Seconds, in all topologies and in topology A.
TICKS = (0.1, 0.02, 0.3, 0.5)
TICKS_OF_A = USUAL, TYPICAL = 0.1, 0.5
TICK = Condition(
    "tick",
    'not stated for the simulations; "coarse granularity timer, typically 500 ms" (section 2.1)',
    TICKS,
    "the default of ns, and most timeouts",
)
TICK_B = replace(TICK, values=(0.1, 0.3, 0.5))
TICK_A = replace(TICK, values=TICKS_OF_A)

# Rates of the access links of topology A.
ACCESS = Condition(
    "access",
    '"10 incoming links, each of 75 Mbit/s [...] one outgoing link of 75 Mbit/s" (section 3)',
    ("20 ppm faster", "equal"),
    "the tolerance of SONET; equal clocks lock phases",
)

NETWORK = Condition(
    "network",
    '"they suffer from low fairness" (section 1) names no network',
    ("A", "A, equal clocks", "B"),
    "all of section 3",
)

TOPOLOGY = Condition(
    "topology",
    "not stated for figures 15 to 18; the text before them is about topology B",
    ("B", "A"),
    "that text",
)

UPPER = Condition(
    "upper",
    "not stated for figures 12 to 14",
    ("90 %", "100 %"),
    "as in figures 15 and 16",
)

PERIOD = Condition(
    "start",
    '"the amount of used buffer space during the simulation time" (figure 18)',
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
    "34 timeouts do not fit into 10 s",
)

SSTHRESH = Condition(
    "ssthresh",
    "not stated",
    (122, 16),
    "the largest window, as in ns",
)
