"""Published documents as experiments: the runs, measures, claims and assumptions behind each figure.

A document is a package such as `tailback_papers.bpd_2001`, which defines a `DOCUMENT` from the names exported here;
`_documents` finds it.
`_experiment` defines experiments and `_expression` the statements of their claims. `_plan` runs experiments, `_requirement` and
`_outcome` judge claims, and `_report` writes the report.
"""

from tailback.papers._documents import DOCUMENTS, document, experiments
from tailback.papers._experiment import (
    AxisValue,
    Claim,
    Computation,
    Condition,
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
    quick_form,
    variants,
    vary,
)
from tailback.papers._expression import Comparison, Expression, at, by_means, computed, furthest, highest, lowest
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
    "Condition",
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
    "quick_form",
    "reproduce",
    "variants",
    "vary",
]
