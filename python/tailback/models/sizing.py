"""How much buffer a bottleneck needs: a function a rule, and the inverse questions where a rule has them.

The rules of the document cui-thesis are in `cui_sizing`, all others here.

Parameters of one name mean the same everywhere:

inputs
    M, input links that feed the bottleneck, each as fast as one transmitter; a whole number of at least 1.
transmitters
    K, transmitters that share the buffer, 1 to 1,000,000: 1 for a link, the wavelength channels of a trunk.
rate_bps
    Of one transmitter, bit/s, > 0.
packet_bytes
    Size of a packet on the wire, > 0.
flows
    N, long-lived flows; a whole number of at least 1.
harmonic_rtt_s, mean_rtt_s, max_rtt_s
    Of the flows' round trips without queueing, seconds, > 0. `harmonic_mean_rtt` computes the first.
utilisation
    U, share of the bottleneck's capacity that is wanted, above 0 and below 1.
buffer
    B, waiting places for packets, >= 0.

Each may be a number or an array; arrays are broadcast and go through in one call. `ParameterError` names the parameter, its
value, what fits and, of arrays, the place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tailback import _core
from tailback.models.broadcasting import in_order, over

if TYPE_CHECKING:
    from tailback.models.broadcasting import Numbers, Result

__all__ = [
    "SIZING_RULES",
    "BufferSize",
    "Rule",
    "appenzeller_buffer",
    "appenzeller_flows",
    "appenzeller_utilisation",
    "bandwidth_delay_buffer",
    "beheshti_buffer",
    "enachescu_buffer",
    "enachescu_flows",
    "enachescu_utilisation",
    "enachescu_window",
    "full_utilisation_buffer",
    "gorinsky_buffer",
    "least_queue",
    "synchronised_buffer",
    "synchronised_utilisation",
    "whole",
]

# The over-provision that the document cui-thesis computes with (section 3.8.1).
_OVER_PROVISION = 0.95


@dataclass(frozen=True)
class Rule:
    """What a sizing rule is, in words.

    Attributes
    ----------
    name : str
        As in `BufferSize.rule` and in `SIZING_RULES`.
    idea : str
        What the buffer is for, which is why rules differ.
    equation : str
        In plain text: M inputs, K transmitters, mu packets/s of one, C of all, N flows, U utilisation.
    source : str
        Where it is written.
    assumes : tuple of str
        What has to hold for it to be meant.
    """

    name: str
    idea: str
    equation: str
    source: str
    assumes: tuple[str, ...]


SIZING_RULES: dict[str, Rule] = {
    name: Rule(name, idea, equation, source, tuple(assumes)) for name, idea, equation, source, assumes in _core.sizing_rules()
}
"""All rules, from those that know most of the network to those that know least."""


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
    most : int or None
        The other end, of a rule that gives a range.
    switch : float or array or None
        Packets for all M / K trunks of a switch, of the trunk rule.
    """

    rule: Rule
    buffer: Result
    unrounded: Result
    most: int | None = None
    switch: Result | None = None


def enachescu_window(
    *,
    transmitters: Numbers = 1,
    rate_bps: Numbers,
    packet_bytes: Numbers,
    flows: Numbers,
    mean_rtt_s: Numbers,
    over_provision: Numbers = _OVER_PROVISION,
) -> Result:
    """The window in packets at which all flows together load the bottleneck to `over_provision`, above 0 and below 1."""
    return over(
        in_order(_core.enachescu_window),
        transmitters=transmitters,
        rate_bps=rate_bps,
        packet_bytes=packet_bytes,
        flows=flows,
        mean_rtt_s=mean_rtt_s,
        over_provision=over_provision,
    )


