"""Discard or rate control: TCP over UBR with discard policies, and over ABR with switches that set EFCI or explicit rates.

spd-1998 reviews both (section 2.3) and measures the first. Here both run on its network and on that of bpd-2001: `networks`
defines the simulations, `measures` the measured quantities, and `verdict` the comparison.
"""

from __future__ import annotations

from tailback.papers import Document
from tailback_papers.abr import verdict

__all__ = ["DOCUMENT"]

DOCUMENT = Document(
    id="abr",
    title="Discard or rate control for TCP over ATM",
    citation="ATM Forum, Traffic management specification 4.0, af-tm-0056.000, 1996; Kalyanaraman, Jain, Fahmy, Goyal "
    "and Vandalore, "
    '"The ERICA switch algorithm for ABR traffic management in ATM networks", IEEE/ACM ToN 8(1), 2000; Narvaez and Siu, '
    '"An acknowledgment bucket scheme for regulating TCP flow over ATM", IEEE Globecom 1997; reviewed by spd-1998, section 2.3.',
    lead="abr/verdict",
    assumptions=verdict.LEFT_OPEN,
    experiments=verdict.EXPERIMENTS,
)
