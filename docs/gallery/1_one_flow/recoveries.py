"""Four loss recoveries after the same three losses.

SACK repairs all three losses in one round trip, NewReno one per round trip. Reno leaves fast recovery too early and
waits for its timer; Tahoe restarts from one segment.
"""

import matplotlib.pyplot as plt

import tailback as tb

tcp = {"initial_window": 24, "initial_ssthresh": 24, "delayed_ack": False}
figure, axes = plt.subplots(1, 4, sharex=True, sharey=True)
for axis, preset in zip(axes, ["sack", "newreno", "reno", "tahoe"], strict=True):
    web = {"propagation_rtt": "100 ms", "size": "100 kB", "tcp": {"preset": preset, **tcp}}
    scenario = tb.dumbbell(
        rate="100 Mbps", delay="5 ms", buffer="unlimited", duration="3 s", flows={"web": web}, traces=["segments"]
    ).with_({"topology.dumbbell.loss": {"drops": [{"group": "web", "segment": segment} for segment in (3, 5, 7)]}})
    sent = tb.simulate(scenario).trace("segments")
    axis.plot(sent["time_s"], sent["segment"], ".", markersize=3)
    axis.set(title=preset, xlabel="time, s")
axes[0].set_ylabel("segment sent")
figure.savefig("recoveries.svg")
