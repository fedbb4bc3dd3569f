"""FAST flows that overestimate the base RTT.

Each FAST flow tries to keep 20 packets in the queue. Left: a flow that starts later includes the standing queue in
its base RTT, and keeps more; three flows keep 92. Right: with draining, flows briefly slow down and measure the empty
path; three flows keep 60.
"""

import tailback as tb

fast = {"preset": "sack", "controller": {"kind": "fast", "alpha": 20}, "timestamps": True, "delayed_ack": False}
scenario = tb.dumbbell(
    name="plain", rate="20 Mbps", delay="50 ms", buffer="400 packets", duration="180 s", traces=["cwnd", "queue"],
    flows={"fast": {"count": 3, "start": ["0 s", "60 s", "120 s"], "tcp": fast}},
)
draining = tb.simulate(scenario.with_({"flows.fast.tcp.controller.draining": 10}))
tb.simulate(scenario).plot(lines=("fast", "bottleneck"), compare={"draining": draining}).savefig("fast.svg")

assert round(draining.trace("queue")["queue_units"][-100:].mean()) == 60
