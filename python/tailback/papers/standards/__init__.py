"""Today's standards on one bench: what RFCs say of controllers and queues, tried beside one another.

`members` says which controllers and queue policies take part, and nobody lists them: a new one is tried with the next run.
`response` has windows over loss, `pairs` who shares with whom, `queues` the scenarios of RFC 7928, `coexistence` scalable
and Classic senders behind DualPI2, `incast` many answers at once.
"""

from __future__ import annotations

from tailback.papers import Assumption, Document
from tailback.papers.standards import coexistence, incast, pairs, queues, response
from tailback.papers.standards.members import given

__all__ = ["DOCUMENT"]

DOCUMENT = Document(
    id="standards",
    title="Today's standards on one bench",
    citation="RFC 3649 (HighSpeed TCP), RFC 5681 (TCP congestion control), RFC 6817 (LEDBAT), RFC 7928 "
    "(characterization of AQMs), RFC 8033 (PIE), RFC 8257 (DCTCP), RFC 8289 (CoDel), RFC 8290 (FQ-CoDel), "
    "RFC 9332 (DualQ Coupled AQM), RFC 9438 (CUBIC).",
    assumptions=(
        Assumption(
            "senders", "SACK with timestamps, an initial window of 10, no delayed acknowledgements, packets of 1040 bytes"
        ),
        Assumption(
            "who takes part",
            "every controller that needs neither prices nor marks, with the settings that it has unless given, and every queue "
            f"policy over packets that discards by itself. Some have to be given settings: {given()}",
        ),
    ),
    experiments=(
        *response.EXPERIMENTS,
        *pairs.EXPERIMENTS,
        *queues.EXPERIMENTS,
        *coexistence.EXPERIMENTS,
        *incast.EXPERIMENTS,
    ),
)
