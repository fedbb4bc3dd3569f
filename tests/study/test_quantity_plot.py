"""Plots of a study: values worked by hand, and errors."""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np
import pytest

import tailback as tb
from small_sweep import BUFFER, PRESET
from tailback._interval import student_t
from tailback._study.quantity_plot import PlotSpec, figure
from tailback._tables.quantity import quantity_of

pytest.importorskip("matplotlib")


UTILISATION = quantity_of("queues.bottleneck.utilisation")


COMPLETION = quantity_of("flows.*.completion_time_s")


def runs(axis: str, values: dict[Any, list[list[float]]]) -> list[tuple[dict[str, Any], list[float]]]:
    """One run per list: label to the lists of its seeds."""
    return [({axis: label}, row) for label, rows in values.items() for row in rows]


class TestLines:
    def test_a_point_is_the_mean_and_its_band_the_interval(self) -> None:
        # 0.4 and 0.6: mean 0.5, deviation sqrt(0.02), half width t * 0.1, which is 0.4 t on the scale of the logit.
        shown = runs("delay", {"10 ms": [[0.4], [0.6]], "2 ms": [[0.3], [0.3]]})
        (axis,) = figure(UTILISATION, PlotSpec("line", ("delay",), None, {}), shown).axes
        assert np.asarray(axis.lines[0].get_xydata()).tolist() == [[2, 0.3], [10, 0.5]]
        band = np.asarray(axis.collections[0].get_paths()[0].vertices)
        assert band[:, 1].max() == pytest.approx(1 / (1 + math.exp(-0.4 * student_t(1))))
        assert axis.get_xlabel() == "delay, ms"
        assert axis.get_title() == "utilisation of bottleneck, mean and 95 % interval"

    def test_one_seed_has_no_interval_in_plot_and_title(self) -> None:
        (axis,) = figure(UTILISATION, PlotSpec("line", ("delay",), None, {}), runs("delay", {1: [[0.4]], 2: [[0.5]]})).axes
        assert axis.get_title() == "utilisation of bottleneck, mean"

    def test_a_single_place_has_a_bar_where_a_band_would_have_no_width(self) -> None:
        (axis,) = figure(UTILISATION, PlotSpec("line", ("delay",), None, {}), runs("delay", {"2 ms": [[0.4], [0.6]]})).axes
        bar = axis.containers[0][2][0].get_segments()[0]
        assert bar[:, 1].tolist() == pytest.approx([1 / (1 + math.exp(sign * 0.4 * student_t(1))) for sign in (1, -1)])

    def test_words_are_equidistant_in_the_order_of_the_study(self, study: tb.Study) -> None:
        (axis,) = study.plot(over=PRESET, where={BUFFER: "5 packets"}).axes
        assert [label.get_text() for label in axis.get_xticklabels()] == ["reno", "sack"]
        means = study.means().where(**{BUFFER: "5 packets"})["mean"]
        np.testing.assert_array_equal(np.asarray(axis.lines[0].get_ydata()), means)

    def test_each_label_has_its_line_and_its_name(self, study: tb.Study) -> None:
        (axis,) = study.plot("queues.bottleneck.utilisation", over=BUFFER, by=PRESET).axes
        assert {text.get_text() for text in axis.texts} == {"reno", "sack"}
        assert [np.asarray(line.get_xdata()).tolist() for line in axis.lines] == [[5, 20], [5, 20]]

    def test_the_only_unused_axis_is_the_default(self, study: tb.Study) -> None:
        assert study.plot(by=PRESET).axes[0].get_xlabel() == f"{BUFFER}, packets"


