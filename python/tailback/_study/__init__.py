"""Resumable sweeps: grids of runs, stored in a directory.

The public API is in `study` and `sweeping`. `vary` defines axes and their text form, `grid` the runs, `ledger` the stored results
and when a run counts as finished, `runner` the transfer between workers and ledger, `executors` the workers, and `stopping` when
a point has enough seeds.
"""

from tailback._study.study import Study
from tailback._study.sweeping import sweep
from tailback._study.vary import Range

__all__ = ["Range", "Study", "sweep"]
