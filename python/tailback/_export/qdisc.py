"""Queues and links as qdiscs of Linux: tc(8), tc-tbf(8), tc-netem(8), tc-red(8), tc-pie(8), tc-codel(8), tc-fq_codel(8)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from tailback import _core
from tailback._export.common import kind_of, number, omit_of_link, omit_outage
from tailback._export.network import Omissions, Port, buffer_of, seconds

__all__ = ["netem", "queue_discipline", "rate_limiter"]

# A limit that is never reached: qdiscs have none that is unlimited.
_UNLIMITED = 10_000_000

_PACKET = 1500

# Rates of a scenario count IP packets; without this, qdiscs also count the Ethernet header.
_IP_BYTES = "stab overhead -14 linklayer ethernet"


def rate_limiter(port: Port, omitted: Omissions) -> str:
    """A token bucket with the rate of the link, or of its shaper; the queue behind it is another qdisc."""
    omit_of_link(port, omitted)
    if port.opportunities:
        omitted.add(f"{port.at}.rate", "a qdisc has a constant rate; the mean of the trace is used")
    rate = round(port.rate_bps or 0)
    # One packet with its Ethernet header, or 1 ms: the kernel sends once per timer.
    burst, shaper = max(_PACKET + 14, rate // 8000), port.queue.get("shaper")
    limit = f"limit {2 * burst}"
    if shaper is None:
        return f"{_IP_BYTES} tbf rate {rate}bit burst {burst} {limit}"
    long, size = number(shaper["rate"]), number(shaper["burst"])
    return f"{_IP_BYTES} tbf rate {long}bit burst {max(size, _PACKET + 14)} peakrate {rate}bit mtu {_PACKET + 14} {limit}"


def queue_discipline(port: Port, omitted: Omissions) -> str:
    """The qdisc of the queue: its policy, scheduler and buffer."""
    queue, at = port.queue, f"{port.at}.queue"
    scheduler = queue.get("scheduler")
    kind = kind_of(scheduler)
    policy = str(queue.get("policy", "drop_tail"))
    if queue.get("counts_in_service"):
        omitted.add(f"{at}.counts_in_service", "the packet in transmission has left the qdisc")
    if queue.get("classes"):
        omitted.add(f"{at}.classes", "classes are not exported")
    elif kind == "dualpi2" and isinstance(scheduler, Mapping):
        return _dualpi2(port, scheduler, omitted)
    elif kind == "flow_queue" and policy == "codel" and isinstance(scheduler, Mapping):
        return _fq_codel(port, scheduler, omitted)
    elif kind == "sfq" and policy == "drop_tail":
        return f"sfq limit {_packets(port, omitted)}"
    if kind not in ("", "fifo"):
        omitted.add(f"{at}.scheduler", f"`{kind}` with `{policy}` is not exported; one queue is used")
    known = {"codel": _codel, "red": _red, "pie": _pie}
    if policy in known:
        return known[policy](port, omitted)
    if policy != "drop_tail":
        omitted.add(f"{at}.policy", f"`{policy}` is not a qdisc; drop-tail is used")
    size = buffer_of(port)
    if size is None:
        return f"pfifo limit {_UNLIMITED}"
    return f"bfifo limit {round(size[0])}" if size[1] == "bytes" else f"pfifo limit {_packets(port, omitted)}"


def netem(port: Port, omitted: Omissions) -> tuple[str, bool]:
    """Delay and impairments of the wire, and whether a FIFO must keep the order of packets."""
    words, in_order = [f"limit {_UNLIMITED}"], False
    delay, spread = port.delay_s, ""
    jitter = port.settings.get("jitter")
    if jitter:
        added, in_order = jitter["delay"], not jitter["reordering"]
        if isinstance(added, str):
            delay += seconds(added)
        elif "uniform" in added:
            low, high = map(seconds, added["uniform"])
            delay, spread = delay + (low + high) / 2, f" {_us((high - low) / 2)}"
        elif "normal" in added:
            delay, spread = (
                delay + seconds(added["normal"]["mean"]),
                f" {_us(seconds(added['normal']['deviation']))} distribution normal",
            )
        else:
            omitted.add(f"{port.at}.jitter", "netem has no exponential delay; the mean is used")
            delay += seconds(added["exponential"])
    if delay or spread:
        words.append(f"delay {_us(delay)}{spread}")
    loss = port.settings.get("loss") or {}
    if loss.get("at") == "before_queue":
        omitted.add(f"{port.at}.loss.at", "packets are lost behind the queue")
    burst, single = loss.get("gilbert_elliott"), loss.get("probability", 0)
    if port.is_out:
        omit_outage(port, omitted)
        burst, single = None, 1
    if burst:
        chances = (burst["p"], burst["r"], burst["loss_in_bad"], burst["loss_in_good"])
        words.append("loss gemodel " + " ".join(_share(chance) for chance in chances))
    if burst and single:
        omitted.add(f"{port.at}.loss.probability", "netem has one kind of loss, and loses in bursts")
    elif single:
        words.append(f"loss {_share(single)}")
    if port.settings.get("duplication"):
        words.append(f"duplicate {_share(port.settings['duplication'])}")
    return "netem " + " ".join(words), in_order


def _dualpi2(port: Port, scheduler: Mapping[str, Any], omitted: Omissions) -> str:
    """tc-dualpi2(8), of Linux 6.17 and iproute2 of that time. The kernel marks L4S packets from a step on, not by a ramp."""
    at = f"{port.at}.queue.scheduler"
    step = seconds(scheduler["l4s_min_threshold"]) + seconds(scheduler["l4s_range"]) / 2
    if seconds(scheduler["l4s_range"]):
        omitted.add(f"{at}.l4s_range", "the kernel marks every packet from a step on, here at the middle of the ramp")
    if scheduler["service"] != "weighted_round_robin":
        omitted.add(f"{at}.service", "the kernel has weighted round robin")
    coupling, protection = scheduler["coupling"], 100 * scheduler["classic_share"]
    if coupling != round(coupling):
        omitted.add(f"{at}.coupling", "the kernel has whole numbers")
    if protection != round(protection):
        omitted.add(f"{at}.classic_share", "the kernel has whole percent")
    return (
        f"dualpi2 limit {_packets(port, omitted)} coupling_factor {round(coupling)} step_thresh {_us(step)} "
        f"classic_protection {round(protection)}% target {_us(seconds(scheduler['target']))} "
        f"tupdate {_us(seconds(scheduler['period']))} alpha {scheduler['alpha']:g} beta {scheduler['beta']:g}"
    )


def _codel(port: Port, omitted: Omissions) -> str:
    return f"codel limit {_packets(port, omitted)} {_codel_times(port)} ecn"


def _fq_codel(port: Port, scheduler: Mapping[str, Any], omitted: Omissions) -> str:
    flows = scheduler.get("queues")
    if flows is None:
        omitted.add(f"{port.at}.queue.scheduler", "flows share 65536 queues by a hash instead of having one each")
    words = f"flows {flows or 65536} quantum {number(scheduler.get('quantum', '1514 B'))}"
    return f"fq_codel limit {_packets(port, omitted)} {words} {_codel_times(port)} ecn"


def _codel_times(port: Port) -> str:
    return f"target {_us(seconds(port.queue['target']))} interval {_us(seconds(port.queue['interval']))}"


def _pie(port: Port, omitted: Omissions) -> str:
    queue = port.queue
    for key, usual in (("max_burst", "150 ms"), ("max_mark_probability", 0.1), ("mean_packet_size", "1 kB")):
        if queue[key] != usual:
            omitted.add(f"{port.at}.queue.{key}", "the kernel's value is fixed")
    times = f"target {_us(seconds(queue['target']))} tupdate {_us(seconds(queue['period']))}"
    return f"pie limit {_packets(port, omitted)} {times} ecn"


def _red(port: Port, omitted: Omissions) -> str:
    queue, at = port.queue, f"{port.at}.queue"
    packet = number(queue["mean_packet_size"])
    room = buffer_of(port)
    limit = _UNLIMITED * packet if room is None else room[0] * (1 if room[1] == "bytes" else packet)

    def length(key: str) -> int:
        size, unit = _core.in_column_units(queue[key]) or (0.0, "bytes")
        return round(limit * size / 100 if unit == "percent" else size * (1 if unit == "bytes" else packet))

    low, high = length("min_threshold"), length("max_threshold")
    if queue["queue_unit"] != "bytes":
        omitted.add(f"{at}.queue_unit", f"the kernel averages bytes; a packet counts as `mean_packet_size`, {packet} bytes")
    if queue["gentle"]:
        omitted.add(f"{at}.gentle", "the kernel discards all packets above `max_threshold`")
    burst, weight = _red_burst(float(queue["weight"]), low, high, packet)
    if not math.isclose(weight, queue["weight"], rel_tol=0.01):
        omitted.add(f"{at}.weight", f"the kernel has powers of two; {weight:g} is used")
    signals = " ecn" if queue["signals"] == "marks" else ""
    return (
        f"red limit {round(limit)} min {low} max {high} avpkt {packet} burst {burst} "
        f"bandwidth {round(port.rate_bps or 0)}bit probability {queue['max_probability']:g}{signals}"
    )


def _red_burst(weight: float, low: int, high: int, packet: int) -> tuple[int, float]:
    """The `burst` for which tc(8) computes the power of two nearest to a weight, and this weight.

    tc takes the first W = 2^-n with burst + 1 - min/avpkt <= (1 - (1 - W)^burst) / W (Floyd and Jacobson 1993, section 6).
    """
    wanted = max(1, round(-math.log2(weight)))

    def chosen(burst: int) -> int | None:
        room = burst + 1 - low / packet
        powers = range(1, 32)
        return next((n for n in powers if room <= (1 - (1 - 2.0**-n) ** burst) * 2.0**n), None) if room >= 1 else None

    least = math.ceil(low / packet) + 1
    candidates = [(burst, n) for burst in range(least, least + 4000) if (n := chosen(burst)) is not None]
    if not candidates:
        return max(1, (2 * low + high) // (3 * packet)), weight
    burst, power = min(candidates, key=lambda pair: (abs(pair[1] - wanted), pair[0]))
    return burst, 2.0**-power


def _packets(port: Port, omitted: Omissions) -> int:
    """The buffer in packets, as most qdiscs have it."""
    size = buffer_of(port)
    if size is None:
        return _UNLIMITED
    if size[1] == "packets":
        return max(1, round(size[0]))
    per_packet = _PACKET if size[1] == "bytes" else 32
    omitted.add(f"{port.at}.queue.buffer", f"the qdisc counts packets; a packet stands for {per_packet} {size[1]}")
    return max(1, round(size[0] / per_packet))


def _us(time_s: float) -> str:
    return f"{time_s * 1e6:.9g}us"


def _share(chance: float) -> str:
    return f"{100 * chance:.9g}%"
