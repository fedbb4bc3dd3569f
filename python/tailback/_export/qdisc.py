"""Queues and links as qdiscs of Linux: tc(8), tc-htb(8), tc-netem(8), tc-red(8), tc-pie(8), tc-codel(8), tc-fq_codel(8)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from tailback import _core
from tailback._export.common import kind_of, number, omit_of_link, omit_outage
from tailback._export.network import Network, Omissions, Port, buffer_of, seconds

__all__ = ["BYTES_OF_IP", "UNLIMITED", "changed", "jitter", "netem", "omit_of_turns", "queue_discipline", "rate_class"]

# A limit that is never reached: qdiscs have none that is unlimited.
UNLIMITED = 10_000_000

_PACKET = 1500

# Parts of a target up to which a difference of the kernel is not listed.
_NEAR = 0.25

# Bytes in a bucket that is almost empty.
_EMPTY = 16

# A transmission takes no time: 12 ns for 1500 bytes.
_FAST = "1000gbit"

# The longest tick of usual kernels (CONFIG_HZ of 250).
_JIFFY_S = 4e-3

# Limits of Linux 6.12.
_SFQ_LEAST, _SFQ_DEPTH, _SFQ_FLOWS = 2, 127, 128
_FQ_CODEL_FLOWS, _FQ_CODEL_QUANTUM, _FQ_CODEL_MEMORY = 65536, 256, 32 << 20
_RED_LEAST = 128

# Rates of a scenario count IP packets; without this, qdiscs also count the Ethernet header.
BYTES_OF_IP = "stab overhead -14 linklayer ethernet"


def rate_class(port: Port, packet: int, omitted: Omissions) -> str:
    """A class of htb with the rate of the link and of its shaper; `packet` is the largest.

    Its buckets are almost empty: htb sends a packet while there is anything in them, and charges it afterwards. It takes a packet
    out of the queue when the transmission begins, so that policies see the whole delay. tbf takes it out when the one before it
    leaves, fills its bucket when its rate changes, and then gives a FIFO behind it another limit.
    """
    omit_of_link(port, omitted)
    if port.opportunities:
        omitted.add(f"{port.at}.rate", "a qdisc has a constant rate; the mean of the trace is used")
    rate, shaper = round(port.rate_bps or 0), port.queue.get("shaper")
    long, burst = rate, _EMPTY
    if shaper is not None and number(shaper["rate"]) >= rate:
        omitted.add(f"{port.at}.queue.shaper", "is left out, because its rate is not below that of the link, which limits alone")
    elif shaper is not None:
        long, burst = number(shaper["rate"]), max(number(shaper["burst"]) - packet, _EMPTY)
    return f"htb rate {long}bit burst {burst} ceil {rate}bit cburst {_EMPTY} quantum {packet + 14}"


def omit_of_turns(network: Network, port: Port, omitted: Omissions) -> None:
    """Differences of schedulers that depend on the flows: packets of several sizes in sfq, and short queues in fq_codel."""
    queue = port.queue
    if kind_of(queue.get("scheduler")) == "sfq":
        # Acknowledgements count as a size of their own.
        sizes = {flow.packet_bytes if port.name in flow.forward else 0 for flow in network.flows if port.name in flow.ports}
        if len(sizes) > 1:
            omitted.add(
                f"{port.at}.queue.scheduler", f"the kernel sends about {_PACKET} bytes of a flow in turn, instead of one packet"
            )
    flows = sum(port.name in flow.ports for flow in network.flows)
    if kind_of(queue.get("scheduler")) != "flow_queue" or queue.get("policy") != "codel" or queue.get("classes") or flows < 2:
        return
    if flows * 8 * _PACKET / (port.rate_bps or math.inf) > seconds(queue["target"]) / 2:
        text = "the kernel discards from a queue of one packet while other flows have packets; here, one packet is never too many"
        omitted.add(f"{port.at}.queue.scheduler", text)


def changed(words: str, at: str, omitted: Omissions) -> str | None:
    """The words of an object of tc that change an existing one; None if the kernel cannot change it."""
    if ": sfq " in words:
        omitted.add(f"{at}.queue.buffer", "the kernel cannot change sfq, which keeps its first buffer")
        return None
    if ": red " in words:
        omitted.add(f"{at}.queue.buffer", "a change empties the queue of the kernel's red, and its average begins at 0")
    # The kernel rejects a change with a number of queues, even with the same one.
    return re.sub(r"(: fq_codel limit \d+) flows \d+", r"\1", words)


def queue_discipline(port: Port, packet: int, omitted: Omissions) -> str:
    """The qdisc of the queue: its policy, scheduler and buffer; `packet` is the largest."""
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
        return _fq_codel(port, scheduler, packet, omitted)
    elif kind == "sfq" and policy == "drop_tail":
        return _sfq(port, omitted)
    if kind not in ("", "fifo"):
        omitted.add(f"{at}.scheduler", f"`{kind}` with `{policy}` is not exported; one queue is used")
    if policy == "pie":
        return _pie(port, packet, omitted)
    known = {"codel": _codel, "red": _red}
    if policy in known:
        return known[policy](port, omitted)
    if policy != "drop_tail":
        omitted.add(f"{at}.policy", f"`{policy}` is not a qdisc; drop-tail is used")
    size = buffer_of(port)
    if size is None:
        return f"pfifo limit {UNLIMITED}"
    return f"bfifo limit {round(size[0])}" if size[1] == "bytes" else f"pfifo limit {_packets(port, omitted)}"


def jitter(port: Port, omitted: Omissions) -> str | None:
    """A netem of the jitter alone, behind that of the wire; None without jitter.

    netem reorders packets unless it has a rate; a FIFO behind it changes nothing since Linux 3.3. With the rate of the link, it
    would transmit packets that the jitter has bunched a second time, and move them apart.
    """
    given = port.settings.get("jitter")
    if not given:
        return None
    added, words = given["delay"], f"netem limit {UNLIMITED}"
    if isinstance(added, str):
        words += f" delay {_us(seconds(added))}"
    elif "uniform" in added:
        low, high = map(seconds, added["uniform"])
        words += f" delay {_us((low + high) / 2)} {_us((high - low) / 2)}"
    elif "normal" in added:
        normal = added["normal"]
        words += f" delay {_us(seconds(normal['mean']))} {_us(seconds(normal['deviation']))} distribution normal"
    else:
        omitted.add(f"{port.at}.jitter", "netem has no exponential delay; the mean is used")
        words += f" delay {_us(seconds(added['exponential']))}"
    return words if given["reordering"] else f"{words} rate {_FAST}"


def netem(port: Port, omitted: Omissions) -> str:
    """Transmission, delay and impairments of the wire, without jitter."""
    words = [f"limit {UNLIMITED}"]
    if port.delay_s:
        words.append(f"delay {_us(port.delay_s)}")
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
    if port.settings.get("duplication") and port.settings.get("jitter"):
        omitted.add(
            f"{port.at}.duplication", "is left out: the kernel rejects netem's copies with a second netem, which has the jitter"
        )
    # Copies would survive an outage.
    elif port.settings.get("duplication") and not port.is_out:
        words.append(f"duplicate {_share(port.settings['duplication'])}")
    if port.rate_bps is not None:
        words.append(f"rate {round(port.rate_bps)}bit -14")
    return "netem " + " ".join(words)


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


def _sfq(port: Port, omitted: Omissions) -> str:
    """tc-sfq(8). Linux has at most 128 flows of 127 packets (`SFQ_DEFAULT_FLOWS`, `SFQ_MAX_DEPTH`)."""
    wanted = _packets(port, omitted)
    packets = min(max(wanted, _SFQ_LEAST), _SFQ_FLOWS * _SFQ_DEPTH)
    if packets != wanted:
        omitted.add(f"{port.at}.queue.buffer", f"sfq has {_SFQ_LEAST} to {_SFQ_FLOWS * _SFQ_DEPTH} packets; {packets} are used")
    if packets > _SFQ_DEPTH:
        omitted.add(f"{port.at}.queue.buffer", f"sfq holds at most {_SFQ_DEPTH} packets of a flow")
    # Room is made at the head of a queue, and each sends one packet in turn (`schedule/sfq.rs`).
    return f"sfq limit {packets} quantum {_PACKET} headdrop"


def _codel(port: Port, omitted: Omissions) -> str:
    return f"codel limit {_packets(port, omitted)} {_codel_times(port)} ecn"


def _fq_codel(port: Port, scheduler: Mapping[str, Any], packet: int, omitted: Omissions) -> str:
    at, flows = f"{port.at}.queue.scheduler", scheduler.get("queues")
    if flows is None or flows > _FQ_CODEL_FLOWS:
        omitted.add(at, f"flows share {_FQ_CODEL_FLOWS} queues by a hash" + ("" if flows else " instead of having one each"))
    quantum = number(scheduler.get("quantum", "1514 B"))
    if quantum < _FQ_CODEL_QUANTUM:
        omitted.add(f"{at}.quantum", f"the kernel has at least {_FQ_CODEL_QUANTUM} bytes, which are used")
    packets = _packets(port, omitted)
    words = f"flows {min(flows or _FQ_CODEL_FLOWS, _FQ_CODEL_FLOWS)} quantum {max(quantum, _FQ_CODEL_QUANTUM)}"
    # Its default of 32 MB ends longer queues: a packet of 1500 bytes takes some 2300 bytes of memory.
    room = packets * max(4096, 3 * packet)
    memory = f" memory_limit {min(room, 2**32 - 1)}" if room > _FQ_CODEL_MEMORY else ""
    return f"fq_codel limit {packets} {words} {_codel_times(port)}{memory} ecn"


def _codel_times(port: Port) -> str:
    return f"target {_us(seconds(port.queue['target']))} interval {_us(seconds(port.queue['interval']))}"


def _pie(port: Port, packet: int, omitted: Omissions) -> str:
    queue = port.queue
    text = "the kernel spaces its discards and marks (RFC 8033, section 5.4) and measures the delay of packets that leave"
    omitted.add(f"{port.at}.queue.policy", f"{text}: the queue is longer")
    for key, usual in (("max_burst", "150 ms"), ("max_mark_probability", 0.1)):
        if queue[key] != usual:
            omitted.add(f"{port.at}.queue.{key}", "the kernel's value is fixed")
    # A queue of less than two packets of this size is never signalled.
    excess = 2 * abs(packet + 14 - number(queue["mean_packet_size"])) * 8 / (port.rate_bps or math.inf)
    if excess > _NEAR * seconds(queue["target"]):
        omitted.add(f"{port.at}.queue.mean_packet_size", f"the kernel's value is fixed: {packet + 14} bytes, the MTU and 14")
    period = seconds(queue["period"])
    if math.ceil(period / _JIFFY_S - 1e-9) * _JIFFY_S > (1 + _NEAR) * period:
        omitted.add(f"{port.at}.queue.period", "the kernel rounds it up to ticks of its timer, often 4 ms")
    times = f"target {_us(seconds(queue['target']))} tupdate {_us(seconds(queue['period']))}"
    return f"pie limit {_packets(port, omitted)} {times} ecn"


def _red(port: Port, omitted: Omissions) -> str:
    queue, at = port.queue, f"{port.at}.queue"
    packet = number(queue["mean_packet_size"])
    # Data packets are full; with the smaller default of `mean_packet_size`, thresholds in packets would be too low.
    counted = packet if queue["queue_unit"] == "bytes" else _PACKET
    room = buffer_of(port)
    limit = UNLIMITED * counted if room is None else room[0] * (1 if room[1] == "bytes" else counted)

    def length(key: str) -> int:
        size, unit = _core.in_column_units(queue[key]) or (0.0, "bytes")
        return round(limit * size / 100 if unit == "percent" else size * (1 if unit == "bytes" else counted))

    low, high = length("min_threshold"), length("max_threshold")
    if queue["queue_unit"] != "bytes":
        omitted.add(f"{at}.queue_unit", f"the kernel averages bytes; a packet counts as {counted} bytes")
    elif packet != _PACKET:
        text = f"in the kernel, {_PACKET} bytes have the probability of {packet} bytes, and not {_PACKET / packet:.3g} times it"
        omitted.add(f"{at}.mean_packet_size", text)
    if queue["gentle"]:
        marks = "marks all ECT packets and discards all others" if queue["signals"] == "marks" else "discards all packets"
        omitted.add(f"{at}.gentle", f"above `max_threshold` the kernel {marks}")
    # tc replaces a minimum of 0 by a third of the maximum, and finds no weight for a minimum that is not above the mean size.
    low = max(low, _RED_LEAST)
    if packet >= low:
        packet = low // 2
        omitted.add(f"{at}.mean_packet_size", f"{packet} bytes are used, because tc requires less than the minimum")
    # tc computes with 31 bits (`tc_red_eval_P`).
    if high - low >= (span := int(queue["max_probability"] * (2**31 - 1))):
        high = low + span
        omitted.add(f"{at}.max_threshold", f"{high} bytes are used: tc computes no probability for a larger range")
    burst, weight = _red_burst(float(queue["weight"]), low, high, packet)
    if not math.isclose(weight, queue["weight"], rel_tol=0.01):
        omitted.add(f"{at}.weight", f"the kernel has powers of two; {weight:g} is used")
    signals = " ecn" if queue["signals"] == "marks" else ""
    if port.rate_bps != port.buffer_bps:
        text = f"while the queue is empty, the average falls as at {round(port.buffer_bps)} bit/s, because a change empties red"
        omitted.add(f"{at}.weight", text)
    return (
        f"red limit {round(limit)} min {low} max {high} avpkt {packet} burst {burst} "
        f"bandwidth {round(port.buffer_bps)}bit probability {queue['max_probability']:g}{signals}"
    )


def _red_burst(weight: float, low: int, high: int, packet: int) -> tuple[int, float]:
    """The `burst` for which tc(8) computes the power of two nearest to a weight, and this weight.

    tc takes the first W = 2^-n with burst + 1 - min/avpkt <= (1 - (1 - W)^burst) / W (Floyd and Jacobson 1993, section 6).
    """
    # The kernel refuses others: its average has 32 bits (`red_check_params`).
    wanted = min(max(1, round(-math.log2(weight))), 31 - high.bit_length())

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
        return UNLIMITED
    if size[1] == "packets":
        return max(1, round(size[0]))
    per_packet = _PACKET if size[1] == "bytes" else 32
    omitted.add(f"{port.at}.queue.buffer", f"the qdisc counts packets; a packet stands for {per_packet} {size[1]}")
    return max(1, round(size[0] / per_packet))


def _us(time_s: float) -> str:
    return f"{time_s * 1e6:.9g}us"


def _share(chance: float) -> str:
    return f"{100 * chance:.9g}%"
