"""Collects all problems of a grid, to report them together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tailback import _core
from tailback._scenario import Scenario
from tailback._scenario.description import short
from tailback.errors import Problem, ScenarioError

__all__ = ["Problems"]

# Maximum number of listed problems, as in the core.
_SHOWN = 100


@dataclass
class Occurrences:
    """Number of points with a problem, and the first of them."""

    first: str
    points: int = 1


class Problems:
    """The problems of a grid. Equal problems of several points are one problem, with the first point."""

    def __init__(self, scenario: Scenario) -> None:
        self._file = scenario._file
        self._found: dict[Problem, Occurrences] = {}

    def add(self, at: str, message: str, *, given: Any = None, expected: str | None = None, hint: str | None = None) -> None:
        """Add a problem of the grid itself."""
        shown = given if given is None or isinstance(given, str) else short(given)
        self._found.setdefault(Problem(at, message, given=shown, expected=expected, hint=hint), Occurrences(""))

    def add_point(self, error: ScenarioError, where: str) -> None:
        """Add the problems of one point."""
        for problem in error.problems:
            if problem in self._found:
                self._found[problem].points += 1
            else:
                self._found[problem] = Occurrences(where)

    def raise_if_any(self) -> None:
        """Raise a `ScenarioError` with all problems, if there are any."""
        if not self._found:
            return
        listed = [
            (problem.at, problem.message + _counted(occurrences), problem.given, problem.expected, problem.hint)
            for problem, occurrences in list(self._found.items())[:_SHOWN]
        ]
        raise _core.scenario_errors(self._file, listed, max(0, len(self._found) - _SHOWN))


def _counted(occurrences: Occurrences) -> str:
    if not occurrences.first:
        return ""
    others = (
        "" if occurrences.points == 1 else f" and {occurrences.points - 1:,} other point{'s' if occurrences.points > 2 else ''}"
    )
    return f" (with {occurrences.first}{others})"
