"""Export of a study to files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tailback as tb
from small_sweep import VARY, exported


class TestExport:
    @pytest.mark.parametrize("format", ["parquet", "csv", "json"])
    def test_equal_plans_give_equal_bytes(self, small: tb.Scenario, tmp_path: Path, format: str) -> None:
        a, b = (exported(tb.sweep(small, VARY, seeds=2), tmp_path / name, format=format) for name in "ab")
        assert a == b
        assert a.keys() == {"plan.json", *(f"{name}.{format}" for name in ("runs", "flows", "queues", "groups"))}

    def test_numbers_read_back_to_the_same_bits(self, small: tb.Scenario, tmp_path: Path) -> None:
        study = tb.sweep(small, VARY)
        study.export(tmp_path / "json", format="json")
        columns = json.loads((tmp_path / "json" / "queues.json").read_text())
        assert columns["utilisation"] == study.queues["utilisation"].tolist()

    def test_an_existing_directory_is_rejected(self, small: tb.Scenario, tmp_path: Path) -> None:
        with pytest.raises(tb.OutputError, match="exists"):
            tb.sweep(small).export(tmp_path)
