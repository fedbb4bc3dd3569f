"""Discard policies of an ATM switch.

Five TCP connections, three of which could fill the link. Discarding single cells wastes the rest of their packets;
EPD discards whole packets; BPD spares connections with a recent loss, and has 6 timeouts in a run where EPD has 30.
"""

import tailback as tb

bpd = {"policy": "bpd", "lower_threshold": "40 %", "upper_threshold": "90 %", "gap": 25}
switch = {name: {"policy": name} for name in ("drop_tail", "ppd")} | {"epd": {"policy": "epd", "threshold": "80 %"}, "bpd": bpd}
vc = {"count": 5, "framing": {"trailer": "0 B"}, "sender_access": {"rate": "30 Mbps", "delay": "0.3 ms"}, "jitter": "20 us"}
vc |= {"start": {"uniform": ["0 ms", "50 ms"]}, "tcp": {"preset": "bpd-2001/reno", "timer": {"tick": "0.3 s"}}}
scenario = tb.dumbbell(rate="75 Mbps", delay="0.3 ms", buffer="1200 cells", flows={"vc": vc}, duration="10 s")
variants = {name: {"topology.dumbbell.queue": {"buffer": "1200 cells", **queue}} for name, queue in switch.items()}
study = tb.sweep(scenario, {"policy": variants}, seeds=5)
study.plot("groups.vc.goodput_bps").savefig("discard.svg")

assert [round(count) for count in study.means("sum(flows.*.timeouts)")["mean"]][2:] == [30, 6]
