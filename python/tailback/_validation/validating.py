"""`validate`: the pack run by the kernel in parallel lanes, and by the simulator, in a study that resumes."""

from __future__ import annotations

import math
import os
import platform
import tempfile
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

from tailback._emulation import Emulated, emulate
from tailback._emulation.emulating import require_pyroute2
from tailback._processors import processors
from tailback._run import Run
from tailback._scenario import Scenario
from tailback._study.columns import Column
from tailback._study.readings import Computation, Number, Readings
from tailback._study.runner import Progress, RunFailed
from tailback._validation.cases import Case, Pack, full, quick
from tailback._validation.comparison import Comparison, Verdict, compared
from tailback._validation.page import markdown
from tailback.errors import EmulationError

__all__ = ["Validation", "ValidationInterrupted", "played", "validate"]

# A machine that others use stands still now and then; a run in which it did is done again, so often at most.
_TRIES = 3


class Validation:
    """Kernel and simulator side by side.

    Attributes
    ----------
    comparisons : list of Comparison
        Every measure of every case.
    pack : str
    kernel : str
        Its release.
    date : str
    kept_up : int
    runs : int
        Of the kernel's; in those that did not keep up nothing was compared.
    """

    def __init__(self, pack: Pack, comparisons: list[Comparison], kept_up: int, runs: int, worst: Mapping[str, float]) -> None:
        self.pack = pack.name
        self.duration_s = pack.duration_s
        self.comparisons = comparisons
        self.kept_up, self.runs = kept_up, runs
        self.worst = dict(worst)
        self.kernel = f"{platform.system()} {platform.release()}"
        self.date = date.today().isoformat()

    def count(self, verdict: Verdict) -> int:
        """Comparisons that ended so."""
        return sum(comparison.verdict is verdict for comparison in self.comparisons)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {
            "pack": self.pack,
            "kernel": self.kernel,
            "date": self.date,
            "runs": self.runs,
            "kept_up": self.kept_up,
            "timing": self.worst,
            "comparisons": [_plain(comparison) for comparison in self.comparisons],
        }

    def markdown(self) -> str:
        """A page with the table."""
        late, slipped = self.worst["lateness_p99_s"], self.worst["slipped_share"]
        timing = (
            f"The machine kept up in {self.kept_up} of {self.runs} runs of the kernel; in these, packets were at worst "
            f"{1e3 * late:.2f} ms late (99th percentile), and {slipped:.2%} of a run slipped. The others were not compared."
        )
        return markdown(f"{self}, {self.date}", timing, self.comparisons)

    def __str__(self) -> str:
        counts = ", ".join(f"{self.count(verdict)} {verdict.value}" for verdict in Verdict)
        runs = f"{self.kernel}, {self.pack} pack, {self.runs} runs of {self.duration_s:g} s"
        return f"{runs}: of {len(self.comparisons)} comparisons {counts}"


class ValidationInterrupted(KeyboardInterrupt):
    """Ctrl-C: what was finished is kept in the study, if there is one, and resumes."""


def validate(
    study: str | os.PathLike[str] | None = None,
    *,
    full_pack: bool = False,
    lanes: int | None = None,
    fresh: bool = False,
    progress: Callable[[Progress], object] | None = None,
) -> Validation:
    """Compare the simulator with this machine's kernel.

    Each case is run by both, with the same seeds and so with the same round trips and starts. Linux only, as `tailback.emulate`.

    Parameters
    ----------
    study : path, optional
        Keeps the runs, and the same call resumes there.
    full_pack : bool
        All cases, longer and more often, instead of the quick pack.
    lanes : int, optional
        Emulations at a time; by default two for each processor.
    fresh : bool
        Run what the study has again.
    progress : callable, optional
        Called with a `Progress` whenever runs of the kernel are finished.

    Raises
    ------
    MissingExtra
        If pyroute2 is not installed.
    EmulationError
        This system does not allow it, or its kernel lacks a controller.
    StudyError
        `study` cannot be used.
    ValidationInterrupted
        Ctrl-C.
    """
    require_pyroute2()
    pack = full() if full_pack else quick()
    if study is None:
        with tempfile.TemporaryDirectory(prefix="tailback-validation-") as folder:
            return _validated(pack, Path(folder), lanes, fresh=True, progress=progress)
    return _validated(pack, Path(study), lanes, fresh=fresh, progress=progress)


