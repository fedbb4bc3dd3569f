"""Losses for the open-loop figures: a trunk's loss by each model, in simulation and exactly, and the models' errors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tailback.models import LOSS_MODELS, exact_trunk_loss, simulate_trunk, trunk_loss
from tailback.papers import AxisValue, Computation, Condition, Expression, Line, Variant, at, axis, lowest, vary

__all__ = [
    "EXACT_LINES",
    "LINES",
    "MODELS",
    "REFERENCE",
    "SERVICE",
    "SIMULATION",
    "TRUNK_VARIANTS",
    "WIDTH_OF_A_SEED",
    "gap",
    "margin",
    "off",
    "ratio",
    "references",
    "trunk",
    "worst",
]

# Names in labels; the simulation follows the variant in which packets keep their lengths.
MODELS = {by: model.title for by, model in LOSS_MODELS.items() if model.source.startswith("cui-thesis")}
SIMULATION = "simulation"
TRUNK_VARIANTS = {"fresh": "exact, fresh", "coupled": "exact, coupled"}
# The loss in each variant: of the simulation, or exact.
REFERENCE = "reference"
OWN = "own_length"
SERVICE = Condition(
    "service",
    "section 3.6 does not define the transmission time of a packet that waited",
    (OWN, *TRUNK_VARIANTS),
    "packets keep their lengths",
)

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
    return (
        *vary(Computation(trunk_loss, parameters), places, axis("by", {by: {"model": by} for by in MODELS})),
        *vary(simulated(width, parameters), places, by=SIMULATION),
        *(
            vary(Computation(exact_trunk_loss, parameters), places, axis("by", {by: {"variant": by} for by in TRUNK_VARIANTS}))
            if exact
            else ()
        ),
    )


def simulated(width: float, parameters: dict[str, Any]) -> Computation:
    """A simulation in which packets keep their lengths."""
    accuracy = {"relative_width": width, "max_arrivals": _MAX_OF_A_SEED, "threads": 1}
    return Computation(simulate_trunk, {**parameters, "variant": OWN, **accuracy})


def references(places: Iterable[AxisValue], *, width: float = WIDTH_OF_A_SEED, **parameters: Any) -> tuple[Variant, ...]:
    """The loss under every value of `SERVICE`."""
    places = tuple(places)
    return (
        *vary(simulated(width, parameters), places, by=REFERENCE, service=OWN),
        *vary(
            Computation(exact_trunk_loss, parameters),
            places,
            axis("service", {each: {"variant": each} for each in TRUNK_VARIANTS}),
            by=REFERENCE,
        ),
    )


def ratio(by: str, reference: str = SIMULATION, **where: Any) -> Expression:
    """Loss by one model divided by another or by the simulation, at each point."""
    return at("loss", by=by, **where) / at("loss", by=reference, **where)


def off(by: str, reference: str = SIMULATION, **where: Any) -> Expression:
    """Error of a model: the mean absolute logarithm of the ratio over the points."""
    return abs(ratio(by, reference, **where).log()).mean()


def margin(reference: str = SIMULATION, **where: Any) -> Expression:
    """Error of the best other model minus that of G1DM."""
    others = (off(by, reference, **where) for by in MODELS if by != "g1dm")
    return lowest(*others, each_seed=True) - off("g1dm", reference, **where)


def worst(by: str, reference: str = SIMULATION) -> Expression:
    """Largest relative error of a loss against the simulation or another line."""
    return abs(ratio(by, reference) - 1).max()


def gap(suffix: str = "") -> Expression:
    """The inserting effect: EBD over G1DM minus 1, at the load where it is largest."""
    return (ratio(f"ebd{suffix}", f"g1dm{suffix}") - 1).max(each_seed=True)
