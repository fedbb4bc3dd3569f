"""Mahimahi: nested shells, one for each link on the path of the first flow, with traces of constant rate or the scenario's own.

Options are those of the manual pages mm-link(1), mm-delay(1) and mm-loss(1) (Netravali et al., USENIX ATC 2015).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from tailback._export.common import omit_of_link
from tailback._export.network import Network, Omissions, Port, buffer_of, seconds
from tailback._export.target import Target

__all__ = ["TARGET"]

# Bits of an IP packet of 1500 bytes, which uses an opportunity of mm-link up: 1504 bytes, with a TUN header of 4 bytes (ae477d4;
# the manual says 1500). Packets of other sizes use 4 bytes more than their own.
_OPPORTUNITY = 12_000
_TUN_BYTES = 4

# Part of a rate up to which a difference is not listed.
_NEAR = 1e-3

# Largest IP packet.
_LARGEST = 1500

# Longest period of a constant rate, in milliseconds.
_MAX_PERIOD_MS = 1000

# Longest trace of a rate that changes.
_MAX_LINES = 10_000_000

_USAGE = """\
# Usage: {name} COMMAND...
# Runs the command behind the links; it reaches servers outside at $MAHIMAHI_BASE. Flows send their data on the uplink."""


def written(network: Network, omitted: Omissions) -> str:
    """The script."""
    if not network.flows:
        omitted.add("flows", "there is no flow whose path could be exported")
        return 'exec "$@"\n'
    first = network.flows[0]
    if network.largest_packet() > _LARGEST:
        omitted.add("flows", f"mm-link ends at packets above {_LARGEST} bytes; use a smaller MSS")
    for flow in network.flows:
        size = flow.packet_bytes or _LARGEST
        share = (_LARGEST + _TUN_BYTES) / _LARGEST * size / (size + _TUN_BYTES)
        if share < 1 - _NEAR and not all(_counts_headers(network, name) for name in flow.forward):
            text = f"of packets of {size} bytes, mm-link carries {100 * (1 - share):.2g} % less, because it counts 4 more of each"
            omitted.add(f"flows.{flow.group}", text)
        if (flow.forward[-1], flow.backward[0]) != (first.forward[-1], first.backward[0]) or len(flow.forward) != len(
            first.forward
        ):
            omitted.add(f"flows.{flow.group}", f"only the path of `{first.name}` is exported")
        elif flow.forward != first.forward and _private(network, flow.forward[0]) != _private(network, first.forward[0]):
            omitted.add(f"flows.{flow.group}", f"all flows have the private link of `{first.name}`")
        omitted.add(f"flows.{flow.group}", "Mahimahi has no transfers; the command of the script makes them")
    shells: list[str] = []
    traces: list[str] = []
    # The shell of the first link is the innermost.
    for name in reversed(first.forward):
        uplink = network.ports[name]
        downlink = network.reverse(uplink)
        if downlink is None or downlink.name not in first.backward:
            omitted.add(uplink.at, "data and acknowledgements use different links; those of the data are exported")
        shells += _shells(network, uplink, traces, omitted)
    lines = ["set -eu", "traces=$(mktemp -d)", "trap 'rm -r \"$traces\"' EXIT", *traces]
    return "\n".join([*lines, " \\\n    ".join([*shells, '"$@"']), ""])


def _shells(network: Network, uplink: Port, traces: list[str], omitted: Omissions) -> Iterator[str]:
    """Delay, losses and link, from the outside."""
    back = network.both(uplink, omitted)
    delay = (uplink.delay_s + back.delay_s) / 2
    if uplink.delay_s != back.delay_s:
        omitted.add(uplink.at, "mm-delay has one delay for both directions; the mean is used")
    if abs(delay * 1e3 - round(delay * 1e3)) > 1e-6:
        omitted.add(f"{uplink.at}.delay", f"mm-delay has whole milliseconds; {round(delay * 1e3)} ms is used")
    if round(delay * 1e3):
        yield f"mm-delay {round(delay * 1e3)}"
    for port, word in ((uplink, "uplink"), (back, "downlink")):
        loss = port.settings.get("loss") or {}
        if loss.get("probability"):
            yield f"mm-loss {word} {loss['probability']:g}"
            # The shells of losses are outside those of links.
            if (loss.get("at") == "before_queue") != (word == "downlink"):
                omitted.add(f"{port.at}.loss.at", f"packets are lost {'behind' if word == 'uplink' else 'in front of'} the queue")
        for key in ("jitter", "duplication"):
            if port.settings.get(key):
                omitted.add(f"{port.at}.{key}", "has no counterpart")
        if loss.get("gilbert_elliott"):
            omitted.add(f"{port.at}.loss.gilbert_elliott", "mm-loss loses packets independently only")
        omit_of_link(port, omitted)
        if port.opportunities and not _counts_headers(network, port.name):
            omitted.add(f"{port.at}.rate.accounting", "mm-link has the accounting `mahimahi`")
    if uplink.rate_bps is None:
        return
    number = sum(line.startswith("cat ") for line in traces) // 2
    for port, word in ((uplink, "up"), (back, "down")):
        opportunities = port.opportunities or _varying(network, port, omitted) or _constant(port, omitted)
        listed = "\n".join(str(at) for at, count in opportunities for _ in range(count))
        traces.append(f"cat > \"$traces/{number}.{word}\" <<'END'\n{listed}\nEND")
    queues = [*_queue(uplink, "uplink", omitted), *_queue(back, "downlink", omitted)]
    yield " ".join([f'mm-link "$traces/{number}.up" "$traces/{number}.down"', *queues, "--"])


