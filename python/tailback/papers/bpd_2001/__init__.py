"""The balanced packet discard paper of 2001: TCP over ATM under plain switches, PPD, EPD and BPD.

`networks` has what is simulated and `measures` what is measured; the experiments are grouped as the document's sections are.
"""

from __future__ import annotations

from tailback.papers import Assumption, Document, Experiment
from tailback.papers.bpd_2001 import mixed, tcp_examples, timers, topology_a, topology_b, traces

__all__ = ["DOCUMENT"]


def _figure(experiment: Experiment) -> int:
    return int(experiment.id.rpartition("fig")[2])


DOCUMENT = Document(
    id="bpd-2001",
    title="Balanced packet discard for TCP over ATM",
    citation="The paper on balanced packet discard (BPD), Elsevier, 2001. Its simulations used a modified NS 1.4.",
    assumptions=(
        Assumption("duration", "10 s from the start of the run, which is included: the axis of figure 17"),
        Assumption("start of the connections", "uniform over the first 50 ms; they never end"),
        Assumption(
            "what keeps a simulation without chance from locking into phase",
            "a random delay of up to 20 us for each packet, and the random starts",
        ),
        Assumption(
            "initial slow-start threshold", "the largest window, 64 KB or 122 segments, as in the simulator that was used"
        ),
        Assumption("acknowledgements", "one for each segment, a cell each, over an uncongested way back"),
        Assumption("cells of a packet", "12: stated twice; with the 8 octets that AAL5 appends it would be 13"),
        Assumption(
            "the flow chart of BPD (figure 10)",
            "from section 4: the last cell of the lost packet does not count for the gap, a loss within the gap begins it anew",
        ),
    ),
    experiments=tuple(
        sorted(
            (
                *tcp_examples.EXPERIMENTS,
                *timers.EXPERIMENTS,
                *topology_a.EXPERIMENTS,
                *topology_b.EXPERIMENTS,
                *traces.EXPERIMENTS,
                *mixed.EXPERIMENTS,
            ),
            key=_figure,
        )
    ),
)
