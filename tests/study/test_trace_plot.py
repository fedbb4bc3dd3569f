"""Traces of a study's runs, side by side."""

from __future__ import annotations

import io
import re
from typing import Any

import numpy as np
import pytest

import tailback as tb
from small_sweep import BUFFER, PRESET


@pytest.fixture(scope="module")
def traced() -> tb.Study:
    """Two buffers and two presets, with traces of windows and queues."""
    scenario = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="3 s", flows=2, traces=["cwnd", "queue"])
    return tb.sweep(scenario, {BUFFER: ["20 packets", "5 packets"], PRESET: ["reno", "sack"]}, seeds=2)


class TestTraces:
    def test_a_trace_reads_back_as_the_run_recorded_it(self, traced: tb.Study) -> None:
        scenario = tb.Scenario(traced.plan["scenario"]).with_({BUFFER: "20 packets", PRESET: "sack"})
        run = tb.simulate(scenario, seed=2)
        for kind in ("cwnd", "queue"):
            read = traced.trace(kind, 1, 2)
            assert (read.name, read.columns) == (kind, run.trace(kind).columns)
            for column in read:
                np.testing.assert_array_equal(read[column], run.trace(kind)[column])
        with pytest.raises(tb.UnknownName, match="finished run with a trace `cwnd` `9, 1`"):
            traced.trace("cwnd", 9, 1)

    def test_one_column_per_run_and_one_row_per_kind_on_common_scales(self, traced: tb.Study) -> None:
        figure = traced.plot(kind="traces", by=BUFFER, where={PRESET: "sack"}, seed=2)
        window, other_window, queue, other_queue = figure.axes
        assert [axis.get_title(loc="right") for axis in (window, other_window)] == ["20 packets", "5 packets"]
        assert [axis.get_title() for axis in figure.axes] == ["window, packets", "", "queue", ""]
        assert (window.get_ylim(), queue.get_ylim()) == (other_window.get_ylim(), other_queue.get_ylim())
        for axis, kind, column, point in ((window, "cwnd", "cwnd_packets", 1), (other_queue, "queue", "queue_units", 3)):
            trace = traced.trace(kind, point, 2)
            rows = trace.where(flow=0)[column] if "flow" in trace else trace[column]
            np.testing.assert_array_equal(np.asarray(axis.lines[0].get_ydata()), rows)
        assert figure.get_supxlabel() == f"columns: {BUFFER}, {PRESET} = sack, seed 2"

    def test_one_call_returns_a_figure_that_writes_pdf_and_svg(self, traced: tb.Study) -> None:
        for kind, begin in (("pdf", b"%PDF"), ("svg", b"<?xml")):
            file = io.BytesIO()
            traced.plot("cwnd", kind="traces", where={BUFFER: "5 packets", PRESET: "reno"}).savefig(file, format=kind)
            assert file.getvalue().startswith(begin)

    @pytest.mark.parametrize(
        ("asked", "match"),
        [
            ({"quantity": "rtt"}, "no trace `rtt`; expected one of `cwnd`, `queue`; add it to"),
            ({"by": None}, f"`{BUFFER}` also varies; draw a column per label with `by`"),
            ({"over": BUFFER, "by": None}, "takes no `over`"),
            ({"seed": 7}, "no finished run with a trace `cwnd` `0, 7`"),
        ],
    )
    def test_invalid_plots_are_rejected(self, traced: tb.Study, asked: dict[str, Any], match: str) -> None:
        with pytest.raises((tb.ParameterError, tb.UnknownName), match=re.escape(match)):
            traced.plot(kind="traces", **{"by": BUFFER, "where": {PRESET: "reno"}, **asked})

    def test_a_seed_is_valid_for_traces_only(self, study: tb.Study) -> None:
        with pytest.raises(tb.ParameterError, match="a seed, are only valid for kind `traces`"):
            study.plot(over=BUFFER, by=PRESET, seed=1)
