"""Golden hashes through the Python package, with a few examples; a release tests all on every platform."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys

from support import ROOT

GOLDEN = ROOT / "tests/golden/golden.py"
# Packets with traces, cells, and several transmitters; `cargo test` covers all examples.
EXAMPLES = ("one_flow.toml", "atm.toml", "trunk.toml")


def test_the_package_gives_the_same_bytes_as_the_core() -> None:
    done = subprocess.run([sys.executable, GOLDEN, *EXAMPLES], capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "6 passed, 0 failed", "")


def test_a_changed_result_is_detected_in_its_table() -> None:
    differences = runpy.run_path(str(GOLDEN))["differences"]
    hashes = json.loads((GOLDEN.parent / "hashes.json").read_text())["two_losses.toml"]
    assert differences("two_losses.toml", "1", hashes["1"]) == []
    changed = hashes["1"] | {"queues": "0" * 16, "results": "0" * 64, "gone": "0" * 16}
    assert differences("two_losses.toml", "1", changed) == ["gone", "queues", "results"]
