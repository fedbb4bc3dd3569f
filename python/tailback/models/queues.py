"""Queues in equilibrium. Load is offered work over capacity, times are in mean service times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tailback import _core
from tailback.models.broadcasting import over

if TYPE_CHECKING:
    from tailback.models.broadcasting import Numbers, Result

__all__ = ["FiniteQueue", "erlang_b", "md1_mean_wait", "md1k", "mm1k", "mmck"]


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


def mm1k(load: Numbers, places: Numbers) -> FiniteQueue:
    """M/M/1/K: Poisson arrivals, exponential service, one transmitter.

    Parameters
    ----------
    load : float or array
        Offered load, >= 0; may exceed 1.
    places : int or array
        Units that fit, the one in service included; 0 to 1,000,000.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits.

    References
    ----------
    L. Kleinrock, Queueing Systems 1, 1975, section 3.6.

    Examples
    --------
    >>> import tailback as tb
    >>> tb.models.mm1k(load=1.0, places=4).loss
    0.2
    """
    return FiniteQueue(*over(_core.mm1k, load=load, places=places))


def md1k(load: Numbers, places: Numbers) -> FiniteQueue:
    """M/D/1/K: Poisson arrivals, units of one size, one transmitter.

    Parameters
    ----------
    load : float or array
        Offered load, 0 to 500.
    places : int or array
        Units that fit, the one in service included; 0 to 10,000.

    References
    ----------
    R. B. Cooper, Introduction to Queueing Theory, 2nd ed., 1981, chapter 5.

    Examples
    --------
    >>> import tailback as tb
    >>> tb.models.md1k(load=0.8, places=10).loss < tb.models.mm1k(load=0.8, places=10).loss
    True
    """
    return FiniteQueue(*over(_core.md1k, load=load, places=places))


def mmck(load: Numbers, servers: Numbers, places: Numbers) -> FiniteQueue:
    """M/M/c/K: Poisson arrivals, exponential service, `servers` transmitters.

    Parameters
    ----------
    load : float or array
        Offered work over the capacity of all transmitters, >= 0.
    servers : int or array
        Transmitters, 1 to 1,000,000.
    places : int or array
        Units that fit, those in service included; 0 to 1,000,000.

    References
    ----------
    L. Kleinrock, Queueing Systems 1, 1975, sections 3.5 to 3.8.

    Examples
    --------
    >>> import tailback as tb
    >>> tb.models.mmck(load=1.0, servers=1, places=4) == tb.models.mm1k(load=1.0, places=4)
    True
    """
    return FiniteQueue(*over(_core.mmck, load=load, servers=servers, places=places))


def erlang_b(load: Numbers, servers: Numbers) -> Result:
    """Erlang B: fraction of Poisson arrivals that find all transmitters of a port without waiting places busy.

    Parameters
    ----------
    load : float or array
        Offered load per transmitter, >= 0.
    servers : int or array
        Transmitters, 1 to 1,000,000.

    Returns
    -------
    float or array
        Loss, 0 to 1. Only the mean of the service time matters.

    References
    ----------
    L. Kleinrock, Queueing Systems 1, 1975, section 3.7.

    Examples
    --------
    >>> import tailback as tb
    >>> tb.models.erlang_b(load=1.0, servers=1)
    0.5
    """
    return over(_core.erlang_b, load=load, servers=servers)


def md1_mean_wait(load: Numbers) -> Result:
    """M/D/1: mean time that a unit waits before its service begins, in service times.

    Parameters
    ----------
    load : float or array
        At least 0 and below 1.

    References
    ----------
    L. Kleinrock, Queueing Systems 1, 1975, section 5.6 (Pollaczek-Khinchine).

    Examples
    --------
    >>> import tailback as tb
    >>> tb.models.md1_mean_wait(0.5)
    0.5
    """
    return over(_core.md1_mean_wait, load=load)
