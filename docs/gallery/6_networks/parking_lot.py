"""A parking lot: fair rates and TCP's rates.

A flow over 1 to 5 links shares each of them with a flow over that link only. Max-min fairness gives the long flow
half of a link, whatever the number of links; proportional fairness gives it less with more links. With Reno, whose
RTT grows as well, it gets half of one link, a ninth with two, and almost nothing with four.
"""

import matplotlib.pyplot as plt

import tailback as tb

shares = {"max-min": [], "proportional": [], "Reno": []}
for hops in range(1, 6):
    flows = {"long": {"propagation_rtt": f"{25 * hops + 5} ms", "tcp": {"preset": "sack"}}}
    for hop in range(hops):
        flows[f"short{hop}"] = {"from": f"n{hop}", "to": f"n{hop + 1}", "propagation_rtt": "30 ms", "tcp": {"preset": "sack"}}
    run = tb.simulate(tb.parking_lot(hops=hops, rate="10 Mbps", delay="5 ms", buffer="25 packets", flows=flows, duration="100 s"))
    fair = run.fairness(compare_red=False).flows
    shares["max-min"].append(fair["max_min_bps"][0] / 1e6)
    shares["proportional"].append(fair["proportional_bps"][0] / 1e6)
    shares["Reno"].append(run.flows["goodput_bps"][0] / 1e6)
figure, axis = plt.subplots()
for name, share in shares.items():
    axis.plot(range(1, 6), share, "o-", label=name)
axis.set(title="of 10 Mbit/s the long flow gets", xlabel="links that it crosses", xticks=range(1, 6), ylabel="Mbit/s", ylim=0)
axis.legend()
figure.savefig("parking_lot.svg")

assert [round(rate, 1) for rate in shares["Reno"]] == [5, 1.1, 0.3, 0, 0.1]
