"""The detailed model of a trunk, by Monte Carlo simulation."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from tailback import _core
from tailback._interval import Interval
from tailback._processors import processors
from tailback._slices import in_slices
from tailback.errors import ParameterError
from tailback.models._broadcasting import one

if TYPE_CHECKING:
    from tailback.models._closed_forms import Reading

__all__ = ["TrunkInterrupted", "TrunkSimulation", "simulate_trunk"]

# For each replication.
_FIRST_PACKETS = 1_000


@dataclass(frozen=True)
class TrunkSimulation:
    """What a trunk lost in a simulation.

    Attributes
    ----------
    loss : float
        Fraction of packets discarded, 0 to 1.
    half_width : float
        Of its 95 % interval, loss ± half_width; 0 where nothing can be lost, NaN where by chance no packet was lost.
    narrow : bool
        Whether the interval is as narrow as was asked for.
    reading : str
        What becomes of a packet that waited, as asked for.
    method : str
        ``"exact"``: nothing can be lost. ``"direct"``: lost packets were counted. ``"splitting"``: they are rare, and histories
        that came close were repeated.
    arrivals : int
        Packets that arrived while the loss was measured, not counting those of repeated histories.
    lost : int
        Packets lost meanwhile; including those of repeated histories, each of which counts less.
    simulated : int
        Packets simulated in all.
    thresholds : tuple of (int, int)
        Packets in the trunk, and how many copies of a history continued each time that this number was reached. Empty unless by
        splitting.
    """

    loss: float
    half_width: float
    narrow: bool
    reading: Reading
    method: Literal["exact", "direct", "splitting"]
    arrivals: int
    lost: int
    simulated: int
    thresholds: tuple[tuple[int, int], ...]

    @property
    def interval(self) -> Interval:
        """The 95 % interval of the loss."""
        return Interval(self.loss, self.half_width)

    @property
    def relative_width(self) -> float:
        """Width of the interval over the loss; NaN where none was lost."""
        return 2 * self.half_width / self.loss if self.loss > 0 else math.nan

    def __str__(self) -> str:
        if self.method == "exact":
            return "loss 0: nothing can be lost"
        if self.simulated and not self.loss > 0:
            return f"no packet lost among {self.simulated:,} simulated: too rare for so few, no interval"
        wide = "" if self.narrow else "; wider than asked for, because no more packets were allowed"
        shown = f"loss {self.loss:.4g} ± {self.half_width:.2g} ({self.relative_width:.2%} wide{wide})"
        return f"{shown}, {self.method}, {self.simulated:,} packets simulated, reading {self.reading}"


class TrunkInterrupted(KeyboardInterrupt):
    """Ctrl-C while a trunk is simulated.

    Attributes
    ----------
    simulation : TrunkSimulation
        What was measured until then; its ``narrow`` is false.
    """

    def __init__(self, simulation: TrunkSimulation) -> None:
        super().__init__(f"interrupted after {simulation.simulated} packets")
        self.simulation = simulation

    def __reduce__(self) -> tuple[Any, ...]:
        return TrunkInterrupted, (self.simulation,)


def simulate_trunk(
    *,
    inputs: int,
    transmitters: int,
    buffer: int,
    load: float,
    reading: Reading = "own_length",
    relative_width: float = 0.03,
    most_arrivals: int = 1_000_000_000,
    splitting: bool = True,
    seed: int = 1,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> TrunkSimulation:
    """Loss of a trunk in the detailed model: every input link and every waiting packet is followed.

    An idle input link starts a packet after an exponential time; packets are of exponential length. A packet is sent on as it
    arrives if a transmitter is free, else it is stored if a waiting place is free, else it is discarded. The same parameters and
    seed give the same result on every platform, with any number of threads.

    Parameters
    ----------
    inputs : int
        Input links, M; 1 to 1,000,000. With no more than transmitters nothing is lost.
    transmitters : int
        Wavelength channels of the trunk, K; 1 to 1,000,000.
    buffer : int
        Packets that can wait, B; 0 to 1,000,000.
    load : float
        Intended load per channel, rho: what the input links would send if nothing held them back, over what the channels can
        carry. 0, or 1e-200 up to but not ``inputs / transmitters``; may exceed 1.
    reading : str
        How long a packet that had to wait takes to leave, which the thesis leaves open: ``"own_length"``, as long as it took to
        arrive; ``"fresh"``, an exponential time drawn anew; ``"coupled"``, the same, and if it is still arriving then, its
        arrival ends, too. Without a buffer there is no difference.
    relative_width : float
        Width of the 95 % interval over the loss at which to stop; above 0 and at most 0.5.
    most_arrivals : int
        Packets to simulate at most; 100,000 to 10**15. A million takes about 50 ms of one core. What is measured when they are
        used up is returned, and its ``narrow`` is false.
    splitting : bool
        Whether to use importance splitting where losses are rare; without it a loss of 1e-8 takes 10**12 packets.
    seed : int
        0 to 2**64 - 1.
    threads : int, optional
        As many as there are processors, if not given; does not affect the result.
    progress : callable, optional
        Called about ten times a second with the fraction done, 0 to 1, as far as can be told, such as a
        `tailback.ProgressBar`. Whatever it raises ends the simulation.

    Returns
    -------
    TrunkSimulation
        Loss and its interval.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits.
    TrunkInterrupted
        Ctrl-C; its ``simulation`` holds what was measured until then. It is a `KeyboardInterrupt`.

    References
    ----------
    Y. Cui, Three problems in TCP performance analysis and congestion management, section 3.6.1. Splitting: M. and J.
    Villen-Altamirano, RESTART, ITC-13, 1991. How it is done and how well: docs/evidence/trunk_simulation.md.

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
        reading=reading,
        relative_width=relative_width,
        most_arrivals=most_arrivals,
        splitting=splitting,
        seed=seed,
    )
    try:
        _advance(simulation, threads, progress or _ignore)
    except KeyboardInterrupt:
        raise TrunkInterrupted(_result(simulation, reading)) from None
    return _result(simulation, reading)


def _advance(simulation: _core.TrunkSimulation, threads: int, progress: Callable[[float], None]) -> None:
    most = 0.0

    def tell() -> None:
        # What is left is estimated anew after each round; a bar does not go back.
        nonlocal most
        most = max(most, simulation.progress)
        progress(most)

    in_slices(lambda packets: simulation.advance(packets, threads), _FIRST_PACKETS, tell, growth=2.0)


def _result(simulation: _core.TrunkSimulation, reading: Reading) -> TrunkSimulation:
    loss, half_width, narrow, arrivals, lost, simulated, thresholds = simulation.measured
    method: Literal["exact", "direct", "splitting"] = "splitting" if thresholds else "direct" if simulated else "exact"
    return TrunkSimulation(loss, half_width, narrow, reading, method, arrivals, lost, simulated, tuple(thresholds))


def _ignore(_fraction: float) -> None:
    pass
