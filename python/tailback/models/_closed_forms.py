"""The closed forms of crates/models, each as a function. Made by tools/models.py; a test compares."""

# ruff: noqa: E501 (what rules say of themselves are single strings)

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from tailback.models._broadcasting import answers, number
from tailback.models._words import Rule, Word

if TYPE_CHECKING:
    from tailback.models._broadcasting import Numbers, Result

__all__ = [
    "DETECTION_FORMS",
    "LOSS_MODELS",
    "OPEN_LOOPS",
    "PROBE_ORDERS",
    "READINGS",
    "SIZING_RULES",
    "TPM_MARKINGS",
    "UNSEEN_BITS",
    "AdpmCoarseRampError",
    "AdpmError",
    "AdpmRampError",
    "AdpmStepError",
    "Arrived",
    "BinaryError",
    "BufferSize",
    "ClosedLoop",
    "DelayEquilibrium",
    "DetectionForm",
    "DetectionPackets",
    "DrainedFlows",
    "FiniteQueue",
    "LossModel",
    "MaxnetBase",
    "MaxnetPrice",
    "OpenLoop",
    "PriceLevels",
    "ProbeOrder",
    "QuantiserError",
    "RateError",
    "Reading",
    "RemError",
    "SlowStart",
    "TpmMarking",
    "TpmProbeTypes",
    "TrunkLoss",
    "UnseenBit",
    "adpm_coarse_ramp_error",
    "adpm_detection_packets",
    "adpm_error",
    "adpm_ramp_error",
    "adpm_step_error",
    "adpm_undetected",
    "appenzeller_buffer",
    "appenzeller_flows",
    "appenzeller_utilisation",
    "bandwidth_delay_buffer",
    "beheshti_buffer",
    "closed_loop",
    "cubic_rate",
    "cui_link_buffer",
    "cui_link_flows",
    "cui_link_utilisation",
    "cui_trunk_buffer",
    "cui_trunk_flows",
    "cui_trunk_utilisation",
    "delay_equilibrium",
    "drained_flows",
    "draining_time",
    "enachescu_buffer",
    "enachescu_flows",
    "enachescu_utilisation",
    "enachescu_window",
    "erlang_b",
    "exact_trunk_loss",
    "fast_arrivals",
    "full_utilisation_buffer",
    "gorinsky_buffer",
    "late_arrival_coefficient",
    "mathis_rate",
    "maxnet_base",
    "maxnet_price",
    "md1_mean_wait",
    "md1k",
    "min_queue",
    "mm1k",
    "mmck",
    "padhye_goodput",
    "padhye_rate",
    "price_levels",
    "quantiser_error",
    "ram_error",
    "rcp_price",
    "rcp_rate_error",
    "rem_best_phi",
    "rem_error",
    "rpm_error",
    "single_flow_mean_queue",
    "single_flow_utilisation",
    "slow_start",
    "synchronised_buffer",
    "synchronised_utilisation",
    "tpm_error",
    "tpm_probe_types",
    "trunk_loss",
    "unpaced_buffer",
    "unpaced_utilisation",
    "vegas_arrivals",
    "window_limited_rate",
]

ProbeOrder: TypeAlias = Literal["random", "pure_brc", "random_brc"]
PROBE_ORDERS: dict[ProbeOrder, Word] = {
    "random": Word("random", "each threshold is drawn anew", "cui-thesis, section 5.2.2"),
    "pure_brc": Word("pure BRC", "bit-reversed counting from 1: 1/2, 1/4, 3/4, 1/8 and on", "cui-thesis, sections 5.2.2 and 5.4"),
    "random_brc": Word(
        "random BRC", "bit-reversed counting from a counter that is drawn, all of them equally likely", "cui-thesis, section 5.4"
    ),
}

DetectionForm: TypeAlias = Literal["random", "brc", "brc_direct", "brc_printed"]
DETECTION_FORMS: dict[DetectionForm, Word] = {
    "random": Word("random", "thresholds drawn anew: (1 - a)^k", "cui-thesis, equation (5.4)"),
    "brc": Word(
        "BRC", "bit-reversed counting, exactly: the mean over all starts and places of the step", "docs/evidence/theory.md"
    ),
    "brc_direct": Word(
        "BRC, direct",
        "max(0, 1 - a k), as if no two thresholds were closer than the step: a lower bound",
        "docs/evidence/theory.md",
    ),
    "brc_printed": Word(
        "BRC, printed",
        "1 - a 2^m multiplied over m = 1 to j = floor(log2 k), as if scales were independent, and 0 from a 2^j = 1",
        "cui-thesis, equation (5.5)",
    ),
}

TpmMarking: TypeAlias = Literal["one_bit", "two_bits"]
TPM_MARKINGS: dict[TpmMarking, Word] = {
    "one_bit": Word("one bit", "a packet is marked or not: a bit of the price of one router", "cui-thesis, section 5.4"),
    "two_bits": Word(
        "two bits",
        "the values of both bits of ECN: two packets tell a bit of the prices of six routers",
        "cui-thesis, equation (2.9)",
    ),
}

UnseenBit: TypeAlias = Literal["zero", "half"]
UNSEEN_BITS: dict[UnseenBit, Word] = {
    "zero": Word("zero", "as 0: estimates begin at the least price and are too low", ""),
    "half": Word("half", "as 1/2, its mean over all prices: estimates begin in the middle", ""),
}

LossModel: TypeAlias = Literal["g1dm", "ebd", "ebi", "eb", "mmkkb", "ebl"]
LOSS_MODELS: dict[LossModel, Word] = {
    "g1dm": Word(
        "G1DM",
        "the general one-dimensional model: busy, inserting and discarding input links take no new packet",
        "cui-thesis, section 3.6.2",
    ),
    "ebd": Word(
        "EBD", "Engset with a buffer and discarding: input links that insert are counted as idle", "cui-thesis, section 3.6.2"
    ),
    "ebi": Word(
        "EBI", "Engset with a buffer and inserting: input links that discard are counted as idle", "cui-thesis, section 3.6.2"
    ),
    "eb": Word("EB", "Engset with a buffer: links that insert or discard are counted as idle", "cui-thesis, section 3.6.2"),
    "mmkkb": Word(
        "M/M/K/(K+B)", "M/M/K/(K+B): Poisson arrivals, whatever the number of input links", "cui-thesis, equation (3.15)"
    ),
    "ebl": Word(
        "EBL",
        "ours, Engset with a buffer and lengths: packets leave in the time that they took to arrive, and links that discard do so while the trunk is full; three of its constants are fitted to simulations",
        "docs/evidence/trunk_accuracy.md",
    ),
}

Reading: TypeAlias = Literal["own_length", "fresh", "coupled"]
READINGS: dict[Reading, Word] = {
    "own_length": Word("own_length", "as long as it took to come", ""),
    "fresh": Word("fresh", "an exponential time drawn anew", ""),
    "coupled": Word("coupled", "the same, and if it is still coming then, it has come, too", ""),
}

OpenLoop: TypeAlias = Literal["g1dm", "ebd", "ebi", "eb", "mmkkb", "ebl", "md1k"]
OPEN_LOOPS: dict[OpenLoop, Word] = {
    "g1dm": Word(
        "G1DM",
        "the general one-dimensional model: busy, inserting and discarding input links take no new packet",
        "cui-thesis, section 3.6.2",
    ),
    "ebd": Word(
        "EBD", "Engset with a buffer and discarding: input links that insert are counted as idle", "cui-thesis, section 3.6.2"
    ),
    "ebi": Word(
        "EBI", "Engset with a buffer and inserting: input links that discard are counted as idle", "cui-thesis, section 3.6.2"
    ),
    "eb": Word("EB", "Engset with a buffer: links that insert or discard are counted as idle", "cui-thesis, section 3.6.2"),
    "mmkkb": Word(
        "M/M/K/(K+B)", "M/M/K/(K+B): Poisson arrivals, whatever the number of input links", "cui-thesis, equation (3.15)"
    ),
    "ebl": Word(
        "EBL",
        "ours, Engset with a buffer and lengths: packets leave in the time that they took to arrive, and links that discard do so while the trunk is full; three of its constants are fitted to simulations",
        "docs/evidence/trunk_accuracy.md",
    ),
    "md1k": Word("M/D/1/K", "packets of one size and Poisson arrivals at one transmitter", "that of `md1k`"),
}

SIZING_RULES: dict[str, Rule] = {
    "cui_trunk": Rule(
        "cui_trunk",
        "allows as much loss as TCP can bear at the target: the buffer holds bursts only, and channels share it",
        "max(0, ceil(log_F1 F2)), F1 = (M - UK) / (UM - UK), F2 = (UK mu RTT_H / N)^2 E / 1.5, E = C(M,K) a^K / sum_{i<=K} C(M,i) a^i, a = UK / (M - UK)",
        "cui-thesis, equations (3.23) and (3.24), appendix A",
        (
            "greedy paced flows of TCP NewReno: one loss, one halving, no timeout",
            "enough flows for packets to arrive as a Poisson process",
            "no flow is held back by its window or its access link",
            "loss so small that load and utilisation are the same",
            "the underlying one-dimensional loss model, G1DM",
        ),
    ),
    "cui_link": Rule(
        "cui_link",
        "allows as much loss as TCP can bear at the target: the buffer holds bursts only",
        "max(0, ceil(log_U (1.5 N^2 (1 + U) / (U^3 mu^2 RTT_H^2))))",
        "cui-thesis, equation (3.27)",
        (
            "one transmitter, and so many inputs that they never limit it",
            "greedy paced flows of TCP NewReno: one loss, one halving, no timeout",
            "enough flows for packets to arrive as a Poisson process, which no longer holds on a nearly full link",
            "no flow is held back by its window or its access link",
            "loss so small that load and utilisation are the same",
        ),
    ),
    "unpaced": Rule(
        "unpaced",
        "holds the bursts of senders that do not pace; they grow with a flow's window and not with the number of flows",
        "b ln(1.1 (U W)^2) / theta with exp(theta) = 1 + theta / U, and at least 0; bursts b = 0.22 W, windows W = C RTT_mean / N",
        "Tailback, docs/howto/optical_buffers.md; its two constants are fitted to simulations",
        (
            "NewReno that does not pace, over access links of up to a fifth of a transmitter's rate: over faster ones a flow may take all of it",
            "hundreds of flows and more, with round trips that differ, so that bursts meet as a Poisson process does",
            "one transmitter; with several that share the buffer, or access links of a tenth of its rate, it asks for too much",
            "fitted with windows of 15 and 58 packets and tried from 15 to 90, for utilisations of 70 to 90 %: see docs/howto/optical_buffers.md for how far it is off",
        ),
    ),
    "enachescu": Rule(
        "enachescu",
        "keeps losses so rare that flows stay at their largest window; bursts are short, so its logarithm is enough",
        "log_{1/rho} (W^2 / (2 (1 - theta))), theta = U / rho; W = rho C RTT_mean / N where no window is given",
        "Enachescu, Ganjali, Goel, McKeown and Roughgarden, Routers with Very Small Buffers, INFOCOM 2006; cui-thesis, equations (2.4) and (3.25)",
        (
            "over-provision: with every flow at its largest window W the load is rho, below 1",
            "packets arrive smoothly: paced, or from access links far slower than the bottleneck",
            "utilisation below rho: all flows at their largest window offer no more",
        ),
    ),
    "appenzeller": Rule(
        "appenzeller",
        "holds the swing of the sum of all windows, which evens out as their number grows",
        "x C RTT_mean / sqrt(N), U = erf(3 sqrt(3) / (2 sqrt(2)) x / (1 + x / sqrt(N)))",
        "Appenzeller, Keslassy and McKeown, Sizing Router Buffers, SIGCOMM 2004; cui-thesis, equations (2.3) and (3.26)",
        (
            "many long-lived flows that do not halve together: the sum of their windows is normal",
            "windows of many packets: a fluid, without the bursts of single packets",
            "buffer of about a bandwidth-delay product over sqrt(N); how many links feed it does not matter",
        ),
    ),
    "synchronised": Rule(
        "synchronised",
        "holds what all flows together give up when all halve at once; the link may idle a little",
        "b C RTT_mean, where U = (3/4) (1 + b)^2 / (1 + b + b^2), and b = 0 for U <= 3/4",
        "Villamizar and Song, CCR 24(5), 1994; the sawtooth of Appenzeller, Keslassy and McKeown, SIGCOMM 2004, section 2",
        (
            "one flow, or flows of one round trip that all lose and halve together",
            "a bandwidth-delay product of many packets: a fluid",
            "no timeout, and no slow start except the first",
        ),
    ),
    "bandwidth_delay": Rule(
        "bandwidth_delay",
        "holds what all flows together give up when all halve at once, so that the link never idles",
        "C RTT_mean",
        "Villamizar and Song, High Performance TCP in ANSNET, CCR 24(5), 1994",
        (
            "flows halve together, or there is only one: the trough of the sawtooth still fills the link",
            "the link has to be full",
        ),
    ),
    "full_utilisation": Rule(
        "full_utilisation",
        "the same even if the flow with the longest round trip has the link to itself",
        "more than C RTT_max",
        "cui-thesis, equations (3.28) and (3.29)",
        (
            "drop-tail, and at most one loss per flow when the buffer overflows",
            "no timeout, and no other bottleneck",
            "the worst case: the flow with the longest round trip may hold the whole link",
        ),
    ),
    "gorinsky": Rule(
        "gorinsky",
        "holds what may arrive on all inputs at once",
        "2 M",
        "Gorinsky, Kantawala and Turner, Link Buffer Sizing: A New Look at the Old Problem, ISCC 2005",
        (
            "bursts come from packets that arrive on several inputs at once",
            "the input links; for a link whose inputs are not known, its flows",
            "no promise of a utilisation",
        ),
    ),
    "beheshti": Rule(
        "beheshti",
        "holds what bursts remain in smooth traffic, from experience",
        "10 to 20",
        "Beheshti, Ganjali, Rajaduray, Blumenthal and McKeown, Buffer Sizing in All-optical Packet Switches, OFC 2006",
        (
            "packets arrive smoothly: paced, or from access links far slower than the bottleneck",
            "some utilisation may be lost: none is promised",
        ),
    ),
}

"""All rules, from those that take most of the network into account to those that take least."""


@dataclass(frozen=True)
class DelayEquilibrium:
    """Where windows, queue and rates rest.

    Attributes
    ----------
    queue_packets : float or array
        Packets of all flows that wait.
    queueing_delay_s : float or array
        Seconds that a packet waits.
    window_packets : float or array
        Congestion window of each flow in packets.
    rate_pps : float or array
        Rate of each flow in packets per second.
    """

    queue_packets: Result
    queueing_delay_s: Result
    window_packets: Result
    rate_pps: Result


