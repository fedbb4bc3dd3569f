"""Quantities of a run: columns, formulas of columns, and errors."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tailback as tb

RENO = {"preset": "reno"}
FLOWS: Any = {"web": {"count": 2, "start": {"uniform": ["0 s", "1 s"]}, "tcp": RENO}, "bulk": {"tcp": RENO}}


@pytest.fixture(scope="module")
def run() -> tb.Run:
    return tb.simulate(tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="9 packets", flows=FLOWS, duration="5 s"))


def test_a_column_is_the_mean_of_its_rows(run: tb.Run) -> None:
    rates = run.flows["goodput_bps"]
    assert run.value("flows.*.goodput_bps") == pytest.approx(rates.mean())
    assert run.value("flows.web.goodput_bps") == pytest.approx(rates[:2].mean())
    assert run.value("queues.bottleneck.reverse.loss_rate") == 0
    assert run.value() == run.value("goodput") == math.fsum(run.groups["goodput_bps"])


def test_formulas_are_evaluated_by_row(run: tb.Run) -> None:
    flows, queue = run.flows, run.queues.where(queue="bottleneck")
    rates = flows["goodput_bps"]
    assert run.value("sum(flows.*.goodput_bps * flows.*.base_rtt_s)") == pytest.approx((rates * flows["base_rtt_s"]).sum())
    assert run.value("max(flows.*.timeouts) - min(flows.*.timeouts)") == np.ptp(flows["timeouts"])
    assert run.value("jain(flows.*.goodput_bps)") == pytest.approx(rates.sum() ** 2 / (3 * (rates**2).sum()))
    assert run.value("share(flows.bulk.goodput_bps)") == pytest.approx(rates[2] / rates.sum())
    assert run.value("1e3 * queues.bottleneck.mean_wait_s") == 1e3 * queue["mean_wait_s"][0]
    assert run.value("sum(flows.*.delivered_packets) / queues.bottleneck.departed_units") == pytest.approx(
        flows["delivered_packets"].sum() / queue["departed_units"][0]
    )


@pytest.mark.parametrize(("text", "value"), [("2 + 3 * 4", 14), ("(2 + 3) * -4", -20), ("7 - 2 - 1", 4), ("8 / 4 / 2", 1)])
def test_operators_have_their_usual_order(run: tb.Run, text: str, value: float) -> None:
    assert run.value(text) == value


def test_division_by_zero_is_infinite_or_unknown(run: tb.Run) -> None:
    assert run.value("1 / 0") == math.inf
    assert run.value("-1 / 0") == -math.inf
    assert math.isnan(run.value("0 / 0"))


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (
            "utilisation",
            "`utilisation` is not a quantity; .*; a column has its table before it, as in `queues.bottleneck.utilisation`",
        ),
        ("goodputs", "`goodputs` is not a quantity; expected .*; did you mean `goodput`"),
        ("shar(flows.*.timeouts)", r"is not a quantity at `shar`; .*; did you mean `share`"),
        ("flows.web", "`flows.web` is not a quantity"),
        ("1 +", r"`1 \+` is not a quantity"),
        ("1 2", "is not a quantity at `2`"),
        ("sum(1", "is not a quantity"),
        ("share(2 * flows.web.timeouts)", "takes a column"),
        ("flows.*.timeouts * groups.*.flows", "`\\*` combines 3 rows with 2"),
    ],
)
def test_the_place_of_an_error_is_named(run: tb.Run, text: str, error: str) -> None:
    with pytest.raises(tb.ParameterError, match=error):
        run.value(text)


def test_unknown_tables_rows_and_columns_are_named(run: tb.Run) -> None:
    for text, word in (("edges.*.timeouts", "edges"), ("flows.we.timeouts", "web"), ("flows.web.timeout", "timeouts")):
        with pytest.raises(tb.UnknownName, match=word):
            run.value(text)


def test_studies_evaluate_formulas_over_several_tables(tmp_path: Path) -> None:
    base = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="9 packets", flows=FLOWS, duration="2 s")
    formula = "sum(flows.*.delivered_packets) / queues.bottleneck.departed_units"
    study = tb.sweep(base, {"topology.dumbbell.rate": ["5 Mbps", "10 Mbps"]}, seeds=2, until=f"{formula}:90%", out=tmp_path / "s")
    expected = [
        tb.simulate(base.with_({"topology.dumbbell.rate": rate}), seeds=2).mean(formula).mean for rate in ("5 Mbps", "10 Mbps")
    ]
    assert study.means(formula)["mean"].tolist() == pytest.approx(expected)
    assert study.plot(formula).axes[0].get_title().startswith(formula)
