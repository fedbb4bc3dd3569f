"""The document's networks, and the axes of its experiments."""

from __future__ import annotations

from collections.abc import Iterable

import tailback as tb
from tailback.papers import AxisValue, axis

__all__ = [
    "ACTIVITY",
    "CONNECTION",
    "EPD_THRESHOLDS",
    "GAPS",
    "LOWER_THRESHOLDS",
    "NORMALISED",
    "PLAIN",
    "PPD",
    "TICKS",
    "bottleneck",
    "bpd",
    "epd",
    "mixed",
    "ticks",
    "topology_a",
    "topology_b",
]

# Fractions of the buffer, as in the document's plots.
EPD_THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
LOWER_THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
UPPER_THRESHOLD = 0.9
# Packets; figure 12.
GAPS = (5, 10, 15, 20, 25, 35)
# Seconds.
TICKS = (0.1, 0.3, 0.5)

# Common to all connections: an ATM frame of 12 cells per packet (section 3), without the 8 octets that AAL5 would add.
CONNECTION = {
    "from": "switch",
    "to": "destination",
    "framing": {"trailer": "0 B"},
    "start": {"uniform": ["0 ms", "50 ms"]},
    "jitter": "20 us",
}


def topology_a(access: str = "75.0015 Mbps") -> tb.Scenario:
    """Figure 5, left: ten sources, each with an access link faster than the shared link by 20 parts in a million."""
    return _switch("topology A", 10, access)


def topology_b() -> tb.Scenario:
    """Figure 5, right: five sources with twice the rate of the shared link in total."""
    return _switch("topology B", 5, "30 Mbps")


def _switch(name: str, sources: int, access: str) -> tb.Scenario:
    return tb.Scenario(
        {
            "name": f"bpd-2001, {name}",
            "duration": "10 s",
            "nodes": {"switch": {}, "destination": {"kind": "host"}},
            "links": {"bottleneck": bottleneck("1200 cells")},
            "flows": {
                "source": {
                    **CONNECTION,
                    "count": sources,
                    "sender_access": {"rate": access, "delay": "0.3 ms"},
                    "tcp": {"preset": "bpd-2001/reno", "timer": {"tick": "0.1 s"}},
                }
            },
        }
    )


def mixed() -> tb.Scenario:
    """Figure 21: two connections, the first optionally with SACK, and a small buffer."""
    access = {"sender_access": {"rate": "45 Mbps", "delay": "0.3 ms"}}
    tcp = {"preset": "bpd-2001/reno", "timer": {"tick": "0.1 s"}}
    return tb.Scenario(
        {
            "name": "bpd-2001, two connections",
            "duration": "15 s",
            "nodes": {"switch": {}, "destination": {"kind": "host"}},
            "links": {"bottleneck": bottleneck("400 cells")},
            "flows": {name: {**CONNECTION, **access, "tcp": tcp} for name in ("first", "second")},
        }
    )


def bottleneck(buffer: str) -> dict[str, object]:
    """The shared link, behind the switch's buffer."""
    queue = {"policy": "drop_tail", "buffer": buffer}
    return {"from": "switch", "to": "destination", "rate": "75 Mbps", "delay": "0.3 ms", "queue": queue}


_QUEUE = "links.bottleneck.queue"

PLAIN = (AxisValue({"policy": "plain"}),)
PPD = (AxisValue({"policy": "PPD"}, {f"{_QUEUE}.policy": "ppd"}),)


def epd(thresholds: Iterable[float] = EPD_THRESHOLDS) -> list[AxisValue]:
    """EPD at each threshold, as a fraction of the buffer."""
    return [
        AxisValue({"policy": "EPD", "threshold": each}, {f"{_QUEUE}.policy": "epd", f"{_QUEUE}.threshold": _percent(each)})
        for each in thresholds
    ]


def bpd(
    lower: Iterable[float] = LOWER_THRESHOLDS, gaps: Iterable[int] = (25,), *, upper: float = UPPER_THRESHOLD
) -> list[AxisValue]:
    """BPD at each lower threshold and with each recovery period."""
    return [
        AxisValue(
            {"policy": "BPD", "gap": gap, "threshold": each},
            {
                f"{_QUEUE}.policy": "bpd",
                f"{_QUEUE}.lower_threshold": _percent(each),
                f"{_QUEUE}.upper_threshold": _percent(upper),
                f"{_QUEUE}.gap": gap,
            },
        )
        for gap in gaps
        for each in lower
    ]


def ticks(*seconds: float) -> list[AxisValue]:
    """Timers with each granularity, in seconds per tick; the minimum timeout is two ticks."""
    return axis("tick", seconds, "flows.*.tcp.timer.tick", "s")


def _percent(fraction: float) -> str:
    return f"{100 * fraction:g} %"


NORMALISED = {
    "reference value of goodput": "the capacity of the link: segments delivered once, 12 cells each, divided by the rate. "
    "Payload divided by the raw rate could reach 0.843 at most, and 0.932 is printed"
}
ACTIVITY = {
    "when a connection is active": "whenever it is not waiting for a timeout, which lasts from its last transmission until the "
    "timer expires"
}
