"""Single packet discard keeps the queue short.

Ten connections into a slow link. EPD discards nothing until the queue reaches its threshold of 800 cells. SPD
discards one packet of each connection whose own queue grows: after the start there are never more than 245 cells. The
cost: these senders wait for their timers more often, and their goodput is half of that with EPD.
"""

import tailback as tb

vc = {"count": 10, "framing": {}, "send_processing": "300 us", "start": {"uniform": ["0 ms", "50 ms"]}}
vc |= {"tcp": {"preset": "spd-1998/tahoe"}, "sender_access": {"rate": "155 Mbps", "delay": "3 ms"}}
epd = {"policy": "epd", "buffer": "1000 cells", "threshold": "80 %"}
spd = {"policy": "spd", "buffer": "1000 cells", "dropping_threshold": "20 cells", "congestion_threshold": "20 %"}
spd["epd_threshold"] = "80 %"
scenario = tb.dumbbell(
    name="EPD", rate="10 Mbps", delay="3 ms", queue=epd, flows={"vc": vc}, duration="10 s", traces=["queue"],
)
other = tb.simulate(scenario.with_({"topology.dumbbell.queue": spd}))
tb.simulate(scenario).plot(lines="bottleneck", compare={"SPD": other}, time_range=(0, 10)).savefig("single.svg")
