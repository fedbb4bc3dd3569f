"""ECMP hashing in a fat tree.

Each host of a fat tree sends to one other host at its full rate; the network could carry all of it. Paths selected by
a hash put several flows on some links and none on others, so that few flows reach their host's rate. With shortest
paths, all flows between pods meet at one core switch.
"""

import matplotlib.pyplot as plt

import tailback as tb

tcp = {"preset": "sack", "timer": {"min_rto": "10 ms"}}
flows = {"all": {"traffic": {"permutation": "host*"}, "start": {"uniform": ["0 s", "100 ms"]}, "tcp": tcp}}
for routing in ("ecmp", "shortest"):
    links = {"k": 8, "rate": "10 Mbps", "delay": "100 us", "buffer": "50 packets"}
    tree = tb.fat_tree(**links, routing=routing, flows=flows, duration="2 s", warmup="500 ms")
    shares = sorted(rate / 10e6 for rate in tb.simulate(tree).flows["goodput_bps"])
    plt.plot(shares, label=f"{routing}: {sum(shares) / len(shares):.0%} in the mean")
plt.xlabel("flows, by what they get")
plt.ylabel("goodput / rate of the host")
plt.legend()
plt.savefig("fat_tree.svg")
