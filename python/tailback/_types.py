"""The tables of a scenario as types: plain dictionaries, with names that editors and type checkers know.

Made from the JSON Schema by tools/scenario_types.py; a test compares. What is required is checked by the core, as all else is.

>>> import tailback as tb
>>> tb.Flow(count=3, propagation_rtt="100 ms", tcp=tb.Tcp(preset="sack"))
{'count': 3, 'rtt': '100 ms', 'tcp': {'preset': 'sack'}}
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypedDict

__all__ = [
    "Abr",
    "Access",
    "AckCounting",
    "ActiveVcs",
    "Application",
    "Buffer",
    "Chain",
    "ChanceLoss",
    "Class",
    "Columns",
    "Controller",
    "ControllerTable",
    "DelayedAck",
    "DelayedAckTable",
    "Description",
    "Dragonfly",
    "Drop",
    "DroppingThreshold",
    "DualService",
    "Dumbbell",
    "Duration",
    "DurationDistribution",
    "Dwdm",
    "EcnBits",
    "Edge",
    "Event",
    "Excess",
    "FastRetransmit",
    "FatTree",
    "Feedback",
    "Flow",
    "FlowArrivals",
    "FlowTable",
    "Framing",
    "GilbertElliott",
    "Graph",
    "Identification",
    "Incast",
    "InitialEstimate",
    "Jitter",
    "LeafSpine",
    "Link",
    "LinkRate",
    "Loss",
    "LossAt",
    "MappingKind",
    "NewRenoVariant",
    "Node",
    "NodeKind",
    "PacketBytes",
    "Parameter",
    "Parameters",
    "ParkingLot",
    "PresetName",
    "Prices",
    "Probability",
    "Processing",
    "Queue",
    "QueueLength",
    "RandomRegular",
    "Rate",
    "Record",
    "Recovery",
    "RedQueueUnit",
    "RedSignals",
    "Reverse",
    "Routing",
    "Scheduler",
    "SchedulerTable",
    "Segments",
    "Shaper",
    "Shift",
    "Size",
    "SizeDistribution",
    "SlowStart",
    "Source",
    "SpdVariant",
    "SsthreshFrom",
    "Steps",
    "Switching",
    "Tcp",
    "Threshold",
    "Thresholds",
    "Throughput",
    "Timer",
    "TimerForm",
    "Topology",
    "Torus",
    "TraceTable",
    "TraceWord",
    "Traces",
    "Traffic",
    "UpdateForm",
    "Waxman",
    "Window",
    "WindowValidation",
]


class Abr(TypedDict, total=False):
    """The available bit rate service (ABR, ATM Forum TM 4.0): an edge at the sender lets cells into the network at
    the rate that RM cells bring back. Rates are of whole cells, 53 bytes each.

    Attributes
    ----------
    ack_threshold
        Acknowledgements wait at the edge while it has so many packets or more. If not given, none waits.
    adtf
        How long a rate above ICR may go unused (ADTF).
    buffer
        Waiting places at the edge of each flow: packets, bytes or `unlimited`. A packet holds its place until its
        last cell has left.
    cdf
        Cutoff decrease factor (CDF): how much of the rate each RM cell takes off while too many have not come back.
    icr
        Initial cell rate (ICR). If not given, PCR.
    mcr
        Minimum cell rate (MCR). If not given, the rate falls to 10 cells per second at least.
    nrm
        Each so many cells one is an RM cell (Nrm).
    pcr
        Peak cell rate (PCR). If not given, that of `sender_access`.
    rdf
        Rate decrease factor (RDF): how much of the rate an RM cell with CI takes off.
    rif
        Rate increase factor (RIF): how much of PCR an RM cell without CI and NI adds.
    tbe
        Transient buffer exposure (TBE): cells that may be sent before the first RM cell comes back, until CDF counts.
    trm
        From one RM cell to the next at most, if two cells have been sent (Trm).
    """

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
    """A private link with room for everything.

    Attributes
    ----------
    delay
        Propagation delay, one way.
    rate
        Bit rate; no serialisation if not given.
    """

    delay: Duration
    rate: Rate


# Which VCs share a threshold.
ActiveVcs: TypeAlias = Literal["configured", "backlogged"]


class Application(TypedDict, total=False):
    """An application above TCP. It holds whatever TCP may not send yet, without limit.

    Attributes
    ----------
    burst
        Full segments that it hands over at a time.

    kind
        What the rest of the table means:

        * ``"constant"``: Evenly spaced.
        * ``"poisson"``: Exponential gaps.
        * ``"on_off"``: Bursts of evenly spaced arrivals, and silences, both of exponential length.

    With kind = "constant"
    ----------------------
    rate
        Rate: of datagrams on the wire, headers included; of an application, of its payload.

    With kind = "poisson"
    ---------------------
    rate
        Mean rate: of datagrams on the wire, headers included; of an application, of its payload.

    With kind = "on_off"
    --------------------
    mean_off
        Mean length of a silence.
    mean_on
        Mean length of a burst.
    rate
        Rate while it is on: of datagrams on the wire, headers included; of an application, of its payload.
    """

    burst: int
    kind: Literal["constant", "poisson", "on_off"]
    rate: Rate
    mean_off: Duration
    mean_on: Duration


# `100 packets`, `1200 cells`, `50 kB`, `50 %` (of rate times `bdp_rtt`) or `unlimited`
Buffer: TypeAlias = "Literal['unlimited'] | str | Size"


class Chain(TypedDict, total=False):
    """Routers in a row, each link with its own settings.

    Attributes
    ----------
    delays
        Propagation delays, link by link; as many as there are rates.
    duplication
        Probability that a packet which a link does not lose arrives twice.
    jitter
        A random addition to the delay of each link.
    loss
        Packets that each link loses.
    queue
        The queue in front of each link.
    rates
        Bit rates, link by link, or when they can send.
    """

    delays: list[Duration]
    duplication: Probability
    jitter: Jitter
    loss: ChanceLoss
    queue: Queue
    rates: list[LinkRate]


class ChanceLoss(TypedDict, total=False):
    """Packets lost by chance. Listed packets are those of a link: it has to be one of `links`.

    Attributes
    ----------
    at
        Where chance takes packets: on the wire behind the queue, or before they get to it.
    gilbert_elliott
        Losses in bursts, beside those.
    probability
        Probability of loss for each packet, independently.
    """

    at: LossAt
    gilbert_elliott: GilbertElliott
    probability: Probability


class Class(TypedDict, total=False):
    """One of several queues of a link.

    Attributes
    ----------
    buffer
        Waiting places of its own, within the queue's `buffer`.
    name
        The flows that have it: those whose group has this `class`.
    share
        Share of the link in proportion to those of the others; what it says, the scheduler knows.
    default
        Whether flows whose class no other queue has, or that have none, have this queue as well.

    policy
        What the rest of the table means:

        * ``"drop_tail"``: Accepts whatever fits. Over cells this is plain ATM.
        * ``"ppd"``: Partial packet discard: when a cell does not fit, the rest of its packet is discarded too, except
        the last cell.
        * ``"epd"``: Early packet discard: once the threshold is reached, no packet may begin. Includes partial packet
        discard.
        * ``"epd_per_vc"``: Early packet discard with per-VC accounting: past the threshold, only VCs that hold their
        share of it lose packets.
        * ``"bpd"``: Balanced packet discard: early packet discard that spares the VCs that have just lost a packet.
        * ``"spd"``: Single packet discard: one early loss for each VC whose own queue builds up. Backed up by early
        packet discard.
        * ``"erica"``: Tells the sources of an available bit rate service (`abr`) the rate that fills the link and is
        fair (ERICA).
        * ``"red"``: Random early detection: marks or discards at random, with a probability that grows with the
        average queue. What cannot be marked is discarded.
        * ``"codel"``: Controlled delay: marks when no wait within an interval met the target. Discards packets that
        are not ECN-capable.
        * ``"cobalt"``: CoDel, and BLUE where senders do not answer it: overflows make discards likelier, an empty
        queue rarer.
        * ``"pie"``: Proportional integral controller enhanced: the probability of a mark follows the delay. Discards
        packets that are not ECN-capable.
        * ``"pi2"``: The Classic queue of DualPI2: the probability of a mark is the square of what follows the delay.
        Discards packets that are not ECN-capable. Defaults are those of Linux.
        * ``"rem"``: Random exponential marking: a price that follows input rate and queue length, signalled by marks.
        Discards what is not ECN-capable.
        * ``"threshold"``: Marks what finds more than a threshold waiting, the switch of DCTCP. Discards packets that
        are not ECN-capable.
        * ``"ramp"``: Marks at random, the likelier the longer the queue is at the moment, the switch of DCQCN.
        Discards packets that are not ECN-capable.
        * ``"policer"``: A token bucket: discards or marks what comes faster than a rate, but for bursts.
        * ``"clamp"``: CLAMP: the price is a multiple of the time that the queue takes to be sent, and is told to
        senders that keep a window by it.
        * ``"maxnet"``: MaxNet: a congestion cost integrates what arrives beyond a target rate, and is told to senders
        that go by it.
        * ``"rcp"``: The rate control protocol: one rate for all flows of the link, told to senders that take it.
        * ``"xcp"``: XCP: works out once a round trip by how much flows should change their rates, and shares it out
        among their packets.
        * ``user:NAME``: `user:NAME`: a policy in Python registered under that name.

    With policy = "epd"
    -------------------
    threshold
        Once the buffer holds this many cells, no packet may begin.

    With policy = "epd_per_vc"
    --------------------------
    active
        Which VCs are active.
    threshold
        Once the buffer holds this many cells, no VC that holds its share (this divided by the number of active VCs)
        may begin a packet.

    With policy = "bpd"
    -------------------
    gap
        For how many packets after a loss a VC is judged by `max_threshold` (GAP).
    lower
        Cells in the buffer from which packets of most VCs may not begin (LT).
    upper
        Cells in the buffer from which those of a VC that has just lost may not (UT).

    With policy = "spd"
    -------------------
    congestion_threshold
        Cells in the buffer that must be exceeded for the single discard (CongestTh).
    dropping_threshold
        Cells of the VC itself from which one packet is discarded (SPDth); `none` turns this off.
    epd_threshold
        Once the buffer holds this many cells, no packet may begin.
    variant
        How the printed code is read.

    With policy = "erica"
    ---------------------
    averaging_interval
        Time over which load and channels are counted, at least 1 us.
    delta
        As long as the load factor is no more than this above 1, rates are made equal (delta).
    target
        Share of the link's rate that is handed out (target utilisation).

    With policy = "red"
    -------------------
    counts
        What the average queue is counted in. Thresholds keep the unit of the buffer: counted in bytes, a packet of a
        threshold is one of the size `packet`.
    gentle
        Between `max_threshold` and twice that, the probability grows to 1.
    lower
        Average queue below which nothing is marked (min_th).
    max_probability
        Probability of a mark as the average reaches `max_threshold` (max_p).
    packet
        Typical packet: idle time counts as arrivals at an empty queue, as many as packets of this size could have
        been sent meanwhile.
    signals
        What becomes of a packet that is to tell of congestion.
    upper
        Average queue at which the probability is `max_probability` (max_th); above that it keeps growing (`gentle`)
        or is 1.
    weight
        Weight of a new sample in the average (w_q).

    With policy = "codel"
    ---------------------
    interval
        How long waits must exceed the target: about the longest usual round-trip time.
    target
        Acceptable wait.

    With policy = "cobalt"
    ----------------------
    decrement
        By so much an empty queue lowers it (d2).
    freeze
        From one change of it to the next at least (freeze_time).
    increment
        By so much an overflow raises the probability of a discard (d1 of BLUE).
    interval
        How long waits must exceed the target: about the longest usual round-trip time (of CoDel).
    target
        Acceptable wait (of CoDel).

    With policy = "pie"
    -------------------
    burst
        A burst of this length after a calm passes unmarked (MAX_BURST).
    max_mark_probability
        Highest probability at which packets are marked; above it they are discarded (mark_ecnth).
    packet
        Typical packet: a queue of two of them counts as empty (MEAN_PKTSIZE).
    period
        Time between updates of the probability (T_UPDATE), at least 1 us.
    target
        Target delay (QDELAY_REF).

    With policy = "pi2"
    -------------------
    alpha
        Weight of the delay's distance from the target, per second (alpha).
    beta
        Weight of its change, per second (beta).
    max_mark_probability
        Highest probability at which packets are marked; from it on they are discarded (p_Cmax).
    period
        Time between updates of the probability (Tupdate), at least 1 us.
    target
        Target delay (target).

    With policy = "rem"
    -------------------
    alpha
        Weight of the queue's distance from the target, against that of the input from the capacity (alpha).
    gamma
        How far the price moves in a period (gamma).
    packet
        Typical packet: what input and capacity are counted in.
    period
        Time between updates of the price, at least 1 us.
    phi
        A price of p marks all but `phi` to the power of -p of the packets (phi), above 1.
    target
        Queue length to maintain (b*).

    With policy = "threshold"
    -------------------------
    threshold
        Queue that a packet must find on arrival, without itself, to pass unmarked: at most this (K).

    With policy = "ramp"
    --------------------
    lower
        Queue up to which nothing is marked (K_min).
    max_probability
        Probability of a mark at `max_threshold` (P_max).
    upper
        Queue at which the probability is `max_probability` (K_max); above it everything is marked.

    With policy = "policer"
    -----------------------
    burst
        Tokens that are kept, which pass at once (CBS). A larger packet never conforms.
    excess
        What becomes of what comes faster.
    rate
        At which tokens come (CIR); headers count.

    With policy = "clamp"
    ---------------------
    offset
        Price below which nothing is told, as bytes of queue times the slope (a).
    slope
        How many seconds of price a second of queue is (b). Above pi/2 windows swing.

    With policy = "maxnet"
    ----------------------
    gain
        By how much the cost changes in a period in which nothing arrives, or twice the target (phi c).
    period
        Time between updates of the cost, at least 1 us.
    signed
        Whether the cost may fall below 0, as (5.6) is printed. An idle link then lowers it without end, and sources
        take as long to slow down again.
    target
        Target rate, as a share of the link's (c).

    With policy = "rcp"
    -------------------
    alpha
        How much spare capacity counts in a round trip (alpha).
    beta
        How much the queue counts (beta).
    initial_rtt
        Stands for the mean round trip until packets tell one.
    initial_share
        The first rate, as a share of the link's.
    period
        Time between updates of the rate (T), at least 1 us.
    target
        Share of the link's rate that flows may have together (eta).

    With policy = "xcp"
    -------------------
    alpha
        How much of the spare capacity is given away in an interval (alpha).
    beta
        How much of the standing queue is taken back (beta).
    gamma
        Share of the traffic that changes hands in an interval, for fairness (gamma).
    period
        How finely the length of an interval is told, which is the mean round trip, at least 1 us.
    target
        Share of the link's rate that flows may have together.

    With policy = "user:NAME"
    -------------------------
    parameters
        Keyword arguments for the policy's class (of `user:NAME`).
    """

    buffer: Buffer
    name: str
    policy: (
        Literal[
            "drop_tail",
            "ppd",
            "epd",
            "epd_per_vc",
            "bpd",
            "spd",
            "erica",
            "red",
            "codel",
            "cobalt",
            "pie",
            "pi2",
            "rem",
            "threshold",
            "ramp",
            "policer",
            "clamp",
            "maxnet",
            "rcp",
            "xcp",
        ]
        | str
    )
    share: float
    default: bool
    threshold: Threshold | QueueLength
    active: ActiveVcs
    gap: int
    lower: Threshold | QueueLength
    upper: Threshold | QueueLength
    congestion_threshold: Threshold
    dropping_threshold: DroppingThreshold
    epd_threshold: Threshold
    variant: SpdVariant
    averaging_interval: Duration
    delta: float
    target: Probability | Duration | QueueLength
    counts: RedQueueUnit
    gentle: bool
    max_probability: Probability
    packet: Size
    signals: RedSignals
    weight: Probability
    interval: Duration
    decrement: Probability
    freeze: Duration
    increment: Probability
    burst: Duration | Size
    max_mark_probability: Probability
    period: Duration
    alpha: float
    beta: float
    gamma: float | Probability
    phi: float
    excess: Excess
    rate: Rate
    offset: Size
    slope: float
    gain: float
    signed: bool
    initial_rtt: Duration
    initial_share: Probability
    parameters: Parameters


class Columns(TypedDict, total=False):
    """Flows, as many as each column has values.

    Attributes
    ----------
    sink
        The node where it ends.
    size
        Payload that each transfers, if the group does not say.
    size_bytes
        The same as plain numbers.
    source
        The node where each flow begins.
    start
        When each starts, if the group does not say.
    start_s
        The same as plain numbers.
    """

    sink: list[str]
    size: list[Size]
    size_bytes: list[float]
    source: list[str]
    start: list[Duration]
    start_s: list[float]


# one of `reno`, `cubic`, `bbrv1`, `vegas`, `fast`, `clamp`, `maxnet`, `rcp`, `xcp`, `rem`, `hstcp`, `dctcp`,
# `stcp`, `htcp`, `bic`, `westwood`, `westwood_plus`, `hybla`, `illinois`, `veno`, `yeah`, `aimd`, `binomial`,
# `ledbat`, `compound`, `prague`, `copa`, `swift`, `timely`, `bbrv3` and 1 more, `user:NAME` for a law in
# Python, or a table such as {kind = "vegas", alpha = 1, beta = 3}
Controller: TypeAlias = (
    "Literal['reno', 'cubic', 'bbrv1', 'vegas', 'fast', 'clamp', 'maxnet', 'rcp', 'xcp', 'rem', 'hstcp', 'dctcp', 'stcp', 'htcp', 'bic', 'westwood', 'westwood_plus', 'hybla', 'illinois', 'veno', 'yeah', 'aimd', 'binomial', 'ledbat', 'compound', 'prague', 'copa', 'swift', 'timely', 'bbrv3', 'fixed'] | "
    "str | "
    "ControllerTable"
)


class ControllerTable(TypedDict, total=False):
    """A control law with its settings.

    Attributes
    ----------

    kind
        What the rest of the table means:

        * ``"reno"``: A segment more per round trip, half on congestion.
        * ``"cubic"``: A cubic curve of time.
        * ``"bbrv1"``: Sends at the rate of delivery, with two bandwidth-delay products in flight (BBR version 1).
        * ``"vegas"``: Keeps a few segments in the queues.
        * ``"fast"``: A given number of segments in the queues (FAST TCP).
        * ``"clamp"``: A client of CLAMP: Reno, whose window is bounded by the prices of its path, which are waits.
        * ``"maxnet"``: A source of MaxNet: its rate falls exponentially with the largest congestion cost of its path.
        * ``"rcp"``: A source of RCP: sends at the rate that the queues of its path tell.
        * ``"xcp"``: A source of XCP: its window changes by what the queues of its path tell, packet by packet.
        * ``"rem"``: A source that maximises its utility, the logarithm of its rate, less what its path costs (the
        source of REM, NUM).
        * ``"hstcp"``: The larger the window, the faster it grows and the less it backs off.
        * ``"dctcp"``: Reduces in proportion to the share of marked segments. Needs `ecn`, and queues that mark, such
        as `threshold`.
        * ``"stcp"``: Opens by a share of the window and closes by a share of it.
        * ``"htcp"``: The increase grows with the time since the last loss; a loss takes what the queue holds.
        * ``"bic"``: A binary search for the window, in bounded steps.
        * ``"westwood"``: A loss leaves what the measured bandwidth, a filter of every acknowledgement, brings in the
        shortest round trip.
        * ``"westwood_plus"``: A loss leaves what the measured bandwidth, a sample a round trip, brings in the
        shortest round trip.
        * ``"hybla"``: Opens the window as fast in time as a flow with a short round trip. Its paper asks for `pacing`
        and `timestamps`.
        * ``"illinois"``: The average queueing delay says by how much the window grows, and what a loss takes.
        * ``"veno"``: Reno, but a loss without a queue takes a fifth, and with a queue the window opens half as fast.
        * ``"yeah"``: Grows like Scalable TCP while its queue is short, and empties it while it is not.
        * ``"aimd"``: So many segments more in a round trip, such a share less at a loss. It keeps pace with Reno
        where `a` is 3 b / (2 - b).
        * ``"binomial"``: The increase falls, and the reduction grows, with a power of the window; it competes fairly
        with Reno where the powers add up to 1.
        * ``"ledbat"``: Keeps a given delay in queues and gives way to others.
        * ``"compound"``: Reno and a window that goes by delay, together.
        * ``"prague"``: For queues of L4S: reduces in proportion to the share of marked segments, and paces. Needs
        `ecn`, and a queue that marks, such as `dualpi2`'s.
        * ``"copa"``: Keeps about 1/delta packets in the queues, and empties them every few round trips. Best with
        timestamps and, in short buffers, RACK-TLP.
        * ``"swift"``: Holds the round trip at a target, which grows with hops and with the number of flows. Best with
        timestamps.
        * ``"timely"``: Sends at a rate that follows the gradient of the round trip. Best with timestamps, and for
        networks without loss.
        * ``"bbrv3"``: Sends at the rate of delivery, probes for more in cycles and heeds losses above 2 % (BBR
        version 3).
        * ``"fixed"``: The initial window, unchanged for the whole run.
        * ``user:NAME``: `user:NAME`: a law in Python registered under that name.

    With kind = "cubic"
    -------------------
    fast_convergence
        A flow that loses again before it has regained its window gives way to others (section 4.7).
    steps
        In what steps the window follows the curve: those of RFC 9438, or those of Ha, Rhee and Xu (2008), which
        kernels take.

    With kind = "bbrv1"
    -------------------
    btlbw_filter_len
        Round trips of which the highest rate of delivery counts (BtlBwFilterLen).
    pacing_margin
        Share of the rate of delivery that pacing stays below it, which the draft does not have; 1 % in Linux.
    probe_rtt_duration
        How long nearly nothing is in flight then (ProbeRTTDuration).
    rtprop_filter_len
        How long a shortest round trip counts until it is measured anew (RTpropFilterLen).
    cwnd_gain
        Bandwidth-delay products in flight at most while bandwidth is probed (cwnd_gain).

    With kind = "vegas"
    -------------------
    alpha
        The window grows while fewer segments than this are queued.
    alpha_rate
        Instead of `alpha`, as a rate in segments per second: what it brings in a base round trip. With `beta_rate`.
    beta
        The window shrinks while more segments than this are queued.
    beta_rate
        Instead of `beta`, likewise.
    gamma
        Slow start ends once more segments than this are queued.
    slow_start
        Off: the window only ever moves by a segment in a round trip, also from its start and after timeouts.

    With kind = "fast"
    ------------------
    alpha
        Segments to keep in the queues.
    alpha_recovery_rate
        A loss, a mark or a first timeout halves `alpha`, down to a hundredth, and `beta` with it; it returns
        exponentially, at this rate per second (k of equation 4.32).
    beta
        The window rests while at least `alpha` segments are in the queues and fewer than this; `alpha` if not given.
    drain_interval
        With `draining`: after so long the flow forgets what it took for propagation and drains again, so that a
        longer path is not taken for a queue.
    draining
        Factor by which a new flow slows down for a while, once it is stable, so that the queues drain (r).
    gamma
        Fraction of the way to the new window that each update moves.
    history_weight
        Weight of its history in the averaged round trip (4.5).
    mi_threshold
        Slow start while the queueing delay is below this (MIthreshold).
    paced_decrease
        The window shrinks by its share on each acknowledgement, so that sending does not pause (Algorithm 1).
    lagged_window
        The queue is judged by the window of a round trip ago, and after a loss by the window before it; off in the
        form `thesis` and on in `module` if not given. Off in `module`, which updates many times before it sees what
        came of it, it does not come to rest.
    round_trips
        Of the form `thesis`: round trips from one update of the window to the next.
    update
        When the window is updated, and by what.
    update_period
        Of the form `module`: the time from one update of the window to the next, in every other round trip.

    With kind = "clamp"
    -------------------
    backlog
        What price times rate comes to at rest, in segments (tau): at a slope of 1, what a flow of weight 1 keeps in
        queues.
    weight
        A flow of weight 2 has twice the rate at each price (phi).

    With kind = "maxnet"
    --------------------
    max_rate
        Rate at a cost of 0, and the most that a source of weight 1 sends.
    slow_start
        Whether the window at most doubles in a round trip, while the cost is learnt.
    weight
        A source of weight 2 wants twice as much at each cost.

    With kind = "rcp"
    -----------------
    max_rate
        The most that it sends.
    slow_start
        Whether the window at most doubles in a round trip, while an estimated price is still far off.
    weight
        Of rates: a source of weight 2 sends twice as much as it is told, so that a queue shares by weights.

    With kind = "rem"
    -----------------
    max_rate
        The most that it sends, which it does at a price of 0.
    slow_start
        Whether the window at most doubles in a round trip, while the price is learnt.
    weight
        Rate at a price of 1, which is the weight of the utility.

    With kind = "hstcp"
    -------------------
    high_decrease
        Share of a window of `high_window` that a loss takes (High_Decrease).
    high_p
        Loss rate at which it has `high_window` (High_P).
    high_window
        Window that it has at a loss rate of `high_p` (High_Window).
    low_p
        Loss rate at which it has that window (Low_P).
    low_window
        Window up to which it is Reno (Low_Window).

    With kind = "dctcp"
    -------------------
    gain
        Weight of the newest window in the estimate of the marked share (g).
    initial_alpha
        That estimate at the start (DCTCP.Alpha).

    With kind = "stcp"
    ------------------
    a
        By how much an acknowledged segment opens the window.
    b
        Share of the window that a loss takes.
    lwnd
        Window up to which it is Reno.

    With kind = "htcp"
    ------------------
    adaptive_backoff
        A loss leaves the shortest round trip over the longest of the window, 0.5 to 0.8; off: half.
    delta_l
        For so long after a loss it is Reno (Delta_L).
    rtt_scaling
        The increase is in proportion to the round trip, 0.1 to 2 times that of 100 ms.

    With kind = "bic"
    -----------------
    beta
        Share of the window that a loss takes.
    fast_convergence
        A flow that loses again before it has regained its window gives way to others.
    low_window
        Window below which it is Reno.
    s_max
        The largest step of a round trip (S_max).
    s_min
        The smallest one (S_min).

    With kind = "westwood"
    ----------------------
    tau
        Time constant of the filter of bandwidth samples.

    With kind = "westwood_plus"
    ---------------------------
    alpha
        Weight of the past in the filter of bandwidth samples.

    With kind = "hybla"
    -------------------
    rtt_0
        The round trip that it keeps pace with (RTT_0). Flows with a shorter one are Reno.
    max_slow_start_increment
        By so many segments at most an acknowledged one opens the window in slow start. What the paper has, 2^rho - 1,
        are 15 with four times `rtt_0`, and a million with twenty times as much.

    With kind = "illinois"
    ----------------------
    alpha_max
        The same without delay.
    alpha_min
        Segments that a round trip adds at the largest delay.
    beta_max
        The same at much delay.
    beta_min
        Share of the window that a loss takes at little delay.
    eta_1
        Up to this share of the largest delay the increase is `alpha_max`.
    eta_2
        Up to this share a loss takes `beta_min`.
    eta_3
        From this share on it takes `beta_max`.
    theta
        Round trips with little delay before the increase is `alpha_max` again.
    w_thresh
        Window below which it is Reno.

    With kind = "veno"
    ------------------
    beta
        With so many segments in queues the path is congested.

    With kind = "yeah"
    ------------------
    a
        By how much an acknowledged segment opens the window in the fast mode.
    delta
        Share of the window that a loss takes at least.
    epsilon
        Share of the window that an early decongestion takes at most.
    phi
        It is slow, too, where the queueing delay is above the shortest round trip over this.
    q_max
        With so many of its segments in queues it is slow, and takes them out (Q_max).
    rho
        After so many slow round trips in a row, others keep the queue full, and a loss takes half.
    zeta
        After so many fast round trips there are no such others.

    With kind = "aimd"
    ------------------
    a
        Segments that a round trip adds.
    b
        Share of the window that a loss takes.

    With kind = "binomial"
    ----------------------
    alpha
        Factor of the increase.
    beta
        Factor of the reduction.
    k
        Power of the window by which the increase is divided.
    l
        Power of the window in the reduction.

    With kind = "ledbat"
    --------------------
    allowed_increase
        The window is at most so many segments above what is in flight (ALLOWED_INCREASE).
    base_history
        Minutes of which the least one-way delay is the path's own (BASE_HISTORY).
    current_filter
        Of so many one-way delays, one of each acknowledgement, the least is the present one (CURRENT_FILTER).
    gain
        Segments that a round trip adds to or takes off where the delay is as far from TARGET as an empty queue
        (GAIN); the RFC allows 1 at most.
    min_cwnd
        The least window, but after a timeout until as many segments are acknowledged (MIN_CWND).
    target
        Delay that it keeps in queues (TARGET); the RFC allows 100 ms at most.

    With kind = "compound"
    ----------------------
    alpha
        Factor of the increase of both windows.
    beta
        Share of both that a loss takes.
    gamma
        With so many segments in queues the second window closes.
    k
        Power of both in their increase.
    zeta
        By how many times of what is queued it closes.

    With kind = "prague"
    --------------------
    gain
        Weight of the newest round in the estimate of the marked share (g).
    initial_alpha
        That estimate at the start (alpha).
    transition_rounds
        Round trips from which on it does (D).
    virtual_rtt
        Shortest round trip as which it behaves, whatever its own is (RTT_virt); 0 is its own.

    With kind = "copa"
    ------------------
    competitive_mode
        Whether delta is lowered beside flows that fill the queues, by additive increase and multiplicative decrease
        of one over it.
    delta
        How much delay weighs against throughput: about one over it packets are kept in the queues.
    min_rtt_filter_len
        How long a shortest round trip counts (RTTmin).

    With kind = "swift"
    -------------------
    additive_increase
        By how much the window grows in a round trip (ai).
    base_target
        The target of a path without hops and of a large window (base_target).
    decrease
        What is taken of a window for an excess as large as the delay (beta).
    fs_min_cwnd
        A window up to which all of that is added (fs_min_cwnd).
    fs_max_cwnd
        A window from which on nothing of it is (fs_max_cwnd).
    fs_range
        What the smallest windows add to it (fs_range); zero for one target for all.
    hop_delay
        What each link of the path adds to it.
    min_cwnd
        The window is no smaller (min_cwnd). Below one, a segment leaves only every few round trips.
    max_mdf
        At most this share is taken of a window, and for a loss (max_mdf).
    max_cwnd
        The window is no larger (max_cwnd).
    retx_reset_threshold
        So many timeouts in a row leave the least window (RETX_RESET_THRESHOLD).

    With kind = "timely"
    --------------------
    additive_step
        By this much the rate grows at a time (delta).
    hai_threshold
        Completions in a row without a growing round trip after which steps are larger (HAI).
    hai_factor
        How much larger (N).
    decrease
        How much a gradient, or an excess, takes of the rate (beta).
    max_rate
        The most that it sends: the line rate of the host.
    initial_rate
        What it starts with: C/(N+1) in the paper, where N other flows of the host share its line rate; without,
        `max_rate`.
    min_rtt
        What a gradient is a share of: the round trip of an empty network (minRTT).
    outstanding
        At most so much is outstanding.
    segment
        Data whose acknowledgement is a completion, after which the rate changes.
    min_rate
        The least that it sends.
    t_high
        Round trips above this lower it (T_high).
    t_low
        Round trips below this only raise the rate (T_low).
    weight
        Weight of the newest difference of round trips in their average (alpha).

    With kind = "bbrv3"
    -------------------
    beta
        What a round trip with losses leaves of the short-term bounds at least (Beta).
    headroom
        Share of the long-term bound that is left to others (Headroom).
    loss_threshold
        Share of a round trip's segments that may be lost while bandwidth is probed (LossThresh).
    min_rtt_filter_len
        How long a shortest round trip counts (MinRTTFilterLen).
    pacing_margin
        Share of the rate of delivery that pacing stays below it (PacingMarginPercent).
    probe_rtt_duration
        For how long (ProbeRTTDuration).
    probe_rtt_interval
        Without a shorter round trip for so long, half a product is in flight for a while (ProbeRTTInterval).
    cwnd_gain
        Bandwidth-delay products in flight at most, but while bandwidth is probed and in ProbeRTT (DefaultCwndGain).

    With kind = "fixed"
    -------------------
    rate
        Rate on the wire at which full segments leave, if acknowledgements do not clock them.

    With kind = "user:NAME"
    -----------------------
    parameters
        Keyword arguments for the law's class (of `user:NAME`).
    """

    kind: (
        Literal[
            "reno",
            "cubic",
            "bbrv1",
            "vegas",
            "fast",
            "clamp",
            "maxnet",
            "rcp",
            "xcp",
            "rem",
            "hstcp",
            "dctcp",
            "stcp",
            "htcp",
            "bic",
            "westwood",
            "westwood_plus",
            "hybla",
            "illinois",
            "veno",
            "yeah",
            "aimd",
            "binomial",
            "ledbat",
            "compound",
            "prague",
            "copa",
            "swift",
            "timely",
            "bbrv3",
            "fixed",
        ]
        | str
    )
    fast_convergence: bool
    steps: Steps
    btlbw_filter_len: int
    pacing_margin: Probability
    probe_rtt_duration: Duration
    rtprop_filter_len: Duration
    cwnd_gain: float
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
    mi_threshold: Duration
    paced_decrease: bool
    lagged_window: bool
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
    rtt_0: Duration
    max_slow_start_increment: float
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
    fs_min_cwnd: float
    fs_max_cwnd: float
    fs_range: Duration
    hop_delay: Duration
    max_mdf: Probability
    max_cwnd: float
    retx_reset_threshold: int
    additive_step: Rate
    hai_threshold: int
    hai_factor: int
    initial_rate: Rate
    min_rtt: Duration
    outstanding: Size
    segment: Size
    min_rate: Rate
    t_high: Duration
    t_low: Duration
    headroom: Probability
    loss_threshold: Probability
    probe_rtt_interval: Duration
    rate: Rate
    parameters: Parameters


# What of an acknowledgement opens the window.
AckCounting: TypeAlias = Literal["bytes", "acknowledgements"]

# true, false, or a table such as {every = 2, timeout = "200 ms"}
DelayedAck: TypeAlias = "bool | DelayedAckTable"


class DelayedAckTable(TypedDict, total=False):
    """Delayed acknowledgements (RFC 5681 section 4.2), as far as they differ from the preset's, or from every second
    segment within 200 ms if it has none.

    Attributes
    ----------
    quickack_segments
        So many segments, the flow's first, are acknowledged one by one.
    every
        Acknowledge at least once per this many full segments.
    ack_ce_immediately
        The first marked segment since the sender last reduced its window, the next, and one that tells of a reduction
        are acknowledged at once.
    sack_compression
        With SACK, above a gap, after three acknowledgements at once, one for all that arrives within this time, or a
        third of a round trip if that is less; 0 s for one each.
    timeout
        Acknowledge at most this long after the first unacknowledged segment arrived.
    """

    quickack_segments: int
    every: int
    ack_ce_immediately: bool
    sack_compression: Duration
    timeout: Duration


class Description(TypedDict, total=False):
    """A network, what runs in it, and what to record: everything that a run needs. Times, rates and sizes are text
    with a unit, such as `10 ms`, `75 Mbps`, `50 kB`.

    Attributes
    ----------
    duration
        Length of the run.
    flows
        Flow groups by name. Their order is that of every table of results.
    links
        Links by name.
    name
        What the scenario is about, in a few words.
    nodes
        Nodes by name.
    prices
        How prices of congestion travel, where queues tell any.
    record
        What to keep in addition to the counters.
    routing
        Which way packets take where no `route` is given.
    seed
        Seed of all random streams.
    timeline
        Changes while the network runs.
    topology
        Common networks in one line.
    warmup
        Results count from here.
    """

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
    """Groups of switches, all of a group linked and all groups linked.

    Attributes
    ----------
    delay
        Propagation delay of each link, one way.
    duplication
        Probability that a packet which a link does not lose arrives twice.
    global_delay
        Propagation delay of the links between groups, one way, if not that of the others.
    global_links
        Links of each switch to other groups, h of the paper, which advises half as many as there are `switches` in a
        group.
    global_rate
        Bit rate of the links between groups, if not that of the others.
    host_delay
        Propagation delay of the links of hosts, one way, if not that of the others.
    host_queue
        The queue of each host, in front of its link; unlimited if not given.
    host_rate
        Bit rate of the links of hosts, if not that of the others.
    hosts
        Hosts of each switch, p of the paper, which advises half as many as there are `switches` in a group.
    jitter
        A random addition to the delay of each link.
    loss
        Packets that each link loses.
    queue
        The queue of each port of each switch.
    rate
        Bit rate of each link, or when it can send.
    switches
        Switches of each group, a of the paper.
    """

    delay: Duration
    duplication: Probability
    global_delay: Duration
    global_links: int
    global_rate: LinkRate
    host_delay: Duration
    host_queue: Queue
    host_rate: LinkRate
    hosts: int
    jitter: Jitter
    loss: ChanceLoss
    queue: Queue
    rate: LinkRate
    switches: int


class Drop(TypedDict, total=False):
    """One transmission of one packet.

    Attributes
    ----------
    cell
        For a packet that travels in cells: which of its cells that reach the queue, counted from 0; all of them if
        not given.
    flow
        Flow in the group; 0 is the first.
    group
        Flow group.
    segment
        Data segment or datagram of the flow; 0 is the first, or the SYN where a connection is opened.
    transmission
        1 is the first transmission, 2 the first retransmission.
    """

    cell: int
    flow: int
    group: str
    segment: int
    transmission: int


# `20 cells`, `2 %` (of the buffer) or `none`
DroppingThreshold: TypeAlias = "Threshold | Literal['none']"

# Which of the two queues of DualPI2 is served.
DualService: TypeAlias = Literal["weighted_round_robin", "time_shifted_fifo"]


class Dumbbell(TypedDict, total=False):
    """Two routers and a bottleneck.

    Attributes
    ----------
    delay
        Its propagation delay, one way.
    duplication
        Probability that a packet which it does not lose arrives twice.
    jitter
        A random addition to its delay.
    loss
        Packets that it loses.
    queue
        The queue in front of it.
    rate
        Bit rate of the bottleneck, or when it can send.
    reverse
        What differs on the way back, which has an unlimited queue otherwise.
    """

    delay: Duration
    duplication: Probability
    jitter: Jitter
    loss: Loss
    queue: Queue
    rate: LinkRate
    reverse: Reverse


# a duration such as `10 ms` (ns, us, ms, s, min, h)
Duration: TypeAlias = "str"

# One value per flow: the same for all, a list, or a table with one of these. `uniform` is between two bounds,
# and `evenly` spread between them without chance. `exponential` and `pareto` are given by their mean,
# `lognormal` by its median and the deviation of its logarithm, `bounded_pareto` is a Pareto distribution
# between two bounds. `cdf` lists values with the share that is at most as large, linear in between. `workload`
# is a published distribution of sizes. `csv` takes a column of a file beside the scenario's, with a unit in
# each cell or in the column's name (`start_s`, `size_bytes`).
DurationDistribution: TypeAlias = "Duration | list[Duration] | dict[str, Any]"


class Dwdm(TypedDict, total=False):
    """Edge routers and an optical switch with a trunk of wavelength channels.

    Attributes
    ----------
    wavelength_conversion
        Whether a packet may leave on any channel, and not only on the wavelength on which it came.
    delay
        Propagation delay of the trunk, one way.
    edge_queue
        The queue of each edge router; unlimited if not given.
    input_delay
        Propagation delay of each input link, one way; a switch that decides on heads needs some.
    inputs
        Edge routers, and links from them to the switch.
    queue
        The queue in front of the trunk: with conversion its places are shared by all channels, without it each has as
        many.
    rate
        Bit rate of each input link and of each channel.
    switching
        When the switch decides on a packet: at its last bit, or at its first (cut-through).
    transmitters
        Wavelength channels of the trunk.
    """

    wavelength_conversion: bool
    delay: Duration
    edge_queue: Queue
    input_delay: Duration
    inputs: int
    queue: Queue
    rate: Rate
    switching: Switching
    transmitters: int


# Bits of the ECN field that carry marks.
EcnBits: TypeAlias = Literal["one", "two"]


Edge = TypedDict(
    "Edge",
    {
        "delay": "Duration",
        "duplex": "bool",
        "from": "str",
        "name": "str",
        "rate": "Rate",
        "to": "str",
    },
    total=False,
)
Edge.__doc__ = """A link of a list.

    Attributes
    ----------
    delay
        Propagation delay, one way.
    duplex
        Whether there is also a way back.
    from
        Node where the link begins.
    name
        Its name; if not given, that of its ends, `FROM-TO`, and of further links between them `FROM-TO_2` and so on.
    rate
        Bit rate.
    to
        Node where it ends.
