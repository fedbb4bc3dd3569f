"""`tailback.predict`: predict the results of a scenario by the models whose assumptions hold."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tailback._format import aligned, quantity
from tailback._html import HtmlList, notebook
from tailback._scenario import Scenario
from tailback._table import Table
from tailback.prediction._datagrams import predict_datagrams
from tailback.prediction._network import Network
from tailback.prediction._outcome import AppliedModel, Comparison, Outcome, Unmodelled
from tailback.prediction._transport import predict_tcp
from tailback.prediction._trunk import predict_trunks

if TYPE_CHECKING:
    from tailback._run import Run

__all__ = ["Prediction", "predict"]

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


def predict(scenario: Scenario | Mapping[str, Any], seed: int | None = None) -> Prediction:
    """Predict the results of a scenario without a simulation, by the models whose assumptions hold.

    Datagrams: M/D/1, M/M/1, their finite forms, M/M/c/K and Erlang B. Inputs of a switch that share a trunk: the exact chain
    without a buffer, otherwise the loss model with the smallest error according to `tailback.models.trunk_accuracy`. TCP without
    random loss: window divided by RTT, the sawtooth of a single flow, a trunk in closed loop, normally distributed total window,
    and the equilibrium of FAST or Vegas. TCP with random loss: Padhye. The result also lists the parts that no model covers, with
    the violated assumptions.

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
    described = scenario if isinstance(scenario, Scenario) else Scenario(scenario)
    network = Network(described, seed)
    outcome = Outcome(network)
    if network.changes:
        outcome.exclude("timeline", "models describe a steady state, but the timeline changes it during the run")
    elif never := [group.name for group in network.groups if max(group.starts_s) >= network.duration_s]:
        outcome.exclude(f"flows.{never[0]}.start", "some of its flows start after the end of the run")
    else:
        predict_datagrams(network, outcome)
        predict_trunks(network, outcome)
        predict_tcp(network, outcome)
    return _tables(described.name, network, outcome)


def _tables(name: str, network: Network, outcome: Outcome) -> Prediction:
    import numpy as np

    groups = network.flows["group"]
    flows: dict[str, Any] = {"group": groups, "flow": network.flows["flow"], "base_rtt_s": network.flows["base_rtt_s"]}
    for column in _FLOWS[1:]:
        flows[column] = np.concatenate([outcome.flows[group.name][column] for group in network.groups])
    queues: dict[str, Any] = {"queue": list(network.ports)}
    for column in _QUEUES:
        queues[column] = [outcome.queues[port][column] for port in network.ports]
    summed = [float(np.sum(outcome.flows[group.name]["goodput_bps"])) for group in network.groups]
    counts = [group.count for group in network.groups]
    names = [group.name for group in network.groups]
    return Prediction(
        name=name,
        flows=Table._of("flows", flows),
        queues=Table._of("queues", queues),
        groups=Table._of("groups", {"group": names, "flows": counts, "goodput_bps": summed}),
        models=tuple(outcome.models),
        not_modelled=tuple(outcome.excluded),
    )


def _rows(table: Table, columns: Iterable[str]) -> list[list[str]]:
    values = [[quantity(column, value) for value in table.to_dict()[column]] for column in columns]
    return [list(row) for row in zip(*values, strict=True)]