@dataclass(frozen=True)
class Arrived:
    """An equilibrium of flows that arrived one after the other, each once those before it were in theirs.

    Attributes
    ----------
    step : float or array
        By how much the last arrival lengthened the queue: packets over `alpha`, or of Vegas seconds over the base round
        trip.
    queue : float or array
        The whole queue in the same unit.
    share : float or array
        Rate of the flow that was asked for, over the capacity.
    relative_share : float or array
        The same over an equal share.
    fairness : float or array
        Jain's index of all rates: (sum x)^2 / (n sum x^2).
    """

    step: Result
    queue: Result
    share: Result
    relative_share: Result
    fairness: Result


@dataclass(frozen=True)
class DrainedFlows:
    """Against how many flows draining works.

    Attributes
    ----------
    flows : int or array
        The most whose queue is empty within the round trip, by the exact expression.
    approximation : float or array
        The document's approximation, (C D / alpha)^(2/3).
    """

    flows: Result
    approximation: Result


@dataclass(frozen=True)
class AdpmError:
    """By how much an estimate of ADPM is too low, over all prices.

    Attributes
    ----------
    mean : float or array
        Mean error.
    mean_square : float or array
        Mean of its square.
    largest : float or array
        The largest there can be: 1 with thresholds that are drawn.
    percentile : float or array
        The error that the share `quantile` does not exceed.
    document : float or array or None
        What the document says of it: 1/k, the mean of random probes (5.2); of pure BRC the bound (5.3); of random BRC the
        bound 2/K.
    """

    mean: Result
    mean_square: Result
    largest: Result
    percentile: Result
    document: Result | None = None


@dataclass(frozen=True)
class AdpmStepError:
    """By how much an estimate of ADPM is off after a price has changed.

    Attributes
    ----------
    mean : float or array
        Mean error.
    mean_square : float or array
        Mean of its square.
    approximation : float or array
        The document's approximation, min(step, 1/k).
    """

    mean: Result
    mean_square: Result
    approximation: Result


@dataclass(frozen=True)
class DetectionPackets:
    """Packets until one contradicts the interval, that one included.

    Attributes
    ----------
    random : float or array
        With random probes, 1/a.
    brc : float or array
        With bit-reversed counting, exactly.
    """

    random: Result
    brc: Result


@dataclass(frozen=True)
class AdpmRampError:
    """By how much the estimate of a rising price is too low.

    Attributes
    ----------
    mean : float or array
        Mean error once a packet has been used: sqrt(pi drift / 2) - 5/6 drift and less.
    mean_square : float or array
        Mean of its square.
    mean_before : float or array
        Mean error before a packet is used, which finds the price higher by `drift`.
    mean_square_before : float or array
        Mean of its square: 2 drift, the document's.
    bound : float or array
        The document's bound of the mean, sqrt(2 drift).
    """

    mean: Result
    mean_square: Result
    mean_before: Result
    mean_square_before: Result
    bound: Result


@dataclass(frozen=True)
class AdpmCoarseRampError:
    """The same with a finite number of thresholds.

    Attributes
    ----------
    mean : float or array
        Mean error.
    mean_square : float or array
        Mean of its square.
    """

    mean: Result
    mean_square: Result


@dataclass(frozen=True)
class RemError:
    """How well the share of marked packets tells a sum of prices.

    Attributes
    ----------
    marked : float or array
        q, the probability of a mark.
    share_mean_square : float or array
        Mean square error of the share of marked packets: q (1 - q) / k.
    price_mean_square : float or array
        Mean square error of the price that follows, to first order.
    all_marked : float or array
        Probability that all packets are marked, which says no more than that the price is large.
    """

    marked: Result
    share_mean_square: Result
    price_mean_square: Result
    all_marked: Result


@dataclass(frozen=True)
class QuantiserError:
    """Error of a quantiser.

    Attributes
    ----------
    mean : float or array
        Mean error: 1/(4k).
    mean_square : float or array
        Mean of its square: 1/(12 k^2).
    largest : float or array
        The largest: 1/(2k).
    """

    mean: Result
    mean_square: Result
    largest: Result


@dataclass(frozen=True)
class TpmProbeTypes:
    """What a receiver of TPM waits for.

    Attributes
    ----------
    types : int or array
        T, kinds of packets.
    random_packets : float or array
        Packets until each kind has come, if all are drawn equally likely, on average; in a row it takes `types`.
    """

    types: Result
    random_packets: Result


@dataclass(frozen=True)
class BinaryError:
    """Mean square error of a scheme with a fixed quantiser.

    Attributes
    ----------
    mean_square : float or array
        After so many packets.
    floor : float or array
        What the quantiser leaves after any number of them.
    """

    mean_square: Result
    floor: Result


@dataclass(frozen=True)
class PriceLevels:
    """How many prices tell all rates apart.

    Attributes
    ----------
    levels : int or array
        Levels.
    bits : int or array
        Binary digits that number them.
    thresholds : int or array
        Thresholds of so many digits.
    """

    levels: Result
    bits: Result
    thresholds: Result


@dataclass(frozen=True)
class RateError:
    """How far off a rate is that is read from a price.

    Attributes
    ----------
    over : float or array
        By which part the rate is too high if the price is too low.
    under : float or array
        By which part the rate is too low if the price is too high.
    """

    over: Result
    under: Result


@dataclass(frozen=True)
class MaxnetPrice:
    """A cost as it is carried, and as it is read.

    Attributes
    ----------
    code : int or array
        What is carried.
    decoded : float or array
        The cost that is read from it: not below what it was.
    error : float or array
        By how much that is more.
    relative_error : float or array or None
        The same over the cost: up to (q - 1) (1 + q/p). None of a cost of 0 or less.
    """

    code: Result
    decoded: Result
    error: Result
    relative_error: Result | None = None


@dataclass(frozen=True)
class MaxnetBase:
    """A base for costs.

    Attributes
    ----------
    base : float or array
        q, base and offset.
    granularity : float or array
        q - 1, the relative error of large costs.
    """

    base: Result
    granularity: Result


@dataclass(frozen=True)
class FiniteQueue:
    """A port with limited room in equilibrium.

    Attributes
    ----------
    loss : float or array
        Fraction of arrivals refused, 0 to 1.
    mean_number : float or array
        Mean number of units in the port, those in service included.
    mean_wait : float or array
        Mean time that an accepted unit waits before its service begins, in mean service times.
    """

    loss: Result
    mean_number: Result
    mean_wait: Result


@dataclass(frozen=True)
class BufferSize:
    """What a rule asks for.

    Attributes
    ----------
    rule : Rule
        Its equation, source and assumptions.
    buffer : int or array
        Packets: the smallest whole number that is not below what the equation gives, 0 where it asks for nothing.
    unrounded : float or array
        What the equation gives; below 0 where no buffer is needed.
    most : int or array or None
        The other end, for a rule that gives a range.
    switch : float or array or None
        Packets for all M / K trunks of a switch, of the trunk rule.
    """

    rule: Rule
    buffer: Result
    unrounded: Result
    most: Result | None = None
    switch: Result | None = None


@dataclass(frozen=True)
class SlowStart:
    """How a transfer without loss went.

    Attributes
    ----------
    round_trips : int or array
        Windows of 1, 2, 4, ... times the initial one that the transfer takes, the last perhaps unfinished.
    completion_s : float or array
        Seconds from the first bit sent to the last acknowledgement received.
    """

    round_trips: Result
    completion_s: Result


@dataclass(frozen=True)
class TrunkLoss:
    """What a trunk loses at a given load.

    Attributes
    ----------
    loss : float or array
        Fraction of packets lost, 0 to 1; 0 also where it is below the smallest float.
    log10_loss : float or array
        Its logarithm to base 10, which has no such limit; minus infinity where nothing is lost.
    """

    loss: Result
    log10_loss: Result


@dataclass(frozen=True)
class ClosedLoop:
    """Where the flows and the trunk agree.

    Attributes
    ----------
    load : float or array
        Intended load: what the flows would send over what the transmitters carry. At most `inputs / transmitters`.
    loss : float or array
        Fraction of packets lost; 0 where it is below the smallest float.
    ln_loss : float or array
        Its natural logarithm; minus infinity where nothing is lost.
    utilisation : float or array
        Share of the transmitters' capacity that is used, ``load * (1 - loss)``.
    throughput_bps : float or array
        The same in bit/s on the wire.
    inputs_full : bool or array
        The flows would send more than the input links carry: these are the bottleneck, not the trunk, and are never idle.
    keeps_bound : bool or array
        False where the utilisation came out above 1, which is impossible: the loss model is beyond its range, as G1DM and
        EBI are with many waiting places at high loads. The numbers are then what the equations say, not a prediction.
    """

    load: Result
    loss: Result
    ln_loss: Result
    utilisation: Result
    throughput_bps: Result
    inputs_full: Result
    keeps_bound: Result


def delay_equilibrium(*, alpha: Numbers, flows: Numbers, capacity_pps: Numbers, base_rtt_s: Numbers) -> DelayEquilibrium:
    """FAST, or Vegas with one threshold, in equilibrium: each flow keeps `alpha` packets in the queue, and all have the same
    rate.

    Parameters
    ----------
    alpha : float or array
        Of FAST and of Vegas in segments: packets that each flow keeps in the queue; > 0.
    flows : int or array
        N, long-lived flows; >= 1.
    capacity_pps : float or array
        Packets a second; > 0.
    base_rtt_s : float or array
        Round trip of the empty path; seconds, > 0.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits.

    Notes
    -----
    ``w = alpha D / (D - d), queue = N alpha``

    Assumes:

    - one bottleneck
    - every flow knows the round trip of the empty path
    - room for the whole queue

    References
    ----------
    Y. Cui, Three problems in TCP performance analysis and congestion management, equations (4.3), (4.4) and (4.6).

    Examples
    --------
    >>> import tailback as tb
    >>> tb.models.delay_equilibrium(alpha=200, flows=1, capacity_pps=12500, base_rtt_s=0.1).window_packets
    1450.0
    """
    return DelayEquilibrium(
        *answers("delay_equilibrium", alpha=alpha, flows=flows, capacity_pps=capacity_pps, base_rtt_s=base_rtt_s)
    )


def fast_arrivals(*, existing: Numbers = 0, arrived: Numbers, flow: Numbers = 1) -> Arrived:
    """FAST's persistent congestion: what flows get that arrive one after the other.

    A new flow never sees the path empty, so that it takes the queue that it finds for propagation and adds more than
    `alpha`. The steps do not depend on `alpha`, on the capacity or on the round trip.

    Parameters
    ----------
    existing : int or array, optional
        Flows that were there before and know the round trip of the empty path; >= 0.
    arrived : int or array
        New flows, each of which arrived when those before it were in equilibrium; >= 1.
    flow : int or array, optional
        Whose rate: 1 is that of the first to arrive, 0 that of each flow which was there before; >= 0.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits; also for more than 10,000 arrivals, and a flow that is none of
        them.

    Notes
    -----
    ``N / (N + sum_k b_k) + sum_j 1 / sum_(k = j..i) b_k = 1, for each arrival i in turn; queues b in units of alpha``

    Assumes:

    - one bottleneck with room for the queue
    - each arrival after equilibrium
    - base round trips never forgotten

    References
    ----------
    Y. Cui, Three problems in TCP performance analysis and congestion management, equations (4.19), (4.20), (4.24), (4.30)
    and (C.4).

    Examples
    --------
    >>> import tailback as tb
    >>> round(tb.models.fast_arrivals(arrived=2).share, 5)
    0.38197
    """
    return Arrived(*answers("fast_arrivals", existing=existing, arrived=arrived, flow=flow))


def vegas_arrivals(*, alpha_pps: Numbers, capacity_pps: Numbers, arrived: Numbers, flow: Numbers = 1) -> Arrived:
    """The same of Vegas, whose thresholds are rates: steps grow, by a factor near `alpha / capacity` where that is large.

    Parameters
    ----------
    alpha_pps : float or array
        Threshold: the rate that the window would have on the empty path, less the actual rate; packets a second; > 0.
    capacity_pps : float or array
        Packets a second; > 0.
    arrived : int or array
        New flows, each of which arrived when those before it were in equilibrium; >= 1.
    flow : int or array, optional
        Whose rate: 1 is that of the first to arrive; >= 1.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits; also for more than 10,000 arrivals, a flow that is none of them,
        and delays that no number holds.

    Notes
    -----
    ``sum_j (1 + p_(j-1)) / (p_i - p_(j-1)) = c / alpha, for each arrival i in turn; delays p in units of the base round
    trip``

    Assumes:

    - one bottleneck with room for the queue
    - each arrival after equilibrium
    - one threshold

    References
    ----------
    Y. Cui, Three problems in TCP performance analysis and congestion management, equations (4.10), (4.12) and (4.24).
    """
    return Arrived(*answers("vegas_arrivals", alpha_pps=alpha_pps, capacity_pps=capacity_pps, arrived=arrived, flow=flow))


def late_arrival_coefficient(arrived: Numbers) -> Result:
    """Coefficient of the square root of N in what the `arrived`-th new flow adds to the queue of N flows that know the empty
    path, in units of `alpha`: the limit of `fast_arrivals` for many flows that were there before.

    Parameters
    ----------
    arrived : int or array
        i, which of the new flows: 1 is the first; >= 1.

    Returns
    -------
    float or array
        a_i, without a unit.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits; also for more than 10,000 arrivals.

    Notes
    -----
    ``sum_j 1 / sum_(k = j..i) a_k = sum_(k = 1..i) a_k, a_1 = 1``

    Assumes:

    - many flows that know the empty path
    - fewer arrivals than the square root of their number

    References
    ----------
    Y. Cui, Three problems in TCP performance analysis and congestion management, equations (4.27) to (4.29) and (C.6) to
    (C.8), whose right side is printed with a wrong index.

    Examples
    --------
    >>> import tailback as tb
    >>> round(tb.models.late_arrival_coefficient(arrived=2), 6)
    0.801938
    """
    return number("late_arrival_coefficient", arrived=arrived)


def draining_time(*, alpha: Numbers, capacity_pps: Numbers, slowdown: Numbers, flows: Numbers) -> Result:
    """Time in which a new flow of FAST that slows down by `slowdown` empties the queue of the flows that were there before and
    its own.

    Parameters
    ----------
    alpha : float or array
        Packets that each flow keeps in the queue; > 0.
    capacity_pps : float or array
        Packets a second; > 0.
    slowdown : float or array
        r, by which the new flow slows down; > 0.
    flows : int or array
        N, flows that were there before; >= 1.

    Returns
    -------
    float or array
        seconds.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits; also for a slowdown of 1 or less.

    Notes
    -----
    ``alpha r / (C (r - 1)) b (N + b), b = (1 + sqrt(1 + 4 N)) / 2``

    Assumes:

    - the other flows do not react
    - one round trip for all

    References
    ----------
    Y. Cui, Three problems in TCP performance analysis and congestion management, section 4.4.3.

    Examples
    --------
    >>> import tailback as tb
    >>> round(tb.models.draining_time(alpha=50, capacity_pps=12019, slowdown=50, flows=1), 4)
    0.018
    """
    return number("draining_time", alpha=alpha, capacity_pps=capacity_pps, slowdown=slowdown, flows=flows)


