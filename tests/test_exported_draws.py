"""Some draws of `exported_draws.py`, whose runs have no noise; all of them with $TAILBACK_DRAWS."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import exported_draws
import exported_guest

if lacks := exported_guest.missing():
    pytest.skip(f"needs {lacks}", allow_module_level=True)

# A FIFO, jitter in order, an outage, and CoDel.
FEW = (16, 6, 25, 27)


@pytest.mark.parametrize("number", FEW)
def test_an_exported_network_has_the_results_of_its_scenario(number: int, tmp_path: Path) -> None:
    found = exported_draws.compared(number, tmp_path / "runs", runs=1)
    assert found.omissions == []
    assert found.differences() == [], list(found.means())


@pytest.mark.skipif("TAILBACK_DRAWS" not in os.environ, reason="takes twenty minutes; set TAILBACK_DRAWS")
def test_all_draws(tmp_path: Path) -> None:
    runs = {number: exported_draws.compared(number, tmp_path / "runs") for number in range(exported_draws.NUMBER)}
    assert exported_draws.judged(runs) == []
