"""Vegas keeps a few packets queued.

After the start, four Vegas flows together keep 9 to 15 packets in the queue, and lose nothing. Four Reno flows fill
the buffer repeatedly.
"""

import tailback as tb

scenario = tb.dumbbell(
    name="vegas", rate="20 Mbps", delay="20 ms", buffer="100 packets", duration="20 s", traces=["cwnd", "queue"],
    flows={
        "four": {"count": 4, "propagation_rtt": {"evenly": ["60 ms", "80 ms"]}, "tcp": {"preset": "sack", "timestamps": True}},
    },
)
vegas = tb.simulate(scenario.with_({"flows.four.tcp.controller": "vegas"}))
vegas.plot(lines=("four", "bottleneck"), compare={"reno": tb.simulate(scenario)}, time_range=(0, 20)).savefig("vegas.svg")

late = vegas.trace("queue").where(queue="bottleneck")
late = late["queue_units"][late["time_s"] > 5]
assert (late.min(), late.max(), vegas.flows["retransmitted_packets"].sum()) == (9, 15, 0)
