"""TCP with bursts of datagrams.

A source without congestion control alternates randomly between on and off, with three on periods in the first half.
Each burst displaces the four TCP flows, which need up to a second to fill the link again.
"""

import tailback as tb

video = {"kind": "on_off", "rate": "10 Mbps", "packet_size": "1000 B", "header": "28 B", "mean_on": "3 s", "mean_off": "3 s"}
scenario = tb.dumbbell(
    name="four TCP flows and an on-off source", rate="20 Mbps", delay="10 ms", buffer="50 packets", duration="30 s",
    flows={
        "tcp": {"count": 4, "propagation_rtt": {"evenly": ["40 ms", "80 ms"]}, "tcp": {"preset": "sack"}},
        "video": {"source": video},
    },
    record={"traces": {"throughput": {"bin": "250 ms", "flows": ["tcp", "video"]}}},
)
tb.simulate(scenario).plot(by="group").savefig("on_off.svg")
