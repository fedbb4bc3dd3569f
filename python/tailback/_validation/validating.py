"""`validate`: runs the pack on the kernel, in parallel, and in the simulator, and stores the runs in a resumable study."""

from __future__ import annotations

import math
import os
import platform
import tempfile
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

from tailback._arguments import arguments_checked
from tailback._emulation import Emulated, emulate
from tailback._emulation.emulating import require_pyroute2
from tailback._processors import processors
from tailback._run import Run
from tailback._scenario import Scenario
from tailback._study.columns import Column
from tailback._study.measurements import Computation, Measurements, Number
from tailback._study.runner import Progress, RunFailed
from tailback._validation.cases import Case, CaseSet, full, quick
from tailback._validation.comparison import Comparison, Verdict, compared
from tailback._validation.page import markdown
from tailback.errors import EmulationError

__all__ = ["Validation", "ValidationInterrupted", "played", "validate"]

# Maximum number of tries of an emulation; on a shared machine, it is repeated if the machine does not keep up.
_TRIES = 3


@arguments_checked
class Validation:
    """Results of a comparison of kernel and simulator.

    Attributes
    ----------
    comparisons : list of Comparison
        The comparisons of all measures of all cases.
    pack : str
    kernel : str
        Release of the kernel.
    date : str
    kept_up : int
        Number of kernel runs in which the machine kept up; only these are compared.
    runs : int
        Number of kernel runs.
    """

    def __init__(self, pack: CaseSet, comparisons: list[Comparison], kept_up: int, runs: int, worst: Mapping[str, float]) -> None:
        self.pack = pack.name
        self.duration_s = pack.duration_s
        self.comparisons = comparisons
        self.kept_up, self.runs = kept_up, runs
        self.worst = dict(worst)
        self.kernel = f"{platform.system()} {platform.release()}"
        self.date = date.today().isoformat()

    def count(self, verdict: Verdict) -> int:
        """Number of comparisons with this verdict."""
        return sum(comparison.verdict is verdict for comparison in self.comparisons)

    def to_dict(self) -> dict[str, Any]:
        """All results as plain data."""
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
        """The report in Markdown."""
        late, slipped = self.worst["lateness_p99_s"], self.worst["slipped_share"]
        timing = (
            f"The machine kept up in {self.kept_up} of {self.runs} kernel runs; only these are compared. In them, packets were "
            f"at most {1e3 * late:.2f} ms late (99th percentile), and at most {slipped:.2%} of a run's time slipped."
        )
        return markdown(f"{self}, {self.date}", timing, self.comparisons)

    def __str__(self) -> str:
        counts = ", ".join(f"{self.count(verdict)} {verdict.value}" for verdict in Verdict)
        runs = f"{self.kernel}, {self.pack} pack, {self.runs} runs of {self.duration_s:g} s"
        return f"{runs}: of {len(self.comparisons)} comparisons {counts}"


class ValidationInterrupted(KeyboardInterrupt):
    """Ctrl-C. Finished runs are stored in the study, if there is one, and the same call resumes."""


@arguments_checked
def validate(
    study: str | os.PathLike[str] | None = None,
    *,
    full_pack: bool = False,
    jobs: int | None = None,
    fresh: bool = False,
    progress: Callable[[Progress], object] | None = None,
) -> Validation:
    """Compare the simulator with the TCP stack of this machine's kernel.

    Both run each case with the same seeds, which determine RTTs and start times. Linux only, like `tailback.emulate`.

    Parameters
    ----------
    study : path, optional
        Directory that stores the runs; the same call resumes there.
    full_pack : bool
        Run all cases, longer and more often, instead of the quick pack.
    jobs : int, optional
        Number of parallel emulations; by default two per processor.
    fresh : bool
        Repeat stored runs.
    progress : callable, optional
        Called with a `Progress` whenever kernel runs finish.

    Raises
    ------
    MissingExtra
        pyroute2 is not installed.
    EmulationError
        This system does not allow emulation, or its kernel lacks a congestion controller.
    StudyError
        `study` cannot be used.
    ValidationInterrupted
        Ctrl-C.
    """
    require_pyroute2()
    pack = full() if full_pack else quick()
    if study is None:
        with tempfile.TemporaryDirectory(prefix="tailback-validation-") as folder:
            return _validated(pack, Path(folder), jobs, fresh=True, progress=progress)
    return _validated(pack, Path(study), jobs, fresh=fresh, progress=progress)


def _validated(
    pack: CaseSet, folder: Path, jobs: int | None, *, fresh: bool, progress: Callable[[Progress], object] | None
) -> Validation:
    kernel, simulated = Measurements(), Measurements()
    timing = [Number(kept_up), Number(slipped_share), Number(lateness_p99)]
    wanted = []
    for case in pack.cases:
        numbers = {measure.name: Number(measure.of) for measure in case.measures}
        seeds = range(1, case.seeds + 1)
        by_kernel = kernel.request(_emulation(case), seeds, [*numbers.values(), *timing], case.name)
        by_simulator = simulated.request(case.scenario, seeds, numbers.values(), case.name)
        wanted.append((case, numbers, by_kernel, by_simulator))
    command = f"tailback validate --out {folder.parent}{' --full' if pack.name == 'full' else ''}"
    try:
        simulated.collect(folder / "simulated", command=command, fresh=fresh, workers=None, on_progress=None)
        jobs = jobs or 2 * processors()
        kernel.collect(folder / "kernel", command=command, fresh=fresh, workers=jobs, on_progress=progress)
    except RunFailed as failed:
        raise EmulationError(f"{kernel.label(failed.result.content_hash)[0]}: {failed.result.error}") from None
    except KeyboardInterrupt:
        raise ValidationInterrupted(f"interrupted; `{command}` resumes") from None
    real, _ = kernel.found(folder / "kernel")
    made, _ = simulated.found(folder / "simulated")
    comparisons = []
    for case, numbers, by_kernel, by_simulator in wanted:
        in_time = _values(real, by_kernel, timing[0])
        for measure in case.measures:
            number = numbers[measure.name]
            values = [_values(columns, keys, number) for columns, keys in ((real, by_kernel), (made, by_simulator))]
            # Runs in which the machine did not keep up do not represent the scenario.
            values[0] = [value if is_in_time else math.nan for value, is_in_time in zip(values[0], in_time, strict=True)]
            comparisons.append(compared(case, measure, *values))
    keys = [key for _, _, keys, _ in wanted for key in keys]
    up, slipped, late = (_values(real, keys, number) for number in timing)
    compared_runs = [run for run, is_in_time in enumerate(up) if is_in_time] or list(range(len(up)))
    worst = {
        "slipped_share": max(slipped[run] for run in compared_runs),
        "lateness_p99_s": max(late[run] for run in compared_runs),
    }
    return Validation(pack, comparisons, round(sum(up)), len(up), worst)


def _emulation(case: Case) -> Computation:
    description = case.scenario.to_dict()
    return Computation(played, {"scenario": description, "groups": list(case.groups), "kernel": platform.release()})


def played(scenario: Mapping[str, Any], groups: list[str], kernel: str, seed: int, progress: Callable[[float], None]) -> Emulated:
    """Emulate a scenario with these groups on the kernel; repeated if the machine does not keep up."""
    assert kernel == platform.release()
    for _ in range(_TRIES):
        run = emulate(Scenario(scenario), kernel_flows=groups, seed=seed, progress=progress)
        if run.kept_up:
            break
    failures = [failure for failure in run.transfers.to_dict()["failure"] if failure]
    if failures:
        raise EmulationError(f"a kernel flow failed: {failures[0]}")
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
