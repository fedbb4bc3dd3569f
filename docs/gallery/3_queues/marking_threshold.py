"""Marking above a threshold.

The switch marks packets that find more than 30 packets queued, and senders with ECN halve their windows: nothing is
lost, and the queue starts to shrink soon after it exceeds 30.
"""

import tailback as tb

queue = {"policy": "threshold", "threshold": "30 packets", "buffer": "200 packets"}
scenario = tb.dumbbell(
    name="a threshold of 30 packets", rate="50 Mbps", delay="2 ms", queue=queue, duration="6 s", traces=["cwnd", "queue"],
    flows={"web": {"count": 2, "propagation_rtt": ["10 ms", "11 ms"], "tcp": {"preset": "sack", "ecn": True}}},
)
tb.simulate(scenario).plot(lines=("web", "bottleneck"), time_range=(4, 6)).savefig("marking_threshold.svg")
