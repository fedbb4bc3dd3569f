"""A document's experiments as data: what is run, what is measured, what was published, what must hold, what is drawn.

Nothing here runs anything: `_plan` runs, `_outcome` judges, `_experiment_plot` and `_report` show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from tailback._study.measurements import Computation, Subject
from tailback.papers._measured import Label, Measured, Values
from tailback.papers._requirement import Requirement

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "Assumption",
    "Choice",
    "Claim",
    "Computation",
    "Contrast",
    "Curves",
    "Document",
    "Experiment",
    "Grid",
    "Kind",
    "Line",
    "Measure",
    "Ranking",
    "ReferenceLine",
    "Trace",
    "TracePanel",
    "Variant",
    "vary",
]

# Of a computation they are given what its function returned.
Measure: TypeAlias = Callable[[Any], float]
Kind: TypeAlias = Literal["reproduced", "conditional", "not_reproduced"]


@dataclass(frozen=True)
class Choice:
    """One place on an axis: its labels, and what it changes in the scenario, by path."""

    labels: Mapping[str, Label]
    changes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Variant:
    """One place of an experiment: a scenario, or a computation, and the labels by which claims and plots ask for it."""

    labels: Mapping[str, Label]
    scenario: Subject

    def __str__(self) -> str:
        return ", ".join(f"{name} {label}" for name, label in self.labels.items())


def vary(base: Subject, *axes: Iterable[Choice], **labels: Label) -> tuple[Variant, ...]:
    """Every combination of one choice from each axis; `labels` are common to all.

    `base` is a scenario, or a `Computation`, of which choices change parameters by name.

    Examples
    --------
    >>> import tailback as tb
    >>> from tailback.papers import Choice, vary
    >>> base = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="10 s")
    >>> buffers = [Choice({"packets": n}, {"topology.dumbbell.queue.buffer": f"{n} packets"}) for n in (5, 50)]
    >>> [str(variant) for variant in vary(base, buffers, policy="drop_tail")]
    ['policy drop_tail, packets 5', 'policy drop_tail, packets 50']
    """
    variants = []
    for chosen in product(*axes):
        changes = {path: value for choice in chosen for path, value in choice.changes.items()}
        named = {name: label for choice in chosen for name, label in choice.labels.items()}
        variants.append(Variant({**labels, **named}, base.with_(changes)))
    return tuple(variants)


@dataclass(frozen=True)
class Contrast:
    """The same measurement in a setting in which an S claim fails."""

    setting: str
    measured: Callable[[Measured], Values]


@dataclass(frozen=True)
class Claim:
    """What a document says, or what follows from it, and how it is judged.

    Attributes
    ----------
    kind : str
        What became of it, with seeds enough to tell. ``R``: it holds, and must go on to. ``S``: it holds in one setting, shown
        beside another in which it does not. ``N``: it does not hold in any setting tried, or nothing tells; measured and
        reported.
    ours : bool
        What the document does not say: it is not counted among its statements.
    measured : callable
        From what was run to one value a seed. An order is the difference of two measurements with the same seeds.
    must : Inequality or Value
        What the interval of these values has to fulfil.
    published : float or None
        The document's own number, where it gives one.
    note : str
        Why it is measured so, or why it does not hold.
    """

    id: str
    kind: Kind
    text: str
    measured: Callable[[Measured], Values]
    must: Requirement
    published: float | None = None
    setting: str = ""
    contrast: Contrast | None = None
    note: str = ""
    ours: bool = False

    def __post_init__(self) -> None:
        special = self.kind == "conditional"
        if (bool(self.setting), self.contrast is not None) != (special, special):
            raise ValueError(f"{self.id}: an S claim, and no other, names a setting and a contrast")


@dataclass(frozen=True)
class Assumption:
    """Something that a document does not say, and what was chosen."""

    what: str
    choice: str


@dataclass(frozen=True)
class Trace:
    """A curve over time, or another cloud of points, from a single run: of the first seed.

    `record` is what the run records beside its counters (``record.traces`` of a scenario; None for a computation); `of` reduces
    it at once.
    """

    name: str
    where: Mapping[str, Label]
    record: Any
    of: Callable[[Any], tuple[NDArray[Any], NDArray[Any]]]


@dataclass(frozen=True)
class ReferenceLine:
    """A number that the document states in its text, as a line across a plot."""

    label: str
    value: float


@dataclass(frozen=True)
class Line:
    """Points with the given labels, under one name."""

    label: str
    where: Mapping[str, Label]
    dashed: bool = False


@dataclass(frozen=True)
class Curves:
    """A measure over a label, with 95 % bands. A line whose points lack that label is drawn straight across.

    `printed`: the document's own numbers, where points have them under the label ``printed``, are drawn as crosses.
    `log`: the measure on a logarithmic scale; what is not positive is left out. `log_over`: the label on one, if it is positive.
    """

    measure: str
    over: str
    lines: tuple[Line, ...]
    axis: str
    unit: str
    title: str = ""
    reference_lines: tuple[ReferenceLine, ...] = ()
    printed: bool = False
    log: bool = False
    log_over: bool = False


@dataclass(frozen=True)
class Ranking:
    """A measure for a handful of variants, one row each, with intervals."""

    measure: str
    lines: tuple[Line, ...]
    axis: str
    title: str = ""
    reference_lines: tuple[ReferenceLine, ...] = ()


@dataclass(frozen=True)
class TracePanel:
    """Traces in one panel: as steps, or as points with one of these markers for each trace."""

    traces: tuple[str, ...]
    axis: str
    unit: str
    title: str = ""
    markers: str = ""
    reference_lines: tuple[ReferenceLine, ...] = ()
    span: tuple[float, float] | None = None


Panel: TypeAlias = Curves | Ranking | TracePanel


@dataclass(frozen=True)
class Grid:
    """A measure as a table: a row for each value of one label, a column for each of another, the best of each row in bold."""

    measure: str
    rows: str
    columns: str
    title: str
    best: Literal["max", "min"] = "max"


@dataclass(frozen=True)
class Experiment:
    """One figure or table of a document.

    Attributes
    ----------
    id : str
        ``bpd-2001/fig12``.
    source : str
        Where in the document: ``figure 12, section 5``.
    measures : mapping
        Name to a function of a run; each becomes one number a run. It is computed where the run happens and kept with it, until
        the function changes.
    panels : tuple of tuples
        Rows of panels; those of a row share their vertical axis.
    grids : tuple of Grid
        Tables above the panels.
    exact : bool
        Nothing in its runs is random: one run each instead of one for each seed.
    times : int
        So many times the seeds that are asked for, where what is measured differs widely from run to run.
    max_seeds : int or None
        No more than so many, where a run is long and what is measured hardly differs from run to run.
    full : Experiment or None
        The same at the document's size, where that takes hours; this one is the quick form of it.
    undecided : str
        Of a quick form: what it leaves to the full one.
    is_full : bool
        It is the full one.
    answer : callable or None
        From what was run to the answer in words, with the numbers; paragraphs are separated by blank lines.
    """

    id: str
    title: str
    question: str
    source: str
    variants: tuple[Variant, ...]
    measures: Mapping[str, Measure]
    claims: tuple[Claim, ...]
    panels: tuple[tuple[Panel, ...], ...] = ()
    grids: tuple[Grid, ...] = ()
    traces: tuple[Trace, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    exact: bool = False
    times: int = 1
    max_seeds: int | None = None
    full: Experiment | None = None
    undecided: str = ""
    is_full: bool = False
    answer: Callable[[Measured], str] | None = None

    def __post_init__(self) -> None:
        for variant in self.variants:
            if taken := set(variant.labels) & set(self.measures):
                raise ValueError(f"{self.id}: {taken} is a label and a measure")
        if (self.full is None) != (not self.undecided):
            raise ValueError(f"{self.id}: a quick form, and no other, says what it leaves undecided")

    def seeds(self, asked: int) -> int:
        """Runs of each variant."""
        if self.exact:
            return 1
        return asked * self.times if self.max_seeds is None else min(asked * self.times, self.max_seeds)

    def runs(self, seeds: int) -> int:
        """Simulations that it takes if nothing is shared with others."""
        return len(self.variants) * self.seeds(seeds) + len(self.traces)


@dataclass(frozen=True)
class Document:
    """A document and its experiments, in the order in which they appear there.

    `lead`: the ID of the experiment with which the report begins, if not with all alike.
    """

    id: str
    title: str
    citation: str
    assumptions: tuple[Assumption, ...]
    experiments: tuple[Experiment, ...]
    lead: str = ""
