"""XCP: a full link with a short queue.

Each packet carries a rate change for its flow. New flows take more than a second to reach nine tenths of their share,
because they receive it in small increments. The queue has 23 packets at the start, and never more than 12 afterwards.
"""

import tailback as tb

web = {"preset": "sack", "controller": "xcp"}
scenario = tb.dumbbell(
    name="XCP, a new flow every four seconds", rate="20 Mbps", delay="5 ms", queue={"policy": "xcp", "buffer": "100 packets"},
    flows={"web": {"count": 4, "start": ["0 s", "4 s", "8 s", "12 s"], "propagation_rtt": "40 ms", "tcp": web}},
    record={"traces": {"throughput": {"bin": "200 ms", "flows": ["web"]}, "queue": ["bottleneck"]}}, duration="16 s",
)
tb.simulate(scenario).plot().savefig("xcp.svg")
