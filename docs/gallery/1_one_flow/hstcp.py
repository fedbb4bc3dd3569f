"""HighSpeed TCP at large windows.

At the same random loss rate, HighSpeed TCP has about twice Reno's window: with a larger window it grows faster and
decreases less.
"""

import tailback as tb

tcp = {"preset": "sack", "initial_ssthresh": 150, "delayed_ack": False}
scenario = tb.dumbbell(
    name="one packet in 10,000 is lost, round trip 100 ms", rate="10 Gbps", delay="10 ms", buffer="unlimited", duration="100 s",
    flows={
        "hstcp": {"propagation_rtt": "100 ms", "tcp": {**tcp, "controller": "hstcp"}},
        "reno": {"propagation_rtt": "100 ms", "tcp": tcp},
    },
    traces=["cwnd"],
).with_({"topology.dumbbell.loss": {"probability": 1e-4}})
tb.simulate(scenario).plot().savefig("hstcp.svg")
