"""How much buffer a bottleneck needs, by the rules of the document cui-thesis; parameters as in `sizing`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tailback import _core
from tailback.models.broadcasting import in_order, over
from tailback.models.sizing import SIZING_RULES, BufferSize, whole

if TYPE_CHECKING:
    from tailback.models.broadcasting import Numbers, Result

__all__ = [
    "cui_link_buffer",
    "cui_link_flows",
    "cui_link_utilisation",
    "cui_trunk_buffer",
    "cui_trunk_flows",
    "cui_trunk_utilisation",
]


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
    """The trunk rule of cui-thesis: K transmitters, M inputs, N greedy flows; `switch` is for all M / K trunks.

    With at most as many inputs as transmitters nothing is ever lost and no buffer is needed.

    Raises
    ------
    ParameterError
        Also for a utilisation of ``inputs / transmitters`` or more, where that is 1 or less: the inputs do not bring it.

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
    packets, unrounded, switch = over(
        in_order(_core.cui_trunk_buffer),
        inputs=inputs,
        transmitters=transmitters,
        rate_bps=rate_bps,
        packet_bytes=packet_bytes,
        flows=flows,
        harmonic_rtt_s=harmonic_rtt_s,
        utilisation=utilisation,
    )
    return BufferSize(SIZING_RULES["cui_trunk"], whole(packets), unrounded, switch=switch)


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
    """The largest utilisation, 0 to 1, for which `cui_trunk_buffer` asks for no more than `buffer`; 1 if for any below 1."""
    return over(
        in_order(_core.cui_trunk_utilisation),
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
    """The smallest number of flows with which `cui_trunk_buffer` asks for no more than `buffer`."""
    return whole(
        over(
            in_order(_core.cui_trunk_flows),
            inputs=inputs,
            transmitters=transmitters,
            rate_bps=rate_bps,
            packet_bytes=packet_bytes,
            harmonic_rtt_s=harmonic_rtt_s,
            utilisation=utilisation,
            buffer=buffer,
        )
    )


def cui_link_buffer(
    *, rate_bps: Numbers, packet_bytes: Numbers, flows: Numbers, harmonic_rtt_s: Numbers, utilisation: Numbers
) -> BufferSize:
    """The trunk rule for one transmitter and inputs without number.

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
    packets, unrounded = over(
        in_order(_core.cui_link_buffer),
        rate_bps=rate_bps,
        packet_bytes=packet_bytes,
        flows=flows,
        harmonic_rtt_s=harmonic_rtt_s,
        utilisation=utilisation,
    )
    return BufferSize(SIZING_RULES["cui_link"], whole(packets), unrounded)


def cui_link_utilisation(
    *, rate_bps: Numbers, packet_bytes: Numbers, flows: Numbers, harmonic_rtt_s: Numbers, buffer: Numbers
) -> Result:
    """The largest utilisation, 0 to 1, for which `cui_link_buffer` asks for no more than `buffer`; 1 if for any below 1."""
    return over(
        in_order(_core.cui_link_utilisation),
        rate_bps=rate_bps,
        packet_bytes=packet_bytes,
        flows=flows,
        harmonic_rtt_s=harmonic_rtt_s,
        buffer=buffer,
    )


def cui_link_flows(
    *, rate_bps: Numbers, packet_bytes: Numbers, harmonic_rtt_s: Numbers, utilisation: Numbers, buffer: Numbers
) -> Result:
    """The smallest number of flows with which `cui_link_buffer` asks for no more than `buffer`."""
    return whole(
        over(
            in_order(_core.cui_link_flows),
            rate_bps=rate_bps,
            packet_bytes=packet_bytes,
            harmonic_rtt_s=harmonic_rtt_s,
            utilisation=utilisation,
            buffer=buffer,
        )
    )
