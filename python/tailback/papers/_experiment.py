"""Data types of a document's experiments: runs, measures, published values, claims and panels.

Nothing here runs a simulation: `_plan` runs, `_outcome` judges, `_experiment_plot` and `_report` present.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from tailback._arguments import arguments_checked
from tailback._interval import Range
from tailback._study.measurements import Computation, Subject
from tailback._study.vary import AxisValue
from tailback._tables.quantity import FRACTION, is_fraction, quantity_of
from tailback.errors import ParameterError, UnknownName
from tailback.papers._expression import Comparison, Expression
from tailback.papers._measured import Label, Measured
from tailback.papers._reads import check_claim, read_points
from tailback.papers._requirement import Requirement

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "AxisValue",
    "Claim",
    "Computation",
    "Condition",
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
    "axis",
    "lines",
    "quick_form",
    "variants",
    "vary",
]

# A quantity such as `queues.bottleneck.utilisation` or a function of the run. For a computation, the name of an attribute or an
# entry of the return value of its function, or a function of that value.
Measure: TypeAlias = str | Callable[[Any], float]
Kind: TypeAlias = Literal["reproduced", "conditional", "not_reproduced"]

# Seeds of points that are only drawn, unless in the full form: enough to show their spread.
_DRAWN_SEEDS = 3
# Default number of seeds, with which the kinds of claims were determined.
SEEDS = 10


@arguments_checked
@dataclass(frozen=True)
class Variant:
    """One point of an experiment: a scenario or a computation, with the labels by which claims and plots select it."""

    labels: Mapping[str, Label]
    scenario: Subject

    def __str__(self) -> str:
        return ", ".join(f"{name} {label}" for name, label in self.labels.items())


def vary(base: Subject, *axes: Iterable[AxisValue], **labels: Label) -> tuple[Variant, ...]:
    """Return every combination of one value from each axis; `labels` are common to all.

    `base` is a scenario, or a `Computation` whose parameters the values change by name.

    Examples
    --------
    >>> import tailback as tb
    >>> from tailback.papers import AxisValue, vary
    >>> base = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="10 s")
    >>> buffers = [AxisValue({"packets": n}, {"topology.dumbbell.queue.buffer": f"{n} packets"}) for n in (5, 50)]
    >>> [str(variant) for variant in vary(base, buffers, policy="drop_tail")]
    ['policy drop_tail, packets 5', 'policy drop_tail, packets 50']
    """
    variants = []
    for point in product(*axes):
        changes = {path: value for each in point for path, value in each.changes.items()}
        of_axes = {name: label for each in point for name, label in each.labels.items()}
        variants.append(Variant({**labels, **of_axes}, base.with_(changes)))
    return tuple(variants)


def variants(builder: Callable[..., Subject], **labels: Label | Iterable[Label]) -> tuple[Variant, ...]:
    """Return a variant for every combination of labels, built by a function. A single value is common to all.

    Examples
    --------
    >>> import tailback as tb
    >>> from tailback.papers import variants
    >>> def link(rate, packets):
    ...     return tb.dumbbell(rate=f"{rate} Mbps", delay="10 ms", buffer=f"{packets} packets", duration="10 s")
    >>> [str(variant) for variant in variants(link, rate=10, packets=(5, 50))]
    ['rate 10, packets 5', 'rate 10, packets 50']
    """
    choices = ([value] if isinstance(value, str | int | float) else value for value in labels.values())
    points = (dict(zip(labels, point, strict=True)) for point in product(*choices))
    return tuple(Variant(point, builder(**point)) for point in points)


@arguments_checked
def axis(name: str, values: Iterable[Any] | Mapping[Any, Any], path: str = "", unit: str = "") -> list[AxisValue]:
    """Return an axis of a label.

    Each label changes a path, or the parameter with the name of the axis. A mapping gives the value of each label; without a
    path, these are the changes themselves.

    Examples
    --------
    >>> from tailback.papers import axis
    >>> axis("packets", (5, 50), "topology.dumbbell.queue.buffer", "packets")[0].changes
    {'topology.dumbbell.queue.buffer': '5 packets'}
    >>> axis("choice", {"usual": {}, "slow": {"duration": "60 s"}})[1]
    AxisValue(labels={'choice': 'slow'}, changes={'duration': '60 s'})
    """
    pairs = values.items() if isinstance(values, Mapping) else ((value, value) for value in values)
    if isinstance(values, Mapping) and not path:
        return [AxisValue({name: label}, changes) for label, changes in pairs]
    return [AxisValue({name: label}, {path or name: f"{value:g} {unit}" if unit else value}) for label, value in pairs]


@arguments_checked
@dataclass(frozen=True)
class Condition:
    """A condition that a document leaves open, with the values under which its experiment runs.

    The points of the experiment have the value as a label. Each claim is judged under every value, unless it selects one.

    Attributes
    ----------
    label : str
        Name of the label.
    says : str
        What the document says, with the place.
    values : tuple
        The values of the label. The first is the default: panels and answers show it, and a claim prints its measured value.
    why : str
        Why the first is the default.
    """

    label: str
    says: str
    values: tuple[Label, ...]
    why: str

    def __post_init__(self) -> None:
        if len(set(self.values)) < 2:
            raise ValueError(f"{self.label}: an open condition needs two values, the default and an alternative")


@arguments_checked
@dataclass(frozen=True)
class Contrast:
    """The same measurement in a setting, or by a reading of the statement, in which a conditional claim fails."""

    setting: str
    measured: Expression


@arguments_checked
@dataclass(frozen=True)
class Claim:
    """A statement of a document, or a consequence of one, with the comparison that judges it.

    Attributes
    ----------
    statement : Comparison
        Expression and requirement, such as ``at("goodput", policy="PPD") > at("goodput", policy="plain")``.
    kind : str
        Result of the claim with enough seeds to decide. ``reproduced``: it holds, and is expected to hold in future runs.
        ``conditional``: it holds under some values of the open conditions and not under others, or in its setting and not in the
        contrasting one; all are shown. ``not_reproduced``: it holds in no setting tried, or remains undecided; it is measured and
        reported. By default ``conditional`` with a contrast, and otherwise ``reproduced``.
    published : float or None
        The document's number, if it states one.
    note : str
        Explanation of the measurement, or of the reason why the claim does not hold.
    ours : bool
        The claim is not made by the document, and is counted separately.
    closed : str
        Why no open condition can decide the claim. Without a reason, a claim that is measured under a single choice of open
        conditions is not called contradicted.
    """

    id: str
    text: str
    statement: Comparison
    _: KW_ONLY
    kind: Kind = "reproduced"
    published: float | None = None
    setting: str = ""
    contrast: Contrast | None = None
    note: str = ""
    ours: bool = False
    closed: str = ""

    def __post_init__(self) -> None:
        if self.contrast is not None and self.kind == "reproduced":
            object.__setattr__(self, "kind", "conditional")
        if bool(self.setting) != (self.contrast is not None):
            raise ValueError(f"{self.id}: `setting` and `contrast` belong together")

    @property
    def must(self) -> Requirement:
        """The requirement on the confidence interval."""
        return self.statement.must


@arguments_checked
@dataclass(frozen=True)
class Trace:
    """A curve over time, or another set of points, from the run with the first seed.

    `record` lists the traces of the run (``record.traces`` of a scenario; None for a computation); `of` reduces them when the run
    ends.
    """

    name: str
    where: Mapping[str, Label]
    record: Any
    of: Callable[[Any], tuple[NDArray[Any], NDArray[Any]]]


@arguments_checked
@dataclass(frozen=True)
class ReferenceLine:
    """A number from the document's text, drawn as a line across a plot."""

    label: str
    value: float