def enachescu_buffer(*, window: Numbers, over_provision: Numbers = _OVER_PROVISION, utilisation: Numbers) -> BufferSize:
    """O(log W): for a network with more capacity than its flows can use.

    Parameters
    ----------
    window : float or array
        W, the largest window of a flow in packets, > 0; see `enachescu_window`.
    over_provision : float or array
        Load of the bottleneck if every flow ran at that window, above 0 and below 1.
    utilisation : float or array
        Above 0 and below `over_provision`.

    References
    ----------
    Enachescu, Ganjali, Goel, McKeown and Roughgarden, Routers with Very Small Buffers, INFOCOM 2006; cui-thesis, equation (2.4).

    Examples
    --------
    >>> import tailback as tb
    >>> tb.models.enachescu_buffer(window=16, over_provision=0.5, utilisation=0.25).buffer
    8
    """
    packets, unrounded = over(
        in_order(_core.enachescu_buffer), window=window, over_provision=over_provision, utilisation=utilisation
    )
    return BufferSize(SIZING_RULES["enachescu"], whole(packets), unrounded)


def enachescu_utilisation(*, window: Numbers, over_provision: Numbers = _OVER_PROVISION, buffer: Numbers) -> Result:
    """The largest utilisation for which `enachescu_buffer` asks for no more than `buffer`; 0 if it promises none."""
    return over(in_order(_core.enachescu_utilisation), window=window, over_provision=over_provision, buffer=buffer)


