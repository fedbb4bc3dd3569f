"""MaxNet: the largest price counts.

A long flow over three links and a short flow over each. With MaxNet, all rates are equal within 2 %, because the long
flow pays only the largest price. Reno's long flow has losses at every link, and gets a quarter of the others' rate.
"""

import matplotlib.pyplot as plt

import tailback as tb

ends = {"long": ("n0", "n3"), "first": ("n0", "n1"), "second": ("n1", "n2"), "third": ("n2", "n3")}
figure, axis = plt.subplots()
for place, (law, policy) in enumerate({"reno": "drop_tail", "maxnet": "maxnet"}.items()):
    tcp = {"preset": "sack", "controller": "reno" if law == "reno" else {"kind": "maxnet", "max_rate": "10 Mbps"}}
    flows = {name: {"from": begin, "to": end, "propagation_rtt": "70 ms", "tcp": tcp} for name, (begin, end) in ends.items()}
    queue = {"policy": policy, "buffer": "100 packets"}
    run = tb.simulate(tb.parking_lot(hops=3, rate="10 Mbps", delay="5 ms", queue=queue, flows=flows, duration="60 s"))
    bars = [number + 0.4 * place - 0.2 for number in range(4)]
    axis.bar(bars, run.groups["goodput_bps"] / 1e6, width=0.38, label=law)
axis.set(title="goodput, three links of 10 Mbit/s", ylabel="Mbit/s", xticks=range(4), xticklabels=ends)
axis.legend()
figure.savefig("maxnet.svg")
