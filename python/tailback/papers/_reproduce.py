"""`tailback.reproduce`: runs experiments by name and judges their claims."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tailback._arguments import arguments_checked
from tailback._study.runner import Progress
from tailback.errors import ParameterError
from tailback.papers._documents import DOCUMENTS, experiments
from tailback.papers._experiment import Document, Experiment
from tailback.papers._plan import Plan
from tailback.papers._reproduction import Reproduction, ReproductionInterrupted

__all__ = ["reproduce"]


@arguments_checked
def reproduce(
    *wanted: str | Experiment | Document,
    seeds: int | None = None,
    study: str | os.PathLike[str] | None = None,
    fresh: bool = False,
    full: bool = False,
    workers: int | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> Reproduction:
    """Run experiments of documents and judge their claims.

    Parameters
    ----------
    *wanted : str, Experiment or Document
        Experiments (``"bpd-2001/fig12"``), patterns of IDs (``"cui-thesis/*3.*"``), whole documents (``"bpd-2001"``), or
        experiments and documents of your own. Runs shared by several experiments are simulated once.
    seeds : int, optional
        Runs of each variant, with seeds 1, 2, ...; at least 2. By default 10, or the number that an experiment defines because
        its results vary more or take longer. Deterministic experiments run once, and points that are only drawn at most three
        times.
    study : path, optional
        Directory of a new or existing study that stores the runs. Stored runs are reused if they have not changed. Without it,
        runs are not stored.
    fresh : bool
        Ignore stored runs and run everything again.
    full : bool
        Run experiments at the document's size, which may take hours, instead of their quick forms, and all points with all seeds,
        also those that are only drawn.
    workers : int, optional
        Number of parallel runs; one per processor by default.
    progress : callable, optional
        Called with a `Progress` at the start and whenever runs finish, for example a `tailback.RunsBar`.

    Returns
    -------
    Reproduction
        Points, claims, and a report.

    Raises
    ------
    UnknownName
        No such experiment; the message lists the available ones.
    ParameterError
        No experiment, fewer than two seeds, or no worker; or an experiment of your own names a quantity, measure or label that
        does not exist.
    StudyError
        `study` is not a study, is in use, or its disk is full.
    ReproductionInterrupted
        Ctrl-C was pressed. A subclass of `KeyboardInterrupt` whose ``reproduction`` holds the completed experiments.

    Examples
    --------
    >>> import tailback as tb
    >>> fig2 = tb.reproduce("bpd-2001/fig2")
    >>> [(claim.claim.id, claim.holds) for claim in fig2.claims][0]
    ('C1', True)
    """
    if seeds is not None and (isinstance(seeds, bool) or not isinstance(seeds, int) or seeds < 2):
        raise ParameterError(f"seeds: {seeds!r} is not a whole number >= 2; an interval requires two runs")
    if not wanted:
        listed = ", ".join(f"`{name}`" for name in DOCUMENTS) or "none is installed"
        raise ParameterError(f"no experiment is given; expected IDs, such as `bpd-2001/fig12`, or documents: {listed}")
    chosen = [replace(each.full or each, is_full=True) if full else each for each in experiments(*wanted)]
    own = [each for each in wanted if isinstance(each, Document)]
    names = [each if isinstance(each, str) else each.id for each in wanted]
    given = [] if seeds is None else [f"--seeds {seeds}"]
    words = ["tailback reproduce", *names, *given, *(["--full"] if full else [])]
    for each in wanted:
        for experiment in [] if isinstance(each, str) else experiments(each):
            experiment.check()
    plan = Plan(chosen, seeds, command=" ".join(words))
    try:
        kept = plan.run(None if study is None else Path(study), workers=workers, fresh=fresh, progress=progress)
    except KeyboardInterrupt:
        raise ReproductionInterrupted(Reproduction(plan, own=own)) from None
    return Reproduction(plan, kept, own)
