"""The exceptions and warnings of Tailback.

Subclasses of `TailbackError`:

* `ScenarioError` (ValueError): the scenario is not valid; lists every problem with its place
* `ArgumentError` (ScenarioError, TypeError): an argument of a function such as `tailback.dumbbell` is unknown or not valid
* `ParameterError` (ValueError): an argument is not valid or outside the range of a model
* `UnknownName` (KeyError): there is no such table, trace or column; lists the available ones
* `CaptureError` (OSError): a file cannot be read as a packet capture
* `OutputError` (OSError): a result cannot be written
* `StudyError` (OSError): a study on disk is damaged, of another version, in use, or out of disk space
* `UserCodeError` (RuntimeError): user code raised an exception or returned an invalid value; gives place and time
* `HostError` (RuntimeError): a transport at the end of a flow failed; gives host and time, and contains the results so far
* `EmulationError` (OSError): the scenario cannot be emulated on this system
* `MissingExtra` (ImportError): an optional library is not installed; gives the command that installs it
* `InternalError` (RuntimeError): a bug in Tailback; contains the data for a report

Subclasses of `KeyboardInterrupt`:

* `StudyInterrupted`: Ctrl-C during a study; finished runs are stored, and the study can be resumed
* `tailback.Interrupted`: Ctrl-C during a run; contains the results so far
* `tailback.ReproductionInterrupted`: Ctrl-C during a reproduction; contains the finished experiments
* `tailback.models.TrunkInterrupted`: Ctrl-C during the simulation of a trunk; contains the results so far

Subclasses of `UserWarning`:

* `ScenarioWarning`: a scenario is valid but probably not as intended
* `CheckpointWarning`: a checkpoint could not be written, and the run continues
* `ThreadsWarning`: a run uses fewer threads than requested
* `HostWarning`: a transport ended its connection too early, or sent packets that the network did not carry
* `StarvationWarning`: flows had data and delivered next to nothing
* `PredictionWarning`: a prediction may be wrong
* `IntervalWarning`: a bootstrap interval of few values is too narrow
* `StudyWarning`: runs of a study are repeated, because their files are damaged
* `UserCodeWarning`: content hashes do not cover an import of user code
* `EmulationWarning`: the timing of an emulation may be worse than possible on this machine

The last three subclasses of KeyboardInterrupt are defined in the modules of their results.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tailback._core import hint

__all__ = [
    "ArgumentError",
    "CaptureError",
    "EmulationError",
    "EmulationWarning",
    "HostError",
    "HostWarning",
    "InternalError",
    "IntervalWarning",
    "MissingExtra",
    "OutputError",
    "ParameterError",
    "PredictionWarning",
    "Problem",
    "ScenarioError",
    "ScenarioWarning",
    "StarvationWarning",
    "StudyError",
    "StudyInterrupted",
    "StudyWarning",
    "TailbackError",
    "ThreadsWarning",
    "UnknownName",
    "UserCodeError",
    "UserCodeWarning",
]


class TailbackError(Exception):
    """Base class of all errors that Tailback raises deliberately."""


@dataclass(frozen=True)
class Problem:
    """One problem of a scenario.

    Attributes
    ----------
    at : str
        Path of the key, such as ``links.bottleneck.queue.policy``; empty for the whole file.
    message : str
        Description of the problem.
    line, column, end_column : int or None
        Line of the value or key, its first column, and the column behind it, each counted from 1; None without a text. Columns
        count characters. A value of several lines ends with its first line.
    source_line : str or None
        That line. Lines of more than 1,000 characters are cut around the value.
    given, expected, hint : str or None
        The given value, the valid values, and the nearest valid word.
    """

    at: str
    message: str
    line: int | None = None
    column: int | None = None
    end_column: int | None = None
    source_line: str | None = None
    given: str | None = None
    expected: str | None = None
    hint: str | None = None


class ScenarioError(TailbackError, ValueError):
    """A scenario is not valid. The text equals the output of the command line.

    Attributes
    ----------
    problems : tuple of Problem
        The first hundred problems, in the order of the text.
    file : str
        File of the scenario; empty if it is not from a file.
    text : str
        All problems, as printed by the command line.
    """

    def __init__(self, data: str, text: str) -> None:
        super().__init__(data, text)
        errors = json.loads(data)
        self.problems = tuple(Problem(**problem) for problem in errors["list"])
        self.file: str = errors["file"]
        self.text = text

    def __str__(self) -> str:
        return self.text


class ArgumentError(ScenarioError, TypeError):
    """An argument of a function is unknown or not valid. `problems` has one entry per argument, with its name as place."""


class ScenarioWarning(UserWarning):
    """A scenario is valid but probably not as intended, for example if a setting turns a queue policy into another one.

    The text names the key, the given value and the expected ones. ``warnings.simplefilter("error", tb.ScenarioWarning)`` turns
    it into an error.

    Attributes
    ----------
    problem : Problem
        Place, message and details.
    text : str
        The same, as printed by the command line.
    """

    def __init__(self, data: str, text: str) -> None:
        super().__init__(data, text)
        self.problem = Problem(**json.loads(data))
        self.text = text

    def __str__(self) -> str:
        return self.text


class ParameterError(TailbackError, ValueError):
    """A parameter is not valid: its name, the given value and the valid values."""


# Maximum number of names in an error message.
_SHOWN = 30


class UnknownName(TailbackError, KeyError):
    """A name does not exist.

    Attributes
    ----------
    name : str
        The requested name, of any type.
    known : tuple of str
        The existing names.
    """

    def __init__(self, kind: str, name: Any, known: Iterable[str], note: str = "") -> None:
        self.kind, self.name, self.known, self.note = kind, name, tuple(known), note
        super().__init__(kind, name, self.known, note)

    def __str__(self) -> str:
        is_text = isinstance(self.name, str)
        near = hint(self.name, self.known) if is_text else None
        given = self.name if is_text else repr(self.name)
        shown = [f"`{word}`" for word in self.known[:_SHOWN]]
        more = f" and {len(self.known) - _SHOWN} more" if len(self.known) > _SHOWN else ""
        expected = f"expected one of {', '.join(shown)}{more}" if shown else "there are none"
        return f"no {self.kind} `{given}`; {expected}{f'; {near}' if near else ''}{self.note}"


# Maximum length of a foreign message, in characters.
_FOREIGN = 2000


def readable(text: str, most: int = _FOREIGN) -> str:
    """The text of foreign code for a terminal: control characters other than line ends and tabs as escapes, and the rest cut."""
    rest = len(text) - most
    shown = "".join(char if char in "\n\t" else in_one_line(char) for char in text[:most])
    return f"{shown} ... and {rest:,} more characters" if rest > 0 else shown


def in_one_line(text: str) -> str:
    """A name or text of a file for a terminal: all control characters as escapes, so that it cannot look like other lines."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def warn(warning: Warning) -> None:
    """Issue a warning at the first line outside this package."""
    frame, level = sys._getframe(), 1
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == "tailback":
        frame, level = frame.f_back, level + 1
    warnings.warn(warning, stacklevel=level)


