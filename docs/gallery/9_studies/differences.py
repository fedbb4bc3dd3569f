"""Is pacing better, and by how much?

Goodput with pacing minus goodput without, by buffer, with the 95 % interval of the difference: up to half of the link
with at most ten places, almost nothing with twenty, and a loss beyond. Both use the same seeds, so that common random
variation cancels.
"""

import matplotlib.pyplot as plt

import tailback as tb

web = {
    "count": 10, "propagation_rtt": {"uniform": ["60 ms", "100 ms"]},
    "start": {"uniform": ["0 s", "2 s"]}, "tcp": {"preset": "sack"},
}
scenario = tb.dumbbell(rate="20 Mbps", delay="5 ms", buffer="5 packets", flows={"web": web}, duration="40 s", warmup="10 s")
buffers = [f"{places} packets" for places in (2, 5, 10, 20, 40, 80)]
study = tb.sweep(scenario, {"flows.web.tcp.pacing": [True, False], "topology.dumbbell.queue.buffer": buffers}, seeds=6)
gain = study.difference("flows.web.tcp.pacing", False, True, "groups.web.goodput_bps")
figure, axis = plt.subplots()
half = (gain["high"] - gain["low"]) / 2e6
axis.errorbar(gain["topology.dumbbell.queue.buffer_packets"], gain["mean"] / 1e6, half, fmt="o-", capsize=3)
axis.axhline(0, color="#999999", linewidth=0.7)
axis.set(title="goodput of ten flows: paced less unpaced, link of 20 Mbit/s", xlabel="buffer, packets", ylabel="Mbit/s")
figure.savefig("differences.svg")
