"""The detailed model of a trunk, by Monte Carlo simulation."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from tailback import _core
from tailback._arguments import arguments_checked
from tailback._interval import Interval
from tailback._process.processors import processors
from tailback._process.time_slices import in_slices
from tailback.errors import ParameterError
from tailback.models._broadcasting import one

if TYPE_CHECKING:
    from tailback.models._closed_forms import TrunkVariant

__all__ = ["TrunkInterrupted", "TrunkSimulation", "simulate_trunk"]

# Per replication.
_FIRST_PACKETS = 1_000


@dataclass(frozen=True)
class TrunkSimulation:
    """Loss of a trunk, measured by simulation.

    Attributes
    ----------
    loss : float
        Fraction of packets discarded, 0 to 1.
    half_width : float
        Half width of the 95 % interval; 0 if no loss is possible, NaN if no packet happened to be lost.
    narrow : bool
        Whether the interval reached the requested width.
    variant : str
        Treatment of packets that waited, as requested.
    method : str
        ``"exact"``: no loss is possible. ``"direct"``: lost packets were counted. ``"splitting"``: importance splitting, which
        repeats histories that come close to a loss.
    arrivals : int
        Number of packets that arrived during the measurement, without those of repeated histories.
    lost : int
        Number of packets lost during the measurement, including those of repeated histories, which have smaller weights.
    simulated : int
        Total number of simulated packets.
    thresholds : tuple of (int, int)
        Numbers of packets in the trunk, with the number of copies of a history that continue each time the number is reached.
        Empty unless the method is splitting.
    """

    loss: float
    half_width: float
    narrow: bool
    variant: TrunkVariant
    method: Literal["exact", "direct", "splitting"]
    arrivals: int
    lost: int
    simulated: int
    thresholds: tuple[tuple[int, int], ...]

    @property
    def interval(self) -> Interval:
        """The 95 % interval of the loss."""
        return Interval(self.loss, self.half_width, within=(0.0, 1.0))

    @property
    def relative_width(self) -> float:
        """Width of the interval divided by the loss; NaN if no packet was lost."""
        return 2 * self.half_width / self.loss if self.loss > 0 else math.nan

    def __str__(self) -> str:
        if self.method == "exact":
            return "loss 0: no loss is possible"
        if self.simulated and not self.loss > 0:
            return f"no packet lost among {self.simulated:,} simulated: too few packets for so rare a loss, no interval"
        wide = "" if self.narrow else "; wider than requested, because the limit on packets was reached"
        shown = f"loss {self.loss:.4g} ± {self.half_width:.2g} ({self.relative_width:.2%} wide{wide})"
        return f"{shown}, {self.method}, {self.simulated:,} packets simulated, variant {self.variant}"


class TrunkInterrupted(KeyboardInterrupt):
    """Ctrl-C during the simulation of a trunk.

    Attributes
    ----------
    simulation : TrunkSimulation
        The results until the interruption; its ``narrow`` is false.
    """

    def __init__(self, simulation: TrunkSimulation) -> None:
        super().__init__(f"interrupted after {simulation.simulated} packets")
        self.simulation = simulation

    def __reduce__(self) -> tuple[Any, ...]:
        return TrunkInterrupted, (self.simulation,)


@arguments_checked
def simulate_trunk(
    *,
    inputs: int,
    transmitters: int,
    buffer: int,
    load: float,
    variant: TrunkVariant = "own_length",
    relative_width: float = 0.03,
    max_arrivals: int = 1_000_000_000,
    splitting: bool = True,
    seed: int = 1,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> TrunkSimulation:
    """Simulate the loss of a trunk in the detailed model, which represents every input link and every queued packet.

    An idle input link starts a packet after an exponential time; packet lengths are exponential. An arriving packet is
    transmitted at once if a transmitter is free, else queued if the buffer has room, else discarded. The same parameters and seed
    give the same result on every platform, with any number of threads.

    Parameters
    ----------
    inputs : int
        Number of input links, M; 1 to 1,000,000. There is no loss if it does not exceed the number of transmitters.
    transmitters : int
        Number of wavelength channels of the trunk, K; 1 to 1,000,000.
    buffer : int
        Number of packets that can wait, B; 0 to 1,000,000.
    load : float
        Intended load per channel, rho: the traffic that the input links would send without blocking, divided by the capacity of
        the channels. 0, or 1e-200 up to but not including ``inputs / transmitters``; may exceed 1.
    variant : str
        Transmission time of a packet that had to wait, which the thesis does not define: ``"own_length"``, its arrival time;
        ``"fresh"``, a new exponential time; ``"coupled"``, the same, and its arrival ends with its transmission if it is still
        arriving. There is no difference without a buffer.
    relative_width : float
        Width of the 95 % interval divided by the loss at which the simulation stops; above 0 and at most 0.5.
    max_arrivals : int
        Maximum number of packets to simulate; 100,000 to 10**15. A million takes about 50 ms of one core. If the limit is
        reached, the result has a false ``narrow``.
    splitting : bool
        Whether to use importance splitting for rare losses; without it a loss of 1e-8 takes 10**12 packets.
    seed : int
        0 to 2**64 - 1.
    threads : int, optional
        Number of threads, by default the number of processors; does not affect the result.
    progress : callable, optional
        Called about ten times a second with an estimate of the completed fraction, 0 to 1; for example a
        `tailback.ProgressBar`. An exception that it raises ends the simulation.

    Returns
    -------
    TrunkSimulation
        The loss and its interval.

    Raises
    ------
    ParameterError
        A parameter is not valid; the message names it, the given value and the valid values.
    TrunkInterrupted
        Ctrl-C; its ``simulation`` holds the results so far. It is a `KeyboardInterrupt`.

    References
    ----------
    Y. Cui, Three problems in TCP performance analysis and congestion management, section 3.6.1. Splitting: M. and J.
    Villen-Altamirano, RESTART, ITC-13, 1991. Method and accuracy: docs/evidence/trunk_accuracy.md.

    Examples
    --------
    >>> import tailback as tb
    >>> trunk = dict(inputs=16, transmitters=2, buffer=0, load=0.5)
    >>> simulated = tb.models.simulate_trunk(**trunk)
    >>> abs(simulated.loss / tb.models.trunk_loss(**trunk, model="g1dm").loss - 1) < 0.03
    True
    """
    threads = processors() if threads is None else threads
    if not isinstance(threads, int) or threads < 1:
        raise ParameterError(f"`threads` is {threads!r}; expected a whole number of at least 1")
    simulation = one(
        _core.TrunkSimulation,
        inputs=inputs,
        transmitters=transmitters,
        buffer=buffer,
        load=load,
        variant=variant,
        relative_width=relative_width,
        max_arrivals=max_arrivals,
        splitting=splitting,
        seed=seed,
    )
    try:
        _advance(simulation, threads, progress or _ignore)
    except KeyboardInterrupt:
        raise TrunkInterrupted(_result(simulation, variant)) from None
    return _result(simulation, variant)


def _advance(simulation: _core.TrunkSimulation, threads: int, progress: Callable[[float], None]) -> None:
    most = 0.0

    def report() -> None:
        # The estimate of the remaining work changes after each round; the progress must not decrease.
        nonlocal most
        most = max(most, simulation.progress)
        progress(most)

    in_slices(lambda packets: simulation.advance(packets, threads), _FIRST_PACKETS, report, growth=2.0)


def _result(simulation: _core.TrunkSimulation, variant: TrunkVariant) -> TrunkSimulation:
    loss, half_width, narrow, arrivals, lost, simulated, thresholds = simulation.measured
    method: Literal["exact", "direct", "splitting"] = "splitting" if thresholds else "direct" if simulated else "exact"
    return TrunkSimulation(loss, half_width, narrow, variant, method, arrivals, lost, simulated, tuple(thresholds))


def _ignore(_fraction: float) -> None:
    pass
