"""Vegas keeps a few packets queued.

Four Vegas flows hold some 8 to 16 packets in the queue between them and lose nothing; four Reno flows fill whatever
buffer there is.
"""

import tailback as tb

scenario = tb.dumbbell(
    name="vegas", rate="20 Mbps", delay="20 ms", buffer="100 packets", duration="20 s", traces=["cwnd", "queue"],
    flows={"four": {"count": 4, "rtt": {"evenly": ["60 ms", "80 ms"]}, "tcp": {"preset": "sack", "timestamps": True}}},
)
vegas = tb.simulate(scenario.with_({"flows.four.tcp.controller": "vegas"}))
vegas.plot(lines=("four", "bottleneck"), beside={"reno": tb.simulate(scenario)}, span=(0, 20)).savefig("vegas.svg")
