"""Mininet: a Python script with a host for each node, TCLinks, static routes and iperf3.

The ends of flows are hosts of their own behind their nodes, on links without settings. If a sender had the queue of a TCLink at
its own interface, TCP Small Queues would stop it at about two packets, and a full queue would only slow it down: it would refuse
packets, which TCP keeps and does not count as lost.
"""

from __future__ import annotations

import json
from typing import Any

from tailback._export.common import iperf3_options, omit_of_link
from tailback._export.network import Network, Omissions, Port, buffer_of, host_routes
from tailback._export.target import Target

__all__ = ["TARGET"]

# Bytes of UDP, IP and Ethernet around a payload, which TCLink counts.
_HEADERS = 42
_ETHERNET = 14

_PACKET = 1500

# Part of a rate up to which a difference is not listed.
_NEAR = 1e-3

_USAGE = """\
# Usage, as root: python3 {name}          opens Mininet's command line
#                 python3 {name} run      runs the flows with iperf3 and prints one JSON document per flow"""

_PROGRAM = '''
import sys
import threading
import time

from mininet.cli import CLI
from mininet.link import Link, TCLink
from mininet.net import Mininet


# Largest buffer of a socket, in bytes.
BUFFER = 67108864


def address(number):
    return ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))


def built():
    """Nodes n0, n1, ... in the order of NODES, which forward packets, and a host behind each that sends or receives."""
    net = Mininet(controller=None, link=TCLink)
    nodes = [net.addHost(f"n{number}", ip=None) for number in range(len(NODES))]
    hosts = {number: net.addHost(f"h{number}", ip=None) for number in ENDS}
    for number, (source, sink, forward, backward) in enumerate(LINKS):
        names = {"intfName1": f"l{number}a", "intfName2": f"l{number}z"}
        net.addLink(nodes[source], nodes[sink], params1=forward, params2=backward, **names)
    for number, host in hosts.items():
        net.addLink(nodes[number], host, cls=Link, intfName1="host", intfName2="node")
    net.start()
    for node in nodes:
        node.cmd("sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0")
    for number, (source, sink, _, _) in enumerate(LINKS):
        for node, end in ((nodes[source], 1), (nodes[sink], 2)):
            interface = f"l{number}{'az'[end - 1]}"
            node.cmd(f"ip addr add {address((10 << 24) + 4 * number + end)}/30 dev {interface}")
            node.cmd(f"ip link set {interface} gso_max_segs 1 mtu {MTU} up")
    for number, host in hosts.items():
        own = address((10 << 24) + (1 << 23) + number + 1)
        nodes[number].cmd(f"ip addr add 169.254.0.1 peer {own} dev host && ip link set host mtu {MTU} up")
        host.cmd(f"ip addr add {own} peer 169.254.0.1 dev node && ip link set node gso_max_segs 1 mtu {MTU} up")
        host.cmd(f"ip route add default via 169.254.0.1 src {own}")
        # The windows of the scenario have no limit by buffers of sockets.
        host.cmd(f"sysctl -qw net.ipv4.tcp_no_metrics_save=1 'net.ipv4.tcp_rmem=4096 6291456 {BUFFER}'")
        host.cmd(f"sysctl -qw 'net.ipv4.tcp_wmem=4096 4194304 {BUFFER}'")
    for node, end, link, far in ROUTES:
        other = address((10 << 24) + (1 << 23) + end + 1)
        nodes[node].cmd(f"ip route add {other} via {address((10 << 24) + 4 * link + far)} dev l{link}{'za'[far - 1]}")
    return net, hosts


def run(hosts):
    """Print the report of iperf3 for every flow."""

    def one(number, source, sink, start, options):
        time.sleep(start)
        server = address((10 << 24) + (1 << 23) + sink + 1)
        client = hosts[source].popen(f"iperf3 -J -c {server} -p {5201 + number} {options}")
        print(client.communicate()[0].decode())

    servers = [hosts[sink].popen(f"iperf3 -s -1 -p {5201 + number}") for number, (_, sink, _, _) in enumerate(FLOWS)]
    time.sleep(1)
    threads = [threading.Thread(target=one, args=(number, *flow)) for number, flow in enumerate(FLOWS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for server in servers:
        server.terminate()


if __name__ == "__main__":
    net, hosts = built()
    try:
        run(hosts) if sys.argv[1:] == ["run"] else CLI(net)
    finally:
        net.stop()
'''


