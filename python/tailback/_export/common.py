"""Parts of a scenario that no target expresses, and the mapping of flows to iperf3 on Linux."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from tailback import _core
from tailback._export.network import Flow, Network, Omissions, Port, quantity, seconds

__all__ = ["datagrams", "iperf3_options", "kind_of", "number", "omit_common", "omit_of_link", "omit_outage"]

# Shorter jitter only breaks ties, as the 100 ns of the presets' hosts do, and is not reported.
_JITTER_OF_HOSTS_S = 1e-6

# The least size of iperf3's datagrams: a time and a number of 64 bits.
_LEAST_DATAGRAM = 16

# Names of Linux's modules for the controllers that have one.
_LINUX = {
    "bbrv1": "bbr",
    "bic": "bic",
    "cubic": "cubic",
    "dctcp": "dctcp",
    "hstcp": "highspeed",
    "htcp": "htcp",
    "hybla": "hybla",
    "illinois": "illinois",
    "reno": "reno",
    "stcp": "scalable",
    "vegas": "vegas",
    "veno": "veno",
    "westwood_plus": "westwood",
    "yeah": "yeah",
}


def omit_common(network: Network, description: dict[str, Any], omitted: Omissions) -> None:
    """What only Tailback has: prices, cells, and delays within hosts."""
    if description.get("prices"):
        omitted.add("prices", "packets carry no prices")
    if network.warmup_s:
        omitted.remarks.append(("warmup", "reports include the warm-up"))
    if any(node.get("send_processing") or node.get("receive_processing") for node in description["nodes"].values()):
        omitted.add("nodes", "processing times of hosts are not exported")
    for name, group in network.groups.items():
        for key in ("framing", "abr", "send_processing", "receive_processing"):
            if group.get(key):
                omitted.add(f"flows.{name}.{key}", "has no counterpart")
        if seconds(group.get("jitter") or "0 ms") > _JITTER_OF_HOSTS_S:
            omitted.add(f"flows.{name}.jitter", "has no counterpart")
        if group.get("application"):
            omitted.add(f"flows.{name}.application", "the flow sends greedily instead")


def omit_of_link(port: Port, omitted: Omissions) -> None:
    """Settings of a link that no target has."""
    if port.table:
        omitted.add(f"{port.at}.rate", "rates, delays and losses over time are not exported; the mean rate is used")
    if port.settings.get("switching") == "cut_through":
        omitted.add(f"{port.at}.switching", "packets are stored and forwarded")
    if port.settings.get("transmitters", 1) > 1:
        omitted.add(f"{port.at}.transmitters", "one transmitter has the rate of all")
    if port.settings.get("mtu"):
        omitted.add(f"{port.at}.mtu", "links carry packets of any size")
    if (port.settings.get("loss") or {}).get("drops"):
        omitted.add(f"{port.at}.loss.drops", "individual losses are not exported")


def omit_outage(port: Port, omitted: Omissions) -> None:
    """For targets that lose packets while a rate is 0."""
    omitted.add(f"{port.at}.rate", "while it is 0, packets are lost instead of waiting")


def iperf3_options(flow: Flow, duration_s: float, headers: int, omitted: Omissions) -> str | None:
    """The options of iperf3's client for a flow; None if the flow is not exported.

    `headers` are the bytes around the payload of a datagram that queues count.
    """
    window = flow.window_s(duration_s)
    if window <= 0:
        return None
    time = f"-t {max(1, round(window))}"
    if flow.size_bytes is not None:
        omitted.add(f"flows.{flow.group}.size", "iperf3 ends a transfer with its last byte, also after `stop` and `duration`")
    elif window != max(1, round(window)):
        omitted.add(f"flows.{flow.group}", "iperf3 runs for whole seconds, and the time of the flow is rounded")
    if flow.settings.get("source"):
        source = datagrams(flow, ("constant", "poisson"), headers, _LEAST_DATAGRAM, omitted)
        amount = time if flow.size_bytes is None else f"-n {flow.size_bytes}"
        return None if source is None else f"-u -b {source[0]} -l {source[1]} {amount}"
    tcp = flow.settings["tcp"]
    kind = kind_of(tcp["controller"])
    name = _LINUX.get(kind)
    if name is None:
        omitted.add(f"flows.{flow.group}.tcp.controller", f"`{kind}` is not a congestion control of Linux; the default is used")
    elif tcp["preset"] != f"linux/{name}":
        omitted.add(f"flows.{flow.group}.tcp", f"the kernel's TCP has its own settings, not those of `{tcp['preset']}`")
    else:
        for key in _own_settings(tcp, _settings_of(tcp["preset"])):
            omitted.add(f"flows.{flow.group}.tcp.{key}", "is not exported; the kernel's own setting applies")
    if tcp.get("ecn"):
        omitted.add(f"flows.{flow.group}.tcp.ecn", "needs `net.ipv4.tcp_ecn=1` at both ends; no option of iperf3 sets it")
    # The kernel's MSS includes the 12 bytes of timestamps.
    mss = number(tcp["mss"]) + (12 if tcp["timestamps"] else 0)
    amount = time if flow.size_bytes is None else f"-n {flow.size_bytes}"
    return " ".join([*([] if name is None else ["-C", name]), "-M", str(mss), amount])


def kind_of(member: Any) -> str:
    """The word of a member, with or without settings; empty if there is none."""
    return str(member.get("kind", "") if isinstance(member, dict) else member or "")


def number(text: str) -> int:
    """A rate in bit/s or a size in bytes."""
    return round(quantity(text)[0])


@cache
def _settings_of(preset: str) -> dict[str, Any]:
    """The TCP settings of a preset."""
    link = {"from": "a", "to": "b", "rate": "1 Mbps", "delay": "1 ms", "queue": {"buffer": "1 packets"}}
    flow = {"from": "a", "to": "b", "tcp": {"preset": preset}}
    scenario = {"duration": "1 s", "nodes": {"a": {}, "b": {}}, "links": {"link": link}, "flows": {"flow": flow}}
    settings: dict[str, Any] = json.loads(_core.expanded(json.dumps(scenario), "", "json", None))["flows"]["flow"]["tcp"]
    return settings


def _own_settings(own: Mapping[str, Any], usual: Mapping[str, Any]) -> Iterator[str]:
    """The keys whose values differ from the usual ones; the MSS is exported, and ECN has a line of its own."""
    for key in dict.fromkeys([*own, *usual]):
        one, other = own.get(key), usual.get(key)
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            yield from (f"{key}.{inner}" for inner in _own_settings(one, other))
        elif one != other and key not in ("mss", "ecn"):
            yield key


def datagrams(flow: Flow, known: tuple[str, ...], headers: int, least: int, omitted: Omissions) -> tuple[int, int] | None:
    """Rate and size of the payload of a datagram source, without the bytes of headers; None if it is not exported.

    `known` are the kinds of sources, and `least` is the smallest payload that the target has.
    """
    source, at = flow.settings["source"], f"flows.{flow.group}.source"
    kind, size = source.get("kind", ""), source.get("packet_size")
    if kind not in known or not isinstance(size, str):
        omitted.add(at, "the source has no counterpart, and its flows are left out")
        return None
    packet = number(size)
    if packet < headers + least:
        text = f"packets have at least {headers + least} bytes with their headers; its flows are left out"
        omitted.add(f"{at}.packet_size", text)
        return None
    if kind == "poisson":
        omitted.add(at, "datagrams are evenly spaced instead of Poisson")
    return round(quantity(source["rate"])[0] * (packet - headers) / packet), packet - headers