def _validated(
    pack: Pack, folder: Path, lanes: int | None, *, fresh: bool, progress: Callable[[Progress], object] | None
) -> Validation:
    kernel, simulated = Readings(), Readings()
    timing = [Number(kept_up), Number(slipped_share), Number(lateness_p99)]
    wanted = []
    for case in pack.cases:
        numbers = {measure.name: Number(measure.of) for measure in case.measures}
        seeds = range(1, case.seeds + 1)
        by_kernel = kernel.want(_emulation(case), seeds, [*numbers.values(), *timing], case.name)
        by_simulator = simulated.want(case.scenario, seeds, numbers.values(), case.name)
        wanted.append((case, numbers, by_kernel, by_simulator))
    command = f"tailback validate --out {folder.parent}{' --full' if pack.name == 'full' else ''}"
    try:
        simulated.collect(folder / "simulated", command=command, fresh=fresh, workers=None, tell=None)
        lanes = lanes or 2 * processors()
        kernel.collect(folder / "kernel", command=command, fresh=fresh, workers=lanes, tell=progress)
    except RunFailed as failed:
        raise EmulationError(f"{kernel.label(failed.result.content_hash)[0]}: {failed.result.error}") from None
    except KeyboardInterrupt:
        raise ValidationInterrupted(f"interrupted; `{command}` does the rest") from None
    real, _ = kernel.found(folder / "kernel")
    made, _ = simulated.found(folder / "simulated")
    comparisons = []
    for case, numbers, by_kernel, by_simulator in wanted:
        sound = _values(real, by_kernel, timing[0])
        for measure in case.measures:
            number = numbers[measure.name]
            values = [_values(columns, keys, number) for columns, keys in ((real, by_kernel), (made, by_simulator))]
            # A run in which the machine did not keep up is none of the scenario.
            values[0] = [value if is_sound else math.nan for value, is_sound in zip(values[0], sound, strict=True)]
            comparisons.append(compared(case, measure, *values))
    keys = [key for _, _, keys, _ in wanted for key in keys]
    up, slipped, late = (_values(real, keys, number) for number in timing)
    compared_runs = [run for run, is_sound in enumerate(up) if is_sound] or list(range(len(up)))
    worst = {
        "slipped_share": max(slipped[run] for run in compared_runs),
        "lateness_p99_s": max(late[run] for run in compared_runs),
    }
    return Validation(pack, comparisons, round(sum(up)), len(up), worst)


def _emulation(case: Case) -> Computation:
    description = case.scenario.to_dict()
    return Computation(played, {"scenario": description, "groups": list(case.groups), "kernel": platform.release()})


def played(scenario: Mapping[str, Any], groups: list[str], kernel: str, seed: int, progress: Callable[[float], None]) -> Emulated:
    """A run in which the kernel plays these groups, or another if the machine did not keep up in it."""
    assert kernel == platform.release()
    for _ in range(_TRIES):
        run = emulate(Scenario(scenario), played=groups, seed=seed, progress=progress)
        if run.kept_up:
            break
    failures = [failure for failure in run.transfers.to_dict()["failure"] if failure]
    if failures:
        raise EmulationError(f"a flow that the kernel played failed: {failures[0]}")
    return run


def kept_up(run: Run) -> float:
    assert isinstance(run, Emulated)
    return float(run.kept_up)


def slipped_share(run: Run) -> float:
    assert isinstance(run, Emulated)
    return float(run.emulation["slipped_share"][0])


def lateness_p99(run: Run) -> float:
    assert isinstance(run, Emulated)
    return float(run.emulation["lateness_p99_s"][0])


def _values(found: Mapping[tuple[str, str], list[Column]], keys: list[str], number: Number) -> list[float]:
    return [number.value(found[key, number.name]) for key in keys]


def _plain(comparison: Comparison) -> dict[str, Any]:
    plain = {**vars(comparison), "verdict": comparison.verdict.value}
    for side in ("kernel", "simulated", "difference"):
        interval = getattr(comparison, side)
        plain[side] = {"mean": interval.mean, "low": interval.low, "high": interval.high}
    return plain
