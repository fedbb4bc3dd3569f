"""An optical trunk with almost no buffer.

Sixteen edge routers share a trunk of four wavelengths: one buffer for all wavelengths, or one per wavelength. Without
waiting places, a free choice of the wavelength carries three times as much; four shared places carry nine tenths as
much as four places per wavelength.
"""

import tailback as tb

scenario = tb.dwdm(
    inputs=16, transmitters=4, rate="50 Mbps", buffer="4 packets", duration="10 s", warmup="6 s",
    flows={"web": {
        "count": 80, "propagation_rtt": {"uniform": ["60 ms", "180 ms"]}, "start": {"uniform": ["0 s", "4 s"]},
        "sender_access": {"rate": "10 Mbps"}, "tcp": {"preset": "sack", "mss": "1000 B", "pacing": True},
    }},
)
buffers = ["0 packets", "2 packets", "4 packets", "8 packets", "16 packets"]
converters = {
    "any wavelength": {"topology.dwdm.wavelength_conversion": True},
    "its own": {"topology.dwdm.wavelength_conversion": False},
}
study = tb.sweep(scenario, {"a packet leaves on": converters, "topology.dwdm.queue.buffer": buffers}, seeds=4)
study.plot("groups.web.goodput_bps", by="a packet leaves on").savefig("wavelengths.svg")

carried = study.means("groups.web.goodput_bps")["mean"]
assert 2.5 < carried[0] / carried[5] < 3.5
assert 0.85 < carried[2] / carried[7] < 0.95
