"""The balanced packet discard paper of 2001: TCP over ATM under plain switches, PPD, EPD and BPD."""

from __future__ import annotations

from tailback.papers.bpd_2001 import tcp_examples
from tailback.papers.experiment import Document, LeftOpen

__all__ = ["DOCUMENT"]

DOCUMENT = Document(
    id="bpd-2001",
    title="Balanced packet discard for TCP over ATM",
    citation="The balanced packet discard (BPD) paper, Elsevier, 2001. Its simulations used a modified NS 1.4.",
    left_open=(LeftOpen("duration", "10 s from the start of the run, which is included; 10 s is the axis of figure 17"),),
    experiments=tuple(sorted(tcp_examples.EXPERIMENTS, key=lambda each: int(each.id.rpartition("fig")[2]))),
)
