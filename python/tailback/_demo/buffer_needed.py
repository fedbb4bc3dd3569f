"""The smallest buffer for the target utilisation: a search between points of the grid, for each number of flows."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from tailback._demo.buffer_grid import BDP_PACKETS, Needed, Study, scenario
from tailback._study import Study as SearchedStudy
from tailback._study import threshold
from tailback._study.ledger import LEDGER
from tailback._study.runner import Progress

__all__ = ["TARGET", "needed"]

# The utilisation that "enough buffer" means.
TARGET = 0.98


def needed(
    study: Study,
    flows: int,
    *,
    kept: Path | None = None,
    fresh: bool = False,
    progress: Callable[[Progress], object] | None = None,
) -> tuple[Needed, int]:
    """The buffer that this number of flows needs; also the number of runs of the search that `kept` already stored."""
    cells = study.cells(flows)
    reached = [cell for cell in cells if study.interval("utilisation", cell).mean >= TARGET]
    if not reached:
        return Needed(None, None, None), 0
    # One more point on either side, so that the interval is within the range.
    place = cells.index(reached[0])
    low, high = cells[max(place - 2, 0)], cells[min(place + 1, len(cells) - 1)]
    if fresh and kept is not None:
        shutil.rmtree(kept, ignore_errors=True)
    stored = 0 if kept is None or not (kept / LEDGER).exists() else SearchedStudy(kept).counts.done
    found = threshold(
        scenario(low),
        "queues.bottleneck.utilisation",
        TARGET,
        over={"topology.dumbbell.queue.buffer": (f"{low.buffer_packets} packets", f"{high.buffer_packets} packets")},
        seeds=study.plan.seeds,
        out=kept,
        extend=True,
        progress=progress,
    )
    ends = [None if value is None else int(value.split()[0]) / BDP_PACKETS for value in (found.value, found.low, found.high)]
    share = low.share if found.outside == "below" else ends[0]
    return Needed(share, *ends[1:]), stored
