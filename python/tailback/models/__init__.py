"""Closed-form models of the quantities that the simulator measures.

Every parameter may be a number or an array. Arrays are broadcast against each other, and the result is an array of their common
shape. Queues are dimensionless: load is offered work divided by capacity, and times are in units of the mean service time.
`ParameterError` names the parameter, the given value, the valid values and, for arrays, the index.
"""

from tailback.models import _closed_forms
from tailback.models._closed_forms import *  # noqa: F403
from tailback.models._extrapolation import Extrapolation, Fit, PoissonCheck, extrapolate, fit, poisson_check
from tailback.models._fast_retransmit import FastRetransmit, fast_retransmit
from tailback.models._round_trips import RoundTrips, round_trips
from tailback.models._trunk_map import TrunkAccuracy, trunk_accuracy
from tailback.models._trunk_simulation import TrunkInterrupted, TrunkSimulation, simulate_trunk
from tailback.models._words import KeywordInfo, Rule

__all__ = [
    "Extrapolation",
    "FastRetransmit",
    "Fit",
    "KeywordInfo",
    "PoissonCheck",
    "RoundTrips",
    "Rule",
    "TrunkAccuracy",
    "TrunkInterrupted",
    "TrunkSimulation",
    "extrapolate",
    "fast_retransmit",
    "fit",
    "poisson_check",
    "round_trips",
    "simulate_trunk",
    "trunk_accuracy",
]
__all__ += _closed_forms.__all__
