"""The loss of a trunk: many input links, fewer wavelength channels that all of them share, and a few waiting places."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias

from tailback import _core
from tailback.models.broadcasting import over

if TYPE_CHECKING:
    from tailback.models.broadcasting import Numbers, Result

__all__ = ["LOSS_MODELS", "LossModel", "TrunkLoss", "trunk_loss"]

LossModel: TypeAlias = Literal["g1dm", "ebd", "ebi", "eb", "mmkkb", "ebl"]
Reading: TypeAlias = Literal["own_length", "fresh", "coupled"]

# As people write them; all but the last are of the thesis.
LOSS_MODELS: dict[LossModel, str] = {
    "g1dm": "G1DM",
    "ebd": "EBD",
    "ebi": "EBI",
    "eb": "EB",
    "mmkkb": "M/M/K/(K+B)",
    "ebl": "EBL",
}


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


def trunk_loss(*, inputs: Numbers, transmitters: Numbers, buffer: Numbers, load: Numbers, model: LossModel = "g1dm") -> TrunkLoss:
    """Open-loop loss of a trunk, by one of the thesis's five models or by one of ours.

    Parameters
    ----------
    inputs : int or array
        Input links, M; 1 to 1,000,000.
    transmitters : int or array
        Wavelength channels of the trunk, K; 1 to 1,000,000. With at least as many as inputs nothing is lost, except in
        ``"mmkkb"``, which knows no input links.
    buffer : int or array
        Packets that can wait, B; 0 to 1,000,000,000.
    load : float or array
        Intended load per channel, rho: what the input links would send if nothing kept them from it, over what the channels
        carry. 0, or 1e-200 up to but not ``inputs / transmitters``; may exceed 1.
    model : str
        ``"g1dm"``, the general one-dimensional model; ``"ebd"``, ``"ebi"`` or ``"eb"``, Engset with a buffer that knows of
        discarding input links, of inserting ones or of neither; ``"mmkkb"``, M/M/K/(K+B), Poisson arrivals. ``"ebl"``, ours:
        Engset with a buffer and lengths, for packets that leave in the time in which they came; three of its constants are fitted
        to simulations.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits.

    References
    ----------
    Y. Cui, Three problems in TCP performance analysis and congestion management, sections 3.6.2 and 3.6.4. EBL:
    docs/trunk_accuracy.md, with how far each model is off.

    Examples
    --------
    >>> import tailback as tb
    >>> trunk = dict(inputs=16, transmitters=2, buffer=10)
    >>> tb.models.trunk_loss(**trunk, load=[0.5, 1.0]).log10_loss.round(3).tolist()
    [-4.132, -1.158]
    >>> bool(tb.models.trunk_loss(**trunk, load=0.5, model="mmkkb").loss > tb.models.trunk_loss(**trunk, load=0.5).loss)
    True
    """
    of_model = partial(_core.trunk_loss, model=model)
    return TrunkLoss(*over(of_model, inputs=inputs, transmitters=transmitters, buffer=buffer, load=load))


def exact_trunk_loss(*, inputs: Numbers, transmitters: Numbers, buffer: Numbers, load: Numbers, reading: Reading) -> TrunkLoss:
    """Open-loop loss of a trunk in the detailed model that `trunk_loss` approximates, from its Markov chain; 1e-10 exact.

    Parameters
    ----------
    inputs, transmitters, buffer, load
        As in `trunk_loss`.
    reading : str
        What the source leaves open: how long a packet takes to leave that had to wait. ``"own_length"``: as long as it took to
        come; this is a finite chain only without a buffer, where all readings are the same. ``"fresh"``: a new exponential time.
        ``"coupled"``: a new exponential time, which also ends its reception; the states double with each place, up to 20 places.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits; also if the chain has more than 4,000,000 states, which takes minutes.

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
    of_reading = partial(_core.exact_trunk_loss, reading=reading)
    return TrunkLoss(*over(of_reading, inputs=inputs, transmitters=transmitters, buffer=buffer, load=load))
