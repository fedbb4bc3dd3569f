"""Chapter 3 by packets: utilisation over the parameters of a trunk (section 3.4)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import tailback as tb
from tailback.papers import Claim, Curves, Experiment, Line, at, lines, variants
from tailback_papers.claims import claims_of
from tailback_papers.cui_thesis import packets

__all__ = ["EXPERIMENTS"]

claim = claims_of(__name__)

# Rate per flow, in bit/s.
SHARES = {"2 Mb/s": 2e6, "10 Mb/s": 10e6, "100 Mb/s": 100e6}


def shorter(share: float) -> dict[str, Any]:
    """Settings of `switch` for figures with many runs, where flows with a large share have less time than elsewhere."""
    return {"settling_s": 20, "measured_s": 10} if share > 2 * packets.FLOW_BPS else {}


def over_links(links: tuple[int, ...], rate_gbps: float) -> Experiment:
    """Figures 3.10 and 3.11."""

    def trunk(share: str, links: int, buffer: str) -> tb.Scenario:
        share_bps = SHARES[share]
        flows, places = round(rate_gbps * packets.GBPS / share_bps) * links, links if buffer == "1 a link" else 0
        return packets.switch(
            4 * links, links, places, flows, rate_gbps * packets.GBPS, **shorter(share_bps), **packets.begins(share_bps)
        )

    return Experiment(
        id="cui-thesis/fig3.10",
        title="Figures 3.10 and 3.11: utilisation over the links of a trunk, by the share of a flow",
        question="What is the effect of wavelength conversion and of one packet of buffer per link?",
        source="figures 3.10 and 3.11, section 3.4.1",
        variants=variants(trunk, share=tuple(SHARES), links=links, buffer=("none", "1 a link")),
        measures=packets.MEASURES,
        claims=(
            *(
                Claim(
                    f"C-3.10.1-{name.split()[0]}",
                    f"the utilisation rises with the links, with {name} per flow",
                    at("utilisation", share=name, buffer="none").steps("links").min(each_seed=True) > 0,
                    note="smallest step, without a buffer",
                )
                for name in SHARES
            ),
            claim("C-3.10.3", (-at("utilisation", buffer="none").steps("share")).min(each_seed=True) > 0),
            claim(
                "C-3.11.1",
                (at("utilisation", buffer="1 a link") / at("utilisation", buffer="none") - 1).min(each_seed=True) > 0.5,
            ),
        ),
        panels=tuple(
            Curves(
                "utilisation",
                "links",
                lines("share", tuple(SHARES), buffer=buffer),
                "utilisation",
                "links of the trunk",
                title=title,
                log_over=True,
            )
            for buffer, title in (("none", "no buffer"), ("1 a link", "one packet per link"))
        ),
        assumptions={
            **packets.SENDERS,
            **packets.BEGINS,
            **packets.EDGES,
            **packets.LENGTH,
            "round trips": "uniform on 60 to 180 ms, as in section 3.3",
        },
        max_seeds=4,
    )


# Figure 3.12: 80 inputs, 20 links, 20,000 flows; scaled down to an eightieth of flows and rates.
def over_rate(scale: float, rates: tuple[float, ...]) -> Experiment:
    """Figures 3.12 and 3.13 with this fraction of the document's flows and rates; `rates`: of a link in the document, Gb/s."""
    flows = round(20_000 * scale)
    scaled_rates = [rate * scale for rate in rates]

    def trunk(rate: float) -> tb.Scenario:
        share = 20 * rate * packets.GBPS / flows
        return packets.switch(80, 20, 0, flows, rate * packets.GBPS, **shorter(share), **packets.begins(share))

    return Experiment(
        id="cui-thesis/fig3.12",
        title="Figures 3.12 and 3.13: throughput and utilisation over the link rate",
        question="What is the effect of faster links on the same flows?",
        source="figures 3.12 and 3.13, section 3.4.2",
        variants=variants(trunk, rate=scaled_rates),
        measures={"utilisation": packets.utilisation, "throughput_bps": throughput},
        claims=(
            claim(
                "C-3.12.1",
                at("throughput_bps").steps("rate").min(each_seed=True) > 0,
                note=f"smallest step, bit/s, of a trunk shared by {flows} flows",
            ),
            claim("C-3.13.1", at("utilisation").steps("rate").max(each_seed=True) < 0),
        ),
        panels=(
            Curves(
                "throughput_bps",
                "rate",
                (Line("80 inputs, 20 links", {}),),
                "throughput of the trunk, bit/s",
                "Gb/s per link",
                log_over=True,
            ),
            Curves("utilisation", "rate", (Line("80 inputs, 20 links", {}),), "utilisation", "Gb/s per link", log_over=True),
        ),
        assumptions={
            **packets.SENDERS,
            **packets.BEGINS,
            **packets.EDGES,
            **packets.LENGTH,
            "buffer": "none",
            "round trips": "uniform on 60 to 180 ms",
            "size": f"{flows} flows over access links of 100 Mb/s, and links of {scaled_rates[0]:g} to {scaled_rates[-1]:g} Gb/s",
        },
        max_seeds=5,
    )


def throughput(run: tb.Run) -> float:
    """Throughput of the trunk, in bit/s."""
    made = run.scenario["topology"]["dwdm"]
    return packets.utilisation(run) * float(made["transmitters"]) * rate_of(made["rate"])


def rate_of(text: str) -> float:
    """A rate as normalised scenarios contain it."""
    number, unit = text.split()
    return float(number) * {"bps": 1.0, "kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9}[unit]


EXPERIMENTS = (
    replace(
        over_links((1, 4, 8), 0.5),
        full=over_links((1, 4, 16, 100), 40.0),
        undecided="links of 40 Gb/s, of which a flow has a smaller fraction, and trunks of 16 and 100 of them: here links have "
        "0.5 Gb/s. The quick form does not cover the 30, 73 and 72 % that the text quotes for 16 and 100 links; "
        "`cui-thesis/direct` does",
    ),
    replace(
        over_rate(0.0125, (1, 4, 16)),
        full=over_rate(1.0, (1, 2, 4, 8, 16, 32, 64, 128)),
        undecided="20,000 flows over links of 1 to 128 Gb/s: the quick form has 250 flows and an eightieth of the rates up to 16",
    ),
)
