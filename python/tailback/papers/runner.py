"""Runs what experiments ask for: each distinct run once, in threads, reduced to its measures as soon as it ends."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import Any

from tailback.errors import InternalError, ScenarioError
from tailback.papers.experiment import Experiment, Trace, Variant
from tailback.papers.outcome import Outcome, point
from tailback.run import Run
from tailback.scenario import Scenario
from tailback.simulation import simulate

__all__ = ["Plan", "Tally"]


@dataclass
class Wanted:
    """One thing that is wanted of a run, by whom, and what came of it."""

    place: str
    reduce: Callable[[Run], Any]
    result: Any = None
    known: bool = False


@dataclass(frozen=True)
class Job:
    """A run, and everything that is wanted of it."""

    scenario: Scenario
    seed: int
    wanted: list[Wanted]


@dataclass
class Tally:
    """What was run, and what it took."""

    planned: int
    asked: int
    runs: int = 0
    events: int = 0
    simulated_s: float = 0.0
    hashes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Measured:
    """What is kept of a run."""

    results: list[Any]
    content_hash: str
    events: int
    simulated_s: float


class Plan:
    """All runs of some experiments, in their order, so that those that are interrupted leave whole experiments behind.

    Runs with the same scenario and seed are one run, whoever asks for them.
    """

    def __init__(self, experiments: Sequence[Experiment], seeds: int) -> None:
        self.experiments = experiments
        self.seeds = seeds
        self._jobs: dict[tuple[str, int], Job] = {}
        self._points: dict[str, list[list[Wanted]]] = {}
        self._traces: dict[str, list[Wanted]] = {}
        for experiment in experiments:
            numbers = range(1, experiment.seeds(seeds) + 1)
            self._points[experiment.id] = [
                [self._want(experiment, variant, seed, _measures(experiment)) for seed in numbers]
                for variant in experiment.variants
            ]
            self._traces[experiment.id] = [
                self._want(experiment, _traced(experiment, trace), 1, trace.of) for trace in experiment.traces
            ]
        asked = sum(experiment.runs(seeds) for experiment in experiments)
        self.tally = Tally(len(self._jobs), asked)

    def run(self, threads: int, progress: Callable[[float], object]) -> None:
        """Run everything, `threads` at a time: the core does not hold Python's lock. `progress` hears the fraction done.

        Ctrl-C stops all threads within a slice of simulated time; what is done stays.
        """
        stopping = threading.Event()

        def one(job: Job) -> Measured:
            return _measured(job, lambda _fraction: _stop_if(stopping))

        with ThreadPoolExecutor(threads) as pool:
            futures = {pool.submit(one, job): job for job in self._jobs.values()}
            try:
                for future in as_completed(futures):
                    self._keep(futures[future], future.result())
                    progress(self.tally.runs / self.tally.planned)
            except BaseException:
                stopping.set()
                pool.shutdown(cancel_futures=True)
                raise

    def outcomes(self) -> list[Outcome]:
        """Those experiments of which every run is done."""
        found = []
        for experiment in self.experiments:
            points, traces = self._points[experiment.id], self._traces[experiment.id]
            if all(wanted.known for wanted in [*traces, *(wanted for runs in points for wanted in runs)]):
                measured = [
                    point(variant, [wanted.result for wanted in runs])
                    for variant, runs in zip(experiment.variants, points, strict=True)
                ]
                drawn = {trace.name: wanted.result for trace, wanted in zip(experiment.traces, traces, strict=True)}
                found.append(Outcome(experiment, experiment.seeds(self.seeds), measured, drawn))
        return found

    def _want(self, experiment: Experiment, variant: Variant, seed: int, reduce: Callable[[Run], Any]) -> Wanted:
        wanted = Wanted(f"{experiment.id} ({variant}), seed {seed}", reduce)
        try:
            key = (json.dumps(variant.scenario.normalised(), sort_keys=True), seed)
        except ScenarioError as error:
            raise InternalError(f"{wanted.place}: {error}", "none", seed) from error
        self._jobs.setdefault(key, Job(variant.scenario, seed, [])).wanted.append(wanted)
        return wanted

    def _keep(self, job: Job, measured: Measured) -> None:
        for wanted, result in zip(job.wanted, measured.results, strict=True):
            wanted.result, wanted.known = result, True
        self.tally.runs += 1
        self.tally.events += measured.events
        self.tally.simulated_s += measured.simulated_s
        self.tally.hashes.append(measured.content_hash)


class _Stopped(Exception):
    """Another thread was interrupted."""


def _stop_if(stopping: threading.Event) -> None:
    if stopping.is_set():
        raise _Stopped


def _measured(job: Job, watch: Callable[[float], None]) -> Measured:
    """The run of a job, reduced. What goes wrong says for which experiment and seed."""
    place, content_hash = job.wanted[0].place, "none"
    try:
        run = simulate(job.scenario, job.seed, progress=watch)
        content_hash = run.content_hash
        results = []
        for wanted in job.wanted:
            place = wanted.place
            results.append(wanted.reduce(run))
        return Measured(results, content_hash, run.events, run.simulated_s)
    except _Stopped:
        raise
    except InternalError as error:
        raise InternalError(f"{place}: {error.message}", error.content_hash, error.seed) from error
    except Exception as error:
        raise InternalError(f"{place}: {type(error).__name__}: {error}", content_hash, job.seed) from error


def _measures(experiment: Experiment) -> Callable[[Run], dict[str, float]]:
    return lambda run: {name: float(measure(run)) for name, measure in experiment.measures.items()}


def _traced(experiment: Experiment, trace: Trace) -> Variant:
    """The variant of which a trace is drawn, recording it."""
    (variant,) = (
        variant
        for variant in experiment.variants
        if all(variant.labels.get(name) == label for name, label in trace.where.items())
    )
    return Variant(variant.labels, variant.scenario.with_({"record.traces": trace.record}))
