"""The document's networks, and the axes of its experiments."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tailback as tb
from tailback.papers import AxisValue
from tailback_papers.spd_1998.published import Schemes

__all__ = [
    "AGAIN",
    "DESCRIBED",
    "DROPPING_THRESHOLD",
    "FAST_RETRANSMIT",
    "LONG",
    "NO_EPD",
    "SHORT",
    "THREE",
    "TIMER_ONLY",
    "chain",
    "epd",
    "epd_per_vc",
    "packet",
    "schemes",
    "spd",
    "split",
]

# Cells; section 4.1.5. The document calls the second "single packet discard threshold".
BUFFER = 1000
CONGESTION_THRESHOLD = 200
DROPPING_THRESHOLD = 20
# EPD off: the factor K is one.
NO_EPD = BUFFER

_HOST_LINK = {"rate": "155 Mbps", "delay": "50 ns"}

# Common to all connections: section 4.1.
CONNECTION: dict[str, Any] = {
    "from": "switch1",
    "framing": {"segmentation_delay": "300 ns", "reassembly_delay": "300 ns"},
    "sender_access": _HOST_LINK,
    "receiver_access": _HOST_LINK,
    "send_processing": "300 us",
    "receive_processing": "300 us",
    "start": {"uniform": ["0 ms", "50 ms"]},
    "tcp": {"preset": "spd-1998/tahoe", "receiver_window": "64 KiB"},
}


def chain(vcs: int, buffer: int = BUFFER) -> tb.Scenario:
    """Figure 4.1: peer-to-peer connections through three switches; the second has the narrow link."""
    return tb.Scenario(
        {
            "name": f"spd-1998, {vcs} connections through three switches",
            "duration": "1.7 s",
            "nodes": {"switch1": {}, "switch2": {}, "switch3": {}},
            "links": {
                "link12": _link("switch1", "switch2", "155 Mbps", buffer),
                "link23": _link("switch2", "switch3", "10 Mbps", buffer),
            },
            "flows": {"vc": {**CONNECTION, "to": "switch3", "count": vcs}},
        }
    )


def split() -> tb.Scenario:
    """Figure 5.15: twenty connections, ten limited by a narrow link and ten by the shared link."""
    group = {**CONNECTION, "count": 10}
    return tb.Scenario(
        {
            "name": "spd-1998, two ways",
            "duration": "1.7 s",
            "nodes": {"switch1": {}, "switch2": {}, "switch3": {}, "switch4": {}},
            "links": {
                "link12": _link("switch1", "switch2", "80 Mbps", 5000),
                "link23": _link("switch2", "switch3", "10 Mbps", 5000),
                "link24": _link("switch2", "switch4", "1 Gbps", 5000),
            },
            "flows": {"narrow": {**group, "to": "switch3"}, "wide": {**group, "to": "switch4"}},
        }
    )


def _link(begin: str, end: str, rate: str, buffer: int) -> dict[str, Any]:
    return {"from": begin, "to": end, "rate": rate, "delay": "3 ms", "queue": {"buffer": f"{buffer} cells"}}


# Switches are identical (section 4.1.5): one policy for all.
_QUEUE = "links.*.queue"


def epd(thresholds: Iterable[int], **labels: Any) -> list[AxisValue]:
    """EPD at each threshold, in cells."""
    return [
        AxisValue(
            {"policy": "EPD", "threshold": each, **labels}, {f"{_QUEUE}.policy": "epd", f"{_QUEUE}.threshold": f"{each} cells"}
        )
        for each in thresholds
    ]


def epd_per_vc(thresholds: Iterable[int], **labels: Any) -> list[AxisValue]:
    """EPD that accepts packets only from connections below their share of the threshold."""
    return [
        AxisValue(
            {"policy": "EPD per VC", "threshold": each, **labels},
            {f"{_QUEUE}.policy": "epd_per_vc", f"{_QUEUE}.threshold": f"{each} cells"},
        )
        for each in thresholds
    ]


def spd(
    thresholds: Iterable[int],
    *,
    dropping: int = DROPPING_THRESHOLD,
    congestion: int = CONGESTION_THRESHOLD,
    reading: str = "corrected",
    **labels: Any,
) -> list[AxisValue]:
    """SPD combined with EPD at each threshold, in cells."""
    return [
        AxisValue(
            {"policy": "SPD", "threshold": each, **labels},
            {
                f"{_QUEUE}.policy": "spd",
                f"{_QUEUE}.dropping_threshold": f"{dropping} cells",
                f"{_QUEUE}.congestion_threshold": f"{congestion} cells",
                f"{_QUEUE}.epd_threshold": f"{each} cells",
                f"{_QUEUE}.variant": reading,
            },
        )
        for each in thresholds
    ]


THREE = ("EPD", "SPD", "EPD per VC")


def schemes(table: Schemes, *, dropping: int = DROPPING_THRESHOLD, congestion: int = CONGESTION_THRESHOLD) -> list[AxisValue]:
    """The schemes of a table at its thresholds, each point with its printed number."""
    values = []
    for policy, printed in table.ratios.items():
        for threshold, number in zip(table.thresholds, printed, strict=True):
            if policy == "SPD":
                values += spd([threshold], printed=number, dropping=dropping, congestion=congestion)
            else:
                values += (epd if policy == "EPD" else epd_per_vc)([threshold], printed=number)
    return values


# Short and long runs see different networks: short ones cover only the start-up.
SHORT = AxisValue({"setting": "SHORT"}, {"duration": "1.7 s"})
FAST_RETRANSMIT = {"flows.*.tcp.fast_retransmit": 3}
LONG = AxisValue({"setting": "LONG"}, {"duration": "10 s", **FAST_RETRANSMIT, "flows.*.tcp.timer": {"form": "coarse_bsd"}})
AGAIN = AxisValue({"setting": "SHORT, fast retransmit"}, {**SHORT.changes, **FAST_RETRANSMIT})
# As LONG, but losses are detected by the timer only, as in SHORT.
TIMER_ONLY = AxisValue({"setting": "LONG, timer only"}, {"duration": "10 s"})


def packet(cells: int) -> dict[str, str | int]:
    """Changes that set the cells per packet: 20, 22 or 23."""
    return {"flows.*.tcp.mss": {20: "912 B", 22: "984 B", 23: "1024 B"}[cells], "flows.*.tcp.receiver_window": 64}


DESCRIBED = {
    "settings": "SHORT: 1.7 s, losses are detected by the timer only (tick 0.5 s, NS form). LONG: 10 s, fast retransmit, tick "
    "0.5 s (BSD form). A run of 1.7 s consists of the first slow start, its losses, and the 0.15 s after the timers have expired"
}
