"""Short transfers queued behind long ones.

Four hundred transfers and two permanent flows. With a large buffer, nearly all transfers are queued, and half of them
take more than 0.33 s. With a small buffer, the median is 0.11 s, but three in ten have losses, and one in nine takes
more than a second. With CoDel, the median is 0.12 s, and 2 % take more than a second. Times above 4 s are outside the
plot.
"""

import numpy as np

import tailback as tb

scenario = tb.dumbbell(
    rate="20 Mbps", delay="10 ms", buffer="100 packets", duration="30 s",
    flows={
        "short": {
            "count": 400, "propagation_rtt": {"uniform": ["40 ms", "80 ms"]}, "start": {"uniform": ["2 s", "25 s"]},
            "size": {"pareto": {"mean": "60 kB", "shape": 1.3}}, "tcp": {"preset": "sack"},
        },
        "long": {"count": 2, "propagation_rtt": ["50 ms", "90 ms"], "tcp": {"preset": "sack"}},
    },
)
queues = {places: {"buffer": places} for places in ("400 packets", "20 packets")}
queues["CoDel"] = {"policy": "codel", "buffer": "400 packets"}
study = tb.sweep(scenario, {"queue": {name: {"topology.dumbbell.queue": queue} for name, queue in queues.items()}}, seeds=3)
figure = study.plot("flows.short.completion_time_s", kind="ecdf", by="queue")
figure.axes[0].set_xlim(0, 4)
figure.savefig("completion_times.svg")

expected = ("400 packets", 0.33, 0.06, 0.05), ("20 packets", 0.11, 0.29, 0.12), ("CoDel", 0.12, 0.1, 0.02)
for name, median, losing, slow in expected:
    flows = study.flows.where(queue=name, group="short")
    assert abs(np.nanmedian(flows["completion_time_s"]) - median) < 0.01
    assert abs((flows["loss_rate"] > 0).mean() - losing) < 0.01
    assert abs((flows["completion_time_s"] > 1).mean() - slow) < 0.01
