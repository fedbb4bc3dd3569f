"""BBR and CUBIC, by buffer size.

With a buffer of up to one bandwidth-delay product, BBR, which ignores losses, leaves CUBIC 6 to 7 % of the link. With
a buffer of two products, CUBIC, which fills the buffer, gets 39 ± 8 %, and with six 55 ± 3 %.
"""

import tailback as tb

rtt = {"uniform": ["36 ms", "44 ms"]}
both = {name: {"propagation_rtt": rtt, "tcp": {"preset": f"linux/{name}"}} for name in ("bbr", "cubic")}
queue = {"buffer": "100 %", "bdp_rtt": "40 ms"}
scenario = tb.dumbbell(rate="20 Mbps", delay="5 ms", queue=queue, flows=both, duration="60 s", warmup="20 s")
study = tb.sweep(scenario, {"topology.dumbbell.queue.buffer": ["50 %", "100 %", "200 %", "300 %", "400 %", "600 %"]}, seeds=4)
study.plot("groups.cubic.goodput_bps").savefig("bbr_beside_cubic.svg")

assert [
    round(share, 2) for share in study.means("groups.cubic.goodput_bps / 20e6")["mean"]
] == [0.06, 0.07, 0.39, 0.52, 0.52, 0.55]
