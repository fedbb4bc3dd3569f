"""BBR probes.

BBR sends at the rate of delivery. In cycles of eight round trips it probes for more, which shows as a queue of some
20 packets, and every ten seconds or so it nearly stops to see the shortest round trip.
"""

import tailback as tb

scenario = tb.dumbbell(
    name="BBR version 1 alone", rate="20 Mbps", delay="10 ms", buffer="134 packets", duration="25 s",
    flows={"bbr": {"propagation_rtt": "40 ms", "tcp": {"preset": "linux/bbr"}}}, traces=["in_flight", "queue"],
)
tb.simulate(scenario).plot(lines=("bbr", "bottleneck"), span=(8, 13)).savefig("bbr.svg")