class CaptureError(TailbackError, OSError):
    """A file cannot be read or is not a packet capture; nothing was analysed."""


class CheckpointError(TailbackError, OSError):
    """A checkpoint cannot be used or written; an existing file is unchanged."""


class CheckpointWarning(UserWarning):
    """A checkpoint could not be written during a run. The run continues; the previous checkpoint is unchanged."""


class ThreadsWarning(UserWarning):
    """A run uses fewer threads than requested; the text gives the reason. Results are the same."""


class HostWarning(UserWarning):
    """A transport at the end of a flow ended its connection before the transfer was complete and before the flow's stop, or sent
    packets that the network did not carry.

    The text names the host, and the time and the transport's reason, or the number of packets by reason. Without a connection,
    the flow sends no more data.
    """


class StarvationWarning(UserWarning):
    """Flows starved: with data for at least ten round trips, they delivered nothing, or less than 1 % of an equal share of their
    bottleneck.

    The text has the number of flows by group; the column `starved` of `Run.flows` marks them. A usual cause is a congestion
    controller whose settings do not suit the path.
    """


class PredictionWarning(UserWarning):
    """A prediction may be wrong by more than 15 %. The text has the first reason; `Prediction.models` have all."""


class IntervalWarning(UserWarning):
    """A bootstrap interval is of fewer than 20 values, and too narrow: it contains the mean less often than in 95 % of cases."""


class OutputError(TailbackError, OSError):
    """Results could not be written; no partial files remain.

    Attributes
    ----------
    was_run : bool
        Whether the error appeared after the simulation.
    """

    was_run = False


class StudyError(TailbackError, OSError):
    """A study on disk cannot be used or written; its contents are unchanged."""


class StudyWarning(UserWarning):
    """Files of a study are damaged, and their runs are repeated."""


class UserCodeWarning(UserWarning):
    """Content hashes do not cover an import of user code, so results are not repeated after a change of the imported code."""


