"""Runs of experiments as a study: each distinct run is simulated once and reduced to its measures in the worker."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tailback._study.columns import Column
from tailback._study.measurements import Curve, Measurement, Measurements, Number, Tally
from tailback._study.runner import Progress, RunFailed
from tailback.errors import InternalError, ParameterError, ScenarioError, StudyError, UnknownName
from tailback.papers._experiment import Experiment, Trace, Variant
from tailback.papers._measured import point
from tailback.papers._outcome import Outcome

__all__ = ["Plan"]

# Content hashes of the runs of a variant or a trace, by seed.
Runs = list[str]


class Plan:
    """All runs of some experiments, in experiment order, so that an interrupted study contains complete experiments.

    Runs with the same scenario and seed are shared between experiments.
    """

    def __init__(self, experiments: Sequence[Experiment], seeds: int | None = None, command: str = "") -> None:
        self.experiments = experiments
        self.seeds = seeds
        self.requested = sum(experiment.runs(seeds) for experiment in experiments)
        options = "" if seeds is None else f" --seeds {seeds}"
        self._command = command or f"tailback reproduce {' '.join(each.id for each in experiments)}{options}"
        self._measurements = Measurements()
        self._measures = {experiment.id: _measures(experiment) for experiment in experiments}
        self._points: dict[str, list[Runs]] = {}
        self._traces: dict[str, list[tuple[Curve, Runs]]] = {}
        for experiment in experiments:
            readers = self._measures[experiment.id].values()
            # Traced runs come first: they are often long, and should not run last.
            self._traces[experiment.id] = [self._traced(experiment, trace) for trace in experiment.traces]
            self._points[experiment.id] = [
                self._want(experiment, variant, range(1, count + 1), readers)
                for variant, count in zip(experiment.variants, experiment.seeds_of_variants(seeds), strict=True)
            ]
        self._found: dict[tuple[str, str], list[Column]] = {}
        self.tally = Tally(len(self._measurements), 0, 0, 0.0, [])

    def run(
        self,
        study: Path | None = None,
        *,
        workers: int | None = None,
        fresh: bool = False,
        progress: Callable[[Progress], object] | None = None,
    ) -> int:
        """Run everything that the study in this directory does not contain yet. Returns the number of existing runs.

        Without a directory, results are not stored. Ctrl-C stops all workers within a slice of simulated time and keeps completed
        runs.
        """
        if study is None:
            with tempfile.TemporaryDirectory(prefix="tailback-study-", ignore_cleanup_errors=True) as folder:
                return self.run(Path(folder), workers=workers, progress=progress)
        try:
            kept = self._measurements.collect(study, command=self._command, fresh=fresh, workers=workers, on_progress=progress)
        except RunFailed as failed:
            raise self._failure(failed) from None
        except KeyboardInterrupt:
            # There is no study if the interrupt came before it was created.
            with suppress(StudyError):
                self._found, self.tally = self._measurements.found(study)
            raise
        self._found, self.tally = self._measurements.found(study)
        return kept

    def outcomes(self) -> list[Outcome]:
        """Outcomes of the experiments whose runs are all complete."""
        return [outcome for experiment in self.experiments if (outcome := self._outcome(experiment)) is not None]

    def _outcome(self, experiment: Experiment) -> Outcome | None:
        measures = self._measures[experiment.id]
        try:
            points = [
                point(variant.labels, [{name: self._value(reader, key) for name, reader in measures.items()} for key in runs])
                for variant, runs in zip(experiment.variants, self._points[experiment.id], strict=True)
            ]
            traces = {
                trace.name: self._value(curve, key)
                for trace, (curve, (key,)) in zip(experiment.traces, self._traces[experiment.id], strict=True)
            }
        except KeyError:
            return None
        return Outcome(points, traces, experiment.ranges, experiment=experiment, seeds=experiment.seeds(self.seeds))

    def _value(self, reader: Number | Curve, key: str) -> Any:
        return reader.value(self._found[key, reader.name])

    def _failure(self, failed: RunFailed) -> InternalError | ParameterError | StudyError:
        """Name the experiment of a failed run. Insufficient memory is not a bug: the rest of the study is kept."""
        label, seed = self._measurements.label(failed.result.content_hash)
        message = f"{label}, seed {seed}: {failed.result.error}"
        error = failed.result.error or ""
        if error.startswith(ScenarioError.__name__):
            return StudyError(message)
        # A measure that the result does not have.
        if any(f": {kind.__name__}: " in error for kind in (ParameterError, UnknownName)):
            return ParameterError(message)
        return InternalError(message, failed.result.content_hash, seed)

    def _traced(self, experiment: Experiment, trace: Trace) -> tuple[Curve, Runs]:
        """Request the run of a trace: that variant with the first seed, recording the trace."""
        (variant,) = (
            variant
            for variant in experiment.variants
            if all(variant.labels.get(name) == label for name, label in trace.where.items())
        )
        curve = Curve(trace.of)
        recording = {} if trace.record is None else {"record.traces": trace.record}
        drawn = Variant({**variant.labels, "trace": trace.name}, variant.scenario.with_(recording))
        return curve, self._want(experiment, drawn, [1], [curve])

    def _want(self, experiment: Experiment, variant: Variant, seeds: Iterable[int], readers: Iterable[Measurement]) -> Runs:
        place = f"{experiment.id} ({variant})"
        try:
            return self._measurements.request(variant.scenario, seeds, readers, place)
        except ScenarioError as error:
            raise InternalError(f"{place}: {error}", "none", 1) from error


def _measures(experiment: Experiment) -> dict[str, Number]:
    return {name: Number(measure) for name, measure in experiment.measures.items()}