def written(network: Network, omitted: Omissions) -> str:
    """The script."""
    nodes = {node: number for number, node in enumerate(network.nodes)}
    links = network.links()
    numbers = {port.name: number for number, (port, _) in enumerate(links)}
    listed = []
    for port, _ in links:
        directions = (_options(direction, omitted) for direction in (port, network.both(port, omitted)))
        listed.append((nodes[port.source], nodes[port.sink], *directions))
    routes = []
    for (node, end), port in host_routes(network, omitted).items():
        name = port.name.removesuffix(".reverse")
        routes.append((nodes[node], nodes[end], numbers[name], 2 if name == port.name else 1))
    flows = []
    for flow in network.flows:
        options = iperf3_options(flow, network.duration_s, _HEADERS, omitted)
        if options is not None:
            flows.append((nodes[flow.source], nodes[flow.sink], flow.start_s, options))
    for flow in network.flows:
        size = flow.packet_bytes or _PACKET
        # Rates are those of full packets.
        share = size * (_PACKET + _ETHERNET) / ((size + _ETHERNET) * _PACKET)
        if abs(share - 1) > _NEAR:
            text = f"of packets of {size} bytes, a link carries {100 * share:.1f} % of its rate: TCLink counts Ethernet headers"
            omitted.add(f"flows.{flow.group}", text)
    ends = sorted({nodes[end] for flow in network.flows for end in (flow.source, flow.sink)})
    tables = {"NODES": network.nodes, "ENDS": ends, "LINKS": listed, "ROUTES": routes, "FLOWS": flows}
    comments = {
        "NODES": "Names in the scenario.",
        "ENDS": "Nodes that send or receive.",
        "LINKS": "Ends, and the options of TCLink for each direction.",
        "ROUTES": "Node, destination, link, and end of the link that is the next hop.",
        "FLOWS": "Sender, receiver, start in seconds, and options of iperf3.",
    }
    parts = [
        f"# {comments[name]}\n{name} = [\n{''.join(f'    {_literal(row)},{chr(10)}' for row in rows)}]"
        for name, rows in tables.items()
    ]
    mtu = f"# Bytes of the largest packet.\nMTU = {network.largest_packet()}"
    return "\n".join([*parts, mtu]) + "\n" + _PROGRAM


def _options(port: Port, omitted: Omissions) -> dict[str, Any]:
    """Arguments of TCLink: rate in Mbit/s up to 1000, delay, losses in percent, and queue in packets."""
    omit_of_link(port, omitted)
    options: dict[str, Any] = {}
    queue, at = port.queue, f"{port.at}.queue"
    if port.rate_bps is not None:
        # TCLink counts Ethernet headers: full packets have the rate of the scenario.
        options["bw"] = round(port.rate_bps / 1e6 * (_PACKET + _ETHERNET) / _PACKET, 6)
        if options["bw"] > 1000:
            omitted.add(f"{port.at}.rate", "TCLink ignores rates above 1 Gbit/s")
    if port.opportunities:
        omitted.add(f"{port.at}.rate", "TCLink has a constant rate; the mean of the trace is used")
    if port.delay_s:
        options["delay"] = f"{port.delay_s * 1e6:.9g}us"
    size = buffer_of(port)
    if size is None:
        # Otherwise netem has 1000 packets, those in flight included.
        options["max_queue_size"] = 10_000_000
    else:
        if size[1] != "packets":
            omitted.add(f"{at}.buffer", "TCLink counts packets of 1500 bytes")
        packets = max(1, round(size[0] / {"packets": 1, "bytes": 1500, "cells": 32}[size[1]]))
        options["max_queue_size"] = packets
        if port.delay_s:
            omitted.add(at, "the queue of TCLink also counts the packets that are delayed")
            # Those of the delay line have room of their own.
            options["max_queue_size"] = packets + round((port.rate_bps or 0) * port.delay_s / 12_000)
    if queue.get("policy", "drop_tail") != "drop_tail" or queue.get("scheduler") or queue.get("shaper"):
        omitted.add(at, "TCLink has drop-tail queues; policies, schedulers and shapers are not exported")
    loss = port.settings.get("loss") or {}
    if loss.get("probability"):
        options["loss"] = round(100 * loss["probability"], 9)
        if loss.get("at") != "before_queue":
            omitted.add(f"{port.at}.loss.at", "TCLink loses packets in front of the queue")
    if queue.get("counts_in_service"):
        omitted.add(f"{at}.counts_in_service", "the packet in transmission has left the queue")
    if loss.get("gilbert_elliott"):
        omitted.add(f"{port.at}.loss.gilbert_elliott", "TCLink loses packets independently only")
    if port.settings.get("duplication"):
        omitted.add(f"{port.at}.duplication", "has no counterpart")
    if port.settings.get("jitter"):
        omitted.add(f"{port.at}.jitter", "is not exported, because that of TCLink reorders packets")
    return options


def _literal(row: Any) -> str:
    """A row as Python source."""
    if isinstance(row, tuple):
        return f"({', '.join(_literal(value) for value in row)})"
    return json.dumps(row)


TARGET = Target(
    "mininet", "a Python script for Mininet with TCLinks and iperf3", "py", "#", _USAGE, "#!/usr/bin/env python3\n", written
)
