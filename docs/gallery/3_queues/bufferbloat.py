"""Bufferbloat, and CoDel.

With a buffer of a thousand packets and drop-tail, an RTT of 50 ms grows to half a second or more. After the start,
CoDel keeps it below 70 ms by discarding one packet in a thousand.
"""

import tailback as tb

scenario = tb.dumbbell(
    name="drop-tail", rate="20 Mbps", delay="10 ms", buffer="1000 packets", duration="40 s", traces=["rtt"],
    flows={"web": {"count": 2, "propagation_rtt": ["50 ms", "60 ms"], "tcp": {"preset": "linux/cubic"}}},
)
codel = tb.simulate(scenario.with_({"topology.dumbbell.queue.policy": "codel"}))
tb.simulate(scenario).plot(lines="web 0", compare={"CoDel": codel}).savefig("bufferbloat.svg")

late = codel.trace("rtt").where(flow=0)
assert late["rtt_s"][late["time_s"] > 5].max() < 0.075
assert 0.0005 < codel.queues["loss_rate"][0] < 0.0015
