# The tables of a scenario for type checkers, from the JSON Schema by tools/scenario_types.py; a test compares them.
# fmt: off
from typing import Any, Literal, TypeAlias, TypedDict

class Abr(TypedDict, total=False):
    ack_threshold: int
    adtf: Duration
    buffer: Buffer
    cdf: Probability
    icr: Rate
    mcr: Rate
    nrm: int
    pcr: Rate
    rdf: Probability
    rif: Probability
    tbe: int
    trm: Duration
class Access(TypedDict, total=False):
    delay: Duration
    rate: Rate
AckCounting: TypeAlias = Literal['bytes', 'acknowledgements']
ActiveVcs: TypeAlias = Literal['configured', 'backlogged']
Adaptation: TypeAlias = Literal['throughput', 'buffer']
class Application(TypedDict, total=False):
    burst: int
    kind: Literal['constant', 'poisson', 'on_off', 'script', 'requests', 'video'] | str
    rate: Rate
    mean_off: Duration
    mean_on: Duration
    off_periods: Periods
    on_periods: Periods
    shape: float
    repeat: Duration
    writes: Writes
    connections: Connections
    parallel: int
    request_size: SizeDistribution | Size
    requests: int
    response_size: SizeDistribution
    server_time: DurationDistribution
    think_time: DurationDistribution
    adaptation: Adaptation
    chunk: Duration
    chunks: int
    ladder: list[Rate]
    max_buffer: Duration
    start_buffer: Duration
    max_requests: int
    parameters: Parameters
Bbr1Edition: TypeAlias = Literal['draft_00', 'linux']
Buffer: TypeAlias = Literal['unlimited'] | str | Size | Duration
class Chain(TypedDict, total=False):
    delays: list[Duration]
    duplication: Probability
    jitter: Jitter | JitterMaximum
    loss: ChanceLoss | LossProbability
    mtu: Size
    queue: Queue | QueueName
    rates: list[LinkRate]
class ChanceLoss(TypedDict, total=False):
    at: LossAt
    gilbert_elliott: GilbertElliott
    probability: Probability
class Columns(TypedDict, total=False):
    sink: list[str]
    size: list[Size]
    size_bytes: list[float]
    source: list[str]
    start: list[Duration]
    start_s: list[float]
Connections: TypeAlias = Literal['persistent', 'new']
Controller: TypeAlias = (Literal['reno', 'cubic', 'bbrv1', 'vegas', 'fast', 'clamp', 'maxnet', 'rcp', 'xcp', 'rem', 'hstcp',
        'dctcp', 'stcp', 'htcp', 'bic', 'westwood', 'westwood_plus', 'hybla', 'illinois', 'veno', 'yeah', 'aimd', 'binomial',
        'ledbat', 'compound', 'prague', 'copa', 'swift', 'timely', 'bbrv3', 'fixed'] | str | ControllerTable)
