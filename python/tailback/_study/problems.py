"""Everything that is wrong with a grid, gathered and told at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tailback import _core
from tailback._scenario import Scenario, _short
from tailback.errors import Problem, ScenarioError

__all__ = ["Problems"]

# As many as the core lists.
_SHOWN = 100


@dataclass
class Occurrences:
    """In how many points a problem occurred, and in which first."""

    first: str
    points: int = 1


class Problems:
    """What is wrong. The same problem in many points of a grid is one, and says where it came first."""

    def __init__(self, scenario: Scenario) -> None:
        self._file = scenario._file
        self._found: dict[Problem, Occurrences] = {}

    def add(self, at: str, message: str, *, given: Any = None, expected: str | None = None, hint: str | None = None) -> None:
        """A problem of the grid itself."""
        shown = given if given is None or isinstance(given, str) else _short(given)
        self._found.setdefault(Problem(at, message, None, shown, expected, hint), Occurrences(""))

    def add_point(self, error: ScenarioError, where: str) -> None:
        """What is wrong at one point."""
        for problem in error.problems:
            if problem in self._found:
                self._found[problem].points += 1
            else:
                self._found[problem] = Occurrences(where)

    def complain(self) -> None:
        """Raise a `ScenarioError` with all that was found, if anything was."""
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
