"""Conditions that the thesis leaves open and that decide claims, with the values that are compared."""

from __future__ import annotations

from tailback.papers import Condition

__all__ = [
    "CAPACITY",
    "DELAY",
    "DELAYS",
    "ONE_WAY",
    "PACED",
    "RATE_SCALING",
    "RECOVERY",
    "REGULAR",
    "ROUND_TRIP",
    "RTT",
    "SENDERS",
    "R",
    "rtt_ms",
]

REGULAR, PACED = "regular", "paced"
SENDERS = Condition(
    "senders",
    'section 3.8.2 names no sender; "we use paced TCP NewReno" (3.3.2), "TCP traffic in the Internet is not paced" (3.4.2)',
    (REGULAR, PACED),
    "the rule that it is compared with, xµRTT/√N, is one for senders that do not pace",
)

DELAYS = ONE_WAY, ROUND_TRIP = "one way", "round trip"
DELAY = Condition(
    "delay",
    'appendix B: a link "whose capacity is 100 Mb/s with a delay of 50 ms", and one whose "delay is 20 ms"',
    DELAYS,
    'the delay of a link in ns-2 is one way; where the thesis means the round trip, it says "round-trip propagation delay"',
)


def rtt_ms(delay_ms: int, meant: str) -> int:
    """Round trip of a path over a link with this delay."""
    return 2 * delay_ms if meant == ONE_WAY else delay_ms


# Values of r.
R = ("alpha", "alpha / 2", "2 alpha", "10")
RATE_SCALING = Condition(
    "r",
    'section 4.4.2: "a value of r ≈ alpha appears reasonable"; figures 4.9 and 4.10 do not state r',
    R,
    "the value that the section recommends",
)

CAPACITY = Condition(
    "capacity_mbps",
    'the text gives no rate for figure 4.11; section 4.5.4 continues with "a bottleneck bandwidth of 400 Mb/s" (figure 4.18)',
    (400, 100),
    "the only rate in section 4.5",
)

RECOVERY = Condition(
    "recovery",
    'appendix B: "FAST\'s loss recovery scheme was transplanted from TCP NewReno"; the ns-2 module has a SACK scoreboard',
    ("newreno", "sack"),
    "the text",
)

RTT = Condition(
    "rtt_ms",
    'the text gives no delay for figure 4.11; section 4.5.4 continues with a "round-trip propagation delay which is 50 ms"',
    (50, 150),
    "the last scenario of section 4.5.4",
)
