"""Three ends of slow start.

Standard slow start ends when the queue has overflowed, and loses more packets than the window ever contained. HyStart
stops when the RTT increases, and loses nothing. HyStart++ first slows down, in case the increase was spurious: it
still fills the buffer, but loses a tenth as much as standard slow start.
"""

import tailback as tb

scenario = tb.dumbbell(
    name="standard", rate="50 Mbps", delay="10 ms", buffer="500 packets", duration="3 s",
    flows={"web": {"propagation_rtt": "60 ms", "tcp": {"preset": "cubic", "timestamps": True}}}, traces=["cwnd", "queue"],
)
runs = {kind: tb.simulate(scenario.with_({"flows.web.tcp.slow_start": kind})) for kind in ("hystart", "hystart++")}
tb.simulate(scenario).plot(lines=("web", "bottleneck"), compare=runs).savefig("slow_start.svg")
