"""Closed forms: what theory says of the quantities that the simulator measures.

Every parameter may be a number or an array; arrays are broadcast against each other, and the result is then an array of their
common shape. Queues are dimensionless: load is offered work over capacity, times are in mean service times.
"""

from tailback.models.closed_loop import ClosedLoop, RoundTrips, closed_loop, round_trips
from tailback.models.cui_sizing import (
    cui_link_buffer,
    cui_link_flows,
    cui_link_utilisation,
    cui_trunk_buffer,
    cui_trunk_flows,
    cui_trunk_utilisation,
)
from tailback.models.queues import FiniteQueue, erlang_b, md1_mean_wait, md1k, mm1k, mmck
from tailback.models.sizing import (
    SIZING_RULES,
    BufferSize,
    Rule,
    appenzeller_buffer,
    appenzeller_flows,
    appenzeller_utilisation,
    bandwidth_delay_buffer,
    beheshti_buffer,
    enachescu_buffer,
    enachescu_flows,
    enachescu_utilisation,
    enachescu_window,
    full_utilisation_buffer,
    gorinsky_buffer,
    least_queue,
    synchronised_buffer,
    synchronised_utilisation,
)
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
from tailback.models.trunk import TrunkLoss, exact_trunk_loss, trunk_loss
from tailback.models.trunk_simulation import TrunkSimulation, simulate_trunk

__all__ = [
    "SIZING_RULES",
    "BufferSize",
    "ClosedLoop",
    "FastRetransmit",
    "FiniteQueue",
    "RoundTrips",
    "Rule",
    "SlowStart",
    "TrunkLoss",
    "TrunkSimulation",
    "appenzeller_buffer",
    "appenzeller_flows",
    "appenzeller_utilisation",
    "bandwidth_delay_buffer",
    "beheshti_buffer",
    "closed_loop",
    "cui_link_buffer",
    "cui_link_flows",
    "cui_link_utilisation",
    "cui_trunk_buffer",
    "cui_trunk_flows",
    "cui_trunk_utilisation",
    "enachescu_buffer",
    "enachescu_flows",
    "enachescu_utilisation",
    "enachescu_window",
    "erlang_b",
    "exact_trunk_loss",
    "fast_retransmit",
    "full_utilisation_buffer",
    "gorinsky_buffer",
    "least_queue",
    "mathis_rate",
    "md1_mean_wait",
    "md1k",
    "mm1k",
    "mmck",
    "padhye_goodput",
    "padhye_rate",
    "round_trips",
    "simulate_trunk",
    "single_flow_utilisation",
    "slow_start",
    "synchronised_buffer",
    "synchronised_utilisation",
    "trunk_loss",
    "window_limited_rate",
]
