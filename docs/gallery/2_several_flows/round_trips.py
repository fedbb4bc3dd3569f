"""Short RTTs get a larger share.

Eight Reno flows share one link: flows with short RTTs grow faster and get more; only the flow with the longest RTT
gets more than the previous one. The grey line shows goodput inversely proportional to the RTT: 15 of the other 21
points are below it.
"""

import matplotlib.pyplot as plt
import numpy as np

import tailback as tb

web = {
    "count": 8, "propagation_rtt": {"evenly": ["20 ms", "160 ms"]},
    "start": {"uniform": ["0 s", "1 s"]}, "tcp": {"preset": "sack"},
}
scenario = tb.dumbbell(rate="20 Mbps", delay="5 ms", buffer="60 packets", flows={"web": web}, duration="300 s", warmup="20 s")
runs = tb.simulate(scenario, seeds=3)
rtt, goodput = (np.array([run.flows[column] for run in runs]) for column in ("mean_rtt_s", "goodput_bps"))
figure, axis = plt.subplots()
axis.plot(1e3 * rtt.T, goodput.T / 1e6, "o", color="#1f5a99", markersize=4)
axis.plot(1e3 * rtt[0], goodput[:, 0].mean() * rtt[0, 0] / rtt[0] / 1e6, color="#999999")
axis.set(title="goodput of eight flows, three runs", xlabel="mean round trip, ms", ylabel="Mbit/s", ylim=0)
figure.savefig("round_trips.svg")
