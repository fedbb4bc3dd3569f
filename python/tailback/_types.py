"""The tables of a scenario as types: plain dictionaries with keys for editors and type checkers.

Generated from the JSON Schema by tools/scenario_types.py; a test compares them. The core checks required keys and all values.

>>> import tailback as tb
>>> tb.Flow(count=3, propagation_rtt="100 ms", tcp=tb.Tcp(preset="sack"))
{'count': 3, 'propagation_rtt': '100 ms', 'tcp': {'preset': 'sack'}}
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
    "Policy",
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
    """Available bit rate service (ABR, ATM Forum TM 4.0): an edge device at the sender sends cells at the rate that
    RM cells return. Rates count whole cells of 53 bytes.

    Attributes
    ----------
    ack_threshold
        Hold acknowledgements at the edge device while it buffers at least this number of packets. Default: never.
    adtf
        Maximum time for which a rate above ICR may stay unused (ADTF).
    buffer
        Buffer of the edge device per flow: packets, bytes or `unlimited`. A packet is buffered until its last cell is
        sent.
    cdf
        Cutoff decrease factor (CDF): share of the rate that each RM cell removes while too many RM cells are missing.
    icr
        Initial cell rate (ICR). Default: PCR.
    mcr
        Minimum cell rate (MCR). Default: 10 cells per second.
    nrm
        Number of cells per RM cell (Nrm): one RM cell is sent every Nrm cells.
    pcr
        Peak cell rate (PCR). Default: the rate of `sender_access`.
    rdf
        Rate decrease factor (RDF): share of the rate that an RM cell with CI removes.
    rif
        Rate increase factor (RIF): share of PCR that an RM cell without CI and NI adds.
    tbe
        Transient buffer exposure (TBE): number of cells that may be sent before the first RM cell returns, after
        which CDF applies.
    trm
        Maximum time between two RM cells if at least two cells were sent (Trm).
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
    """A private link with an unlimited queue.

    Attributes
    ----------
    delay
        Propagation delay, one way.
    rate
        Bit rate. Default: no serialisation delay.
    """

    delay: Duration
    rate: Rate


# Unit in which acknowledgements open the window.
AckCounting: TypeAlias = Literal["bytes", "acknowledgements"]

# VCs that share a threshold.
ActiveVcs: TypeAlias = Literal["configured", "backlogged"]


class Application(TypedDict, total=False):
    """An application above TCP. Data that TCP cannot send yet is buffered without limit.

    Attributes
    ----------
    burst
        Full segments per write.

    kind
        Selects the other keys of the table:

        * ``"constant"``: Evenly spaced arrivals.
        * ``"poisson"``: Poisson arrivals: exponentially distributed gaps.
        * ``"on_off"``: Bursts of evenly spaced arrivals, separated by silences; both have exponentially distributed
        lengths.

    With kind = "constant"
    ----------------------
    rate
        Rate: for datagrams on the wire, headers included; for applications, of the payload.

    With kind = "poisson"
    ---------------------
    rate
        Mean rate: for datagrams on the wire, headers included; for applications, of the payload.

    With kind = "on_off"
    --------------------
    mean_off
        Mean duration of a silence.
    mean_on
        Mean duration of a burst.
    rate
        Rate during a burst: for datagrams on the wire, headers included; for applications, of the payload.
    """

    burst: int
    kind: Literal["constant", "poisson", "on_off"]
    rate: Rate
    mean_off: Duration
    mean_on: Duration


# `100 packets`, `1200 cells`, a size such as `1500 B` (B, kB, KiB, MB, MiB, GB, GiB, TB, TiB), `50 %` (of rate
# times `bdp_rtt`) or `unlimited`
Buffer: TypeAlias = "Literal['unlimited'] | str | Size"


class Chain(TypedDict, total=False):
    """Routers in a row, with an individual rate and delay for each link.

    Attributes
    ----------
    delays
        One-way propagation delay of each link.
    duplication
        Probability that a packet that is not lost is duplicated.
    jitter
        Random delay that each link adds for each packet.
    loss
        Random losses of each link.
    queue
        Queue at the input of each link.
    rates
        Bit rate or delivery trace of each link.
    """

    delays: list[Duration]
    duplication: Probability
    jitter: Jitter
    loss: ChanceLoss
    queue: Queue
    rates: list[LinkRate]


class ChanceLoss(TypedDict, total=False):
    """Random losses. Listed drops are available only for links in `links`.

    Attributes
    ----------
    at
        Where random losses happen: on the wire behind the queue, or before the queue.
    gilbert_elliott
        Additional losses in bursts.
    probability
        Probability of loss of each packet, independently of others.
    """

    at: LossAt
    gilbert_elliott: GilbertElliott
    probability: Probability


class Columns(TypedDict, total=False):
    """Columns of a flow table, with one value per flow.

    Attributes
    ----------
    sink
        Receiving node of each flow.
    size
        Payload of each flow, unless the group has `size`.
    size_bytes
        Payload of each flow in bytes, as plain numbers.
    source
        Sending node of each flow.
    start
        Start time of each flow, unless the group has `start`.
    start_s
        Start time of each flow in seconds, as plain numbers.
    """

    sink: list[str]
    size: list[Size]
    size_bytes: list[float]
    source: list[str]
    start: list[Duration]
    start_s: list[float]


# one of `reno`, `cubic`, `bbrv1`, `vegas`, `fast`, `clamp`, `maxnet`, `rcp`, `xcp`, `rem`, `hstcp`, `dctcp`,
# `stcp`, `htcp`, `bic`, `westwood`, `westwood_plus`, `hybla`, `illinois`, `veno`, `yeah`, `aimd`, `binomial`,
# `ledbat`, `compound`, `prague`, `copa`, `swift`, `timely`, `bbrv3` and 1 more, `user:NAME` for a controller in
# Python, or a table such as {kind = "vegas", alpha = 1, beta = 3}
Controller: TypeAlias = (
    "Literal['reno', 'cubic', 'bbrv1', 'vegas', 'fast', 'clamp', 'maxnet', 'rcp', 'xcp', 'rem', 'hstcp', 'dctcp', 'stcp', 'htcp', 'bic', 'westwood', 'westwood_plus', 'hybla', 'illinois', 'veno', 'yeah', 'aimd', 'binomial', 'ledbat', 'compound', 'prague', 'copa', 'swift', 'timely', 'bbrv3', 'fixed'] | "
    "str | "
    "ControllerTable"
)


