"""RCP: one rate for all flows.

Every four seconds another flow starts. The queue assigns the same rate to all of them. The first flow takes two
seconds to fill the link; each new flow has its full share after 0.4 s, ten round trips, at the cost of a short queue.
"""

import tailback as tb

web = {"preset": "sack", "controller": "rcp"}
scenario = tb.dumbbell(
    name="RCP, a new flow every four seconds", rate="20 Mbps", delay="5 ms", queue={"policy": "rcp", "buffer": "100 packets"},
    flows={"web": {"count": 4, "start": ["0 s", "4 s", "8 s", "12 s"], "propagation_rtt": "40 ms", "tcp": web}},
    record={"traces": {"throughput": {"bin": "200 ms", "flows": ["web"]}, "queue": ["bottleneck"]}}, duration="16 s",
)
tb.simulate(scenario).plot().savefig("rcp.svg")
