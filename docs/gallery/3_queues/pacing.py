"""Small buffers and pacing.

Twenty flows with buffers of 1 to 20 % of the bandwidth-delay product. Paced packets fill 87 % of the link with a
buffer of 2 %; bursts require 10 % for that. With 20 %, bursts are better: 96 % compared with 93 %.
"""

import tailback as tb

queue = {"buffer": "5 %", "bdp_rtt": "100 ms"}
web = {"count": 20, "propagation_rtt": {"uniform": ["80 ms", "120 ms"]}, "start": {"uniform": ["0 s", "2 s"]}}
web |= {"sender_access": {"rate": "100 Mbps"}, "tcp": {"preset": "sack", "pacing": True}}
scenario = tb.dumbbell(rate="50 Mbps", delay="10 ms", queue=queue, flows={"web": web}, duration="20 s", warmup="8 s")
vary = {
    "senders": {"paced": {"flows.web.tcp.pacing": True}, "in bursts": {"flows.web.tcp.pacing": False}},
    "topology.dumbbell.queue.buffer": ["1 %", "2 %", "5 %", "10 %", "20 %"],
}
study = tb.sweep(scenario, vary, seeds=4)
study.plot("queues.bottleneck.utilisation", by="senders").savefig("pacing.svg")

used = study.means("queues.bottleneck.utilisation")["mean"].round(2).tolist()
assert used[1] == 0.87
assert used[7] < 0.87 <= used[8]
assert (used[9], used[4]) == (0.96, 0.93)
