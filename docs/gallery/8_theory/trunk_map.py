"""Loss of a trunk by six models.

Sixteen inputs on four wavelengths at a load of 0.8. The most accurate model depends on the trunk; `trunk_accuracy`
gives the error of each model against the detailed one.
"""

import matplotlib.pyplot as plt
import numpy as np

import tailback as tb

buffer = np.arange(0, 31)
figure, axis = plt.subplots()
for model in tb.models.LOSS_MODELS:
    loss = tb.models.trunk_loss(inputs=16, transmitters=4, buffer=buffer, load=0.8, model=model).loss
    within = tb.models.trunk_accuracy(inputs=16, transmitters=4, buffer=10, load=0.8, model=model)
    axis.semilogy(buffer, loss, label=f"{model}: {within}")
axis.set(title="loss of a trunk, and how far off each model is at 10 places", xlabel="waiting places", ylabel="packets lost")
axis.legend(loc="lower left", fontsize=7)
figure.savefig("trunk_map.svg")
