"""Erlang's loss formula.

The probability that a request finds all circuits, or all wavelengths without a buffer, busy. At the same load per
server, many servers lose less than few: at 50 %, one server loses a third, and sixteen lose half a percent.
"""

import matplotlib.pyplot as plt
import numpy as np

import tailback as tb

load = np.linspace(0.1, 1, 50)
figure, axis = plt.subplots()
for servers in (1, 4, 16, 64):
    axis.semilogy(100 * load, tb.models.erlang_b(load, servers), label=f"{servers}")
axis.set(title="share of requests lost", xlabel="load of each server, %", ylabel="loss", ylim=(1e-6, 1))
axis.legend(title="servers")
figure.savefig("erlang_b.svg")

assert [round(loss, 3) for loss in tb.models.erlang_b(0.5, [1, 16])] == [0.333, 0.005]