class ControllerTable(TypedDict, total=False):
    kind: Literal['reno', 'cubic', 'bbrv1', 'vegas', 'fast', 'clamp', 'maxnet', 'rcp', 'xcp', 'rem', 'hstcp', 'dctcp', 'stcp',
        'htcp', 'bic', 'westwood', 'westwood_plus', 'hybla', 'illinois', 'veno', 'yeah', 'aimd', 'binomial', 'ledbat', 'compound',
        'prague', 'copa', 'swift', 'timely', 'bbrv3', 'fixed'] | str
    fast_convergence: bool
    steps: Steps
    ack_aggregation: bool
    btlbw_filter_len: int
    cwnd_gain: float
    edition: Bbr1Edition | VegasEdition | Edition
    pacing_margin: Probability
    policer_detection: bool
    probe_rtt_duration: Duration
    rtprop_filter_len: Duration
    alpha: float | Probability
    alpha_rate: float
    beta: float | Probability
    beta_rate: float
    gamma: float | Probability
    slow_start: bool
    alpha_recovery_rate: float
    drain_interval: Duration
    draining: int
    history_weight: Probability
    lagged_window: bool
    mi_threshold: Duration
    paced_decrease: bool
    round_trips: int
    update: UpdateForm
    update_period: Duration
    backlog: float
    weight: float | Rate | Probability
    max_rate: Rate
    high_decrease: Probability
    high_p: Probability
    high_window: float
    low_p: Probability
    low_window: float
    gain: Probability | float
    initial_alpha: Probability
    a: Probability | float
    b: Probability
    lwnd: float
    adaptive_backoff: bool
    delta_l: Duration
    rtt_scaling: bool
    s_max: float
    s_min: float
    tau: Duration
    max_slow_start_increment: float
    rtt_0: Duration
    alpha_max: float
    alpha_min: float
    beta_max: Probability
    beta_min: Probability
    eta_1: Probability
    eta_2: Probability
    eta_3: Probability
    theta: int
    w_thresh: float
    delta: Probability | float
    epsilon: Probability
    phi: float
    q_max: float
    rho: int
    zeta: int | float
    k: float | Probability
    l: float
    allowed_increase: float
    base_history: int
    current_filter: int
    min_cwnd: float
    target: Duration
    transition_rounds: int
    virtual_rtt: Duration
    competitive_mode: bool
    min_rtt_filter_len: Duration
    additive_increase: float
    base_target: Duration
    decrease: Probability
    fs_max_cwnd: float
    fs_min_cwnd: float
    fs_range: Duration
    hop_delay: Duration
    max_cwnd: float
    max_mdf: Probability
    retx_reset_threshold: int
    additive_step: Rate
    hai_factor: int
    hai_threshold: int
    initial_rate: Rate
    max_outstanding: Size
    min_rate: Rate
    min_rtt: Duration
    segment: Size
    t_high: Duration
    t_low: Duration
    headroom: Probability
    loss_threshold: Probability
    probe_rtt_interval: Duration
    rate: Rate
    parameters: Parameters
DelayedAck: TypeAlias = bool | DelayedAckTable
class DelayedAckTable(TypedDict, total=False):
    ack_ce_immediately: bool
    ack_pushed: bool
    every: int
    quickack_segments: int
    quickacks_after_duplicate: int
    read_interval: Duration
    sack_compression: Duration
    sack_compression_percent: int
    sack_compression_slack: Duration
    timeout: Duration
Demand: TypeAlias = Rate | float
class DemandColumns(TypedDict, total=False):
    demand: list[Demand]
    sink: list[str]
    source: list[str]
DemandTable: TypeAlias = str | DemandColumns
class Description(TypedDict, total=False):
    duration: Duration
    flows: dict[str, Flow]
    links: dict[str, Link]
    name: str
    nodes: dict[str, Node]
    prices: Prices
    record: Record
    routing: Routing
    seed: int
    timeline: list[Event]
    topology: Topology
    warmup: Duration
class Dragonfly(TypedDict, total=False):
    delay: Duration
    duplication: Probability
    global_delay: Duration
    global_links: int
    global_rate: LinkRate
    host_delay: Duration
    host_queue: Queue | QueueName
    host_rate: LinkRate
    hosts: int
    jitter: Jitter | JitterMaximum
    loss: ChanceLoss | LossProbability
    mtu: Size
    queue: Queue | QueueName
    rate: LinkRate
    switches: int
class Drop(TypedDict, total=False):
    cell: int
    flow: int
    group: str
    segment: int
    transmission: int
DroppingThreshold: TypeAlias = Threshold | Literal['none']
DualService: TypeAlias = Literal['weighted_round_robin', 'time_shifted_fifo']
class Dumbbell(TypedDict, total=False):
    delay: Duration
    duplication: Probability
    jitter: Jitter | JitterMaximum
    loss: Loss | LossProbability
    mtu: Size
    queue: Queue | QueueName
    rate: LinkRate
    reverse: Reverse
Duration: TypeAlias = str
DurationDistribution: TypeAlias = Duration | list[Duration] | dict[str, Any]
class Dwdm(TypedDict, total=False):
    delay: Duration
    edge_queue: Queue | QueueName
    input_delay: Duration
    inputs: int
    queue: Queue | QueueName
    rate: Rate
    switching: Switching
    transmitters: int
    wavelength_conversion: bool
