"""Comparison of current standards: statements of RFCs about controllers and queues, tested under the same conditions.

`members` selects the controllers and queue policies automatically: a new one takes part in the next run. `response` has windows
over loss, `pairs` the shares of pairs of controllers, `queues` the scenarios of RFC 7928, `coexistence` scalable and Classic
senders behind DualPI2, and `incast` many simultaneous responses.
"""

from __future__ import annotations

from tailback.papers import Document
from tailback_papers.standards import coexistence, incast, pairs, queues, response
from tailback_papers.standards.members import given

__all__ = ["DOCUMENT"]

DOCUMENT = Document(
    id="standards",
    title="Today's standards on one bench",
    citation="RFC 3649 (HighSpeed TCP), RFC 5681 (TCP congestion control), RFC 6817 (LEDBAT), RFC 7928 (characterization of "
    "AQMs), RFC 8033 (PIE), RFC 8257 (DCTCP), RFC 8289 (CoDel), RFC 8290 (FQ-CoDel), RFC 9332 (DualQ Coupled AQM), RFC 9438 "
    "(CUBIC).",
    assumptions={
        "senders": "SACK with timestamps, an initial window of 10, no delayed acknowledgements, packets of 1040 bytes",
        "tested controllers and policies": "every controller that needs neither prices nor marks, with default settings, and "
        f"every queue policy over packets that discards by itself. Some have required settings: {given()}",
    },
    experiments=(*response.EXPERIMENTS, *pairs.EXPERIMENTS, *queues.EXPERIMENTS, *coexistence.EXPERIMENTS, *incast.EXPERIMENTS),
)
