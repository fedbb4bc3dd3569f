"""Published documents as experiments: the runs, measures, claims and assumptions behind each figure.

A document is a package such as `bpd_2001`. It defines a `DOCUMENT` from the names exported here, and `DOCUMENTS` in `_documents`
lists it. `_experiment` defines experiments, `_plan` runs them, `_requirement` and `_outcome` judge their claims, and `_report`
writes the report.
"""

from tailback.papers._documents import DOCUMENTS, document, experiments
from tailback.papers._experiment import (
    AxisValue,
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
    axis,
    lines,
    variants,
    vary,
)
from tailback.papers._expression import Comparison, Expression, at, by_means, computed, furthest, highest, lowest, mean, total
from tailback.papers._measured import Label, Measured, Point, Values
from tailback.papers._outcome import Outcome, Verdict
from tailback.papers._reproduce import reproduce
from tailback.papers._reproduction import Reproduction, ReproductionInterrupted
from tailback.papers._requirement import Finding, Inequality, Value

__all__ = [
    "DOCUMENTS",
    "AxisValue",
    "Claim",
    "Comparison",
    "Computation",
    "Contrast",
    "Curves",
    "Document",
    "Experiment",
    "Expression",
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
    "at",
    "axis",
    "by_means",
    "computed",
    "document",
    "experiments",
    "furthest",
    "highest",
    "lines",
    "lowest",
    "mean",
    "reproduce",
    "total",
    "variants",
    "vary",
]