def drained_flows(*, alpha: Numbers, capacity_pps: Numbers, slowdown: Numbers, base_rtt_s: Numbers) -> DrainedFlows:
    """Of how many flows a new one can drain the queue before the first of them reacts, a round trip later.

    Parameters
    ----------
    alpha : float or array
        Packets that each flow keeps in the queue; > 0.
    capacity_pps : float or array
        Packets a second; > 0.
    slowdown : float or array
        r, by which the new flow slows down; > 0.
    base_rtt_s : float or array
        D, the shortest round trip of any flow without queueing; seconds, > 0.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits; also for a slowdown of 1 or less, and more flows than numbers
        hold.

    Notes
    -----
    ``the largest N with draining time <= RTT; about (C D / alpha)^(2/3)``

    Assumes:

    - the other flows do not react
    - one round trip for all

    References
    ----------
    Y. Cui, Three problems in TCP performance analysis and congestion management, equation (4.31).
    """
    return DrainedFlows(
        *answers("drained_flows", alpha=alpha, capacity_pps=capacity_pps, slowdown=slowdown, base_rtt_s=base_rtt_s)
    )


def adpm_error(*, probes: Numbers, order: ProbeOrder = "random", bits: Numbers = 16, quantile: Numbers = 0.99) -> AdpmError:
    """Error of ADPM's estimate of a price that stays, averaged over all prices: after `probes` packets, from an estimate of 0.

    Random probes: price and thresholds are k + 1 points that fall anywhere, and the error is the gap below one of them,
    which is above x with probability (1 - x)^(k+1). So its mean is 1/(k+2) exactly and its mean square 2/((k+2)(k+3)), but
    for the finite number of thresholds, which is kept: at values of x between those of two thresholds the probability is on
    the line between theirs. An estimate that begins at 1 is too high by as much.

    Parameters
    ----------
    probes : int or array
        k, packets received; >= 0.
    order : str, optional
        Of their thresholds. ``"random"``, each threshold is drawn anew; ``"pure_brc"``, bit-reversed counting from 1: 1/2,
        1/4, 3/4, 1/8 and on; ``"random_brc"``, bit-reversed counting from a counter that is drawn, all of them equally
        likely.
    bits : int or array, optional
        Binary digits of a threshold: there are 2^bits of them, and the IPid has 16; 1 to 16.
    quantile : float or array, optional
        Which share of the errors is not to exceed `percentile`; 0 to 1.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits.

    Notes
    -----
    ``random: 1/(k+2), square 2/((k+2)(k+3)); pure BRC: 1/(2K) (1 - Delta/(2K)), largest 1/K, with K = 2^floor(log2(k+1)),
    Delta = k + 1 - K; random BRC: all starts``

    Assumes:

    - prices uniform in 0 to 1
    - an estimate of 0 at first
    - no packet is lost

    References
    ----------
    Y. Cui, Three problems in TCP performance analysis and congestion management, sections 5.2.2 and 5.4, equations (5.1) to
    (5.3); the mean of pure BRC is printed with a sum for the product.

    Examples
    --------
    >>> import tailback as tb
    >>> round(tb.models.adpm_error(probes=98).mean, 6)
    0.01
    >>> tb.models.adpm_error(probes=7, order="pure_brc").mean
    0.0625
    """
    return AdpmError(*answers("adpm_error", order, probes=probes, bits=bits, quantile=quantile))


def adpm_step_error(step: Numbers, probes: Numbers) -> AdpmStepError:
    """The same after a price has risen once by `step` from an estimate that was right, or fallen; with random probes, and
    thresholds of any number of digits.

    The error is above x, where x < step, if none of the thresholds fell in the x next to the price.

    Parameters
    ----------
    step : float or array
        By how much the price has changed; above 0 and below 1.
    probes : int or array
        k, packets received since; >= 0.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits.

    Notes
    -----
    ``(1 - (1 - a)^(k+1)) / (k+1); the document has about min(a, 1/k)``

    Assumes:

    - independent thresholds uniform in 0 to 1
    - an estimate that was right before
    - no packet is lost

    References
    ----------
    Y. Cui, Three problems in TCP performance analysis and congestion management, section 5.2.2.
    """
    return AdpmStepError(*answers("adpm_step_error", step=step, probes=probes))


def adpm_undetected(*, step: Numbers, probes: Numbers, form: DetectionForm = "random", bits: Numbers = 16) -> Result:
    """Probability that a step of a price has not been noticed after `probes` packets.

    The exact form for BRC places the step anywhere in 0 to 1, and begins the counting anywhere.

    Parameters
    ----------
    step : float or array
        a, how far the price is beyond the interval: p - i+ in (5.4) and (5.5); above 0 and below 1.
    probes : int or array
        k, packets received since; >= 0.
    form : str, optional
        Which formula. ``"random"``, thresholds drawn anew: (1 - a)^k; ``"brc"``, bit-reversed counting, exactly: the mean
        over all starts and places of the step; ``"brc_direct"``, max(0, 1 - a k), as if no two thresholds were closer than
        the step: a lower bound; ``"brc_printed"``, 1 - a 2^m multiplied over m = 1 to j = floor(log2 k), as if scales were
        independent, and 0 from a 2^j = 1.
    bits : int or array, optional
        Of the exact form for BRC: binary digits of a threshold; 1 to 16.

    Returns
    -------
    float or array
        a probability.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits.

    Notes
    -----
    ``random: (1 - a)^k; BRC: sum of (w - a)+ over all intervals w that k thresholds leave / (1 - a), mean over all starts``

    Assumes:

    - BRC: the step may be anywhere between 0 and 1, counting begins anywhere
    - no packet is lost

    References
    ----------
    Y. Cui, Three problems in TCP performance analysis and congestion management, equations (5.4) and (5.5), which
    multiplies what one scale says alone.

    Examples
    --------
    >>> import tailback as tb
    >>> forms = ["random", "brc", "brc_direct", "brc_printed"]
    >>> [round(tb.models.adpm_undetected(step=0.1, probes=4, form=form), 3) for form in forms]
    [0.656, 0.603, 0.6, 0.48]
    """
    return number("adpm_undetected", form, step=step, probes=probes, bits=bits)


def adpm_detection_packets(*, step: Numbers, bits: Numbers = 16) -> DetectionPackets:
    """Packets until a step of a price is noticed, on average.

    Parameters
    ----------
    step : float or array
        a, how far the price is beyond the interval in which its receiver believes it; above 0 and below 1.
    bits : int or array, optional
        Of BRC: binary digits of a threshold; 1 to 16.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits; also for a step smaller than the distance of two thresholds.

    Notes
    -----
    ``random: 1/a; BRC: (1 + sum of g^2 / 2^bits) / 2 over the gaps g, in packets, between probes of the step, mean over all
    places``

    Assumes:

    - BRC: the step may be anywhere between 0 and 1, counting begins anywhere
    - no packet is lost

    References
    ----------
    Y. Cui, Three problems in TCP performance analysis and congestion management, section 5.2.2, which says: within
    ceil(log2(1/a)) packets, and means 2 to that power.

    Examples
    --------
    >>> import tailback as tb
    >>> detected = tb.models.adpm_detection_packets(step=0.25)
    >>> detected.random, round(detected.brc, 2)
    (4.0, 2.69)
    """
    return DetectionPackets(*answers("adpm_detection_packets", step=step, bits=bits))


def adpm_ramp_error(drift: Numbers) -> AdpmRampError:
    """Error of ADPM's estimate of a price that rises by `drift` with every packet, in the long run, with random probes.

    The estimate is y or less if no threshold fell between y and the price of its time. So the error after a packet is above
    x with probability (1 - x) G(x), where G(x), of the error X before it, is the product of 1 - (x - drift), 1 - (x - 2
    drift) and so on, as long as these are 1 or less. Integrated, this gives E X^2 = 2 drift, the document's. For slow ramps
    errors have Rayleigh's distribution, exp(-x^2 / (2 drift)), whose mean is sqrt(pi drift / 2), 0.886 of the document's
    bound. Falling prices are estimated as much too high.

    Parameters
    ----------
    drift : float or array
        delta, by how much the price rises from packet to packet; above 0 and below 1.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits; also for ramps slower than 1e-10 or faster than 0.02.

    Notes
    -----
    ``P(X > x + drift) = (1 - x) P(X > x); E X^2 = 2 drift; E X = sqrt(pi drift / 2) + drift / 6 + ...``

    Assumes:

    - independent thresholds uniform in 0 to 1
    - far from 0 and 1, and long after the ramp began
    - no packet is lost

    References
    ----------
    Y. Cui, Three problems in TCP performance analysis and congestion management, section 5.2.2, for the mean square; the
    distribution is derived in docs/evidence/theory.md.

    Examples
    --------
    >>> import tailback as tb
    >>> error = tb.models.adpm_ramp_error(1e-6)
    >>> round(error.mean, 6), round(error.bound, 6)
    (0.001252, 0.001414)
    """
    return AdpmRampError(*answers("adpm_ramp_error", drift=drift))


def adpm_coarse_ramp_error(*, drift: Numbers, bits: Numbers = 16) -> AdpmCoarseRampError:
    """The same, once a packet has been used, with thresholds of finitely many digits: more where the price takes long from one
    to the next.

    The price at a share u between two thresholds, and rising continuously: the estimate is n thresholds or more below the
    lower one with probability exp(-(n (n-1) / 2 + n u) / s), where s = drift 4^bits. What the price rises from packet to
    packet is taken to first order.

    Parameters
    ----------
    drift : float or array
        delta, by how much the price rises from packet to packet; above 0 and below 1.
    bits : int or array, optional
        Binary digits of a threshold: there are 2^bits of them, and the IPid has 16; 1 to 16.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits; also for ramps faster than 0.02.

    Notes
    -----
    ``mean error in thresholds: 1/2 + sum over n of s/n exp(-n (n-1) / (2s)) (1 - exp(-n/s)), s = drift 4^bits, less 5/6
    drift``

    Assumes:

    - independent thresholds, all equally likely
    - far from 0 and 1, and long after the ramp began
    - no packet is lost

    References
    ----------
    docs/evidence/theory.md.
    """
    return AdpmCoarseRampError(*answers("adpm_coarse_ramp_error", drift=drift, bits=bits))


def rem_error(price: Numbers, phi: Numbers, packets: Numbers) -> RemError:
    """Error of REM: `packets` marked independently, with a probability that is exponential in the sum of the prices of a path.

    The error of the price is that of the share over the slope of the mapping, ln(phi) phi^-p; it is meant where
    `all_marked` is small.

    Parameters
    ----------
    price : float or array
        p, the sum of the prices along the path, not mapped; >= 0.
    phi : float or array
        phi, base of the mapping, above 1; > 0.
    packets : int or array
        k, packets received; >= 1.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits; also for a base of 1 or less, and prices whose error no number
        holds.

    Notes
    -----
    ``q = 1 - phi^-p; share: q (1 - q) / k; price: (phi^p - 1) / (k ln(phi)^2)``

    Assumes:

    - every packet is marked independently of the others
    - a price that stays

    References
    ----------
    Y. Cui, Three problems in TCP performance analysis and congestion management, section 5.2.3 and equations (2.6) and
    (2.7).

    Examples
    --------
    >>> import tailback as tb
    >>> error = tb.models.rem_error(price=1.0, phi=2.0, packets=100)
    >>> error.marked, error.share_mean_square
    (0.5, 0.0025)
    """
    return RemError(*answers("rem_error", price=price, phi=phi, packets=packets))


def rem_best_phi(price: Numbers) -> Result:
    """The base with which REM tells a sum of prices with the smallest error: it marks 80 % of the packets.

    Parameters
    ----------
    price : float or array
        p, the sum of the prices along the path, not mapped; > 0.

    Returns
    -------
    float or array
        phi, without a unit.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits; also for prices so small or so large that the base is out of the
        range of numbers.

    Notes
    -----
    ``phi = e^(x/p) with x e^x = 2 (e^x - 1), x = 1.5936``

    Assumes:

    - every packet is marked independently of the others
    - a price that stays

    References
    ----------
    from the error of the price, by its derivative.
    """
    return number("rem_best_phi", price=price)


def ram_error(*, packets: Numbers, hops: Numbers = 1, price: Numbers | None = None) -> Result:
    """Mean square error of RAM's estimate of the mean price of a path: `packets` marked independently, with that mean as their
    probability.

    With one hop and no price given it is 1/(6k), as figure 5.3 has it, also of the share of marked packets in REM. The mean
    of several uniform prices is nearer to 1/2, where marks tell least: 45 % more with ten hops.

    Parameters
    ----------
    packets : int or array
        k, packets received; >= 1.
    hops : int or array, optional
        n, routers on the path, with prices that are independent of each other; >= 1.
    price : float or array, optional
        The mean price of the path; prices uniform in 0 to 1 if not given; 0 to 1.

    Returns
    -------
    float or array
        mean square error; that of the sum of prices is n^2 times as large.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits.

    Notes
    -----
    ``q (1 - q) / k; of n uniform prices (1/4 - 1/(12 n)) / k, for one 1/(6k)``

    Assumes:

    - every packet is marked independently of the others
    - a price that stays

    References
    ----------
    Y. Cui, Three problems in TCP performance analysis and congestion management, sections 2.3.4, 5.2.3 and 5.4.

    Examples
    --------
    >>> import tailback as tb
    >>> round(tb.models.ram_error(packets=100), 6)
    0.001667
    """
    return number("ram_error", packets=packets, hops=hops, price=price)


def quantiser_error(levels: Numbers) -> QuantiserError:
    """Error of a quantiser with uniform levels, each of which stands for its middle.

    Parameters
    ----------
    levels : int or array
        k, levels between 0 and 1; >= 1.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits.

    Notes
    -----
    ``mean 1/(4k), mean square 1/(12 k^2)``

    Assumes:

    - prices uniform in 0 to 1

    References
    ----------
    Y. Cui, Three problems in TCP performance analysis and congestion management, section 5.2.2.
    """
    return QuantiserError(*answers("quantiser_error", levels=levels))


