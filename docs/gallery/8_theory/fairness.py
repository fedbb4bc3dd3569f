"""The cost of crossing many links.

Proportional fairness gives a flow over n links, each shared with nine others, less with every link; max-min fairness
does not depend on the number of links.
"""

import matplotlib.pyplot as plt

import tailback as tb

figure, axis = plt.subplots()
for name, allocation in {"max-min": tb.allocation.max_min, "proportional": tb.allocation.proportional}.items():
    long = []
    for links in range(1, 11):
        routes = [range(links), *([link] for link in range(links) for _ in range(9))]
        long.append(allocation(routes, [100] * links).rates[0])
    axis.plot(range(1, 11), long, "o-", label=name)
axis.set(title="rate of the flow that crosses all links of 100 Mbit/s", xlabel="links", ylabel="Mbit/s", ylim=0)
axis.legend()
figure.savefig("fairness.svg")
