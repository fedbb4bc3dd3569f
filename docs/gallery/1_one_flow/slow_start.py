"""Three ways out of slow start.

The standard one ends when the queue has overflown, and more is lost than the window ever held. HyStart stops as round
trips grow, and loses nothing. HyStart++ slows down first, in case that was a false alarm: it fills the buffer all the
same, but loses a tenth of what the standard one does.
"""

import tailback as tb

scenario = tb.dumbbell(
    name="standard", rate="50 Mbps", delay="10 ms", buffer="500 packets", duration="3 s",
    flows={"web": {"propagation_rtt": "60 ms", "tcp": {"preset": "cubic", "timestamps": True}}}, traces=["cwnd", "queue"],
)
runs = {kind: tb.simulate(scenario.with_({"flows.web.tcp.slow_start": kind})) for kind in ("hystart", "hystart++")}
tb.simulate(scenario).plot(lines=("web", "bottleneck"), beside=runs).savefig("slow_start.svg")
