"""The kernel's side of a validation: measurements of its runs, in a file apart from the simulator's.

`virtual_runs` makes them with a kernel in virtual time, and this module with this machine's kernel in real time. A kernel's run
depends on the network and on the settings of the kernel. A change of the simulated senders does not repeat it.
"""

from __future__ import annotations

import hashlib
import json
import math
import platform
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any, Self

from tailback._emulation import Emulated, emulate
from tailback._emulation.machine import LIMITS, exceeded
from tailback._run import Run
from tailback._scenario import Scenario
from tailback._simulation import simulate_keeping_checkpoint
from tailback._study.columns import Column
from tailback._study.fingerprint import fingerprint
from tailback._study.measurements import Computation, Measurements, Number
from tailback._study.runner import Progress
from tailback._validation.cases import PACKET, Case, CaseSet
from tailback._validation.measures import UTILISATION, Measure
from tailback.errors import EmulationError, ParameterError, ScenarioWarning

__all__ = ["KernelCase", "KernelRuns", "connected", "identity", "identity_with", "measured", "played", "queue_resolution"]

# Maximum number of tries of an emulation; on a shared machine, it is repeated if the machine does not keep up.
_TRIES = 3

# Duration of the simulation that identifies a network: some round trips of every case.
_PROBE = {"duration": "5 s", "warmup": "0 s"}


@dataclass(frozen=True)
class KernelCase:
    """Measurements of a case on the kernel. Lists are by seed, from 1.

    Attributes
    ----------
    name : str
    identity : str
        Identifies network and kernel settings (`identity`).
    timing : dict
        Columns of the table ``emulation`` that have a limit; empty in virtual time.
    measures : dict
        Values by measure; NaN where a measure is not defined.
    """

    name: str
    identity: str
    timing: dict[str, list[float]]
    measures: dict[str, list[float]]

    @property
    def kept_up(self) -> list[bool]:
        """Whether the machine kept up with real time in each run; always in virtual time."""
        if not self.timing:
            return [True] * len(next(iter(self.measures.values()), []))
        return [not exceeded(dict(zip(self.timing, run, strict=True))) for run in zip(*self.timing.values(), strict=True)]


@dataclass(frozen=True)
class KernelRuns:
    """Measurements of a pack on one kernel.

    Attributes
    ----------
    pack, kernel, date : str
    cases : list of KernelCase
    built : dict, optional
        Version, tick rate and hash of a kernel in virtual time.
    """

    pack: str
    kernel: str
    date: str
    cases: list[KernelCase]
    built: dict[str, Any] | None = None

    @cached_property
    def by_identity(self) -> dict[str, KernelCase]:
        return {case.identity: case for case in self.cases}

    def to_json(self) -> str:
        """A line per case."""
        built = {} if self.built is None else {"built": self.built}
        head = json.dumps({"pack": self.pack, "kernel": self.kernel, "date": self.date, **built})
        cases = ",\n".join(json.dumps(_without_nan(vars(case)), allow_nan=False) for case in self.cases)
        return f'{head[:-1]}, "cases": [\n{cases}\n]}}'

    @classmethod
    def load(cls, file: Path) -> Self:
        """Read a file of measurements.

        Raises
        ------
        ParameterError
            The file cannot be read, or is not such a file.
        """
        try:
            given = json.loads(file.read_text(encoding="utf-8"))
            cases = [KernelCase(**_with_nan(case)) for case in given.pop("cases")]
            return cls(**given, cases=cases)
        except OSError as error:
            raise ParameterError(f"cannot read `{file}`: {error.strerror}") from None
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ParameterError(
                f"`{file}` is not a file of kernel measurements, as `tailback validate` writes: {error}"
            ) from None


def queue_resolution(case: Case, real: KernelCase) -> float:
    """The mean queue, in packets, that the lateness of packets can cause.

    A mean queue is the packet rate times the mean wait (Little's law), and a wait is not known better than the lateness of
    packets, by its 99th percentile. Segments that are 1.2 ms apart in a simulation are 0.9 to 1.4 ms apart in an emulation. 0 in
    virtual time.
    """
    if not real.timing:
        return 0.0
    rate_mbps: float = case.labels["rate_mbps"]
    per_second = fmean(real.measures[UTILISATION.name]) * rate_mbps * 1e6 / 8 / PACKET
    return per_second * fmean(real.timing["lateness_p99_s"])


