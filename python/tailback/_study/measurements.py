"""Runs whose results are reduced to measurements: numbers, or points of a curve, computed by functions of the results.

A measurement is stored under the content hash of its run and the fingerprint of its function, so that only changed functions are
evaluated again. A run is a simulation of a scenario or a `Computation`.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import re
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from tailback import _core
from tailback._arguments import arguments_checked
from tailback._run import Run
from tailback._scenario import Scenario
from tailback._simulation import simulate_keeping_checkpoint
from tailback._study.columns import Column, packed, unpack
from tailback._study.directory import prepare_study, working
from tailback._study.executors import open_pool
from tailback._study.fingerprint import Fingerprints, fingerprint
from tailback._study.ledger import LEDGER, Ledger, PlannedPoint
from tailback._study.runner import Progress
from tailback._study.work import Task, WorkFailed, WorkOutput
from tailback._tables.table import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Computation", "Curve", "Measurement", "Measurements", "Number", "Subject", "Tally"]


@arguments_checked
@dataclass(frozen=True)
class Computation:
    """A pure function and its parameters, which can be run like a scenario: for example a model or a Monte Carlo experiment.

    Its result is passed to the measurements, like a `Run`. It is computed again if the function, or code of Tailback or of its
    own package that it refers to, has changed.

    Attributes
    ----------
    function : callable
        Called with the parameters as keywords, with `seed` (int) if it has such a parameter, and with `progress`, a callable that
        takes the completed fraction, if it has such a parameter. It must be deterministic for given arguments.
    parameters : mapping
        Numbers, strings, and lists and tables of these.
    version : str, optional
        What the result depends on besides the parameters, for a measurement outside of Tailback. By default the code.

    Examples
    --------
    >>> import tailback as tb
    >>> from tailback._study.measurements import Computation
    >>> Computation(tb.models.mm1k, {"load": 0.5}).with_({"places": 2}).run(seed=1).loss
    0.14285714285714285
    """

    function: Callable[..., Any]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    version: str | None = None

    def with_(self, changes: Mapping[str, Any]) -> Computation:
        """A copy with some parameters changed."""
        return replace(self, parameters={**self.parameters, **changes})

    def to_dict(self) -> dict[str, Any]:
        """Name of the function and parameters, for reports."""
        name = f"{self.function.__module__}.{self.function.__qualname__}"
        return {"function": name, "parameters": dict(self.parameters)}

    def run(self, seed: int, progress: Callable[[float], None] | None = None) -> Any:
        """The result of the function."""
        extra: dict[str, Any] = {"seed": seed} if self._random else {}
        if "progress" in inspect.signature(self.function).parameters:
            extra["progress"] = progress or (lambda fraction: None)
        return self.function(**self.parameters, **extra)

    def keys(self, seeds: Iterable[int], code: Fingerprints | None = None) -> list[str]:
        """The keys of the results by seed; all equal if the function takes no seed. `code` is the function's fingerprint."""
        given = sorted(self.parameters.items())
        if self.version is None:
            version = (code or Fingerprints(self.function)).given(given)
        else:
            version = f"{self.version} {json.dumps(given, sort_keys=True)}"
        return [hashlib.sha256(f"{version} {seed if self._random else ''}".encode()).hexdigest() for seed in seeds]

    @property
    def _random(self) -> bool:
        return "seed" in inspect.signature(self.function).parameters


Subject: TypeAlias = Scenario | Computation


class Measurement(Protocol):
    """Takes a measurement. `name` is the name of its table in the ledger, and changes with its code."""

    @property
    def name(self) -> str: ...

    def read(self, result: Any) -> list[Column]:
        """The measurement, as columns."""


@dataclass(frozen=True)
class Number:
    """A number of a result: a function of it, a quantity of a run, or an entry or attribute of the result of a computation."""

    measure: str | Callable[[Any], float]

    @cached_property
    def name(self) -> str:
        """Name of the function or quantity, with its fingerprint."""
        return _name(self.measure)

    def read(self, result: Any) -> list[Column]:
        """A single row."""
        return [("value", "float", struct.pack("<d", number(self.measure, result)), [])]

    @staticmethod
    def value(columns: list[Column]) -> float:
        """The stored number."""
        ((_, _, data, _),) = columns
        value: float = struct.unpack("<d", data)[0]
        return value


