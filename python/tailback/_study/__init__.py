"""Sweeps that survive: a grid of runs, kept in a directory.

Start in `study` for what a user calls. `vary` has the axes and their text, `grid` what is run, `ledger` what is kept and when a
run counts as finished, `runner` how runs get from the one to the other, `crew` who does them, `stopping` when there are seeds
enough.
"""

from tailback._study.study import Study
from tailback._study.sweeping import sweep
from tailback._study.vary import Span

__all__ = ["Span", "Study", "sweep"]
