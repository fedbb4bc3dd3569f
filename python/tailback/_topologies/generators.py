"""Functions that make scenarios with a generated network: one for each topology of crates/scenario.

`generators.pyi`, written by tools/topologies.py, declares them for editors and type checkers.
"""

from tailback._topologies.declaring import functions

_functions = functions()
globals().update(_functions)
__all__ = [*_functions]
