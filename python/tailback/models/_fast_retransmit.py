"""Whether Reno's fast retransmit repairs the losses of one window without a timeout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tailback import _core
from tailback._arguments import arguments_checked
from tailback.models._broadcasting import one

__all__ = ["FastRetransmit", "fast_retransmit"]


@dataclass(frozen=True)
class FastRetransmit:
    """Outcome of the losses of one window.

    Attributes
    ----------
    recovers : bool
        Whether all losses are repaired without a timeout.
    retransmitted : int
        Number of losses, from the first one, that fast retransmit repairs.
    new_segments : tuple of int
        Number of new segments sent during the recovery of each of these.
    failed_condition : int or None
        The first of the conditions 1 to 4 that does not hold; the retransmission timer repairs that loss.
    failed_formula : str or None
        This condition for N losses n1 < n2 < ... in a window W.
    """

    recovers: bool
    retransmitted: int
    new_segments: tuple[int, ...]
    failed_condition: int | None
    failed_formula: str | None


@arguments_checked
def fast_retransmit(window: int, lost: Sequence[int]) -> FastRetransmit:
    """Determine whether Reno repairs the losses of one window without a timeout.

    Parameters
    ----------
    window : int
        Number of segments in flight, 1 to 1,000,000.
    lost : sequence of int
        Positions of the lost segments, 0 to ``window - 1``, ascending.

    References
    ----------
    The balanced-packet-discard paper (bpd-2001), section 2.2, conditions (1) to (4).

    Examples
    --------
    >>> import tailback as tb
    >>> tb.models.fast_retransmit(10, [0, 4]).recovers
    True
    >>> tb.models.fast_retransmit(9, [0, 4]).failed_formula
    'W/2 - N >= 3'
    """
    recovers, retransmitted, new_segments, failed = one(_core.fast_retransmit, window, list(lost))
    number, formula = failed or (None, None)
    return FastRetransmit(recovers, retransmitted, tuple(new_segments), number, formula)
