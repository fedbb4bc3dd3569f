"""Numbers of figures on a report: the document's own where a figure is in it, ours where it is not."""

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
    """The figures of a page.

    Attributes
    ----------
    names : dict
        Experiment to the names of its figures: ``Figure 13``, ``Figure 9, 1 of 2``; ``Plot 4`` where the document has none.
    owners : dict
        Number of a figure of the document to the experiment that has it.
    """

    names: dict[str, list[str]]
    owners: dict[str, str]

    @classmethod
    def of(cls, experiments: Iterable[Experiment]) -> Figures:
        """Named in the order of the page."""
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
                # Shown once more, in another way.
                name += f" ({experiment.id.partition('/')[2]})"
            names[experiment.id] = [name] if rows == 1 else [f"{name}, {row} of {rows}" for row in range(1, rows + 1)]
            for number in numbers(found[0]):
                owners.setdefault(number, experiment.id)
        return cls(names, owners)

    def place(self, experiment: str) -> str:
        """Where on the page a reference to a figure of an experiment leads: to the figure, or to tables in its stead."""
        return f"{experiment}-1" if self.names[experiment] else experiment

    def linked(self, text: str, own: str = "") -> Markup:
        """A text in which figures that are on the page are links, but those of the experiment that it stands in."""
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
    """Each figure of a phrase.

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
