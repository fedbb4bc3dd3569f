"""Conditions that the document leaves open and that decide claims, with the values that are compared."""

from __future__ import annotations

from dataclasses import replace

from tailback.papers import Condition

__all__ = [
    "CONGESTION",
    "EPD_THRESHOLD",
    "SETTING",
    "SETTINGS_OF_5_2",
    "SETTING_OF_5_6",
    "SETTING_OF_6_2",
    "SETTING_OF_BUFFERS",
    "SETTING_OF_QUEUES",
    "SETTING_WITH_TIMER",
]

# `networks` has the duration and the loss detection of each.
SETTING = Condition(
    "setting",
    'neither duration nor timer is stated; "once their timer expires" (section 5.6)',
    ("SHORT", "LONG"),
    "it gives the printed numbers",
)
SETTING_WITH_TIMER = replace(SETTING, values=("SHORT", "LONG", "LONG, timer only"))
SETTING_OF_QUEUES = replace(
    SETTING,
    values=("LONG", "LONG, timer only", "SHORT"),
    why="figures 5.12 to 5.14 show several peaks",
)
SETTINGS_OF_5_2 = replace(SETTING, values=("SHORT", "LONG", "EARLY", "OPEN", "PRINTED", "CORRECTED"))
SETTING_OF_BUFFERS = replace(SETTING, values=("SHORT", "SHORT, fast retransmit", "LONG"))
SETTING_OF_6_2 = replace(
    SETTING, values=("LONG", "SHORT", "4 s, timer only"), why="a run of 1.7 s is too short for round trips of more than 48 ms"
)
SETTING_OF_5_6 = replace(
    SETTING,
    values=("SHORT", "SHORT, fast retransmit"),
    why="the numbers of table 5.12",
)

EPD_THRESHOLD = Condition(
    "epd_threshold",
    '"longer gaps between the SPD and EPD thresholds" (section 5.3)',
    ("buffer", "0.8 of the buffer"),
    "the longest gap",
)

CONGESTION = Condition(
    "congestion",
    '"200 cells" (section 4.1.5) with a buffer of 1000',
    ("200 cells", "a fifth of the buffer"),
    "as stated",
)
