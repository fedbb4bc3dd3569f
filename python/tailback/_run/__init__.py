"""Results of one simulation.

`run` has the public class, whose parts are in `tables`, `provenance` and `files`. The other modules compute, judge and plot the
values of its tables.
"""

from tailback._run.run import Interrupted, Run, advance, read_run, with_changes

__all__ = ["Interrupted", "Run", "advance", "read_run", "with_changes"]
