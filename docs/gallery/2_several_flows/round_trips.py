"""Short RTTs get a larger share.

Eight Reno flows share one link. With CoDel, goodput is inversely proportional to the RTT within 15 % (grey line). At a drop-tail
queue, phase effects shift the shares: the flow with the longest RTT gets more than the previous one.
"""

import matplotlib.pyplot as plt
import numpy as np

import tailback as tb

web = {
    "count": 8, "propagation_rtt": {"evenly": ["20 ms", "160 ms"]},
    "start": {"uniform": ["0 s", "1 s"]}, "tcp": {"preset": "sack"},
}
figure, axis = plt.subplots()
for policy, color in (("drop_tail", "#1f5a99"), ("codel", "#c26a1b")):
    queue = {"policy": policy, "buffer": "60 packets"}
    link = tb.dumbbell(rate="20 Mbps", delay="5 ms", queue=queue, flows={"web": web}, duration="300 s", warmup="20 s")
    runs = tb.simulate(link, seeds=3)
    rtt, goodput = (np.array([run.flows[column] for run in runs]) for column in ("mean_rtt_s", "goodput_bps"))
    axis.plot(1e3 * rtt.T, goodput.T / 1e6, "o", color=color, markersize=4)
    axis.plot([], [], "o", color=color, label=policy)
products = (rtt * goodput).mean(axis=0)
assert products.max() / products.min() < 1.15
times = np.linspace(rtt.min(), rtt.max())
axis.plot(1e3 * times, products.mean() / times / 1e6, color="#999999")
axis.set(title="goodput of eight flows, three runs", xlabel="mean round trip, ms", ylabel="Mbit/s", ylim=0)
axis.legend()
figure.savefig("round_trips.svg")