def number(measure: str | Callable[[Any], float], result: Any) -> float:
    """A function of a result, a quantity of a run, or an entry or attribute of the result of a computation."""
    if callable(measure):
        return float(measure(result))
    if isinstance(result, Run):
        return result.value(measure)
    return float(result[measure] if isinstance(result, Mapping) else getattr(result, measure))


@dataclass(frozen=True)
class Curve:
    """Points that a function computes from a result, as two arrays of equal length."""

    function: Callable[[Any], tuple[NDArray[Any], NDArray[Any]]]

    @cached_property
    def name(self) -> str:
        """Name of the function, with its fingerprint."""
        return _name(self.function)

    def read(self, result: Any) -> list[Column]:
        """One row per point."""
        x, y = self.function(result)
        return [_array("x", x), _array("y", y)]

    @staticmethod
    def value(columns: list[Column]) -> tuple[NDArray[Any], NDArray[Any]]:
        """The two stored arrays."""
        import numpy as np

        x, y = (np.frombuffer(data, dtype="<f8" if kind == "float" else "<i8") for _, kind, data, _ in columns)
        return x, y


@dataclass(frozen=True)
class MeasurementWork:
    """The work of a run: the subject to run, and the measurements to take."""

    subject: Subject
    readers: tuple[Measurement, ...]

    def __call__(self, seed: int, watch: Callable[[float], None]) -> WorkOutput:
        if isinstance(self.subject, Scenario):
            run = simulate_keeping_checkpoint(self.subject, seed, progress=watch)
            return WorkOutput(run.content_hash, self._tables(run), run.provenance["version"], run.events, run.simulated_s)
        result = self.subject.run(seed, watch)
        watch(1.0)
        return WorkOutput(self.subject.keys([seed])[0], self._tables(result), _core.__version__)

    def _tables(self, result: Any) -> dict[str, bytes]:
        tables = {}
        for reader in self.readers:
            try:
                tables[reader.name] = packed(reader.read(result))
            except Exception as error:
                raise WorkFailed(f"{reader.name}: {type(error).__name__}: {error}") from error
        return tables


@dataclass
class RequestedRun:
    """A requested run, its first requester, and its measurements."""

    subject: Subject
    seed: int
    label: str
    readers: dict[str, Measurement] = field(default_factory=dict)


@dataclass(frozen=True)
class Tally:
    """Totals of a set of runs.

    Attributes
    ----------
    planned : int
        Number of distinct runs.
    runs : int
        Number of finished runs, including earlier sessions.
    events : int
        Number of events that the engine processed.
    simulated_s : float
        Simulated time in seconds.
    hashes : list of str
        Content hashes of the finished runs.
    """

    planned: int
    runs: int
    events: int
    simulated_s: float
    hashes: list[str]


