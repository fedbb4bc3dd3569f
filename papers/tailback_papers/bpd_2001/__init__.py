"""The balanced packet discard paper of 2001: TCP over ATM under plain switches, PPD, EPD and BPD.

`networks` defines the simulations and `measures` the measured quantities; the experiments are grouped by the document's sections.
`demonstration` is a question of `tailback demo`.
"""

from __future__ import annotations

from tailback.papers import Document, Experiment
from tailback_papers.bpd_2001 import fairness, mixed, tcp_examples, timers, topology_a, topology_b, traces

__all__ = ["DOCUMENT"]


def _figure(experiment: Experiment) -> int:
    return int(experiment.id.rpartition("fig")[2])


DOCUMENT = Document(
    id="bpd-2001",
    title="Balanced packet discard for TCP over ATM",
    citation="The paper on balanced packet discard (BPD), Elsevier, 2001. Its simulations used a modified NS 1.4.",
    assumptions={
        "duration": "10 s from the start of the run, including start-up: the axis of figure 17",
        "start of the connections": "uniform over the first 50 ms; they never end",
        "randomness that prevents phase locking of the simulation": "a random delay of up to 20 us for each packet, and the "
        "random starts",
        "initial slow-start threshold": "the maximum window, 64 KB or 122 segments, as in the simulator used",
        "acknowledgements": "one per segment, one cell each, over an uncongested return path",
        "cells of a packet": "12, as stated twice; with the 8 octets that AAL5 appends it would be 13",
        "the flow chart of BPD (figure 10)": "from section 4: the last cell of the lost packet does not count towards the gap, "
        "and a loss within the gap restarts it",
    },
    experiments=(
        *sorted(
            (
                *tcp_examples.EXPERIMENTS,
                *timers.EXPERIMENTS,
                *topology_a.EXPERIMENTS,
                *topology_b.EXPERIMENTS,
                *traces.EXPERIMENTS,
                *mixed.EXPERIMENTS,
            ),
            key=_figure,
        ),
        topology_a.DEGRADATION,
        *fairness.EXPERIMENTS,
    ),
)
