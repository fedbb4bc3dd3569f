"""`validate`: compares a kernel's runs of a pack with simulated ones, both stored in a resumable study."""

from __future__ import annotations

import math
import os
import shlex
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tailback._arguments import arguments_checked
from tailback._emulation.emulating import require_pyroute2
from tailback._emulation.machine import LIMITS
from tailback._process.processors import processors
from tailback._study.measurements import Measurements, Number
from tailback._study.runner import Progress, RunFailed
from tailback._validation.cases import CaseSet, emulated, full, quick
from tailback._validation.comparison import Comparison, Spread, Verdict, compared
from tailback._validation.kernel_runs import KernelCase, KernelRuns, connected, identity, measured, queue_resolution
from tailback._validation.measures import QUEUE
from tailback._validation.page import markdown
from tailback._validation.virtual_runs import VirtualKernel
from tailback.errors import EmulationError, ParameterError

__all__ = ["STUDY", "Validation", "ValidationInterrupted", "validate"]

# Directory of the study, within the directory of a report.
STUDY = "study"


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
        Date of the kernel's runs.
    kept_up : int
        Number of kernel runs in which the machine kept up; only these are compared.
    runs : int
        Number of kernel runs.
    missing : list of str
        Cases without runs on the kernel; their comparisons are inconclusive.
    """

    def __init__(self, pack: CaseSet, comparisons: list[Comparison], kernel: KernelRuns, missing: Sequence[str]) -> None:
        self.pack = pack.name
        self.duration_s = pack.duration_s
        self.comparisons = comparisons
        self.kernel_runs = kernel
        self.kernel, self.date = kernel.kernel, kernel.date
        in_time = [is_in_time for case in kernel.cases for is_in_time in case.kept_up]
        self.kept_up, self.runs = sum(in_time), len(in_time)
        self.missing = list(missing)

    @property
    def worst(self) -> dict[str, float]:
        """The worst timing of the compared runs, by column of the table ``emulation``; NaN without such runs, empty in virtual
        time."""
        worst: dict[str, float] = {}
        if self.kernel_runs.built is not None:
            return worst
        for name in LIMITS:
            values = [
                value
                for case in self.kernel_runs.cases
                for value, is_in_time in zip(case.timing[name], case.kept_up, strict=True)
                if is_in_time and not math.isnan(value)
            ]
            worst[name] = max(values, default=math.nan)
        return worst

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
            "missing": self.missing,
            "timing": self.worst,
            "comparisons": [_plain(comparison) for comparison in self.comparisons],
        }

    def markdown(self) -> str:
        """The report in Markdown."""
        return markdown(f"{self}, {self.date}", self._timing(), self.missing, self.comparisons)

    def _timing(self) -> str:
        if built := self.kernel_runs.built:
            return (
                "The kernel ran in virtual time: the same scenario and seed give the same packets, and values differ only "
                f"between starts. Its SHA-256 is {built['sha256']}."
            )
        worst = self.worst
        return (
            f"The machine kept up in {self.kept_up} of {self.runs} kernel runs; only these are compared. In them, packets were "
            f"at most {1e3 * worst['lateness_p99_s']:.2f} ms late (99th percentile), at most {worst['slipped_share']:.2%} of a "
            f"run's time slipped, programs waited at most {1e3 * worst['kernel_flows_wait_s']:.2f} ms for a processor (mean of a "
            f"run), and a hypervisor took at most {worst['steal_share']:.2%} of the processor time."
        )

    def __str__(self) -> str:
        counts = ", ".join(f"{self.count(verdict)} {verdict.value}" for verdict in Verdict)
        runs = f"{self.kernel}, {self.pack} pack, {self.runs} runs of {self.duration_s:g} s"
        return f"{runs}: of {len(self.comparisons)} comparisons {counts}"


class ValidationInterrupted(KeyboardInterrupt):
    """Ctrl-C. Finished runs are stored in the study, if there is one; the message says how to resume."""


@arguments_checked
def validate(
    study: str | os.PathLike[str] | None = None,
    *,
    kernel: str | os.PathLike[str] | None = None,
    real_time: bool = False,
    linux: str | None = None,
    hz: int = 1000,
    full_pack: bool = False,
    cases: str = "*",
    jobs: int | None = None,
    fresh: bool = False,
    progress: Callable[[Progress], object] | None = None,
) -> Validation:
    """Compare the simulator with Linux: with a built kernel in virtual time, with this machine's kernel in real time, or with
    stored measurements of one.

    Both run each case with the same seeds, which determine RTTs and start times. A kernel in virtual time is built once, by
    ``tailback kernel build``, and needs Linux on x86-64; the machine's kernel needs the privileges of `tailback.emulate`. The
    simulated senders have the settings of the kernel's version. A change of them repeats only the simulated runs.

    Parameters
    ----------
    study : path, optional
        Directory that stores the runs; the same call resumes there.
    kernel : path, optional
        File of an earlier validation, ``kernel.json``: its measurements are compared, in its pack, and nothing runs on a kernel.
    real_time : bool
        Run on this machine's kernel in real time, instead of a built kernel in virtual time. The machine must keep up.
    linux : str, optional
        Version of the built kernel, or its beginning, such as ``"6.12"``; by default the newest.
    hz : int
        Timer ticks per second of the built kernel.
    full_pack : bool
        Run all cases, longer and more often, instead of the quick pack.
    cases : str
        Only cases whose name matches this pattern, with ``*`` for any text, such as ``"BBRv1*"``.
    jobs : int, optional
        Number of parallel runs; by default one per processor in virtual time, and two in real time.
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
    ParameterError
        `kernel` is not a file of measurements, or is given with `full_pack`, or no case matches `cases`, or there is no such
        built kernel; the message has the command that builds it.
    StudyError
        `study` cannot be used.
    ValidationInterrupted
        Ctrl-C.
    """
    virtual = None
    if kernel is None:
        stored, pack = None, full() if full_pack else quick()
        if real_time:
            require_pyroute2()
        else:
            virtual = VirtualKernel.find(linux, hz)
    elif full_pack:
        raise ParameterError("the file of `kernel` determines the pack, so that the full pack cannot be chosen")
    else:
        stored = KernelRuns.load(Path(kernel))
        pack = _pack(stored.pack)
        virtual = None if stored.built is None else VirtualKernel(**stored.built)
    if virtual is None:
        pack = emulated(pack)
    chosen = replace(pack, cases=tuple(case for case in pack.cases if fnmatchcase(case.name, cases)))
    if not chosen.cases:
        raise ParameterError(f"no case of the {pack.name} pack matches `{cases}`; one is `{pack.cases[0].name}`")
    if study is None:
        with tempfile.TemporaryDirectory(prefix="tailback-validation-") as folder:
            try:
                folder_of_runs = Path(folder)
                return _validated(
                    chosen, stored, virtual, folder_of_runs, pattern=cases, jobs=jobs, fresh=True, progress=progress
                )
            except ValidationInterrupted:
                raise ValidationInterrupted("interrupted; nothing was stored, because no directory was given") from None
    return _validated(chosen, stored, virtual, Path(study), pattern=cases, jobs=jobs, fresh=fresh, progress=progress)


def _pack(name: str) -> CaseSet:
    packs = {"quick": quick, "full": full}
    if name not in packs:
        raise ParameterError(f"the file of kernel measurements is of a pack `{name}`; expected one of {', '.join(packs)}")
    return packs[name]()


def _validated(
    pack: CaseSet,
    stored: KernelRuns | None,
    virtual: VirtualKernel | None,
    folder: Path,
    *,
    pattern: str,
    jobs: int | None,
    fresh: bool,
    progress: Callable[[Progress], object] | None,
) -> Validation:
    simulated = Measurements()
    wanted = []
    for case in pack.cases:
        numbers = [Number(measure.of) for measure in case.measures]
        scenario = connected(case) if virtual is None else virtual.simulated_scenario(case)
        wanted.append((case, numbers, simulated.request(scenario, range(1, case.seeds + 1), numbers, case.name)))
    full_pack, chosen = " --full" * (pack.name == "full"), f" --cases {shlex.quote(pattern)}" * (pattern != "*")
    identify = identity if virtual is None else virtual.identity
    identities = [identify(case) for case in pack.cases]
    of_kernel = " --real-time" if virtual is None else f" --linux {virtual.version} --hz {virtual.hz}"
    command = f"tailback validate{of_kernel} --out {shlex.quote(str(folder.parent))}{full_pack}{chosen}"
    if folder.name != STUDY:
        command = f"tailback.validate({str(folder)!r}, ...)"
    try:
        simulated.collect(folder / "simulated", command=command, fresh=fresh, workers=None, on_progress=None)
        today = date.today().isoformat()
        if stored is not None:
            kernel = stored
        elif virtual is not None:
            kernel = virtual.measured(
                pack, identities, folder / "kernel", command=command, jobs=jobs, fresh=fresh, date=today, progress=progress
            )
        else:
            kernel = measured(
                pack,
                identities,
                folder / "kernel",
                command=command,
                jobs=jobs or 2 * processors(),
                fresh=fresh,
                date=today,
                progress=progress,
            )
    except RunFailed as failed:
        raise EmulationError(f"{failed.result.content_hash}: {failed.result.error}") from None
    except KeyboardInterrupt:
        raise ValidationInterrupted(f"interrupted; `{command}` resumes") from None
    found, _ = simulated.found(folder / "simulated")
    comparisons, missing = [], []
    for (case, numbers, keys), name in zip(wanted, identities, strict=True):
        real = kernel.by_identity.get(name)
        if real is None:
            missing.append(case.name)
        for measure, number in zip(case.measures, numbers, strict=True):
            made = [Number.value(found[key, number.name]) for key in keys]
            resolution = queue_resolution(case, real) if measure is QUEUE and real is not None else 0.0
            observed = _in_time(real, measure.name, len(keys))
            if virtual is not None and real is not None and all(map(math.isnan, (*observed, *made))):
                # Neither side has, for example, loss events.
                continue
            spread = Spread.MACHINE if virtual is None else Spread.STARTS
            comparisons.append(compared(case, measure, observed, made, resolution, spread))
    return Validation(pack, comparisons, kernel, missing)


def _in_time(real: KernelCase | None, measure: str, seeds: int) -> list[float]:
    """The kernel's values by seed; NaN for runs in which the machine did not keep up, which do not represent the scenario."""
    if real is None or measure not in real.measures:
        return [math.nan] * seeds
    pairs = zip(real.measures[measure], real.kept_up, strict=True)
    values = [value if is_in_time else math.nan for value, is_in_time in pairs]
    return (values + [math.nan] * seeds)[:seeds]


def _plain(comparison: Comparison) -> dict[str, Any]:
    plain = {**vars(comparison), "verdict": comparison.verdict.value}
    for side in ("kernel", "simulated", "difference"):
        interval = getattr(comparison, side)
        plain[side] = {"mean": interval.mean, "low": interval.low, "high": interval.high}
    return plain
