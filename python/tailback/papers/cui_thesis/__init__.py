"""The thesis of Y. Cui on buffers of core switches, FAST TCP and congestion prices: chapters 2 to 5.

Of chapter 2 (background) `signals` has RED and REM alone and `marked_tcp` under TCP. Of chapter 3 `losses` has what the
open-loop figures are made of and `open_loop` these figures, `closed_loop` models of trunks that TCP loads, `sizing` the sizing
rules; by packets, `intervals` has when packets come, `packets` what was extrapolated, `parameters` those of a trunk, `access`
and `unpaced` senders that do not pace, `tried` the closed loop and the rule for trunks, and `links_tried` those for a single
link. Of chapter 4 (packets) `fast` and `vegas` have flows that arrive one after the other, `draining` flows that empty the
queues once, `overflow` flows whose buffer is too small, `appendix_b` the rest, `further` what the document leaves to further
research. Of chapter 5 (prices) `marking` has what receivers conclude from marks and `control` sources that go by it. `tables`
has the printed numbers.
"""

from __future__ import annotations

from tailback.papers import Assumption, Document
from tailback.papers.cui_thesis import (
    access,
    appendix_b,
    closed_loop,
    control,
    draining,
    fast,
    further,
    intervals,
    links_tried,
    marked_tcp,
    marking,
    open_loop,
    overflow,
    packets,
    parameters,
    signals,
    sizing,
    tried,
    unpaced,
    vegas,
)

__all__ = ["DOCUMENT"]

DOCUMENT = Document(
    id="cui-thesis",
    title="Three problems in TCP performance analysis and congestion management",
    citation="Y. Cui, Three problems in TCP performance analysis and congestion management, PhD thesis. It simulated with ns-2.",
    assumptions=(
        Assumption(
            "which claims must hold",
            "it sorts none: R is what held with seeds enough when the experiment was run here, and guards against change; N is "
            "what was contradicted, or could not be told",
        ),
        Assumption(
            "how long a packet takes to leave that had to wait",
            "as long as it took to come, as a packet of some length does; where chains can be solved, beside it an exponential "
            "time drawn anew, which ends its reception, too (coupled) or does not (fresh). Without places there is no difference",
        ),
        Assumption("mean packet time in the open loop", "1: only the ratio of gaps to packets matters"),
        Assumption(
            "length of the open-loop simulations",
            "for each seed until its 95 % interval is 9.5 % wide, so that of ten seeds is 3 % wide, as the document "
            "has it; or until 4 million packets have come, which is not enough at light load with few inputs and ten places",
        ),
        Assumption(
            "packet size", "1040 bytes on the wire in chapter 3: 1000 of payload, as stated, and 40 of headers; rules come out so"
        ),
        Assumption("harmonic mean of 60 to 180 ms", "120 ms / ln 3 = 109.2 ms; 109.1 ms is printed"),
        Assumption(
            "chapter 4",
            "figures 4.1 to 4.22, table 4.1 and B.1 to B.15, as far as they claim something; FAST by (4.1) and, where it "
            "differs, as the ns-2 module did it",
        ),
    ),
    experiments=(
        *signals.EXPERIMENTS,
        *marked_tcp.EXPERIMENTS,
        *closed_loop.EXTRAPOLATIONS,
        *open_loop.EXPERIMENTS,
        intervals.INTERVALS,
        *packets.EXPERIMENTS,
        *parameters.EXPERIMENTS,
        access.ACCESS,
        unpaced.UNPACED,
        *closed_loop.FIGURES,
        *tried.CLOSED_LOOP,
        *sizing.EXPERIMENTS,
        *tried.SIZING,
        *links_tried.LINKS,
        *fast.EXPERIMENTS,
        *vegas.EXPERIMENTS,
        *draining.EXPERIMENTS,
        *overflow.EXPERIMENTS,
        *appendix_b.EXPERIMENTS,
        *further.EXPERIMENTS,
        *marking.EXPERIMENTS,
        *control.EXPERIMENTS,
    ),
)
