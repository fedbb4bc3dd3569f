"""Tailback: a laboratory for network congestion.

Describe a network (`Scenario`, `load`, or a helper such as `dumbbell`), run it (`simulate`), look at the `Run`: its tables are
columns that any Arrow reader takes. `sweep` runs a whole grid, as a `Study` that outlives its process. `analyse` measures the
connections of a capture of packets. `allocation` has fair shares of capacity, `models` what theory predicts for the same
quantities, `statistics` how well a mean is known, `errors` what can go wrong.

>>> import tailback as tb
>>> run = tb.simulate(tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", flows=2, duration="10 s"))
>>> run.complete
True
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