def tpm_probe_types(*, bits: Numbers, max_hops: Numbers = 30, marking: TpmMarking = "one_bit") -> TpmProbeTypes:
    """Kinds of packets in the scheme of Thommes and Coates (TPM), which carries the bits of each router's price.

    Parameters
    ----------
    bits : int or array
        b, binary digits of a router's price; >= 1.
    max_hops : int or array, optional
        h, routers for which there are kinds of packets; >= 1.
    marking : str, optional
        How much one packet carries. ``"one_bit"``, a packet is marked or not: a bit of the price of one router;
        ``"two_bits"``, the values of both bits of ECN: two packets tell a bit of the prices of six routers.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits; also for more than 2^53 kinds.

    Notes
    -----
    ``one bit: b h; two bits: 2 b ceil(h/6); until all were drawn: T (1 + 1/2 + ... + 1/T)``

    Assumes:

    - no packet is lost

    References
    ----------
    Y. Cui, Three problems in TCP performance analysis and congestion management, section 2.3.5 and equation (2.9); section
    5.4 for one bit.

    Examples
    --------
    >>> import tailback as tb
    >>> tb.models.tpm_probe_types(bits=4, marking="two_bits").types
    40
    """
    return TpmProbeTypes(*answers("tpm_probe_types", marking, bits=bits, max_hops=max_hops))


def tpm_error(
    *, probes: Numbers, bits: Numbers, hops: Numbers, max_hops: Numbers = 30, unseen: UnseenBit = "zero"
) -> BinaryError:
    """Mean square error of TPM with marks of one bit, of the mean price of a path of uniform prices, after `probes` packets of
    kinds that are drawn.

    A kind of T has not come with probability (1 - 1/T)^k, two of them with (1 - 2/T)^k. What lies below the last bit is
    taken for its middle. Bits and remainder of a uniform price are independent, so that errors of different bits add up as
    squares if unseen ones are taken for 1/2; taken for 0 they are all of one sign, and their products remain.

    Parameters
    ----------
    probes : int or array
        k, packets received; >= 0.
    bits : int or array
        b, binary digits of a router's price, 1 to 52; >= 1.
    hops : int or array
        n, routers on the path, with prices that are independent of each other; >= 1.
    max_hops : int or array, optional
        h, routers for which there are kinds of packets; >= 1.
    unseen : str, optional
        What stands for bits that have not come. ``"zero"``, as 0: estimates begin at the least price and are too low;
        ``"half"``, as 1/2, its mean over all prices: estimates begin in the middle.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits; also for more than 52 digits, and more routers than there are
        kinds of packets for.

    Notes
    -----
    ``unseen as 1/2: u V / (4n) + 4^-b / (12 n); as 0: u V / (2n) + u2 (W^2 - V/n) / 4 + 4^-b / (12 n), u = (1 - 1/T)^k, u2
    = (1 - 2/T)^k, T = b h, W = 1 - 2^-b, V = (1 - 4^-b) / 3``

    Assumes:

    - marks of one bit
    - n independent prices uniform in 0 to 1, added and divided by n
    - kinds of packets drawn, all equally likely

    References
    ----------
    Y. Cui, Three problems in TCP performance analysis and congestion management, sections 2.3.5 and 5.4 for the scheme;
    derived in docs/evidence/theory.md.

    Examples
    --------
    >>> import tailback as tb
    >>> error = tb.models.tpm_error(probes=1000, bits=4, hops=10)
    >>> round(error.mean_square, 7), round(error.floor, 7)
    (3.64e-05, 3.26e-05)
    """
    return BinaryError(*answers("tpm_error", unseen, probes=probes, bits=bits, hops=hops, max_hops=max_hops))


def rpm_error(*, probes: Numbers, levels: Numbers, initial: Numbers = 0) -> BinaryError:
    """Mean square error of the scheme of Ryu and others (RPM), in which a packet is marked if the price is the level that it
    asks for, after `probes` packets of levels that are drawn.

    Parameters
    ----------
    probes : int or array
        k, packets received; >= 0.
    levels : int or array
        n, levels of the price; >= 1.
    initial : float or array, optional
        What the receiver believes before a mark; 0 to 1.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits.

    Notes
    -----
    ``u (1/3 - i (1 - i)) + (1 - u) / (12 n^2), u = (1 - 1/n)^k``

    Assumes:

    - one price uniform in 0 to 1, and no other marks on the path
    - levels drawn, all equally likely
    - a level stands for its middle

    References
    ----------
    Y. Cui, Three problems in TCP performance analysis and congestion management, sections 2.3.6 and 5.2.3 for the scheme.

    Examples
    --------
    >>> import tailback as tb
    >>> round(tb.models.rpm_error(probes=100, levels=100).mean_square, 4)
    0.122
    """
    return BinaryError(*answers("rpm_error", probes=probes, levels=levels, initial=initial))


def price_levels(*, max_rate_bps: Numbers, min_rate_bps: Numbers, granularity: Numbers) -> PriceLevels:
    """Levels of a price that tell rates apart whose ratio is 1 + `granularity`.

    Parameters
    ----------
    max_rate_bps : float or array
        r_max, which a price of 0 stands for; bit/s, > 0.
    min_rate_bps : float or array
        r_min, which a price of 1 stands for; bit/s, > 0.
    granularity : float or array
        epsilon, the largest relative difference of two rates with the same price; > 0.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits; also for rates in the wrong order, and more levels than numbers
        hold.

    Notes
    -----
    ``ceil(log(r_max / r_min) / log(1 + epsilon))``

    Assumes:

    - the price is the logarithm of a rate

    References
    ----------
    Y. Cui, Three problems in TCP performance analysis and congestion management, section 5.3.2.

    Examples
    --------
    >>> import tailback as tb
    >>> tb.models.price_levels(max_rate_bps=100e9, min_rate_bps=1e3, granularity=0.02).levels
    931
    """
    return PriceLevels(*answers("price_levels", max_rate_bps=max_rate_bps, min_rate_bps=min_rate_bps, granularity=granularity))


def rcp_price(*, max_rate_bps: Numbers, min_rate_bps: Numbers, rate_bps: Numbers) -> Result:
    """The price that stands for a rate of RCP: 0 for the largest and 1 for the smallest, so that the largest price of a path
    is its smallest rate.

    Parameters
    ----------
    max_rate_bps : float or array
        r_max, which a price of 0 stands for; bit/s, > 0.
    min_rate_bps : float or array
        r_min, which a price of 1 stands for; bit/s, > 0.
    rate_bps : float or array
        r, the rate that a router allows; what is outside is 0 or 1; bit/s, > 0.

    Returns
    -------
    float or array
        a price, 0 to 1.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits; also for rates in the wrong order.

    Notes
    -----
    ``p = log(r_max / r) / log(r_max / r_min)``

    Assumes:

    - the price is the logarithm of a rate

    References
    ----------
    Y. Cui, Three problems in TCP performance analysis and congestion management, section 5.3.2, which has log(1/r), mapped
    to 0 to 1.
    """
    return number("rcp_price", max_rate_bps=max_rate_bps, min_rate_bps=min_rate_bps, rate_bps=rate_bps)


def rcp_rate_error(*, max_rate_bps: Numbers, min_rate_bps: Numbers, error: Numbers) -> RateError:
    """How far off a rate of RCP is if its price is off by `error`: the same part of every rate.

    Parameters
    ----------
    max_rate_bps : float or array
        r_max, which a price of 0 stands for; bit/s, > 0.
    min_rate_bps : float or array
        r_min, which a price of 1 stands for; bit/s, > 0.
    error : float or array
        Of the price, either way; 0 to 1.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits; also for rates in the wrong order.

    Notes
    -----
    ``over (r_max / r_min)^e - 1, under 1 - (r_max / r_min)^-e``

    Assumes:

    - the price is the logarithm of a rate

    References
    ----------
    Y. Cui, Three problems in TCP performance analysis and congestion management, section 5.3.2.

    Examples
    --------
    >>> import tailback as tb
    >>> error = tb.models.rcp_rate_error(max_rate_bps=100e9, min_rate_bps=1e3, error=1 / 1024)
    >>> round(error.over, 5)
    0.01815
    """
    return RateError(*answers("rcp_rate_error", max_rate_bps=max_rate_bps, min_rate_bps=min_rate_bps, error=error))


def maxnet_price(cost: Numbers, base: Numbers) -> MaxnetPrice:
    """A cost of MaxNet as a whole number, and what is read from that.

    Costs of 0 down to 1 - q are carried as those of 0, all below as 1 - q. What a cost of 1 is decides how close small ones
    come, for q is an offset as well.

    Parameters
    ----------
    cost : float or array
        p, the cost, negative below the target rate; a finite number.
    base : float or array
        q, base and offset, above 1; > 0.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits; also for a base of 1 or less, and codes that no number holds.

    Notes
    -----
    ``v = ceil(log_q(max(1, p + q))), read as q^v - q``

    Assumes:

    - large costs: of small ones the offset q hides which part they are off

    References
    ----------
    Y. Cui, Three problems in TCP performance analysis and congestion management, section 5.3.2, whose reading is not
    written out.

    Examples
    --------
    >>> import tailback as tb
    >>> price = tb.models.maxnet_price(cost=100, base=2)
    >>> price.code, price.decoded
    (7, 126.0)
    """
    return MaxnetPrice(*answers("maxnet_price", cost=cost, base=base))


def maxnet_base(max_cost: Numbers, levels: Numbers) -> MaxnetBase:
    """The smallest base with which MaxNet carries costs up to a largest one in so many codes.

    Parameters
    ----------
    max_cost : float or array
        The largest p, in the unit in which costs are carried; > 0.
    levels : int or array
        Codes, 0 among them; at least 3; >= 1.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits; also for fewer than 3 codes, and costs that are hardly numbers.

    Notes
    -----
    ``q^(levels - 1) - q = p_max``

    Assumes:

    - costs down to 0: those below share a code

    References
    ----------
    Y. Cui, Three problems in TCP performance analysis and congestion management, section 5.3.2.

    Examples
    --------
    >>> import tailback as tb
    >>> round(tb.models.maxnet_base(max_cost=1e11, levels=1024).granularity, 4)
    0.0251
    """
    return MaxnetBase(*answers("maxnet_base", max_cost=max_cost, levels=levels))


def mm1k(load: Numbers, places: Numbers) -> FiniteQueue:
    """M/M/1/K: Poisson arrivals, exponential service, one transmitter.

    Packets of one size lose less: see `md1k`.

    Parameters
    ----------
    load : float or array
        Offered load: offered work over the capacity of all transmitters; >= 0; may exceed 1.
    places : int or array
        Units that fit, those in service included; 0 to 1,000,000.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits.

    Notes
    -----
    ``p(k) = load p(k-1) / (1 + load p(k-1))``

    Assumes:

    - Poisson arrivals
    - packets of exponential length

    References
    ----------
    Kleinrock, Queueing Systems 1, 1975, section 3.6.

    Examples
    --------
    >>> import tailback as tb
    >>> tb.models.mm1k(load=1.0, places=4).loss
    0.2
    """
    return FiniteQueue(*answers("mm1k", load=load, places=places))


def md1_mean_wait(load: Numbers) -> Result:
    """M/D/1: mean time that a unit waits before its service begins, in service times.

    The mean number waiting is `load` times this.

    Parameters
    ----------
    load : float or array
        Offered load: offered work over the capacity of all transmitters; at least 0 and below 1.

    Returns
    -------
    float or array
        Service times.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits.

    Notes
    -----
    ``load / (2 (1 - load))``

    Assumes:

    - Poisson arrivals
    - packets of one size
    - room for all

    References
    ----------
    Pollaczek-Khinchine: Kleinrock, Queueing Systems 1, 1975, section 5.6.

    Examples
    --------
    >>> import tailback as tb
    >>> tb.models.md1_mean_wait(0.5)
    0.5
    """
    return number("md1_mean_wait", load=load)


def md1k(load: Numbers, places: Numbers) -> FiniteQueue:
    """M/D/1/K: Poisson arrivals, units of one size, one transmitter.

    Exact, apart from rounding: losses below about 1e-15 come out as 0. Takes time proportional to `places` squared.

    Parameters
    ----------
    load : float or array
        Offered load: offered work over the capacity of all transmitters; >= 0; may exceed 1.
    places : int or array
        Units that fit, those in service included; 0 to 1,000,000.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits; also for more than 10,000 places or a load above 500.

    Notes
    -----
    ``loss = 1 - 1 / (v(0) + load), v(0) the share of departures that leave nothing behind``

    Assumes:

    - Poisson arrivals
    - packets of one size

    References
    ----------
    Cooper, Introduction to Queueing Theory, 2nd ed., 1981, chapter 5: the chain embedded at departures.

    Examples
    --------
    >>> import tailback as tb
    >>> tb.models.md1k(load=0.8, places=10).loss < tb.models.mm1k(load=0.8, places=10).loss
    True
    """
    return FiniteQueue(*answers("md1k", load=load, places=places))


def mmck(load: Numbers, servers: Numbers, places: Numbers) -> FiniteQueue:
    """M/M/c/K: Poisson arrivals, exponential service, `servers` transmitters.

    The offered traffic is `load * servers` erlangs.

    Parameters
    ----------
    load : float or array
        Offered load: offered work over the capacity of all transmitters; >= 0; may exceed 1.
    servers : int or array
        Transmitters; 1 to 1,000,000.
    places : int or array
        Units that fit, those in service included; 0 to 1,000,000.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits.

    Notes
    -----
    ``p(k) = r(k) p(k-1) / (1 + r(k) p(k-1)), r(k) = load servers / min(k, servers)``

    Assumes:

    - Poisson arrivals
    - packets of exponential length
    - c transmitters; with c = K and K + B places, the M/M/K/(K+B) of trunk sizing

    References
    ----------
    Kleinrock, Queueing Systems 1, 1975, sections 3.5 to 3.8.

    Examples
    --------
    >>> import tailback as tb
    >>> tb.models.mmck(load=1.0, servers=1, places=4) == tb.models.mm1k(load=1.0, places=4)
    True
    """
    return FiniteQueue(*answers("mmck", load=load, servers=servers, places=places))


def erlang_b(load: Numbers, servers: Numbers) -> Result:
    """Erlang B: fraction of Poisson arrivals that find all transmitters of a port without waiting places busy.

    Parameters
    ----------
    load : float or array
        Offered load per transmitter: the offered traffic is `load * servers` erlangs; >= 0; may exceed 1.
    servers : int or array
        Transmitters; 1 to 1,000,000.

    Returns
    -------
    float or array
        Loss, 0 to 1.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits.

    Notes
    -----
    ``B(k) = a B(k-1) / (k + a B(k-1)), a = load * servers``

    Assumes:

    - Poisson arrivals
    - no waiting place
    - any service time: only its mean matters

    References
    ----------
    Erlang 1917; Kleinrock, Queueing Systems 1, 1975, section 3.7.

    Examples
    --------
    >>> import tailback as tb
    >>> tb.models.erlang_b(load=1.0, servers=1)
    0.5
    """
    return number("erlang_b", load=load, servers=servers)


