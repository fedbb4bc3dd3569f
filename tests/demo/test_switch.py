"""The second question of the demonstration."""

from __future__ import annotations

from dataclasses import replace

import tailback as tb
from tailback._demo import switch
from tailback.papers import Experiment
from tailback.papers._documents import experiments

(FIGURE,) = experiments(switch.EXPERIMENT)


def test_the_headline_shows_balanced_discard_ahead_at_every_tick(toys: list[Experiment]) -> None:
    """Of two thresholds: all of them are `make demo`."""
    variants = [variant for variant in FIGURE.variants if variant.labels["threshold"] in (0.4, 0.8)]
    toys[:] = [replace(FIGURE, id="toy/fig13", variants=tuple(variants))]
    outcome = tb.reproduce("toy/fig13", seeds=2).experiments[0]
    head, *rows = switch.table(outcome)
    assert [row[0] for row in rows] == ["0.1 s", "0.3 s", "0.5 s"]
    for row, tick in zip(rows, (0.1, 0.3, 0.5), strict=True):
        assert len(row) == len(head)
        best = {policy: outcome.best("goodput", policy=policy, tick=tick) for policy in ("EPD", "BPD")}
        assert row[3].startswith(f"{best['BPD'].mean():.3f} ± ")
        assert best["BPD"].mean() > best["EPD"].mean()
