"""Sizing rules through Python: arrays, errors and inverse questions. Their values are tested in Rust."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tailback as tb

TRUNK: dict[str, Any] = {"transmitters": 8, "rate_bps": 40e9, "packet_bytes": 1040}


def test_arrays_of_targets_and_flows_broadcast() -> None:
    flows = np.array([[3200], [32000]])
    size = tb.models.cui_trunk_buffer(inputs=16, **TRUNK, flows=flows, harmonic_rtt_s=0.1, utilisation=[0.6, 0.7, 0.8, 0.9])
    # cui-thesis, table 3.3.
    assert size.buffer.tolist() == [[12, 18, 29, 61], [7, 10, 18, 38]]
    assert size.switch == pytest.approx(2 * size.buffer)
    assert size.buffer.dtype == np.int64


def test_every_rule_has_a_description() -> None:
    for rule in tb.models.SIZING_RULES.values():
        assert rule.equation
        assert rule.source
        assert rule.assumes
    assert tb.models.beheshti_buffer().rule is tb.models.SIZING_RULES["beheshti"]


def test_buffer_flows_and_utilisation_are_inverse_functions() -> None:
    rtt: dict[str, Any] = {"mean_rtt_s": 0.1}
    utilisation = np.array([0.5, 0.9, 0.99])
    size = tb.models.appenzeller_buffer(**TRUNK, **rtt, flows=1000, utilisation=utilisation)
    assert tb.models.appenzeller_utilisation(**TRUNK, **rtt, flows=1000, buffer=size.unrounded) == pytest.approx(utilisation)
    assert (tb.models.appenzeller_flows(**TRUNK, **rtt, utilisation=utilisation, buffer=size.unrounded) == 1000).all()


def _untyped(value: object) -> Any:
    """Call with arguments that a type checker would reject."""
    return value


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: tb.models.enachescu_buffer(window=100, utilisation=0.95),
            "`utilisation` is 0.95; expected below `over_provision`",
        ),
        (lambda: tb.models.gorinsky_buffer(inputs=0), "`inputs` is 0; expected at least 1"),
        (lambda: tb.models.gorinsky_buffer(inputs=[4, 2.5]), r"`inputs` is 2.5; .* \(in element \[1\]\)"),
        (
            lambda: tb.models.gorinsky_buffer(inputs=_untyped("many")),
            "`inputs` is 'many'; expected a number or an array of numbers",
        ),
        (lambda: tb.models.gorinsky_buffer(inputs=[]), "an empty array"),
        (
            lambda: tb.models.appenzeller_buffer(**TRUNK, flows=[1, 2, 3], mean_rtt_s=[0.1, 0.2], utilisation=0.9),
            r"`flows` has shape \(3,\), `mean_rtt_s` has shape \(2,\)",
        ),
        (
            lambda: tb.models.cui_link_buffer(rate_bps=1e9, packet_bytes=1500, flows=10, harmonic_rtt_s=0.1, utilisation=1),
            "`utilisation` is 1; expected a share above 0 and below 1",
        ),
    ],
)
def test_bad_parameters_are_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises(tb.ParameterError, match=message):
        call()
