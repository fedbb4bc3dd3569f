"""User code: congestion controllers, queue policies, traffic sources, applications and transports in Python.

A class is registered under a name, which a scenario refers to: ``controller = {kind = "user:aimd", parameters = {gain = 2}}``,
``queue = {policy = "user:NAME", ...}``, ``source = {kind = "user:NAME", ...}``, ``application = {kind = "user:NAME", ...}``,
``tcp = {stack = "user:NAME", ...}``. Each flow has its own controller, source or application, each end of a flow its own
transport, and each port its own policy: an instance of the class, constructed with the scenario's parameters as keyword
arguments.

Times are seconds and rates bit/s, as floats; windows are in segments. All random numbers must come from the `Draw` that an object
receives, and objects must not share state: then a run is a function of its scenario and seed, as without user code.

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

from tailback._core import Ack, Congestion, Departure, Draw, HostEnd, Occupancy, RoundTrip, Signal, Start, Unit
from tailback.user_code._interfaces import Application, Controller, Ecn, Host, HostReport, Policy, Source, Verdict
from tailback.user_code._libraries import load_controllers, load_stacks
from tailback.user_code._loading import load
from tailback.user_code._registry import application, controller, host, policy, source

__all__ = [
    "Ack",
    "Application",
    "Congestion",
    "Controller",
    "Departure",
    "Draw",
    "Ecn",
    "Host",
    "HostEnd",
    "HostReport",
    "Occupancy",
    "Policy",
    "RoundTrip",
    "Signal",
    "Source",
    "Start",
    "Unit",
    "Verdict",
    "application",
    "controller",
    "host",
    "load",
    "load_controllers",
    "load_stacks",
    "policy",
    "source",
]
