"""The thesis on single packet discard of 1998: TCP over ATM under EPD, EPD per VC and SPD.

`networks` defines the simulations, `measures` the measured quantities, and `published` the printed tables; the experiments are
grouped by the document's sections. `verdict` opens the report, `unstated_settings` compares settings that the document does not
state, and `future_work` extends it.
"""

from __future__ import annotations

from tailback.papers import Document
from tailback_papers.spd_1998 import bursty, future_work, queues, room, schemes, thresholds, two_paths, unstated_settings, verdict

__all__ = ["DOCUMENT"]

DOCUMENT = Document(
    id="spd-1998",
    title="Single packet discard for TCP over ATM",
    citation='Y.-S. F. Sun, "Regulation of TCP Flow in Heterogeneous Networks Using Packet Discarding Schemes", M.Eng. thesis, '
    "MIT, 1998. Its simulations used NetSim.",
    lead="spd-1998/verdict",
    assumptions={
        "duration, timer and fast retransmit": "two settings, named in each experiment; see the experiment duration",
        "number of runs": "the document has single runs (five in section 5.4); here one run per seed, with confidence intervals",
        "start of the connections": "uniform over the first 50 ms; they never end",
        "the ratio": "cells that reach the receivers in whole packets, including duplicate packets, divided by cells that switch "
        "1 has sent. Section 4.2 counts at switch 3 and section 5.2 at switch 2: 3 ms of the run apart",
        "cells of a packet": "23: 1024 octets with 40 of TCP and IP and 8 of AAL5. The text uses 1024 / 53, about 20. The "
        "experiment choices also has 20 and 22, and figures 5.1 to 5.6 have 20",
        "mean processing delay of 300 us": "fixed, sequential, at the sender for each packet and at the receiver before each "
        "acknowledgement",
        "segmentation and reassembly delay of 300 ns a packet": "at both ends, also for acknowledgements; it does not delay the "
        "next packet",
        "the printed code of SPD": "corrected: `Dropping == FALSE;` is read as an assignment. Figures 5.1 to 5.6 also show it as "
        "printed",
        "active connections": "all connections, for EPD per VC; see the experiment active",
        "return path": "the same links, where cells of acknowledgements are never queued",
    },
    experiments=(
        *verdict.EXPERIMENTS,
        *thresholds.EXPERIMENTS,
        *schemes.EXPERIMENTS,
        *room.EXPERIMENTS,
        *bursty.EXPERIMENTS,
        *queues.EXPERIMENTS,
        *two_paths.EXPERIMENTS,
        *unstated_settings.EXPERIMENTS,
        *future_work.EXPERIMENTS,
    ),
)
