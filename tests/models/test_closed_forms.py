"""The closed forms through Python: numbers, arrays and errors. Their values are tested in Rust."""

from __future__ import annotations

import json
import runpy

import numpy as np
import pytest

import tailback as tb
from support import ROOT
from tailback import _core


def test_functions_and_tables_match_the_descriptions_of_the_models() -> None:
    made = runpy.run_path(str(ROOT / "tools/models.py"))
    families = json.loads(_core.models())
    again = "run: .venv/bin/python tools/models.py"
    assert made["STUB"].read_text() == made["stub"](families), again
    page = made["PAGE"].read_text()
    assert page == made["page"](families, page), again


def test_arrays_broadcast_against_each_other() -> None:
    loads, places = np.array([[0.5], [1.0]]), [1, 4, 9]
    queue = tb.models.mm1k(loads, places)
    assert queue.loss.shape == (2, 3)
    assert queue.loss[1] == pytest.approx([1 / 2, 1 / 5, 1 / 10])
    assert queue.mean_wait[0, 1] == tb.models.mm1k(0.5, 4).mean_wait


def test_arrays_of_any_layout_and_type_are_accepted_and_results_are_writable() -> None:
    loads = np.arange(12, dtype=np.int8).reshape(3, 4)[::2, ::-1].T
    wait = tb.models.mm1k(loads, np.float32(4)).mean_wait
    assert wait.tolist() == [[tb.models.mm1k(float(load), 4).mean_wait for load in row] for row in loads]
    wait[0] = 0.0


def test_numbers_give_numbers() -> None:
    assert type(tb.models.single_flow_utilisation(0.5)) is float
    assert tb.models.slow_start(segments=3, initial_window=1, rtt_s=0.1, segment_s=0.01).round_trips == 2
    assert tb.models.slow_start(segments=[3, 4], initial_window=1, rtt_s=0.1, segment_s=0.01).round_trips.tolist() == [2, 3]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tb.models.mm1k(-0.1, 4), r"`load` is -0\.1; expected a finite number of at least 0"),
        (lambda: tb.models.mm1k([0.5, float("nan")], 4), "`load` is NaN"),
        (lambda: tb.models.erlang_b(0.5, 0), "`servers` is 0; expected 1 to 1000000 transmitters"),
        (lambda: tb.models.mm1k(0.5, -1), "places"),
        (lambda: tb.models.mm1k(0.5, 1.5), "`places` is 1.5; expected a whole number"),
        (lambda: tb.models.mm1k(np.array([[0.5], [-1]]), [1, 2]), r"`load` is -1; .* \(in element \[1, 0\]\)"),
        (lambda: tb.models.mm1k([0.5, 0.6], [1, 2, 3]), r"`load` has shape \(2,\), `places` has shape \(3,\)"),
        (lambda: tb.models.mm1k(np.array(["much"]), 4), "expected a number or an array of numbers"),
        (lambda: tb.models.mm1k(0.5, 10**400), "places"),
        (lambda: tb.models.mm1k([], 4), "an empty array"),
        (lambda: tb.models.fast_retransmit(8, [3, 3]), "strictly increasing positions"),
    ],
)
def test_bad_parameters_are_named(call: object, message: str) -> None:
    assert callable(call)
    with pytest.raises(tb.ParameterError, match=message):
        call()


def test_a_condition_that_fails_is_named() -> None:
    repair = tb.models.fast_retransmit(24, [0, 20, 22])
    assert (repair.recovers, repair.retransmitted, repair.failed_condition) == (False, 2, 3)
    assert repair.failed_formula == "n2 - n1 >= 3W/4 + 3"
