"""Golden hashes of an installed package: the same bytes for the examples as from the core itself.

    python tests/golden/golden.py [EXAMPLE.toml ...]

By default all examples. The native part, which also updates hashes, is crates/wasm/tests/golden.rs, and golden.mjs in this
directory is the WebAssembly part.
"""

# ruff: noqa: T201 (this script prints)

from __future__ import annotations

import json
import sys
import warnings
from hashlib import sha256
from pathlib import Path

import tailback as tb

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parents[1] / "examples"


def table_bytes(table: tb.Table) -> bytes:
    """The equivalent of `Table::bytes` of the core: names and values, without additions of the Python layer."""
    parts = [table.name.encode()]
    for name in table.columns:
        values = table[name]
        words = values.dtype.kind == "U"
        parts += [name.encode(), "".join(f"{word}\0" for word in values).encode() if words else values.tobytes()]
    return b"".join(parts)


def differences(name: str, seed: str, expected: dict[str, str]) -> list[str]:
    """The tables of one run that differ from their golden hashes; `results` is the hash of all tables."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tb.ScenarioWarning)
        run = tb.simulate(tb.load(EXAMPLES / name), seed=int(seed))
    tables = {table.name: table_bytes(table) for table in run.tables.values()}
    found = {table: sha256(content).hexdigest()[:16] for table, content in tables.items()}
    found["results"] = sha256(b"".join(tables.values())).hexdigest()
    return sorted(table for table in expected.keys() | found.keys() if expected.get(table) != found.get(table))


def main(names: list[str]) -> None:
    """Compare all hashes. Exit code 1 if any differ."""
    golden = json.loads((HERE / "hashes.json").read_text(encoding="utf-8"))
    runs = [(name, seed, expected) for name in names or golden for seed, expected in golden[name].items()]
    failed = [
        f"{name}, seed {seed}: not as natively in {', '.join(tables)}"
        for name, seed, expected in runs
        if (tables := differences(name, seed, expected))
    ]
    print(*failed, f"{len(runs) - len(failed)} passed, {len(failed)} failed", sep="\n")
    sys.exit(1 if failed or not runs else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
