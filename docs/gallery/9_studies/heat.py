"""A study as a heat map.

Utilisation over buffer and number of flows, at 25 points with three seeds each. A buffer of one bandwidth-delay
product fills the link with any number of flows. At 5 % of it, a few bursty flows do worse than one flow, and many
flows better than a few.
"""

import tailback as tb

web = {"propagation_rtt": {"uniform": ["60 ms", "100 ms"]}, "start": {"uniform": ["0 s", "2 s"]}, "tcp": {"preset": "sack"}}
queue = {"buffer": "50 %", "bdp_rtt": "80 ms"}
scenario = tb.dumbbell(rate="20 Mbps", delay="5 ms", queue=queue, flows={"web": web}, duration="40 s", warmup="15 s")
buffers = ["5 %", "10 %", "20 %", "50 %", "100 %"]
study = tb.sweep(scenario, {"topology.dumbbell.queue.buffer": buffers, "flows.web.count": [1, 2, 5, 10, 20]}, seeds=3)
study.plot("queues.bottleneck.utilisation", kind="heat").savefig("heat.svg")
