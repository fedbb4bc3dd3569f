"""The two networks, the two senders, and the schemes compared on them."""

from __future__ import annotations

from typing import Any

import tailback as tb
from tailback.papers import AxisValue, Variant, vary
from tailback_papers.bpd_2001.networks import topology_b
from tailback_papers.spd_1998.networks import LONG, chain

__all__ = ["ABR", "EDGES", "NETWORKS", "SENDERS", "UBR", "targets", "variants"]

NETWORKS = ("three switches", "one switch")
SENDERS = ("Tahoe", "Reno")
UBR = ("drop-tail", "EPD", "SPD", "BPD")
ABR = ("EFCI", "ERICA", "ERICA, ACKs held")
EDGES = ("as the switch", "a window")
# Fraction of the link that ERICA allocates; with delta off it never allocates more.
TARGETS = (0.8, 0.9, 0.95, 0.99)

# For each network: its switch queues, the buffer of a switch in cells, the packets per edge if all edges together have that
# buffer, the packets of a window, and the rates of the service.
_QUEUES = {"three switches": "links.*.queue", "one switch": "links.bottleneck.queue"}
_CELLS = {"three switches": 1000, "one switch": 1200}
_SHARES = {"three switches": 3, "one switch": 20}
_WINDOWS = {"three switches": 64, "one switch": 122}
_PCR = {"three switches": "10 Mbps", "one switch": "30 Mbps"}
_ICR = {"three switches": "0.5 Mbps", "one switch": "1.5 Mbps"}
# Longer than the round trip, so that a connection that sends one window at a time counts as active.
_INTERVALS = {"three switches": "20 ms", "one switch": "5 ms"}


def base(network: str, sender: str) -> tb.Scenario:
    """A network with drop-tail switches: fifteen connections of spd-1998, or five of bpd-2001 (topology B), for 10 s."""
    scenario = chain(15).with_(dict(LONG.changes)) if network == "three switches" else topology_b()
    changes: dict[str, Any] = {"name": f"abr, {network}, {sender}", "flows.*.tcp.recovery": sender.lower()}
    if network == "one switch":
        changes["flows.*.tcp.timer.tick"] = "0.3 s"
    return scenario.with_(changes)


def _policies(network: str) -> list[AxisValue]:
    queue, cells = _QUEUES[network], _CELLS[network]
    threshold = f"{cells * 4 // 5} cells"
    settings: dict[str, dict[str, Any]] = {
        "drop-tail": {"policy": "drop_tail"},
        "EPD": {"policy": "epd", "threshold": threshold},
        "SPD": {
            "policy": "spd",
            "dropping_threshold": "20 cells",
            "congestion_threshold": f"{cells // 5} cells",
            "epd_threshold": threshold,
        },
        "BPD": {"policy": "bpd", "lower_threshold": "40 %", "upper_threshold": "90 %", "gap": 25},
    }
    return [
        AxisValue({"scheme": name, "edge": "none"}, {f"{queue}.{key}": value for key, value in of.items()})
        for name, of in settings.items()
    ]


def _services(network: str, edge: str) -> list[AxisValue]:
    queue, cells = _QUEUES[network], _CELLS[network]
    packets = _SHARES[network] if edge == "as the switch" else _WINDOWS[network]
    abr: dict[str, Any] = {"buffer": f"{packets} packets", "pcr": _PCR[network], "icr": _ICR[network]}
    efci = {f"{queue}.policy": "threshold", f"{queue}.threshold": f"{cells // 5} cells"}
    erica = {f"{queue}.policy": "erica", f"{queue}.averaging_interval": _INTERVALS[network]}
    # Section 5.10.2 uses 1/16 for both; explicit rates already bound the increase.
    explicit_rate = {**abr, "rif": 1.0}
    return [
        AxisValue({"scheme": "EFCI", "edge": edge}, {"flows.*.abr": abr, **efci}),
        AxisValue({"scheme": "ERICA", "edge": edge}, {"flows.*.abr": explicit_rate, **erica}),
        AxisValue({"scheme": "ERICA, ACKs held", "edge": edge}, {"flows.*.abr": {**explicit_rate, "ack_threshold": 2}, **erica}),
    ]


def variants() -> tuple[Variant, ...]:
    """Every scheme on both networks, with both senders; ABR schemes with small and large edge buffers."""
    return tuple(
        variant
        for network in NETWORKS
        for sender in SENDERS
        for schemes in (_policies(network), *(_services(network, edge) for edge in EDGES))
        for variant in vary(base(network, sender), schemes, network=network, sender=sender)
    )


def targets() -> tuple[Variant, ...]:
    """ERICA with held acknowledgements and small edge buffers, for each target; and BPD for comparison."""
    found: list[Variant] = []
    for network in NETWORKS:
        queue = _QUEUES[network]
        handed = [AxisValue({"target": target}, {f"{queue}.target": target, f"{queue}.delta": 0}) for target in TARGETS]
        held = [scheme for scheme in _services(network, EDGES[0]) if scheme.labels["scheme"] == ABR[-1]]
        discard = [scheme for scheme in _policies(network) if scheme.labels["scheme"] == "BPD"]
        for sender in SENDERS:
            found += vary(base(network, sender), held, handed, network=network, sender=sender)
            found += vary(base(network, sender), discard, network=network, sender=sender)
    return tuple(found)
