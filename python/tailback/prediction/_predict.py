"""`tailback.predict`: predict the results of a scenario by the models whose assumptions hold."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tailback._arguments import arguments_checked
from tailback._html import HtmlList, notebook
from tailback._scenario import Scenario
from tailback._tables.table import Table
from tailback._tables.text import aligned, quantity
from tailback.errors import PredictionWarning, warn
from tailback.prediction._outcome import AppliedModel, Comparison, Unmodelled

if TYPE_CHECKING:
    from tailback._run import Run

__all__ = ["Prediction", "predict", "predicted"]

_FLOWS = ("base_rtt_s", "goodput_bps", "loss_rate")
_QUEUES = ("loss_rate", "utilisation", "mean_queue_units", "mean_wait_s")
# Maximum number of rows of a table in the text output.
_ROWS = 12


@dataclass(frozen=True)
class Prediction:
    """Predicted quantities of a run, with the names and rows of the run's tables.

    Attributes
    ----------
    flows : Table
        ``group``, ``flow``, ``base_rtt_s``, ``goodput_bps``, ``loss_rate``; NaN if no model applies.
    queues : Table
        ``queue``, ``loss_rate``, ``utilisation``, ``mean_queue_units``, ``mean_wait_s``; NaN if no model applies.
    groups : Table
        ``group``, ``flows`` and ``goodput_bps``, the sum over its flows.
    models : tuple of AppliedModel
        The applied models, with their sources, simplifications in this case, and known errors.
    not_modelled : tuple of Unmodelled
        The parts that no model covers, with the violated assumptions.
    """

    name: str
    flows: Table
    queues: Table
    groups: Table
    models: tuple[AppliedModel, ...]
    not_modelled: tuple[Unmodelled, ...]

    def to_dict(self) -> dict[str, Any]:
        """All results, in types that JSON supports except NaN."""
        return {
            "name": self.name,
            "tables": {table.name: table.to_dict() for table in (self.groups, self.queues, self.flows)},
            "models": [
                {word: list(value) if isinstance(value, tuple) else value for word, value in vars(model).items()}
                for model in self.models
            ],
            "not_modelled": [vars(part) for part in self.not_modelled],
        }

    def compare(self, run: Run) -> list[Comparison]:
        """Compare the predicted utilisation, loss and wait of queues and the goodput of groups with the results of a run."""
        rows = []
        for table, measured, key, columns in (
            (self.queues, run.queues, "queue", ("utilisation", "loss_rate", "mean_wait_s")),
            (self.groups, run.groups, "group", ("goodput_bps",)),
        ):
            seen = {name: place for place, name in enumerate(measured.to_dict()[key])}
            for place, name in enumerate(table.to_dict()[key]):
                for column in columns:
                    predicted = table.to_dict()[column][place]
                    if not math.isnan(predicted):
                        rows.append(Comparison(name, column, predicted, measured.to_dict()[column][seen[name]]))
        return rows

    def __str__(self) -> str:
        blocks = [f"{self.name}: predicted, not simulated"]
        for table, columns in ((self.groups, ("group", "flows", "goodput_bps")), (self.queues, ("queue", *_QUEUES))):
            known = 2 if "flows" in columns else 1
            rows = [row for row in _rows(table, columns) if any(cell != "-" for cell in row[known:])]
            if rows:
                titles = [
                    column.removesuffix("_bps").removesuffix("_s").removesuffix("_units").replace("_", " ") for column in columns
                ]
                rest = f"\n  and {len(rows) - _ROWS} more" if len(rows) > _ROWS else ""
                blocks.append(f"{table.name}\n{aligned([titles, *rows[:_ROWS]])}{rest}")
        if self.models:
            said = [f"  {model.model}: {', '.join(model.at)} ({model.source})" for model in self.models]
            blocks.append("models\n" + "\n".join(said))
        simplified = [f"  {text}" for model in self.models for text in model.simplifies]
        if simplified:
            blocks.append("simplified\n" + "\n".join(dict.fromkeys(simplified)))
        warnings = [f"  {text}" for model in self.models for text in model.warnings]
        if warnings:
            blocks.append("warnings\n" + "\n".join(warnings))
        if self.not_modelled:
            blocks.append("not modelled\n" + "\n".join(f"  {part.at}: {part.why}" for part in self.not_modelled))
        return "\n\n".join(blocks)

    def _repr_html_(self) -> str:
        lists = (
            HtmlList("models", [f"{model.model}: {', '.join(model.at)} ({model.source})" for model in self.models]),
            HtmlList("simplified", list(dict.fromkeys(text for model in self.models for text in model.simplifies))),
            HtmlList("warnings", [text for model in self.models for text in model.warnings]),
            HtmlList("not modelled", [f"{part.at}: {part.why}" for part in self.not_modelled]),
        )
        tables = [table._shown() for table in (self.groups, self.queues)]
        return notebook(f"{self.name}: predicted, not simulated", tables=tables, lists=lists)


@arguments_checked
def predict(scenario: Scenario | Mapping[str, Any], seed: int | None = None) -> Prediction:
    """Predict the results of a scenario without a simulation, by the models whose assumptions hold.

    Datagrams: M/D/1, M/M/1, their finite forms, M/M/c/K and Erlang B. Inputs of a switch that share a trunk: the exact chain
    without a buffer, otherwise the loss model with the smallest error according to `tailback.models.trunk_accuracy`. TCP without
    random loss: window divided by RTT, the sawtooth of a single flow, a trunk in closed loop, normally distributed total window,
    the equilibrium of FAST or Vegas, and the sawtooth of CUBIC. TCP with random loss: a chain of windows, or the rate of CUBIC.
    The result also lists the parts that no model covers, with the violated assumptions. Models have warnings where their error
    may exceed 15 %, with one `PredictionWarning`; docs/evidence/theory.md has the measured errors.

    Parameters
    ----------
    scenario : Scenario or mapping
        A scenario as for `simulate`.
    seed : int, optional
        Seed to use instead of the scenario's; RTTs may depend on it.

    Raises
    ------
    ScenarioError
        The scenario is not valid.

    Examples
    --------
    >>> import tailback as tb
    >>> scenario = tb.dumbbell(
    ...     rate="10 Mbps", delay="1 ms", buffer="4 packets", duration="60 s",
    ...     flows={"poisson": {"source": {"kind": "poisson", "rate": "10 Mbps", "packet_size": {"exponential": "1000 B"}}}},
    ... )
    >>> round(float(tb.predict(scenario).queues["loss_rate"][0]), 4)
    0.1667
    """
    found = predicted(scenario if isinstance(scenario, Scenario) else Scenario(scenario), seed)
    if texts := [text for model in found.models for text in model.warnings]:
        more = f" (and {len(texts) - 1} more in `models`)" if len(texts) > 1 else ""
        warn(PredictionWarning(f"this prediction may be wrong: {texts[0]}{more}"))
    return found


def predicted(scenario: Scenario, seed: int | None) -> Prediction:
    """The prediction without a warning, for callers that print those of the models."""
    return _prediction(scenario.name, scenario._predicted(seed))


def _prediction(name: str, found: dict[str, Any]) -> Prediction:
    import numpy as np

    def columns(names: Iterable[str], values: Iterable[bytes]) -> dict[str, Any]:
        return {column: np.frombuffer(column_bytes) for column, column_bytes in zip(names, values, strict=True)}

    names, counts = [group for group, _ in found["groups"]], [count for _, count in found["groups"]]
    of_flows = columns(_FLOWS, found["flows"])
    ends = np.cumsum(counts)
    summed = [float(np.sum(part)) for part in np.split(of_flows["goodput_bps"], ends[:-1])]
    groups, flows = np.repeat(names, counts).tolist(), [flow for count in counts for flow in range(count)]
    models = ((name, source, *map(tuple, texts)) for name, source, *texts in found["models"])
    return Prediction(
        name=name,
        flows=Table._of("flows", {"group": groups, "flow": flows, **of_flows}),
        queues=Table._of("queues", {"queue": found["ports"], **columns(_QUEUES, found["queues"])}),
        groups=Table._of("groups", {"group": names, "flows": counts, "goodput_bps": summed}),
        models=tuple(AppliedModel(*model) for model in models),
        not_modelled=tuple(Unmodelled(at, why) for at, why in found["not_modelled"]),
    )


def _rows(table: Table, columns: Iterable[str]) -> list[list[str]]:
    values = [[quantity(column, value) for value in table.to_dict()[column]] for column in columns]
    return [list(row) for row in zip(*values, strict=True)]