def connected(case: Case) -> Scenario:
    """The simulated side of a comparison in real time: the programs of an emulation connect before the flow starts."""
    return case.scenario.with_({f"flows.{group}.tcp.handshake": False for group in case.groups})


def _without_nan(value: Any) -> Any:
    """Numbers with seven digits, and None for NaN, which JSON lacks."""
    if isinstance(value, Mapping):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_nan(item) for item in value]
    if isinstance(value, float):
        return None if math.isnan(value) else float(f"{value:.7g}")
    return value


def _with_nan(case: Mapping[str, Any]) -> dict[str, Any]:
    def numbers(lists: Mapping[str, Sequence[float | None]]) -> dict[str, list[float]]:
        return {name: [math.nan if value is None else value for value in values] for name, values in lists.items()}

    return {**case, "timing": numbers(case["timing"]), "measures": numbers(case["measures"])}


def identity(case: Case) -> str:
    """Identifies a case on this machine's kernel (`identity_with`)."""
    return identity_with(case, case.scenario._emulation(1, case.groups).played)


def identity_with(case: Case, settings: Any) -> str:
    """Identifies what a kernel's runs of a case depend on: the kernel's settings, and the behaviour of the network.

    `settings` are those of the kernel, as plain data. The behaviour is that of a simulation with plain NewReno senders: drops,
    queue lengths and base RTTs. It changes with the code of a queue, and not with that of other senders.
    """
    scenario = case.scenario.to_dict()
    flows = {name: {**flow, "tcp": {"preset": "newreno", "ecn": flow["tcp"]["ecn"]}} for name, flow in scenario["flows"].items()}
    with warnings.catch_warnings():
        # Transfers that start later are not necessary here.
        warnings.simplefilter("ignore", ScenarioWarning)
        probe = simulate_keeping_checkpoint(Scenario({**scenario, **_PROBE, "flows": flows}), 1, progress=None)
    kernel = {
        "flows": settings,
        "duration": scenario["duration"],
        "warmup": scenario["warmup"],
    }
    seen = hashlib.sha256(json.dumps(kernel).encode())
    for values in (probe.trace("drops")["time_s"], probe.trace("queue")["queue_units"], probe.flows["base_rtt_s"]):
        seen.update(values.tobytes())
    return seen.hexdigest()[:16]


def measured(
    pack: CaseSet,
    identities: Sequence[str],
    folder: Path,
    *,
    command: str,
    jobs: int,
    fresh: bool,
    date: str,
    progress: Callable[[Progress], object] | None,
) -> KernelRuns:
    """Run the pack, whose cases have these identities, on this machine's kernel; finished runs are stored in `folder`."""
    measurements = Measurements()
    timing = [KernelNumber(Measure(name, "", _Timing(name))) for name in LIMITS]
    kernel = platform.release()
    requests = []
    for case, name in zip(pack.cases, identities, strict=True):
        readers = [KernelNumber(measure) for measure in case.measures]
        given = {"scenario": case.scenario.to_dict(), "groups": list(case.groups), "kernel": kernel}
        computation = Computation(played, given, version=name)
        keys = measurements.request(computation, range(1, case.seeds + 1), [*readers, *timing], case.name)
        requests.append((case, name, readers, keys))
    measurements.collect(folder, command=command, fresh=fresh, workers=jobs, on_progress=progress)
    found, _ = measurements.found(folder)
    cases = [
        KernelCase(
            case.name,
            name,
            {reader.measure.name: _values(found, keys, reader) for reader in timing},
            {reader.measure.name: _values(found, keys, reader) for reader in readers},
        )
        for case, name, readers, keys in requests
    ]
    return KernelRuns(pack.name, f"{platform.system()} {kernel}", date, cases)


@dataclass(frozen=True)
class KernelNumber:
    """A measure of a kernel's run; repeated only if its own code changes."""

    measure: Measure

    @cached_property
    def name(self) -> str:
        return f"{self.measure.name}-{fingerprint(self.measure.of)[:20]}"

    def read(self, result: Run) -> list[Column]:
        return Number(self.measure.of).read(result)


@dataclass(frozen=True)
class _Timing:
    """A column of the table ``emulation``."""

    column: str

    def __call__(self, run: Run) -> float:
        return float(run.tables["emulation"][self.column][0])


def _values(found: Mapping[tuple[str, str], list[Column]], keys: list[str], reader: KernelNumber) -> list[float]:
    return [Number.value(found[key, reader.name]) for key in keys]


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