class ControllerTable(TypedDict, total=False):
    """Congestion controller with its settings.

    kind
        Selects the other keys of the table:

        * ``"reno"``: Increases the window by one segment per RTT, and halves it on congestion.
        * ``"cubic"``: The window follows a cubic function of the time since the last loss.
        * ``"bbrv1"``: Paces at the estimated bottleneck bandwidth, with at most two bandwidth-delay products in
        flight (BBR version 1).
        * ``"vegas"``: Keeps a few segments queued.
        * ``"fast"``: Keeps a given number of segments queued (FAST TCP).
        * ``"clamp"``: CLAMP client: Reno with a window bounded according to the prices of its path, which are scaled
        queueing delays.
        * ``"maxnet"``: MaxNet source: its rate falls exponentially with the largest congestion cost of its path.
        * ``"rcp"``: RCP source: sends at the rate advertised by the queues of its path.
        * ``"xcp"``: XCP source: its window changes by the feedback that the queues of its path write into each
        packet.
        * ``"rem"``: Source that maximises its utility, the logarithm of its rate, minus the cost of its path (the
        source of REM, NUM).
        * ``"hstcp"``: The window grows faster and is reduced less the larger it is.
        * ``"dctcp"``: Reduces the window in proportion to the fraction of marked segments. Requires `ecn` and queues
        that mark, such as `threshold`.
        * ``"stcp"``: Both the increase per RTT and the reduction are proportional to the window.
        * ``"htcp"``: The increase grows with the time since the last loss, and a loss reduces the window by the
        queued data.
        * ``"bic"``: Binary search for the window, with bounded steps.
        * ``"westwood"``: A loss sets the window to the estimated bandwidth times the minimum RTT. The bandwidth is
        filtered at every acknowledgement.
        * ``"westwood_plus"``: A loss sets the window to the estimated bandwidth times the minimum RTT. The bandwidth
        is sampled once per RTT.
        * ``"hybla"``: Opens the window at the rate of a flow with a short RTT. The paper recommends `pacing` and
        `timestamps`.
        * ``"illinois"``: The average queueing delay determines the window increase and the reduction after a loss.
        * ``"veno"``: Reno, except that a loss without a queue removes a fifth of the window, and with a queue the
        window opens half as fast.
        * ``"yeah"``: Grows like Scalable TCP while its queue is short, and drains the queue when it is not.
        * ``"aimd"``: Additive increase, multiplicative decrease (AIMD) with configurable parameters. TCP-friendly if
        `a` is 3 b / (2 - b).
        * ``"binomial"``: The increase is divided by a power of the window, and the reduction grows with another
        power. TCP-friendly if the powers add up to 1.
        * ``"ledbat"``: Keeps the queueing delay at a target and yields to other traffic.
        * ``"compound"``: Reno plus a delay-based window.
        * ``"prague"``: For L4S queues: reduces the window in proportion to the fraction of marked segments, and
        paces. Requires `ecn` and a queue that marks, such as that of `dualpi2`.
        * ``"copa"``: Keeps about 1/delta packets queued, and empties the queue every few RTTs. Works best with
        timestamps and, with short buffers, RACK-TLP.
        * ``"swift"``: Keeps the RTT at a target that grows with the number of hops and of flows. Works best with
        timestamps.
        * ``"timely"``: Adjusts its rate to the gradient of the RTT. Works best with timestamps, in networks without
        loss.
        * ``"bbrv3"``: Paces at the estimated bottleneck bandwidth, probes for more in cycles and limits losses to
        about 2 % (BBR version 3).
        * ``"fixed"``: Keeps the initial window for the whole run.
        * ``user:NAME``: `user:NAME`, where NAME is the registered name of the Python class.

    With kind = "cubic"
    -------------------
    fast_convergence
        Fast convergence: a flow that loses again before it has regained its previous maximum window releases
        bandwidth to others (section 4.7).
    steps
        Granularity of window growth: that of RFC 9438, or that of Ha, Rhee and Xu (2008), which kernels implement.

    With kind = "bbrv1"
    -------------------
    btlbw_filter_len
        Length of the maximum filter of the delivery rate, in RTTs (BtlBwFilterLen).
    cwnd_gain
        Maximum data in flight while bandwidth is probed, in bandwidth-delay products (cwnd_gain).
    pacing_margin
        Fraction by which the pacing rate stays below the estimated bandwidth. The draft has no margin; Linux uses 1
        %. Must not be 1.
    probe_rtt_duration
        Duration of ProbeRTT, during which almost nothing is in flight (ProbeRTTDuration).
    rtprop_filter_len
        Time after which the minimum RTT expires and is measured again (RTpropFilterLen).

    With kind = "vegas"
    -------------------
    alpha
        Number of queued segments below which the window grows.
    alpha_rate
        Alternative to `alpha`, as a rate in segments per second: `alpha` is this rate times the base RTT. Requires
        `beta_rate`.
    beta
        Number of queued segments above which the window shrinks.
    beta_rate
        Alternative to `beta`, as a rate in segments per second. Requires `alpha_rate`.
    gamma
        Number of queued segments above which slow start ends.
    slow_start
        If false, the window changes by at most one segment per RTT, also at the start and after timeouts.

    With kind = "fast"
    ------------------
    alpha
        Number of segments to keep queued. Must not be 0.
    alpha_recovery_rate
        Rate per second at which `alpha` recovers exponentially (k of equation 4.32). If given, each loss, mark or
        first timeout halves `alpha`, down to a hundredth of its value, and `beta` with it. Must not be 0.
    beta
        The window stays constant while at least `alpha` and fewer than this many segments are queued. Default:
        `alpha`.
    drain_interval
        With `draining`: time after which the flow discards its estimate of the propagation delay and drains again, so
        that a longer path is not mistaken for a queue.
    draining
        Factor by which a new flow, once stable, slows down for a while so that the queues drain (r).
    gamma
        Fraction of the distance to the new window that each update covers. Must not be 0.
    history_weight
        Weight of the previous average in the averaged RTT (4.5). Must not be 1.
    lagged_window
        Estimate the queue from the window of one RTT ago and, after a loss, from the window before the loss. By
        default off in the form `thesis` and on in `module`. With this off, `module` does not converge, because it
        updates many times before it sees the effect of an update.
    mi_threshold
        Queueing delay below which the window grows as in slow start (MIthreshold).
    paced_decrease
        Spread a window decrease over the acknowledgements in proportion, so that transmission does not pause
        (Algorithm 1).
    round_trips
        Form `thesis`: RTTs between updates of the window.
    update
        Form of the window update: its timing and equation.
    update_period
        Form `module`: time between updates of the window, in every other RTT.

    With kind = "clamp"
    -------------------
    backlog
        Price times rate in equilibrium, in segments (tau). At a slope of 1 this is the number of segments that a flow
        of weight 1 keeps queued. Must not be 0.
    weight
        Weight of the flow; the rate at a given price is proportional to it (phi). Must not be 0.

    With kind = "maxnet"
    --------------------
    max_rate
        Rate at a cost of 0, the maximum rate of a source of weight 1.
    slow_start
        Limit window growth to a doubling per RTT while the cost is being learnt.
    weight
        Weight of the flow; the rate at a given cost is proportional to it. Must not be 0.

    With kind = "rcp"
    -----------------
    max_rate
        Maximum sending rate.
    slow_start
        Limit window growth to a doubling per RTT while an estimated price is still inaccurate.
    weight
        Weight of the flow, which multiplies the advertised rate; queues share their capacity by weight. Must not be
        0.

    With kind = "rem"
    -----------------
    max_rate
        Maximum sending rate, which is used at a price of 0.
    slow_start
        Limit window growth to a doubling per RTT while the price is being learnt.
    weight
        Sending rate at a price of 1: the weight of the utility.

    With kind = "hstcp"
    -------------------
    high_decrease
        Fraction of the window removed by a loss at `high_window` (High_Decrease). Must not be 0.
    high_p
        Loss rate at which the mean window is `high_window` (High_P). Must not be 0.
    high_window
        Mean window at a loss rate of `high_p` (High_Window).
    low_p
        Loss rate at which the mean window is `low_window` (Low_P).
    low_window
        Window up to which the flow behaves as Reno (Low_Window).

    With kind = "dctcp"
    -------------------
    gain
        Weight of the newest window in the estimate of the marked fraction (g). Must not be 0.
    initial_alpha
        Initial estimate of the marked fraction (DCTCP.Alpha).

    With kind = "stcp"
    ------------------
    a
        Window increase per acknowledged segment, in segments. Must not be 0.
    b
        Fraction of the window removed by a loss. Must be neither 0 nor 1.
    lwnd
        Window up to which the flow behaves as Reno.

    With kind = "htcp"
    ------------------
    adaptive_backoff
        Adaptive backoff: a loss multiplies the window by the ratio of the minimum to the maximum RTT, limited to 0.5
        to 0.8. If false, it halves the window.
    delta_l
        Time after a loss during which the flow behaves as Reno (Delta_L).
    rtt_scaling
        RTT scaling: the increase is proportional to the RTT, 0.1 to 2 times the increase at 100 ms.

    With kind = "bic"
    -----------------
    beta
        Fraction of the window removed by a loss. Must be neither 0 nor 1.
    fast_convergence
        Fast convergence: a flow that loses again before it has regained its previous maximum window releases
        bandwidth to others.
    low_window
        Window below which the flow behaves as Reno.
    s_max
        Maximum window increase per RTT, in segments (S_max).
    s_min
        Minimum window increase per RTT, in segments (S_min). Must not be 0.

    With kind = "westwood"
    ----------------------
    tau
        Time constant of the bandwidth filter.

    With kind = "westwood_plus"
    ---------------------------
    alpha
        Weight of the previous estimate in the bandwidth filter. Must not be 1.

    With kind = "hybla"
    -------------------
    max_slow_start_increment
        Maximum window increase per acknowledged segment in slow start, in segments. The increase of the paper, 2^rho
        - 1, is 15 at four times `rtt_0` and about a million at twenty times.
    rtt_0
        Reference RTT (RTT_0). Flows with a shorter RTT behave as Reno.

    With kind = "illinois"
    ----------------------
    alpha_max
        Window increase per RTT without queueing delay, in segments.
    alpha_min
        Window increase per RTT at the maximum delay, in segments. Must not be 0.
    beta_max
        Fraction of the window removed by a loss at high delay.
    beta_min
        Fraction of the window removed by a loss at low delay. Must not be 0.
    eta_1
        Fraction of the maximum queueing delay up to which the increase is `alpha_max`.
    eta_2
        Fraction of the maximum queueing delay up to which a loss removes `beta_min`.
    eta_3
        Fraction of the maximum queueing delay from which a loss removes `beta_max`.
    theta
        Number of RTTs with low delay before the increase returns to `alpha_max`.
    w_thresh
        Window below which the flow behaves as Reno.

    With kind = "veno"
    ------------------
    beta
        Number of queued segments from which the path counts as congested.

    With kind = "yeah"
    ------------------
    a
        Window increase per acknowledged segment in fast mode, in segments.
    delta
        Minimum fraction of the window removed by a loss. Must not be 0.
    epsilon
        Maximum fraction of the window removed by one early decongestion. Must not be 1.
    phi
        The flow is also in slow mode while the queueing delay exceeds the minimum RTT divided by this value.
    q_max
        Number of queued segments from which the flow is in slow mode and drains its queue (Q_max).
    rho
        Number of consecutive RTTs in slow mode after which competing loss-based flows are assumed; a loss then halves
        the window.
    zeta
        Number of RTTs in fast mode after which competing loss-based flows are no longer assumed.

    With kind = "aimd"
    ------------------
    a
        Window increase per RTT, in segments. Must not be 0.
    b
        Fraction of the window removed by a loss. Must be neither 0 nor 1.

    With kind = "binomial"
    ----------------------
    alpha
        Factor of the increase. Must not be 0.
    beta
        Factor of the reduction. Must not be 0.
    k
        Power of the window that divides the increase.
    l
        Power of the window in the reduction.

    With kind = "ledbat"
    --------------------
    allowed_increase
        Maximum excess of the window over the data in flight, in segments (ALLOWED_INCREASE).
    base_history
        Number of minutes over which the minimum one-way delay is the base delay (BASE_HISTORY).
    current_filter
        Number of recent one-way delays, one per acknowledgement, whose minimum is the current delay (CURRENT_FILTER).
    gain
        Window change per RTT, in segments, when the queueing delay is as far from TARGET as with an empty queue
        (GAIN); the RFC allows at most 1. Must not be 0.
    min_cwnd
        Minimum window, except after a timeout until this many segments are acknowledged (MIN_CWND).
    target
        Target queueing delay (TARGET); the RFC allows at most 100 ms.

    With kind = "compound"
    ----------------------
    alpha
        Factor of the increase of the total window.
    beta
        Fraction of the total window removed by a loss. Must be neither 0 nor 1.
    gamma
        Number of queued segments from which the delay-based window shrinks.
    k
        Power of the total window in its increase.
    zeta
        Decrease of the delay-based window per queued segment.

    With kind = "prague"
    --------------------
    gain
        Weight of the newest round in the estimate of the marked fraction (g). Must not be 0.
    initial_alpha
        Initial estimate of the marked fraction (alpha).
    transition_rounds
        Number of RTTs after which a flow starts to emulate `virtual_rtt` (D).
    virtual_rtt
        Minimum RTT that the flow emulates if its own is shorter (RTT_virt); 0 disables this.

    With kind = "copa"
    ------------------
    competitive_mode
        Competitive mode: lower delta while buffer-filling flows share the queue, by additive increase and
        multiplicative decrease of 1/delta.
    delta
        Weight of delay against throughput; about 1/delta packets are kept queued.
    min_rtt_filter_len
        Lifetime of the minimum RTT (RTTmin).

    With kind = "swift"
    -------------------
    additive_increase
        Window increase per RTT, in segments (ai).
    base_target
        Target RTT of a path without hops, for a large window (base_target).
    decrease
        Multiplicative decrease factor; the decrease is proportional to the excess delay relative to the delay (beta).
        Must not be 0.
    fs_max_cwnd
        Window from which the flow-based addition is zero (fs_max_cwnd).
    fs_min_cwnd
        Window up to which the full flow-based addition applies (fs_min_cwnd).
    fs_range
        Maximum addition to the target, for the smallest windows (fs_range); 0 gives every flow the same target.
    hop_delay
        Addition to the target per link of the path.
    max_cwnd
        Maximum window (max_cwnd).
    max_mdf
        Maximum fraction of the window removed at once, and the fraction removed by a loss (max_mdf). Must be neither
        0 nor 1.
    min_cwnd
        Minimum window (min_cwnd). Below 1, a segment is sent only every few RTTs.
    retx_reset_threshold
        Number of consecutive timeouts after which the window is reset to the minimum (RETX_RESET_THRESHOLD).

    With kind = "timely"
    --------------------
    additive_step
        Additive increase of the rate per update (delta).
    decrease
        Multiplicative decrease factor for a positive RTT gradient and for an RTT above `t_high` (beta).
    hai_factor
        Factor by which hyperactive increase multiplies the additive step (N).
    hai_threshold
        Number of consecutive completion events without a growing RTT before the larger steps of hyperactive increase
        begin (HAI).
    initial_rate
        Initial sending rate: C/(N+1) in the paper, where N other flows of the host share its line rate. Default: the
        maximum rate.
    max_outstanding
        Maximum outstanding data.
    max_rate
        Maximum sending rate: the line rate of the host.
    min_rate
        Minimum sending rate.
    min_rtt
        RTT of an empty network, by which the gradient is normalised (minRTT).
    segment
        Segment size: the acknowledgement of this much data is a completion event, after which the rate is updated.
    t_high
        RTT above which the rate always decreases (T_high).
    t_low
        RTT below which the rate always increases (T_low).
    weight
        Weight of the newest RTT difference in the average (alpha). Must not be 0.

    With kind = "bbrv3"
    -------------------
    beta
        Minimum fraction of the short-term bounds that remains after an RTT with losses (Beta).
    cwnd_gain
        Maximum data in flight outside bandwidth probing and ProbeRTT, in bandwidth-delay products (DefaultCwndGain).
    headroom
        Fraction of the long-term bound left unused for other flows (Headroom).
    loss_threshold
        Maximum tolerated fraction of lost segments per RTT while bandwidth is probed (LossThresh). Must not be 1.
    min_rtt_filter_len
        Lifetime of the minimum RTT (MinRTTFilterLen).
    pacing_margin
        Fraction by which the pacing rate stays below the estimated bandwidth (PacingMarginPercent). Must not be 1.
    probe_rtt_duration
        Duration of ProbeRTT (ProbeRTTDuration).
    probe_rtt_interval
        Time without a shorter RTT after which ProbeRTT limits the data in flight to half a bandwidth-delay product
        (ProbeRTTInterval).

    With kind = "fixed"
    -------------------
    rate
        Pacing rate on the wire for full segments. Without it, acknowledgements clock transmission.

    With kind = "user:NAME"
    -----------------------
    parameters
        Keyword arguments of the Python class.
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
    cwnd_gain: float
    pacing_margin: Probability
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


# true, false, or a table such as {every = 2, timeout = "200 ms"}
DelayedAck: TypeAlias = "bool | DelayedAckTable"


class DelayedAckTable(TypedDict, total=False):
    """Delayed acknowledgements (RFC 5681 section 4.2). Defaults: the preset's values, or every second segment within
    200 ms if the preset has none.

    Attributes
    ----------
    ack_ce_immediately
        Acknowledge immediately the first two marked segments since the last window reduction, and segments with CWR.
    every
        Acknowledge at least every N full segments.
    quickack_segments
        Number of segments at the start of a flow that are acknowledged one by one.
    sack_compression
        SACK compression: after three immediate acknowledgements above a gap, send one per interval of this length or
        a third of the round-trip time, whichever is shorter. 0 s turns it off.
    timeout
        Maximum delay of an acknowledgement after the arrival of the first unacknowledged segment.
    """

    ack_ce_immediately: bool
    every: int
    quickack_segments: int
    sack_compression: Duration
    timeout: Duration


class Description(TypedDict, total=False):
    """A network, its flows, and the recordings. Times, rates and sizes are text with a unit, such as `10 ms`, `75
    Mbps`, `50 kB`.

    Attributes
    ----------
    duration
        Simulated time.
    flows
        Flow groups by name, in the order of all result tables.
    links
        Links by name.
    name
        Title of the scenario.
    nodes
        Nodes by name.
    prices
        Encoding of congestion prices.
    record
        Recordings in addition to the counters.
    routing
        Routing of flows without `route`.
    seed
        Seed of all random streams.
    timeline
        Changes during the run.
    topology
        Generators of common networks.
    warmup
        Time from which results count.
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
    """Fully connected groups of switches, with one link between every two groups.

    Attributes
    ----------
    delay
        One-way propagation delay of each link.
    duplication
        Probability that a packet that is not lost is duplicated.
    global_delay
        One-way propagation delay of links between groups. Default: that of the other links.
    global_links
        Links per switch to other groups (h). The paper recommends half of `switches`.
    global_rate
        Bit rate of links between groups. Default: that of the other links.
    host_delay
        One-way propagation delay of host links. Default: that of the other links.
    host_queue
        Queue of each host. Default: unlimited.
    host_rate
        Bit rate of host links. Default: that of the other links.
    hosts
        Hosts per switch (p). The paper recommends half of `switches`.
    jitter
        Random delay that each link adds for each packet.
    loss
        Random losses of each link.
    queue
        Queue of each switch port.
    rate
        Bit rate of each link, or a delivery trace.
    switches
        Switches per group (a).
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
    """One transmission of one packet, which is discarded.

    Attributes
    ----------
    cell
        With `framing`: number of the cell, from 0, among the cells of the packet that reach the queue. Default: all
        cells.
    flow
        Flow of the group, from 0.
    group
        Flow group.
    segment
        Data segment or datagram of the flow, from 0. With `handshake`, 0 is the SYN.
    transmission
        Transmission of the packet: 1 is the first, 2 the first retransmission.
    """

    cell: int
    flow: int
    group: str
    segment: int
    transmission: int


# `20 cells`, `2 %` (of the buffer) or `none`
DroppingThreshold: TypeAlias = "Threshold | Literal['none']"

# Service discipline of the two queues of DualPI2.
DualService: TypeAlias = Literal["weighted_round_robin", "time_shifted_fifo"]


class Dumbbell(TypedDict, total=False):
    """Two routers and a bottleneck.

    Attributes
    ----------
    delay
        One-way propagation delay of the bottleneck.
    duplication
        Probability that a packet that is not lost is duplicated.
    jitter
        Random delay added for each packet.
    loss
        Losses that do not depend on the queue.
    queue
        Queue of the bottleneck.
    rate
        Bit rate of the bottleneck, or a delivery trace.
    reverse
        Settings of the reverse link that differ. Its default queue is unlimited.
    """

    delay: Duration
    duplication: Probability
    jitter: Jitter
    loss: Loss
    queue: Queue
    rate: LinkRate
    reverse: Reverse


# a duration such as `10 ms` (ps, ns, us, µs, ms, s, min, h)
Duration: TypeAlias = "str"

# One value per flow: the same for all, a list, or a table with one of these keys. `uniform` draws between two
# bounds, `evenly` spreads the flows between them. `exponential` and `pareto` are given by their mean,
# `lognormal` by its median and the standard deviation of its logarithm, `bounded_pareto` by two bounds and its
# shape. `cdf` lists values with their cumulative shares, with linear interpolation. `workload` is a published
# distribution of sizes. `csv` reads a column of a CSV file, with a unit in each cell or in the column's name
# (`start_s`, `size_bytes`).
DurationDistribution: TypeAlias = "Duration | list[Duration] | dict[str, Any]"


class Dwdm(TypedDict, total=False):
    """Edge routers and an optical switch with a trunk of wavelength channels.

    Attributes
    ----------
    delay
        One-way propagation delay of the trunk.
    edge_queue
        Queue of each edge router. Default: unlimited.
    input_delay
        One-way propagation delay of each input link; cut-through switching requires more than 0.
    inputs
        Number of edge routers and of links from them to the switch.
    queue
        Queue of the trunk: shared by all channels with wavelength conversion, otherwise one per channel.
    rate
        Bit rate of each input link and of each channel.
    switching
        Switching mode: the queue receives a packet at its last bit (store and forward) or at its first (cut-through).
    transmitters
        Number of wavelength channels of the trunk.
    wavelength_conversion
        Full wavelength conversion: packets may leave on any channel. Otherwise they keep their wavelength.
    """

    delay: Duration
    edge_queue: Queue
    input_delay: Duration
    inputs: int
    queue: Queue
    rate: Rate
    switching: Switching
    transmitters: int
    wavelength_conversion: bool


# Number of ECN bits that carry marks.
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
Edge.__doc__ = """A link.

    Attributes
    ----------
    delay
        One-way propagation delay.
    duplex
        Create a reverse link.
    from
        Node at which the link starts.
    name
        Name. Default: `FROM-TO`, and `FROM-TO_2` and so on for further links between the same nodes.
    rate
        Bit rate.
    to
        Node at which the link ends.