"""


class Event(TypedDict, total=False):
    """A change at a given time, of one direction of a link or of a flow group.

    Attributes
    ----------
    at
        When.
    buffer
        What the link's queue has room for from now on, in the unit of its own `buffer`, or in packets where that is a
        percentage. What is in it stays, but where a scheduler's queues share it: the longest makes room at the next
        arrival. Thresholds stay as they are.
    delay
        The link's new delay, for packets that leave from now on; they never overtake.
    group
        Flow group that changes.
    link
        Link that changes (`NAME`, or `NAME.reverse` for its way back).
    loss
        The link's new probability of random loss.
    rate
        The link's new rate; the packet being sent finishes at the old one.
    return_route
        The group's new return route; if not given with `route`, found as for a flow.
    route
        The group's new route.
    start
        `true`: the group's `start` counts from now.
    stop
        `true`: the group sends no new data from now on.
    """

    at: Duration
    buffer: Buffer
    delay: Duration
    group: str
    link: str
    loss: Probability
    rate: Rate
    return_route: list[str]
    route: list[str]
    start: bool
    stop: bool


# What becomes of a packet that comes too fast.
Excess: TypeAlias = Literal["dropped", "marked"]

# a whole number from 1 to 1000, or false
FastRetransmit: TypeAlias = "int | Literal[False]"


class FatTree(TypedDict, total=False):
    """Pods of edge and aggregation switches below a core; a quarter of `k` cubed hosts.

    Attributes
    ----------
    delay
        Propagation delay of each link, one way.
    duplication
        Probability that a packet which a link does not lose arrives twice.
    host_delay
        Propagation delay of the links of hosts, one way, if not that of the others.
    host_queue
        The queue of each host, in front of its link; unlimited if not given.
    host_rate
        Bit rate of the links of hosts, if not that of the others.
    jitter
        A random addition to the delay of each link.
    k
        Ports of each switch, an even number: 4 makes 16 hosts, 8 makes 128, 32 makes 8192.
    loss
        Packets that each link loses.
    queue
        The queue of each port of each switch.
    rate
        Bit rate of each link, or when it can send.
    """

    delay: Duration
    duplication: Probability
    host_delay: Duration
    host_queue: Queue
    host_rate: LinkRate
    jitter: Jitter
    k: int
    loss: ChanceLoss
    queue: Queue
    rate: LinkRate


# What a receiver takes the price for before the first probe.
InitialEstimate: TypeAlias = Literal["min", "max"]


Flow = TypedDict(
    "Flow",
    {
        "abr": "Abr",
        "application": "Application",
        "arrivals": "FlowArrivals",
        "class": "str",
        "count": "int",
        "framing": "Framing",
        "from": "str | list[str]",
        "jitter": "Duration",
        "l4s": "bool",
        "receive_processing": "Processing",
        "receiver_access": "Access",
        "return_route": "list[str]",
        "route": "list[str]",
        "propagation_rtt": "DurationDistribution",
        "send_processing": "Processing",
        "sender_access": "Access",
        "size": "SizeDistribution",
        "source": "Source",
        "start": "DurationDistribution",
        "stop": "Duration",
        "tcp": "Tcp",
        "to": "str | list[str]",
        "traffic": "Traffic",
    },
    total=False,
)
Flow.__doc__ = """A group of flows of one kind. Either `tcp` or `source` says what they send.

    Attributes
    ----------
    abr
        Flows with `framing` may have the available bit rate service.
    application
        What hands data to TCP. If not given, all data is available from the start.
    arrivals
        Lets flows start one after another, from `start` on.
    class
        Which queue its packets and acknowledgements have at links that tell classes apart (`queue.classes`).
    count
        Flows in the group. If not given, as many as start before they stop or the run ends where `arrivals` says when
        they do, as many as a list has values, as `traffic` makes in one round, or 1.
    framing
        Packets travel in ATM cells, and each flow is a virtual channel (VC) of its own.
    from
        Node where the senders are, or several of them, which the flows take in turn; one named twice gets twice as
        many.
    jitter
        Delays each data packet at the sender by a uniform draw from 0 to this; order is kept.
    l4s
        Whether its packets say that they are L4S, ECT(1), which decides about their queue at a `dualpi2`. By default
        they do if the controller is made for that (`prague`) and `ecn` is on.
    receive_processing
        Processing of each packet at the receiver, if not the node's.
    receiver_access
        Private link between the network and each receiver.
    return_route
        Links that acknowledgements cross; if not given, the reverse of the route, or where that is not possible, or
        where hashes decide, as `routing` says.
    route
        Links that data crosses in turn (`NAME`, or `NAME.reverse` for the way back); if not given, as `routing` says.
    propagation_rtt
        Propagation delay there and back, without any serialisation: sets the delay of `sender_access`.
    send_processing
        Processing of each data packet at the sender, if not the node's.
    sender_access
        Private link between each sender and the network, both ways, with room for everything.
    size
        Payload that each flow transfers; endless if not given.
    source
        Datagrams without a transport.
    start
        When each flow starts.
    stop
        When all stop sending new data.
    tcp
        TCP.
    to
        Node where the receivers are, or several: when each node of `from` had its turn, the next of these has.
    traffic
        Who sends to whom among many nodes, instead of `from` and `to`.
