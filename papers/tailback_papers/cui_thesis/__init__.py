"""The thesis of Y. Cui on buffers of core switches, FAST TCP and congestion prices: chapters 2 to 5.

Chapter 2 (background): `signals` covers RED and REM alone, `marked_tcp` both under TCP. Chapter 3, models: `losses` computes the
losses for the open-loop figures in `open_loop`; `closed_loop` covers trunks loaded by TCP, `sizing` the sizing rules. Chapter 3,
packet-level: `intervals` covers inter-packet intervals, `packets` the extrapolated results, `parameters` the parameters of a
trunk, `access` and `unpaced` senders without pacing, `closed_loop_packets` the closed loop and the rule for trunks, and
`single_link_packets` the rules for a single link. Chapter 4 (packets): `fast` and `vegas` have flows that arrive one after the
other, `draining` flows that drain the queues once, `overflow` flows whose buffer is too small, `appendix_b` the remaining
figures, `further_research` the questions left to further research; `over_time` has curves. Chapter 5 (prices): `marking` covers
the estimates that receivers derive from marks, `price_step` their error after a step, and `control` sources that react to them.
`equations` checks single equations, `tables` contains the printed numbers, `claims.csv` the texts of claims, and `statements.csv`
lists which claims judge each statement of the text.
"""

from __future__ import annotations

from tailback.papers import Document
from tailback_papers.cui_thesis import (
    access,
    appendix_b,
    closed_loop,
    closed_loop_packets,
    control,
    draining,
    equations,
    fast,
    further_research,
    intervals,
    marked_tcp,
    marking,
    open_loop,
    overflow,
    packets,
    parameters,
    price_step,
    signals,
    single_link_packets,
    sizing,
    unpaced,
    vegas,
)

__all__ = ["DOCUMENT"]

DOCUMENT = Document(
    id="cui-thesis",
    title="Three problems in TCP performance analysis and congestion management",
    citation="Y. Cui, Three problems in TCP performance analysis and congestion management, PhD thesis. It simulated with ns-2.",
    assumptions={
        "kinds of claims": "the document has none: `reproduced` claims held with enough seeds when the experiment was run here, "
        "and guard against regressions; `not_reproduced` claims were contradicted or remained undecided",
        "service time of a packet that had to wait": "equal to its reception time, because a packet has a fixed length; where "
        "chains can be solved, also an independent exponential time, which ends its reception as well (coupled) or does not "
        "(fresh). Without waiting places the variants are equal",
        "mean packet time in the open loop": "1: only the ratio of gaps to packets matters",
        "length of the open-loop simulations": "for each seed until its 95 % interval is 9.5 % wide, so that the interval of ten "
        "seeds is 3 % wide, as in the document; or until 4 million packets have arrived, which is not enough at light load with "
        "few inputs and ten places",
        "packet size": "1040 bytes on the wire in chapter 3: 1000 of payload, as stated, and 40 of headers; the rules then give "
        "the printed values",
        "harmonic mean of 60 to 180 ms": "120 ms / ln 3 = 109.2 ms; 109.1 ms is printed",
        "chapter 4": "figures 4.1 to 4.22, table 4.1 and B.1 to B.15, if they support a claim; FAST by (4.1), and as in the ns-2 "
        "module where the two differ",
    },
    experiments=(
        *signals.EXPERIMENTS,
        *marked_tcp.EXPERIMENTS,
        *closed_loop.EXTRAPOLATIONS,
        *open_loop.EXPERIMENTS,
        *intervals.EXPERIMENTS,
        *packets.EXPERIMENTS,
        *parameters.EXPERIMENTS,
        access.ACCESS,
        unpaced.UNPACED,
        *closed_loop.FIGURES,
        *closed_loop_packets.CLOSED_LOOP,
        *sizing.EXPERIMENTS,
        *closed_loop_packets.SIZING,
        *single_link_packets.LINKS,
        *fast.EXPERIMENTS,
        *vegas.EXPERIMENTS,
        *draining.EXPERIMENTS,
        *overflow.EXPERIMENTS,
        *appendix_b.EXPERIMENTS,
        *further_research.EXPERIMENTS,
        *equations.EXPERIMENTS,
        *marking.EXPERIMENTS,
        price_step.STEP,
        *control.EXPERIMENTS,
    ),
)
