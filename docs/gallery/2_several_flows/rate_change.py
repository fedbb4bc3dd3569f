"""A link that changes its rate.

At 10 s the link becomes four times slower, and the queue fills at once. At 20 s the rate returns. The queued packets
are then in flight, and the flows fill the link again within a second.
"""

import tailback as tb

scenario = tb.dumbbell(
    name="20, 5 and again 20 Mbit/s", rate="20 Mbps", delay="10 ms", buffer="60 packets", duration="30 s",
    flows={"web": {"count": 2, "propagation_rtt": ["50 ms", "55 ms"], "tcp": {"preset": "sack"}}},
    record={"traces": {"throughput": {"bin": "500 ms", "flows": ["web"]}, "queue": ["bottleneck"]}},
    timeline=[{"at": "10 s", "link": "bottleneck", "rate": "5 Mbps"}, {"at": "20 s", "link": "bottleneck", "rate": "20 Mbps"}],
)
tb.simulate(scenario).plot().savefig("rate_change.svg")
