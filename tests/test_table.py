"""Result tables: Arrow, arrays, selection and pickling."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tailback as tb
from tailback import _core


def test_every_reader_of_arrow_sees_the_same(scenario: tb.Scenario) -> None:
    run = tb.simulate(scenario)
    for table in run.tables.values():
        arrow = pa.table(table)
        assert arrow.column_names == table.columns
        assert arrow.num_rows == len(table)
        columns = table.to_dict()
        # Arrow libraries skip missing values, NumPy propagates them.
        with_none = {name: [None if value != value else value for value in values] for name, values in columns.items()}
        assert arrow.to_pydict() == with_none
        assert pl.DataFrame(table).to_dict(as_series=False) == with_none
        np.testing.assert_equal(pd.DataFrame.from_arrow(table).to_dict("list"), columns)
        np.testing.assert_equal(table.to_pandas().to_dict("list"), columns)
        assert table.to_pandas().columns.tolist() == table.columns
        arrays: dict[str, Any] = dict(table)
        np.testing.assert_equal({name: array.tolist() for name, array in arrays.items()}, columns)
        np.testing.assert_equal({name: column.tolist() for name, column in table.to_numpy().items()}, columns)


def test_missing_values_are_null_on_disk_and_read_back_as_nan(scenario: tb.Scenario, tmp_path: Path) -> None:
    flows = tb.simulate(scenario).flows
    flows.write_parquet(tmp_path / "flows.parquet")
    assert pl.read_parquet(tmp_path / "flows.parquet")["completion_time_s"].null_count() == len(flows)
    again = tb.Table(_core.Table.read_parquet("flows", tmp_path / "flows.parquet"))
    assert np.isnan(again["completion_time_s"]).all()
    np.testing.assert_equal(again.to_dict(), flows.to_dict())


def test_rows_are_sorted_and_columns_chosen() -> None:
    table = tb.Table._of("some", {"name": ["b", "a", "c", "a"], "number": [2.0, float("nan"), 1.0, 3.0], "count": [1, 2, 3, 4]})
    assert table.sort("name").to_dict()["count"] == [2, 4, 1, 3]
    assert table.sort("number").to_dict()["count"] == [3, 1, 4, 2]
    assert table.sort("number", descending=True).to_dict()["count"] == [4, 1, 3, 2]
    assert table.sort("name", "number").to_dict()["count"] == [4, 2, 1, 3]
    assert table.select("count", "name").columns == ["count", "name"]
    assert len(table.where(count=5).sort("name")) == 0
    with pytest.raises(tb.UnknownName, match="did you mean `name`"):
        table.sort("nam")
    with pytest.raises(tb.UnknownName, match="did you mean `name`"):
        table.select("nam")


def test_pandas_does_not_use_names_as_data(scenario: tb.Scenario) -> None:
    flows = tb.simulate(scenario).flows
    with pytest.raises(TypeError, match=r"table\.to_pandas\(\)"):
        pd.DataFrame(flows)


def test_columns_have_the_types_they_should(scenario: tb.Scenario) -> None:
    flows = tb.simulate(scenario).flows
    assert (flows["goodput_bps"].dtype, flows["flow"].dtype) == (np.dtype("f8"), np.dtype("i8"))
    assert flows["group"].tolist() == ["tcp", "tcp"]
    with pytest.raises(tb.UnknownName, match="did you mean `goodput_bps`"):
        flows["goodput"]


def test_rows_can_be_chosen(scenario: tb.Scenario) -> None:
    cwnd = tb.simulate(scenario).trace("cwnd")
    second = cwnd.where(group="tcp", flow=1)
    assert (type(second), second.name, second.columns) == (tb.Table, "cwnd", cwnd.columns)
    assert set(second["flow"]) == {1}
    assert len(second) + len(cwnd.where(flow=0)) == len(cwnd)
    by_hand = pl.DataFrame(cwnd).filter(pl.col("flow") == 1)
    assert pl.DataFrame(second).equals(by_hand)
    early = second["time_s"][0]
    assert (
        second.where(time_s=early)["cwnd_packets"].tolist() == by_hand.filter(pl.col("time_s") == early)["cwnd_packets"].to_list()
    )
    assert len(cwnd.where(flow=7)) == 0


def test_rows_that_cannot_be_chosen(scenario: tb.Scenario) -> None:
    flows = tb.simulate(scenario).flows
    with pytest.raises(tb.UnknownName, match="did you mean `group`"):
        flows.where(groups="tcp")
    with pytest.raises(tb.UnknownName, match="no group in `flows` `tpc`; expected one of `tcp`; did you mean `tcp`"):
        flows.where(group="tpc")
    # Every possible reason is valid, whether or not a packet was dropped for it.
    drops = tb.simulate(scenario.with_({"record.traces": ["drops"]})).trace("drops")
    assert len(drops.where(reason="policed")) == 0
    with pytest.raises(tb.UnknownName, match=r"no reason in `drops` `ful`; .*; did you mean `full`"):
        drops.where(reason="ful")
    with pytest.raises(tb.ParameterError, match="`flow` of `flows` contains numbers; expected a number, not `1`"):
        flows.where(flow="1")
    with pytest.raises(tb.ParameterError, match="`group` of `flows` contains words; expected a string, not 1"):
        flows.where(group=1)


def test_a_damaged_pickle_is_rejected() -> None:
    damaged: list[tuple[str, str, bytes, list[str]]] = [
        ("a", "float", b"1234567", []),
        ("a", "word", bytes(4), []),
        ("a", "date", b"", []),
    ]
    for column in damaged:
        with pytest.raises(ValueError, match="a damaged table"):
            _core.Table("t", [column])
    with pytest.raises(ValueError, match="a damaged table"):
        _core.Table("t", [("a", "float", bytes(8), []), ("b", "float", bytes(16), [])])
