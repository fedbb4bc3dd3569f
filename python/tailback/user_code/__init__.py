"""User code: control laws, queue policies and traffic sources in Python.

A class registers under a name, and a scenario names it: ``controller = {kind = "user:aimd", parameters = {gain = 2}}``, ``queue =
{policy = "user:NAME", ...}``, ``source = {kind = "user:NAME", ...}``. Each flow has its own controller or source, and each port
its own policy: an object of that class, constructed with the scenario's parameters as keyword arguments.

Times are seconds and rates bit/s, as floats; windows count segments, as everywhere in Tailback. Everything random has to come
from the `Draw` that an object is handed, and nothing may be shared between objects: then a run is a function of its scenario
and seed, as it is without user code.

>>> import tailback as tb
>>> @tb.controller("aimd")
... class Aimd(tb.user_code.Controller):
...     def __init__(self, start, *, gain=1.0):
...         super().__init__(start)
...         self.gain = gain
...
...     def on_ack(self, ack):
...         if ack.window_validated:
...             self.window += self.gain * ack.counted / self.window
...
...     def on_congestion(self, seen):
...         self.window = self.ssthresh = max(seen.in_flight / 2, 2.0)
...
...     def on_timeout(self, seen):
...         self.window = 1.0
>>> scenario = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="5 s")
>>> mine = scenario.with_({"flows.tcp.tcp.controller": {"kind": "user:aimd", "parameters": {"gain": 2}}})
>>> tb.simulate(mine).provenance["user_code"][0]["name"]
'aimd'
"""

from tailback._core import Ack, Congestion, Draw, Occupancy, RoundTrip, Signal, Start, Turn, Unit
from tailback.user_code._interfaces import Controller, Policy, Source, Verdict
from tailback.user_code._loading import load
from tailback.user_code._registry import controller, policy, source

__all__ = [
    "Ack",
    "Congestion",
    "Controller",
    "Draw",
    "Occupancy",
    "Policy",
    "RoundTrip",
    "Signal",
    "Source",
    "Start",
    "Turn",
    "Unit",
    "Verdict",
    "controller",
    "load",
    "policy",
    "source",
]
