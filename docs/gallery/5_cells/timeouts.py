"""Why a link is idle with EPD.

Windows with several losses wait for a coarse timer. While three of five connections wait, the others cannot fill the
link, and the queue is almost empty. For comparison, BPD keeps all but one connection active.
"""

import tailback as tb

vc = {"count": 5, "framing": {"trailer": "0 B"}, "sender_access": {"rate": "30 Mbps", "delay": "0.3 ms"}, "jitter": "20 us"}
vc |= {"start": {"uniform": ["0 ms", "50 ms"]}, "tcp": {"preset": "bpd-2001/reno", "timer": {"tick": "0.3 s"}}}
scenario = tb.dumbbell(
    name="EPD", rate="75 Mbps", delay="0.3 ms", queue={"policy": "epd", "threshold": "40 %", "buffer": "1200 cells"},
    flows={"vc": vc}, duration="3.5 s", traces=["cwnd", "queue"],
)
bpd = {"policy": "bpd", "lower_threshold": "40 %", "upper_threshold": "90 %", "gap": 25, "buffer": "1200 cells"}
other = tb.simulate(scenario.with_({"topology.dumbbell.queue": bpd}))
tb.simulate(scenario).plot(lines=("vc", "bottleneck"), time_range=(2.5, 3.5), compare={"BPD": other}).savefig("timeouts.svg")
