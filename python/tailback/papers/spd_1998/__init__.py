"""The thesis on single packet discard of 1998: TCP over ATM under EPD, EPD per VC and SPD.

`networks` has what is simulated, `measures` what is measured and `published` what the tables print; the experiments are grouped
as the document's sections are. `verdict` leads the report, `choices` shows what the document leaves open, `beyond` goes on from
its end.
"""

from __future__ import annotations

from tailback.papers import Assumption, Document
from tailback.papers.spd_1998 import beyond, bursty, choices, queues, schemes, thresholds, verdict, ways

__all__ = ["DOCUMENT"]

DOCUMENT = Document(
    id="spd-1998",
    title="Single packet discard for TCP over ATM",
    citation='Y.-S. F. Sun, "Regulation of TCP Flow in Heterogeneous Networks Using Packet Discarding Schemes", M.Eng. thesis, '
    "MIT, 1998. Its simulations used NetSim.",
    lead="spd-1998/verdict",
    assumptions=(
        Assumption(
            "duration, timer and fast retransmit", "settings side by side, named in each experiment; see the experiment duration"
        ),
        Assumption(
            "number of runs", "the document has single runs (five in section 5.4); here a run for each seed, and intervals"
        ),
        Assumption("start of the connections", "uniform over the first 50 ms; they never end"),
        Assumption(
            "the ratio",
            "cells that reach the receivers in whole packets, also packets that had arrived before, over cells that switch 1 has "
            "sent. Section 4.2 counts at switch 3 and section 5.2 at switch 2: 3 ms of the run apart",
        ),
        Assumption(
            "cells of a packet",
            "23: 1024 octets with 40 of TCP and IP and 8 of AAL5. The text reckons with 1024 / 53, about 20. With 20 and 22 "
            "beside it in the experiment choices, and 20 in figures 5.1 to 5.6",
        ),
        Assumption(
            "mean processing delay of 300 us",
            "fixed, at the sender for each packet and at the receiver before each acknowledgement, one after another",
        ),
        Assumption(
            "segmentation and reassembly delay of 300 ns a packet",
            "at either end, for acknowledgements too; the next packet need not wait for it",
        ),
        Assumption(
            "the printed code of SPD",
            "corrected: `Dropping == FALSE;` is read as an assignment. As printed it is in figures 5.1 to 5.6 beside it",
        ),
        Assumption("active connections", "all that there are, for EPD per VC; see the experiment active"),
        Assumption("return path", "the same links, and cells of acknowledgements never wait there"),
    ),
    experiments=(
        *verdict.EXPERIMENTS,
        *thresholds.EXPERIMENTS,
        *schemes.EXPERIMENTS,
        *bursty.EXPERIMENTS,
        *queues.EXPERIMENTS,
        *ways.EXPERIMENTS,
        *choices.EXPERIMENTS,
        *beyond.EXPERIMENTS,
    ),
)