"""


class Event(TypedDict, total=False):
    """A change at a given time, of one direction of a link or of a flow group.

    Attributes
    ----------
    at
        Time of the change.
    buffer
        New buffer of the link's queue, in the unit of its `buffer`, or in packets if that is a percentage. Queued
        packets stay; with a scheduler, the longest queue makes room at the next arrival. Thresholds do not change.
    delay
        New delay of the link, for packets sent from now on. Packets stay in order.
    group
        Flow group that changes.
    link
        Link that changes (`NAME`, or `NAME.reverse` for the reverse link).
    loss
        New probability of random loss.
    rate
        New rate of the link. A packet in transmission finishes at the old rate.
    return_route
        New return route of the group. Default with `route`: as for a flow.
    route
        New route of the group.
    start
        Start the group: its `start` counts from this time.
    stop
        Stop the group: it sends no new data from this time on.
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


# Action on packets that exceed the rate.
Excess: TypeAlias = Literal["dropped", "marked"]

# a whole number from 1 to 1000, or false
FastRetransmit: TypeAlias = "int | Literal[False]"


class FatTree(TypedDict, total=False):
    """Fat tree: `k` pods of edge and aggregation switches below a core, with k³/4 hosts.

    Attributes
    ----------
    delay
        One-way propagation delay of each link.
    duplication
        Probability that a packet that is not lost is duplicated.
    host_delay
        One-way propagation delay of host links. Default: that of the other links.
    host_queue
        Queue of each host. Default: unlimited.
    host_rate
        Bit rate of host links. Default: that of the other links.
    jitter
        Random delay that each link adds for each packet.
    k
        Number of ports per switch, even: 4 gives 16 hosts, 8 gives 128, 32 gives 8192.
    loss
        Random losses of each link.
    queue
        Queue of each switch port.
    rate
        Bit rate of each link, or a delivery trace.
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


# How the receiver returns the price to the sender.
Feedback: TypeAlias = Literal["exact", "one_bit"]


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
        "propagation_rtt": "DurationDistribution",
        "receive_processing": "Processing",
        "receiver_access": "Access",
        "return_route": "list[str]",
        "route": "list[str]",
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
Flow.__doc__ = """A group of flows with the same settings, either with `tcp` or with a datagram `source`.

    Attributes
    ----------
    abr
        Available bit rate service of flows with `framing`.
    application
        Application that writes data to TCP. Default: all data is available at the start.
    arrivals
        Random arrivals of the flows, from `start` on.
    class
        Traffic class of its packets and acknowledgements in queues with `classes`.
    count
        Number of flows. Default: all that arrive before `stop` or the end of the run (with `arrivals`), the length of
        a list of values, one round of `traffic`, or 1.
    framing
        Send packets in ATM cells (AAL5). Each flow is a virtual channel (VC).
    from
        Node of the senders, or several nodes, to which flows are assigned in turn. A node may be listed several
        times.
    jitter
        Maximum of a uniform random delay of each data packet at the sender. Packets stay in order.
    l4s
        Send packets as L4S, with ECT(1), which selects their queue in `dualpi2`. Default: true for an L4S controller
        (`prague`) with `ecn`.
    propagation_rtt
        Round-trip propagation delay, without serialisation. It sets the delay of `sender_access`.
    receive_processing
        Processing time of each packet at the receiver. Default: that of the node.
    receiver_access
        Private access link of each receiver.
    return_route
        Links of the acknowledgements, in order. Default: the reverse of `route`, or by `routing` if that does not
        exist or routing is `ecmp`.
    route
        Links of the data, in order (`NAME`, or `NAME.reverse` for the reverse link). Default: by `routing`.
    send_processing
        Processing time of each data packet at the sender. Default: that of the node.
    sender_access
        Private access link of each sender, in both directions, with an unlimited queue.
    size
        Payload of each flow. Default: unlimited.
    source
        Source of datagrams without a transport protocol.
    start
        Start time of each flow.
    stop
        Time at which all flows stop sending new data.
    tcp
        TCP settings.
    to
        Node of the receivers, or several nodes: each round over `from` uses the next one.
    traffic
        Traffic pattern among many nodes, instead of `from` and `to`.