EcnBits: TypeAlias = Literal['one', 'two']
EcnCapable: TypeAlias = Literal['new_data', 'all']
EcnEcho: TypeAlias = Literal['rfc3168', 'rfc8257']
Edge = TypedDict("Edge", {"delay": Duration, "duplex": bool, "from": str, "name": str, "rate": Rate, "to": str}, total=False)
Edition: TypeAlias = Literal['document', 'linux']
class Event(TypedDict, total=False):
    at: Duration
    buffer: Buffer
    delay: Duration
    down: bool
    group: str
    link: str
    loss: Probability
    rate: Rate
    rebind: bool
    reroute_after: Duration
    return_route: list[str]
    route: list[str]
    start: bool
    stop: bool
    up: bool
Excess: TypeAlias = Literal['dropped', 'marked']
FastRetransmit: TypeAlias = int | Literal[False]
class FatTree(TypedDict, total=False):
    delay: Duration
    duplication: Probability
    host_delay: Duration
    host_queue: Queue | QueueName
    host_rate: LinkRate
    jitter: Jitter | JitterMaximum
    k: int
    loss: ChanceLoss | LossProbability
    mtu: Size
    queue: Queue | QueueName
    rate: LinkRate
Feedback: TypeAlias = Literal['exact', 'one_bit']
Flow = TypedDict("Flow", {"abr": Abr, "application": Application, "arrivals": FlowArrivals, "class": str, "count": int, "framing":
        Framing, "from": str | list[str], "jitter": Duration, "l4s": bool, "propagation_rtt": DurationDistribution,
        "receive_processing": Processing, "receiver_access": Access, "return_route": list[str], "route": list[str],
        "send_processing": Processing, "sender_access": Access, "size": SizeDistribution, "source": Source, "start":
        DurationDistribution, "stop": Duration, "tcp": Tcp | Stack | PresetName, "to": str | list[str], "traffic": Traffic},
        total=False)
class FlowArrivals(TypedDict, total=False):
    load: Probability
    mean_interval: Duration
    profile: RateProfile
    profile_end: ProfileEnd
    reference_rate: Rate
FlowTable: TypeAlias = str | Columns
class Framing(TypedDict, total=False):
    llc_snap: bool
    reassembly_delay: Duration
    segmentation_delay: Duration
    trailer: Size
class GilbertElliott(TypedDict, total=False):
    loss_in_bad: Probability
    loss_in_good: Probability
    p: Probability
    r: Probability
class Graph(TypedDict, total=False):
    delay: Duration
    delay_attribute: str
    delay_per_km: Duration
    distance_attribute: str
    duplication: Probability
    gml: str
    graphml: str
    hosts: list[str]
    jitter: Jitter | JitterMaximum
    links: list[Edge]
    loss: ChanceLoss | LossProbability
    mtu: Size
    name_attribute: str
    queue: Queue | QueueName
    rate: Rate
    rate_attribute: str
Identification: TypeAlias = Literal['counting', 'from_one', 'byte_swapped', 'random', 'checksum']
class Incast(TypedDict, total=False):
    nodes: str | list[str]
    senders: int
    to: str | list[str]
InitialEstimate: TypeAlias = Literal['min', 'max']
class Jitter(TypedDict, total=False):
    delay: Processing
    reordering: bool
JitterMaximum: TypeAlias = str
class LeafSpine(TypedDict, total=False):
    delay: Duration
    duplication: Probability
    host_delay: Duration
    host_queue: Queue | QueueName
    host_rate: LinkRate
    hosts: int
    jitter: Jitter | JitterMaximum
    leaves: int
    loss: ChanceLoss | LossProbability
    mtu: Size
    queue: Queue | QueueName
    rate: LinkRate
    spines: int
Link = TypedDict("Link", {"delay": Duration, "duplex": bool, "duplication": Probability, "from": str, "jitter": Jitter |
        JitterMaximum, "loss": Loss | LossProbability, "mtu": Size, "queue": Queue | QueueName, "rate": LinkRate, "reverse":
        Reverse, "switching": Switching, "to": str, "transmitters": int}, total=False)
LinkRate: TypeAlias = Rate | dict[str, Any]
class Loss(TypedDict, total=False):
    at: LossAt
    drops: list[Drop]
    gilbert_elliott: GilbertElliott
    probability: Probability
