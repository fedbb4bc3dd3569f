"""Losses for the open-loop figures: a trunk's loss by each model, in simulation and exactly, and the models' errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tailback.models import LOSS_MODELS, TrunkLoss, TrunkSimulation, exact_trunk_loss, simulate_trunk, trunk_loss
from tailback.papers import AxisValue, Computation, Label, Line, Measured, Values, Variant, vary

__all__ = [
    "EXACT_LINES",
    "LINES",
    "MEASURES",
    "MODELS",
    "SIMULATION",
    "TRUNK_VARIANTS",
    "WIDTH_OF_A_SEED",
    "a_value_a_seed",
    "below",
    "gap",
    "margin",
    "mean_loss",
    "off",
    "places",
    "ratio",
    "trunk",
    "worst",
]

# Names in labels; the simulation follows the variant in which packets keep their lengths.
MODELS = {by: model.title for by, model in LOSS_MODELS.items() if model.source.startswith("cui-thesis")}
SIMULATION = "simulation"
TRUNK_VARIANTS = {"fresh": "exact, fresh", "coupled": "exact, coupled"}

LINES = (*(Line(name, {"by": by}, dashed=True) for by, name in MODELS.items()), Line("simulation", {"by": SIMULATION}))
EXACT_LINES = tuple(Line(name, {"by": by}) for by, name in TRUNK_VARIANTS.items())

# With ten seeds, the interval of their mean is then as narrow as the thesis requires: 3 % of the mean, narrower by the root of
# ten.
WIDTH_OF_A_SEED = 0.095
# Less than a second on one core. With two or four inputs and ten places, light loads would need more than seventy times as many.
_MAX_OF_A_SEED = 4_000_000


def trunk(places: Iterable[AxisValue], *, exact: bool, width: float = WIDTH_OF_A_SEED, **parameters: Any) -> tuple[Variant, ...]:
    """A trunk at points of an axis by every model and in simulation; with `exact` also by the other readings, without noise."""
    places = tuple(places)
    by_model = [AxisValue({"by": by}, {"model": by}) for by in MODELS]
    by_variant = [AxisValue({"by": by}, {"variant": by}) for by in TRUNK_VARIANTS]
    simulated = {"variant": "own_length", "relative_width": width, "max_arrivals": _MAX_OF_A_SEED, "threads": 1}
    return (
        *vary(Computation(trunk_loss, parameters), places, by_model),
        *vary(Computation(simulate_trunk, {**parameters, **simulated}), places, by=SIMULATION),
        *(vary(Computation(exact_trunk_loss, parameters), places, by_variant) if exact else ()),
    )


def loss(result: TrunkLoss | TrunkSimulation) -> float:
    """Fraction of packets lost."""
    return float(result.loss)


MEASURES: dict[str, Callable[[Any], float]] = {"loss": loss}


def a_value_a_seed(statistic: Callable[[Measured], Values]) -> Callable[[Measured], Values]:
    """A value per seed for a function of mean losses, so that it has an interval: pseudo-values of the jackknife.

    The logarithm of a noisy loss is biased, and the absolute distance from it is always positive; pseudo-values are unbiased to
    first order (J. W. Tukey, Bias and confidence in not-quite large samples, 1958).
    """

    def values(results: Measured) -> Values:
        all_seeds, *without_one = statistic(results)
        spread: Values = all_seeds + (len(without_one) - 1) * (all_seeds - np.array(without_one))
        return spread

    return values


def mean_loss(results: Measured, by: str, **labels: Label) -> Values:
    """Means over all seeds, then over all but one, each omitted in turn."""
    values = results.values("loss", by=by, **labels)
    without_one: Values = (values.sum() - values) / (len(values) - 1)
    # Deterministic values stay unchanged to the last digit.
    return np.concatenate([[values.mean()], without_one]) if np.ptp(values) else np.repeat(values[0], len(values) + 1)


def places(results: Measured, over: str) -> list[Label]:
    """Points at which the simulation was run."""
    return [point.labels[over] for point in results.where(by=SIMULATION)]


def ratio(results: Measured, by: str, other: str = SIMULATION, **labels: Label) -> Values:
    """Mean loss by one model divided by mean loss by another, at one point."""
    return mean_loss(results, by, **labels) / mean_loss(results, other, **labels)


def off(
    results: Measured, by: str, over: str = "load", where: Iterable[Label] | None = None, reference: str = SIMULATION
) -> Values:
    """Error of a model against the simulation or another reference: the mean absolute logarithm of the ratio over the points."""
    chosen = places(results, over) if where is None else list(where)
    factors: Values = np.mean([np.abs(np.log(ratio(results, by, reference, **{over: place}))) for place in chosen], axis=0)
    return factors


def margin(results: Measured, over: str = "load", where: Iterable[Label] | None = None, reference: str = SIMULATION) -> Values:
    """Error of the best other model minus that of G1DM."""
    chosen = places(results, over) if where is None else list(where)
    others: Values = np.min([off(results, by, over, chosen, reference) for by in MODELS if by != "g1dm"], axis=0)
    return others - off(results, "g1dm", over, chosen, reference)


def worst(results: Measured, by: str, against: str | Callable[[float], float] = SIMULATION) -> Values:
    """Largest relative error of a loss against the simulation, another line, or a function of load."""
    loads = places(results, "load")
    if isinstance(against, str):
        errors = [ratio(results, by, against, load=load) - 1 for load in loads]
    else:
        errors = [mean_loss(results, by, load=load) / against(float(load)) - 1 for load in loads]
    furthest: Values = max((np.abs(each) for each in errors), key=lambda each: float(each[0]))
    return furthest


def gap(results: Measured, suffix: str = "") -> Values:
    """The inserting effect: EBD over G1DM minus 1, at the load where it is largest."""
    gaps = [ratio(results, f"ebd{suffix}", f"g1dm{suffix}", load=load) - 1 for load in places(results, "load")]
    largest: Values = np.max(gaps, axis=0)
    return largest


def below(results: Measured, bound: float) -> list[Label]:
    """Loads up to a bound."""
    return [load for load in places(results, "load") if float(load) <= bound]
