"""Completion time against size.

Four in five transfers take as long as slow start predicts for an empty network (the line), or up to 5 % longer. Some
are queued, and four small transfers with a loss at their end wait a second for the timer.
"""

import matplotlib.pyplot as plt
import numpy as np

import tailback as tb

short = {
    "count": 500, "propagation_rtt": "60 ms",
    "start": {"uniform": ["0 s", "40 s"]}, "size": {"pareto": {"mean": "60 kB", "shape": 1.2}},
}
short |= {"tcp": {"preset": "sack", "delayed_ack": False}}
scenario = tb.dumbbell(rate="20 Mbps", delay="10 ms", buffer="60 packets", flows={"short": short}, duration="60 s")
flows = tb.simulate(scenario).flows
segments = np.unique(flows["delivered_packets"])
alone = tb.models.slow_start(segments=segments, initial_window=10, rtt_s=0.06, segment_s=0.0006).completion_s
figure, axis = plt.subplots()
axis.loglog(flows["delivered_bytes"] / 1e3, flows["completion_time_s"], ".", markersize=3)
axis.loglog(segments * 1.46, alone - 0.03, color="#c2571a")  # until the data is there, not its acknowledgement
axis.set(title="500 transfers over 20 Mbit/s", xlabel="size, kB", ylabel="completion time, s")
figure.savefig("sizes.svg")

times, alone = flows["completion_time_s"], np.interp(flows["delivered_packets"], segments, alone - 0.03)
assert round((times < 1.05 * alone).mean(), 1) == 0.8
assert flows["timeouts"].sum() == 4
