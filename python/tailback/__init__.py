"""Tailback: a laboratory for network congestion.

Describe a network with `Scenario`, `load` or a helper such as `dumbbell`, and run it with `simulate`. The result is a `Run`,
whose tables can be read by any Arrow library. `sweep` runs a grid of scenarios and stores it as a resumable `Study`. `analyse`
measures the connections of a packet capture. `allocation` computes fair shares of capacity, `models` evaluates closed-form
models of the same quantities, `statistics` computes confidence intervals, and `errors` lists the exceptions.

>>> import tailback as tb
>>> run = tb.simulate(tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", flows=2, duration="10 s"))
>>> run.complete
True
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