def cui_trunk_buffer(
    *,
    inputs: Numbers,
    transmitters: Numbers,
    rate_bps: Numbers,
    packet_bytes: Numbers,
    flows: Numbers,
    harmonic_rtt_s: Numbers,
    utilisation: Numbers,
) -> BufferSize:
    """The trunk rule of cui-thesis: K transmitters, M inputs, N greedy flows.

    With at most as many inputs as transmitters nothing is ever lost and no buffer is needed.

    Parameters
    ----------
    inputs : int or array
        M, input links that feed the bottleneck, each as fast as one transmitter; >= 1.
    transmitters : int or array
        K, transmitters that share the buffer: the wavelength channels of a trunk; 1 to 1,000,000.
    rate_bps : float or array
        Bit rate of one transmitter; bit/s, > 0.
    packet_bytes : float or array
        Size of a packet on the wire; bytes, > 0.
    flows : int or array
        N, long-lived flows; >= 1.
    harmonic_rtt_s : float or array
        Harmonic mean of the flows' round trips without queueing; see `round_trips`; seconds, > 0.
    utilisation : float or array
        U, share of the bottleneck's capacity that is asked for; above 0 and below 1.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits; also for a utilisation of `inputs / transmitters` or more, where
        that is 1 or less: the inputs do not bring it.

    Notes
    -----
    ``max(0, ceil(log_F1 F2)), F1 = (M - UK) / (UM - UK), F2 = (UK mu RTT_H / N)^2 E / 1.5, E = C(M,K) a^K / sum_{i<=K}
    C(M,i) a^i, a = UK / (M - UK)``

    Assumes:

    - greedy paced flows of TCP NewReno: one loss, one halving, no timeout
    - enough flows for packets to arrive as a Poisson process
    - no flow is held back by its window or its access link
    - loss so small that load and utilisation are the same
    - the underlying one-dimensional loss model, G1DM

    References
    ----------
    Y. Cui, Three problems in TCP performance analysis and congestion management, equations (3.23) and (3.24), appendix A.

    Examples
    --------
    >>> import tailback as tb
    >>> trunk = dict(inputs=32, transmitters=16, rate_bps=40e9, packet_bytes=1040, flows=64000, harmonic_rtt_s=0.1)
    >>> tb.models.cui_trunk_buffer(**trunk, utilisation=0.7).buffer
    9
    """
    return BufferSize(
        SIZING_RULES["cui_trunk"],
        *answers(
            "cui_trunk_buffer",
            inputs=inputs,
            transmitters=transmitters,
            rate_bps=rate_bps,
            packet_bytes=packet_bytes,
            flows=flows,
            harmonic_rtt_s=harmonic_rtt_s,
            utilisation=utilisation,
        ),
    )


def cui_trunk_utilisation(
    *,
    inputs: Numbers,
    transmitters: Numbers,
    rate_bps: Numbers,
    packet_bytes: Numbers,
    flows: Numbers,
    harmonic_rtt_s: Numbers,
    buffer: Numbers,
) -> Result:
    """The largest utilisation, 0 to 1, for which `cui_trunk_buffer` asks for no more than `buffer`; 1 if that holds for any
    below 1.

    Parameters
    ----------
    inputs : int or array
        M, input links that feed the bottleneck, each as fast as one transmitter; >= 1.
    transmitters : int or array
        K, transmitters that share the buffer: the wavelength channels of a trunk; 1 to 1,000,000.
    rate_bps : float or array
        Bit rate of one transmitter; bit/s, > 0.
    packet_bytes : float or array
        Size of a packet on the wire; bytes, > 0.
    flows : int or array
        N, long-lived flows; >= 1.
    harmonic_rtt_s : float or array
        Harmonic mean of the flows' round trips without queueing; see `round_trips`; seconds, > 0.
    buffer : float or array
        B, packets that can wait; >= 0.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits.

    Notes
    -----
    ``max(0, ceil(log_F1 F2)), F1 = (M - UK) / (UM - UK), F2 = (UK mu RTT_H / N)^2 E / 1.5, E = C(M,K) a^K / sum_{i<=K}
    C(M,i) a^i, a = UK / (M - UK)``

    Assumes:

    - greedy paced flows of TCP NewReno: one loss, one halving, no timeout
    - enough flows for packets to arrive as a Poisson process
    - no flow is held back by its window or its access link
    - loss so small that load and utilisation are the same
    - the underlying one-dimensional loss model, G1DM

    References
    ----------
    Y. Cui, Three problems in TCP performance analysis and congestion management, equations (3.23) and (3.24), appendix A.
    """
    return number(
        "cui_trunk_utilisation",
        inputs=inputs,
        transmitters=transmitters,
        rate_bps=rate_bps,
        packet_bytes=packet_bytes,
        flows=flows,
        harmonic_rtt_s=harmonic_rtt_s,
        buffer=buffer,
    )


def cui_trunk_flows(
    *,
    inputs: Numbers,
    transmitters: Numbers,
    rate_bps: Numbers,
    packet_bytes: Numbers,
    harmonic_rtt_s: Numbers,
    utilisation: Numbers,
    buffer: Numbers,
) -> Result:
    """The smallest number of flows with which `cui_trunk_buffer` asks for no more than `buffer`.

    Parameters
    ----------
    inputs : int or array
        M, input links that feed the bottleneck, each as fast as one transmitter; >= 1.
    transmitters : int or array
        K, transmitters that share the buffer: the wavelength channels of a trunk; 1 to 1,000,000.
    rate_bps : float or array
        Bit rate of one transmitter; bit/s, > 0.
    packet_bytes : float or array
        Size of a packet on the wire; bytes, > 0.
    harmonic_rtt_s : float or array
        Harmonic mean of the flows' round trips without queueing; see `round_trips`; seconds, > 0.
    utilisation : float or array
        U, share of the bottleneck's capacity that is asked for; above 0 and below 1.
    buffer : float or array
        B, packets that can wait; >= 0.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits; also for a utilisation of `inputs / transmitters` or more, where
        that is 1 or less: the inputs do not bring it.

    Notes
    -----
    ``max(0, ceil(log_F1 F2)), F1 = (M - UK) / (UM - UK), F2 = (UK mu RTT_H / N)^2 E / 1.5, E = C(M,K) a^K / sum_{i<=K}
    C(M,i) a^i, a = UK / (M - UK)``

    Assumes:

    - greedy paced flows of TCP NewReno: one loss, one halving, no timeout
    - enough flows for packets to arrive as a Poisson process
    - no flow is held back by its window or its access link
    - loss so small that load and utilisation are the same
    - the underlying one-dimensional loss model, G1DM

    References
    ----------
    Y. Cui, Three problems in TCP performance analysis and congestion management, equations (3.23) and (3.24), appendix A.
    """
    return number(
        "cui_trunk_flows",
        inputs=inputs,
        transmitters=transmitters,
        rate_bps=rate_bps,
        packet_bytes=packet_bytes,
        harmonic_rtt_s=harmonic_rtt_s,
        utilisation=utilisation,
        buffer=buffer,
    )


def cui_link_buffer(
    *, rate_bps: Numbers, packet_bytes: Numbers, flows: Numbers, harmonic_rtt_s: Numbers, utilisation: Numbers
) -> BufferSize:
    """The trunk rule for one transmitter and unlimited inputs.

    Parameters
    ----------
    rate_bps : float or array
        Bit rate of one transmitter; bit/s, > 0.
    packet_bytes : float or array
        Size of a packet on the wire; bytes, > 0.
    flows : int or array
        N, long-lived flows; >= 1.
    harmonic_rtt_s : float or array
        Harmonic mean of the flows' round trips without queueing; see `round_trips`; seconds, > 0.
    utilisation : float or array
        U, share of the bottleneck's capacity that is asked for; above 0 and below 1.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits.

    Notes
    -----
    ``max(0, ceil(log_U (1.5 N^2 (1 + U) / (U^3 mu^2 RTT_H^2))))``

    Assumes:

    - one transmitter, and so many inputs that they never limit it
    - greedy paced flows of TCP NewReno: one loss, one halving, no timeout
    - enough flows for packets to arrive as a Poisson process, which no longer holds on a nearly full link
    - no flow is held back by its window or its access link
    - loss so small that load and utilisation are the same

    References
    ----------
    Y. Cui, Three problems in TCP performance analysis and congestion management, equation (3.27).

    Examples
    --------
    >>> import tailback as tb
    >>> link = dict(rate_bps=16e6, packet_bytes=500, harmonic_rtt_s=0.1)
    >>> tb.models.cui_link_buffer(**link, flows=[10, 100], utilisation=0.75).buffer.tolist()
    [20, 4]
    """
    return BufferSize(
        SIZING_RULES["cui_link"],
        *answers(
            "cui_link_buffer",
            rate_bps=rate_bps,
            packet_bytes=packet_bytes,
            flows=flows,
            harmonic_rtt_s=harmonic_rtt_s,
            utilisation=utilisation,
        ),
    )


def cui_link_utilisation(
    *, rate_bps: Numbers, packet_bytes: Numbers, flows: Numbers, harmonic_rtt_s: Numbers, buffer: Numbers
) -> Result:
    """The largest utilisation, 0 to 1, for which `cui_link_buffer` asks for no more than `buffer`; 1 if that holds for any
    below 1.

    Parameters
    ----------
    rate_bps : float or array
        Bit rate of one transmitter; bit/s, > 0.
    packet_bytes : float or array
        Size of a packet on the wire; bytes, > 0.
    flows : int or array
        N, long-lived flows; >= 1.
    harmonic_rtt_s : float or array
        Harmonic mean of the flows' round trips without queueing; see `round_trips`; seconds, > 0.
    buffer : float or array
        B, packets that can wait; >= 0.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits.

    Notes
    -----
    ``max(0, ceil(log_U (1.5 N^2 (1 + U) / (U^3 mu^2 RTT_H^2))))``

    Assumes:

    - one transmitter, and so many inputs that they never limit it
    - greedy paced flows of TCP NewReno: one loss, one halving, no timeout
    - enough flows for packets to arrive as a Poisson process, which no longer holds on a nearly full link
    - no flow is held back by its window or its access link
    - loss so small that load and utilisation are the same

    References
    ----------
    Y. Cui, Three problems in TCP performance analysis and congestion management, equation (3.27).
    """
    return number(
        "cui_link_utilisation",
        rate_bps=rate_bps,
        packet_bytes=packet_bytes,
        flows=flows,
        harmonic_rtt_s=harmonic_rtt_s,
        buffer=buffer,
    )


def cui_link_flows(
    *, rate_bps: Numbers, packet_bytes: Numbers, harmonic_rtt_s: Numbers, utilisation: Numbers, buffer: Numbers
) -> Result:
    """The smallest number of flows with which `cui_link_buffer` asks for no more than `buffer`.

    Parameters
    ----------
    rate_bps : float or array
        Bit rate of one transmitter; bit/s, > 0.
    packet_bytes : float or array
        Size of a packet on the wire; bytes, > 0.
    harmonic_rtt_s : float or array
        Harmonic mean of the flows' round trips without queueing; see `round_trips`; seconds, > 0.
    utilisation : float or array
        U, share of the bottleneck's capacity that is asked for; above 0 and below 1.
    buffer : float or array
        B, packets that can wait; >= 0.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits.

    Notes
    -----
    ``max(0, ceil(log_U (1.5 N^2 (1 + U) / (U^3 mu^2 RTT_H^2))))``

    Assumes:

    - one transmitter, and so many inputs that they never limit it
    - greedy paced flows of TCP NewReno: one loss, one halving, no timeout
    - enough flows for packets to arrive as a Poisson process, which no longer holds on a nearly full link
    - no flow is held back by its window or its access link
    - loss so small that load and utilisation are the same

    References
    ----------
    Y. Cui, Three problems in TCP performance analysis and congestion management, equation (3.27).
    """
    return number(
        "cui_link_flows",
        rate_bps=rate_bps,
        packet_bytes=packet_bytes,
        harmonic_rtt_s=harmonic_rtt_s,
        utilisation=utilisation,
        buffer=buffer,
    )


def unpaced_buffer(
    *,
    transmitters: Numbers = 1,
    rate_bps: Numbers,
    packet_bytes: Numbers,
    flows: Numbers,
    mean_rtt_s: Numbers,
    utilisation: Numbers,
) -> BufferSize:
    """Some bursts of one sender that does not pace: as many for ten thousand flows as for a hundred with the same window.

    What a flow sends at once is a share of its window, b. If bursts arrive as a Poisson process, a queue of more than B
    packets has a probability that falls as exp(-theta B / b), with the theta of M/D/1. By the square-root law flows with
    windows of U W packets lose as 1 / (U W)^2, so that B has to grow with the logarithm of that.

    Parameters
    ----------
    transmitters : int or array, optional
        K, transmitters that share the buffer: 1 for a link, the wavelength channels of a trunk; 1 to 1,000,000.
    rate_bps : float or array
        Bit rate of one transmitter; bit/s, > 0.
    packet_bytes : float or array
        Size of a packet on the wire; bytes, > 0.
    flows : int or array
        N, long-lived flows; >= 1.
    mean_rtt_s : float or array
        Mean of the flows' round trips without queueing; seconds, > 0.
    utilisation : float or array
        U, share of the bottleneck's capacity that is asked for; above 0 and below 1.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits.

    Notes
    -----
    ``b ln(1.1 (U W)^2) / theta with exp(theta) = 1 + theta / U, and at least 0; bursts b = 0.22 W, windows W = C RTT_mean /
    N``

    Assumes:

    - NewReno that does not pace, over access links of up to a fifth of a transmitter's rate: over faster ones a flow may
      take all of it
    - hundreds of flows and more, with round trips that differ, so that bursts meet as a Poisson process does
    - one transmitter; with several that share the buffer, or access links of a tenth of its rate, it asks for too much
    - fitted with windows of 15 and 58 packets and tried from 15 to 90, for utilisations of 70 to 90 %: see
      docs/howto/optical_buffers.md for how far it is off

    References
    ----------
    Tailback, docs/howto/optical_buffers.md; its two constants are fitted to simulations.

    Examples
    --------
    >>> import tailback as tb
    >>> link = dict(rate_bps=8e9, packet_bytes=1000, flows=4000, mean_rtt_s=0.1)
    >>> tb.models.unpaced_buffer(**link, utilisation=0.8).buffer
    78
    """
    return BufferSize(
        SIZING_RULES["unpaced"],
        *answers(
            "unpaced_buffer",
            transmitters=transmitters,
            rate_bps=rate_bps,
            packet_bytes=packet_bytes,
            flows=flows,
            mean_rtt_s=mean_rtt_s,
            utilisation=utilisation,
        ),
    )


