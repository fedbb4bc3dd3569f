# The functions of the topologies for type checkers, by tools/topologies.py; a test compares them.
# fmt: off
from collections.abc import Mapping
from typing import Any

from tailback._scenario import Scenario
from tailback._types import (
    ChanceLoss,
    Duration,
    Flow,
    Jitter,
    JitterMaximum,
    LinkRate,
    Loss,
    LossProbability,
    Probability,
    Queue,
    QueueName,
    Rate,
    Reverse,
    Routing,
    Size,
    Switching,
)

__all__ = ['chain', 'dragonfly', 'dumbbell', 'dwdm', 'fat_tree', 'leaf_spine', 'parking_lot', 'random_regular', 'torus', 'waxman']
def chain(*, rates: list[LinkRate], delays: list[Duration], duplication: Probability = 0.0, jitter: Jitter | JitterMaximum | None
    = None, loss: ChanceLoss | LossProbability | None = None, mtu: Size | None = None, buffer: str | None = None, queue: Queue |
    None = None, flows: int | Mapping[str, Flow] = 1, duration: str, **rest: Any) -> Scenario: ...
def dragonfly(*, switches: int, hosts: int, global_links: int, rate: LinkRate, delay: Duration, duplication: Probability = 0.0,
    global_delay: Duration | None = None, global_rate: LinkRate | None = None, host_delay: Duration | None = None, host_queue:
    Queue | QueueName | None = None, host_rate: LinkRate | None = None, jitter: Jitter | JitterMaximum | None = None, loss:
    ChanceLoss | LossProbability | None = None, mtu: Size | None = None, buffer: str | None = None, queue: Queue | None = None,
    routing: Routing = 'ecmp', flows: int | Mapping[str, Flow] = 1, duration: str, **rest: Any) -> Scenario: ...
def dumbbell(*, rate: LinkRate, delay: Duration, duplication: Probability = 0.0, jitter: Jitter | JitterMaximum | None = None,
    loss: Loss | LossProbability | None = None, mtu: Size | None = None, reverse: Reverse | None = None, buffer: str | None =
    None, queue: Queue | None = None, flows: int | Mapping[str, Flow] = 1, duration: str, **rest: Any) -> Scenario: ...
def dwdm(*, inputs: int, transmitters: int, rate: Rate, delay: Duration = '0 ms', edge_queue: Queue | QueueName | None = None,
    input_delay: Duration = '0 ms', switching: Switching = 'store_and_forward', wavelength_conversion: bool = True, buffer: str |
    None = None, queue: Queue | None = None, flows: int | Mapping[str, Flow] = 1, duration: str, **rest: Any) -> Scenario: ...
def fat_tree(*, k: int, rate: LinkRate, delay: Duration, duplication: Probability = 0.0, host_delay: Duration | None = None,
    host_queue: Queue | QueueName | None = None, host_rate: LinkRate | None = None, jitter: Jitter | JitterMaximum | None = None,
    loss: ChanceLoss | LossProbability | None = None, mtu: Size | None = None, buffer: str | None = None, queue: Queue | None =
    None, routing: Routing = 'ecmp', flows: int | Mapping[str, Flow] = 1, duration: str, **rest: Any) -> Scenario: ...
def leaf_spine(*, leaves: int, spines: int, hosts: int, rate: LinkRate, delay: Duration, duplication: Probability = 0.0,
    host_delay: Duration | None = None, host_queue: Queue | QueueName | None = None, host_rate: LinkRate | None = None, jitter:
    Jitter | JitterMaximum | None = None, loss: ChanceLoss | LossProbability | None = None, mtu: Size | None = None, buffer: str |
    None = None, queue: Queue | None = None, routing: Routing = 'ecmp', flows: int | Mapping[str, Flow] = 1, duration: str,
    **rest: Any) -> Scenario: ...
def parking_lot(*, hops: int, rate: LinkRate, delay: Duration, duplication: Probability = 0.0, jitter: Jitter | JitterMaximum |
    None = None, loss: ChanceLoss | LossProbability | None = None, mtu: Size | None = None, buffer: str | None = None, queue:
    Queue | None = None, flows: int | Mapping[str, Flow] = 1, duration: str, **rest: Any) -> Scenario: ...
def random_regular(*, switches: int, degree: int, rate: LinkRate, delay: Duration, duplication: Probability = 0.0, graph_seed: int
    = 1, host_delay: Duration | None = None, host_queue: Queue | QueueName | None = None, host_rate: LinkRate | None = None,
    hosts: int = 1, jitter: Jitter | JitterMaximum | None = None, loss: ChanceLoss | LossProbability | None = None, mtu: Size |
    None = None, buffer: str | None = None, queue: Queue | None = None, routing: Routing = 'ecmp', flows: int | Mapping[str, Flow]
    = 1, duration: str, **rest: Any) -> Scenario: ...
def torus(*, dimensions: list[int], rate: LinkRate, delay: Duration, duplication: Probability = 0.0, host_delay: Duration | None =
    None, host_queue: Queue | QueueName | None = None, host_rate: LinkRate | None = None, hosts: int = 1, jitter: Jitter |
    JitterMaximum | None = None, loss: ChanceLoss | LossProbability | None = None, mtu: Size | None = None, buffer: str | None =
    None, queue: Queue | None = None, routing: Routing = 'ecmp', flows: int | Mapping[str, Flow] = 1, duration: str, **rest:
    Any) -> Scenario: ...
def waxman(*, routers: int, rate: LinkRate, delay: Duration, alpha: Probability = 0.15, beta: Probability = 0.4, duplication:
    Probability = 0.0, graph_seed: int = 1, jitter: Jitter | JitterMaximum | None = None, loss: ChanceLoss | LossProbability |
    None = None, mtu: Size | None = None, buffer: str | None = None, queue: Queue | None = None, flows: int | Mapping[str, Flow] =
    1, duration: str, **rest: Any) -> Scenario: ...