class UserCodeError(TailbackError, RuntimeError):
    """User code in Python failed, which ended the run. The original exception is the ``__cause__``.

    Attributes
    ----------
    message : str
        The exception, or why the returned value is not valid; at most 2,000 characters, with control characters as escapes.
    name : str
        Registered name of the class, or name of the file that could not be loaded.
    at : str
        Path in the scenario that names the class; empty for a file.
    time_s : float or None
        Simulated time in seconds; None for a file.
    """

    def __init__(self, message: str, name: str, at: str, time_s: float | None) -> None:
        message = readable(message)
        super().__init__(message, name, at, time_s)
        self.message, self.name, self.at, self.time_s = message, name, at, time_s

    def __str__(self) -> str:
        if self.time_s is None:
            return f"`{self.name}` cannot be loaded: {self.message}"
        return f"`user:{self.name}` failed: {self.message}\n  at       {self.at}, {self.time_s:.9g} s of simulated time"


class HostError(TailbackError, RuntimeError):
    """A transport at the end of a flow failed, which ended the run. The exception of a transport in Python is the ``__cause__``.

    Attributes
    ----------
    message : str
        The fault: an exception, a packet above the MTU, a deadline in the past, or polls or packets without end.
    host : str
        ``GROUP.sender`` or ``GROUP.receiver``, with the flow's index in a group of several.
    time_s : float
        Simulated time in seconds.
    packets : int
        Number of packets that the transport had sent before.
    run : Run or None
        The results up to the fault.
    """

    def __init__(self, message: str, host: str, time_s: float, packets: int) -> None:
        message = readable(message)
        super().__init__(message, host, time_s, packets)
        self.message, self.host, self.time_s, self.packets = message, host, time_s, packets
        self.run: Any = None

    def __str__(self) -> str:
        return self.message


class EmulationError(TailbackError, OSError):
    """The scenario cannot be emulated on this system; the text names the missing feature. Nothing was changed on the system."""


class EmulationWarning(UserWarning):
    """The timing of an emulation may be worse than possible on this machine."""


class MissingExtra(TailbackError, ImportError):
    """A required optional library is not installed; the text contains the command that installs it.

    Attributes
    ----------
    what, library, extra : str
        The feature, the library that it requires, and the extra of Tailback that installs it.
    """

    def __init__(self, what: str, library: str, extra: str) -> None:
        super().__init__(what, library, extra)
        self.what, self.library, self.extra = what, library, extra

    def __str__(self) -> str:
        return f"{self.what} requires {self.library}: {how_to_install(self.extra, self.library)}"


def how_to_install(extra: str, library: str) -> str:
    """The command that installs the libraries of an extra for this copy of Tailback, released or built from source.

    If Tailback is not installed, its extras are unknown and the command names `library`. tailback-papers comes from the same
    checkout as Tailback, if that exists.
    """
    import json
    import re
    import sys
    from importlib.metadata import PackageNotFoundError, distribution
    from pathlib import Path
    from urllib.parse import urlparse
    from urllib.request import url2pathname

    try:
        own = distribution("tailback")
        asked = [requirement.partition(";") for requirement in own.requires or []]
        origin = json.loads(own.read_text("direct_url.json") or "{}").get("url", "")
    except PackageNotFoundError:
        asked, origin = [], ""
    found = [name.strip() for name, _, when in asked if re.fullmatch(rf"\s*extra\s*==\s*['\"]{extra}['\"]\s*", when)]
    python = Path(sys.executable)
    if Path.cwd() in python.parents[1:]:
        python = python.relative_to(Path.cwd())
    if library == "tailback-papers" and origin.startswith("file:"):
        built = Path(url2pathname(urlparse(origin).path))
        found = [str(at / "papers") for at in (built, *built.parents) if (at / "papers/pyproject.toml").is_file()][:1] or found
    # Double quotes work in the shells of all systems.
    words = [f'"{word}"' if re.search(r"[\s<>=]", word) else word for word in (str(python), *(found or [library]))]
    return " ".join([words[0], "-m pip install", *words[1:]])


class InternalError(TailbackError, RuntimeError):
    """A bug in Tailback.

    Attributes
    ----------
    content_hash : str
        Hash of scenario, seed and version.
    seed : int
        The seed of the run.
    """

    def __init__(self, message: str, content_hash: str, seed: int) -> None:
        super().__init__(message, content_hash, seed)
        self.message, self.content_hash, self.seed = message, content_hash, seed

    def __str__(self) -> str:
        return (
            f"{self.message}\n"
            "  this is a bug in Tailback, not in your scenario; please report it with the scenario file and\n"
            f"  scenario {self.content_hash}, seed {self.seed}"
        )


class StudyInterrupted(KeyboardInterrupt):
    """Ctrl-C during a study. Finished runs are stored; `Study.resume` runs the rest."""