LossAt: TypeAlias = Literal['wire', 'before_queue']
LossProbability: TypeAlias = float | str
MappingKind: TypeAlias = Literal['linear', 'logarithmic', 'signed']
class Matrix(TypedDict, total=False):
    gravity: dict[str, float]
    table: DemandTable
    total: Rate
NewRenoVariant: TypeAlias = Literal['impatient', 'slow_but_steady']
class Node(TypedDict, total=False):
    kind: NodeKind
    receive_processing: Processing
    send_processing: Processing
NodeKind: TypeAlias = Literal['router', 'host']
PacketBytes: TypeAlias = Size | dict[str, Any]
Parameter: TypeAlias = bool | float | str | list[Parameter] | Parameters
Parameters: TypeAlias = dict[str, Parameter]
class ParkingLot(TypedDict, total=False):
    delay: Duration
    duplication: Probability
    hops: int
    jitter: Jitter | JitterMaximum
    loss: ChanceLoss | LossProbability
    mtu: Size
    queue: Queue | QueueName
    rate: LinkRate
Paws: TypeAlias = Literal['off', 'rfc7323', 'linux']
Periods: TypeAlias = Literal['exponential', 'pareto', 'constant']
class Policy(TypedDict, total=False):
    policy: Literal['drop_tail', 'ppd', 'epd', 'epd_per_vc', 'bpd', 'spd', 'erica', 'red', 'codel', 'cobalt', 'pie', 'pi2', 'rem',
        'threshold', 'ramp', 'policer', 'clamp', 'maxnet', 'rcp', 'xcp'] | str
    threshold: Threshold | QueueLength
    active_vcs: ActiveVcs
    gap: int
    lower_threshold: Threshold
    upper_threshold: Threshold
    congestion_threshold: Threshold
    dropping_threshold: DroppingThreshold
    epd_threshold: Threshold
    variant: SpdVariant
    averaging_interval: Duration
    delta: float
    target: Probability | Duration | QueueLength
    gentle: bool
    max_probability: Probability
    max_threshold: QueueLength
    mean_packet_size: Size
    min_queue: int
    min_threshold: QueueLength
    queue_unit: RedQueueUnit
    signals: RedSignals
    weight: Probability
    interval: Duration
    decrement: Probability
    freeze: Duration
    increment: Probability
    max_burst: Duration
    max_mark_probability: Probability
    period: Duration
    alpha: float
    beta: float
    gamma: float | Probability
    phi: float
    burst: Size
    excess: Excess
    rate: Rate
    offset: Size
    slope: float
    gain: float
    signed: bool
    initial_rtt: Duration
    initial_share: Probability
    parameters: Parameters
PresetName: TypeAlias = (Literal['newreno', 'reno', 'sack', 'tahoe', 'cubic', 'linux/reno', 'linux/cubic', 'linux/bbr',
        'linux/dctcp', 'linux/bic', 'linux/highspeed', 'linux/htcp', 'linux/hybla', 'linux/illinois', 'linux/scalable',
        'linux/vegas', 'linux/veno', 'linux/westwood', 'linux/yeah', 'datacentre/swift', 'datacentre/timely', 'bpd-2001/reno',
        'bpd-2001/sack', 'spd-1998/tahoe'])
class Prices(TypedDict, total=False):
    feedback: Feedback
    identification: Identification
    mapping: MappingKind
    max_price: float
    max_rate: Rate
    min_price: float
    min_rate: Rate
    scale: float
    scheme: Literal['exact', 'adpm', 'rem', 'ram', 'tpm', 'rpm']
    initial_estimate: InitialEstimate
    thresholds: Thresholds
    memory: int
    phi: float
    bits: int
    ecn_bits: EcnBits
    hops: int
    levels: int
Probability: TypeAlias = float | str
Processing: TypeAlias = Duration | dict[str, Any]
ProfileEnd: TypeAlias = Literal['repeat', 'stop']
QueueLength: TypeAlias = str | Size
QueueName: TypeAlias = (Literal['drop_tail', 'ppd', 'epd', 'epd_per_vc', 'bpd', 'spd', 'erica', 'red', 'codel', 'cobalt', 'pie',
        'pi2', 'rem', 'threshold', 'ramp', 'policer', 'clamp', 'maxnet', 'rcp', 'xcp'] | Literal['unlimited'] | str)
