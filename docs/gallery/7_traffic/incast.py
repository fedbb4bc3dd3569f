"""Incast: many simultaneous responses.

Servers send 64 kB each to one client at the same time, through a buffer of 64 packets. From four servers on, some
lose the end of their response or a whole window, which only a timer detects. RFC 6298 specifies a timeout of at least
one second, in a network that carries the responses of 24 servers in 13 ms.
"""

import tailback as tb

flows = {"answers": {"traffic": {"incast": {"nodes": "host*", "senders": 2}}, "size": "64 kB", "tcp": {"preset": "sack"}}}
rack = {"leaves": 4, "hosts": 8, "spines": 2, "rate": "1 Gbps", "delay": "5 us", "queue": {"buffer": "64 packets"}}
scenario = {"duration": "3 s", "routing": "ecmp", "topology": {"leaf_spine": rack}, "flows": flows}
shorter = {"flows.answers.tcp.timer": {"initial_rto": "10 ms", "min_rto": "10 ms"}}
timers = {"RFC 6298": {}, "first and least RTO of 10 ms": shorter}
senders = {"flows.answers.traffic.incast.senders": [2, 4, 8, 12, 16, 20, 24, 28]}
study = tb.sweep(scenario, {"timer": timers, **senders}, seeds=10)
study.plot("groups.answers.completion_p99_s", by="timer", log="y").savefig("incast.svg")
