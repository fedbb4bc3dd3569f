"""Closed forms: what theory says of the quantities that the simulator measures.

Every parameter may be a number or an array; arrays are broadcast against each other, and the result is then an array of their
common shape. Queues are dimensionless: load is offered work over capacity, times are in mean service times.
"""

from tailback.models.queues import FiniteQueue, erlang_b, md1_mean_wait, md1k, mm1k, mmck
from tailback.models.tcp import (
    FastRetransmit,
    SlowStart,
    fast_retransmit,
    mathis_rate,
    padhye_goodput,
    padhye_rate,
    single_flow_utilisation,
    slow_start,
    window_limited_rate,
)

__all__ = [
    "FastRetransmit",
    "FiniteQueue",
    "SlowStart",
    "erlang_b",
    "fast_retransmit",
    "mathis_rate",
    "md1_mean_wait",
    "md1k",
    "mm1k",
    "mmck",
    "padhye_goodput",
    "padhye_rate",
    "single_flow_utilisation",
    "slow_start",
    "window_limited_rate",
]
