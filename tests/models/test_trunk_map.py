"""Error of the models of a trunk: interpolation between the mapped points, compared with the exact chain."""

from __future__ import annotations

import math
import runpy
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import tailback as tb
from support import ROOT
from tailback.models import LOSS_MODELS, LossModel

# Inputs, channels, buffer, load; none of these is a point of the map.
BETWEEN = [
    (12, 3, 3, 0.55),
    (20, 6, 7, 0.85),
    (7, 3, 4, 0.95),
    (24, 2, 15, 0.95),
    (30, 3, 12, 1.05),
    (5, 1, 8, 0.6),
    (14, 5, 1, 1.2),
]
NO_PLACE = [(3, 1, 0, 0.95), (7, 3, 0, 0.6), (14, 10, 0, 0.85), (100, 7, 0, 0.95), (13, 12, 0, 0.9)]


def trunk(numbers: tuple[int, int, int, float]) -> dict[str, Any]:
    return dict(zip(("inputs", "transmitters", "buffer", "load"), numbers, strict=True))


@pytest.mark.parametrize("model", LOSS_MODELS)
@pytest.mark.parametrize("numbers", BETWEEN)
def test_the_interpolated_map_agrees_with_the_exact_chain(numbers: tuple[int, int, int, float], model: LossModel) -> None:
    at = trunk(numbers)
    said = tb.models.trunk_accuracy(**at, model=model, variant="fresh")
    exact = tb.models.trunk_loss(**at, model=model).loss / tb.models.exact_trunk_loss(**at, variant="fresh").loss
    # Interpolation is more accurate where the surrounding points agree.
    assert abs(math.log(said.ratio / exact)) < 0.03 + 0.15 * math.log(said.high / said.low), (said, exact)
    assert 0.97 * said.low <= exact <= 1.03 * said.high


@pytest.mark.parametrize("numbers", NO_PLACE)
def test_without_a_buffer_the_map_agrees_with_the_exact_chain(numbers: tuple[int, int, int, float]) -> None:
    at = trunk(numbers)
    for model in LOSS_MODELS:
        said = tb.models.trunk_accuracy(**at, model=model)
        exact = tb.models.trunk_loss(**at, model=model).loss / tb.models.exact_trunk_loss(**at, variant="own_length").loss
        if numbers[1] / numbers[0] > 0.8:
            assert str(said) == "not mapped"
            continue
        for factor in (1.05, 1.2, 2.0):
            off = abs(math.log(exact))
            # A ratio within half a percent of a bound may be on either side of it.
            if said.within(factor):
                assert off <= math.log(factor) + 0.005, (model, factor, said, exact)
            elif said.span[0] == said.span[1]:
                assert off >= math.log(factor) - 0.02, (model, factor, said, exact)


@pytest.mark.parametrize(
    ("numbers", "model", "said"),
    [
        ((8, 2, 20, 0.9), "g1dm", "within a factor of 2 (-49 %)"),
        ((8, 2, 20, 0.9), "mmkkb", "off by more than a factor of 2 (4.1 times)"),
        # Too low on one side and too high on the other: the value in between is unknown. 7.8 +- 2.7 % was simulated.
        ((31, 11, 45, 0.967), "ebl", "within a factor of 2 (-26 % to +42 % at the surrounding points)"),
        ((31, 11, 45, 0.967), "g1dm", "perhaps off by more than a factor of 2 (1/5.29e+05 to +82 % at the surrounding points)"),
        ((8, 2, 101, 0.9), "g1dm", "not mapped"),
        ((8, 2, 0, 0.05), "g1dm", "not mapped"),
        ((2000, 1000, 20, 0.9), "g1dm", "not mapped"),
        # A loss of 1e-21.
        ((8, 2, 50, 0.5), "g1dm", "not mapped"),
        ((4, 4, 1, 0.9), "g1dm", "within 5 % (+0 %)"),
        ((4, 4, 1, 0.9), "mmkkb", "off by more than a factor of 2 (inf times)"),
    ],
)
def test_the_text_of_an_accuracy(numbers: tuple[int, int, int, float], model: LossModel, said: str) -> None:
    assert str(tb.models.trunk_accuracy(**trunk(numbers), model=model)) == said


