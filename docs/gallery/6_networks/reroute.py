"""A route change.

At 5 s a flow is rerouted over a detour. Its window is limited and stays constant, so an RTT of 46 ms instead of 21 ms
costs more than half of the throughput.
"""

import tailback as tb

ways = {"short": ("a", "b", "10 ms"), "out": ("a", "c", "10 ms"), "back": ("c", "b", "12 ms")}
links = {
    name: {"from": begin, "to": end, "rate": "20 Mbps", "delay": delay, "queue": {"buffer": "100 packets"}}
    for name, (begin, end, delay) in ways.items()
}
scenario = tb.Scenario({
    "name": "a detour from 5 s on", "duration": "10 s", "nodes": {"a": {}, "b": {}, "c": {}}, "links": links,
    "flows": {"web": {"from": "a", "to": "b", "tcp": {"preset": "newreno", "receiver_window": 30, "timestamps": True}}},
    "timeline": [{"at": "5 s", "group": "web", "route": ["out", "back"]}],
    "record": {"traces": {"rtt": ["web"], "throughput": {"bin": "200 ms", "flows": ["web"]}}},
})
tb.simulate(scenario).plot(("rtt", "throughput")).savefig("reroute.svg")
