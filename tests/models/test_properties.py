"""Properties of all closed forms over random parameters: the ranges of fractions, and rules that are inverse to each other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tailback as tb
from tailback import _core

MODELS: dict[str, dict[str, Any]] = {model["name"]: model for family in json.loads(_core.models()).values() for model in family}
# Results that are fractions or probabilities.
FRACTIONS = {"utilisation", "loss", "share", "fairness", "marked", "share_mean_square", "all_marked"}
FRACTION_MODELS = {"erlang_b", "adpm_undetected"}
# Typical values as powers of ten.
MAGNITUDES = {
    "rate_bps": (5, 11),
    "capacity_pps": (1, 7),
    "alpha_pps": (-1, 6),
    "packet_bytes": (1.7, 3.2),
    "harmonic_rtt_s": (-4, 0.5),
    "mean_rtt_s": (-4, 0.5),
    "window": (-1, 5),
    "load": (-3, 1.5),
    "buffer_over_bdp": (-3, 1),
    "price": (-2, 1),
    "phi": (0.05, 1),
    "rto_s": (-2, 1),
}
# The cost of these grows with a power of the counts.
SMALL = {"exact_trunk_loss": (0, 0.8), "fast_arrivals": (0, 2), "vegas_arrivals": (0, 2)}
RULES = ("cui_trunk", "cui_link", "unpaced", "appenzeller", "synchronised", "enachescu", "cubic")


def drawn(parameter: dict[str, Any], counts: tuple[float, float], random: np.random.Generator) -> Any:
    """A valid value of a parameter, if its range does not depend on other parameters; `counts`: magnitudes of whole numbers."""
    name, kind = parameter["name"], parameter["of"]
    if isinstance(kind, list):
        return str(random.choice([word["word"] for word in kind]))
    if kind in ("above 0 and below 1", "at least 0 and below 1", "0 to 1"):
        return float(
            random.choice([random.uniform(0.001, 0.999), 10 ** random.uniform(-9, -1), 1 - 10 ** random.uniform(-9, -1)])
        )
    if kind == "1 to 16":
        return int(random.integers(1, 17))
    value = 10 ** random.uniform(*MAGNITUDES.get(name, counts))
    if kind.startswith((">= 0", "0 to", "0, or")) and random.random() < 0.1:
        return 0
    return float(value) if name in MAGNITUDES or (kind in ("> 0", ">= 0") and name == "buffer") else int(value)


def calls(model: str, random: np.random.Generator, count: int) -> Iterator[dict[str, Any]]:
    """Random parameters of a model; some of the optional ones are left out."""
    parameters, counts = MODELS[model]["parameters"], SMALL.get(model, (0, 3.5))
    for _ in range(count):
        given = [each for each in parameters if each["default"] is None or random.random() < 0.5]
        yield {each["name"]: drawn(each, counts, random) for each in given}


def fractions(model: str) -> list[str]:
    """The results of a model that are fractions: names of fields, or the empty name of its only result."""
    fields = {field["name"] for field in MODELS[model]["answer"]["fields"]}
    return [""] if model in FRACTION_MODELS or model.endswith("_utilisation") else sorted(fields & FRACTIONS)


@pytest.mark.parametrize("model", [model for model in MODELS if fractions(model)])
def test_utilisations_shares_and_probabilities_are_between_0_and_1(model: str) -> None:
    random, valid = np.random.default_rng(1), 0
    count = 1500 if model == "closed_loop" else 300
    for parameters in calls(model, random, count):
        try:
            result = getattr(tb.models, model)(**parameters)
        except tb.ParameterError:
            continue
        valid += 1
        for name in fractions(model):
            fraction = getattr(result, name) if name else result
            assert 0 <= fraction <= 1, (parameters, name, fraction)
    assert valid > count / 4


@pytest.mark.parametrize("rule", RULES)
def test_the_utilisation_of_a_buffer_is_the_largest_that_requires_no_more(rule: str) -> None:
    random = np.random.default_rng(2)
    buffer_of, utilisation_of = getattr(tb.models, f"{rule}_buffer"), getattr(tb.models, f"{rule}_utilisation")
    checked = 0
    for parameters in calls(f"{rule}_utilisation", random, 400):
        buffer = parameters.pop("buffer")
        most = utilisation_of(**parameters, buffer=buffer)
        for target, is_larger in ((0.999 * most, False), (most + 1e-3 * (1 - most), True)):
            # A utilisation within the last digits of 1 is not resolved by its distance to 1.
            if not 1e-200 < target < 1 - 1e-9:
                continue
            try:
                needed = buffer_of(**parameters, utilisation=target).unrounded
            except tb.ParameterError:
                # No buffer achieves this target.
                assert is_larger, (parameters, buffer, most)
                continue
            assert (needed > buffer) if is_larger else (needed <= buffer), (parameters, buffer, most, needed)
            checked += 1
    assert checked > 300


def test_every_rule_with_an_inverse_is_checked() -> None:
    assert {f"{rule}_utilisation" for rule in RULES} == {
        name for name in MODELS if name.endswith("_utilisation") and name.replace("_utilisation", "_buffer") in MODELS
    }
