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

from tailback import allocation, errors, models, prices, statistics, user_code
from tailback._capture import Analysis, CaptureDamage, analyse
from tailback._core import __version__
from tailback._emulation import Command, CommandEnd, Emulated, emulate
from tailback._optimum import Distance, Optimum
from tailback._progress import ProgressBar, RunsBar
from tailback._run import Interrupted, Run, read_run
from tailback._runs import Runs, RunsInterrupted
from tailback._scenario import Scenario, load, schema
from tailback._simulation import simulate
from tailback._study import Span, Study, sweep
from tailback._table import Table
from tailback._topologies import chain, dumbbell, dwdm, parking_lot
from tailback._types import Application, Event, Flow, Link, Node, Prices, Queue, Record, Source, Tcp
from tailback._validation import Validation, ValidationInterrupted, validate
from tailback.errors import (
    CaptureError,
    CheckpointError,
    CheckpointWarning,
    EmulationError,
    EmulationWarning,
    InternalError,
    MissingExtra,
    OutputError,
    ParameterError,
    ScenarioError,
    ScenarioWarning,
    StudyError,
    StudyInterrupted,
    TailbackError,
    UnknownName,
    UserCodeError,
)
from tailback.papers import ReproductionInterrupted, reproduce
from tailback.prediction import predict, size_buffer
from tailback.user_code import controller, policy, source

__all__ = [
    "Analysis",
    "Application",
    "CaptureDamage",
    "CaptureError",
    "CheckpointError",
    "CheckpointWarning",
    "Command",
    "CommandEnd",
    "Distance",
    "Emulated",
    "EmulationError",
    "EmulationWarning",
    "Event",
    "Flow",
    "InternalError",
    "Interrupted",
    "Link",
    "MissingExtra",
    "Node",
    "Optimum",
    "OutputError",
    "ParameterError",
    "Prices",
    "ProgressBar",
    "Queue",
    "Record",
    "ReproductionInterrupted",
    "Run",
    "Runs",
    "RunsBar",
    "RunsInterrupted",
    "Scenario",
    "ScenarioError",
    "ScenarioWarning",
    "Source",
    "Span",
    "Study",
    "StudyError",
    "StudyInterrupted",
    "Table",
    "TailbackError",
    "Tcp",
    "UnknownName",
    "UserCodeError",
    "Validation",
    "ValidationInterrupted",
    "__version__",
    "allocation",
    "analyse",
    "chain",
    "controller",
    "dumbbell",
    "dwdm",
    "emulate",
    "errors",
    "load",
    "models",
    "parking_lot",
    "policy",
    "predict",
    "prices",
    "read_run",
    "reproduce",
    "schema",
    "simulate",
    "size_buffer",
    "source",
    "statistics",
    "sweep",
    "user_code",
    "validate",
]


def __dir__() -> list[str]:
    """What there is for users: what completion shows."""
    return sorted(__all__)
