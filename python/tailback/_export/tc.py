"""Linux network namespaces with tc: every node is a namespace, every queue a qdisc, and every flow an iperf3 transfer.

The queue of a link is at the sending node, below a class of htb that takes a packet out when its transmission begins.
Transmission, delay and losses come behind the queue, in netem at a bridge between the nodes: netem in front of the queue would
delay packets before the policy sees them, and count them as queued.

In front of htb, a netem of 1 us takes packets away from their sockets. Otherwise TCP Small Queues counts the queue
of a sender's own interface, and stops each flow at about two packets (`tcp_limit_output_bytes`). With it, the queue is that of a
router. The queue of an interface that the scenario does not describe remains one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tailback._export.classes import class_commands, port_of_flow
from tailback._export.common import iperf3_options
from tailback._export.network import Network, Omissions, Port, host_routes
from tailback._export.qdisc import BYTES_OF_IP, UNLIMITED, changed, jitter, netem, omit_of_turns, queue_discipline, rate_class
from tailback._export.target import Target

__all__ = ["TARGET"]

# Addresses of links are 10.0.0.0/9, those of nodes 10.128.0.0/9.
_MAX_LINKS = 2**21

# Bytes of UDP and IP around a payload: qdiscs count IP packets, see `BYTES_OF_IP` in qdisc.py.
_HEADERS = 28

# Above, late timers cost more than one percent: 0.4 us per packet. Measured in Linux 6.12.
_PRECISE_BPS = 300e6

_USAGE = """\
# Usage, as root: {name} up; {name} run; {name} down
# Namespaces have the prefix $PREFIX, by default `tb-`. `run` needs iperf3 and prints one JSON document per flow."""

_FUNCTIONS = """\
set -eu
PREFIX=${PREFIX:-tb-}
WIRES=${PREFIX}BRIDGES
# No buffer of a socket limits the windows, also at the beginning: a small receive buffer would hold up slow start.
BUFFER=67108864

node() {  # name, address
    ip netns add "$PREFIX$1"
    ip -n "$PREFIX$1" link set lo up
    ip -n "$PREFIX$1" addr add "$2/32" dev lo
    ip netns exec "$PREFIX$1" sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0 \\
        net.ipv4.tcp_no_metrics_save=1 "net.ipv4.tcp_rmem=4096 6291456 $BUFFER" "net.ipv4.tcp_wmem=4096 4194304 $BUFFER"
}

wire() {  # number, node at each end, address at each end
    local end near far
    ip -n "$WIRES" link add "b$1" type bridge
    ip -n "$WIRES" link set "b$1" up
    for end in "a $2 $4 1 $5 2" "z $3 $5 2 $4 1"; do
        set -- "$1" $end
        # Neighbours are known: the first packet would wait for an answer of ARP, which takes a round trip.
        printf -v near 02:%02x:%02x:%02x:00:0%d $(($1 >> 16)) $(($1 >> 8 & 255)) $(($1 & 255)) "$5"
        printf -v far 02:%02x:%02x:%02x:00:0%d $(($1 >> 16)) $(($1 >> 8 & 255)) $(($1 & 255)) "$7"
        ip -n "$WIRES" link add "w$1$2" mtu MTU type veth peer name "l$1$2" mtu MTU address "$near" netns "$PREFIX$3"
        ip -n "$PREFIX$3" link set "l$1$2" gso_max_segs 1 up
        ip -n "$WIRES" link set "w$1$2" gso_max_segs 1 master "b$1" up
        ip -n "$PREFIX$3" addr add "$4/30" dev "l$1$2"
        ip -n "$PREFIX$3" neigh add "$6" lladdr "$far" dev "l$1$2" nud permanent
    done
}"""

_WAIT = """\
    # A change or a transfer that fails is the exit code.
    local job code=0
    for job in $(jobs -p); do wait "$job" || code=$?; done
    return "$code\""""

