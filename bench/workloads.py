"""The dumbbells and other networks that `run.py` measures, and the training set of the guided build."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Settings = dict[str, Any]
"""Arguments of one run, by name."""


@dataclass(frozen=True)
class Workload:
    """One dumbbell: arguments as in `peers/dumbbell.tcl`, and their changes for comparisons with ns-3."""

    name: str
    settings: Settings
    short: Settings
    """Overrides for the runs compared with ns-3."""
    ns3: Settings = field(default_factory=dict)
    """Additional arguments of ns-3."""

    @property
    def shortened(self) -> Settings:
        return self.settings | self.short


W2: Settings = {"n": 100, "c": 1000, "acc": 100, "rmin": 60, "rmax": 180, "buf": 10, "t": 20, "ss": 100, "start": 1}
WORKLOADS = [
    Workload(
        "W1",
        {"n": 1, "c": 100, "acc": 1000, "rmin": 100, "rmax": 100, "buf": 1202, "t": 100, "ss": 2200, "start": 0},
        short={"t": 20},
        ns3={"sndbuf": 8388608},
    ),
    Workload("W2", W2, short={"t": 2.5}),
    Workload("W3-10", W2 | {"n": 10, "c": 100, "t": 200}, short={"t": 10}),
    Workload("W3-1000", W2 | {"n": 1000, "c": 10000, "t": 3}, short={"t": 0.7, "start": 0.5}, ns3={"weak": 0, "hosts": 100}),
]
IN_CELLS = {
    "ATM-10": {"n": 10, "c": 150, "acc": 150, "buf": 2000, "t": 100, "ss": 100, "start": 1, "cells": 1, "bpd": 1},
    "ATM-100": W2 | {"buf": 22000, "cells": 1, "bpd": 1},
    "ATM-15": {
        "n": 15,
        "c": 10,
        "acc": 155,
        "rmin": 22,
        "rmax": 22,
        "buf": 1000,
        "t": 10,
        "ss": 64,
        "start": 0.05,
        "cells": 1,
        "spd": 1,
    },
}
"""Dumbbells of virtual channels: ATM-100 is W2 with 22 cells per packet, ATM-15 the bottleneck of the document spd-1998 with
15 connections and SPD, at a round trip of 22 ms. The packaged peers have no ATM."""
CELLS_A_PACKET = 22
HOPS: dict[str, tuple[str, Settings, Settings]] = {
    "fat tree, 1024 hosts": ("fat_tree", {"k": 16}, {"k": 8, "size": 500_000}),
    "fat tree, 8192 hosts": ("fat_tree", {"k": 32}, {"k": 8, "size": 500_000}),
    "parking lot of 20": ("parking_lot", {"t": 4}, {"t": 0.5}),
}
"""Program, settings, and changes for counting instructions, which takes fifty times as long. The larger fat tree is the one for
which other data centre simulators publish figures: 100 Gbit/s, 1 us per link, 1 MiB per flow, queues of 200 packets."""
IN_PACKETS: Settings = {"cells": 0, "bpd": 0, "spd": 0, "t": 5}
"""Changes cells back to packets; instructions per packet depend very little on the duration."""
SET_UP_ONLY = {"t": 0.0001}

LONG_PIPE = {"n": 1, "c": 1000, "acc": 1000, "rmin": 1000, "rmax": 1000, "buf": 1000000, "t": 20, "start": 0}
"""A round trip of one second holds any window: `ss` packets and their acknowledgements are in flight, none of them queued."""
SMALL_WINDOW = WORKLOADS[0].settings | {"c": 8.32, "buf": 100, "ss": 183, "t": 1000}
LARGE_WINDOW = WORKLOADS[0].settings | {"c": 832, "buf": 10000, "ss": 18300, "t": 30}
"""W1 with a bandwidth-delay product of 100 and of 10,000 packets."""
FAST_LINK: Settings = LONG_PIPE | {
    "c": 10000,
    "acc": 10000,
    "rmin": 40,
    "rmax": 40,
    "buf": 100000,
    "t": 3,
    "ss": 50000,
    "iw": 50000,
}
"""One flow at 10 Gbit/s, whose window is near 50,000 packets all the time."""
TEN_FLOWS = WORKLOADS[2].settings | {"t": 1000}
"""W3-10, long enough for a comparison of times."""
THOUSAND_FLOWS: Settings = W2 | {"n": 1000, "buf": 10240, "t": 4}
"""At 1 Gbit/s, with FQ-CoDel's usual buffer."""
BY_NUMBERS = TEN_FLOWS | {"law": 4, "buf": 1000}
COMPARED = {
    "window of 10000 over 100": (SMALL_WINDOW, LARGE_WINDOW),
    "FAST over Reno": (FAST_LINK, FAST_LINK | {"law": 1}),
    "FAST as its module over Reno": (FAST_LINK, FAST_LINK | {"law": 2}),
    "Vegas over Reno": (FAST_LINK, FAST_LINK | {"law": 3}),
    "MaxNet by numbers over Reno": (TEN_FLOWS, BY_NUMBERS),
    "MaxNet by marks over numbers": (BY_NUMBERS, BY_NUMBERS | {"law": 5}),
    "drops traced over not": (TEN_FLOWS, TEN_FLOWS | {"trace": 1}),
    "queue traced over not": (TEN_FLOWS, TEN_FLOWS | {"trace": 2}),
    "five traces of each flow over none": (TEN_FLOWS, TEN_FLOWS | {"trace": 3}),
    "CoDel over drop-tail, 1000 flows": (THOUSAND_FLOWS, THOUSAND_FLOWS | {"codel": 1}),
    "FQ-CoDel over CoDel, 1000 flows": (THOUSAND_FLOWS | {"codel": 1}, THOUSAND_FLOWS | {"codel": 2}),
    "the same, in a fifth of the room": (
        THOUSAND_FLOWS | {"codel": 1, "buf": 2000},
        THOUSAND_FLOWS | {"codel": 2, "buf": 2000},
    ),
}
"""Pairs of runs whose cost per packet is compared."""

OF_LAWS: Settings = WORKLOADS[0].settings | {"t": 10}
"""W1, in which the cost per packet of each controller is compared with Reno's."""
FIRST_LAW = 100

MANY_SIZES: list[Settings] = [
    {"n": 1, "c": 50, "acc": 500, "rmin": 80, "rmax": 80, "buf": 400, "t": 20, "ss": 900, "start": 0},
    *({"n": n, "c": 10 * n, "acc": 100, "rmin": 40, "rmax": 150, "buf": 20, "t": 1 + 300 // n} for n in (3, 30, 300)),
]
TRAINING: list[tuple[str, Settings]] = [
    *(("dumbbell", settings | {"sack": sack}) for settings in MANY_SIZES for sack in (0, 1)),
    *(("dumbbell", {"n": 10, "c": 100, "buf": 500, "t": 5, "law": law}) for law in range(1, 6)),
    *(("dumbbell", {"n": 10, "c": 100, "buf": 50, "t": 5, "trace": trace}) for trace in range(1, 6)),
    *(
        ("dumbbell", {"n": 20, "c": 150, "acc": 150, "buf": 3000, "t": 5, "cells": 1} | policy)
        for policy in ({}, {"bpd": 1}, {"spd": 1})
    ),
    ("fat_tree", {"k": 8, "size": 200_000}),
    ("parking_lot", {"t": 0.5}),
]
"""Training set of the guided build: program and settings of runs other than the measured ones, one second in total."""
