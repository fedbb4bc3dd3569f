"""Up to where models are meant: each limit with where it is from."""

from __future__ import annotations

__all__ = [
    "FEW_FLOWS",
    "LOSE_TOGETHER",
    "NEARLY_FULL",
    "QUIET_LOAD",
    "SHORT_QUEUE",
    "SMALL_WINDOW",
    "TRIED_UTILISATION",
    "TRIED_WINDOWS",
    "is_slow",
]

# Below this many flows windows tend to halve together (Appenzeller, Keslassy and McKeown, SIGCOMM 2004, section 3).
FEW_FLOWS = 100

# Below this many packets under way a loss is often found by a timeout: fewer than three duplicates follow (RFC 5681).
SMALL_WINDOW = 4.0

# Above this utilisation a link no longer sees a Poisson process (cui-thesis, section 3.8.2).
NEARLY_FULL = 0.95

# Above this target the simulator measured less than it: see docs/buffer_sizing.md.
LOSE_TOGETHER = 0.85

# Up to this load a link's queue is as good as empty: packets of one size that come at random wait for two others on average
# (M/D/1, Pollaczek-Khinchine: 0.8 / (2 (1 - 0.8)) service times). What more costs is measured in docs/theory.md.
QUIET_LOAD = 0.8

# Of the bandwidth-delay product: the closed loop leaves queueing out of the round trips, so that its rates are at most this much
# too high, and here it meets the normal sum of windows, which takes over. Measured in docs/theory.md.
SHORT_QUEUE = 0.1


# Windows with which `unpaced` was tried, and the highest utilisation.
TRIED_WINDOWS = (15, 90)
TRIED_UTILISATION = 0.9


def is_slow(access_rate_bps: float | None, rate_bps: float, transmitters: int) -> bool:
    """Whether a sender's own link spaces packets out as pacing does: a tenth of a channel and a hundredth of all of them.

    cui-thesis says an order of magnitude (section 3.4), and that is too little where there is but one: claims U-tenth and
    U-hundredth of cui-thesis/unpaced measure it.
    """
    return access_rate_bps is not None and max(10, 100 / transmitters) * access_rate_bps <= rate_bps
