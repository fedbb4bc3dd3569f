"""Retransmissions saved by ECN.

PIE signals congestion about equally often in both cases. Without ECN, each signal is a discarded packet, which has to
be retransmitted; with ECN, it is a mark.
"""

import matplotlib.pyplot as plt

import tailback as tb

web = {"count": 10, "propagation_rtt": {"evenly": ["60 ms", "120 ms"]}, "tcp": {"preset": "sack"}}
queue = {"policy": "pie", "buffer": "200 packets"}
scenario = tb.dumbbell(rate="20 Mbps", delay="10 ms", queue=queue, flows={"web": web}, duration="60 s", warmup="10 s")
figure, axes = plt.subplots(1, 2, sharey=True)
for axis, (title, ecn) in zip(axes, {"without ECN": False, "with ECN": True}.items(), strict=True):
    run = tb.simulate(scenario.with_({"flows.web.tcp.ecn": ecn}))
    bottleneck = run.queues.where(queue="bottleneck")
    counts = [bottleneck["marked_units"][0], bottleneck["dropped_units"][0], run.flows["retransmitted_packets"].sum()]
    axis.bar(["marked", "discarded", "sent again"], counts)
    axis.set_title(title)
axes[0].set_ylabel("packets in 50 s")
figure.savefig("ecn.svg")
