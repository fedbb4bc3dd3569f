"""XCP: a full link without a queue.

Each packet is told by how much its flow may change its rate. Newcomers take a second to their share, for they get it
in small parts, and the queue never has more than some twenty packets.
"""

import tailback as tb

web = {"preset": "sack", "controller": "xcp"}
scenario = tb.dumbbell(
    name="XCP, a new flow every four seconds", rate="20 Mbps", delay="5 ms", queue={"policy": "xcp", "buffer": "100 packets"},
    flows={"web": {"count": 4, "start": ["0 s", "4 s", "8 s", "12 s"], "rtt": "40 ms", "tcp": web}},
    record={"traces": {"throughput": {"bin": "200 ms", "of": ["web"]}, "queue": ["bottleneck"]}}, duration="16 s",
)
tb.simulate(scenario).plot().savefig("xcp.svg")
