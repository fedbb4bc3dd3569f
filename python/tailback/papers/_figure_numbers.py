"""Figure numbers in a report: the document's number if it has the figure, and otherwise a plot number."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from tailback._html import markup

if TYPE_CHECKING:
    from markupsafe import Markup

    from tailback.papers._experiment import Experiment

__all__ = ["Figures", "numbers"]

_NUMBER = r"(?:[A-Z]\.)?\d+(?:\.\d+)*"
_FIGURES = re.compile(rf"[Ff]igures? {_NUMBER}(?:(?:, | and | to ){_NUMBER})*")


@dataclass(frozen=True)
class Figures:
    """The figures of a report page.

    Attributes
    ----------
    names : dict
        Names of each experiment's figures: ``Figure 13``, ``Figure 9, 1 of 2``, or ``Plot 4`` without a figure in the document.
    owners : dict
        The experiment that reproduces each numbered figure of the document.
    """

    names: dict[str, list[str]]
    owners: dict[str, str]

    @classmethod
    def of(cls, experiments: Iterable[Experiment]) -> Figures:
        """Name the figures in page order."""
        names: dict[str, list[str]] = {}
        owners: dict[str, str] = {}
        ours = count(1)
        for experiment in experiments:
            rows = len(experiment.panels)
            found = _FIGURES.search(experiment.source)
            if found is None:
                names[experiment.id] = [f"Plot {next(ours)}" for _ in range(rows)]
                continue
            name = found[0][0].upper() + found[0][1:]
            if any(number in owners for number in numbers(found[0])):
                # The figure has already been shown in another form.
                name += f" ({experiment.id.partition('/')[2]})"
            names[experiment.id] = [name] if rows == 1 else [f"{name}, {row} of {rows}" for row in range(1, rows + 1)]
            for number in numbers(found[0]):
                owners.setdefault(number, experiment.id)
        return cls(names, owners)

    def place(self, experiment: str) -> str:
        """Link target of a figure reference: the figure itself, or the tables that replace it."""
        return f"{experiment}-1" if self.names[experiment] else experiment

    def linked(self, text: str, own: str = "") -> Markup:
        """Turn references to figures on the page into links, except references to the experiment's own figures."""
        made, end = markup(""), 0
        for found in _FIGURES.finditer(text):
            owner = next((self.owners[number] for number in numbers(found[0]) if number in self.owners), own)
            if owner == own:
                continue
            link = markup('<a href="#{}">{}</a>').format(self.place(owner), found[0])
            made += text[end : found.start()]
            made += link
            end = found.end()
        return made + text[end:]


def numbers(phrase: str) -> list[str]:
    """Return the number of each figure named in a phrase.

    Examples
    --------
    >>> numbers("figures B.1 to B.3")
    ['B.1', 'B.2', 'B.3']
    >>> numbers("figures 3.6, 3.7 and 3.10")
    ['3.6', '3.7', '3.10']
    """
    found: list[str] = []
    for joint, number in re.findall(rf"( to )?({_NUMBER})", phrase):
        stem, _, last = number.rpartition(".")
        if joint and found:
            first = found[-1].rpartition(".")[2]
            found += [f"{stem}.{between}" if stem else str(between) for between in range(int(first) + 1, int(last))]
        found.append(number)
    return found