@arguments_checked
@dataclass(frozen=True)
class Line:
    """The points with the given labels, under one name."""

    label: str
    where: Mapping[str, Label]
    dashed: bool = False


def lines(name: str, labels: Iterable[Label] | Mapping[str, Label], *, dashed: bool = False, **where: Label) -> tuple[Line, ...]:
    """Return a line for each value of a label. A mapping names them; `where` is common to all.

    Examples
    --------
    >>> from tailback.papers import lines
    >>> [line.label for line in lines("policy", {"plain ATM": "plain", "EPD": "EPD"}, tick=0.1)]
    ['plain ATM', 'EPD']
    """
    pairs = labels.items() if isinstance(labels, Mapping) else ((str(label), label) for label in labels)
    return tuple(Line(text, {name: label, **where}, dashed) for text, label in pairs)


@arguments_checked
@dataclass(frozen=True)
class Curves:
    """A measure over a label, with 95 % bands. A line whose points lack that label is drawn as a horizontal line.

    `printed`: draw the document's numbers, stored in points under the label ``printed``, as crosses. `log`: use a logarithmic
    scale for the measure, and omit values that are not positive. `log_over`: use a logarithmic scale for the label, if all its
    values are positive. `relative_to`: divide by the mean at the point with these labels and the same value of the label.
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
    relative_to: Mapping[str, Label] = field(default_factory=dict)


@arguments_checked
@dataclass(frozen=True)
class Ranking:
    """A measure for a few variants: one row each, with confidence intervals."""

    measure: str
    lines: tuple[Line, ...]
    axis: str
    title: str = ""
    reference_lines: tuple[ReferenceLine, ...] = ()


@arguments_checked
@dataclass(frozen=True)
class TracePanel:
    """Traces in one panel, drawn as steps, or as points with one of these markers per trace."""

    traces: tuple[str, ...]
    axis: str
    unit: str
    title: str = ""
    markers: str = ""
    reference_lines: tuple[ReferenceLine, ...] = ()
    time_range: tuple[float, float] | None = None


Panel: TypeAlias = Curves | Ranking | TracePanel


@arguments_checked
@dataclass(frozen=True)
class Grid:
    """A measure as a table over two labels, with the best value of each row in bold."""

    measure: str
    rows: str
    columns: str
    title: str
    best: Literal["max", "min"] = "max"


@arguments_checked
@dataclass(frozen=True)
class Experiment:
    """One figure or table of a document.

    Attributes
    ----------
    id : str
        ``bpd-2001/fig12``.
    source : str
        Location in the document: ``figure 12, section 5``.
    measures : mapping
        Quantities or functions of a run by name; each yields one number per run. They are evaluated in the worker process and
        stored with the run until the function changes.
    panels : tuple
        Panels from top to bottom, or tuples of panels side by side, which share their vertical axis.
    grids : tuple of Grid
        Tables above the panels.
    conditions : tuple of Condition
        Conditions that the document leaves open, under all values of which the claims are judged.
    assumptions : mapping
        Other settings that the document does not specify, and the values chosen for them.
    exact : bool
        The runs are deterministic: one run per variant instead of one per seed.
    fractions : tuple of str
        Measures from 0 to 1, so that their intervals are, too. Those named as a column such as `utilisation` or `active_share`,
        and quantities of such columns, need not be listed.
    times : int
        Multiplier for the default number of seeds, for measures with a high variance between runs.
    max_seeds : int or None
        Maximum of the default number of seeds, for long runs with little variance between them.
    full : Experiment or None
        The same experiment at the document's size, if that takes hours; this one is its quick form.
    undecided : str
        For a quick form: the question that only the full form decides.
    is_full : bool
        This is the full form. In others, points that are only drawn have at most three seeds.
    answer : callable or None
        Function from the measurements to the answer in words and numbers; blank lines separate paragraphs.
    """

    id: str
    title: str
    question: str
    source: str
    variants: tuple[Variant, ...]
    measures: Mapping[str, Measure]
    claims: tuple[Claim, ...]
    panels: tuple[Panel | tuple[Panel, ...], ...] = ()
    grids: tuple[Grid, ...] = ()
    traces: tuple[Trace, ...] = ()
    conditions: tuple[Condition, ...] = ()
    assumptions: Mapping[str, str] = field(default_factory=dict)
    exact: bool = False
    fractions: tuple[str, ...] = ()
    times: int = 1
    max_seeds: int | None = None
    full: Experiment | None = None
    undecided: str = ""
    is_full: bool = False
    answer: Callable[[Measured], str] | None = None

    def __repr__(self) -> str:
        return f"<Experiment {self.id}: {self.title}, {len(self.variants)} variants, {len(self.claims)} claims>"

    def __post_init__(self) -> None:
        for variant in self.variants:
            if taken := set(variant.labels) & set(self.measures):
                raise ValueError(f"{self.id}: {taken} is both a label and a measure")
        for condition in self.conditions:
            found = {variant.labels[condition.label] for variant in self.variants if condition.label in variant.labels}
            if found != set(condition.values):
                raise ValueError(f"{self.id}: the variants have {condition.label} {found}, the condition {condition.values}")
        if unknown := set(self.fractions) - set(self.measures):
            raise ValueError(f"{self.id}: `fractions` names {unknown}, which are not measures")
        if (self.full is None) != (not self.undecided):
            raise ValueError(f"{self.id}: `undecided` is required for a quick form and not allowed for others")

    @property
    def form(self) -> Literal["full", "quick"]:
        """``quick`` if the experiment has a full form and is not it."""
        return "full" if self.is_full or self.full is None else "quick"

    @property
    def is_open(self) -> bool:
        """Whether the document leaves conditions of the runs open."""
        return bool(self.conditions or self.assumptions)

    @property
    def rows(self) -> list[tuple[Panel, ...]]:
        """Rows of panels."""
        return [panels if isinstance(panels, tuple) else (panels,) for panels in self.panels]

    @cached_property
    def ranges(self) -> dict[str, Range]:
        """The lowest and the highest value of measures that are bounded."""
        known = dict.fromkeys([name for name in self.measures if name in self.fractions or is_fraction(name)], FRACTION)
        is_simulated = not any(isinstance(variant.scenario, Computation) for variant in self.variants)
        quantities = {
            name: quantity_of(measure).range
            for name, measure in self.measures.items()
            if is_simulated and isinstance(measure, str)
        }
        return {**quantities, **known}

    def seeds(self, requested: int | None) -> int:
        """Number of runs per variant, except for those that are only drawn; by default that of the experiment."""
        if self.exact:
            return 1
        if requested is not None:
            return requested
        return min(SEEDS * self.times, self.max_seeds or SEEDS * self.times)

    def seeds_of_variants(self, requested: int | None) -> list[int]:
        """Number of runs of each variant."""
        seeds = self.seeds(requested)
        drawn = min(seeds, _DRAWN_SEEDS) if self.claims and not self.is_full else seeds
        return [seeds if drawn == seeds or index in self._read else drawn for index in range(len(self.variants))]

    def runs(self, seeds: int | None = None) -> int:
        """Number of simulations, if none is shared with other experiments."""
        return sum(self.seeds_of_variants(seeds)) + len(self.traces)

    def check(self) -> None:
        """Check the names of quantities, measures and labels, before any run.

        Raises
        ------
        ParameterError
            A measure is not a quantity, or a claim, panel or grid reads points or a measure that the experiment does not have.
        """
        for name, measure in self.measures.items():
            if isinstance(measure, str) and not any(isinstance(each.scenario, Computation) for each in self.variants):
                try:
                    quantity_of(measure)
                except ParameterError as error:
                    raise ParameterError(f"measure `{name}` of `{self.id}`: {error}") from None
        labels = [each.labels for each in self.variants]
        for claim in self.claims:
            name = f"claim `{claim.id}` of `{self.id}`"
            for reader in [claim.statement.measured, *([claim.contrast.measured] if claim.contrast else [])]:
                check_claim(name, labels, self.measures, reader, self._settings())
        panels = [panel.measure for row in self.rows for panel in row if not isinstance(panel, TracePanel)]
        for measure in [*panels, *(grid.measure for grid in self.grids)]:
            if measure not in self.measures:
                raise ParameterError(f"a panel or grid of `{self.id}`: {UnknownName('measure', measure, self.measures)}")

    def _settings(self) -> list[dict[str, Label]]:
        """Every combination of values of the open conditions."""
        names, choices = [each.label for each in self.conditions], [each.values for each in self.conditions]
        return [dict(zip(names, choice, strict=True)) for choice in product(*choices)]

    @cached_property
    def _read(self) -> frozenset[int]:
        """Indices of the variants that claims or the answer read."""
        readers: list[Callable[[Measured], object]] = [claim.statement.measured for claim in self.claims]
        readers += [claim.contrast.measured for claim in self.claims if claim.contrast]
        if self.answer:
            readers.append(self.answer)
        return read_points([each.labels for each in self.variants], self.measures, readers, self._settings())


@arguments_checked
def quick_form(whole: Experiment, undecided: str, *, times: int = 1, max_seeds: int | None = None) -> Experiment:
    """Return the quick form of an experiment: the same runs with fewer seeds. `undecided`: what only the whole one decides."""
    return replace(whole, times=times, max_seeds=max_seeds, full=whole, undecided=undecided)


@arguments_checked
@dataclass(frozen=True)
class Document:
    """A document and its experiments, in the document's order.

    `assumptions`: settings that it does not specify, and the values chosen for them. `lead`: ID of the experiment that opens the
    report, if any.
    """

    id: str
    title: str
    citation: str
    assumptions: Mapping[str, str]
    experiments: tuple[Experiment, ...]
    lead: str = ""

    def __repr__(self) -> str:
        return f"<Document {self.id}: {self.title}, {len(self.experiments)} experiments>"
