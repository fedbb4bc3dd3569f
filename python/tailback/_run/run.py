"""A run: the results of a simulation and their provenance."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from tailback import _core, _store
from tailback._arguments import arguments_checked
from tailback._html import notebook
from tailback._process.time_slices import in_slices
from tailback._run.files import RunFiles
from tailback._run.notes import notes
from tailback._scenario import Scenario
from tailback._scenario.description import name_of
from tailback._tables.summary import listings, tabulated, text
from tailback._tables.table import Table
from tailback.errors import HostError, HostWarning, ParameterError, warn

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tailback._run.fairness import Fairness

__all__ = ["Interrupted", "Run", "advance", "read_run", "with_changes"]

_FIRST_EVENTS = 10_000


@arguments_checked
class Run(RunFiles):
    """The results of one simulation, as tables of columns.

    Attributes
    ----------
    complete : bool
        False if the run was interrupted.
    simulated_s : float
        Simulated time in seconds.
    events : int
        Number of events that the engine processed.

    Examples
    --------
    >>> import tailback as tb
    >>> scenario = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="10 s", traces=["cwnd"])
    >>> run = tb.simulate(scenario)
    >>> run.traces
    ['cwnd']
    >>> run.trace("cwnd").columns
    ['time_s', 'group', 'flow', 'cwnd_packets']
    """

    def __init__(self, results: _core.Results) -> None:
        self._results = results
        self.complete = results.complete
        self.simulated_s = results.simulated_s
        self.events = results.events

    def __getstate__(self) -> dict[str, Any]:
        state = {**vars(self), "_tables": self._tables, "provenance": self.provenance}
        state.pop("_results", None)
        return state

    @classmethod
    def read(cls, directory: str | os.PathLike[str]) -> Run:
        """Read a run that `save` or ``tailback run --out`` wrote: `tailback.read_run`."""
        tables, provenance = _store.read(directory)
        run = cls.__new__(cls)
        run._tables = tables
        run.complete = bool(provenance["complete"])
        run.simulated_s = float(provenance["simulated_s"])
        run.events = int(provenance["events"])
        run.provenance = provenance
        return run

    @property
    def notes(self) -> list[str]:
        """Notes that affect the interpretation of the results (`Scenario.notes`)."""
        return notes(self)

    def fairness(self, weights: Mapping[str, float] | None = None, compare_red: bool = True) -> Fairness:
        """Compare the flows' goodputs with ideal allocations: max-min fair and proportionally fair rates.

        Flows that send greedily over the whole measurement interval share the capacity. Other traffic on their links (datagrams,
        application-limited flows, completed transfers, flows that start or stop during the interval) keeps its measured goodput,
        including headers, and is listed in `Fairness.notes`. The capacity of a link is its rate; the goodput of a flow is the
        payload share of a full packet. The rate of a flow is limited by its access path and by the maximum rate of its
        controller. Rates of links are those at the end of the warm-up. Acknowledgements, random loss, losses downstream of a
        link, and receiver windows are ignored.

        Parameters
        ----------
        weights : mapping of str to float, optional
            Weights of flow groups, applied to each of their flows, 1e-6 to 1e6; by default 1.
        compare_red : bool
            Whether a complete run over drop-tail bottlenecks is simulated once more with RED there, which takes as long as the
            run. A note names groups that get another part of their fair rate, because phases of packets decide it at a drop-tail
            queue (docs/howto/round_trips.md).

        Raises
        ------
        UnknownName
            No such flow group.
        ParameterError
            There is no single optimum: no flow sends greedily, a route or the rate of a link changes in the measurement interval,
            other flows use all of a link, nothing was measured, or the run is an emulation with real flows.

        Examples
        --------
        >>> import tailback as tb
        >>> run = tb.simulate(tb.parking_lot(
        ...     hops=2, rate="10 Mbps", delay="5 ms", buffer="50 packets", duration="60 s", warmup="20 s",
        ...     flows={
        ...         "long": {"tcp": {"preset": "newreno"}},
        ...         "first": {"to": "n1", "tcp": {"preset": "newreno"}},
        ...         "second": {"from": "n1", "tcp": {"preset": "newreno"}},
        ...     },
        ... ))
        >>> fair = run.fairness()
        >>> (fair.flows["max_min_bps"] / 1e6).round(3), (fair.flows["proportional_bps"] / 1e6).round(3)
        (array([4.867, 4.867, 4.867]), array([3.244, 6.489, 6.489]))
        >>> fair.proportional.distance < fair.max_min.distance
        True
        """
        from tailback._run.fairness import fairness_of
        from tailback._run.fairness_red import with_red

        def simulated(changed: Scenario) -> tuple[Table, float]:
            simulation = changed._simulation(self.seed)
            advance(simulation, lambda _done: None)
            run = Run(simulation.results())
            return run.flows, run.simulated_s

        scenario = Scenario(self.scenario)
        found = fairness_of(scenario, self.seed, self.flows, self.simulated_s, weights or {})
        return with_red(found, scenario, self.seed, weights or {}, simulated) if compare_red and self.complete else found

    def fork(
        self,
        at: str,
        changes: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        progress: Callable[[float], None] | None = None,
    ) -> Run:
        """Simulate the run again with changes from a time on; before it, both runs are the same.

        Parameters
        ----------
        at : str
            Simulated time, such as ``"20 s"``.
        changes : mapping or sequence of mapping
            Entries of the scenario's ``timeline``, without ``at``: new rates, delays, losses and buffers of a link, a failure of
            a link, or the start, stop or route of a flow group.
        progress : callable, optional
            As in `tailback.simulate`.

        Raises
        ------
        ScenarioError
            `at` is not a time within the run, or a change is not valid.

        Examples
        --------
        >>> import tailback as tb
        >>> run = tb.simulate(tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="20 s"))
        >>> slower = run.fork("10 s", {"link": "bottleneck", "rate": "5 Mbps"})
        >>> 0.74 < slower.value() / run.value() < 0.76
        True
        """
        simulation = Scenario(with_changes(self.scenario, at, changes))._simulation(self.seed)
        advance(simulation, progress or (lambda _done: None))
        return Run(simulation.results())

    def summary(self) -> str:
        """A summary of the results as text."""
        return "\n\n".join([text(str(self), self._tables, self.traces), *(f"note: {text}" for text in self.notes)])

    def plot(
        self,
        traces: str | Sequence[str] | None = None,
        *,
        lines: str | Sequence[str] | None = None,
        time_range: tuple[float, float] | None = None,
        by: Literal["flow", "group"] = "flow",
        compare: Run | Mapping[str, Run] | None = None,
        width: float | None = None,
    ) -> Figure:
        """Plot traces over time, or flows and queues if the run has no traces; requires matplotlib.

        ``savefig`` writes PDF with embedded TrueType fonts, SVG with text, or PNG. ``figure.axes[0].set_title(...)`` replaces the
        title of a panel, and ``figure.suptitle(...)`` that of the figure.

        Long lines are thinned to the minimum and maximum of each of many time intervals, so that extremes remain visible.

        Parameters
        ----------
        traces : str or sequence of str, optional
            Kinds of trace, such as ``("cwnd", "queue")``; by default all that were recorded.
        lines : str or sequence of str, optional
            Groups (``"web"``), flows (``"web 3"``) and queues (``"bottleneck"``); by default the first eight of each trace.
        time_range : pair of float, optional
            Start and end, in seconds; by default the whole run.
        by : "flow" or "group"
            Colour by flow, or by group with up to eight flows of each.
        compare : Run, or mapping of str to Run, optional
            Other runs, each drawn in its own column on the same scales, with its name as title.
        width : float, optional
            Width of the figure in inches, 2 to 40; the columns of a page are 3.3 to 3.5 inches wide. By default 8 for one run.

        Raises
        ------
        MissingExtra
            matplotlib is not installed.
        UnknownName
            No such trace, group, flow or queue.
        ParameterError
            `time_range` is not valid or extends beyond a run, `by` is not valid, `compare` is not a run, or the runs have no
            common trace.

        Examples
        --------
        >>> import tailback as tb
        >>> flows = {"web": {"count": 2, "tcp": {"preset": "sack"}}}
        >>> scenario = tb.dumbbell(
        ...     rate="10 Mbps", delay="10 ms", buffer="20 packets", flows=flows, duration="10 s", traces=["cwnd", "queue"]
        ... )
        >>> run = tb.simulate(scenario)
        >>> len(run.plot("cwnd", lines="web 1", time_range=(2, 4)).axes[0].lines)
        1
        >>> len(run.plot(compare=tb.simulate(scenario.with_({"flows.web.tcp.preset": "cubic"}))).axes)
        4
        """
        from tailback._run.plot import TraceSelection, plot_runs
        from tailback.plots import close

        titles = _titles(self, compare)
        shortest = min(run.simulated_s for run in titles.values())
        chosen = TraceSelection.of(traces, lines, time_range, by, shortest)
        return close(plot_runs({title: run._tables for title, run in titles.items()}, chosen, width))

    def __str__(self) -> str:
        cut = "" if self.complete else ", INCOMPLETE"
        return f"{self._title}: {self.simulated_s:g} s simulated{cut}, seed {self.seed}, {self.events:,} events"

    def __repr__(self) -> str:
        return f"<Run {self}>"

    def _repr_html_(self) -> str:
        return notebook(str(self), tables=tabulated(listings(self._tables)))


def _titles(run: Run, compare: Any) -> dict[str, Run]:
    """The runs of a plot by title."""
    if isinstance(compare, Run):
        first, second = _run_label(run, compare), _run_label(compare, run)
        return {first: run, second if second != first else f"{second}, again": compare}
    if compare is None:
        return {str(run): run}
    if not isinstance(compare, Mapping) or not all(
        isinstance(name, str) and isinstance(other, Run) for name, other in compare.items()
    ):
        raise ParameterError(f"`compare` is {compare!r}; expected a run, or runs by name, for example {{'cubic': run}}")
    own = name_of(run.scenario)
    while own in compare:
        own += ", this run"
    return {own: run, **compare}


def _run_label(run: Run, other: Run) -> str:
    """A title that distinguishes a run from another: its name, seed or content hash."""
    name, others = (name_of(each.scenario) for each in (run, other))
    if name != others:
        return name
    return f"{name}, seed {run.seed}" if run.seed != other.seed else f"{name}, {run.content_hash[:8]}"


@arguments_checked
def read_run(directory: str | os.PathLike[str]) -> Run:
    """Read a run from a directory that `Run.save` or ``tailback run --out`` wrote.

    Parameters
    ----------
    directory : path
        Directory with ``provenance.json`` and one Parquet file per table.

    Raises
    ------
    ParameterError
        The directory contains no run, or a damaged one; the message names the file.

    Examples
    --------
    >>> import tempfile, tailback as tb
    >>> run = tb.simulate(tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="5 s"))
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     run.save(f"{directory}/run")
    ...     again = tb.read_run(f"{directory}/run")
    >>> again.summary() == run.summary()
    True
    """
    return Run.read(directory)


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a run.

    Attributes
    ----------
    run : Run
        The results until the interruption; its ``complete`` is false.
    """

    def __init__(self, run: Run) -> None:
        super().__init__(f"interrupted at {run.simulated_s:g} s of simulated time")
        self.run = run

    def __reduce__(self) -> tuple[Any, ...]:
        return Interrupted, (self.run,)


def advance(simulation: _core.Simulation, progress: Callable[[float], None], until_s: float | None = None) -> None:
    """Run to a time, by default the end, in slices of a number of events: one instant may have any number. Slices do not affect
    the results.
    """
    try:
        in_slices(
            lambda events: simulation.run_for(events, until_s),
            _FIRST_EVENTS,
            lambda: progress(simulation.now_s / simulation.duration_s),
        )
    except HostError as error:
        error.run = Run(simulation.results())
        raise
    is_over = until_s is None or simulation.now_s >= simulation.duration_s
    for problem in simulation.host_warnings() if is_over else ():
        warn(HostWarning(problem))


def with_changes(scenario: dict[str, Any], at: str, changes: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A description with further entries of the timeline at a time."""
    events = [changes] if isinstance(changes, Mapping) else list(changes)
    return {**scenario, "timeline": [*scenario.get("timeline", []), *({"at": at, **event} for event in events)]}
