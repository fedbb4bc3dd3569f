"""Linux network namespaces with tc: every node is a namespace, every queue a qdisc, and every flow an iperf3 transfer.

The queue of a link is at the sending node, behind a token bucket. Delay and losses come behind the queue, at a bridge between the
nodes: netem in front of the queue would delay packets before the policy sees them, and count them as queued.
"""

from __future__ import annotations

from collections.abc import Iterator

from tailback._export.common import iperf3_options
from tailback._export.network import Network, Omissions, Port, host_routes
from tailback._export.qdisc import netem, queue_discipline, rate_limiter
from tailback._export.target import Target

__all__ = ["TARGET"]

# Addresses of links are 10.0.0.0/9, those of nodes 10.128.0.0/9.
_MAX_LINKS = 2**21

_USAGE = """\
# Usage, as root: {name} up; {name} run; {name} down
# Namespaces have the prefix $PREFIX, by default `tb-`. `run` needs iperf3 and prints one JSON document per flow."""

_FUNCTIONS = """\
set -eu
PREFIX=${PREFIX:-tb-}
WIRES=${PREFIX}wires

node() {  # name, address
    ip netns add "$PREFIX$1"
    ip -n "$PREFIX$1" link set lo up
    ip -n "$PREFIX$1" addr add "$2/32" dev lo
    ip netns exec "$PREFIX$1" sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0
}

wire() {  # number, node at each end, address at each end
    ip -n "$WIRES" link add "b$1" type bridge
    ip -n "$WIRES" link set "b$1" up
    for end in "a $2 $4" "z $3 $5"; do
        set -- "$1" $end
        ip -n "$WIRES" link add "w$1$2" type veth peer name "l$1$2" netns "$PREFIX$3"
        ip -n "$PREFIX$3" link set "l$1$2" gso_max_segs 1 up
        ip -n "$WIRES" link set "w$1$2" gso_max_segs 1 master "b$1" up
        ip -n "$PREFIX$3" addr add "$4/30" dev "l$1$2"
    done
}"""


def written(network: Network, omitted: Omissions) -> str:
    """The script."""
    numbers = {port.name: number for number, (port, _) in enumerate(network.links())}
    if len(numbers) > _MAX_LINKS:
        omitted.add("links", f"only the first {_MAX_LINKS:,} links have addresses")
    addresses = {node: _address(10 << 24 | 1 << 23 | number + 1) for number, node in enumerate(network.nodes)}
    lines = [_FUNCTIONS, "", "up() {", '    ip netns add "$WIRES"']
    lines += [f"    node {node} {address}" for node, address in addresses.items()]
    for port, reverse in network.links():
        number = numbers[port.name]
        lines += ["", f"    # {port.name}: {port.source} to {port.sink}"]
        lines.append(f"    wire {number} {port.source} {port.sink} {_at_link(number, 1)} {_at_link(number, 2)}")
        for direction, near, far in ((port, "a", "z"), (reverse, "z", "a")):
            if direction is not None:
                lines += [f"    {line}" for line in _qdiscs(direction, number, near, far, omitted)]
    lines += ["", "    # Routes to the ends of flows."]
    for (node, end), port in host_routes(network, omitted).items():
        name = port.name.removesuffix(".reverse")
        own, other = ("a", 2) if name == port.name else ("z", 1)
        via = f"via {_at_link(numbers[name], other)} dev l{numbers[name]}{own} src {addresses[node]}"
        lines.append(f'    ip -n "${{PREFIX}}{node}" route add {addresses[end]} {via}')
    lines += ["}", "", "run() {", *(f"    {line}" for line in _transfers(network, addresses, omitted)), "    wait", "}", ""]
    lines += ["down() {", "    for name in wires " + " ".join(network.nodes) + "; do"]
    lines += ['        ip netns del "$PREFIX$name" || true', "    done", "}", ""]
    lines += ['case "${1:-}" in', 'up | run | down) "$1" ;;', '*) echo "usage: $0 up | run | down" >&2; exit 2 ;;', "esac"]
    return "\n".join(lines) + "\n"


def _qdiscs(port: Port, number: int, near: str, far: str, omitted: Omissions) -> Iterator[str]:
    if port.rate_bps is not None:
        tc = f'tc -n "${{PREFIX}}{port.source}" qdisc add dev l{number}{near}'
        yield f"{tc} root handle 1: {rate_limiter(port, omitted)}"
        yield f"{tc} parent 1:1 handle 2: {queue_discipline(port, omitted)}"
    wire, in_order = netem(port, omitted)
    if " delay " in wire or " loss " in wire or " duplicate " in wire:
        yield f'tc -n "$WIRES" qdisc add dev w{number}{far} root handle 1: {wire}'
        if in_order:
            yield f'tc -n "$WIRES" qdisc add dev w{number}{far} parent 1:1 handle 2: pfifo limit 1000000'


def _transfers(network: Network, addresses: dict[str, str], omitted: Omissions) -> Iterator[str]:
    """One iperf3 server and client per flow."""
    clients = []
    for number, flow in enumerate(network.flows):
        options = iperf3_options(flow, network.duration_s, omitted)
        if options is None:
            continue
        # Each server serves one test; ports of one node differ.
        port = 5201 + number % 60000
        yield f'ip netns exec "${{PREFIX}}{flow.sink}" iperf3 -s -1 -D -p {port}'
        bind = f"-B {addresses[flow.source]}"
        words = f'ip netns exec "${{PREFIX}}{flow.source}" iperf3 -J -c {addresses[flow.sink]} {bind} -p {port} {options}'
        clients.append(f"{{ sleep {flow.start_s:.6f}; {words}; }} &  # {flow.name}")
    yield "sleep 1"
    yield from clients


def _at_link(number: int, end: int) -> str:
    return _address((10 << 24) + 4 * number + end)


def _address(number: int) -> str:
    return ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))


TARGET = Target("tc", "a shell script with network namespaces, qdiscs and iperf3", "sh", "#", _USAGE, "#!/bin/bash\n", written)
