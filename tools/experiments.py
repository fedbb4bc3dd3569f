"""Writes what the lab shows of the documents: each experiment with its question, and one of its scenarios to watch.

    .venv/bin/python tools/experiments.py > web/lab/experiments.json

Of the scenarios of an experiment it is the one of which a curve over time is drawn, where there is one, and else the middle one.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from tailback import Scenario
from tailback.papers import DOCUMENTS, Experiment, Variant, document

# Sections of a scenario that hold tables by name: each of these is a section of its own.
_OF_NAMES = ("flows", "links", "nodes")


def experiments() -> list[dict[str, Any]]:
    """Every experiment of every document, in their order."""
    found = [(document(name), experiment) for name in DOCUMENTS for experiment in document(name).experiments]
    return [{"document": of.title, **_described(experiment, of.title)} for of, experiment in found]


def _described(experiment: Experiment, title: str) -> dict[str, Any]:
    runs = [variant for variant in experiment.variants if isinstance(variant.scenario, Scenario)]
    said = {
        "name": experiment.id,
        "title": experiment.title,
        "question": experiment.question,
        "source": experiment.source,
        "scenarios": len(runs),
        "computations": len(experiment.variants) - len(runs),
    }
    if not runs:
        return {**said, "point": None, "toml": None}
    chosen = _shown(experiment, runs)
    point = f"{runs.index(chosen) + 1} of {len(runs)}: {chosen}"
    comment = f"# {experiment.question}\n# {title}: {experiment.source}; scenario {point}.\n"
    assert isinstance(chosen.scenario, Scenario)
    return {**said, "point": point, "toml": comment + toml(chosen.scenario.to_dict())}


def _shown(experiment: Experiment, runs: list[Variant]) -> Variant:
    """The scenario to watch."""
    for trace in experiment.traces:
        for variant in runs:
            if all(variant.labels.get(name) == label for name, label in trace.where.items()):
                return variant
    return runs[len(runs) // 2]


def toml(description: Mapping[str, Any]) -> str:
    """A scenario as TOML, laid out as examples are: a section for the network, for each group of flows, for each link."""
    plain = [f"{_key(name)} = {_value(value)}" for name, value in description.items() if not isinstance(value, Mapping)]
    sections = []
    for name, value in description.items():
        if isinstance(value, Mapping) and name in _OF_NAMES:
            sections += [_section(f"{name}.{_key(key)}", table) for key, table in value.items()]
        elif isinstance(value, Mapping):
            sections.append(_section(name, value))
    return "\n".join(["\n".join(plain) + "\n", *sections])


def _section(name: str, table: Mapping[str, Any]) -> str:
    return f"[{name}]\n" + "".join(f"{_key(key)} = {_value(value)}\n" for key, value in table.items())


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)} = {_value(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    # Text, numbers and truth are written alike in JSON and TOML.
    return json.dumps(value, ensure_ascii=False)


def _key(key: str) -> str:
    return key if key.replace("_", "").replace("-", "").isalnum() and key.isascii() else json.dumps(key)


if __name__ == "__main__":
    # A line for each, so that a change of one is a change of a line.
    sys.stdout.write("[\n" + ",\n".join(json.dumps(each, ensure_ascii=False) for each in experiments()) + "\n]\n")
