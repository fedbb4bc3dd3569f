"""Resumable sweeps: grids of runs, stored in a directory.

The public API is in `study`, `sweeping` and `threshold`. `vary` defines axes and their text form, `grid` the runs, `ledger` the
stored results and when a run counts as finished, `renewal` the hashes of runs after a change of code, `runner` the transfer
between workers and ledger, `executors` the workers, and `stopping` when a point has enough seeds. A threshold is found by
`searching`, among the values of `span`, as `crossing` decides.
"""

from tailback._study.study import Study
from tailback._study.sweeping import sweep
from tailback._study.threshold import Threshold, threshold
from tailback._study.vary import Range

__all__ = ["Range", "Study", "Threshold", "sweep", "threshold"]
