"""`tailback.reproduce`: from the names of experiments to their claims, judged."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tailback._study.runner import Progress
from tailback.errors import ParameterError
from tailback.papers._documents import experiments
from tailback.papers._plan import Plan
from tailback.papers._reproduction import Reproduction, ReproductionInterrupted

__all__ = ["reproduce"]

SEEDS = 10


def reproduce(
    *wanted: str,
    seeds: int = SEEDS,
    study: str | os.PathLike[str] | None = None,
    fresh: bool = False,
    full: bool = False,
    workers: int | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> Reproduction:
    """Run experiments of documents and judge their claims.

    Parameters
    ----------
    *wanted : str
        Experiments (``"bpd-2001/fig12"``), all whose IDs fit a pattern (``"cui-thesis/*3.*"``), or whole documents
        (``"bpd-2001"``). Runs that several have in common are run once.
    seeds : int
        Runs of each variant, with seeds 1, 2, ...; at least 2. Experiments in which nothing is random are run once.
    study : path, optional
        The directory of a study that keeps the runs: new, or that of an earlier reproduction: whatever is asked for again and has
        not changed is not rerun. Without it nothing is kept.
    fresh : bool
        Run everything again.
    full : bool
        Experiments at the document's size where that takes hours, instead of their quick forms.
    workers : int, optional
        Runs in parallel; one per processor if not given.
    progress : callable, optional
        Called with a `Progress` whenever runs are finished, and at the start, such as a `tailback.RunsBar`.

    Returns
    -------
    Reproduction
        Points, claims, and a report.

    Raises
    ------
    UnknownName
        No such experiment; says which there are.
    ParameterError
        Fewer than two seeds, or no worker.
    StudyError
        `study` is something else, in use, or without room.
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
    chosen = [replace(each.full, is_full=True) if full and each.full else each for each in experiments(*wanted)]
    words = ["tailback reproduce", *wanted, f"--seeds {seeds}", *(["--full"] if full else [])]
    plan = Plan(chosen, seeds, command=" ".join(words))
    try:
        kept = plan.run(None if study is None else Path(study), workers=workers, fresh=fresh, progress=progress)
    except KeyboardInterrupt:
        raise ReproductionInterrupted(Reproduction(plan)) from None
    return Reproduction(plan, kept)
