"""Chapter 3 by packets: utilisation over the parameters of a trunk (section 3.4)."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from tailback._run import Run
from tailback.papers import Assumption, Claim, Curves, Experiment, Inequality, Line, Measured, Values, vary
from tailback.papers.cui_thesis.packets import (
    BEGINS,
    EDGES,
    FLOW_BPS,
    GBPS,
    LENGTH,
    SENDERS,
    begins,
    log10_loss,
    switch,
    utilisation,
)

if TYPE_CHECKING:
    from tailback._scenario import Scenario

__all__ = ["EXPERIMENTS"]

# Rate per flow, in bit/s.
SHARES = {"2 Mb/s": 2e6, "10 Mb/s": 10e6, "100 Mb/s": 100e6}


def shorter(share: float) -> dict[str, Any]:
    """Settings of `switch` for figures with many runs, where flows with a large share have less time than elsewhere."""
    return {"settling_s": 20, "measured_s": 10} if share > 2 * FLOW_BPS else {}


def over_links(links: tuple[int, ...], rate_gbps: float) -> Experiment:
    """Figures 3.10 and 3.11."""

    def trunk(share: float, count: int, buffered: bool) -> Scenario:
        flows = round(rate_gbps * GBPS / share) * count
        places = count if buffered else 0
        return switch(4 * count, count, places, flows, rate_gbps * GBPS, **shorter(share), **begins(share))

    def of(results: Measured, share: str, count: int, buffered: bool) -> Values:
        return results.values("utilisation", share=share, links=count, buffer="1 a link" if buffered else "none")

    return Experiment(
        id="cui-thesis/fig3.10",
        title="Figures 3.10 and 3.11: utilisation over the links of a trunk, by the share of a flow",
        question="What is the effect of wavelength conversion and of one packet of buffer per link?",
        source="figures 3.10 and 3.11, section 3.4.1",
        variants=tuple(
            variant
            for name, share in SHARES.items()
            for count in links
            for buffered in (False, True)
            for variant in vary(trunk(share, count, buffered), share=name, links=count, buffer="1 a link" if buffered else "none")
        ),
        measures={"utilisation": utilisation, "log10_loss": log10_loss},
        claims=(
            *(
                Claim(
                    f"C-3.10.1-{name.split()[0]}",
                    "reproduced",
                    f"the utilisation rises with the links, with {name} per flow",
                    lambda results, name=name: np.min(  # type: ignore[misc]
                        [of(results, name, more, False) - of(results, name, fewer, False) for fewer, more in pairwise(links)],
                        axis=0,
                    ),
                    Inequality(">", 0),
                    note="smallest step, without a buffer",
                )
                for name in SHARES
            ),
            Claim(
                "C-3.10.3",
                "reproduced",
                "with the same links, a lower rate per flow gives a higher utilisation",
                lambda results: np.min(
                    [
                        of(results, less, count, False) - of(results, more, count, False)
                        for count in links
                        for less, more in zip(SHARES, list(SHARES)[1:], strict=False)
                    ],
                    axis=0,
                ),
                Inequality(">", 0),
                note="smallest difference",
            ),
            Claim(
                "C-3.11.1",
                "reproduced",
                "one packet of buffer per link raises every point well above its bufferless counterpart: by half or more",
                lambda results: np.min(
                    [of(results, name, count, True) / of(results, name, count, False) - 1 for name in SHARES for count in links],
                    axis=0,
                ),
                Inequality(">", 0.5),
                note="smallest gain relative to the utilisation without a buffer; the bound is our choice",
            ),
        ),
        panels=tuple(
            (
                Curves(
                    "utilisation",
                    "links",
                    tuple(Line(name, {"share": name, "buffer": buffer}) for name in SHARES),
                    "utilisation",
                    "links of the trunk",
                    title="no buffer" if buffer == "none" else "one packet per link",
                    log_over=True,
                ),
            )
            for buffer in ("none", "1 a link")
        ),
        assumptions=(SENDERS, BEGINS, EDGES, LENGTH, Assumption("round trips", "uniform on 60 to 180 ms, as in section 3.3")),
        max_seeds=4,
    )


# Figure 3.12: 80 inputs, 20 links, 20,000 flows; scaled down to an eightieth of flows and rates.
def over_rate(scale: float, rates: tuple[float, ...]) -> Experiment:
    """Figures 3.12 and 3.13 with this fraction of the document's flows and rates; `rates`: of a link in the document, Gb/s."""
    flows = round(20_000 * scale)
    scaled_rates = [rate * scale for rate in rates]

    def trunk(rate: float) -> Scenario:
        share = 20 * rate * GBPS / flows
        return switch(80, 20, 0, flows, rate * GBPS, **shorter(share), **begins(share))

    return Experiment(
        id="cui-thesis/fig3.12",
        title="Figures 3.12 and 3.13: throughput and utilisation over the link rate",
        question="What is the effect of faster links on the same flows?",
        source="figures 3.12 and 3.13, section 3.4.2",
        variants=tuple(variant for rate in scaled_rates for variant in vary(trunk(rate), rate=rate)),
        measures={"utilisation": utilisation, "throughput_bps": throughput},
        claims=(
            Claim(
                "C-3.12.1",
                "reproduced",
                "the throughput rises with the link rate",
                lambda results: np.diff([results.values("throughput_bps", rate=rate) for rate in scaled_rates], axis=0).min(
                    axis=0
                ),
                Inequality(">", 0),
                note=f"smallest step, bit/s, of a trunk shared by {flows} flows",
            ),
            Claim(
                "C-3.13.1",
                "reproduced",
                "the utilisation falls with the link rate",
                lambda results: np.diff([results.values("utilisation", rate=rate) for rate in scaled_rates], axis=0).max(axis=0),
                Inequality("<", 0),
                note="largest step",
            ),
        ),
        panels=(
            (
                Curves(
                    "throughput_bps",
                    "rate",
                    (Line("80 inputs, 20 links", {}),),
                    "throughput of the trunk, bit/s",
                    "Gb/s per link",
                    log_over=True,
                ),
            ),
            (Curves("utilisation", "rate", (Line("80 inputs, 20 links", {}),), "utilisation", "Gb/s per link", log_over=True),),
        ),
        assumptions=(
            SENDERS,
            BEGINS,
            EDGES,
            LENGTH,
            Assumption("buffer", "none"),
            Assumption("round trips", "uniform on 60 to 180 ms"),
            Assumption(
                "size",
                f"{flows} flows over access links of 100 Mb/s, and links of {scaled_rates[0]:g} to {scaled_rates[-1]:g} Gb/s",
            ),
        ),
        max_seeds=5,
    )


def throughput(run: Run) -> float:
    """Throughput of the trunk, in bit/s."""
    made = run.scenario["topology"]["dwdm"]
    return utilisation(run) * float(made["transmitters"]) * rate_of(made["rate"])


def rate_of(text: str) -> float:
    """A rate as normalised scenarios contain it."""
    number, unit = text.split()
    return float(number) * {"bps": 1.0, "kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9}[unit]


EXPERIMENTS = (
    replace(
        over_links((1, 4, 16), 0.5),
        full=over_links((1, 4, 16, 100), 40.0),
        undecided="links of 40 Gb/s, of which a flow has a smaller fraction, and trunks of 100 of them: here links have 0.5 "
        "Gb/s. The quick form does not cover the 30, 73 and 72 % that the text quotes for 16 and 100 links; "
        "`cui-thesis/direct` does",
    ),
    replace(
        over_rate(0.0125, (1, 4, 16, 64)),
        full=over_rate(1.0, (1, 2, 4, 8, 16, 32, 64, 128)),
        undecided="20,000 flows over links of 1 to 128 Gb/s: the quick form has 250 flows and an eightieth of the rates",
    ),
)
