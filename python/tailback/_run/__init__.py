"""Results of one simulation: `run` has the public class; the other modules judge and plot its tables."""

from tailback._run.run import Interrupted, Run, advance, read_run, with_changes

__all__ = ["Interrupted", "Run", "advance", "read_run", "with_changes"]