"""


class FlowArrivals(TypedDict, total=False):
    """Poisson arrivals of flows. The rate is given by `mean_interval` or by `load`.

    Attributes
    ----------
    load
        Mean arriving payload as a share of `reference_rate`, at most 1, without headers. For an overload use
        `mean_interval`.
    mean_interval
        Mean time between two starts.
    reference_rate
        Rate that `load` refers to, such as that of the bottleneck.
    """

    load: Probability
    mean_interval: Duration
    reference_rate: Rate


# the name of a CSV file with columns `source`, `sink`, `size` and `start`, or a table of these lists (from
# Python and the command line also a Parquet file)
FlowTable: TypeAlias = "str | Columns"


class Framing(TypedDict, total=False):
    """AAL5 framing: a packet is segmented into 53-byte cells with 48 bytes of payload.

    Attributes
    ----------
    llc_snap
        Add the 8-byte LLC/SNAP header to each packet (RFC 2684 section 5.1).
    reassembly_delay
        Delay from the arrival of the last cell until the packet is delivered.
    segmentation_delay
        Delay of the adaptation layer before the first cell of a packet is sent, for data and acknowledgements.
    trailer
        Trailer of each packet, before padding: 8 bytes in ITU-T I.363.5, none in bpd-2001.
    """

    llc_snap: bool
    reassembly_delay: Duration
    segmentation_delay: Duration
    trailer: Size


class GilbertElliott(TypedDict, total=False):
    """Burst losses (Gilbert 1960, Elliott 1963): the link has a good and a bad state, and may change its state with
    each packet.

    Attributes
    ----------
    loss_in_bad
        Probability of loss in the bad state (Gilbert's 1 - h).
    loss_in_good
        Probability of loss in the good state (Elliott's 1 - k).
    p
        Transition probability from the good to the bad state.
    r
        Transition probability from the bad to the good state.
    """

    loss_in_bad: Probability
    loss_in_good: Probability
    p: Probability
    r: Probability


class Graph(TypedDict, total=False):
    """A network as a list of links.

    Attributes
    ----------
    delay
        Default one-way propagation delay of links.
    delay_attribute
        GraphML only: edge attribute for the delay, with a unit in the value or in its name, such as `delay_ms`.
        Default: `delay`.
    duplication
        Probability that a packet that is not lost is duplicated.
    graphml
        GraphML file, relative to the scenario's directory, instead of `links`. Undirected edges become duplex links.
    hosts
        Nodes that are hosts. The other nodes are routers.
    jitter
        Random delay that each link adds for each packet.
    links
        Links. The nodes that they name are created.
    loss
        Random losses of each link.
    name_attribute
        GraphML only: node attribute for the names, such as `label`; invalid characters become `_`. Default: the node
        identifiers.
    queue
        Queue of each link, in both directions.
    rate
        Default bit rate of links.
    rate_attribute
        GraphML only: edge attribute for the rate, with a unit or as a number in bit/s. Default: `LinkSpeedRaw`, as in
        the Topology Zoo.
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


# How senders assign the identification of packets, from which probes are derived.
Identification: TypeAlias = Literal["counting", "from_one", "byte_swapped", "random", "checksum"]


class Incast(TypedDict, total=False):
    """Random groups of senders, each with one receiver; the next group has the next receiver.

    Attributes
    ----------
    nodes
        The nodes.
    senders
        Number of senders per receiver.
    to
        Receiver, or several nodes from which it is drawn. Default: any node.
    """

    nodes: str | list[str]
    senders: int
    to: str | list[str]


# The receiver's price estimate before the first probe.
InitialEstimate: TypeAlias = Literal["min", "max"]


class Jitter(TypedDict, total=False):
    """Random delay that is added for each packet of a link.

    Attributes
    ----------
    delay
        Distribution of the added delay.
    reordering
        Allow reordering. Otherwise a packet never arrives before an earlier one.
    """

    delay: Processing
    reordering: bool


class LeafSpine(TypedDict, total=False):
    """Leaf switches with hosts, and spine switches that connect them.

    Attributes
    ----------
    delay
        One-way propagation delay of each link.
    duplication
        Probability that a packet that is not lost is duplicated.
    host_delay
        One-way propagation delay of host links. Default: that of the other links.
    host_queue
        Queue of each host. Default: unlimited.
    host_rate
        Bit rate of host links. Default: that of the other links.
    hosts
        Hosts per leaf. Leaves are oversubscribed if this exceeds `spines` and all links have the same rate.
    jitter
        Random delay that each link adds for each packet.
    leaves
        Number of leaf switches.
    loss
        Random losses of each link.
    queue
        Queue of each switch port.
    rate
        Bit rate of each link, or a delivery trace.
    spines
        Number of spine switches.
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
Link.__doc__ = """A link from one node to another, with a queue at its input.

    Attributes
    ----------
    delay
        One-way propagation delay.
    duplex
        Create a reverse link, NAME.reverse, with the same rate and delay and an unlimited queue.
    duplication
        Probability that a packet that is not lost is duplicated.
    from
        Node at which the link starts.
    jitter
        Random delay added for each packet.
    loss
        Losses that do not depend on the queue.
    queue
        Queue at the input of the link.
    rate
        Bit rate of each transmitter, or a delivery trace.
    reverse
        Settings of the reverse link that differ.
    switching
        Switching mode: the queue receives a packet at its last bit (store and forward) or at its first (cut-through).
    to
        Node at which the link ends.
    transmitters
        Number of transmitters that share the queue: 1 for a link, K for a trunk of K wavelengths.
"""


# A bit rate, or a delivery trace: `trace` names a Mahimahi file, which has the millisecond of an opportunity to
# send 1500 bytes in each line, and `opportunities` lists milliseconds with their numbers of opportunities. The
# trace repeats after its last millisecond.
LinkRate: TypeAlias = "Rate | dict[str, Any]"


class Loss(TypedDict, total=False):
    """Losses that do not depend on the queue.

    Attributes
    ----------
    at
        Where random losses happen: on the wire behind the queue, or before the queue.
    drops
        Individual packets to discard on arrival at the queue.
    gilbert_elliott
        Additional losses in bursts.
    probability
        Probability of loss of each packet, independently of others.
    """

    at: LossAt
    drops: list[Drop]
    gilbert_elliott: GilbertElliott
    probability: Probability


# Where a link loses packets.
LossAt: TypeAlias = Literal["wire", "before_queue"]

# How a price is mapped to the range 0 to 1.
MappingKind: TypeAlias = Literal["linear", "logarithmic", "signed"]

# Partial acknowledgements that restart the retransmission timer: the variants of RFC 6582 section 4. With
# `rack_tlp` all do.
NewRenoVariant: TypeAlias = Literal["impatient", "slow_but_steady"]


class Node(TypedDict, total=False):
    """A node. Nodes named by links or flows must be declared here, unless a topology creates them.

    Attributes
    ----------
    kind
        Kind of the node. Routes never lead through a `host`.
    receive_processing
        Hosts only: processing time of each received packet before it is acknowledged.
    send_processing
        Hosts only: processing time of each data packet before it is sent. Each flow has its own FIFO server.
    """

    kind: NodeKind
    receive_processing: Processing
    send_processing: Processing


# Kind of a node: routers forward packets, hosts only send and receive.
NodeKind: TypeAlias = Literal["router", "host"]

# Payload of a datagram.
PacketBytes: TypeAlias = "Size | dict[str, Any]"

# a number (integers below 2^63), text, a Boolean, a list or a table
Parameter: TypeAlias = "bool | float | str | list[Parameter] | Parameters"

# Keyword arguments of the Python class.
Parameters: TypeAlias = "dict[str, Parameter]"


class ParkingLot(TypedDict, total=False):
    """Routers in a row, with equal links.

    Attributes
    ----------
    delay
        One-way propagation delay of each link.
    duplication
        Probability that a packet that is not lost is duplicated.
    hops
        Number of links.
    jitter
        Random delay that each link adds for each packet.
    loss
        Random losses of each link.
    queue
        Queue at the input of each link.
    rate
        Bit rate of each link, or a delivery trace.
    """

    delay: Duration
    duplication: Probability
    hops: int
    jitter: Jitter
    loss: ChanceLoss
    queue: Queue
    rate: LinkRate


class Policy(TypedDict, total=False):
    """A queue policy with its settings: the keys that `Queue` and `Class` share.

    policy
        Selects the other keys of the table:

        * ``"drop_tail"``: Accepts every packet that fits. For cells this is plain ATM.
        * ``"ppd"``: Partial packet discard: if a cell does not fit, the rest of its packet is discarded too, except
        for the last cell.
        * ``"epd"``: Early packet discard: from a threshold on, no packet may begin. Includes partial packet discard.
        * ``"epd_per_vc"``: Early packet discard with per-VC accounting: above the threshold, only VCs that hold at
        least their share of it lose packets.
        * ``"bpd"``: Balanced packet discard: early packet discard that spares VCs that have just lost a packet.
        * ``"spd"``: Single packet discard: one early loss for each VC whose own queue builds up, with early packet
        discard as a fallback.
        * ``"erica"``: Assigns the sources of an available bit rate service (`abr`) rates that fill the link and are
        fair (ERICA).
        * ``"red"``: Random early detection: marks or discards at random, with a probability that grows with the
        average queue length. Discards packets that cannot be marked.
        * ``"codel"``: Controlled delay: marks while the queueing delay has exceeded a target for a whole interval.
        Discards packets that are not ECN-capable.
        * ``"cobalt"``: CoDel combined with BLUE for unresponsive traffic: an overflow raises BLUE's discard
        probability, and an empty queue lowers it.
        * ``"pie"``: Proportional integral controller enhanced: the marking probability follows the queueing delay.
        Discards packets that are not ECN-capable.
        * ``"pi2"``: The Classic queue of DualPI2: the marking probability is the square of a controller output that
        follows the delay. Discards packets that are not ECN-capable. The defaults are from Linux.
        * ``"rem"``: Random exponential marking: a price that follows input rate and queue length, signalled by marks.
        Discards packets that are not ECN-capable.
        * ``"threshold"``: Marks packets that arrive at a queue longer than a threshold: the switch of DCTCP. Discards
        packets that are not ECN-capable.
        * ``"ramp"``: Marks at random, with a probability that grows with the instantaneous queue length: the switch
        of DCQCN. Discards packets that are not ECN-capable.
        * ``"policer"``: Token bucket: discards or marks packets that exceed a rate, except for bursts.
        * ``"clamp"``: CLAMP access router: its price is a multiple of the queueing delay and bounds the windows of
        CLAMP clients.
        * ``"maxnet"``: MaxNet router: its congestion cost integrates the arrivals in excess of a target rate, and
        senders adapt to it.
        * ``"rcp"``: Rate control protocol: advertises one rate for all flows of the link to RCP sources.
        * ``"xcp"``: XCP router: once per mean RTT it computes the change of the aggregate rate and divides it among
        packets as feedback.
        * ``user:NAME``: `user:NAME`, where NAME is the registered name of the Python class.

    With policy = "epd"
    -------------------
    threshold
        Queue length in cells from which no packet may begin.

    With policy = "epd_per_vc"
    --------------------------
    active_vcs
        VCs that count as active.
    threshold
        Queue length in cells from which a VC that holds its share (the threshold divided by the number of active VCs)
        may not begin a packet.

    With policy = "bpd"
    -------------------
    gap
        Number of packets after a loss for which a VC is subject to `upper_threshold` instead of `lower_threshold`
        (GAP).
    lower_threshold
        Queue length in cells from which packets of most VCs are refused (LT).
    upper_threshold
        Queue length in cells from which packets of VCs that have just lost a packet are refused (UT).

    With policy = "spd"
    -------------------
    congestion_threshold
        Queue length in cells that must be exceeded for the single discard (CongestTh).
    dropping_threshold
        Number of cells of the VC from which one of its packets is discarded (SPDth); `none` disables this.
    epd_threshold
        Queue length in cells from which no packet may begin.
    variant
        Interpretation of the printed code.

    With policy = "erica"
    ---------------------
    averaging_interval
        Averaging interval over which load and active channels are counted, at least 1 us.
    delta
        Rates are equalised while the load factor is at most 1 plus this value (delta).
    target
        Target utilisation: the fraction of the link's rate that is allocated. Must not be 0.

    With policy = "red"
    -------------------
    gentle
        Increase the probability linearly to 1 between `max_threshold` and twice `max_threshold`.
    max_probability
        Marking probability as the average reaches `max_threshold` (max_p). Must not be 0.
    max_threshold
        Average queue length at which the probability is `max_probability` (max_th). Above it the probability keeps
        growing (`gentle`) or is 1.
    mean_packet_size
        Typical packet size. The average decays during idle time as if packets of this size had found the queue empty.
    min_threshold
        Average queue length below which nothing is marked (min_th).
    queue_unit
        Unit of the average queue length. Thresholds keep the unit of the buffer; if the average is in bytes, a packet
        of a threshold has the size `mean_packet_size`.
    signals
        How congestion is signalled.
    weight
        Weight of a new sample in the average (w_q). Must not be 0.

    With policy = "codel"
    ---------------------
    interval
        Time for which the delay must exceed the target: about the longest usual RTT.
    target
        Target queueing delay.

    With policy = "cobalt"
    ----------------------
    decrement
        Decrease of the discard probability on an empty queue (d2 of BLUE).
    freeze
        Minimum time between changes of the discard probability (freeze_time).
    increment
        Increase of the discard probability on an overflow (d1 of BLUE).
    interval
        CoDel's interval: the time for which the delay must exceed the target, about the longest usual RTT.
    target
        CoDel's target queueing delay.

    With policy = "pie"
    -------------------
    max_burst
        Duration of a burst that passes unmarked after a period without congestion (MAX_BURST).
    max_mark_probability
        Probability above which packets are discarded instead of marked (mark_ecnth).
    mean_packet_size
        Typical packet size; a queue of at most two such packets counts as empty (MEAN_PKTSIZE).
    period
        Time between updates of the probability (T_UPDATE), at least 1 us.
    target
        Target queueing delay (QDELAY_REF).

    With policy = "pi2"
    -------------------
    alpha
        Integral gain: weight of the deviation of the delay from the target, per second (alpha). Must not be 0.
    beta
        Proportional gain: weight of the change of the delay, per second (beta).
    max_mark_probability
        Probability from which packets are discarded instead of marked (p_Cmax).
    period
        Time between updates of the probability (Tupdate), at least 1 us.
    target
        Target queueing delay (target).

    With policy = "rem"
    -------------------
    alpha
        Weight of the queue's deviation from the target, relative to the mismatch of input rate and capacity (alpha).
        Must not be 0.
    gamma
        Step size of the price per period (gamma). Must not be 0.
    mean_packet_size
        Typical packet size, the unit of input and capacity.
    period
        Time between updates of the price, at least 1 us.
    phi
        Base of the marking probability: a price of p leaves `phi` to the power of -p of the packets unmarked (phi).
        Must be above 1. Must not be 1.
    target
        Target queue length (b*).

    With policy = "threshold"
    -------------------------
    threshold
        Queue length on arrival, excluding the arriving packet, above which packets are marked (K).

    With policy = "ramp"
    --------------------
    max_probability
        Marking probability at `max_threshold` (P_max).
    max_threshold
        Queue length at which the probability is `max_probability` (K_max). Above it every packet is marked.
    min_threshold
        Queue length up to which nothing is marked (K_min).

    With policy = "policer"
    -----------------------
    burst
        Bucket size: maximum burst that passes at once (CBS). A larger packet never conforms.
    excess
        Action on packets that exceed the rate.
    rate
        Token rate, headers included (CIR).

    With policy = "clamp"
    ---------------------
    offset
        Offset in bytes, subtracted from the queue times the slope (a). The price is 0 below it.
    slope
        Seconds of price per second of queueing delay (b). Windows oscillate above pi/2. Must not be 0.

    With policy = "maxnet"
    ----------------------
    gain
        Change of the cost in a period with no arrivals, or with twice the target (phi c). Must not be 0.
    period
        Time between updates of the cost, at least 1 us.
    signed
        Allow a negative cost, as (5.6) is printed. An idle link then lowers the cost without bound, and sources take
        as long to slow down again.
    target
        Target rate, as a fraction of the link's rate (c). Must not be 0.

    With policy = "rcp"
    -------------------
    alpha
        Gain of the spare capacity per RTT (alpha). Must not be 0.
    beta
        Gain of the queue (beta).
    initial_rtt
        Mean RTT assumed until packets report one.
    initial_share
        Initial rate, as a fraction of the link's rate. Must not be 0.
    period
        Time between updates of the rate (T), at least 1 us.
    target
        Fraction of the link's rate that the flows may use together (eta). Must not be 0.

    With policy = "xcp"
    -------------------
    alpha
        Fraction of the spare capacity that is allocated per control interval (alpha). Must not be 0.
    beta
        Gain of the persistent queue (beta).
    gamma
        Fraction of the traffic that is redistributed per control interval, for fairness (gamma).
    period
        Timer resolution of the control interval (the mean RTT), at least 1 us.
    target
        Fraction of the link's rate that the flows may use together. Must not be 0.

    With policy = "user:NAME"
    -------------------------
    parameters
        Keyword arguments of the Python class.
    """

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


# Named settings. Plain names follow the RFCs, `linux/*` follow Linux, the others follow the document in their
# name.
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
    """Encoding of congestion prices between queues, receivers and senders.

    Attributes
    ----------
    feedback
        Feedback of the price from the receiver to the sender.
    identification
        Identification of packets, from which probes are derived.
    mapping
        Mapping of prices to 0 to 1, if they are not sent as numbers. Default: linear, or logarithmic between
        `min_rate` and `max_rate`.
    max_price
        Price that is mapped to 1.
    max_rate
        Instead of `min_price`, if prices are inverse rates (`rcp`): the maximum rate.
    min_price
        Price that is mapped to 0.
    min_rate
        Instead of `max_price`, if prices are inverse rates (`rcp`): the minimum rate.
    scale
        Signed mapping only: prices up to about this absolute value are mapped linearly, larger ones by their
        logarithm.

    scheme
        Selects the other keys of the table:

        * ``"exact"``: The price itself, as a number in each packet's header.
        * ``"adpm"``: Adaptive deterministic packet marking: each packet tests whether the price exceeds its
        threshold. Reports the largest price of the path.
        * ``"rem"``: Random exponential marking: the fraction of marked packets encodes the sum of the prices
        logarithmically.
        * ``"ram"``: Random additive marking: the fraction of marked packets is the mean of the path's prices, and the
        TTL gives the number of hops.
        * ``"tpm"``: Deterministic packet marking by Thommes and Coates: each packet tests one bit of the quantised
        prices of certain queues. Reports the sum of the prices.
        * ``"rpm"``: Deterministic packet marking by Ryu and others: each packet tests for one level of the quantised
        price. Reports the largest price of the path.

    With scheme = "adpm"
    --------------------
    initial_estimate
        The receiver's price estimate before the first probe.
    thresholds
        Function that maps a packet's identification to its threshold.

    With scheme = "rem"
    -------------------
    memory
        Number of packets over which a receiver averages marks; fewer until it has received that many.
    phi
        Base of the marking probability: a price of p (0 to 1) leaves `phi` to the power of -p of the packets unmarked
        (phi). Must be above 1. Must not be 1.

    With scheme = "ram"
    -------------------
    memory
        Number of packets over which a receiver averages marks; fewer until it has received that many.

    With scheme = "tpm"
    -------------------
    bits
        Number of bits of the quantised price (b).
    ecn_bits
        Number of ECN bits that carry marks.
    hops
        Maximum number of queues on a path that report prices (h).

    With scheme = "rpm"
    -------------------
    levels
        Number of levels of the quantised price (n).
    memory
        Number of packets after which a receiver adopts the largest level marked among them, if any; a larger level is
        adopted immediately. With sequential packet identification, `levels` packets test every level once. Otherwise
        several times as many are needed, or the receiver may adopt the lower price of another queue.
    """

    feedback: Feedback
    identification: Identification
    mapping: MappingKind
    max_price: float
    max_rate: Rate
    min_price: float
    min_rate: Rate
    scale: float
    scheme: Literal["exact", "adpm", "rem", "ram", "tpm", "rpm"]
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

# Delay per packet: fixed, uniform, exponential or normal (truncated at zero).
Processing: TypeAlias = "Duration | dict[str, Any]"

# `20 packets`, `400 cells` or `25 %` (of the buffer)
QueueLength: TypeAlias = "str"


class RandomRegular(TypedDict, total=False):
    """Random regular graph of switches.

    Attributes
    ----------
    degree
        Links per switch to other switches, fewer than `switches`. For a ring use `torus`.
    delay
        One-way propagation delay of each link.
    duplication
        Probability that a packet that is not lost is duplicated.
    host_delay
        One-way propagation delay of host links. Default: that of the other links.
    host_queue
        Queue of each host. Default: unlimited.
    host_rate
        Bit rate of host links. Default: that of the other links.
    hosts
        Hosts per switch.
    jitter
        Random delay that each link adds for each packet.
    loss
        Random losses of each link.
    queue
        Queue of each switch port.
    rate
        Bit rate of each link, or a delivery trace.
    switches
        Number of switches.
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


# a rate such as `10 Mbps` (bps, bit/s, kbps, kbit/s, Mbps, Mbit/s, Gbps, Gbit/s, Tbps, Tbit/s)
Rate: TypeAlias = "str"


class Record(TypedDict, total=False):
    """Recordings in addition to the counters.

    Attributes
    ----------
    delay_percentiles
        Record percentiles of the delay per queue and per flow group.
    queue_flows
        Count the packets of each flow at each queue (table `queue_flows`).
    traces
        Traces: a list of kinds, each for all flows and links, or a table with flows or links for each kind.
    """

    delay_percentiles: bool
    queue_flows: bool
    traces: Traces


# How losses are detected and repaired.
Recovery: TypeAlias = Literal["newreno", "reno", "sack", "rack_tlp", "tahoe", "bpd_sack"]

# Unit in which RED measures the average queue length.
RedQueueUnit: TypeAlias = Literal["packets", "bytes"]

# How RED signals congestion.
RedSignals: TypeAlias = Literal["marks", "drops"]


class Reverse(TypedDict, total=False):
    """Settings of a reverse link. Keys that are absent have the values of the link.

    Attributes
    ----------
    delay
        One-way propagation delay. Default: that of the link.
    duplication
        Probability that a packet that is not lost is duplicated.
    jitter
        Random delay added for each packet.
    loss
        Losses that do not depend on the queue.
    queue
        Queue at the input of the reverse link. Default: unlimited.
    rate
        Bit rate or delivery trace. Default: that of the link.
    switching
        Switching mode. Default: that of the link.
    """

    delay: Duration
    duplication: Probability
    jitter: Jitter
    loss: Loss
    queue: Queue
    rate: LinkRate
    switching: Switching


# Routing of packets.
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
        Number of queues, selected by a hash of the flow; RFC 8290 has 1024. Default: one queue per flow.

    kind
        Selects the other keys of the table:

        * ``"fifo"``: Serves packets in the order of arrival, whatever their queue.
        * ``"strict_priority"``: Strict priority: serves the first backlogged queue. On overflow the queue with the
        most bytes loses packets.
        * ``"drr"``: Deficit round robin: a quantum of bytes per turn, in proportion to each queue's share. On
        overflow the queue with the most bytes loses packets.
        * ``"wfq"``: Weighted fair queueing: serves packets by their finish time under generalised processor sharing.
        On overflow the queue with the most bytes loses packets.
        * ``"start_time_fair"``: Start-time fair queueing: serves packets by virtual start time, weighted by shares.
        On overflow the queue with the most bytes loses packets.
        * ``"sfq"``: Stochastic fairness queueing: one packet of each queue in turn. On overflow the longest queue
        loses packets.
        * ``"flow_queue"``: Flow queueing of FQ-CoDel: a quantum of bytes per turn, new queues first. On overflow the
        queue with the most bytes loses packets.
        * ``"dualpi2"``: Two queues with coupled marking: one for L4S packets (`l4s`) and one for all others. Includes
        the policies of both.

    With kind = "drr"
    -----------------
    quantum
        Quantum per turn of the queue with the smallest share, in bytes.

    With kind = "flow_queue"
    ------------------------
    quantum
        Quantum per turn of the queue with the smallest share, in bytes.

    With kind = "dualpi2"
    ---------------------
    alpha
        Integral gain: weight of the deviation of the delay from the target, per second (alpha). Must not be 0.
    beta
        Proportional gain: weight of the change of the delay, per second (beta).
    classic_share
        Weighted round robin: minimum share of the link for the Classic queue while both queues are backlogged.
    coupling
        Coupling factor: L4S packets are marked with at least this multiple of the base probability (k).
    l4s_min_threshold
        Delay above which the L4S queue marks on its own (minTh).
    l4s_range
        Width of the ramp above `l4s_min_threshold`, at whose end every L4S packet is marked; 0 gives a step (range).
    period
        Time between updates of the base probability (Tupdate), at least 1 us.
    service
        Service discipline of the two queues.
    target
        Target delay of the Classic queue (target).
    time_shift
        Time-shifted FIFO: time added to the wait of L4S packets (tshift).
    """

    kind: Literal["fifo", "strict_priority", "drr", "wfq", "start_time_fair", "sfq", "flow_queue", "dualpi2"]
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


# a number of segments from 1 to 1000000000, or `unlimited`
Segments: TypeAlias = "float | Literal['unlimited']"


class Shaper(TypedDict, total=False):
    """Token bucket behind a queue. A packet that waits for tokens does not count as buffered.

    Attributes
    ----------
    burst
        Bucket size, 1 B to 1 GB. A larger packet leaves when the bucket is full and leaves a deficit.
    rate
        Token rate, headers included.
    """

    burst: Size
    rate: Rate


class Shift(TypedDict, total=False):
    """Each node sends to the node at a fixed offset in the list, with wrap-around.

    Attributes
    ----------
    nodes
        The nodes.
    offset
        Offset, 1 to the number of nodes minus 1. Default: half the number of nodes, rounded down.
    """

    nodes: str | list[str]
    offset: int


# a size such as `1500 B` (B, kB, KiB, MB, MiB, GB, GiB, TB, TiB)
Size: TypeAlias = "str"

# One value per flow: the same for all, a list, or a table with one of these keys. `uniform` draws between two
# bounds, `evenly` spreads the flows between them. `exponential` and `pareto` are given by their mean,
# `lognormal` by its median and the standard deviation of its logarithm, `bounded_pareto` by two bounds and its
# shape. `cdf` lists values with their cumulative shares, with linear interpolation. `workload` is a published
# distribution of sizes. `csv` reads a column of a CSV file, with a unit in each cell or in the column's name
# (`start_s`, `size_bytes`).
SizeDistribution: TypeAlias = "Size | list[Size] | dict[str, Any]"

# How slow start ends before a loss.
SlowStart: TypeAlias = Literal["standard", "hystart", "hystart++"]


class Source(TypedDict, total=False):
    """A source of datagrams.

    Attributes
    ----------
    header
        Headers of each datagram.

    kind
        Selects the other keys of the table:

        * ``"constant"``: Evenly spaced arrivals.
        * ``"poisson"``: Poisson arrivals: exponentially distributed gaps.
        * ``"on_off"``: Bursts of evenly spaced arrivals, separated by silences; both have exponentially distributed
        lengths.
        * ``"alternating"``: Input port of a switch: one datagram at a time, with an exponentially distributed idle
        time after each.
        * ``user:NAME``: `user:NAME`, where NAME is the registered name of the Python class.

    With kind = "constant"
    ----------------------
    packet_size
        Payload of each datagram: fixed or exponential.
    rate
        Rate: for datagrams on the wire, headers included; for applications, of the payload.

    With kind = "poisson"
    ---------------------
    packet_size
        Payload of each datagram: fixed or exponential.
    rate
        Mean rate: for datagrams on the wire, headers included; for applications, of the payload.

    With kind = "on_off"
    --------------------
    mean_off
        Mean duration of a silence.
    mean_on
        Mean duration of a burst.
    packet_size
        Payload of each datagram: fixed or exponential.
    rate
        Rate during a burst: for datagrams on the wire, headers included; for applications, of the payload.

    With kind = "alternating"
    -------------------------
    mean_idle
        Mean idle time.
    packet_size
        Payload of each datagram: fixed or exponential.
    rate
        Sending rate of a datagram on the wire, headers included.

    With kind = "user:NAME"
    -----------------------
    parameters
        Keyword arguments of the Python class.
    """

    header: Size
    kind: Literal["constant", "poisson", "on_off", "alternating"] | str
    packet_size: PacketBytes
    rate: Rate
    mean_off: Duration
    mean_on: Duration
    mean_idle: Duration
    parameters: Parameters


# Interpretation of the printed code of single packet discard.
SpdVariant: TypeAlias = Literal["corrected", "printed"]

# Quantity whose half becomes the slow-start threshold when a segment is lost.
SsthreshFrom: TypeAlias = Literal["flight_size", "window"]

# Granularity in which CUBIC's window grows.
Steps: TypeAlias = Literal["fractions", "whole_segments"]

# When a queue decides on a packet.
Switching: TypeAlias = Literal["store_and_forward", "cut_through"]


class Tcp(TypedDict, total=False):
    """TCP: a preset, and settings that replace its values. Windows are in segments. Default of each setting: the
    value of the preset.

    Attributes
    ----------
    abc_limit
        Maximum window increase per acknowledgement in slow start, in segments (L of RFC 3465), or `unlimited`.
        Requires `ack_counting = "bytes"`. With `slow_start = "hystart++"` the default is 8, or `unlimited` with
        `pacing` (L of RFC 9406).
    ack_counting
        Unit in which acknowledgements increase the window: acknowledgements or acknowledged bytes.
    ack_size
        Size of an acknowledgement on the wire, 1 B to 1 kB.
    controller
        Congestion controller. It replaces the controller of the preset with all its settings.
    delayed_ack
        Delayed acknowledgements. `false` acknowledges every segment immediately. `true` uses the preset's values, or
        every second segment within 200 ms if the preset has none.
    ecn
        Use explicit congestion notification (RFC 3168). Cannot be used with `framing`.
    fast_retransmit
        Number of duplicate acknowledgements that trigger fast retransmit; `false` turns it off. With `rack_tlp`:
        DupThresh of RFC 8985, the number of SACKed segments that detect a loss without a reordering window.
    handshake
        Open the connection with a SYN before data is sent (RFC 9293). The SYN has the size of `header` and counts as
        a packet without payload.
    header
        Headers of a data segment on the wire, 0 B to 1 kB.
    initial_ssthresh
        Initial slow-start threshold, or `unlimited`.
    initial_window
        Initial congestion window.
    limited_transmit
        Send a new segment for each of the first two duplicate acknowledgements (RFC 3042).
    mss
        Maximum segment size (payload), 1 B to 1 MB.
    pacing
        Pace new data at window / RTT instead of sending it when acknowledgements arrive.
    preset
        Preset, which supplies all settings that are not given.
    receiver_window
        Receive window in segments, or in bytes, which are rounded down to whole segments.
    recovery
        Loss detection and recovery.
    sack_blocks
        Maximum number of SACK blocks in an acknowledgement.
    slow_start
        Exit from slow start before a loss. All words but `standard` require `timestamps = true` and a controller
        without its own slow start (not Vegas, FAST or user code).
    ssthresh_from
        Quantity that is halved to give the slow-start threshold after a loss.
    timer
        Retransmission timer.
    timestamps
        Take a round-trip sample from every acknowledgement (RFC 7323) instead of from one segment at a time.
    window_validation
        Validation of a window that the application does not fill. With `linux`, the window grows only while it is
        used.
    """

    abc_limit: Segments
    ack_counting: AckCounting
    ack_size: Size
    controller: Controller
    delayed_ack: DelayedAck
    ecn: bool
    fast_retransmit: FastRetransmit
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
    ssthresh_from: SsthreshFrom
    timer: Timer
    timestamps: bool
    window_validation: WindowValidation


# `480 cells` or `40 %` (of the buffer)
Threshold: TypeAlias = "str"

# Function that maps the 16 identification bits of a probe, A + 256 B, to a threshold between 0 and 1.
Thresholds: TypeAlias = Literal["exclusive_or", "printed", "reversal"]


class Throughput(TypedDict, total=False):
    """A throughput trace.

    Attributes
    ----------
    bin
        Width of a bin.
    flows
        Flow groups or flows.
    """

    bin: Duration
    flows: list[str]


class Timer(TypedDict, total=False):
    """Retransmission timer. Default of each setting: the value of the preset.

    Attributes
    ----------
    form
        Form of the timer.
    granularity
        Clock granularity G of RFC 6298 (form `exact`).
    initial_rto
        Timeout before the first round-trip sample.
    max_backoff
        Maximum back-off factor, a power of two.
    max_rto
        Maximum timeout.
    min_rto
        Minimum timeout. With form `exact` the default granularity is at most this.
    newreno_variant
        Variant of NewReno: which partial acknowledgements restart the timer.
    tick
        Length of a tick (forms `coarse_ns` and `coarse_bsd`).
    """

    form: TimerForm
    granularity: Duration
    initial_rto: Duration
    max_backoff: int
    max_rto: Duration
    min_rto: Duration
    newreno_variant: NewRenoVariant
    tick: Duration


# Form of the retransmission timer.
TimerForm: TypeAlias = Literal["exact", "coarse_ns", "coarse_bsd"]


class Topology(TypedDict, total=False):
    """Generators of common networks. Each creates its own nodes and links.

    Attributes
    ----------
    chain
        Nodes `n0`, `n1`, ... in a row, with links `link1`, `link2`, ..., each with its own rate and delay.
    dragonfly
        Fully connected groups of switches, with one link between every two groups (Kim, Dally, Scott and Abts, ISCA
        2008): in group G `switchG_0`, `switchG_1`, ...; links `switch0_0-switch0_1`, `switch0_1-switch3_0`,
        `switch0_0-host0`.
    dumbbell
        Nodes `left` and `right` and the link `bottleneck` between them.
    dwdm
        Edge routers `edge1`, `edge2`, ... with links `input1`, `input2`, ... to an optical switch, and a trunk of
        wavelength channels to `far`. With wavelength conversion there are one `switch` and one `trunk`; otherwise
        `switch1`, `trunk1`, `switch2`, ..., one per wavelength, to which edge routers are assigned in turn.
    fat_tree
        Switches with `k` ports each in `k` pods (Al-Fares, Loukissas and Vahdat, SIGCOMM 2008): `core0`, `core1`,
        ...; in pod P `aggP_0`, `aggP_1`, ... and `edgeP_0`, `edgeP_1`, ...; hosts `host0`, `host1`, ... Links are
        named by their ends, from the top: `core0-agg1_0`, `agg1_0-edge1_0`, `edge1_0-host4`.
    graph
        Nodes and links from a list or a GraphML file. A link without a name is named by its ends.
    leaf_spine
        Switches `leaf0`, `leaf1`, ... with hosts `host0`, `host1`, ..., and a link from each leaf to each of the
        switches `spine0`, `spine1`, ...: `spine0-leaf1`, `leaf1-host4`.
    parking_lot
        Nodes `n0`, `n1`, ... in a row, with equal links `hop1`, `hop2`, ...
    random_regular
        Switches `switch0`, `switch1`, ... in a random regular graph (Singla, Hong, Popa and Godfrey, NSDI 2012), with
        hosts: `switch0-switch7`, `switch0-host0`.
    torus
        Switches in a grid with wrap-around in each dimension, such as `switch0_2_1`, with links to their neighbours,
        such as `switch0_2_1-switch0_2_2`, and to hosts: `switch0_2_1-host9`.
    waxman
        Routers `router0`, `router1`, ... at random places of a square, with random links that favour short distances
        (Waxman, IEEE Journal on Selected Areas in Communications 6(9), 1988): `router0-router7`.
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
    """Torus: switches in a grid with wrap-around.

    Attributes
    ----------
    delay
        One-way propagation delay of each link.
    dimensions
        Switches in each dimension, such as `[4, 4, 4]`. Two switches of a dimension share one link.
    duplication
        Probability that a packet that is not lost is duplicated.
    host_delay
        One-way propagation delay of host links. Default: that of the other links.
    host_queue
        Queue of each host. Default: unlimited.
    host_rate
        Bit rate of host links. Default: that of the other links.
    hosts
        Hosts per switch.
    jitter
        Random delay that each link adds for each packet.
    loss
        Random losses of each link.
    queue
        Queue of each switch port.
    rate
        Bit rate of each link, or a delivery trace.
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
    """Traces with the flows or links to record: groups (`web`), flows (`web[0]`) or links (`NAME`, `NAME.reverse`).

    Attributes
    ----------
    acks
        Arrivals of acknowledgements at the sender.
    controller
        Further state of the controller, at each change: thresholds and round trips of FAST and Vegas, the curve of
        CUBIC.
    cwnd
        Congestion window at each change, in packets.
    departures
        Departures from a queue with packet sizes, from which Mahimahi traces are written.
    drops
        Packets discarded at a queue.
    in_flight
        Packets in flight.
    packets
        Packets sent and received by senders, with all header fields, from which captures are written.
    queue
        Packets in a queue, at each change.
    rtt
        Round-trip samples.
    segments
        Transmissions of data segments.
    ssthresh
        Slow-start threshold at each change, in packets.
    state
        Changes of state: slow start, congestion avoidance, recovery and timeout.
    throughput
        Delivered payload per bin.
    """

    acks: list[str]
    controller: list[str]
    cwnd: list[str]
    departures: list[str]
    drops: list[str]
    in_flight: list[str]
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

# Traces, for all flows and links or for some.
Traces: TypeAlias = "list[TraceWord] | TraceTable"


class Traffic(TypedDict, total=False):
    """Traffic pattern: exactly one of these keys. Nodes are ordered as listed. Nodes of a prefix such as `host*` are
    ordered by number.

    Attributes
    ----------
    all_to_all
        Each node sends to every other node: first all to the next one, then all to the one after that, and so on.
    incast
        Several nodes send to one node.
    permutation
        Random permutation without fixed points: flow i starts at node i. After each round a new permutation is drawn.
    random_pairs
        Each flow connects two random nodes.
    shift
        Each node sends to the node at a fixed offset in the list.
    table
        Table of flows, from a file or from lists.
    """

    all_to_all: str | list[str]
    incast: Incast
    permutation: str | list[str]
    random_pairs: str | list[str]
    shift: Shift
    table: FlowTable


# Timing and equation of FAST's window updates.
UpdateForm: TypeAlias = Literal["thesis", "module"]


class Waxman(TypedDict, total=False):
    """Random graph of routers in a square, whose links depend on the distance. Separate components are connected by
    the shortest links.

    Attributes
    ----------
    alpha
        Length of links relative to the diagonal, above 0 to 1: larger values give more long links.
    beta
        Density of links, above 0 to 1: the probability of a link between two routers at distance 0.
    delay
        One-way propagation delay along the diagonal of the square. The delay of a link is proportional to its length.
    duplication
        Probability that a packet that is not lost is duplicated.
    jitter
        Random delay that each link adds for each packet.
    loss
        Random losses of each link.
    queue
        Queue of each router port.
    rate
        Bit rate of each link, or a delivery trace.
    routers
        Number of routers.
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


# a whole number of segments from 1 to 1073741824, or a size such as `1500 B` (B, kB, KiB, MB, MiB, GB, GiB, TB,
# TiB)
Window: TypeAlias = "int | Size"

# How a window that the application does not fill is treated.
WindowValidation: TypeAlias = Literal["none", "rfc5681", "rfc7661", "linux"]


class Class(Policy, total=False):
    """A traffic class with its queue.

    Attributes
    ----------
    buffer
        Buffer of the class, as a part of the queue's `buffer`.
    default
        Use this queue for flows without a class, or with a class that no other queue handles.
    name
        Name of the class, as in the `class` of flow groups.
    share
        Weight of the queue relative to the others, 0.001 to 1000000. Its meaning depends on the scheduler.
    """

    buffer: Buffer
    default: bool
    name: str
    share: float


class Queue(Policy, total=False):
    """A queue.

    Attributes
    ----------
    bdp_packet_size
        Packet size for converting a `buffer` in percent to packets.
    bdp_rtt
        Round-trip time of the bandwidth-delay product for a `buffer` in percent.
    buffer
        Size of the buffer in packets, cells or bytes, as a percentage of rate times `bdp_rtt`, or `unlimited`.
    classes
        Queues of the scheduler, one per traffic class. Priority schedulers serve them in this order.
    counts_in_service
        Count the packet or cell in transmission as buffered. By default true for a buffer in cells, otherwise false.
    scheduler
        Scheduler of several queues that share the buffer: one queue per flow, each with the policy, or one per entry
        of `classes`.
    shaper
        Token bucket behind the queue, which limits the long-term rate of the link.
    """

    bdp_packet_size: Size
    bdp_rtt: Duration
    buffer: Buffer
    classes: list[Class]
    counts_in_service: bool
    scheduler: Scheduler
    shaper: Shaper
