"""What can go wrong, as exceptions that carry data.

Of `TailbackError`:

* `ScenarioError` (ValueError): the description cannot run: every problem, each with its place
* `ParameterError` (ValueError): a model was asked outside its range
* `UnknownName` (KeyError): no such table, trace or column; says which there are
* `CaptureError` (OSError): a file cannot be read as a capture of packets
* `OutputError` (OSError): a result could not be written
* `StudyError` (OSError): a study on disk is damaged, foreign, in use, or has no room
* `UserCodeError` (RuntimeError): user code raised something, or gave an impossible answer: says where and when
* `EmulationError` (OSError): real packets cannot cross this scenario on this system
* `MissingExtra` (ImportError): an optional library is not installed; says how to get it
* `InternalError` (RuntimeError): our bug: carries what a report needs

Of `KeyboardInterrupt`:

* `StudyInterrupted`: Ctrl-C during a study: what was finished is kept, and resumes
* `tailback.Interrupted`: Ctrl-C during a run: carries what was measured
* `tailback.ReproductionInterrupted`: Ctrl-C while a document is reproduced: carries the experiments that were done
* `tailback.models.TrunkInterrupted`: Ctrl-C while a trunk is simulated: carries what was measured

Of `UserWarning`:

* `ScenarioWarning`: the description runs, but is hardly what was meant
* `CheckpointWarning`: a checkpoint could not be written, and the run goes on
* `ThreadsWarning`: fewer threads share a run than were asked for
* `EmulationWarning`: an emulation runs, but its timing may be worse than it could be

The last three of KeyboardInterrupt are defined beside what they carry.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tailback._core import nearest_word

__all__ = [
    "CaptureError",
    "EmulationError",
    "EmulationWarning",
    "InternalError",
    "MissingExtra",
    "OutputError",
    "ParameterError",
    "Problem",
    "ScenarioError",
    "ScenarioWarning",
    "StudyError",
    "StudyInterrupted",
    "TailbackError",
    "ThreadsWarning",
    "UnknownName",
    "UserCodeError",
]


class TailbackError(Exception):
    """Base of all errors that Tailback raises on purpose."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong in a scenario.

    Attributes
    ----------
    at : str
        Path of the field, such as ``links.bottleneck.queue.policy``; empty where the whole file is meant.
    message : str
        What is wrong.
    line : int or None
        Line in the file, from 1.
    given, expected, hint : str or None
        What stands there, what would fit, and the nearest valid word.
    """

    at: str
    message: str
    line: int | None = None
    given: str | None = None
    expected: str | None = None
    hint: str | None = None


class ScenarioError(TailbackError, ValueError):
    """A scenario that cannot run. Its text is what the command line shows.

    Attributes
    ----------
    problems : tuple of Problem
        In the order of the text; the first hundred.
    file : str
        Where the scenario came from; empty if from no file.
    text : str
        All problems, as the command line shows them.
    """

    def __init__(self, data: str, text: str) -> None:
        super().__init__(data, text)
        errors = json.loads(data)
        self.problems = tuple(Problem(**problem) for problem in errors["list"])
        self.file: str = errors["file"]
        self.text = text

    def __str__(self) -> str:
        return self.text


class ScenarioWarning(UserWarning):
    """A scenario that runs but is hardly what was meant, such as one with a setting that makes a queue policy another one.

    Its text names the place, what stands there and what would fit. ``warnings.simplefilter("error", tb.ScenarioWarning)`` makes
    it an error.
    """


class ParameterError(TailbackError, ValueError):
    """A parameter of a model, what was given and what fits."""


# Names that an error lists; among more, nobody looks for the right one.
_SHOWN = 30


class UnknownName(TailbackError, KeyError):
    """A name that is not there.

    Attributes
    ----------
    name : str
        What was asked for, whatever its type.
    known : tuple of str
        What there is.
    """

    def __init__(self, kind: str, name: Any, known: Iterable[str], note: str = "") -> None:
        self.kind, self.name, self.known, self.note = kind, name, tuple(known), note
        super().__init__(kind, name, self.known, note)

    def __str__(self) -> str:
        is_text = isinstance(self.name, str)
        near = nearest_word(self.name, self.known) if is_text else None
        given = self.name if is_text else repr(self.name)
        shown = [f"`{word}`" for word in self.known[:_SHOWN]]
        more = f" and {len(self.known) - _SHOWN} more" if len(self.known) > _SHOWN else ""
        there = (", ".join(shown) or "none") + more
        hint = f"; did you mean `{near}`?" if near else ""
        return f"no {self.kind} `{given}`; there is {there}{hint}{self.note}"


class CaptureError(TailbackError, OSError):
    """A file that cannot be read, or is no capture of packets; nothing was analysed."""


class CheckpointError(TailbackError, OSError):
    """A checkpoint that cannot be used or written, and why; what it holds was left as it is."""


class CheckpointWarning(UserWarning):
    """A checkpoint could not be written in the middle of a run, which goes on; the last one is as it was."""


class ThreadsWarning(UserWarning):
    """A run is shared by fewer threads than were asked for, and why. The results are the same."""


class OutputError(TailbackError, OSError):
    """Results could not be written; nothing was left behind."""


class StudyError(TailbackError, OSError):
    """A study on disk cannot be used or written; what it holds was left as it is."""


class UserCodeError(TailbackError, RuntimeError):
    """User code in Python failed, and the run stopped there. What it raised is the ``__cause__``, with its own traceback.

    Attributes
    ----------
    message : str
        What was raised, or what is wrong with the answer.
    name : str
        Under which the class is registered, or the file that could not be loaded.
    at : str
        Path of the place in the scenario that names it; empty for a file.
    time_s : float or None
        Simulated seconds; None for a file.
    """

    def __init__(self, message: str, name: str, at: str, time_s: float | None) -> None:
        super().__init__(message, name, at, time_s)
        self.message, self.name, self.at, self.time_s = message, name, at, time_s

    def __str__(self) -> str:
        if self.time_s is None:
            return f"`{self.name}` cannot be loaded: {self.message}"
        return f"`user:{self.name}` failed: {self.message}\n  at       {self.at}, {self.time_s:.9g} s of simulated time"


class EmulationError(TailbackError, OSError):
    """Real packets cannot cross this scenario on this system: says what is missing or refused. Nothing was left behind."""


class EmulationWarning(UserWarning):
    """An emulation that runs, but whose timing may be worse than it could be."""


class MissingExtra(TailbackError, ImportError):
    """An optional library that this needs is not installed; its text has the command that installs it.

    Attributes
    ----------
    what, library, extra : str
        What needs which library, and the extra of Tailback that brings it.
    """

    def __init__(self, what: str, library: str, extra: str) -> None:
        super().__init__(what, library, extra)
        self.what, self.library, self.extra = what, library, extra

    def __str__(self) -> str:
        return f"{self.what} needs {self.library}: {how_to_install(self.extra, self.library)}"


def how_to_install(extra: str, library: str) -> str:
    """The command that installs what an extra asks for beside the copy of Tailback that runs, be it released or built here.

    Where Tailback is not installed, so that its extras are not known, the command names `library`.
    """
    import re
    import sys
    from importlib.metadata import PackageNotFoundError, requires
    from pathlib import Path

    try:
        asked = [requirement.partition(";") for requirement in requires("tailback") or []]
    except PackageNotFoundError:
        asked = []
    found = [name.strip() for name, _, when in asked if re.fullmatch(rf"\s*extra\s*==\s*['\"]{extra}['\"]\s*", when)]
    python = Path(sys.executable)
    if Path.cwd() in python.parents[1:]:
        python = python.relative_to(Path.cwd())
    # Double quotes hold in the shells of all systems.
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
    """Ctrl-C during a study. Runs that were finished are kept; `Study.resume` does the rest."""
