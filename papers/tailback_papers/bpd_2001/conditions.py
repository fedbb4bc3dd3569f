"""Conditions that the document leaves open and that decide claims, with the values that are compared."""

from __future__ import annotations

from tailback.papers import Condition

__all__ = ["DURATION", "OFF", "PERIOD", "SSTHRESH", "TICK", "TICKS"]

TICKS = (0.1, 0.02, 0.3, 0.5)
TICK = Condition(
    "tick",
    'not stated for the simulations; "coarse granularity timer, typically 500 ms" (section 2.1)',
    TICKS,
    "the default of ns, and most timeouts",
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
    (15, 10),
    "34 timeouts of one connection do not fit into 10 s",
)

SSTHRESH = Condition(
    "ssthresh",
    "the initial slow-start threshold is not stated",
    (122, 16),
    "the largest window, as in ns",
)