def test_infinitely_many_inputs_are_a_poisson_process() -> None:
    said = tb.models.trunk_accuracy(inputs=1_000_000, transmitters=4, buffer=20, load=0.9, model="mmkkb")
    assert said.ratio == pytest.approx(1, abs=1e-4)


def test_an_invalid_reading_is_named() -> None:
    with pytest.raises(tb.ParameterError, match='`variant` is "own"; expected one of own_length, fresh, coupled'):
        tb.models.trunk_accuracy(inputs=4, transmitters=1, buffer=0, load=0.5, variant="own")  # type: ignore[arg-type]


def paced_trunk(inputs: int, transmitters: int, buffer: int, flows: int) -> tb.Scenario:
    """Paced flows over `inputs` links of 100 Mbit/s each, and then over fewer of them."""
    link = {"rate": "100 Mbps", "delay": "1 ms"}
    return tb.Scenario(
        {
            "name": "a trunk",
            "duration": "10 s",
            "nodes": {"in": {}, "middle": {}, "out": {}},
            "links": {
                "inputs": {**link, "from": "in", "to": "middle", "transmitters": inputs, "queue": {"buffer": "unlimited"}},
                "trunk": {
                    **link,
                    "from": "middle",
                    "to": "out",
                    "transmitters": transmitters,
                    "queue": {"buffer": f"{buffer} packets"},
                },
            },
            "flows": {
                "web": {
                    "count": flows,
                    "from": "in",
                    "to": "out",
                    "propagation_rtt": "200 ms",
                    "tcp": {"preset": "sack", "pacing": True},
                },
            },
        }
    )


@pytest.mark.filterwarnings("ignore::tailback.PredictionWarning")
# Resulting loads are 0.1 and 0.9.
@pytest.mark.parametrize(("buffer", "warned"), [(0, False), (20, True)])
def test_a_prediction_warns_about_errors_of_its_loss_model(buffer: int, warned: bool) -> None:
    prediction = tb.predict(paced_trunk(inputs=8, transmitters=2, buffer=buffer, flows=100))
    [model] = prediction.models
    assert model.model == "closed loop of G1DM and Padhye"
    assert any("bursts" not in warning for warning in model.warnings) == warned, model


# Linear RGB as perceived with complete deficiency: Machado, Oliveira and Fernandes (2009), IEEE Transactions on Visualization and
# Computer Graphics 15(6).
SEEN = {
    "all colours": np.eye(3),
    "deuteranopia": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]]),
    "protanopia": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
    "tritanopia": np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]]),
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) / [[0.9505], [1.0], [1.089]]


def lab(colour: str, seen: Any) -> Any:
    """Perceived colour in CIE L*a*b*."""
    parts = np.array([int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    x, y, z = np.cbrt(TO_XYZ @ np.clip(seen @ linear, 0, 1))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("way", SEEN)
def test_the_picture_can_be_read_with_any_colour_vision(way: str) -> None:
    drawn = runpy.run_path(str(ROOT / "tools" / "trunk_map.py"))
    seen = [lab(colour, SEEN[way]) for colour in drawn["COLOURS"]]
    for one, other in combinations(range(len(seen)), 2):
        # Neighbouring colours differ by at least 10, and the two sides by much more.
        least = 10 if other - one == 1 or 3 in (one, other) else 15
        assert math.dist(seen[one], seen[other]) > least, (drawn["CLASSES"][one], drawn["CLASSES"][other])


def test_the_picture_can_be_read_without_colour() -> None:
    drawn = runpy.run_path(str(ROOT / "tools" / "trunk_map.py"))
    lightness = [lab(colour, SEEN["all colours"])[0] for colour in drawn["COLOURS"]]
    # Larger errors are darker, and the two sides have different marks.
    assert lightness[:4] == sorted(lightness[:4])
    assert lightness[3:] == sorted(lightness[3:], reverse=True)
    assert set(drawn["MARKS"][:3]).isdisjoint(drawn["MARKS"][4:])
