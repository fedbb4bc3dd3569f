"""Queueing delay against utilisation.

The same twenty flows through six policies. Drop-tail fills the link and keeps the buffer full most of the time; the
others keep the queueing delay below 20 ms and lose between 0.4 % of the link (PI2) and 9 % (RED).
"""

import matplotlib.pyplot as plt

import tailback as tb

web = {
    "count": 20, "propagation_rtt": {"uniform": ["60 ms", "120 ms"]},
    "start": {"uniform": ["0 s", "1 s"]}, "tcp": {"preset": "sack"},
}
lengths = {"red": {"min_threshold": "20 packets", "max_threshold": "60 packets"}, "rem": {"target": "20 packets"}}
figure, axis = plt.subplots()
for policy in ("drop_tail", "red", "codel", "pie", "pi2", "rem"):
    queue = {"policy": policy, "buffer": "200 packets", **lengths.get(policy, {})}
    run = tb.simulate(tb.dumbbell(rate="20 Mbps", delay="10 ms", queue=queue, flows={"web": web}, duration="60 s", warmup="10 s"))
    bottleneck = run.queues.where(queue="bottleneck")
    axis.semilogy(100 * bottleneck["utilisation"], 1e3 * bottleneck["mean_wait_s"], "o", label=policy)
axis.set(title="mean wait against utilisation, 20 Mbit/s", xlabel="utilisation, %", ylabel="mean wait, ms", ylim=(5, 200))
axis.set_yticks([5, 10, 20, 50, 100, 200], ["5", "10", "20", "50", "100", "200"])
figure.legend(loc="outside right upper")
figure.savefig("policies.svg")
