"""CUBIC and Reno after the same loss.

CUBIC returns to its window of 300 four seconds after the loss, and stays there for another five before it probes for
more. Reno adds one segment per round trip, and has not recovered by the end.
"""

import tailback as tb

scenario = tb.dumbbell(
    name="a loss at a window of 300, round trip 100 ms", rate="10 Gbps", delay="10 ms", buffer="unlimited", duration="16 s",
    flows={
        "cubic": {"propagation_rtt": "100 ms", "tcp": {"preset": "cubic", "initial_ssthresh": 300, "delayed_ack": False}},
        "reno": {"propagation_rtt": "100 ms", "tcp": {"preset": "sack", "initial_ssthresh": 300, "delayed_ack": False}},
    },
    traces=["cwnd"],
).with_({"topology.dumbbell.loss": {"drops": [{"group": group, "segment": 3000} for group in ("cubic", "reno")]}})
tb.simulate(scenario).plot().savefig("cubic.svg")
