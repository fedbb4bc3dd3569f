"""The result of `reproduce`: experiments with their points and claims, the overall verdict, and a report."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tailback._arguments import arguments_checked
from tailback._html import HtmlTable, notebook
from tailback._store import write_atomically
from tailback._study.measurements import Tally
from tailback.errors import MissingExtra, OutputError, UnknownName
from tailback.papers._claim_text import HEAD, cells, summary
from tailback.papers._documents import document
from tailback.papers._experiment import SEEDS, Document
from tailback.papers._outcome import Outcome, Verdict
from tailback.papers._plan import Plan
from tailback.papers._report import Basis, page

__all__ = ["Reproduction", "ReproductionInterrupted"]


@arguments_checked
class Reproduction:
    """Experiments of one or more documents, run and judged.

    Attributes
    ----------
    experiments : list of Outcome
        In the order of the documents. After an interruption, only experiments whose runs are all complete.
    complete : bool
        False after an interruption.
    missing : list of str
        Experiments that were not completed.
    tally : Tally
        Runs, events, simulated seconds, content hashes.
    kept : int
        Number of runs reused from the study.
    """

    def __init__(self, plan: Plan, kept: int = 0, own: Iterable[Document] = ()) -> None:
        self.experiments: list[Outcome] = plan.outcomes()
        done = {outcome.experiment.id for outcome in self.experiments}
        self.missing = [experiment.id for experiment in plan.experiments if experiment.id not in done]
        self.complete = not self.missing
        self.seeds = SEEDS if plan.seeds is None else plan.seeds
        self.requested = plan.requested
        self.tally: Tally = plan.tally
        self.kept = kept
        self._own = {document.id: document for document in own}

    @property
    def claims(self) -> list[Verdict]:
        """All claims, judged."""
        return [verdict for outcome in self.experiments for verdict in outcome.claims]

    @property
    def points(self) -> list[dict[str, Any]]:
        """Every point: its experiment, its labels, and for each measure mean, ends of the 95 % interval and number of seeds."""
        return [{"experiment": each["id"], **point} for each in self.to_dict()["experiments"] for point in each["points"]]

    @property
    def holds(self) -> bool:
        """Whether no ``reproduced`` claim failed."""
        return not self.failed

    @property
    def failed(self) -> list[Verdict]:
        """The ``reproduced`` claims that do not hold in all settings. A quick form has too few seeds for some: there, only
        claims fail that a setting contradicts."""
        return [verdict for outcome in self.experiments for verdict in outcome.failed]

    @property
    def left(self) -> list[Verdict]:
        """The ``reproduced`` claims that quick forms leave undecided, in some settings or in all."""
        failed = self.failed
        return [each for each in self.claims if each.claim.kind == "reproduced" and not each.holds and each not in failed]

    @property
    def documents(self) -> list[str]:
        """IDs of the documents that contain the experiments."""
        return list(dict.fromkeys(outcome.experiment.id.split("/")[0] for outcome in self.experiments))

    def verdict(self) -> str:
        """Numbers of statements of the documents and of additional claims by finding, in one sentence."""
        return summary(self.claims)

    def to_dict(self) -> dict[str, Any]:
        """Points and claims as plain data; unknown values are ``None``."""
        return _plain(self.experiments)

    def to_json(self) -> str:
        """The same as JSON text, as `tailback reproduce --json` prints it."""
        return _json(self.experiments)

    def report(self, path: str | os.PathLike[str]) -> list[Path]:
        """Write a page for each document; requires matplotlib.

        A page is self-contained and loads nothing from the network. Its plots can be zoomed if scripts are enabled; otherwise
        they are static pictures.

        Parameters
        ----------
        path : path
            A directory, created if missing, for ``DOCUMENT.html``; or the name of a single page ending in ``.html``.

        Returns
        -------
        list of Path
            The files written.

        Raises
        ------
        OutputError
            The file cannot be written, or `path` names one page for several documents.
        MissingExtra
            If matplotlib is not installed.
        """
        target = Path(path)
        one = target.suffix == ".html"
        if one and len(self.documents) != 1:
            raise OutputError(f"`{target}` is a single page, but there are {len(self.documents)} documents; name a directory")
        basis = Basis(self.seeds, self.requested, self.tally)
        pages = {name: page(self._document(name), self.of(name), self.missing, basis) for name in self.documents}
        return [write_atomically(target if one else target / f"{name}.html", text) for name, text in pages.items()]

    def save(self, directory: str | os.PathLike[str]) -> list[Path]:
        """Write the pages, and all numbers as ``DOCUMENT.json``; otherwise like `report`."""
        folder = Path(directory)
        numbers = [write_atomically(folder / f"{name}.json", _json(self.of(name))) for name in self.documents]
        return [*self.report(folder), *numbers]

    def of(self, document: str) -> list[Outcome]:
        """Experiments of one document."""
        return [outcome for outcome in self.experiments if outcome.experiment.id.split("/")[0] == document]

    def _document(self, name: str) -> Document:
        """The document of some experiments; without title and citation if there is none."""
        if name in self._own:
            return self._own[name]
        try:
            return document(name)
        except (MissingExtra, UnknownName):
            return Document(name, name, "", {}, tuple(each.experiment for each in self.of(name)))

    def __repr__(self) -> str:
        cut = "" if self.complete else f", INCOMPLETE: without {', '.join(self.missing)}"
        return f"<Reproduction {', '.join(outcome.experiment.id for outcome in self.experiments)}: {self.verdict()}{cut}>"

    def _repr_html_(self) -> str:
        rows = [(outcome.experiment.id, *cells(verdict)) for outcome in self.experiments for verdict in outcome.claims]
        return notebook(self.verdict(), tables=[HtmlTable("", ("experiment", *HEAD), rows)])


def _plain(outcomes: list[Outcome]) -> dict[str, Any]:
    return {"experiments": [outcome.to_dict() for outcome in outcomes]}


def _json(outcomes: list[Outcome]) -> str:
    return json.dumps(_plain(outcomes), indent=2, allow_nan=False) + "\n"


class ReproductionInterrupted(KeyboardInterrupt):
    """Ctrl-C was pressed during a reproduction.

    Attributes
    ----------
    reproduction : Reproduction
        The experiments whose runs are all complete; its ``complete`` is false.
    """

    def __init__(self, reproduction: Reproduction) -> None:
        super().__init__(f"interrupted after {reproduction.tally.runs} of {reproduction.tally.planned} runs")
        self.reproduction = reproduction

    def __reduce__(self) -> tuple[Any, ...]:
        return KeyboardInterrupt, self.args
