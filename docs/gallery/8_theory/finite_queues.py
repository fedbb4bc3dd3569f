"""Simulated queues on theoretical curves.

Poisson arrivals at a link with four waiting places: packets of exponential size follow M/M/1/5, packets of constant
size M/D/1/5, which loses less.
"""

import matplotlib.pyplot as plt
import numpy as np

import tailback as tb

load = np.linspace(0.3, 1.3, 11)
figure, axis = plt.subplots()
for name, packet, model in (("M/M/1/5", {"exponential": "1000 B"}, tb.models.mm1k), ("M/D/1/5", "1000 B", tb.models.md1k)):
    source = {"kind": "poisson", "rate": "10 Mbps", "packet_size": packet}
    scenario = tb.dumbbell(rate="10 Mbps", delay="1 ms", buffer="4 packets", flows={"web": {"source": source}}, duration="60 s")
    rates = {"flows.web.source.rate": [f"{10 * each:.3f} Mbps" for each in load]}
    lost = tb.sweep(scenario, rates).queues.where(queue="bottleneck")["loss_rate"]
    (line,) = axis.plot(100 * load, 100 * model(load, 5).loss, label=name)
    axis.plot(100 * load, 100 * lost, "o", color=line.get_color(), markersize=4)
axis.set(title="loss, simulated (dots) and by the formula (lines)", xlabel="load, %", ylabel="lost, %")
axis.legend()
figure.savefig("finite_queues.svg")
