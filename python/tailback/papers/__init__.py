"""Documents as experiments: every figure with its own numbers, its claims, and what it left open.

A document is a package, such as `bpd_2001`, with a `DOCUMENT` made of what is exported here, and a line in `DOCUMENTS` of
`_documents`. `_experiment` says what an experiment is, `_plan` runs it, `_requirement` and `_outcome` judge, `_report` shows.
"""

from tailback.papers._documents import DOCUMENTS, document, experiments
from tailback.papers._experiment import (
    Assumption,
    Choice,
    Claim,
    Computation,
    Contrast,
    Curves,
    Document,
    Experiment,
    Grid,
    Kind,
    Line,
    Measure,
    Ranking,
    ReferenceLine,
    Trace,
    TracePanel,
    Variant,
    vary,
)
from tailback.papers._measured import Label, Measured, Point, Values, highest, lowest
from tailback.papers._outcome import Outcome, Verdict
from tailback.papers._reproduce import reproduce
from tailback.papers._reproduction import Reproduction, ReproductionInterrupted
from tailback.papers._requirement import Finding, Inequality, Value

__all__ = [
    "DOCUMENTS",
    "Assumption",
    "Choice",
    "Claim",
    "Computation",
    "Contrast",
    "Curves",
    "Document",
    "Experiment",
    "Finding",
    "Grid",
    "Inequality",
    "Kind",
    "Label",
    "Line",
    "Measure",
    "Measured",
    "Outcome",
    "Point",
    "Ranking",
    "ReferenceLine",
    "Reproduction",
    "ReproductionInterrupted",
    "Trace",
    "TracePanel",
    "Value",
    "Values",
    "Variant",
    "Verdict",
    "document",
    "experiments",
    "highest",
    "lowest",
    "reproduce",
    "vary",
]