class RandomRegular(TypedDict, total=False):
    degree: int
    delay: Duration
    duplication: Probability
    graph_seed: int
    host_delay: Duration
    host_queue: Queue | QueueName
    host_rate: LinkRate
    hosts: int
    jitter: Jitter | JitterMaximum
    loss: ChanceLoss | LossProbability
    mtu: Size
    queue: Queue | QueueName
    rate: LinkRate
    switches: int
Rate: TypeAlias = str
RateProfile: TypeAlias = str | list[list[Duration | float]]
class RateTable(TypedDict, total=False):
    at: list[Duration]
    delay: list[Duration]
    loss: list[Probability]
    rate: list[Rate]
class Record(TypedDict, total=False):
    delay_percentiles: bool
    queue_flows: bool
    traces: Traces
Recovery: TypeAlias = Literal['newreno', 'reno', 'sack', 'rack_tlp', 'tahoe', 'bpd_sack']
RedQueueUnit: TypeAlias = Literal['packets', 'bytes']
RedSignals: TypeAlias = Literal['marks', 'drops']
ReoWndGrowth: TypeAlias = Literal['any_dsack', 'after_reordering']
class Reverse(TypedDict, total=False):
    delay: Duration
    duplication: Probability
    jitter: Jitter | JitterMaximum
    loss: Loss | LossProbability
    mtu: Size
    queue: Queue | QueueName
    rate: LinkRate
    switching: Switching
Routing: TypeAlias = Literal['shortest', 'ecmp']
Scheduler: TypeAlias = (Literal['fifo', 'strict_priority', 'drr', 'wfq', 'start_time_fair', 'sfq', 'flow_queue', 'dualpi2'] |
        SchedulerTable)
class SchedulerTable(TypedDict, total=False):
    kind: Literal['fifo', 'strict_priority', 'drr', 'wfq', 'start_time_fair', 'sfq', 'flow_queue', 'dualpi2']
    queues: int
    quantum: Size
    alpha: float
    beta: float
    classic_share: Probability
    coupling: float
    l4s_min_threshold: Duration
    l4s_range: Duration
    period: Duration
    service: DualService
    target: Duration
    time_shift: Duration
Segments: TypeAlias = float | Literal['unlimited']
class Shaper(TypedDict, total=False):
    burst: Size
    rate: Rate
class Shift(TypedDict, total=False):
    nodes: str | list[str]
    offset: int
Size: TypeAlias = str
SizeDistribution: TypeAlias = Size | list[Size] | dict[str, Any]
SlowStart: TypeAlias = Literal['standard', 'hystart', 'hystart_from_16', 'hystart++']
class Source(TypedDict, total=False):
    header: Size
    kind: Literal['constant', 'poisson', 'on_off', 'alternating'] | str
    packet_size: PacketBytes
    rate: Rate
    mean_off: Duration
    mean_on: Duration
    off_periods: Periods
    on_periods: Periods
    shape: float
    mean_idle: Duration
    parameters: Parameters
SpdVariant: TypeAlias = Literal['corrected', 'printed']
SsthreshFrom: TypeAlias = Literal['flight_size', 'window']
class Stack(TypedDict, total=False):
    congestion: str
    mtu: Size
    parameters: Parameters
    stack: str
Steps: TypeAlias = Literal['fractions', 'whole_segments']
Switching: TypeAlias = Literal['store_and_forward', 'cut_through']
class Tcp(TypedDict, total=False):
    abc_limit: Segments
    ack_counting: AckCounting
    ack_size: Size
    avoid_multiple_fast_retransmits: bool
    bare_segments: bool
    controller: Controller
    cumulative_rack_rtt: bool
    delayed_ack: DelayedAck
    ecn: bool
    ecn_capable: EcnCapable
    ecn_echo: EcnEcho
    ecn_fallback: bool
    established: bool
    f_rto_repeats: bool
    fast_recovery_after_timeout: bool
    fast_retransmit: FastRetransmit
    handshake: bool
    header: Size
    initial_ssthresh: Segments
    initial_window: Segments
    limit_dsacks: bool
    limited_transmit: bool
    mss: Size
    new_data_ends_probe: bool
    pacing: bool
    pacing_credit: bool
    paws: Paws
    preset: PresetName
    receiver_window: Window
    recovery: Recovery
    reo_wnd_growth: ReoWndGrowth
    retransmissions_by_min_rtt: bool
    sack_blocks: int
    sack_opens_window: bool
    slow_start: SlowStart
    ssthresh_from: SsthreshFrom
    syn_linear_timeouts: int
    syn_options: Size
    syn_timeouts_to_reset: int
    timeout_keeps_reduction: bool
    timer: Timer
    timestamps: bool
    window_validation: WindowValidation
