"""Incast: a client sends requests to many servers, and all respond through one port.

Alizadeh and others, "Data Center TCP (DCTCP)", SIGCOMM 2010, section 4.2.1.
"""

from __future__ import annotations

from typing import Any

import tailback as tb
from tailback.papers import Curves, Experiment, Expression, at, lines, variants
from tailback_papers.claims import claims_of
from tailback_papers.standards.members import sender

__all__ = ["EXPERIMENTS"]

claim = claims_of(__name__)

# Total size of the responses: 1 MB.
ANSWER = 1_000_000
SERVERS = (2, 5, 10, 15, 20, 25, 30, 35, 40, 50, 60)
MSS = 1460
# A static buffer of 100 kB (66 packets of 1500 bytes), and DCTCP's K at 1 Gbit/s.
BUFFER, THRESHOLD = "66 packets", 20
MIN_RTO_MS = 10


def incast(law: str, servers: int) -> tb.Scenario:
    """All servers respond within a tenth of a millisecond, with the windows and timers of persistent connections."""
    marks = {"ecn": True} if law == "dctcp" else {}
    timer = {"min_rto": f"{MIN_RTO_MS} ms", "initial_rto": f"{MIN_RTO_MS} ms"}
    tcp = sender(law, mss=f"{MSS} B", initial_window=2, initial_ssthresh=2, timer=timer, **marks)
    flows: Any = {
        "server": {
            "count": servers,
            "propagation_rtt": {"uniform": ["80 us", "120 us"]},
            "size": f"{ANSWER // servers} B",
            "start": {"uniform": ["0 us", "100 us"]},
            "tcp": tcp,
        }
    }
    policy = {"policy": "threshold", "threshold": f"{THRESHOLD} packets"} if law == "dctcp" else {"policy": "drop_tail"}
    queue: Any = {**policy, "buffer": BUFFER}
    return tb.dumbbell(
        name=f"standards, {servers} servers, {law}", rate="1 Gbps", delay="10 us", queue=queue, flows=flows, duration="10 s"
    )


def up_to_35(law: str) -> Expression:
    """Timeouts with all numbers of servers for which two segments each fit in the buffer."""
    return at("timeouts", law=law, servers=tuple(each for each in SERVERS if each <= 35)).sum()


LAWS = ("reno", "cubic", "dctcp")

INCAST = Experiment(
    id="standards/incast",
    title="Incast: many simultaneous responses",
    question="How many servers may respond before timeouts determine the completion time?",
    source='Alizadeh and others, "Data Center TCP", SIGCOMM 2010, section 4.2.1 and figure 18; RFC 8257, section 1',
    variants=variants(incast, law=LAWS, servers=SERVERS),
    measures={"completion_ms": "1e3 * max(flows.*.start_s + flows.*.completion_time_s)", "timeouts": "sum(flows.*.timeouts)"},
    claims=(
        claim("I-dctcp", up_to_35("dctcp") <= 0),
        claim("I-tcp", up_to_35("reno") > 0),
        claim("I-beyond", at("timeouts", law="dctcp", servers=60) > 0),
    ),
    panels=(
        (
            Curves("completion_ms", "servers", lines("law", LAWS), "last response", "servers", log=True),
            Curves("timeouts", "servers", lines("law", LAWS), "timeouts", "servers"),
        ),
    ),
    assumptions={
        "round trip": "80 to 120 us, without queues: equal round trips keep senders synchronised",
        "connections": "the document keeps them open between queries; here each starts in the state of a persistent connection: "
        f"a window of two segments, past slow start, and a timeout of {MIN_RTO_MS} ms",
        "answers": "start within 100 us",
    },
)

EXPERIMENTS = (INCAST,)
