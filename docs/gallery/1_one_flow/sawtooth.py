"""The sawtooth of one flow.

The window grows by one segment per round trip until the buffer overflows, and then halves. With a buffer of one
bandwidth-delay product, the queue is empty at that moment, but the link is never idle.
"""

import tailback as tb

scenario = tb.dumbbell(
    name="Reno, a buffer of one bandwidth-delay product", rate="10 Mbps", delay="10 ms", buffer="67 packets", duration="50 s",
    flows={"web": {"propagation_rtt": "80 ms", "tcp": {"preset": "sack", "initial_ssthresh": 67}}}, traces=["cwnd", "queue"],
)
tb.simulate(scenario).plot(lines=("web", "bottleneck")).savefig("sawtooth.svg")
