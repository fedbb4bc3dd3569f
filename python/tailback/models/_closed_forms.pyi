# The closed forms of crates/models for type checkers, by tools/models.py; a test compares them.
# fmt: off
from dataclasses import dataclass
from typing import Literal, TypeAlias

from tailback.models._broadcasting import Numbers, Result
from tailback.models._words import KeywordInfo, Rule

__all__ = ['DETECTION_FORMS', 'LOSS_MODELS', 'OPEN_LOOPS', 'PROBE_ORDERS', 'SIZING_RULES', 'TPM_MARKINGS', 'TRUNK_VARIANTS',
    'UNSEEN_BITS', 'AdpmCoarseRampError', 'AdpmError', 'AdpmRampError', 'AdpmStepError', 'ArrivalEquilibrium', 'BinaryError',
    'BufferSize', 'ClosedLoop', 'DelayEquilibrium', 'DetectionForm', 'DetectionPackets', 'DrainedFlows', 'FiniteQueue',
    'LossModel', 'MaxnetBase', 'MaxnetPrice', 'OpenLoop', 'PriceLevels', 'ProbeOrder', 'QuantiserError', 'RateError', 'RemError',
    'SlowStart', 'TpmMarking', 'TpmProbeTypes', 'TrunkLoss', 'TrunkVariant', 'UnseenBit', 'adpm_coarse_ramp_error',
    'adpm_detection_packets', 'adpm_error', 'adpm_ramp_error', 'adpm_step_error', 'adpm_undetected', 'appenzeller_buffer',
    'appenzeller_flows', 'appenzeller_utilisation', 'bandwidth_delay_buffer', 'bbr_buffer', 'beheshti_buffer', 'closed_loop',
    'cubic_buffer', 'cubic_rate', 'cubic_utilisation', 'cui_link_buffer', 'cui_link_flows', 'cui_link_utilisation',
    'cui_trunk_buffer', 'cui_trunk_flows', 'cui_trunk_utilisation', 'delay_equilibrium', 'drained_flows', 'draining_time',
    'enachescu_buffer', 'enachescu_flows', 'enachescu_utilisation', 'enachescu_window', 'erlang_b', 'exact_trunk_loss',
    'fast_arrivals', 'full_utilisation_buffer', 'gorinsky_buffer', 'late_arrival_coefficient', 'mathis_rate', 'maxnet_base',
    'maxnet_price', 'md1_mean_wait', 'md1k', 'mg1_mean_wait', 'min_queue', 'mm1k', 'mmck', 'padhye_goodput', 'padhye_rate',
    'price_levels', 'quantiser_error', 'ram_error', 'rcp_price', 'rcp_rate_error', 'rem_best_phi', 'rem_error', 'rpm_error',
    'single_flow_mean_queue', 'single_flow_utilisation', 'slow_start', 'synchronised_buffer', 'synchronised_utilisation',
    'tpm_error', 'tpm_probe_types', 'trunk_loss', 'unpaced_buffer', 'unpaced_utilisation', 'vegas_arrivals',
    'window_limited_rate']
ProbeOrder: TypeAlias = Literal['random', 'pure_brc', 'random_brc']
PROBE_ORDERS: dict[ProbeOrder, KeywordInfo]
DetectionForm: TypeAlias = Literal['random', 'brc', 'brc_direct', 'brc_printed']
DETECTION_FORMS: dict[DetectionForm, KeywordInfo]
TpmMarking: TypeAlias = Literal['one_bit', 'two_bits']
TPM_MARKINGS: dict[TpmMarking, KeywordInfo]
UnseenBit: TypeAlias = Literal['zero', 'half']
UNSEEN_BITS: dict[UnseenBit, KeywordInfo]
LossModel: TypeAlias = Literal['g1dm', 'ebd', 'ebi', 'eb', 'mmkkb', 'ebl']
LOSS_MODELS: dict[LossModel, KeywordInfo]
TrunkVariant: TypeAlias = Literal['own_length', 'fresh', 'coupled']
TRUNK_VARIANTS: dict[TrunkVariant, KeywordInfo]
OpenLoop: TypeAlias = Literal['g1dm', 'ebd', 'ebi', 'eb', 'mmkkb', 'ebl', 'md1k']
OPEN_LOOPS: dict[OpenLoop, KeywordInfo]
SIZING_RULES: dict[str, Rule]

