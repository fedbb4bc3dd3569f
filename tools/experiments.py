"""Writes the lab's list of the documents' experiments: each with its question and one of its scenarios.

    .venv/bin/python tools/experiments.py > web/lab/experiments.json

The chosen scenario is the one whose trace the document shows; if there is none, the middle one.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from tailback import Scenario
from tailback._scenario.toml import toml
from tailback.papers import DOCUMENTS, Experiment, Variant, document


def experiments() -> list[dict[str, Any]]:
    """Every experiment of every document, in their order."""
    found = [(document(name), experiment) for name in DOCUMENTS for experiment in document(name).experiments]
    return [{"document": of.title, **_described(experiment, of.title)} for of, experiment in found]


def _described(experiment: Experiment, title: str) -> dict[str, Any]:
    runs = [variant for variant in experiment.variants if isinstance(variant.scenario, Scenario)]
    entry = {
        "name": experiment.id,
        "title": experiment.title,
        "question": experiment.question,
        "source": experiment.source,
        "scenarios": len(runs),
        "computations": len(experiment.variants) - len(runs),
    }
    if not runs:
        return {**entry, "point": None, "toml": None}
    chosen = _shown(experiment, runs)
    point = f"{runs.index(chosen) + 1} of {len(runs)}: {chosen}"
    comment = f"# {experiment.question}\n# {title}: {experiment.source}; scenario {point}.\n"
    assert isinstance(chosen.scenario, Scenario)
    return {**entry, "point": point, "toml": comment + toml(chosen.scenario.to_dict())}


def _shown(experiment: Experiment, runs: list[Variant]) -> Variant:
    """The scenario for the lab."""
    for trace in experiment.traces:
        for variant in runs:
            if all(variant.labels.get(name) == label for name, label in trace.where.items()):
                return variant
    return runs[len(runs) // 2]


if __name__ == "__main__":
    # One line per experiment, so that a change of one changes one line.
    sys.stdout.write("[\n" + ",\n".join(json.dumps(each, ensure_ascii=False) for each in experiments()) + "\n]\n")