def _constant(port: Port, omitted: Omissions) -> tuple[tuple[int, int], ...]:
    """Evenly spread opportunities of a constant rate."""
    # Opportunities per millisecond.
    exact = Fraction(round(port.rate_bps or 0), _OPPORTUNITY * 1000)
    near = exact.limit_denominator(_MAX_PERIOD_MS) or Fraction(1, _MAX_PERIOD_MS)
    if abs(near / exact - 1) > Fraction(1, 1000):
        omitted.add(
            f"{port.at}.rate", f"a trace of at most {_MAX_PERIOD_MS} ms has {float(near) * _OPPORTUNITY * 1000:.4g} bit/s"
        )
    period = near.denominator
    counts = [int(near * (at + 1)) - int(near * at) for at in range(period)]
    # The last line is the length of the trace.
    return tuple((at + 1, count) for at, count in enumerate(counts) if count)


def _varying(network: Network, port: Port, omitted: Omissions) -> tuple[tuple[int, int], ...]:
    """Opportunities of a rate that changes, until the end of the run; none if it does not change."""
    states = [(0.0, port), *((change.at_s, change.after) for change in network.changes if change.after.name == port.name)]
    if len(states) == 1:
        return ()
    if any(state.is_down for _, state in states):
        omitted.add(port.at, "while it is down, packets wait instead of being lost")
    ends = [*(at for at, _ in states[1:]), network.duration_s]
    if max(state.rate_bps or 0.0 for _, state in states) * network.duration_s > _MAX_LINES * _OPPORTUNITY:
        omitted.add(f"{port.at}.rate", f"a trace of its changes has more than {_MAX_LINES:,} lines; the first rate is used")
        return ()
    counts: dict[int, int] = {}
    bits = 0.0
    for (begin, state), end in zip(states, ends, strict=True):
        rate = 0.0 if state.is_down or state.is_out else state.rate_bps or 0.0
        first, bits = bits, bits + rate * (end - begin)
        for opportunity in range(int(first / _OPPORTUNITY) + 1, int(bits / _OPPORTUNITY) + 1):
            at = begin + (opportunity * _OPPORTUNITY - first) / rate
            millisecond = max(1, math.ceil(at * 1e3 - 1e-6))
            counts[millisecond] = counts.get(millisecond, 0) + 1
    # The last line is the length of the trace.
    last = round(network.duration_s * 1e3)
    counts[last] = counts.get(last, 0) or 1
    return tuple(sorted(counts.items()))


def _queue(port: Port, word: str, omitted: Omissions) -> Iterator[str]:
    """Arguments of a queue. mm-link counts the packet that waits for its opportunity, and the TUN header of each."""
    queue, size = port.queue, buffer_of(port)
    in_service = 0 if queue.get("counts_in_service") else 1
    policy = str(queue.get("policy", "drop_tail"))
    if queue.get("scheduler") or queue.get("classes"):
        omitted.add(f"{port.at}.queue.scheduler", "mm-link has one queue")
    if queue.get("shaper"):
        omitted.add(f"{port.at}.queue.shaper", "has no counterpart")
    if policy not in ("drop_tail", "codel", "pie"):
        omitted.add(f"{port.at}.queue.policy", f"`{policy}` is not a queue of mm-link; drop-tail is used")
        policy = "drop_tail"
    if policy == "drop_tail" and size is None:
        yield f"--{word}-queue=infinite"
        return
    if policy == "drop_tail" and size and size[1] == "bytes":
        room = math.ceil(size[0] * (1 + _TUN_BYTES / _LARGEST)) + in_service * (_LARGEST + _TUN_BYTES)
        yield f'--{word}-queue=droptail --{word}-queue-args="bytes={room}"'
        return
    packets = (
        10_000_000 if size is None else max(1, round(size[0] / {"packets": 1, "bytes": 1500, "cells": 32}[size[1]])) + in_service
    )
    if policy == "drop_tail":
        yield f'--{word}-queue=droptail --{word}-queue-args="packets={packets}"'
        return
    omitted.add(f"{port.at}.queue.policy", f"mm-link's `{policy}` discards and never marks, and has whole milliseconds")
    target = max(1, round(seconds(queue["target"]) * 1e3))
    if policy == "codel":
        interval = max(1, round(seconds(queue["interval"]) * 1e3))
        yield f'--{word}-queue=codel --{word}-queue-args="packets={packets}, target={target}, interval={interval}"'
    else:
        text = "mm-link's PIE updates every 30 ms, with other gains and no allowance for bursts, so that overload waits longer"
        omitted.add(f"{port.at}.queue.period", text)
        burst = max(1, round(seconds(queue["max_burst"]) * 1e3))
        yield f'--{word}-queue=pie --{word}-queue-args="packets={packets}, qdelay_ref={target}, max_burst={burst}"'


def _counts_headers(network: Network, name: str) -> bool:
    """Whether a link has a trace with the accounting of mm-link, or no rate."""
    port = network.ports[name]
    rate = port.settings.get("rate") or network.ports[name.removesuffix(".reverse")].settings.get("rate")
    return port.rate_bps is None or (isinstance(rate, dict) and rate.get("accounting") != "ip")


def _private(network: Network, name: str) -> tuple[float | None, float]:
    port = network.ports[name]
    return port.rate_bps, port.delay_s


TARGET = Target(
    "mahimahi",
    "a shell script with nested shells of Mahimahi",
    "sh",
    "#",
    _USAGE,
    "#!/bin/bash\n",
    written,
    ("rate", "down"),
)