class TestShares:
    def test_one_step_per_row_and_unfinished_rows_never_count(self) -> None:
        # One of four flows in two runs did not end: 1/4 at 1 s, 3/4 at 3 s, and constant from there.
        shown = runs("kind", {"all": [[3.0, 1.0], [math.nan, 3.0]]})
        (axis,) = figure(COMPLETION, PlotSpec("ecdf", (), None, {}), shown).axes
        assert np.asarray(axis.lines[0].get_xydata()).tolist() == [[1, 0], [1, 0.25], [3, 0.5], [3, 0.75], [3, 0.75]]
        assert axis.get_xlabel() == "completion time (missing in 1 of 4 flows)"

    def test_each_line_extends_to_the_end_of_the_last(self) -> None:
        shown = runs("kind", {"fast": [[1.0]], "slow": [[5.0]]})
        (axis,) = figure(COMPLETION, PlotSpec("ecdf", (), "kind", {}), shown).axes
        assert np.asarray(axis.lines[0].get_xydata())[-1].tolist() == [5, 1]

    def test_the_rows_are_those_of_the_study(self, study: tb.Study) -> None:
        (axis,) = study.plot("flows.*.goodput_bps", kind="ecdf", by=PRESET, where={BUFFER: "5 packets"}).axes
        rows = study.flows.where(**{BUFFER: "5 packets", PRESET: "reno"})["goodput_bps"]
        assert np.asarray(axis.lines[0].get_xdata())[1:3].tolist() == sorted(rows.tolist())


class TestMaps:
    def test_a_cell_is_the_mean_of_its_point(self, study: tb.Study) -> None:
        (axis,) = study.plot(kind="heat", over=(PRESET, BUFFER)).axes
        plot_spec = np.asarray(axis.images[0].get_array())
        means = study.means().where(**{BUFFER: "20 packets", PRESET: "sack"})["mean"]
        # Columns are reno and sack, rows 5 and 20 packets.
        assert plot_spec.shape == (2, 2)
        assert plot_spec[1, 1] == pytest.approx(means[0])
        assert [label.get_text() for label in axis.get_yticklabels()] == ["5", "20"]
        assert len(axis.texts) == 4

    def test_many_cells_have_a_scale_instead_of_numbers(self) -> None:
        shown = [({"x": x, "y": y}, [x * y / 100]) for x in range(10) for y in range(10)]
        axis, bar = figure(UTILISATION, PlotSpec("heat", ("x", "y"), None, {}), shown).axes
        assert not axis.texts
        assert bar.get_ylim() == (0, 0.81)


class TestLogarithmicScales:
    def test_labels_and_means_are_on_the_scales(self) -> None:
        shown = runs("rate", {"1 Mbps": [[0.001], [0.003]], "100 Mbps": [[0.2], [0.2]], "10 Mbps": [[0.02], [0.02]]})
        (axis,) = figure(COMPLETION, PlotSpec("line", ("rate",), None, {}, "xy"), shown).axes
        assert (axis.get_xscale(), axis.get_yscale()) == ("log", "log")
        assert np.asarray(axis.lines[0].get_xydata()).tolist() == [[1, 0.002], [10, 0.02], [100, 0.2]]
        assert [label.get_text() for label in axis.get_xticklabels()] == ["1", "10", "100"]
        assert axis.get_title().endswith("completion time, mean and 95 % interval")

    def test_a_band_of_a_difference_may_extend_below_zero(self) -> None:
        shown = runs("rate", {"1 Mbps": [[0.001], [0.003]], "100 Mbps": [[0.2], [0.2]]})
        (axis,) = figure(quantity_of("flows.*.completion_time_s - 0"), PlotSpec("line", ("rate",), None, {}, "xy"), shown).axes
        # The half width of the interval of two seeds is 12.7 times 0.001.
        assert axis.get_title().endswith("bands that reach the bottom extend to 0 or below")

    def test_a_band_above_zero_is_not_noted(self) -> None:
        shown = runs("rate", {1: [[0.2], [0.2]], 2: [[0.3], [0.3]]})
        (axis,) = figure(UTILISATION, PlotSpec("line", ("rate",), None, {}, "y"), shown).axes
        assert (axis.get_xscale(), axis.get_yscale()) == ("linear", "log")
        assert axis.get_title() == "utilisation of bottleneck, mean and 95 % interval"

    def test_quantities_of_one_kind_need_not_be_of_one_unit(self) -> None:
        shown = runs("rate", {"1 Gbps": [[0.3]], "10 Mbps": [[0.1]], "100 Mbps": [[0.2]]})
        (axis,) = figure(UTILISATION, PlotSpec("line", ("rate",), None, {}, "x"), shown).axes
        assert np.asarray(axis.lines[0].get_xydata()).tolist() == [[1e7, 0.1], [1e8, 0.2], [1e9, 0.3]]
        assert [label.get_text() for label in axis.get_xticklabels()] == ["10 Mbps", "100 Mbps", "1 Gbps"]

    def test_names_have_room_in_decades(self) -> None:
        labels = [(rate, kind) for rate in (1, 1000) for kind in ("reno", "sack")]
        shown: list[tuple[dict[str, Any], list[float]]] = [({"rate": rate, "kind": kind}, [0.1 * rate]) for rate, kind in labels]
        (axis,) = figure(UTILISATION, PlotSpec("line", ("rate",), "kind", {}, "x"), shown).axes
        assert 1500 < axis.get_xlim()[1] < 5000

    def test_values_of_shares(self) -> None:
        shown = runs("kind", {"all": [[3.0, 1.0], [math.nan, 300.0]]})
        (axis,) = figure(COMPLETION, PlotSpec("ecdf", (), None, {}, "x"), shown).axes
        assert axis.get_xscale() == "log"
        assert np.asarray(axis.lines[0].get_xdata()).tolist() == [1, 1, 3, 300, 300]

    @pytest.mark.parametrize(
        ("asked", "shown", "message"),
        [
            (
                PlotSpec("line", ("rate",), None, {}, "x"),
                {0: [[1.0]], 1: [[1.0]]},
                "`rate` is 0 at a point; a logarithmic axis requires",
            ),
            (PlotSpec("line", ("rate",), None, {}, "x"), {"a": [[1.0]], "b": [[1.0]]}, "`rate` are not numbers of one kind"),
            (PlotSpec("line", ("rate",), None, {}, "y"), {"2 ms": [[0.0]], "1 ms": [[1.0]]}, "bottleneck is 0 % at `rate` 2 ms"),
            (PlotSpec("ecdf", (), None, {}, "x"), {"a": [[0.0, 1.0]]}, "a logarithmic axis requires numbers above 0"),
        ],
    )
    def test_values_that_cannot_be_shown_are_reported(
        self, asked: PlotSpec, shown: dict[Any, list[list[float]]], message: str
    ) -> None:
        with pytest.raises(tb.ParameterError, match=message):
            figure(UTILISATION, asked, runs("rate", shown))