Threshold: TypeAlias = str
Thresholds: TypeAlias = Literal['exclusive_or', 'printed', 'reversal']
class Throughput(TypedDict, total=False):
    bin: Duration
    flows: list[str]
class Timer(TypedDict, total=False):
    after_pacing: bool
    form: TimerForm
    granularity: Duration
    initial_rto: Duration
    jiffy: Duration
    max_backoff: int
    max_rto: Duration
    min_rto: Duration
    newreno_variant: NewRenoVariant
    peak_deviation: bool
    probe_margin: Duration
    tick: Duration
TimerForm: TypeAlias = Literal['exact', 'coarse_ns', 'coarse_bsd']
class Topology(TypedDict, total=False):
    chain: Chain
    dragonfly: Dragonfly
    dumbbell: Dumbbell
    dwdm: Dwdm
    fat_tree: FatTree
    graph: Graph
    leaf_spine: LeafSpine
    parking_lot: ParkingLot
    random_regular: RandomRegular
    torus: Torus
    waxman: Waxman
class Torus(TypedDict, total=False):
    delay: Duration
    dimensions: list[int]
    duplication: Probability
    host_delay: Duration
    host_queue: Queue | QueueName
    host_rate: LinkRate
    hosts: int
    jitter: Jitter | JitterMaximum
    loss: ChanceLoss | LossProbability
    mtu: Size
    queue: Queue | QueueName
    rate: LinkRate
class TraceTable(TypedDict, total=False):
    acks: list[str]
    controller: list[str]
    cwnd: list[str]
    departures: list[str]
    drops: list[str]
    in_flight: list[str]
    packets: list[str]
    queue: list[str]
    rto: list[str]
    rtt: list[str]
    segments: list[str]
    ssthresh: list[str]
    state: list[str]
    throughput: Throughput
TraceWord: TypeAlias = (Literal['cwnd', 'ssthresh', 'rtt', 'rto', 'in_flight', 'segments', 'acks', 'state', 'controller',
        'throughput', 'queue', 'drops', 'departures', 'packets'])
Traces: TypeAlias = list[TraceWord] | TraceTable
class Traffic(TypedDict, total=False):
    all_to_all: str | list[str]
    incast: Incast
    matrix: Matrix
    permutation: str | list[str]
    random_pairs: str | list[str]
    shift: Shift
    table: FlowTable
UpdateForm: TypeAlias = Literal['thesis', 'module']
VegasEdition: TypeAlias = Literal['paper', 'ns2', 'linux']
class Waxman(TypedDict, total=False):
    alpha: Probability
    beta: Probability
    delay: Duration
    duplication: Probability
    graph_seed: int
    jitter: Jitter | JitterMaximum
    loss: ChanceLoss | LossProbability
    mtu: Size
    queue: Queue | QueueName
    rate: LinkRate
    routers: int
Window: TypeAlias = int | Size
WindowValidation: TypeAlias = Literal['none', 'rfc5681', 'rfc7661', 'linux']
class Write(TypedDict, total=False):
    at: Duration
    size: WriteSize
WriteSize: TypeAlias = str | Size
Writes: TypeAlias = str | list[Write]
class Class(Policy, total=False):
    buffer: Buffer
    default: bool
    name: str
    share: float
class Queue(Policy, total=False):
    bdp_packet_size: Size
    bdp_rtt: Duration
    buffer: Buffer
    classes: list[Class]
    counts_in_service: bool
    scheduler: Scheduler
    shaper: Shaper
