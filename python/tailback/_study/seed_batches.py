"""Batches of seeds for the points of a study, decided separately for each point.

The next batch of a point is decided when all runs of its previous one are in the ledger, whatever the state of other points, so
that workers do not wait for the slowest run. The decision depends only on the results of that point's seeds; the order in which
runs finish affects the order of execution, but not which runs are executed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tailback import _core
from tailback._study.columns import unpack
from tailback._study.ledger import Ledger
from tailback._study.stopping import StoppingRule
from tailback._study.work import Result, Simulated, Task
from tailback._tables.quantity import quantity_of

__all__ = ["SeedBatches"]


class SeedBatches:
    """The runs of a study, with or without a target width. `work` is the work of each point."""

    def __init__(self, ledger: Ledger, work: dict[int, Simulated], asked: StoppingRule | None, most: int) -> None:
        self._ledger, self._work, self._asked, self._most = ledger, work, asked, most
        # Content hashes that each point waits for, and the points that wait for each content hash; points may share a run.
        self._open: dict[int, set[str]] = {}
        self._waiting: dict[str, list[int]] = {}

    def first(self) -> Iterator[Task]:
        """The remaining runs of the plan, and the next batches of points whose batch was finished in an earlier session."""
        due = self._ledger.todo()
        if self._asked is not None:
            undone = {run.content_hash for run in due}
            for row in self._ledger.runs():
                self._open.setdefault(row.point, set())
                if row.content_hash in undone:
                    self._wait(row.point, row.content_hash)
        yield from (Task(run.content_hash, run.seed, self._work[run.point], run.runs) for run in due)
        for point in [point for point, missing in self._open.items() if not missing]:
            yield from self._next(point)

    def after(self, results: Iterable[Result]) -> Iterator[Task]:
        """The next batches of the points for which these results were the last ones."""
        for result in results:
            for point in self._waiting.pop(result.content_hash, ()):
                self._open[point].discard(result.content_hash)
                if not self._open[point]:
                    yield from self._next(point)

    def _next(self, point: int) -> Iterator[Task]:
        """Batches of a point until there is a run to execute or the point is finished. A failed run ends its point."""
        while not self._open[point]:
            known = self._ledger.of(point)
            if any(state != "done" for _, _, state in known):
                return
            seeds = self._wanted(known)
            if not seeds:
                return
            keys = _core.content_hashes(self._work[point].scenario, "", "json", seeds)
            self._ledger.add_runs(zip([point] * len(seeds), seeds, keys, strict=True))
            for seed, key in zip(seeds, keys, strict=True):
                begun = key in self._waiting
                if begun or not self._ledger.has(key):
                    self._wait(point, key)
                    if not begun:
                        yield Task(key, seed, self._work[point])

    def _wanted(self, known: list[tuple[int, str, str]]) -> list[int]:
        """Seeds that a point still needs."""
        assert self._asked is not None
        measured = quantity_of(self._asked.quantity)
        packed = ({name: self._ledger.table(key, name) for name in measured.tables} for _, key, _ in known)
        values = [measured.value({name: unpack(one) for name, one in run.items() if one}) for run in packed if all(run.values())]
        last = max(seed for seed, _, _ in known)
        return list(range(last + 1, self._asked.seeds(values, self._most) + 1))

    def _wait(self, point: int, key: str) -> None:
        self._open[point].add(key)
        self._waiting.setdefault(key, []).append(point)
