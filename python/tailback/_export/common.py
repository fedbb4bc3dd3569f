"""Parts of a scenario that no target expresses, and the mapping of flows to iperf3 on Linux."""

from __future__ import annotations

from typing import Any

from tailback._export.network import Flow, Network, Omissions, Port, quantity

__all__ = ["datagrams", "iperf3_options", "kind_of", "number", "omit_common", "omit_of_link"]

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
    if any(node.get("send_processing") or node.get("receive_processing") for node in description["nodes"].values()):
        omitted.add("nodes", "processing times of hosts are not exported")
    for name, group in network.groups.items():
        for key in ("framing", "abr", "send_processing", "receive_processing"):
            if group.get(key):
                omitted.add(f"flows.{name}.{key}", "has no counterpart")
        if group.get("jitter") not in (None, "0 ms"):
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
    if port.settings.get("mtu"):
        omitted.add(f"{port.at}.mtu", "the MTU is not exported")


def iperf3_options(flow: Flow, duration_s: float, omitted: Omissions) -> str | None:
    """The options of iperf3's client for a flow; None if the flow is not exported."""
    window = flow.window_s(duration_s)
    if window <= 0:
        return None
    # iperf3 accepts whole seconds.
    time = f"-t {max(1, round(window))}"
    if flow.settings.get("source"):
        source = datagrams(flow, omitted)
        return None if source is None else f"-u -b {number(source[0])} -l {number(source[1])} {time}"
    tcp = flow.settings["tcp"]
    kind = kind_of(tcp["controller"])
    name = _LINUX.get(kind)
    if name is None:
        omitted.add(f"flows.{flow.group}.tcp.controller", f"`{kind}` is not a congestion control of Linux; the default is used")
    elif tcp["preset"] != f"linux/{name}":
        omitted.add(f"flows.{flow.group}.tcp", f"the kernel's TCP has its own settings, not those of `{tcp['preset']}`")
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


def datagrams(flow: Flow, omitted: Omissions) -> tuple[str, str] | None:
    """Rate and packet size of a datagram source, which is sent at a constant rate; None if it is not exported."""
    source = flow.settings["source"]
    kind, size = source.get("kind", ""), source.get("packet_size")
    if kind not in ("constant", "poisson") or not isinstance(size, str):
        omitted.add(f"flows.{flow.group}.source", "the source has no counterpart, and its flows are left out")
        return None
    if kind == "poisson":
        omitted.add(f"flows.{flow.group}.source", "datagrams are evenly spaced instead of Poisson")
    return str(source["rate"]), size
