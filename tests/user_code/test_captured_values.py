"""Hashes of classes cover the values that they take from an enclosing function."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tailback as tb
from scaling_law import scenario
from tailback.user_code._class_fingerprint import fingerprint


def captured(value: Any) -> type:
    """A class with a method that uses a value."""

    class Captured:
        def value(self) -> Any:
            return value

    return Captured


def default(value: Any) -> type:
    class Default:
        def given(self, by_place: Any = value, *, by_name: Any = value) -> Any:
            return by_place, by_name

    return Default


def attribute(value: Any) -> type:
    class Attribute:
        gain = value

    return Attribute


def inherited(value: Any) -> type:
    class Inherited(captured(value)):  # type: ignore[misc]  # A base that is made by a call.
        def other(self) -> Any:
            return self.value()

    return Inherited


@dataclass
class Gains:
    up: float
    down: list[float]


def times(factor: float) -> Callable[[float], float]:
    return lambda value: factor * value


def recursive(value: float) -> type:
    class Recursive:
        def again(self) -> tuple[Recursive, float]:
            return Recursive(), value

    return Recursive


def sha256(cls: type) -> str:
    return fingerprint(cls).sha256


@pytest.mark.parametrize("made", [captured, default, attribute, inherited, recursive])
def test_classes_that_differ_in_a_captured_value_have_different_hashes(made: Callable[[Any], type]) -> None:
    assert sha256(made(0.5)) == sha256(made(0.5)) != sha256(made(0.7))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        (1, True),
        ([1, 2], (1, 2)),
        ({"a": 1}, {"a": 2}),
        ({"a", "b"}, {"a", "c"}),
        (Gains(1.0, [2.0]), Gains(1.0, [3.0])),
        (np.array([1, 2]), np.array([1, 3])),
        (times(2.0), times(3.0)),
        (captured(1), captured(2)),
        (Path("a"), Path("b")),
        (os.path.join, os.path.basename),
        (len, max),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_of_many_kinds_are_compared(one: Any, other: Any) -> None:
    assert sha256(captured(one)) == sha256(captured(one)) != sha256(captured(other))


def test_values_that_contain_themselves_are_hashed() -> None:
    own: list[Any] = [1]
    own.append(own)
    assert sha256(captured(own)) != sha256(captured([1]))


def test_an_incomparable_value_causes_a_warning() -> None:
    message = "`captured.<locals>.Captured` uses `value` of an enclosing function, a `partial`, which cannot be compared"
    with pytest.warns(tb.errors.UserCodeWarning, match=message):
        fingerprint(captured(partial(max, 1)))


def test_hashes_are_the_same_in_every_process() -> None:
    program = "from test_captured_values import *; print(sha256(captured([{'a', 'b', 'c'}, Gains(1.0, []), times(2.0)])))"
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    printed = {
        subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(printed) == 1


def test_a_study_repeats_the_runs_of_a_changed_value(tmp_path: Path) -> None:
    def register(divisor: float) -> None:
        @tb.controller("captured_divisor")
        class Law(tb.user_code.Controller):
            def on_ack(self, ack: Any) -> None:
                self.window += ack.counted / self.window

            def on_congestion(self, seen: Any) -> None:
                self.window = self.ssthresh = max(seen.in_flight / divisor, 2.0)

            def on_timeout(self, seen: Any) -> None:
                self.window = 1.0

    register(2.0)
    study = tb.sweep(scenario("user:captured_divisor"), seeds=2, out=tmp_path / "study", executor="threads")
    before = study.runs["content_hash"].tolist()
    goodput = study.groups["goodput_bps"].tolist()
    register(20.0)
    with pytest.raises(tb.StudyError, match=r"controller `captured_divisor` .* repeats 2 of 2 runs"):
        study.resume()
    after = study.resume(refresh=True, executor="threads")
    assert set(before).isdisjoint(after.runs["content_hash"].tolist())
    assert goodput != after.groups["goodput_bps"].tolist()