_CLOCK = """\
at() {  # microseconds
    local left=$((BEGAN + $1 - ${EPOCHREALTIME//[.,]/}))
    if [ "$left" -gt 0 ]; then sleep "$((left / 1000000)).$(printf %06d $((left % 1000000)))"; fi
}
"""


def written(network: Network, omitted: Omissions) -> str:
    """The script."""
    numbers = {port.name: number for number, (port, _) in enumerate(network.links())}
    if len(numbers) > _MAX_LINKS:
        omitted.add("links", f"only the first {_MAX_LINKS:,} links have addresses")
    addresses = {node: _address(10 << 24 | 1 << 23 | number + 1) for number, node in enumerate(network.nodes)}
    changing = {change.after.name for change in network.changes if _wire(change.before) != _wire(change.after)}
    for port in network.ports.values():
        if port.rate_bps is not None and port.rate_bps > _PRECISE_BPS:
            omitted.add(f"{port.at}.rate", "late timers of the kernel cost about 1 % at 300 Mbit/s and 3 % at 1 Gbit/s")
    bridges = "wires"
    while bridges in network.nodes:
        bridges += "_"
    lines = [
        _FUNCTIONS.replace("MTU", str(network.largest_packet())).replace("BRIDGES", bridges),
        "",
        "up() {",
        '    ip netns add "$WIRES"',
        "    # Nothing remains of a network that fails.",
    ]
    lines.append("    trap down EXIT")
    lines += [f"    node {node} {address}" for node, address in addresses.items()]
    for port, reverse in network.links():
        number = numbers[port.name]
        lines += ["", f"    # {port.name}: {port.source} to {port.sink}"]
        lines.append(f"    wire {number} {port.source} {port.sink} {_at_link(number, 1)} {_at_link(number, 2)}")
        for direction in (port, reverse):
            if direction is not None:
                found = _commands(direction, number, network, changing, omitted).values()
                lines += [f"    tc {words.replace('VERB', 'add')}" for words in found]
    lines += ["", "    # Routes to the ends of flows."]
    for (node, end), port in host_routes(network, omitted).items():
        name = port.name.removesuffix(".reverse")
        own, other = ("a", 2) if name == port.name else ("z", 1)
        via = f"via {_at_link(numbers[name], other)} dev l{numbers[name]}{own} src {addresses[node]}"
        lines.append(f'    ip -n "${{PREFIX}}{node}" route add {addresses[end]} {via}')
    lines += ["    trap - EXIT", "}", ""]
    if changes := [f"    {line}" for line in _changes(network, numbers, changing, omitted)]:
        lines += [_CLOCK, "changes() {", *changes, "}", ""]
    lines += ["run() {", *(f"    {line}" for line in _transfers(network, addresses, bool(changes), omitted)), _WAIT, "}", ""]
    lines += ["down() {", "    for name in " + " ".join([bridges, *network.nodes]) + "; do"]
    lines += ['        [ ! -e "/run/netns/$PREFIX$name" ] || ip netns del "$PREFIX$name"', "    done", "}", ""]
    lines += ['case "${1:-}" in', 'up | run | down) "$1" ;;', '*) echo "usage: $0 up | run | down" >&2; exit 2 ;;', "esac"]
    return "\n".join(lines) + "\n"


