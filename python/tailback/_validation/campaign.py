"""`validate_drawn`: compares kernel and presets in drawn scenarios, stored in a resumable study."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import tempfile
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any, TypeAlias

from tailback import _core
from tailback._scenario import Scenario
from tailback._scenario.toml import toml
from tailback._study.fingerprint import fingerprint
from tailback._study.measurements import Computation, Measurements, Number
from tailback._study.runner import Progress
from tailback._validation.campaign_page import markdown
from tailback._validation.cases import Case
from tailback._validation.drawn_scenario import case
from tailback._validation.draws import Settings, draw, kinds
from tailback._validation.explaining import SIMPLIFICATIONS, Text, first_difference, reduced
from tailback._validation.first_packet import first_packet, sent_packets
from tailback._validation.judged import JudgedDraw
from tailback._validation.judging import judge, measures_of
from tailback._validation.kernel_runs import KernelCase, KernelRuns
from tailback._validation.validating import ValidationInterrupted
from tailback._validation.virtual_runs import VirtualKernel
from tailback.errors import ParameterError, ScenarioWarning, StarvationWarning

__all__ = ["Campaign", "validate_drawn"]

# Makes the progress bar of a stage with this name.
Bars: TypeAlias = Callable[[str], AbstractContextManager[Callable[[Progress], object]]]

# Values of the runs by measure, or the error of a run.
Values: TypeAlias = dict[str, list[float]] | str

# Number of the worst draws that are reduced to simpler ones.
WORST = 10


@dataclass(frozen=True)
class Campaign:
    """Results of drawn scenarios.

    Attributes
    ----------
    number, seed : int
    draws : list of JudgedDraw
        The draws that ran on both sides.
    failed : dict
        Errors by the label of a draw.
    missing : list of str
        Draws that the file of kernel measurements lacks.
    kernel_runs : KernelRuns
    built : VirtualKernel
    """

    number: int
    seed: int
    draws: list[JudgedDraw]
    failed: dict[str, str]
    missing: list[str]
    kernel_runs: KernelRuns
    built: VirtualKernel

    @property
    def worst(self) -> list[JudgedDraw]:
        """The draws with the largest differences in units of the limits, at most ten."""
        return _worst(self.draws)

    @property
    def has_differences(self) -> bool:
        """Whether any draw differs, failed or is missing."""
        return bool(self.failed or self.missing) or any(drawn.differs for drawn in self.draws)

    def to_dict(self) -> dict[str, Any]:
        """All results as plain data."""
        return {
            "draws": self.number,
            "seed": self.seed,
            "kernel": self.kernel_runs.kernel,
            "date": self.kernel_runs.date,
            "failed": self.failed,
            "missing": self.missing,
            "results": [drawn.to_dict() for drawn in self.draws],
            "worst": [drawn.settings["name"] for drawn in self.worst],
        }

    def markdown(self) -> str:
        """The report in Markdown."""
        runs = sum(drawn.runs for drawn in self.draws)
        head = (
            f"{self.number} scenarios drawn with seed {self.seed}, {runs} runs with {self.kernel_runs.kernel}, "
            f"{self.kernel_runs.date}, and as many with the presets"
        )
        return markdown(head, self.draws, self.worst, self.failed, self.missing)

    def scenarios(self) -> dict[str, str]:
        """TOML files of the draws that differ, by file name: presets, kernel, and the reduced draws of the worst."""
        files: dict[str, str] = {}
        for drawn in self.draws:
            if drawn.differs:
                files |= self._files(drawn.settings["name"], drawn.settings)
            if drawn.reduced and drawn.reduced["steps"]:
                files |= self._files(f"{drawn.settings['name']}-reduced", drawn.reduced["settings"])
        return files

    def _files(self, name: str, settings: Settings) -> dict[str, str]:
        played = case(settings, ())
        sides = {"presets": self.built.simulated_scenario(played), "linux": self.built.kernel_scenario(played)}
        return {f"{name}-{side}.toml": toml(scenario.to_dict()) for side, scenario in sides.items()}


def validate_drawn(
    number: int,
    seed: int,
    study: str | os.PathLike[str] | None = None,
    *,
    kernel: str | os.PathLike[str] | None = None,
    linux: str | None = None,
    hz: int = 1000,
    jobs: int | None = None,
    fresh: bool = False,
    explain: bool = True,
    bars: Bars | None = None,
) -> Campaign:
    """Compare a kernel in virtual time with the presets in drawn scenarios.

    Parameters
    ----------
    number : int
        Number of draws. A larger number adds draws to the same first ones.
    seed : int
        Seed of the distributions in ``drawn.toml``.
    study : path, optional
        Directory that stores the runs; the same call resumes there.
    kernel : path, optional
        File of an earlier call, ``kernel.json``: its measurements are compared, and only differences are explained with a kernel.
    linux, hz, jobs, fresh
        As in `validate`.
    explain : bool
        Run kernel and presets again to find the first packet that differs and to reduce the worst draws; needs a built kernel.
    bars : callable, optional
        Makes the progress bar of a stage with the given name, as `tailback.RunsBar`.

    Raises
    ------
    ParameterError
        `kernel` is not a file of measurements, or there is no such built kernel; the message has the command that builds it.
    StudyError
        `study` cannot be used.
    ValidationInterrupted
        Ctrl-C.
    """
    stored = None if kernel is None else KernelRuns.load(Path(kernel))
    if stored is None:
        built = VirtualKernel.find(linux, hz)
    elif stored.built is None:
        raise ParameterError(f"`{kernel}` has measurements in real time; draws are compared with a kernel in virtual time")
    else:
        built = VirtualKernel(**stored.built)
    own_folder = tempfile.TemporaryDirectory(prefix="tailback-drawn-") if study is None else nullcontext(study)
    with own_folder as folder, warnings.catch_warnings():
        command = f"tailback validate --drawn {number} --seed {seed} --linux {built.version} --hz {built.hz}"
        if kernel is not None:
            command += f" --kernel {shlex.quote(str(kernel))}"
        if study is not None:
            command += f" --out {shlex.quote(str(Path(study).parent))}"
        try:
            # Advice to the author of a scenario, such as about a target of CoDel for slow links, is of no use for drawn ones.
            for category in (ScenarioWarning, StarvationWarning):
                warnings.simplefilter("ignore", category)
            stages = _Stages(Path(folder), command, jobs, fresh, bars or (lambda _name: nullcontext(lambda _progress: None)))
            campaign = _validated(number, seed, built, stored, stages)
            return replace(campaign, draws=_explained(campaign.draws, built, stages)) if explain else campaign
        except KeyboardInterrupt:
            what = "nothing was stored, because no directory was given" if study is None else f"`{command}` resumes"
            raise ValidationInterrupted(f"interrupted; {what}") from None


@dataclass(frozen=True)
class _Stages:
    """Runs of a campaign. Each stage is a study of its own in the folder."""

    folder: Path
    command: str
    jobs: int | None
    fresh: bool
    bars: Bars

    def measured(self, name: str, requests: Iterable[tuple[Case, Scenario]]) -> list[Values]:
        """Run scenarios with the seeds and measures of their cases."""
        measurements, wanted = Measurements(), []
        for played, scenario in requests:
            numbers = [Number(measure.of) for measure in played.measures]
            keys = measurements.request(scenario, range(1, played.seeds + 1), numbers, played.name)
            wanted.append((played, numbers, keys))
        found, errors = self._collected(name, measurements)
        results: list[Values] = []
        for played, numbers, keys in wanted:
            if failed := [errors[key] for key in keys if key in errors]:
                results.append(failed[0])
                continue
            values = ([Number.value(found[key, number.name]) for key in keys] for number in numbers)
            results.append(dict(zip((measure.name for measure in played.measures), values, strict=True)))
        return results

    def explained(self, name: str, requests: Sequence[tuple[str, Computation]]) -> list[Any]:
        """Results of computations, or their errors as text."""
        measurements, reader = Measurements(), Text()
        keys = [measurements.request(computation, [1], [reader], label)[0] for label, computation in requests]
        if not keys:
            return []
        found, errors = self._collected(name, measurements)
        return [errors[key] if key in errors else Text.value(found[key, reader.name]) for key in keys]

    def _collected(self, name: str, measurements: Measurements) -> tuple[dict[tuple[str, str], Any], dict[str, str]]:
        place = self.folder / name
        with self.bars(name) as watch:
            measurements.collect(
                place, command=self.command, fresh=self.fresh, workers=self.jobs, on_progress=watch, fail_fast=False
            )
        return measurements.found(place)[0], measurements.failed(place)


def _validated(number: int, seed: int, built: VirtualKernel, stored: KernelRuns | None, stages: _Stages) -> Campaign:
    drawn = [draw(seed, place) for place in range(number)]
    cases = [case(settings, measures_of(settings)) for settings in drawn]
    identities = [_identity(played, built) for played in cases]
    if stored is not None and stored.by_identity.keys().isdisjoint(identities):
        raise ParameterError(f"the file of measurements has none of these {number} draws with seed {seed}")
    simulated = stages.measured("presets", [(played, built.simulated_scenario(played)) for played in cases])
    real: list[Values | None]
    if stored is None:
        measured = stages.measured("kernel", [(played, built.kernel_scenario(played)) for played in cases])
        real = list(measured)
        stored = _kernel_runs(seed, built, zip(cases, identities, measured, strict=True))
    else:
        by_identity = stored.by_identity
        real = [by_identity[name].measures if name in by_identity else None for name in identities]
    judged, failed, missing = [], {}, []
    for settings, played, kernel_values, preset_values in zip(drawn, cases, real, simulated, strict=True):
        if kernel_values is None:
            missing.append(played.name)
        elif isinstance(kernel_values, str) or isinstance(preset_values, str):
            errors = {"kernel": kernel_values, "presets": preset_values}
            failed[played.name] = "; ".join(f"{side}: {text}" for side, text in errors.items() if isinstance(text, str))
        else:
            found = tuple(judge(each, kernel_values[each.name], preset_values[each.name]) for each in played.measures)
            judged.append(JudgedDraw(settings, kinds(settings), found, played.seeds))
    return Campaign(number, seed, judged, failed, missing, stored, built)


def _explained(judged: list[JudgedDraw], built: VirtualKernel, stages: _Stages) -> list[JudgedDraw]:
    """Add the first packet that differs to the draws outside a limit, and reduce the worst."""
    different = [drawn for drawn in judged if drawn.differs]
    packets = stages.explained("packets", [(drawn.settings["name"], _of(first_difference, drawn, built)) for drawn in different])
    worst = _worst(different)
    chosen = [(drawn.settings["name"], _of(reduced, drawn, built, measure=drawn.worst_measure)) for drawn in worst]
    reductions = stages.explained("reductions", chosen)
    by_packet = {drawn.settings["name"]: packet for drawn, packet in zip(different, packets, strict=True)}
    by_reduction = {drawn.settings["name"]: found for drawn, found in zip(worst, reductions, strict=True)}
    return [_with(drawn, by_packet, by_reduction) for drawn in judged]


def _with(drawn: JudgedDraw, packets: dict[str, Any], reductions: dict[str, Any]) -> JudgedDraw:
    packet, reduction = packets.get(drawn.settings["name"]), reductions.get(drawn.settings["name"])
    problems = [found for found in (packet, reduction) if isinstance(found, str)]
    return replace(
        drawn,
        packet=packet if isinstance(packet, dict) else None,
        reduced=reduction if isinstance(reduction, dict) else None,
        problem="; ".join(problems),
    )


def _of(function: Callable[..., Any], drawn: JudgedDraw, built: VirtualKernel, **more: Any) -> Computation:
    # Changes of the engine, and of the code that compares and simplifies, repeat it.
    version = f"{_core.sources()} {fingerprint(judge, sent_packets, first_packet, *SIMPLIFICATIONS.values())}"
    return Computation(function, {"settings": drawn.settings, "kernel": asdict(built), **more}, version)


def _worst(draws: Sequence[JudgedDraw]) -> list[JudgedDraw]:
    outside = [drawn for drawn in draws if drawn.differs]
    return sorted(outside, key=lambda drawn: -drawn.excess)[:WORST]


def _identity(played: Case, built: VirtualKernel) -> str:
    """Identifies the kernel's runs of a draw in a file of measurements: the scenario, the runs and the kernel.

    A change of a queue's code does not change it, unlike that of a case of the packs, which costs a simulation.
    """
    given = [built.kernel_scenario(played).to_dict(), played.seeds, asdict(built)]
    return hashlib.sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()[:16]


def _kernel_runs(seed: int, built: VirtualKernel, rows: Iterable[tuple[Case, str, Values]]) -> KernelRuns:
    cases = [KernelCase(played.name, name, {}, values) for played, name, values in rows if not isinstance(values, str)]
    return KernelRuns(f"drawn with seed {seed}", str(built), date.today().isoformat(), cases, asdict(built))