@dataclass(frozen=True)
class DelayEquilibrium:
    queue_packets: Result
    queueing_delay_s: Result
    window_packets: Result
    rate_pps: Result

@dataclass(frozen=True)
class ArrivalEquilibrium:
    step: Result
    queue: Result
    share: Result
    relative_share: Result
    fairness: Result

@dataclass(frozen=True)
class DrainedFlows:
    flows: Result
    approximation: Result

@dataclass(frozen=True)
class AdpmError:
    mean: Result
    mean_square: Result
    largest: Result
    percentile: Result
    document: Result | None = None

@dataclass(frozen=True)
class AdpmStepError:
    mean: Result
    mean_square: Result
    approximation: Result

@dataclass(frozen=True)
class DetectionPackets:
    random: Result
    brc: Result

@dataclass(frozen=True)
class AdpmRampError:
    mean: Result
    mean_square: Result
    mean_before: Result
    mean_square_before: Result
    bound: Result

@dataclass(frozen=True)
class AdpmCoarseRampError:
    mean: Result
    mean_square: Result

@dataclass(frozen=True)
class RemError:
    marked: Result
    share_mean_square: Result
    price_mean_square: Result
    all_marked: Result

@dataclass(frozen=True)
class QuantiserError:
    mean: Result
    mean_square: Result
    largest: Result

@dataclass(frozen=True)
class TpmProbeTypes:
    types: Result
    random_packets: Result

@dataclass(frozen=True)
class BinaryError:
    mean_square: Result
    floor: Result

@dataclass(frozen=True)
class PriceLevels:
    levels: Result
    bits: Result
    thresholds: Result

@dataclass(frozen=True)
class RateError:
    over: Result
    under: Result

@dataclass(frozen=True)
class MaxnetPrice:
    code: Result
    decoded: Result
    error: Result
    relative_error: Result | None = None

@dataclass(frozen=True)
class MaxnetBase:
    base: Result
    granularity: Result

@dataclass(frozen=True)
class FiniteQueue:
    loss: Result
    mean_number: Result
    mean_wait: Result

@dataclass(frozen=True)
class BufferSize:
    rule: Rule
    buffer: Result
    unrounded: Result
    max_buffer: Result | None = None
    switch: Result | None = None

@dataclass(frozen=True)
class SlowStart:
    round_trips: Result
    completion_s: Result

@dataclass(frozen=True)
class TrunkLoss:
    loss: Result
    log10_loss: Result

@dataclass(frozen=True)
class ClosedLoop:
    load: Result
    loss: Result
    ln_loss: Result
    utilisation: Result
    throughput_bps: Result
    inputs_full: Result
    keeps_bound: Result

def delay_equilibrium(*, alpha: Numbers, flows: Numbers, capacity_pps: Numbers, base_rtt_s: Numbers) -> DelayEquilibrium: ...
def fast_arrivals(*, existing: Numbers = 0, arrived: Numbers, flow: Numbers = 1) -> ArrivalEquilibrium: ...
def vegas_arrivals(*, alpha_pps: Numbers, capacity_pps: Numbers, arrived: Numbers, flow: Numbers = 1) -> ArrivalEquilibrium: ...
def late_arrival_coefficient(arrived: Numbers) -> Result: ...
def draining_time(*, alpha: Numbers, capacity_pps: Numbers, slowdown: Numbers, flows: Numbers) -> Result: ...
def drained_flows(*, alpha: Numbers, capacity_pps: Numbers, slowdown: Numbers, base_rtt_s: Numbers) -> DrainedFlows: ...
def adpm_error(*, probes: Numbers, order: ProbeOrder = "random", bits: Numbers = 16, quantile: Numbers = 0.99) -> AdpmError: ...
def adpm_step_error(step: Numbers, probes: Numbers) -> AdpmStepError: ...
def adpm_undetected(*, step: Numbers, probes: Numbers, form: DetectionForm = "random", bits: Numbers = 16) -> Result: ...
def adpm_detection_packets(*, step: Numbers, bits: Numbers = 16) -> DetectionPackets: ...
def adpm_ramp_error(drift: Numbers) -> AdpmRampError: ...
def adpm_coarse_ramp_error(*, drift: Numbers, bits: Numbers = 16) -> AdpmCoarseRampError: ...
def rem_error(price: Numbers, phi: Numbers, packets: Numbers) -> RemError: ...
def rem_best_phi(price: Numbers) -> Result: ...
def ram_error(*, packets: Numbers, hops: Numbers = 1, price: Numbers | None = None) -> Result: ...
def quantiser_error(levels: Numbers) -> QuantiserError: ...
def tpm_probe_types(*, bits: Numbers, max_hops: Numbers = 30, marking: TpmMarking = "one_bit") -> TpmProbeTypes: ...
def tpm_error(*, probes: Numbers, bits: Numbers, hops: Numbers, max_hops: Numbers = 30,
    unseen: UnseenBit = "zero") -> BinaryError: ...
