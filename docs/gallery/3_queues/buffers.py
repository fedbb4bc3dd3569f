"""How much buffer does a link need?

One flow fills the link with a whole bandwidth-delay product, as the closed form (grey) predicts, and 99 % of it with
seven tenths. Five flows fill 99 % with two fifths, and twenty-five flows with a fifth.
"""

import numpy as np

import tailback as tb

web = {"propagation_rtt": {"uniform": ["70 ms", "90 ms"]}, "start": {"uniform": ["0 s", "5 s"]}}
web |= {"tcp": {"preset": "sack", "delayed_ack": False}}
queue = {"buffer": "50 %", "bdp_rtt": "80 ms"}
scenario = tb.dumbbell(rate="20 Mbps", delay="5 ms", queue=queue, flows={"web": web}, duration="120 s", warmup="30 s")
vary = {"flows.web.count": [1, 5, 25], "topology.dumbbell.queue.buffer": ["10 %", "20 %", "40 %", "70 %", "100 %"]}
figure = tb.sweep(scenario, vary, seeds=5).plot("queues.bottleneck.utilisation", by="flows.web.count")
buffer = np.linspace(0.05, 1)
figure.axes[0].plot(100 * buffer, tb.models.single_flow_utilisation(buffer), color="#999999", linewidth=0.8)
figure.savefig("buffers.svg")
