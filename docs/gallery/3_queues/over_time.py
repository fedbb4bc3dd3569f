"""Three queue policies with the same traffic.

Drop-tail oscillates between 53 and 200 packets. RED, with thresholds of 20 and 60 packets, and CoDel, with a target
of 5 ms or 8 packets, have mean queues of 16 and 17, and both are empty at times.
"""

import tailback as tb

scenario = tb.dumbbell(
    name="drop-tail", rate="20 Mbps", delay="10 ms", buffer="200 packets", duration="20 s", traces=["queue"],
    flows={"web": {"count": 10, "propagation_rtt": {"evenly": ["60 ms", "120 ms"]}, "tcp": {"preset": "sack"}}},
)
red = {"policy": "red", "buffer": "200 packets", "min_threshold": "20 packets", "max_threshold": "60 packets"}
queues = {"RED": red, "CoDel": {"policy": "codel", "buffer": "200 packets"}}
runs = {name: tb.simulate(scenario.with_({"topology.dumbbell.queue": queue})) for name, queue in queues.items()}
tb.simulate(scenario).plot("queue", lines="bottleneck", compare=runs, time_range=(8, 20)).savefig("over_time.svg")

queue = tb.simulate(scenario).trace("queue").where(queue="bottleneck")
assert (queue["queue_units"][queue["time_s"] > 8].min(), queue["queue_units"].max()) == (53, 200)