class Measurements:
    """Distinct runs with their measurements, executed in the order of the requests."""

    def __init__(self) -> None:
        self._runs: dict[str, RequestedRun] = {}
        # Runs with the same description are one point of the study.
        self._points: dict[str, list[str]] = {}
        self._code: dict[Callable[..., Any], Fingerprints] = {}

    def __len__(self) -> int:
        return len(self._runs)

    def request(self, subject: Subject, seeds: Iterable[int], readers: Iterable[Measurement], label: str) -> list[str]:
        """Request runs with these seeds and measurements of them. Returns the key of each run.

        Raises
        ------
        ScenarioError
            The scenario is not valid.
        """
        seeds, wanted = list(seeds), {reader.name: reader for reader in readers}
        first, *keys = self._keys(subject, [1, *seeds])
        for seed, key in zip(seeds, keys, strict=True):
            if key not in self._runs:
                self._runs[key] = RequestedRun(subject, seed, label)
                self._points.setdefault(first, []).append(key)
            self._runs[key].readers.update(wanted)
        return keys

    def label(self, key: str) -> tuple[str, int]:
        """The first requester of a run, and its seed."""
        return self._runs[key].label, self._runs[key].seed

    def collect(
        self,
        directory: Path,
        *,
        command: str,
        fresh: bool,
        workers: int | None,
        on_progress: Callable[[Progress], object] | None,
        fail_fast: bool = True,
    ) -> int:
        """Execute all runs that are not stored in the study in `directory`. Returns the number of stored ones.

        Parameters
        ----------
        command : str
            The command that resumes the study, for messages.
        fresh : bool
            Repeat stored runs.
        fail_fast : bool
            Stop at the first run that fails; otherwise `failed` has the errors.

        Raises
        ------
        RunFailed
            A run failed, with `fail_fast`; the results of others are stored.
        StudyError, KeyboardInterrupt
            As raised by `directory`.
        """
        prepare_study(directory, self._plan(command), self._planned, needed=self._needed(), extend=True)
        with working(
            directory, open_pool("threads", workers), again="the same", fail_fast=fail_fast, on_progress=on_progress
        ) as (
            ledger,
            runner,
        ):
            ledger.begin()
            ledger.retry_failed()
            if fresh:
                ledger.discard_results()
            due = ledger.todo()
            runner.run(self._task(run.content_hash) for run in due)
        return len(self._runs) - len(due)

    def found(self, directory: Path) -> tuple[dict[tuple[str, str], list[Column]], Tally]:
        """The stored measurements, as columns by content hash and name; and the totals."""
        columns: dict[tuple[str, str], list[Column]] = {}
        with Ledger(directory / LEDGER, thorough=False) as ledger:
            rows = ledger.runs()
            keys = {(row.point, row.seed): row.content_hash for row in rows}
            for name in self._names():
                for point, seed, data in ledger.tables(name):
                    columns[keys[point, seed], name] = unpack(data)
        done = [row for row in rows if row.state == "done"]
        events, simulated_s = sum(row.events for row in done), sum(row.simulated_s for row in done)
        return columns, Tally(len(self._runs), len(done), events, simulated_s, [row.content_hash for row in done])

    def failed(self, directory: Path) -> dict[str, str]:
        """Errors of the failed runs by content hash."""
        with Ledger(directory / LEDGER, thorough=False) as ledger:
            return {row.content_hash: row.error or "" for row in ledger.runs() if row.state == "failed"}

    def _keys(self, subject: Subject, seeds: list[int]) -> list[str]:
        if isinstance(subject, Scenario):
            return _core.content_hashes(*subject._source(), seeds)
        if subject.function not in self._code:
            self._code[subject.function] = Fingerprints(subject.function)
        return subject.keys(seeds, self._code[subject.function])

    def _task(self, key: str) -> Task:
        wanted = self._runs[key]
        return Task(key, wanted.seed, MeasurementWork(wanted.subject, tuple(wanted.readers.values())))

    def _names(self) -> list[str]:
        return sorted({name for wanted in self._runs.values() for name in wanted.readers})

    def _needed(self) -> Iterator[tuple[str, str]]:
        return ((key, name) for key, wanted in self._runs.items() for name in wanted.readers)

    def _planned(self) -> Iterator[PlannedPoint]:
        for keys in self._points.values():
            first = self._runs[keys[0]]
            text = json.dumps(first.subject.to_dict(), default=str)
            full = json.dumps(first.subject.normalised()) if isinstance(first.subject, Scenario) else text
            yield PlannedPoint({"of": first.label}, text, full, [(self._runs[key].seed, key) for key in keys])

    def _plan(self, command: str) -> dict[str, Any]:
        asked = [[key, *wanted.readers] for key, wanted in self._runs.items()]
        return {
            "kind": "reproduction",
            "command": command,
            "digest": hashlib.sha256(json.dumps(asked).encode()).hexdigest(),
            "columns": ["of"],
            "axes": [f"`{command}`"],
            "seeds": sorted({wanted.seed for wanted in self._runs.values()}),
            "until": None,
            "tables": self._names(),
        }


def _name(measure: str | Callable[..., Any]) -> str:
    """A readable name, different for different code. Measurements use the methods of `Table` and `Run`."""
    if isinstance(measure, str):
        word, code = measure[:40], hashlib.sha256(f"{_quantity_code()} {measure}".encode()).hexdigest()
    else:
        word = getattr(getattr(measure, "func", measure), "__qualname__", "")
        code = fingerprint(measure, Table, Run.__init__, Run.trace)
    word = re.sub(r"[^\w.]", "", word).removeprefix(".")
    return f"{word or 'reading'}-{code[:20]}"


@cache
def _quantity_code() -> str:
    """Fingerprint of the code that evaluates quantities."""
    return fingerprint(number, Table, Run.__init__)


def _array(name: str, values: NDArray[Any]) -> Column:
    import numpy as np

    whole = np.issubdtype(np.asarray(values).dtype, np.integer)
    return name, "integer" if whole else "float", np.asarray(values, dtype="<i8" if whole else "<f8").tobytes(), []