def rpm_error(*, probes: Numbers, levels: Numbers, initial: Numbers = 0) -> BinaryError: ...
def price_levels(*, max_rate_bps: Numbers, min_rate_bps: Numbers, granularity: Numbers) -> PriceLevels: ...
def rcp_price(*, max_rate_bps: Numbers, min_rate_bps: Numbers, rate_bps: Numbers) -> Result: ...
def rcp_rate_error(*, max_rate_bps: Numbers, min_rate_bps: Numbers, error: Numbers) -> RateError: ...
def maxnet_price(cost: Numbers, base: Numbers) -> MaxnetPrice: ...
def maxnet_base(max_cost: Numbers, levels: Numbers) -> MaxnetBase: ...
def mm1k(load: Numbers, places: Numbers) -> FiniteQueue: ...
def md1_mean_wait(load: Numbers) -> Result: ...
def md1k(load: Numbers, places: Numbers) -> FiniteQueue: ...
def mg1_mean_wait(load: Numbers, squared_cv: Numbers) -> Result: ...
def mmck(load: Numbers, servers: Numbers, places: Numbers) -> FiniteQueue: ...
def erlang_b(load: Numbers, servers: Numbers) -> Result: ...
def cui_trunk_buffer(*, inputs: Numbers, transmitters: Numbers, rate_bps: Numbers, packet_bytes: Numbers, flows: Numbers,
    harmonic_rtt_s: Numbers, utilisation: Numbers) -> BufferSize: ...
def cui_trunk_utilisation(*, inputs: Numbers, transmitters: Numbers, rate_bps: Numbers, packet_bytes: Numbers, flows: Numbers,
    harmonic_rtt_s: Numbers, buffer: Numbers) -> Result: ...
def cui_trunk_flows(*, inputs: Numbers, transmitters: Numbers, rate_bps: Numbers, packet_bytes: Numbers, harmonic_rtt_s: Numbers,
    utilisation: Numbers, buffer: Numbers) -> Result: ...
def cui_link_buffer(*, rate_bps: Numbers, packet_bytes: Numbers, flows: Numbers, harmonic_rtt_s: Numbers,
    utilisation: Numbers) -> BufferSize: ...
def cui_link_utilisation(*, rate_bps: Numbers, packet_bytes: Numbers, flows: Numbers, harmonic_rtt_s: Numbers,
    buffer: Numbers) -> Result: ...
def cui_link_flows(*, rate_bps: Numbers, packet_bytes: Numbers, harmonic_rtt_s: Numbers, utilisation: Numbers,
    buffer: Numbers) -> Result: ...
def unpaced_buffer(*, transmitters: Numbers = 1, rate_bps: Numbers, packet_bytes: Numbers, flows: Numbers, mean_rtt_s: Numbers,
    utilisation: Numbers) -> BufferSize: ...
def unpaced_utilisation(*, transmitters: Numbers = 1, rate_bps: Numbers, packet_bytes: Numbers, flows: Numbers,
    mean_rtt_s: Numbers, buffer: Numbers) -> Result: ...
def enachescu_buffer(*, window: Numbers, over_provision: Numbers = 0.95, utilisation: Numbers) -> BufferSize: ...
def enachescu_window(*, transmitters: Numbers = 1, rate_bps: Numbers, packet_bytes: Numbers, flows: Numbers, mean_rtt_s: Numbers,
    over_provision: Numbers = 0.95) -> Result: ...
def enachescu_utilisation(*, window: Numbers, over_provision: Numbers = 0.95, buffer: Numbers) -> Result: ...
def enachescu_flows(*, transmitters: Numbers = 1, rate_bps: Numbers, packet_bytes: Numbers, mean_rtt_s: Numbers,
    over_provision: Numbers = 0.95, utilisation: Numbers, buffer: Numbers) -> Result: ...