"""


class FlowArrivals(TypedDict, total=False):
    """A Poisson process of starts: exponential times between them. Either `mean_interval` or `load` says how long
    these are.

    Attributes
    ----------
    load
        Payload that arrives, in the mean, as a share of `reference_rate`, 1 at most; headers come on top.
        `mean_interval` can say more.
    mean_interval
        From one start to the next, in the mean.
    reference_rate
        What `load` is a share of, such as the rate of the bottleneck.
    """

    load: Probability
    mean_interval: Duration
    reference_rate: Rate


# the name of a CSV file with columns `source`, `sink`, `size` and `start`, or a table of these lists (from
# Python and the command line also a Parquet file)
FlowTable: TypeAlias = "str | Columns"


class Framing(TypedDict, total=False):
    """AAL5: a packet is cut into 53-byte cells, each with 48 bytes of the frame.

    Attributes
    ----------
    llc_snap
        Whether the 8 bytes of LLC and SNAP precede each packet (RFC 2684 section 5.1).
    reassembly_delay
        From the arrival of a packet's last cell until the packet is handed up.
    segmentation_delay
        From a packet's arrival at the adaptation layer until its first cell may leave, for data and acknowledgements
        alike.
    trailer
        Bytes appended to each packet, before padding. ITU-T I.363.5 has 8; bpd-2001 assumes none.
    """

    llc_snap: bool
    reassembly_delay: Duration
    segmentation_delay: Duration
    trailer: Size


class GilbertElliott(TypedDict, total=False):
    """Losses in bursts (Gilbert 1960, Elliott 1963): a link is in a good or in a bad state, and may change it with
    each packet.

    Attributes
    ----------
    loss_in_bad
        Probability of loss in the bad state (Gilbert's 1 - h).
    loss_in_good
        Probability of loss in the good state (Elliott's 1 - k).
    p
        Probability of going from the good state to the bad one.
    r
        Probability of going back.
    """

    loss_in_bad: Probability
    loss_in_good: Probability
    p: Probability
    r: Probability


class Graph(TypedDict, total=False):
    """A network by its links.

    Attributes
    ----------
    delay
        Propagation delay, one way, of links that have none.
    delay_attribute
        Of a GraphML file: the attribute of edges that is their delay, with a unit there or in its name, such as
        `delay_ms`; `delay` if not given.
    duplication
        Probability that a packet which a link does not lose arrives twice.
    graphml
        A GraphML file beside the scenario's, instead of `links`. Undirected edges are links with a way back.
    hosts
        Nodes that only begin and end flows; the others are routers.
    jitter
        A random addition to the delay of each link.
    links
        Links. The nodes that they name are there.
    loss
        Packets that each link loses.
    name_attribute
        Of a GraphML file: the attribute of nodes that names them, such as `label`, with `_` for what no name has;
        their identifiers if not given.
    queue
        The queue in front of each link, there and back.
    rate
        Bit rate of links that have none.
    rate_attribute
        Of a GraphML file: the attribute of edges that is their rate, with a unit, or as a number in bit/s;
        `LinkSpeedRaw` if not given, as the Topology Zoo has it.
    """

    delay: Duration
    delay_attribute: str
    duplication: Probability
    graphml: str
    hosts: list[str]
    jitter: Jitter
    links: list[Edge]
    loss: ChanceLoss
    name_attribute: str
    queue: Queue
    rate: Rate
    rate_attribute: str


# The quantity whose half becomes the slow-start threshold when a segment is lost.
SsthreshFrom: TypeAlias = Literal["flight_size", "window"]

# How senders identify packets, of which probes are made.
Identification: TypeAlias = Literal["counting", "from_one", "byte_swapped", "random", "checksum"]

# Which partial acknowledgements restart the retransmission timer: the variants of RFC 6582 section 4. With
# `rack_tlp` all do.
NewRenoVariant: TypeAlias = Literal["impatient", "slow_but_steady"]


class Incast(TypedDict, total=False):
    """So many nodes send to one of them, by chance; the next so many flows to the next one.

    Attributes
    ----------
    among
        The nodes.
    senders
        How many send at a time.
    to
        The node that they send to, or several of which each time one is drawn; any if not given.
    """

    among: str | list[str]
    senders: int
    to: str | list[str]


class Jitter(TypedDict, total=False):
    """A random addition to a link's delay, drawn for each packet.

    Attributes
    ----------
    delay
        What is added.
    reordering
        Whether packets overtake one another. If not, a packet waits behind those before it.
    """

    delay: Processing
    reordering: bool


class LeafSpine(TypedDict, total=False):
    """Leaves with hosts, and spines between them.

    Attributes
    ----------
    delay
        Propagation delay of each link, one way.
    duplication
        Probability that a packet which a link does not lose arrives twice.
    host_delay
        Propagation delay of the links of hosts, one way, if not that of the others.
    host_queue
        The queue of each host, in front of its link; unlimited if not given.
    host_rate
        Bit rate of the links of hosts, if not that of the others.
    hosts
        Hosts of each leaf. With more of them than spines, and links of one rate, the leaves are oversubscribed.
    jitter
        A random addition to the delay of each link.
    leaves
        Switches with hosts.
    loss
        Packets that each link loses.
    queue
        The queue of each port of each switch.
    rate
        Bit rate of each link, or when it can send.
    spines
        Switches between them.
    """

    delay: Duration
    duplication: Probability
    host_delay: Duration
    host_queue: Queue
    host_rate: LinkRate
    hosts: int
    jitter: Jitter
    leaves: int
    loss: ChanceLoss
    queue: Queue
    rate: LinkRate
    spines: int


Link = TypedDict(
    "Link",
    {
        "delay": "Duration",
        "duplex": "bool",
        "duplication": "Probability",
        "from": "str",
        "jitter": "Jitter",
        "loss": "Loss",
        "queue": "Queue",
        "rate": "LinkRate",
        "reverse": "Reverse",
        "switching": "Switching",
        "to": "str",
        "transmitters": "int",
    },
    total=False,
)
Link.__doc__ = """A link from one node to another, with a queue where packets wait for it.

    Attributes
    ----------
    delay
        Propagation delay, one way.
    duplex
        Whether there is also a link back, called NAME.reverse, with the same rate and delay and an unlimited queue.
    duplication
        Probability that a packet which is not lost arrives twice.
    from
        Node where the link begins.
    jitter
        A random addition to the delay.
    loss
        Packets that the link loses.
    queue
        The queue in front of the link.
    rate
        Bit rate of each transmitter, or when the link can send.
    reverse
        What differs on the way back.
    switching
        When the queue decides on a packet: at its last bit, or at its first (cut-through).
    to
        Node where it ends.
    transmitters
        Transmitters that share the queue: 1 for a link, K for a trunk of K wavelengths.
"""


# A bit rate, or when the link can send: `trace` names a file of Mahimahi's beside the scenario's, with the
# millisecond of an opportunity for 1500 bytes in each line, and `opportunities` lists milliseconds with how
# many each has. After the last one, all begins anew.
LinkRate: TypeAlias = "Rate | dict[str, Any]"


class Loss(TypedDict, total=False):
    """Packets lost regardless of the queue.

    Attributes
    ----------
    at
        Where chance takes packets: on the wire behind the queue, or before they get to it.
    drops
        Packets to discard on arrival at the queue.
    gilbert_elliott
        Losses in bursts, beside those.
    probability
        Probability of loss for each packet, independently.
    """

    at: LossAt
    drops: list[Drop]
    gilbert_elliott: GilbertElliott
    probability: Probability


# Where a link loses packets.
LossAt: TypeAlias = Literal["wire", "before_queue"]

# How a price is mapped to 0 to 1.
MappingKind: TypeAlias = Literal["linear", "logarithmic", "signed"]


class Node(TypedDict, total=False):
    """A node. Every node that a link or a flow names must be declared, unless a topology helper makes it.

    Attributes
    ----------
    kind
        `router` forwards; a route never leads through a `host`.
    receive_processing
        Hosts only: the same for each packet received, before it is acknowledged.
    send_processing
        Hosts only: serial, order-preserving processing of each data packet before it is sent. Each flow has its own
        server.
    """

    kind: NodeKind
    receive_processing: Processing
    send_processing: Processing


# What a node does: a router forwards, a host only begins and ends flows.
NodeKind: TypeAlias = Literal["router", "host"]

# Payload of a datagram.
PacketBytes: TypeAlias = "Size | dict[str, Any]"

# a number (whole ones below 2^63), text, a truth value, a list or a table
Parameter: TypeAlias = "bool | float | str | list[Parameter] | Parameters"

# Arguments for user code, by the names of its class's keyword arguments.
Parameters: TypeAlias = "dict[str, Parameter]"


class ParkingLot(TypedDict, total=False):
    """Routers in a row, with equal links.

    Attributes
    ----------
    delay
        Propagation delay of each link, one way.
    duplication
        Probability that a packet which a link does not lose arrives twice.
    hops
        Links in the row.
    jitter
        A random addition to the delay of each link.
    loss
        Packets that each link loses.
    queue
        The queue in front of each link.
    rate
        Bit rate of each link, or when it can send.
    """

    delay: Duration
    duplication: Probability
    hops: int
    jitter: Jitter
    loss: ChanceLoss
    queue: Queue
    rate: LinkRate


# Named settings. Plain names follow the RFCs, `linux/*` what Linux does, the others the document they name.
PresetName: TypeAlias = Literal[
    "newreno",
    "reno",
    "sack",
    "tahoe",
    "cubic",
    "linux/reno",
    "linux/cubic",
    "linux/bbr",
    "bpd-2001/reno",
    "bpd-2001/sack",
    "spd-1998/tahoe",
]


class Prices(TypedDict, total=False):
    """How queues that tell prices, receivers and senders that go by them understand one another.

    Attributes
    ----------
    max_rate
        Instead of `min_price`, where prices are one over a rate (`rcp`): the largest rate.
    identification
        How senders identify packets, of which probes are made.
    min_price
        Price that is mapped to 0.
    mapping
        How a price is mapped to 0 to 1, where it does not travel as a number: linearly, if nothing says otherwise,
        and by its logarithm between `min_rate` and `max_rate`.
    max_price
        Price that is mapped to 1.
    scale
        Of the signed mapping: prices up to about this size are mapped linearly, larger ones by their logarithm.
    min_rate
        Instead of `max_price`, where prices are one over a rate (`rcp`): the least rate.
    feedback
        How the price comes from the receiver to the sender.

    scheme
        What the rest of the table means:

        * ``"exact"``: The price itself, as a number in each packet's header.
        * ``"adpm"``: Adaptive deterministic packet marking: each packet asks whether the price is above its
        threshold. Tells the largest price.
        * ``"rem"``: Random exponential marking: the share of marked packets tells the sum of the prices, by its
        logarithm.
        * ``"ram"``: Random additive marking: the share of marked packets is the mean of the prices of the path, whose
        hops are known by the TTL.
        * ``"tpm"``: Thommes and Coates: each packet asks for one bit of the quantised prices of certain queues. Tells
        the sum of the prices.
        * ``"rpm"``: Ryu and others: each packet asks whether a price is just one level. Tells the largest price.

    With scheme = "adpm"
    --------------------
    initial_estimate
        What a receiver takes the price for before the first probe.
    thresholds
        How the threshold of a packet follows from its identification.

    With scheme = "rem"
    -------------------
    memory
        Packets over which a receiver averages marks; at first as many as there are.
    phi
        A price of p (0 to 1) marks all but `phi` to the power of -p of the packets (phi), above 1.

    With scheme = "ram"
    -------------------
    memory
        Packets over which a receiver averages marks; at first as many as there are.

    With scheme = "tpm"
    -------------------
    bits
        Bits of a quantised price (b).
    ecn_bits
        Bits of the ECN field that carry marks.
    hops
        The longest path, in queues that tell prices (h).

    With scheme = "rpm"
    -------------------
    levels
        Levels of a quantised price (n).
    memory
        Packets after which a receiver takes the largest level of these packets, if any was marked; a larger one it
        takes at once. With packets counted, as many as there are levels bring each once; otherwise several times as
        many are needed, or the price of a queue that asks for less may be taken for the largest.
    """

    max_rate: Rate
    identification: Identification
    min_price: float
    mapping: MappingKind
    max_price: float
    scale: float
    scheme: Literal["exact", "adpm", "rem", "ram", "tpm", "rpm"]
    min_rate: Rate
    feedback: Feedback
    initial_estimate: InitialEstimate
    thresholds: Thresholds
    memory: int
    phi: float
    bits: int
    ecn_bits: EcnBits
    hops: int
    levels: int


# a number from 0 to 1, or a percentage such as `1 %`
Probability: TypeAlias = "float | str"

# A delay per packet.
Processing: TypeAlias = "Duration | dict[str, Any]"


class Queue(TypedDict, total=False):
    """A queue.

    Attributes
    ----------
    bdp_packet_size
        Packet size that a `buffer` in percent is counted in.
    bdp_rtt
        Round-trip time that a `buffer` in percent refers to.
    buffer
        Waiting places: packets, cells, bytes, `unlimited`, or a percentage of rate times `bdp_rtt`. `0 packets` means
        no waiting.
    classes
        The queues of a scheduler, one for each class of flows; some schedulers go by their order.
    counts_in_service
        Whether the packet or cell being sent holds a waiting place. By default it does if the buffer is in cells.
    scheduler
        What chooses between several queues that share the buffer: of flows, each with the policy, or of `classes`.
    shaper
        A token bucket that holds back what is to be sent: in the long run the link sends at its rate, and at its own
        for a burst.

    policy
        What the rest of the table means:

        * ``"drop_tail"``: Accepts whatever fits. Over cells this is plain ATM.
        * ``"ppd"``: Partial packet discard: when a cell does not fit, the rest of its packet is discarded too, except
        the last cell.
        * ``"epd"``: Early packet discard: once the threshold is reached, no packet may begin. Includes partial packet
        discard.
        * ``"epd_per_vc"``: Early packet discard with per-VC accounting: past the threshold, only VCs that hold their
        share of it lose packets.
        * ``"bpd"``: Balanced packet discard: early packet discard that spares the VCs that have just lost a packet.
        * ``"spd"``: Single packet discard: one early loss for each VC whose own queue builds up. Backed up by early
        packet discard.
        * ``"erica"``: Tells the sources of an available bit rate service (`abr`) the rate that fills the link and is
        fair (ERICA).
        * ``"red"``: Random early detection: marks or discards at random, with a probability that grows with the
        average queue. What cannot be marked is discarded.
        * ``"codel"``: Controlled delay: marks when no wait within an interval met the target. Discards packets that
        are not ECN-capable.
        * ``"cobalt"``: CoDel, and BLUE where senders do not answer it: overflows make discards likelier, an empty
        queue rarer.
        * ``"pie"``: Proportional integral controller enhanced: the probability of a mark follows the delay. Discards
        packets that are not ECN-capable.
        * ``"pi2"``: The Classic queue of DualPI2: the probability of a mark is the square of what follows the delay.
        Discards packets that are not ECN-capable. Defaults are those of Linux.
        * ``"rem"``: Random exponential marking: a price that follows input rate and queue length, signalled by marks.
        Discards what is not ECN-capable.
        * ``"threshold"``: Marks what finds more than a threshold waiting, the switch of DCTCP. Discards packets that
        are not ECN-capable.
        * ``"ramp"``: Marks at random, the likelier the longer the queue is at the moment, the switch of DCQCN.
        Discards packets that are not ECN-capable.
        * ``"policer"``: A token bucket: discards or marks what comes faster than a rate, but for bursts.
        * ``"clamp"``: CLAMP: the price is a multiple of the time that the queue takes to be sent, and is told to
        senders that keep a window by it.
        * ``"maxnet"``: MaxNet: a congestion cost integrates what arrives beyond a target rate, and is told to senders
        that go by it.
        * ``"rcp"``: The rate control protocol: one rate for all flows of the link, told to senders that take it.
        * ``"xcp"``: XCP: works out once a round trip by how much flows should change their rates, and shares it out
        among their packets.
        * ``user:NAME``: `user:NAME`: a policy in Python registered under that name.

    With policy = "epd"
    -------------------
    threshold
        Once the buffer holds this many cells, no packet may begin.

    With policy = "epd_per_vc"
    --------------------------
    active
        Which VCs are active.
    threshold
        Once the buffer holds this many cells, no VC that holds its share (this divided by the number of active VCs)
        may begin a packet.

    With policy = "bpd"
    -------------------
    gap
        For how many packets after a loss a VC is judged by `max_threshold` (GAP).
    lower
        Cells in the buffer from which packets of most VCs may not begin (LT).
    upper
        Cells in the buffer from which those of a VC that has just lost may not (UT).

    With policy = "spd"
    -------------------
    congestion_threshold
        Cells in the buffer that must be exceeded for the single discard (CongestTh).
    dropping_threshold
        Cells of the VC itself from which one packet is discarded (SPDth); `none` turns this off.
    epd_threshold
        Once the buffer holds this many cells, no packet may begin.
    variant
        How the printed code is read.

    With policy = "erica"
    ---------------------
    averaging_interval
        Time over which load and channels are counted, at least 1 us.
    delta
        As long as the load factor is no more than this above 1, rates are made equal (delta).
    target
        Share of the link's rate that is handed out (target utilisation).

    With policy = "red"
    -------------------
    counts
        What the average queue is counted in. Thresholds keep the unit of the buffer: counted in bytes, a packet of a
        threshold is one of the size `packet`.
    gentle
        Between `max_threshold` and twice that, the probability grows to 1.
    lower
        Average queue below which nothing is marked (min_th).
    max_probability
        Probability of a mark as the average reaches `max_threshold` (max_p).
    packet
        Typical packet: idle time counts as arrivals at an empty queue, as many as packets of this size could have
        been sent meanwhile.
    signals
        What becomes of a packet that is to tell of congestion.
    upper
        Average queue at which the probability is `max_probability` (max_th); above that it keeps growing (`gentle`)
        or is 1.
    weight
        Weight of a new sample in the average (w_q).

    With policy = "codel"
    ---------------------
    interval
        How long waits must exceed the target: about the longest usual round-trip time.
    target
        Acceptable wait.

    With policy = "cobalt"
    ----------------------
    decrement
        By so much an empty queue lowers it (d2).
    freeze
        From one change of it to the next at least (freeze_time).
    increment
        By so much an overflow raises the probability of a discard (d1 of BLUE).
    interval
        How long waits must exceed the target: about the longest usual round-trip time (of CoDel).
    target
        Acceptable wait (of CoDel).

    With policy = "pie"
    -------------------
    burst
        A burst of this length after a calm passes unmarked (MAX_BURST).
    max_mark_probability
        Highest probability at which packets are marked; above it they are discarded (mark_ecnth).
    packet
        Typical packet: a queue of two of them counts as empty (MEAN_PKTSIZE).
    period
        Time between updates of the probability (T_UPDATE), at least 1 us.
    target
        Target delay (QDELAY_REF).

    With policy = "pi2"
    -------------------
    alpha
        Weight of the delay's distance from the target, per second (alpha).
    beta
        Weight of its change, per second (beta).
    max_mark_probability
        Highest probability at which packets are marked; from it on they are discarded (p_Cmax).
    period
        Time between updates of the probability (Tupdate), at least 1 us.
    target
        Target delay (target).

    With policy = "rem"
    -------------------
    alpha
        Weight of the queue's distance from the target, against that of the input from the capacity (alpha).
    gamma
        How far the price moves in a period (gamma).
    packet
        Typical packet: what input and capacity are counted in.
    period
        Time between updates of the price, at least 1 us.
    phi
        A price of p marks all but `phi` to the power of -p of the packets (phi), above 1.
    target
        Queue length to maintain (b*).

    With policy = "threshold"
    -------------------------
    threshold
        Queue that a packet must find on arrival, without itself, to pass unmarked: at most this (K).

    With policy = "ramp"
    --------------------
    lower
        Queue up to which nothing is marked (K_min).
    max_probability
        Probability of a mark at `max_threshold` (P_max).
    upper
        Queue at which the probability is `max_probability` (K_max); above it everything is marked.

    With policy = "policer"
    -----------------------
    burst
        Tokens that are kept, which pass at once (CBS). A larger packet never conforms.
    excess
        What becomes of what comes faster.
    rate
        At which tokens come (CIR); headers count.

    With policy = "clamp"
    ---------------------
    offset
        Price below which nothing is told, as bytes of queue times the slope (a).
    slope
        How many seconds of price a second of queue is (b). Above pi/2 windows swing.

    With policy = "maxnet"
    ----------------------
    gain
        By how much the cost changes in a period in which nothing arrives, or twice the target (phi c).
    period
        Time between updates of the cost, at least 1 us.
    signed
        Whether the cost may fall below 0, as (5.6) is printed. An idle link then lowers it without end, and sources
        take as long to slow down again.
    target
        Target rate, as a share of the link's (c).

    With policy = "rcp"
    -------------------
    alpha
        How much spare capacity counts in a round trip (alpha).
    beta
        How much the queue counts (beta).
    initial_rtt
        Stands for the mean round trip until packets tell one.
    initial_share
        The first rate, as a share of the link's.
    period
        Time between updates of the rate (T), at least 1 us.
    target
        Share of the link's rate that flows may have together (eta).

    With policy = "xcp"
    -------------------
    alpha
        How much of the spare capacity is given away in an interval (alpha).
    beta
        How much of the standing queue is taken back (beta).
    gamma
        Share of the traffic that changes hands in an interval, for fairness (gamma).
    period
        How finely the length of an interval is told, which is the mean round trip, at least 1 us.
    target
        Share of the link's rate that flows may have together.

    With policy = "user:NAME"
    -------------------------
    parameters
        Keyword arguments for the policy's class (of `user:NAME`).
    """

    bdp_packet_size: Size
    bdp_rtt: Duration
    buffer: Buffer
    classes: list[Class]
    counts_in_service: bool
    policy: (
        Literal[
            "drop_tail",
            "ppd",
            "epd",
            "epd_per_vc",
            "bpd",
            "spd",
            "erica",
            "red",
            "codel",
            "cobalt",
            "pie",
            "pi2",
            "rem",
            "threshold",
            "ramp",
            "policer",
            "clamp",
            "maxnet",
            "rcp",
            "xcp",
        ]
        | str
    )
    scheduler: Scheduler
    shaper: Shaper
    threshold: Threshold | QueueLength
    active: ActiveVcs
    gap: int
    lower: Threshold | QueueLength
    upper: Threshold | QueueLength
    congestion_threshold: Threshold
    dropping_threshold: DroppingThreshold
    epd_threshold: Threshold
    variant: SpdVariant
    averaging_interval: Duration
    delta: float
    target: Probability | Duration | QueueLength
    counts: RedQueueUnit
    gentle: bool
    max_probability: Probability
    packet: Size
    signals: RedSignals
    weight: Probability
    interval: Duration
    decrement: Probability
    freeze: Duration
    increment: Probability
    burst: Duration | Size
    max_mark_probability: Probability
    period: Duration
    alpha: float
    beta: float
    gamma: float | Probability
    phi: float
    excess: Excess
    rate: Rate
    offset: Size
    slope: float
    gain: float
    signed: bool
    initial_rtt: Duration
    initial_share: Probability
    parameters: Parameters


# `20 packets`, `400 cells` or `25 %` (of the buffer)
QueueLength: TypeAlias = "str"


class RandomRegular(TypedDict, total=False):
    """Switches with equally many links, between random pairs of them.

    Attributes
    ----------
    degree
        Links of each switch to others, fewer than there are switches. With two of each there is a ring, which `torus`
        makes.
    delay
        Propagation delay of each link, one way.
    duplication
        Probability that a packet which a link does not lose arrives twice.
    host_delay
        Propagation delay of the links of hosts, one way, if not that of the others.
    host_queue
        The queue of each host, in front of its link; unlimited if not given.
    host_rate
        Bit rate of the links of hosts, if not that of the others.
    hosts
        Hosts of each switch.
    jitter
        A random addition to the delay of each link.
    loss
        Packets that each link loses.
    queue
        The queue of each port of each switch.
    rate
        Bit rate of each link, or when it can send.
    switches
        Switches.
    """

    degree: int
    delay: Duration
    duplication: Probability
    host_delay: Duration
    host_queue: Queue
    host_rate: LinkRate
    hosts: int
    jitter: Jitter
    loss: ChanceLoss
    queue: Queue
    rate: LinkRate
    switches: int


# a rate such as `10 Mbps` (bps, kbps, Mbps, Gbps)
Rate: TypeAlias = "str"


class Record(TypedDict, total=False):
    """What to keep in addition to the counters.

    Attributes
    ----------
    delay_percentiles
        Keep percentiles of the delay per queue and per flow group.
    queue_flows
        Count what of each flow passes each queue: table `queue_flows`.
    traces
        Traces: a list of kinds, each for everything, or a table of what to follow for each kind.
    """

    delay_percentiles: bool
    queue_flows: bool
    traces: Traces


# How losses are found and repaired.
Recovery: TypeAlias = Literal["newreno", "reno", "sack", "rack_tlp", "tahoe", "bpd_sack"]

# What RED counts the average queue in.
RedQueueUnit: TypeAlias = Literal["packets", "bytes"]

# How RED tells of congestion.
RedSignals: TypeAlias = Literal["marks", "drops"]


class Reverse(TypedDict, total=False):
    """What differs on a link's way back.

    Attributes
    ----------
    delay
        Propagation delay, if not the link's.
    duplication
        Probability that a packet which is not lost arrives twice.
    jitter
        A random addition to its delay.
    loss
        Packets that it loses.
    queue
        The queue in front of it, if not an unlimited one.
    rate
        Bit rate, or when it can send, if not as the link.
    switching
        When that queue decides on a packet, if not as the link's does.
    """

    delay: Duration
    duplication: Probability
    jitter: Jitter
    loss: Loss
    queue: Queue
    rate: LinkRate
    switching: Switching


# Which way packets take.
Routing: TypeAlias = Literal["shortest", "ecmp"]

# one of `fifo`, `strict_priority`, `drr`, `wfq`, `start_time_fair`, `sfq`, `flow_queue`, `dualpi2`, or a table
# such as {kind = "flow_queue", queues = 1024}
Scheduler: TypeAlias = (
    "Literal['fifo', 'strict_priority', 'drr', 'wfq', 'start_time_fair', 'sfq', 'flow_queue', 'dualpi2'] | SchedulerTable"
)


class SchedulerTable(TypedDict, total=False):
    """A scheduler with its settings.

    Attributes
    ----------
    queues
        Queues between which a hash of the flow chooses; each flow has a queue of its own if not given. RFC 8290 has
        1024.

    kind
        What the rest of the table means:

        * ``"fifo"``: In the order of arrival, whatever the queue.
        * ``"strict_priority"``: The first queue that holds anything: those after it wait for as long as it does; the
        queue with the most bytes makes room.
        * ``"drr"``: Bytes by turns: a quantum for each queue, times its share; the queue with the most bytes makes
        room.
        * ``"wfq"``: By the time at which the fluid ideal, generalized processor sharing, would finish a unit; the
        queue with the most bytes makes room.
        * ``"start_time_fair"``: By the virtual time at which a unit would begin, by shares; the queue with the most
        bytes makes room.
        * ``"sfq"``: A unit of each queue in turn; the longest queue makes room.
        * ``"flow_queue"``: Bytes by turns, new queues first; the queue with the most bytes makes room.
        * ``"dualpi2"``: Two queues with coupled marks: for L4S packets (`l4s`), and for all others. It has their
        policies in itself.

    With kind = "drr"
    -----------------
    quantum
        Bytes a turn of the queue with the least share.

    With kind = "flow_queue"
    ------------------------
    quantum
        Bytes a turn of the queue with the least share.

    With kind = "dualpi2"
    ---------------------
    alpha
        Weight of the delay's distance from the target, per second (alpha).
    beta
        Weight of its change, per second (beta).
    classic_share
        Share of the link that the Classic queue has at least while both have something; of weighted round robin.
    coupling
        Coupling factor: the base probability times this is marked in the L4S queue at least (k).
    period
        Time between updates of the base probability (Tupdate), at least 1 us.
    ramp
        So much further it marks everything; 0 is a step (range).
    l4s_min_threshold
        Delay above which the L4S queue marks by itself (minTh).
    service
        Which queue is served.
    shift
        By so much L4S packets seem to have waited longer; of the time-shifted FIFO (tshift).
    target
        Target delay of the queue of the others, the Classic one (target).
    """

    kind: Literal["fifo", "strict_priority", "drr", "wfq", "start_time_fair", "sfq", "flow_queue", "dualpi2"]
    queues: int
    quantum: Size
    alpha: float
    beta: float
    classic_share: Probability
    coupling: float
    period: Duration
    ramp: Duration
    l4s_min_threshold: Duration
    service: DualService
    shift: Duration
    target: Duration


# a number of segments from 1 to 1000000000, or `unlimited`
Segments: TypeAlias = "float | Literal['unlimited']"


class Shaper(TypedDict, total=False):
    """A token bucket at the end of a queue. The packet that waits for its tokens holds no place.

    Attributes
    ----------
    burst
        Tokens that are kept, 1 B to 1 GB. A larger packet goes when all are there, and those after it wait for what
        it took too much.
    rate
        At which tokens come; headers count.
    """

    burst: Size
    rate: Rate


class Shift(TypedDict, total=False):
    """Each node sends to the one so many places on, the last ones to the first.

    Attributes
    ----------
    among
        The nodes.
    by
        Places, from 1 to one less than there are nodes; half as many as nodes, rounded down, if not given.
    """

    among: str | list[str]
    by: int


# a size such as `1500 B` (B, kB, MB, GB, KiB, MiB, GiB)
Size: TypeAlias = "str"

# One value per flow: the same for all, a list, or a table with one of these. `uniform` is between two bounds,
# and `evenly` spread between them without chance. `exponential` and `pareto` are given by their mean,
# `lognormal` by its median and the deviation of its logarithm, `bounded_pareto` is a Pareto distribution
# between two bounds. `cdf` lists values with the share that is at most as large, linear in between. `workload`
# is a published distribution of sizes. `csv` takes a column of a file beside the scenario's, with a unit in
# each cell or in the column's name (`start_s`, `size_bytes`).
SizeDistribution: TypeAlias = "Size | list[Size] | dict[str, Any]"

# What ends slow start before a loss does.
SlowStart: TypeAlias = Literal["standard", "hystart", "hystart++"]


class Source(TypedDict, total=False):
    """A source of datagrams.

    Attributes
    ----------
    header
        Bytes of headers that each datagram carries.

    kind
        What the rest of the table means:

        * ``"constant"``: Evenly spaced.
        * ``"poisson"``: Exponential gaps.
        * ``"on_off"``: Bursts of evenly spaced arrivals, and silences, both of exponential length.
        * ``"alternating"``: One datagram after another, with an exponential idle time between the end of one and the
        beginning of the next: the input port of a switch.
        * ``user:NAME``: `user:NAME`: a source in Python registered under that name.

    With kind = "constant"
    ----------------------
    packet
        Payload of each datagram: fixed or exponential.
    rate
        Rate: of datagrams on the wire, headers included; of an application, of its payload.

    With kind = "poisson"
    ---------------------
    packet
        Payload of each datagram: fixed or exponential.
    rate
        Mean rate: of datagrams on the wire, headers included; of an application, of its payload.

    With kind = "on_off"
    --------------------
    mean_off
        Mean length of a silence.
    mean_on
        Mean length of a burst.
    packet
        Payload of each datagram: fixed or exponential.
    rate
        Rate while it is on: of datagrams on the wire, headers included; of an application, of its payload.

    With kind = "alternating"
    -------------------------
    mean_idle
        Mean idle time.
    packet
        Payload of each datagram: fixed or exponential.
    rate
        Rate on the wire at which a datagram is sent, headers included.

    With kind = "user:NAME"
    -----------------------
    parameters
        Keyword arguments for the source's class (of `user:NAME`).
    """

    header: Size
    kind: Literal["constant", "poisson", "on_off", "alternating"] | str
    packet: PacketBytes
    rate: Rate
    mean_off: Duration
    mean_on: Duration
    mean_idle: Duration
    parameters: Parameters


# How the printed code of single packet discard is read.
SpdVariant: TypeAlias = Literal["corrected", "printed"]

# The steps in which CUBIC's window grows.
Steps: TypeAlias = Literal["fractions", "whole_segments"]

# When a queue decides on a packet.
Switching: TypeAlias = Literal["store_and_forward", "cut_through"]


class Tcp(TypedDict, total=False):
    """A TCP: a preset, and settings that differ from it. Windows are counted in segments.

    Attributes
    ----------
    ack_size
        Size of an acknowledgement on the wire, 1 B to 1 kB.
    controller
        Control law of the window. It replaces the preset's with all its settings.
    ack_counting
        What of an acknowledgement opens the window.
    delayed_ack
        Delayed acknowledgements; `false` acknowledges every segment at once, `true` delays as the preset does, or
        every second one within 200 ms if it does not.
    ecn
        Explicit congestion notification (RFC 3168): policies that can mark need not discard. Not with `framing`.
    fast_retransmit
        Duplicate acknowledgements that start a fast retransmit; `false` leaves all repair to the timer. With
        `rack_tlp`, whose losses are found by time, DupThresh of RFC 8985: so many segments SACKed find one without
        waiting for reordering.
    ssthresh_from
        The quantity whose half becomes the slow-start threshold when a segment is lost.
    handshake
        Open a connection before data is sent (RFC 9293): a SYN of the size of a `header`, and data once it is
        acknowledged. It counts as a packet without payload.
    header
        Headers of each data segment on the wire, 0 B to 1 kB.
    initial_ssthresh
        Slow-start threshold at the start; `unlimited` is arbitrarily high.
    initial_window
        Congestion window at the start.
    limited_transmit
        Send a new segment for each of the first two duplicate acknowledgements (RFC 3042).
    mss
        Payload of a full segment, 1 B to 1 MB.
    pacing
        Spread new data at window / RTT instead of sending when acknowledgements arrive.
    preset
        Supplies all settings that are not given.
    receiver_window
        Receiver's window: segments, or bytes, rounded down to whole segments.
    recovery
        How losses are found and repaired.
    sack_blocks
        SACK blocks that an acknowledgement can carry.
    slow_start
        What ends slow start before a loss does. All but `standard` need `timestamps = true`. Of the preset only with
        a controller whose slow start can be ended: Vegas, FAST and a user's have a start of their own.
    abc_limit
        Segments for which an acknowledgement opens the window in slow start, at most (L of RFC 3465); `unlimited` is
        all that it acknowledges. Only with `ack_counting = "bytes"`. With `slow_start = "hystart++"` it is 8 unless
        given, and `unlimited` with `pacing` (L of RFC 9406).
    timer
        Retransmission timer.
    timestamps
        A round-trip sample from every acknowledgement (as with RFC 7323) instead of from one segment at a time.
    window_validation
        What becomes of a window that its `application` does not fill. By `linux` the window of any flow opens only if
        it is used.
    """

    ack_size: Size
    controller: Controller
    ack_counting: AckCounting
    delayed_ack: DelayedAck
    ecn: bool
    fast_retransmit: FastRetransmit
    ssthresh_from: SsthreshFrom
    handshake: bool
    header: Size
    initial_ssthresh: Segments
    initial_window: Segments
    limited_transmit: bool
    mss: Size
    pacing: bool
    preset: PresetName
    receiver_window: Window
    recovery: Recovery
    sack_blocks: int
    slow_start: SlowStart
    abc_limit: Segments
    timer: Timer
    timestamps: bool
    window_validation: WindowValidation


# `480 cells` or `40 %` (of the buffer)
Threshold: TypeAlias = "str"

# How the threshold of a probe follows from its 16 bits of identification A + 256 B, as a number between 0 and
# 1.
Thresholds: TypeAlias = Literal["exclusive_or", "printed", "reversal"]


class Throughput(TypedDict, total=False):
    """A throughput trace.

    Attributes
    ----------
    bin
        Width of a bin.
    reference_rate
        Flow groups or flows.
    """

    bin: Duration
    of: list[str]


class Timer(TypedDict, total=False):
    """Settings of the retransmission timer that differ from the preset's.

    Attributes
    ----------
    form
        How it counts.
    granularity
        Clock granularity G of RFC 6298 (form `exact`).
    newreno_variant
        Which partial acknowledgements restart it.
    initial_rto
        Timeout before the first round-trip sample.
    max_backoff
        Largest back-off factor, a power of two.
    max_rto
        Longest timeout.
    min_rto
        Shortest timeout. With form `exact` the granularity becomes no longer than it, unless it is given.
    tick
        Length of a tick (coarse forms).
    """

    form: TimerForm
    granularity: Duration
    newreno_variant: NewRenoVariant
    initial_rto: Duration
    max_backoff: int
    max_rto: Duration
    min_rto: Duration
    tick: Duration


# How the retransmission timer counts.
TimerForm: TypeAlias = Literal["exact", "coarse_ns", "coarse_bsd"]


class Topology(TypedDict, total=False):
    """Common networks; each generator makes its own nodes and links.

    Attributes
    ----------
    chain
        Nodes `n0`, `n1`, ... and the links `link1`, `link2`, ... between them, each with its own rate and delay.
    dragonfly
        Groups of switches that all know one another, and one link between each two groups (Kim, Dally, Scott and
        Abts, ISCA 2008): of group G `switchG_0`, `switchG_1`, ...; links `switch0_0-switch0_1`,
        `switch0_1-switch3_0`, `switch0_0-host0`.
    dumbbell
        Nodes `left` and `right` and the link `bottleneck` between them.
    dwdm
        Edge routers `edge1`, `edge2`, ..., each with a link `input1`, `input2`, ... to a switch, and behind it a
        trunk of wavelength channels to `far`. With wavelength conversion that is the node `switch` and the link
        `trunk`, without it `switch1`, `trunk1`, `switch2`, `trunk2`, ..., one for each wavelength, on which the edge
        routers are in turn.
    fat_tree
        Switches with `k` ports each in `k` pods (Al-Fares, Loukissas and Vahdat, SIGCOMM 2008): `core0`, `core1`,
        ...; of pod P `aggP_0`, `aggP_1`, ... and `edgeP_0`, `edgeP_1`, ...; hosts `host0`, `host1`, ..., pod by pod.
        A link is named by its ends, from above: `core0-agg1_0`, `agg1_0-edge1_0`, `edge1_0-host4`.
    graph
        Nodes and links one by one, listed here or in a GraphML file. A link without a name of its own is named by its
        ends.
    leaf_spine
        Switches `leaf0`, `leaf1`, ... with hosts `host0`, `host1`, ..., each leaf with a link to each of the switches
        `spine0`, `spine1`, ...: `spine0-leaf1`, `leaf1-host4`.
    parking_lot
        Nodes `n0`, `n1`, ... and the links `hop1`, `hop2`, ... between them, all alike.
    random_regular
        Switches `switch0`, `switch1`, ..., each with links to equally many others, which are drawn (Singla, Hong,
        Popa and Godfrey, NSDI 2012), and with hosts: `switch0-switch7`, `switch0-host0`.
    torus
        Switches in a grid that is closed in each dimension, such as `switch0_2_1`, with links to their neighbours,
        such as `switch0_2_1-switch0_2_2`, and with hosts: `switch0_2_1-host9`.
    waxman
        Routers `router0`, `router1`, ... anywhere in a square, near ones linked more likely (Waxman, IEEE Journal on
        Selected Areas in Communications 6(9), 1988): `router0-router7`.
    """

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
    """Switches in a grid of rings.

    Attributes
    ----------
    delay
        Propagation delay of each link, one way.
    dimensions
        Switches in each dimension, such as `[4, 4, 4]`. Two switches of a dimension share one link.
    duplication
        Probability that a packet which a link does not lose arrives twice.
    host_delay
        Propagation delay of the links of hosts, one way, if not that of the others.
    host_queue
        The queue of each host, in front of its link; unlimited if not given.
    host_rate
        Bit rate of the links of hosts, if not that of the others.
    hosts
        Hosts of each switch.
    jitter
        A random addition to the delay of each link.
    loss
        Packets that each link loses.
    queue
        The queue of each port of each switch.
    rate
        Bit rate of each link, or when it can send.
    """

    delay: Duration
    dimensions: list[int]
    duplication: Probability
    host_delay: Duration
    host_queue: Queue
    host_rate: LinkRate
    hosts: int
    jitter: Jitter
    loss: ChanceLoss
    queue: Queue
    rate: LinkRate


class TraceTable(TypedDict, total=False):
    """What to follow. Flow traces name groups (`web`) or single flows (`web[0]`), link traces links (`NAME`,
    `NAME.reverse`).

    Attributes
    ----------
    acks
        Acknowledgements as they reach the sender.
    cwnd
        Congestion window at each change, in packets.
    departures
        Packets that leave a queue, with their sizes: what a trace of Mahimahi's is written from.
    drops
        Packets discarded at a queue.
    in_flight
        Packets sent and not yet acknowledged.
    law
        What control laws go by beside the window, at each change: of FAST and Vegas thresholds and round trips, of
        CUBIC its curve.
    packets
        What senders send and hear, with all that headers would say: what a capture is written from.
    queue
        Packets in a queue, at each change.
    rtt
        Round-trip samples.
    segments
        Data segments as sent.
    ssthresh
        Slow-start threshold at each change, in packets.
    state
        Changes between slow start, congestion avoidance, recovery and timeout.
    throughput
        Delivered payload per bin.
    """

    acks: list[str]
    cwnd: list[str]
    departures: list[str]
    drops: list[str]
    in_flight: list[str]
    law: list[str]
    packets: list[str]
    queue: list[str]
    rtt: list[str]
    segments: list[str]
    ssthresh: list[str]
    state: list[str]
    throughput: Throughput


# Kinds of traces.
TraceWord: TypeAlias = Literal[
    "cwnd",
    "ssthresh",
    "rtt",
    "in_flight",
    "segments",
    "acks",
    "state",
    "controller",
    "throughput",
    "queue",
    "drops",
    "departures",
    "packets",
]

# What to trace.
Traces: TypeAlias = "list[TraceWord] | TraceTable"


class Traffic(TypedDict, total=False):
    """Who sends to whom, by exactly one of these patterns. Nodes are counted in the order in which they are named,
    those of a name such as `host*` in the order of their numbers.

    Attributes
    ----------
    all_to_all
        Each of these nodes sends to each other: all to the next, then all to the one after that, and so on.
    incast
        Several nodes send to one.
    permutation
        Each of these nodes sends to one other and hears of one other, by chance: flow i begins at node i, and after
        each has had its turn another permutation follows.
    random_pairs
        Each flow runs between two of these nodes, by chance.
    shift
        Each node sends to the one so many places on.
    table
        Flows as a file or lists say, one by one.
    """

    all_to_all: str | list[str]
    incast: Incast
    permutation: str | list[str]
    random_pairs: str | list[str]
    shift: Shift
    table: FlowTable


# When and how the window of FAST is updated.
UpdateForm: TypeAlias = Literal["thesis", "module"]


class Waxman(TypedDict, total=False):
    """Routers at random places of a square, and links by distance; parts that none joins are joined by the shortest
    ones.

    Attributes
    ----------
    alpha
        How far links reach: larger values make more long links, above 0 to 1.
    beta
        How many links there are: the probability of a link between two routers at one place, above 0 to 1.
    delay
        Propagation delay of a link from corner to opposite corner, one way; each link has as much of it as it is
        long.
    duplication
        Probability that a packet which a link does not lose arrives twice.
    jitter
        A random addition to the delay of each link.
    loss
        Packets that each link loses.
    queue
        The queue of each port of each router.
    rate
        Bit rate of each link, or when it can send.
    routers
        Routers.
    """

    alpha: Probability
    beta: Probability
    delay: Duration
    duplication: Probability
    jitter: Jitter
    loss: ChanceLoss
    queue: Queue
    rate: LinkRate
    routers: int


# How the price comes from the receiver to the sender.
Feedback: TypeAlias = Literal["exact", "one_bit"]

# a whole number of segments from 1 to 1073741824, or a size such as `64 KiB`
Window: TypeAlias = "int | Size"

# What becomes of a window that its application does not fill.
WindowValidation: TypeAlias = Literal["none", "rfc5681", "rfc7661", "linux"]
