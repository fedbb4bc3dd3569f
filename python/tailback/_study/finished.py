"""The finished runs of a study: their values, tables and labels."""

from __future__ import annotations

from collections.abc import Iterator

from tailback._study import means
from tailback._study.columns import Column, column, unpack, varied
from tailback._study.ledger import Ledger
from tailback._tables.quantity import Quantity, quantity_of

__all__ = ["labels_of_runs", "samples", "tables_of_runs"]


def samples(ledger: Ledger, quantity: str) -> Iterator[means.Sample]:
    """Labels, seed and value of every finished run."""
    measured = quantity_of(quantity)
    labels = {point: labels for point, labels, _ in ledger.points()}
    for point, seed, tables in tables_of_runs(ledger, measured):
        yield labels[point], seed, measured.value(tables)


def tables_of_runs(ledger: Ledger, measured: Quantity) -> Iterator[tuple[int, int, dict[str, list[Column]]]]:
    """Point, seed and the tables that a quantity needs, for every finished run that has them."""
    first, *others = measured.tables
    more = {name: {(point, seed): packed for point, seed, packed in ledger.tables(name)} for name in others}
    for point, seed, packed in ledger.tables(first):
        if all((point, seed) in of_run for of_run in more.values()):
            yield point, seed, {first: unpack(packed), **{name: unpack(of_run[point, seed]) for name, of_run in more.items()}}


def labels_of_runs(ledger: Ledger, runs: list[tuple[int, int]]) -> list[Column]:
    """Columns with point, seed and labels of some runs."""
    labels = {point: labels for point, labels, _ in ledger.points()}
    return [
        column("point", [point for point, _ in runs]),
        column("seed", [seed for _, seed in runs]),
        *varied(ledger.plan["columns"], [labels[point] for point, _ in runs]),
    ]