def appenzeller_buffer(*, transmitters: Numbers = 1, rate_bps: Numbers, packet_bytes: Numbers, flows: Numbers,
    mean_rtt_s: Numbers, utilisation: Numbers) -> BufferSize: ...
def appenzeller_utilisation(*, transmitters: Numbers = 1, rate_bps: Numbers, packet_bytes: Numbers, flows: Numbers,
    mean_rtt_s: Numbers, buffer: Numbers) -> Result: ...
def appenzeller_flows(*, transmitters: Numbers = 1, rate_bps: Numbers, packet_bytes: Numbers, mean_rtt_s: Numbers,
    utilisation: Numbers, buffer: Numbers) -> Result: ...
def synchronised_buffer(*, transmitters: Numbers = 1, rate_bps: Numbers, packet_bytes: Numbers, mean_rtt_s: Numbers,
    utilisation: Numbers) -> BufferSize: ...
def synchronised_utilisation(*, transmitters: Numbers = 1, rate_bps: Numbers, packet_bytes: Numbers, mean_rtt_s: Numbers,
    buffer: Numbers) -> Result: ...
def cubic_buffer(*, transmitters: Numbers = 1, rate_bps: Numbers, packet_bytes: Numbers, mean_rtt_s: Numbers,
    utilisation: Numbers) -> BufferSize: ...
def cubic_utilisation(*, transmitters: Numbers = 1, rate_bps: Numbers, packet_bytes: Numbers, mean_rtt_s: Numbers,
    buffer: Numbers) -> Result: ...
def bbr_buffer(*, transmitters: Numbers = 1, rate_bps: Numbers, packet_bytes: Numbers, mean_rtt_s: Numbers) -> BufferSize: ...
def bandwidth_delay_buffer(*, transmitters: Numbers = 1, rate_bps: Numbers, packet_bytes: Numbers,
    mean_rtt_s: Numbers) -> BufferSize: ...
def full_utilisation_buffer(*, transmitters: Numbers = 1, rate_bps: Numbers, packet_bytes: Numbers,
    max_rtt_s: Numbers) -> BufferSize: ...
def min_queue(*, transmitters: Numbers = 1, rate_bps: Numbers, packet_bytes: Numbers, max_rtt_s: Numbers,
    buffer: Numbers) -> Result: ...
def gorinsky_buffer(inputs: Numbers) -> BufferSize: ...
def beheshti_buffer() -> BufferSize: ...
def single_flow_utilisation(buffer_over_bdp: Numbers) -> Result: ...
def single_flow_mean_queue(buffer_over_bdp: Numbers) -> Result: ...
def mathis_rate(*, mss_bytes: Numbers, rtt_s: Numbers, loss: Numbers, segments_per_ack: Numbers = 1) -> Result: ...
def cubic_rate(*, mss_bytes: Numbers, rtt_s: Numbers, loss: Numbers) -> Result: ...
def padhye_rate(*, mss_bytes: Numbers, rtt_s: Numbers, loss: Numbers, rto_s: Numbers, receiver_window: Numbers,
    segments_per_ack: Numbers = 1) -> Result: ...
def padhye_goodput(*, mss_bytes: Numbers, rtt_s: Numbers, loss: Numbers, rto_s: Numbers, receiver_window: Numbers,
    segments_per_ack: Numbers = 1) -> Result: ...
def slow_start(*, segments: Numbers, initial_window: Numbers, rtt_s: Numbers, segment_s: Numbers) -> SlowStart: ...
def window_limited_rate(*, window_bytes: Numbers, rtt_s: Numbers, capacity_bps: Numbers) -> Result: ...
def trunk_loss(*, inputs: Numbers, transmitters: Numbers, buffer: Numbers, load: Numbers,
    model: LossModel = "g1dm") -> TrunkLoss: ...
def exact_trunk_loss(*, inputs: Numbers, transmitters: Numbers, buffer: Numbers, load: Numbers,
    variant: TrunkVariant) -> TrunkLoss: ...
def closed_loop(*, inputs: Numbers, transmitters: Numbers, buffer: Numbers, rate_bps: Numbers, packet_bytes: Numbers,
    flows: Numbers, harmonic_rtt_s: Numbers, segments_per_ack: Numbers = 1, rto_s: Numbers | None = None,
    receiver_window: Numbers | None = None, model: OpenLoop = "g1dm") -> ClosedLoop: ...
