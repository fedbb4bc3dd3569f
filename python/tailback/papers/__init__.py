"""Documents as experiments: every figure with its own numbers, its claims, and what it left open.

`experiment` says what an experiment is, `bpd_2001` and its like hold them, `runner` runs them, `outcome` judges, `report` shows.
A new document is a package with a `DOCUMENT`, and a line in `DOCUMENTS`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from tailback.errors import ParameterError, ReproductionInterrupted, UnknownName

if TYPE_CHECKING:
    from tailback.papers.experiment import Document, Experiment
    from tailback.papers.reproduction import Reproduction

__all__ = ["DOCUMENTS", "document", "experiments", "reproduce"]

# Where each document's experiments are. They are loaded when they are asked for.
DOCUMENTS = {"bpd-2001": "tailback.papers.bpd_2001"}

SEEDS = 10


def reproduce(
    *wanted: str, seeds: int = SEEDS, threads: int | None = None, progress: Callable[[float], object] | None = None
) -> Reproduction:
    """Run experiments of documents and judge their claims.

    Parameters
    ----------
    *wanted : str
        Experiments (``"bpd-2001/fig12"``) or whole documents (``"bpd-2001"``). Runs that several have in common are run once.
    seeds : int
        Runs of each variant, with seeds 1, 2, ...; at least 2. Experiments in which nothing is random are run once.
    threads : int, optional
        Runs side by side; as many as there are processors if not given.
    progress : callable, optional
        Called with the fraction done, 0 to 1, after each run.

    Returns
    -------
    Reproduction
        Points, claims, and a report.

    Raises
    ------
    UnknownName
        No such experiment; says which there are.
    ParameterError
        Fewer than two seeds, or no thread.
    ReproductionInterrupted
        Ctrl-C; its ``reproduction`` holds the experiments that were done. It is a `KeyboardInterrupt`.

    Examples
    --------
    >>> import tailback as tb
    >>> fig2 = tb.reproduce("bpd-2001/fig2")
    >>> [(claim.claim.id, claim.holds) for claim in fig2.claims][0]
    ('C1', True)
    """
    if isinstance(seeds, bool) or not isinstance(seeds, int) or seeds < 2:
        raise ParameterError(f"seeds: {seeds!r} is not a whole number >= 2; an interval needs two runs")
    if threads is not None and threads < 1:
        raise ParameterError(f"threads: {threads!r} is not a whole number >= 1")
    from tailback.papers.reproduction import Reproduction
    from tailback.papers.runner import Plan
    from tailback.processors import processors

    plan = Plan(experiments(*wanted), seeds)
    try:
        plan.run(threads or processors(), progress or (lambda _fraction: None))
    except KeyboardInterrupt:
        raise ReproductionInterrupted(Reproduction(plan)) from None
    return Reproduction(plan)


def document(name: str) -> Document:
    """A document by its ID."""
    if name not in DOCUMENTS:
        raise UnknownName("document", name, DOCUMENTS)
    found: Document = import_module(DOCUMENTS[name]).DOCUMENT
    return found


def experiments(*wanted: str) -> list[Experiment]:
    """Experiments by ID, all of a document by its ID, or all there are; in the order of the documents, each once."""
    known = {experiment.id: experiment for name in DOCUMENTS for experiment in document(name).experiments}
    names = [*DOCUMENTS, *known]
    for name in wanted:
        if name not in names:
            raise UnknownName("experiment or document", name, names)
    return [each for each in known.values() if not wanted or each.id in wanted or each.id.split("/")[0] in wanted]
