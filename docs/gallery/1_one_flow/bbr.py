"""Bandwidth probing of BBR.

BBR sends at the measured delivery rate. It probes for more bandwidth in cycles of eight round trips, which builds a
queue of about 20 packets, and every ten seconds it almost stops sending to measure the minimum RTT.
"""

import tailback as tb

scenario = tb.dumbbell(
    name="BBR version 1 alone", rate="20 Mbps", delay="10 ms", buffer="134 packets", duration="25 s",
    flows={"bbr": {"propagation_rtt": "40 ms", "tcp": {"preset": "linux/bbr"}}}, traces=["in_flight", "queue"],
)
tb.simulate(scenario).plot(lines=("bbr", "bottleneck"), time_range=(8, 13)).savefig("bbr.svg")