def unpaced_utilisation(
    *, transmitters: Numbers = 1, rate_bps: Numbers, packet_bytes: Numbers, flows: Numbers, mean_rtt_s: Numbers, buffer: Numbers
) -> Result:
    """Utilisation for which `unpaced_buffer` asks for `buffer`, 0 to 1.

    Parameters
    ----------
    transmitters : int or array, optional
        K, transmitters that share the buffer: 1 for a link, the wavelength channels of a trunk; 1 to 1,000,000.
    rate_bps : float or array
        Bit rate of one transmitter; bit/s, > 0.
    packet_bytes : float or array
        Size of a packet on the wire; bytes, > 0.
    flows : int or array
        N, long-lived flows; >= 1.
    mean_rtt_s : float or array
        Mean of the flows' round trips without queueing; seconds, > 0.
    buffer : float or array
        B, packets that can wait; >= 0.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits.

    Notes
    -----
    ``b ln(1.1 (U W)^2) / theta with exp(theta) = 1 + theta / U, and at least 0; bursts b = 0.22 W, windows W = C RTT_mean /
    N``

    Assumes:

    - NewReno that does not pace, over access links of up to a fifth of a transmitter's rate: over faster ones a flow may
      take all of it
    - hundreds of flows and more, with round trips that differ, so that bursts meet as a Poisson process does
    - one transmitter; with several that share the buffer, or access links of a tenth of its rate, it asks for too much
    - fitted with windows of 15 and 58 packets and tried from 15 to 90, for utilisations of 70 to 90 %: see
      docs/howto/optical_buffers.md for how far it is off

    References
    ----------
    Tailback, docs/howto/optical_buffers.md; its two constants are fitted to simulations.
    """
    return number(
        "unpaced_utilisation",
        transmitters=transmitters,
        rate_bps=rate_bps,
        packet_bytes=packet_bytes,
        flows=flows,
        mean_rtt_s=mean_rtt_s,
        buffer=buffer,
    )


def enachescu_buffer(*, window: Numbers, over_provision: Numbers = 0.95, utilisation: Numbers) -> BufferSize:
    """O(log W): for a network with more capacity than its flows can use.

    Parameters
    ----------
    window : float or array
        W, the largest window of a flow in packets; see `enachescu_window`; > 0.
    over_provision : float or array, optional
        rho, the load of the bottleneck if every flow ran at its largest window; cui-thesis computes with 0.95 (section
        3.8.1); above 0 and below 1.
    utilisation : float or array
        U, share of the bottleneck's capacity that is asked for; above 0 and below 1.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits; also for a utilisation of `over_provision` or more.

    Notes
    -----
    ``log_{1/rho} (W^2 / (2 (1 - theta))), theta = U / rho; W = rho C RTT_mean / N where no window is given``

    Assumes:

    - over-provision: with every flow at its largest window W the load is rho, below 1
    - packets arrive smoothly: paced, or from access links far slower than the bottleneck
    - utilisation below rho: all flows at their largest window offer no more

    References
    ----------
    Enachescu, Ganjali, Goel, McKeown and Roughgarden, Routers with Very Small Buffers, INFOCOM 2006; Y. Cui, Three problems
    in TCP performance analysis and congestion management, equations (2.4) and (3.25).

    Examples
    --------
    >>> import tailback as tb
    >>> tb.models.enachescu_buffer(window=16, over_provision=0.5, utilisation=0.25).buffer
    8
    """
    return BufferSize(
        SIZING_RULES["enachescu"],
        *answers("enachescu_buffer", window=window, over_provision=over_provision, utilisation=utilisation),
    )


def enachescu_window(
    *,
    transmitters: Numbers = 1,
    rate_bps: Numbers,
    packet_bytes: Numbers,
    flows: Numbers,
    mean_rtt_s: Numbers,
    over_provision: Numbers = 0.95,
) -> Result:
    """The window at which all flows together load the bottleneck to `over_provision`.

    Parameters
    ----------
    transmitters : int or array, optional
        K, transmitters that share the buffer: 1 for a link, the wavelength channels of a trunk; 1 to 1,000,000.
    rate_bps : float or array
        Bit rate of one transmitter; bit/s, > 0.
    packet_bytes : float or array
        Size of a packet on the wire; bytes, > 0.
    flows : int or array
        N, long-lived flows; >= 1.
    mean_rtt_s : float or array
        Mean of the flows' round trips without queueing; seconds, > 0.
    over_provision : float or array, optional
        rho, the load of the bottleneck if every flow ran at its largest window; cui-thesis computes with 0.95 (section
        3.8.1); above 0 and below 1.

    Returns
    -------
    float or array
        Packets.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits.

    Notes
    -----
    ``log_{1/rho} (W^2 / (2 (1 - theta))), theta = U / rho; W = rho C RTT_mean / N where no window is given``

    Assumes:

    - over-provision: with every flow at its largest window W the load is rho, below 1
    - packets arrive smoothly: paced, or from access links far slower than the bottleneck
    - utilisation below rho: all flows at their largest window offer no more

    References
    ----------
    Enachescu, Ganjali, Goel, McKeown and Roughgarden, Routers with Very Small Buffers, INFOCOM 2006; Y. Cui, Three problems
    in TCP performance analysis and congestion management, equations (2.4) and (3.25).
    """
    return number(
        "enachescu_window",
        transmitters=transmitters,
        rate_bps=rate_bps,
        packet_bytes=packet_bytes,
        flows=flows,
        mean_rtt_s=mean_rtt_s,
        over_provision=over_provision,
    )


def enachescu_utilisation(*, window: Numbers, over_provision: Numbers = 0.95, buffer: Numbers) -> Result:
    """The largest utilisation for which `enachescu_buffer` asks for no more than `buffer`; 0 if it promises none.

    Parameters
    ----------
    window : float or array
        W, the largest window of a flow in packets; see `enachescu_window`; > 0.
    over_provision : float or array, optional
        rho, the load of the bottleneck if every flow ran at its largest window; cui-thesis computes with 0.95 (section
        3.8.1); above 0 and below 1.
    buffer : float or array
        B, packets that can wait; >= 0.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits.

    Notes
    -----
    ``log_{1/rho} (W^2 / (2 (1 - theta))), theta = U / rho; W = rho C RTT_mean / N where no window is given``

    Assumes:

    - over-provision: with every flow at its largest window W the load is rho, below 1
    - packets arrive smoothly: paced, or from access links far slower than the bottleneck
    - utilisation below rho: all flows at their largest window offer no more

    References
    ----------
    Enachescu, Ganjali, Goel, McKeown and Roughgarden, Routers with Very Small Buffers, INFOCOM 2006; Y. Cui, Three problems
    in TCP performance analysis and congestion management, equations (2.4) and (3.25).
    """
    return number("enachescu_utilisation", window=window, over_provision=over_provision, buffer=buffer)


def enachescu_flows(
    *,
    transmitters: Numbers = 1,
    rate_bps: Numbers,
    packet_bytes: Numbers,
    mean_rtt_s: Numbers,
    over_provision: Numbers = 0.95,
    utilisation: Numbers,
    buffer: Numbers,
) -> Result:
    """The smallest number of flows with which `enachescu_buffer`, at `enachescu_window`, asks for no more than `buffer`.

    Parameters
    ----------
    transmitters : int or array, optional
        K, transmitters that share the buffer: 1 for a link, the wavelength channels of a trunk; 1 to 1,000,000.
    rate_bps : float or array
        Bit rate of one transmitter; bit/s, > 0.
    packet_bytes : float or array
        Size of a packet on the wire; bytes, > 0.
    mean_rtt_s : float or array
        Mean of the flows' round trips without queueing; seconds, > 0.
    over_provision : float or array, optional
        rho, the load of the bottleneck if every flow ran at its largest window; cui-thesis computes with 0.95 (section
        3.8.1); above 0 and below 1.
    utilisation : float or array
        U, share of the bottleneck's capacity that is asked for; above 0 and below 1.
    buffer : float or array
        B, packets that can wait; >= 0.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits; also for a utilisation of `over_provision` or more.

    Notes
    -----
    ``log_{1/rho} (W^2 / (2 (1 - theta))), theta = U / rho; W = rho C RTT_mean / N where no window is given``

    Assumes:

    - over-provision: with every flow at its largest window W the load is rho, below 1
    - packets arrive smoothly: paced, or from access links far slower than the bottleneck
    - utilisation below rho: all flows at their largest window offer no more

    References
    ----------
    Enachescu, Ganjali, Goel, McKeown and Roughgarden, Routers with Very Small Buffers, INFOCOM 2006; Y. Cui, Three problems
    in TCP performance analysis and congestion management, equations (2.4) and (3.25).
    """
    return number(
        "enachescu_flows",
        transmitters=transmitters,
        rate_bps=rate_bps,
        packet_bytes=packet_bytes,
        mean_rtt_s=mean_rtt_s,
        over_provision=over_provision,
        utilisation=utilisation,
        buffer=buffer,
    )


def appenzeller_buffer(
    *,
    transmitters: Numbers = 1,
    rate_bps: Numbers,
    packet_bytes: Numbers,
    flows: Numbers,
    mean_rtt_s: Numbers,
    utilisation: Numbers,
) -> BufferSize:
    """A bandwidth-delay product over the square root of the number of flows, times an x that depends on the utilisation.

    Parameters
    ----------
    transmitters : int or array, optional
        K, transmitters that share the buffer: 1 for a link, the wavelength channels of a trunk; 1 to 1,000,000.
    rate_bps : float or array
        Bit rate of one transmitter; bit/s, > 0.
    packet_bytes : float or array
        Size of a packet on the wire; bytes, > 0.
    flows : int or array
        N, long-lived flows; >= 1.
    mean_rtt_s : float or array
        Mean of the flows' round trips without queueing; seconds, > 0.
    utilisation : float or array
        U, share of the bottleneck's capacity that is asked for; above 0 and below 1.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits; also for a utilisation that the equation does not reach with so
        few flows, whatever the buffer: erf(3 sqrt(3 N) / (2 sqrt(2))) or more.

    Notes
    -----
    ``x C RTT_mean / sqrt(N), U = erf(3 sqrt(3) / (2 sqrt(2)) x / (1 + x / sqrt(N)))``

    Assumes:

    - many long-lived flows that do not halve together: the sum of their windows is normal
    - windows of many packets: a fluid, without the bursts of single packets
    - buffer of about a bandwidth-delay product over sqrt(N); how many links feed it does not matter

    References
    ----------
    Appenzeller, Keslassy and McKeown, Sizing Router Buffers, SIGCOMM 2004; Y. Cui, Three problems in TCP performance
    analysis and congestion management, equations (2.3) and (3.26).

    Examples
    --------
    >>> import tailback as tb
    >>> link = dict(rate_bps=8e9, packet_bytes=1000, flows=10_000, mean_rtt_s=0.1)
    >>> tb.models.appenzeller_buffer(**link, utilisation=0.99).buffer
    1002
    """
    return BufferSize(
        SIZING_RULES["appenzeller"],
        *answers(
            "appenzeller_buffer",
            transmitters=transmitters,
            rate_bps=rate_bps,
            packet_bytes=packet_bytes,
            flows=flows,
            mean_rtt_s=mean_rtt_s,
            utilisation=utilisation,
        ),
    )


def appenzeller_utilisation(
    *, transmitters: Numbers = 1, rate_bps: Numbers, packet_bytes: Numbers, flows: Numbers, mean_rtt_s: Numbers, buffer: Numbers
) -> Result:
    """Utilisation that the equation of `appenzeller_buffer` promises for `buffer`, 0 to 1.

    Parameters
    ----------
    transmitters : int or array, optional
        K, transmitters that share the buffer: 1 for a link, the wavelength channels of a trunk; 1 to 1,000,000.
    rate_bps : float or array
        Bit rate of one transmitter; bit/s, > 0.
    packet_bytes : float or array
        Size of a packet on the wire; bytes, > 0.
    flows : int or array
        N, long-lived flows; >= 1.
    mean_rtt_s : float or array
        Mean of the flows' round trips without queueing; seconds, > 0.
    buffer : float or array
        B, packets that can wait; >= 0.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits.

    Notes
    -----
    ``x C RTT_mean / sqrt(N), U = erf(3 sqrt(3) / (2 sqrt(2)) x / (1 + x / sqrt(N)))``

    Assumes:

    - many long-lived flows that do not halve together: the sum of their windows is normal
    - windows of many packets: a fluid, without the bursts of single packets
    - buffer of about a bandwidth-delay product over sqrt(N); how many links feed it does not matter

    References
    ----------
    Appenzeller, Keslassy and McKeown, Sizing Router Buffers, SIGCOMM 2004; Y. Cui, Three problems in TCP performance
    analysis and congestion management, equations (2.3) and (3.26).
    """
    return number(
        "appenzeller_utilisation",
        transmitters=transmitters,
        rate_bps=rate_bps,
        packet_bytes=packet_bytes,
        flows=flows,
        mean_rtt_s=mean_rtt_s,
        buffer=buffer,
    )


def appenzeller_flows(
    *,
    transmitters: Numbers = 1,
    rate_bps: Numbers,
    packet_bytes: Numbers,
    mean_rtt_s: Numbers,
    utilisation: Numbers,
    buffer: Numbers,
) -> Result:
    """The smallest number of flows with which `appenzeller_buffer` asks for no more than `buffer`.

    Parameters
    ----------
    transmitters : int or array, optional
        K, transmitters that share the buffer: 1 for a link, the wavelength channels of a trunk; 1 to 1,000,000.
    rate_bps : float or array
        Bit rate of one transmitter; bit/s, > 0.
    packet_bytes : float or array
        Size of a packet on the wire; bytes, > 0.
    mean_rtt_s : float or array
        Mean of the flows' round trips without queueing; seconds, > 0.
    utilisation : float or array
        U, share of the bottleneck's capacity that is asked for; above 0 and below 1.
    buffer : float or array
        B, packets that can wait; > 0.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits.

    Notes
    -----
    ``x C RTT_mean / sqrt(N), U = erf(3 sqrt(3) / (2 sqrt(2)) x / (1 + x / sqrt(N)))``

    Assumes:

    - many long-lived flows that do not halve together: the sum of their windows is normal
    - windows of many packets: a fluid, without the bursts of single packets
    - buffer of about a bandwidth-delay product over sqrt(N); how many links feed it does not matter

    References
    ----------
    Appenzeller, Keslassy and McKeown, Sizing Router Buffers, SIGCOMM 2004; Y. Cui, Three problems in TCP performance
    analysis and congestion management, equations (2.3) and (3.26).
    """
    return number(
        "appenzeller_flows",
        transmitters=transmitters,
        rate_bps=rate_bps,
        packet_bytes=packet_bytes,
        mean_rtt_s=mean_rtt_s,
        utilisation=utilisation,
        buffer=buffer,
    )