def _commands(port: Port, number: int, network: Network, changing: set[str], omitted: Omissions) -> dict[str, str]:
    """The commands of a direction of a link, without `tc` and with VERB in place of `add`, by the part of the link.

    `changing` has the ports whose wires have netem from the beginning, because their delays or losses change.
    """
    near, far = ("a", "z") if not port.name.endswith(".reverse") else ("z", "a")
    found = {}
    if port.rate_bps is not None:
        at, dev = f'-n "${{PREFIX}}{port.source}"', f"dev l{number}{near}"
        place = "root"
        if not port.is_interface:
            found["release"] = f"{at} qdisc VERB {dev} root handle 1: {BYTES_OF_IP} netem limit {UNLIMITED} delay 1us"
            place = "parent 1:1"
        of_interface = f"{BYTES_OF_IP} " if port.is_interface else ""
        found["limiter"] = f"{at} qdisc VERB {dev} {place} handle 3: {of_interface}htb default 1"
        found["rate"] = f"{at} class VERB {dev} parent 3: classid 3:1 {rate_class(port, network.largest_packet(), omitted)}"
        classes = class_commands(network, port, omitted)
        omit_of_turns(network, port, omitted)
        if classes is None:
            classes = [("qdisc", f"parent 3:1 handle 2: {queue_discipline(port, network.largest_packet(), omitted)}")]
        for kind, words in classes:
            found[f"{kind} {words.partition(': ')[0]} {len(found)}"] = f"{at} {kind} VERB {dev} {words}"
    wire, later = netem(port, omitted), jitter(port, omitted)
    if later or port.name in changing or set(wire.split()) & {"delay", "loss", "duplicate", "rate"}:
        found["wire"] = f'-n "$WIRES" qdisc VERB dev w{number}{far} root handle 1: {wire}'
    if later:
        found["jitter"] = f'-n "$WIRES" qdisc VERB dev w{number}{far} parent 1:1 handle 2: {later}'
    return found


def _wire(port: Port) -> tuple[Any, ...]:
    """The values of a wire that may change."""
    return port.delay_s, port.settings.get("loss"), port.is_out, port.rate_bps


def _changes(network: Network, numbers: dict[str, int], changing: set[str], omitted: Omissions) -> Iterator[str]:
    """The changes of links, at times from the start of the flows."""
    for change in network.changes:
        name = change.after.name.removesuffix(".reverse")
        before, after = (_commands(port, numbers[name], network, changing, omitted) for port in (change.before, change.after))
        if change.after.delay_s < change.before.delay_s:
            omitted.add(f"{change.after.at}.delay", "packets overtake others when the delay falls")
        found = [changed(words, change.after.at, omitted) for key, words in after.items() if words != before.get(key)]
        lines = [f"tc {words.replace('VERB', 'replace')}" for words in found if words is not None]
        if change.after.is_down != change.before.is_down and change.after.name == name:
            lines.append(f'ip -n "$WIRES" link set b{numbers[name]} {"down" if change.after.is_down else "up"}')
        if lines:
            yield f"at {round(change.at_s * 1e6)}"
            yield from lines


def _transfers(network: Network, addresses: dict[str, str], has_changes: bool, omitted: Omissions) -> Iterator[str]:
    """One iperf3 server and client per flow."""
    clients = []
    for number, flow in enumerate(network.flows):
        options = iperf3_options(flow, network.duration_s, _HEADERS, omitted)
        if options is None:
            continue
        # Each server serves one test.
        port = port_of_flow(number)
        yield f'ip netns exec "${{PREFIX}}{flow.sink}" iperf3 -s -1 -D -p {port}'
        bind = f"-B {addresses[flow.source]}"
        words = f'ip netns exec "${{PREFIX}}{flow.source}" iperf3 -J -c {addresses[flow.sink]} {bind} -p {port} {options}'
        clients.append(f"{{ sleep {flow.start_s:.6f}; {words}; }} &  # {flow.name}")
    yield "sleep 1"
    if has_changes:
        yield "BEGAN=${EPOCHREALTIME//[.,]/}"
        yield "changes &"
    yield from clients


def _at_link(number: int, end: int) -> str:
    return _address((10 << 24) + 4 * number + end)


def _address(number: int) -> str:
    return ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))


TARGET = Target(
    "tc",
    "a shell script with network namespaces, qdiscs and iperf3",
    "sh",
    "#",
    _USAGE,
    "#!/bin/bash\n",
    written,
    ("rate", "delay", "loss", "buffer", "down"),
)
