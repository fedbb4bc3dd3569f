"""A simulated packet capture.

A run is written as a capture of packets with real headers, and read back like any other capture: RTTs and data in
flight are measured from the capture alone.
"""

import matplotlib.pyplot as plt

import tailback as tb

web = {"propagation_rtt": "50 ms", "tcp": {"preset": "sack"}}
scenario = tb.dumbbell(rate="5 Mbps", delay="10 ms", buffer="30 packets", duration="9 s", flows={"web": web}, traces=["packets"])
tb.simulate(scenario).save_capture("run.pcapng")
seen = tb.analyse("run.pcapng", samples=True)
figure, (above, below) = plt.subplots(2, 1, sharex=True)
above.step(seen.rtt["time_s"], 1e3 * seen.rtt["rtt_s"])
above.set(title="round trip, ms")
below.step(seen.in_flight["time_s"], seen.in_flight["in_flight_packets"], where="post")
below.set(title="in flight, packets", xlabel="time, s")
figure.savefig("capture.svg")