def enachescu_flows(
    *,
    transmitters: Numbers = 1,
    rate_bps: Numbers,
    packet_bytes: Numbers,
    mean_rtt_s: Numbers,
    over_provision: Numbers = _OVER_PROVISION,
    utilisation: Numbers,
    buffer: Numbers,
) -> Result:
    """The smallest number of flows with which `enachescu_buffer`, at `enachescu_window`, asks for no more than `buffer`."""
    return whole(
        over(
            in_order(_core.enachescu_flows),
            transmitters=transmitters,
            rate_bps=rate_bps,
            packet_bytes=packet_bytes,
            mean_rtt_s=mean_rtt_s,
            over_provision=over_provision,
            utilisation=utilisation,
            buffer=buffer,
        )
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

    Raises
    ------
    ParameterError
        Also for a utilisation that the equation does not reach with so few flows, whatever the buffer.

    References
    ----------
    Appenzeller, Keslassy and McKeown, Sizing Router Buffers, SIGCOMM 2004; cui-thesis, equations (2.3) and (3.26).

    Examples
    --------
    >>> import tailback as tb
    >>> link = dict(rate_bps=8e9, packet_bytes=1000, flows=10_000, mean_rtt_s=0.1)
    >>> tb.models.appenzeller_buffer(**link, utilisation=0.99).buffer
    1002
    """
    packets, unrounded = over(
        in_order(_core.appenzeller_buffer),
        transmitters=transmitters,
        rate_bps=rate_bps,
        packet_bytes=packet_bytes,
        flows=flows,
        mean_rtt_s=mean_rtt_s,
        utilisation=utilisation,
    )
    return BufferSize(SIZING_RULES["appenzeller"], whole(packets), unrounded)


def appenzeller_utilisation(
    *,
    transmitters: Numbers = 1,
    rate_bps: Numbers,
    packet_bytes: Numbers,
    flows: Numbers,
    mean_rtt_s: Numbers,
    buffer: Numbers,
) -> Result:
    """Utilisation that `appenzeller_buffer`'s equation promises for `buffer`, 0 to 1."""
    return over(
        in_order(_core.appenzeller_utilisation),
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
    """The smallest number of flows with which `appenzeller_buffer` asks for no more than `buffer`, which must be above 0."""
    return whole(
        over(
            in_order(_core.appenzeller_flows),
            transmitters=transmitters,
            rate_bps=rate_bps,
            packet_bytes=packet_bytes,
            mean_rtt_s=mean_rtt_s,
            utilisation=utilisation,
            buffer=buffer,
        )
    )


def synchronised_buffer(
    *, transmitters: Numbers = 1, rate_bps: Numbers, packet_bytes: Numbers, mean_rtt_s: Numbers, utilisation: Numbers
) -> BufferSize:
    """What one flow needs, or any number that halve together: the inverse of `single_flow_utilisation`.

    References
    ----------
    Villamizar and Song, CCR 24(5), 1994; Appenzeller, Keslassy and McKeown, SIGCOMM 2004, section 2.

    Examples
    --------
    >>> import tailback as tb
    >>> tb.models.synchronised_buffer(rate_bps=8e6, packet_bytes=1000, mean_rtt_s=0.1, utilisation=27 / 28).buffer
    50
    """
    packets, unrounded = over(
        in_order(_core.synchronised_buffer),
        transmitters=transmitters,
        rate_bps=rate_bps,
        packet_bytes=packet_bytes,
        mean_rtt_s=mean_rtt_s,
        utilisation=utilisation,
    )
    return BufferSize(SIZING_RULES["synchronised"], whole(packets), unrounded)


def synchronised_utilisation(
    *, transmitters: Numbers = 1, rate_bps: Numbers, packet_bytes: Numbers, mean_rtt_s: Numbers, buffer: Numbers
) -> Result:
    """Utilisation, 0.75 to 1, that one flow, or any number that halve together, reach with `buffer`."""
    return over(
        in_order(_core.synchronised_utilisation),
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

    References
    ----------
    Villamizar and Song, High Performance TCP in ANSNET, CCR 24(5), 1994.

    Examples
    --------
    >>> import tailback as tb
    >>> tb.models.bandwidth_delay_buffer(rate_bps=40e9, packet_bytes=1040, mean_rtt_s=0.05).buffer
    240385
    """
    packets, unrounded = over(
        in_order(_core.bandwidth_delay_buffer),
        transmitters=transmitters,
        rate_bps=rate_bps,
        packet_bytes=packet_bytes,
        mean_rtt_s=mean_rtt_s,
    )
    return BufferSize(SIZING_RULES["bandwidth_delay"], whole(packets), unrounded)


def full_utilisation_buffer(
    *, transmitters: Numbers = 1, rate_bps: Numbers, packet_bytes: Numbers, max_rtt_s: Numbers
) -> BufferSize:
    """The first whole number above the bandwidth-delay product of the longest round trip: the queue never runs empty.

    References
    ----------
    Y. Cui, Three problems in TCP performance analysis and congestion management, equation (3.29).

    Examples
    --------
    >>> import tailback as tb
    >>> tb.models.full_utilisation_buffer(rate_bps=10e6, packet_bytes=1000, max_rtt_s=0.1).buffer
    126
    """
    packets, unrounded = over(
        in_order(_core.full_utilisation_buffer),
        transmitters=transmitters,
        rate_bps=rate_bps,
        packet_bytes=packet_bytes,
        max_rtt_s=max_rtt_s,
    )
    return BufferSize(SIZING_RULES["full_utilisation"], whole(packets), unrounded)


def least_queue(
    *, transmitters: Numbers = 1, rate_bps: Numbers, packet_bytes: Numbers, max_rtt_s: Numbers, buffer: Numbers
) -> Result:
    """Packets left, in the worst case, in a buffer that overflowed and was answered by all flows.

    References
    ----------
    Y. Cui, Three problems in TCP performance analysis and congestion management, equation (3.28).
    """
    return over(
        in_order(_core.least_queue),
        transmitters=transmitters,
        rate_bps=rate_bps,
        packet_bytes=packet_bytes,
        max_rtt_s=max_rtt_s,
        buffer=buffer,
    )


def gorinsky_buffer(*, inputs: Numbers) -> BufferSize:
    """Two packets for each input link; of a link whose inputs are not known, take its flows.

    References
    ----------
    Gorinsky, Kantawala and Turner, Link Buffer Sizing: A New Look at the Old Problem, ISCC 2005.
    """
    packets, unrounded = over(in_order(_core.gorinsky_buffer), inputs=inputs)
    return BufferSize(SIZING_RULES["gorinsky"], whole(packets), unrounded)


def beheshti_buffer() -> BufferSize:
    """Ten to twenty packets, whatever the network.

    References
    ----------
    Beheshti, Ganjali, Rajaduray, Blumenthal and McKeown, Buffer Sizing in All-optical Packet Switches, OFC 2006.
    """
    fewest, most = _core.beheshti_buffer()
    return BufferSize(SIZING_RULES["beheshti"], int(fewest), fewest, most=int(most))


def whole(numbers: Result) -> Result:
    """As whole numbers; the core keeps them below 2^53."""
    return int(numbers) if isinstance(numbers, float) else numbers.astype("int64")
