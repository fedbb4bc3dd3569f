"""Incast: a client sends requests to many servers, and all respond through one port.

Alizadeh and others, "Data Center TCP (DCTCP)", SIGCOMM 2010, section 4.2.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tailback._topologies import dumbbell
from tailback.papers import Assumption, Claim, Curves, Experiment, Inequality, Line, Measured, vary
from tailback.papers.standards.members import sender

if TYPE_CHECKING:
    from tailback._run import Run
    from tailback._scenario import Scenario

__all__ = ["EXPERIMENTS"]

# Total size of the responses: 1 MB.
ANSWER = 1_000_000
SERVERS = (2, 5, 10, 15, 20, 25, 30, 35, 40, 50, 60)
MSS = 1460
# A static buffer of 100 kB (66 packets of 1500 bytes), and DCTCP's K at 1 Gbit/s.
BUFFER, THRESHOLD = "66 packets", 20
MIN_RTO_MS = 10


def incast(law: str, servers: int) -> Scenario:
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
    return dumbbell(
        name=f"standards, {servers} servers, {law}", rate="1 Gbps", delay="10 us", queue=queue, flows=flows, duration="10 s"
    )


def completion_ms(run: Run) -> float:
    """Arrival time of the last response."""
    flows = run.flows
    return 1e3 * float((flows["start_s"] + flows["completion_time_s"]).max())


def timeouts(run: Run) -> float:
    """Timeouts of all servers."""
    return float(run.flows["timeouts"].sum())


def of(results: Measured, measure: str, law: str, servers: int) -> Any:
    """A measure at one point."""
    return results.values(measure, law=law, servers=servers)


def up_to_35(results: Measured, law: str) -> Any:
    """Timeouts with all numbers of servers for which two segments each fit in the buffer."""
    return sum(of(results, "timeouts", law, servers) for servers in SERVERS if servers <= 35)


LAWS = ("reno", "cubic", "dctcp")

INCAST = Experiment(
    id="standards/incast",
    title="Incast: many simultaneous responses",
    question="How many servers may respond before timeouts determine the completion time?",
    source='Alizadeh and others, "Data Center TCP", SIGCOMM 2010, section 4.2.1 and figure 18; RFC 8257, section 1',
    variants=tuple(
        variant for law in LAWS for servers in SERVERS for variant in vary(incast(law, servers), law=law, servers=servers)
    ),
    measures={"completion_ms": completion_ms, "timeouts": timeouts},
    claims=(
        Claim(
            "I-dctcp",
            "reproduced",
            "under DCTCP responses of up to 35 servers complete without a timeout",
            lambda results: up_to_35(results, "dctcp"),
            Inequality("<=", 0),
            published=0,
            note="timeouts of all servers, summed over all numbers of servers up to 35",
        ),
        Claim(
            "I-tcp",
            "reproduced",
            "under TCP they do not",
            lambda results: up_to_35(results, "reno"),
            Inequality(">", 0),
            note="the same sum",
        ),
        Claim(
            "I-beyond",
            "reproduced",
            "with 60 servers, two segments each exceed the buffer, and DCTCP's responses have timeouts as well",
            lambda results: of(results, "completion_ms", "dctcp", 60),
            Inequality(">", 8 + MIN_RTO_MS),
        ),
    ),
    panels=(
        (
            Curves(
                "completion_ms", "servers", tuple(Line(law, {"law": law}) for law in LAWS), "last response", "servers", log=True
            ),
            Curves("timeouts", "servers", tuple(Line(law, {"law": law}) for law in LAWS), "timeouts", "servers"),
        ),
    ),
    assumptions=(
        Assumption("round trip", "80 to 120 us, without queues: equal round trips keep senders synchronised"),
        Assumption(
            "connections",
            "the document keeps them open between queries; here each starts in the state of a persistent connection: a window "
            f"of two segments, past slow start, and a timeout of {MIN_RTO_MS} ms",
        ),
        Assumption("answers", "start within 100 us"),
    ),
)

EXPERIMENTS = (INCAST,)