def test_a_picture_has_the_same_bytes_again(study: tb.Study) -> None:
    pictures = []
    for _ in range(2):
        file = io.BytesIO()
        study.plot(by=PRESET).savefig(file, format="pdf", metadata={"CreationDate": None})
        pictures.append(file.getvalue())
    assert pictures[0] == pictures[1]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"kind": "lines"}, "`kind` is 'lines'; expected `line`, `ecdf`, `heat` or `traces`"),
        ({}, r"kind `line` takes one axis as `over`; expected one of `topology.dumbbell.queue.buffer`, `flows.\*.tcp.preset`"),
        ({"over": BUFFER}, r"`flows.\*.tcp.preset` also varies; draw a line per label with `by`, or select one"),
        ({"kind": "ecdf", "over": BUFFER}, "kind `ecdf` takes no `over`"),
        ({"kind": "heat", "over": BUFFER}, "kind `heat` takes two axes as `over` and no `by`"),
        ({"over": BUFFER, "by": BUFFER}, "`topology.dumbbell.queue.buffer` is given twice"),
        ({"log": "z"}, "`log` is 'z'; expected `x`, `y` or `xy`"),
        ({"kind": "ecdf", "log": "xy"}, "the y axis of kind `ecdf` cannot be logarithmic; shares begin at 0"),
        ({"kind": "traces", "log": "x"}, "the x axis of kind `traces` cannot be logarithmic"),
    ],
)
def test_invalid_plots_are_rejected(study: tb.Study, asked: dict[str, Any], message: str) -> None:
    with pytest.raises(tb.ParameterError, match=message):
        study.plot(**asked)


def test_an_unknown_axis_or_label_is_rejected(study: tb.Study) -> None:
    with pytest.raises(tb.UnknownName, match="did you mean `flows"):
        study.plot(over="flows.*.tcp.presets")
    with pytest.raises(tb.UnknownName, match="did you mean `sack`"):
        study.plot(over=BUFFER, where={PRESET: "sakc"})


def test_more_lines_than_colours_are_rejected() -> None:
    shown = [({"x": 1, "name": f"n{place}"}, [1.0]) for place in range(9)]
    with pytest.raises(tb.ParameterError, match="`name` has 9 labels; expected at most 8 lines"):
        figure(UTILISATION, PlotSpec("line", ("x",), "name", {}), shown)