def synchronised_buffer(
    *, transmitters: Numbers = 1, rate_bps: Numbers, packet_bytes: Numbers, mean_rtt_s: Numbers, utilisation: Numbers
) -> BufferSize:
    """What one flow needs, or any number that halve together: the inverse of `single_flow_utilisation`.

    Parameters
    ----------
    transmitters : int or array, optional
        K, transmitters that share the buffer: 1 for a link, the wavelength channels of a trunk; 1 to 1,000,000.
    rate_bps : float or array
        Bit rate of one transmitter; bit/s, > 0.
    packet_bytes : float or array
        Size of a packet on the wire; bytes, > 0.
    mean_rtt_s : float or array
        Mean of the flows' round trips without queueing; seconds, > 0.
    utilisation : float or array
        U, share of the bottleneck's capacity that is asked for; above 0 and below 1.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits.

    Notes
    -----
    ``b C RTT_mean, where U = (3/4) (1 + b)^2 / (1 + b + b^2), and b = 0 for U <= 3/4``

    Assumes:

    - one flow, or flows of one round trip that all lose and halve together
    - a bandwidth-delay product of many packets: a fluid
    - no timeout, and no slow start except the first

    References
    ----------
    Villamizar and Song, CCR 24(5), 1994; the sawtooth of Appenzeller, Keslassy and McKeown, SIGCOMM 2004, section 2.

    Examples
    --------
    >>> import tailback as tb
    >>> tb.models.synchronised_buffer(rate_bps=8e6, packet_bytes=1000, mean_rtt_s=0.1, utilisation=27 / 28).buffer
    50
    """
    return BufferSize(
        SIZING_RULES["synchronised"],
        *answers(
            "synchronised_buffer",
            transmitters=transmitters,
            rate_bps=rate_bps,
            packet_bytes=packet_bytes,
            mean_rtt_s=mean_rtt_s,
            utilisation=utilisation,
        ),
    )


def synchronised_utilisation(
    *, transmitters: Numbers = 1, rate_bps: Numbers, packet_bytes: Numbers, mean_rtt_s: Numbers, buffer: Numbers
) -> Result:
    """Utilisation, 0.75 to 1, that one flow, or any number that halve together, reach with `buffer`.

    Parameters
    ----------
    transmitters : int or array, optional
        K, transmitters that share the buffer: 1 for a link, the wavelength channels of a trunk; 1 to 1,000,000.
    rate_bps : float or array
        Bit rate of one transmitter; bit/s, > 0.
    packet_bytes : float or array
        Size of a packet on the wire; bytes, > 0.
    mean_rtt_s : float or array
        Mean of the flows' round trips without queueing; seconds, > 0.
    buffer : float or array
        B, packets that can wait; >= 0.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits.

    Notes
    -----
    ``b C RTT_mean, where U = (3/4) (1 + b)^2 / (1 + b + b^2), and b = 0 for U <= 3/4``

    Assumes:

    - one flow, or flows of one round trip that all lose and halve together
    - a bandwidth-delay product of many packets: a fluid
    - no timeout, and no slow start except the first

    References
    ----------
    Villamizar and Song, CCR 24(5), 1994; the sawtooth of Appenzeller, Keslassy and McKeown, SIGCOMM 2004, section 2.
    """
    return number(
        "synchronised_utilisation",
        transmitters=transmitters,
        rate_bps=rate_bps,
        packet_bytes=packet_bytes,
        mean_rtt_s=mean_rtt_s,
        buffer=buffer,
    )


def bandwidth_delay_buffer(
    *, transmitters: Numbers = 1, rate_bps: Numbers, packet_bytes: Numbers, mean_rtt_s: Numbers
) -> BufferSize:
    """The bandwidth-delay product of the mean round trip.

    Parameters
    ----------
    transmitters : int or array, optional
        K, transmitters that share the buffer: 1 for a link, the wavelength channels of a trunk; 1 to 1,000,000.
    rate_bps : float or array
        Bit rate of one transmitter; bit/s, > 0.
    packet_bytes : float or array
        Size of a packet on the wire; bytes, > 0.
    mean_rtt_s : float or array
        Mean of the flows' round trips without queueing; seconds, > 0.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits.

    Notes
    -----
    ``C RTT_mean``

    Assumes:

    - flows halve together, or there is only one: the trough of the sawtooth still fills the link
    - the link has to be full

    References
    ----------
    Villamizar and Song, High Performance TCP in ANSNET, CCR 24(5), 1994.

    Examples
    --------
    >>> import tailback as tb
    >>> tb.models.bandwidth_delay_buffer(rate_bps=40e9, packet_bytes=1040, mean_rtt_s=0.05).buffer
    240385
    """
    return BufferSize(
        SIZING_RULES["bandwidth_delay"],
        *answers(
            "bandwidth_delay_buffer",
            transmitters=transmitters,
            rate_bps=rate_bps,
            packet_bytes=packet_bytes,
            mean_rtt_s=mean_rtt_s,
        ),
    )


def full_utilisation_buffer(
    *, transmitters: Numbers = 1, rate_bps: Numbers, packet_bytes: Numbers, max_rtt_s: Numbers
) -> BufferSize:
    """The first whole number above the bandwidth-delay product of the longest round trip: the queue never runs empty.

    Parameters
    ----------
    transmitters : int or array, optional
        K, transmitters that share the buffer: 1 for a link, the wavelength channels of a trunk; 1 to 1,000,000.
    rate_bps : float or array
        Bit rate of one transmitter; bit/s, > 0.
    packet_bytes : float or array
        Size of a packet on the wire; bytes, > 0.
    max_rtt_s : float or array
        The longest of the flows' round trips without queueing; seconds, > 0.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits.

    Notes
    -----
    ``more than C RTT_max``

    Assumes:

    - drop-tail, and at most one loss per flow when the buffer overflows
    - no timeout, and no other bottleneck
    - the worst case: the flow with the longest round trip may hold the whole link

    References
    ----------
    Y. Cui, Three problems in TCP performance analysis and congestion management, equations (3.28) and (3.29).

    Examples
    --------
    >>> import tailback as tb
    >>> tb.models.full_utilisation_buffer(rate_bps=10e6, packet_bytes=1000, max_rtt_s=0.1).buffer
    126
    """
    return BufferSize(
        SIZING_RULES["full_utilisation"],
        *answers(
            "full_utilisation_buffer",
            transmitters=transmitters,
            rate_bps=rate_bps,
            packet_bytes=packet_bytes,
            max_rtt_s=max_rtt_s,
        ),
    )


def min_queue(
    *, transmitters: Numbers = 1, rate_bps: Numbers, packet_bytes: Numbers, max_rtt_s: Numbers, buffer: Numbers
) -> Result:
    """Packets left, in the worst case, in a buffer that overflowed, after all flows have responded.

    Parameters
    ----------
    transmitters : int or array, optional
        K, transmitters that share the buffer: 1 for a link, the wavelength channels of a trunk; 1 to 1,000,000.
    rate_bps : float or array
        Bit rate of one transmitter; bit/s, > 0.
    packet_bytes : float or array
        Size of a packet on the wire; bytes, > 0.
    max_rtt_s : float or array
        The longest of the flows' round trips without queueing; seconds, > 0.
    buffer : float or array
        B, packets that can wait; >= 0.

    Returns
    -------
    float or array
        Packets.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits.

    Notes
    -----
    ``max(0, (B - C RTT_max) / 2)``

    Assumes:

    - drop-tail, and at most one loss per flow when the buffer overflows
    - no timeout, and no other bottleneck
    - the worst case: the flow with the longest round trip may hold the whole link

    References
    ----------
    Y. Cui, Three problems in TCP performance analysis and congestion management, equation (3.28).
    """
    return number(
        "min_queue", transmitters=transmitters, rate_bps=rate_bps, packet_bytes=packet_bytes, max_rtt_s=max_rtt_s, buffer=buffer
    )


def gorinsky_buffer(inputs: Numbers) -> BufferSize:
    """Two packets for each input link; for a link whose inputs are not known, for each flow.

    Parameters
    ----------
    inputs : int or array
        M, input links that feed the bottleneck, each as fast as one transmitter; >= 1.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits.

    Notes
    -----
    ``2 M``

    Assumes:

    - bursts come from packets that arrive on several inputs at once
    - the input links; for a link whose inputs are not known, its flows
    - no promise of a utilisation

    References
    ----------
    Gorinsky, Kantawala and Turner, Link Buffer Sizing: A New Look at the Old Problem, ISCC 2005.
    """
    return BufferSize(SIZING_RULES["gorinsky"], *answers("gorinsky_buffer", inputs=inputs))


def beheshti_buffer() -> BufferSize:
    """Ten to twenty packets, whatever the network.

    Notes
    -----
    ``10 to 20``

    Assumes:

    - packets arrive smoothly: paced, or from access links far slower than the bottleneck
    - some utilisation may be lost: none is promised

    References
    ----------
    Beheshti, Ganjali, Rajaduray, Blumenthal and McKeown, Buffer Sizing in All-optical Packet Switches, OFC 2006.
    """
    return BufferSize(SIZING_RULES["beheshti"], *answers("beheshti_buffer"))


def single_flow_utilisation(buffer_over_bdp: Numbers) -> Result:
    """Utilisation of a link that carries one greedy Reno-like flow, 0.75 to 1.

    Parameters
    ----------
    buffer_over_bdp : float or array
        b, waiting places of a drop-tail port over rate times two-way propagation; >= 0.

    Returns
    -------
    float or array
        Share of the capacity, 0.75 to 1.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits.

    Notes
    -----
    ``(3/4) (1 + b)^2 / (1 + b + b^2) for b <= 1, and 1 beyond``

    Assumes:

    - a fluid sawtooth
    - no slow start
    - no timeout

    References
    ----------
    Villamizar and Song, High Performance TCP in ANSNET, CCR 24(5), 1994; the sawtooth of Appenzeller, Keslassy and McKeown,
    Sizing Router Buffers, SIGCOMM 2004, section 2; derived in docs/evidence/theory.md.

    Examples
    --------
    >>> import tailback as tb
    >>> tb.models.single_flow_utilisation([0, 1]).tolist()
    [0.75, 1.0]
    """
    return number("single_flow_utilisation", buffer_over_bdp=buffer_over_bdp)


def single_flow_mean_queue(buffer_over_bdp: Numbers) -> Result:
    """Mean queue of the same sawtooth as in `single_flow_utilisation`.

    Parameters
    ----------
    buffer_over_bdp : float or array
        b, waiting places of a drop-tail port over rate times two-way propagation; >= 0.

    Returns
    -------
    float or array
        Bandwidth-delay products.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits.

    Notes
    -----
    ``((W^3 - 1) / 3 - (W^2 - 1) / 2) / (1 - W/2 + (W^2 - 1) / 2) with W = 1 + b for b <= 1, and 7 W / 9 - 1 beyond``

    Assumes:

    - a fluid sawtooth
    - no slow start
    - no timeout

    References
    ----------
    Villamizar and Song, High Performance TCP in ANSNET, CCR 24(5), 1994; the sawtooth of Appenzeller, Keslassy and McKeown,
    Sizing Router Buffers, SIGCOMM 2004, section 2; derived in docs/evidence/theory.md.

    Examples
    --------
    >>> import tailback as tb
    >>> round(tb.models.single_flow_mean_queue(1), 4)
    0.5556
    """
    return number("single_flow_mean_queue", buffer_over_bdp=buffer_over_bdp)


def mathis_rate(*, mss_bytes: Numbers, rtt_s: Numbers, loss: Numbers, segments_per_ack: Numbers = 1) -> Result:
    """The square-root law: payload rate of a greedy flow under light random loss.

    Parameters
    ----------
    mss_bytes : float or array
        Payload of a segment; bytes, > 0.
    rtt_s : float or array
        Round trip, queueing included; seconds, > 0.
    loss : float or array
        Probability that a segment is lost, whatever becomes of others; good up to about 0.01; above 0 and below 1.
    segments_per_ack : int or array, optional
        Segments per acknowledgement, b: 1, or 2 with delayed acknowledgements; >= 1.

    Returns
    -------
    float or array
        bit/s.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits.

    Notes
    -----
    ``MSS / RTT sqrt(3 / (2 b p))``

    Assumes:

    - periodic losses
    - no timeout
    - no window limit

    References
    ----------
    Mathis, Semke, Mahdavi and Ott, The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm, CCR 27(3), 1997,
    equation (3) and table 1.

    Examples
    --------
    >>> import tailback as tb
    >>> round(tb.models.mathis_rate(mss_bytes=1000, rtt_s=0.1, loss=0.006))
    1264911
    """
    return number("mathis_rate", mss_bytes=mss_bytes, rtt_s=rtt_s, loss=loss, segments_per_ack=segments_per_ack)


def cubic_rate(*, mss_bytes: Numbers, rtt_s: Numbers, loss: Numbers) -> Result:
    """Payload rate of a greedy CUBIC flow under light random loss: by its curve, or by Reno's where that is more.

    Parameters
    ----------
    mss_bytes : float or array
        Payload of a segment; bytes, > 0.
    rtt_s : float or array
        Round trip, queueing included; seconds, > 0.
    loss : float or array
        Probability that a segment is lost, whatever becomes of others; above 0 and below 1.

    Returns
    -------
    float or array
        bit/s.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits.

    Notes
    -----
    ``MSS / RTT max((C (3 + beta) / (4 (1 - beta)))^(1/4) (RTT / p)^(3/4), sqrt(3 / (2 p))), C = 0.4, beta = 0.7``

    Assumes:

    - periodic losses
    - no fast convergence
    - no timeout
    - no window limit

    References
    ----------
    RFC 9438, section 5.1.

    Examples
    --------
    >>> import tailback as tb
    >>> flow = dict(mss_bytes=1000, rtt_s=0.1, loss=1e-6)
    >>> round(tb.models.cubic_rate(**flow) / tb.models.mathis_rate(**flow), 2)
    4.84
    """
    return number("cubic_rate", mss_bytes=mss_bytes, rtt_s=rtt_s, loss=loss)


