"""XCP: a full link and hardly a queue.

Each packet is told by how much its flow may change its rate. Newcomers take more than a second to nine tenths of
their share, for they get it in small parts. The queue has 23 packets at the start, and never more than 12 after that.
"""

import tailback as tb

web = {"preset": "sack", "controller": "xcp"}
scenario = tb.dumbbell(
    name="XCP, a new flow every four seconds", rate="20 Mbps", delay="5 ms", queue={"policy": "xcp", "buffer": "100 packets"},
    flows={"web": {"count": 4, "start": ["0 s", "4 s", "8 s", "12 s"], "propagation_rtt": "40 ms", "tcp": web}},
    record={"traces": {"throughput": {"bin": "200 ms", "flows": ["web"]}, "queue": ["bottleneck"]}}, duration="16 s",
)
tb.simulate(scenario).plot().savefig("xcp.svg")