def padhye_rate(
    *, mss_bytes: Numbers, rtt_s: Numbers, loss: Numbers, rto_s: Numbers, receiver_window: Numbers, segments_per_ack: Numbers = 1
) -> Result:
    """Payload rate at which a greedy Reno flow with timeouts and a window limit sends, retransmissions included.

    Parameters
    ----------
    mss_bytes : float or array
        Payload of a segment; bytes, > 0.
    rtt_s : float or array
        Round trip, queueing included; seconds, > 0.
    loss : float or array
        Probability p that a packet is the first lost of its round: loss indications over packets sent; above 0 and below 1.
    rto_s : float or array
        First timeout T0; it doubles up to 64 T0; seconds, > 0.
    receiver_window : int or array
        Receiver window in segments; >= 1.
    segments_per_ack : int or array, optional
        Segments per acknowledgement, b: 1, or 2 with delayed acknowledgements; >= 1.

    Returns
    -------
    float or array
        bit/s.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits.

    Notes
    -----
    ``MSS ((1 - p) / p + W + Q / (1 - p)) / (RTT X + Q f(p) T0 / (1 - p)), W the mean window in which a loss falls, X the
    round trips of a period, Q the share of timeouts``

    Assumes:

    - losses in a round share its fate
    - the RTT does not depend on the window

    References
    ----------
    Padhye, Firoiu, Towsley and Kurose, Modeling TCP Throughput, SIGCOMM 1998, section 2.3: the full model, both branches.

    Examples
    --------
    >>> import tailback as tb
    >>> flow = dict(mss_bytes=1000, rtt_s=0.1, loss=0.01)
    >>> tb.models.padhye_rate(**flow, rto_s=1, receiver_window=1000) < tb.models.mathis_rate(**flow)
    True
    """
    return number(
        "padhye_rate",
        mss_bytes=mss_bytes,
        rtt_s=rtt_s,
        loss=loss,
        rto_s=rto_s,
        receiver_window=receiver_window,
        segments_per_ack=segments_per_ack,
    )


def padhye_goodput(
    *, mss_bytes: Numbers, rtt_s: Numbers, loss: Numbers, rto_s: Numbers, receiver_window: Numbers, segments_per_ack: Numbers = 1
) -> Result:
    """Payload rate at which the data of a greedy Reno flow with timeouts and a window limit arrives.

    Parameters
    ----------
    mss_bytes : float or array
        Payload of a segment; bytes, > 0.
    rtt_s : float or array
        Round trip, queueing included; seconds, > 0.
    loss : float or array
        Probability p that a packet is the first lost of its round: loss indications over packets sent; above 0 and below 1.
    rto_s : float or array
        First timeout T0; it doubles up to 64 T0; seconds, > 0.
    receiver_window : int or array
        Receiver window in segments; >= 1.
    segments_per_ack : int or array, optional
        Segments per acknowledgement, b: 1, or 2 with delayed acknowledgements; >= 1.

    Returns
    -------
    float or array
        bit/s.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits.

    Notes
    -----
    ``MSS ((1 - p) / p + W / 2 + Q) / (RTT X + Q f(p) T0 / (1 - p)), as in padhye_rate``

    Assumes:

    - losses in a round share its fate
    - the RTT does not depend on the window

    References
    ----------
    Padhye, Firoiu, Towsley and Kurose, Modeling TCP Reno Performance, IEEE/ACM ToN 8(2), 2000, section V.

    Examples
    --------
    >>> import tailback as tb
    >>> flow = dict(mss_bytes=1000, rtt_s=0.1, loss=0.01, rto_s=1, receiver_window=1000)
    >>> tb.models.padhye_goodput(**flow) < tb.models.padhye_rate(**flow)
    True
    """
    return number(
        "padhye_goodput",
        mss_bytes=mss_bytes,
        rtt_s=rtt_s,
        loss=loss,
        rto_s=rto_s,
        receiver_window=receiver_window,
        segments_per_ack=segments_per_ack,
    )


def slow_start(*, segments: Numbers, initial_window: Numbers, rtt_s: Numbers, segment_s: Numbers) -> SlowStart:
    """Round trips and completion time of a finite transfer that never leaves slow start.

    Each acknowledgement lets two segments out, so windows double until the link never idles. A window that starts at t
    begins to return at t + RTT. The next starts then, or once the link has sent this one, whichever is later; from there
    acknowledgements return at the link's pace and keep it busy.

    Parameters
    ----------
    segments : int or array
        Full segments to transfer; >= 1.
    initial_window : int or array
        Segments; >= 1.
    rtt_s : float or array
        From the first bit of a segment to its acknowledgement in an empty network, serialisation included; seconds, > 0.
    segment_s : float or array
        Time that the slowest link takes for a segment; at most `rtt_s` in any network; seconds, > 0.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits.

    Notes
    -----
    ``sum over all windows w but the last of max(RTT, w S), plus RTT + (n - 1) S for the n segments of the last``

    Assumes:

    - no loss
    - no delayed acknowledgement
    - no limit on the window

    References
    ----------
    RFC 5681, section 3.1; as computed by Kurose and Ross, Computer Networking, 2nd ed., section 3.7, including the
    transmission time of the link.

    Examples
    --------
    >>> import tailback as tb
    >>> tb.models.slow_start(segments=7, initial_window=1, rtt_s=0.1, segment_s=0.001).round_trips
    3
    """
    return SlowStart(*answers("slow_start", segments=segments, initial_window=initial_window, rtt_s=rtt_s, segment_s=segment_s))


def window_limited_rate(*, window_bytes: Numbers, rtt_s: Numbers, capacity_bps: Numbers) -> Result:
    """Rate of a flow limited by its window or by the link: a window per round trip, or the link if that is slower.

    Exact for a fixed window without loss.

    Parameters
    ----------
    window_bytes : float or array
        Bytes in flight that the window allows, counted as the rate shall be: payload alone or with headers; bytes, > 0.
    rtt_s : float or array
        Round trip through the empty network, serialisation included; seconds, > 0.
    capacity_bps : float or array
        Of the slowest link, for the same bytes; bit/s, > 0.

    Returns
    -------
    float or array
        bit/s.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits.

    Notes
    -----
    ``min(W / RTT, C)``

    Assumes:

    - no loss

    References
    ----------
    RFC 7323, section 1.1.

    Examples
    --------
    >>> import tailback as tb
    >>> tb.models.window_limited_rate(window_bytes=65535, rtt_s=0.1, capacity_bps=1e9)
    5242800.0
    """
    return number("window_limited_rate", window_bytes=window_bytes, rtt_s=rtt_s, capacity_bps=capacity_bps)


def trunk_loss(*, inputs: Numbers, transmitters: Numbers, buffer: Numbers, load: Numbers, model: LossModel = "g1dm") -> TrunkLoss:
    """Loss of a trunk at a given load, by one of the thesis's five models or by one of ours.

    With at least as many transmitters as inputs nothing is lost, except in ``"mmkkb"``, which knows no input links. How far
    each is off says `trunk_accuracy`.

    Parameters
    ----------
    inputs : int or array
        M, input links, each as fast as one transmitter; 1 to 1,000,000.
    transmitters : int or array
        K, transmitters that share the buffer: wavelength channels of the trunk; 1 to 1,000,000.
    buffer : int or array
        B, packets that can wait; 0 to 1,000,000,000.
    load : float or array
        rho, intended load per channel: what the input links would send if nothing held them back, over what the channels
        can carry; 0, or 1e-200 up to but not `inputs / transmitters`; may exceed 1.
    model : str, optional
        Of the loss. ``"g1dm"``, the general one-dimensional model: busy, inserting and discarding input links take no new
        packet; ``"ebd"``, Engset with a buffer and discarding: input links that insert are counted as idle; ``"ebi"``,
        Engset with a buffer and inserting: input links that discard are counted as idle; ``"eb"``, Engset with a buffer:
        links that insert or discard are counted as idle; ``"mmkkb"``, M/M/K/(K+B): Poisson arrivals, whatever the number of
        input links; ``"ebl"``, ours, Engset with a buffer and lengths: packets leave in the time that they took to arrive,
        and links that discard do so while the trunk is full; three of its constants are fitted to simulations.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits.

    Notes
    -----
    ``P_B = a(K+B) p(K+B) / sum over i of a(i) p(i), with the arrival rates a and the states p of the model's chain``

    Assumes:

    - exponential packets and gaps
    - M input links, K channels, B waiting places

    References
    ----------
    Y. Cui, Three problems in TCP performance analysis and congestion management, sections 3.6.2 and 3.6.4; EBL:
    docs/evidence/trunk_accuracy.md.

    Examples
    --------
    >>> import tailback as tb
    >>> trunk = dict(inputs=16, transmitters=2, buffer=10)
    >>> tb.models.trunk_loss(**trunk, load=[0.5, 1.0]).log10_loss.round(3).tolist()
    [-4.132, -1.158]
    >>> bool(tb.models.trunk_loss(**trunk, load=0.5, model="mmkkb").loss > tb.models.trunk_loss(**trunk, load=0.5).loss)
    True
    """
    return TrunkLoss(*answers("trunk_loss", model, inputs=inputs, transmitters=transmitters, buffer=buffer, load=load))


def exact_trunk_loss(*, inputs: Numbers, transmitters: Numbers, buffer: Numbers, load: Numbers, reading: Reading) -> TrunkLoss:
    """Loss of a trunk in the detailed model that `trunk_loss` approximates, from its Markov chain; 1e-10 exact.

    Parameters
    ----------
    inputs : int or array
        M, input links, each as fast as one transmitter; 1 to 1,000,000.
    transmitters : int or array
        K, transmitters that share the buffer: wavelength channels of the trunk; 1 to 1,000,000.
    buffer : int or array
        B, packets that can wait; 0 to 1,000,000,000.
    load : float or array
        rho, intended load per channel: what the input links would send if nothing held them back, over what the channels
        can carry; 0, or 1e-200 up to but not `inputs / transmitters`; may exceed 1.
    reading : str
        What the source leaves open: how long a packet takes to leave that had to wait. Without a buffer there is no
        difference. ``"own_length"``, as long as it took to come; ``"fresh"``, an exponential time drawn anew;
        ``"coupled"``, the same, and if it is still coming then, it has come, too.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits; also for ``"own_length"`` with a buffer, which is no finite
        chain, ``"coupled"`` with more than 20 places, whose states double with each, or a chain of more than 4,000,000
        states, which takes minutes.

    Notes
    -----
    ``the stationary distribution of all link states``

    Assumes:

    - exponential packets and gaps, all link states followed
    - a packet that waited leaves in a fresh exponential time

    References
    ----------
    Y. Cui, Three problems in TCP performance analysis and congestion management, section 3.6.1.

    Examples
    --------
    >>> import tailback as tb
    >>> trunk = dict(inputs=16, transmitters=2, buffer=10, load=0.7)
    >>> exact = tb.models.exact_trunk_loss(**trunk, reading="fresh").loss
    >>> round(tb.models.trunk_loss(**trunk).loss / exact, 2)
    0.96
    """
    return TrunkLoss(*answers("exact_trunk_loss", reading, inputs=inputs, transmitters=transmitters, buffer=buffer, load=load))


def closed_loop(
    *,
    inputs: Numbers,
    transmitters: Numbers,
    buffer: Numbers,
    rate_bps: Numbers,
    packet_bytes: Numbers,
    flows: Numbers,
    harmonic_rtt_s: Numbers,
    segments_per_ack: Numbers = 1,
    rto_s: Numbers | None = None,
    receiver_window: Numbers | None = None,
    model: OpenLoop = "g1dm",
) -> ClosedLoop:
    """Utilisation and loss of a trunk that greedy TCP flows share: the fixed point of a loss model and a law of TCP's rate.

    Parameters
    ----------
    inputs : int or array
        M, input links, each as fast as one transmitter; 1 to 1,000,000.
    transmitters : int or array
        K, transmitters that share the buffer: wavelength channels of the trunk; 1 to 1,000,000.
    buffer : int or array
        B, packets that can wait; 0 to 1,000,000,000.
    rate_bps : float or array
        Bit rate of one transmitter; bit/s, > 0.
    packet_bytes : float or array
        Size of a packet on the wire; bytes, > 0.
    flows : int or array
        N, greedy flows; >= 1.
    harmonic_rtt_s : float or array
        Harmonic mean of their round trips without queueing; see `round_trips`. Queueing is neglected: for small buffers;
        seconds, > 0.
    segments_per_ack : int or array, optional
        Segments per acknowledgement: 1, or 2 with delayed acknowledgements; >= 1.
    rto_s : float or array, optional
        First timeout: with it and `receiver_window` the rate is Padhye's instead of the square-root law. Its timeouts make
        the harmonic mean an approximation where round trips differ, for a timeout takes the same time over any; seconds, >
        0.
    receiver_window : int or array, optional
        Receiver window in segments; >= 1.
    model : str, optional
        Of the loss at a given load; `trunk_accuracy` says how far each is off at the load that comes out. ``"g1dm"``, the
        general one-dimensional model: busy, inserting and discarding input links take no new packet; ``"ebd"``, Engset with
        a buffer and discarding: input links that insert are counted as idle; ``"ebi"``, Engset with a buffer and inserting:
        input links that discard are counted as idle; ``"eb"``, Engset with a buffer: links that insert or discard are
        counted as idle; ``"mmkkb"``, M/M/K/(K+B): Poisson arrivals, whatever the number of input links; ``"ebl"``, ours,
        Engset with a buffer and lengths: packets leave in the time that they took to arrive, and links that discard do so
        while the trunk is full; three of its constants are fitted to simulations; ``"md1k"``, packets of one size and
        Poisson arrivals at one transmitter.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits; also for a load below 1e-200, of flows that send next to nothing.

    Notes
    -----
    ``U = N rate(P) (1 - P) / C, P the loss of the model at the load N rate(P) / C``

    Assumes:

    - greedy flows, rates by Mathis or Padhye
    - no queueing in the round trips

    References
    ----------
    Y. Cui, Three problems in TCP performance analysis and congestion management, section 3.7.1, equations (3.19) to (3.22).

    Examples
    --------
    >>> import tailback as tb
    >>> trunk = dict(rate_bps=40e9, packet_bytes=1040, harmonic_rtt_s=0.1091)
    >>> end = tb.models.closed_loop(inputs=[32, 1600], transmitters=[2, 100], buffer=0, flows=[8000, 400_000], **trunk)
    >>> end.utilisation.round(2).tolist()
    [0.09, 0.71]
    """
    return ClosedLoop(
        *answers(
            "closed_loop",
            model,
            inputs=inputs,
            transmitters=transmitters,
            buffer=buffer,
            rate_bps=rate_bps,
            packet_bytes=packet_bytes,
            flows=flows,
            harmonic_rtt_s=harmonic_rtt_s,
            segments_per_ack=segments_per_ack,
            rto_s=rto_s,
            receiver_window=receiver_window,
        )
    )
