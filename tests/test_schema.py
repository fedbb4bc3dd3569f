"""The JSON Schema, checked by an independent validator."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import tailback as tb
from support import ROOT

VALIDATOR = jsonschema.Draft202012Validator(tb.schema())


def test_the_schema_is_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(tb.schema())


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.toml")), ids=lambda path: path.stem)
def test_it_accepts_the_examples(path: Path) -> None:
    VALIDATOR.validate(tomllib.loads(path.read_text()))
    # The core's normalised form is also a valid scenario, and equivalent.
    normalised = tb.load(path).normalised()
    VALIDATOR.validate(normalised)
    assert tb.Scenario(normalised).normalised() == normalised


@pytest.mark.parametrize("path", sorted((ROOT / "tests/bad_input/schema").glob("*.toml")), ids=lambda path: path.stem)
def test_it_rejects_the_bad_input(path: Path) -> None:
    assert not VALIDATOR.is_valid(tomllib.loads(path.read_text()))


@pytest.mark.parametrize("path", sorted((ROOT / "tests/bad_input/meaning").glob("*.toml")), ids=lambda path: path.stem)
def test_errors_of_meaning_are_valid_by_the_schema(path: Path) -> None:
    VALIDATOR.validate(tomllib.loads(path.read_text()))


def examples(schema: Any, at: str = "#") -> list[tuple[str, Any]]:
    """The initial values in the schema, each with the path of its key."""
    inner = schema.items() if isinstance(schema, dict) else enumerate(schema) if isinstance(schema, list) else ()
    found = [place for key, value in inner for place in examples(value, f"{at}/{key}")]
    return found + ([(at, schema)] if isinstance(schema, dict) and isinstance(schema.get("examples"), list) else [])


def test_initial_values_are_valid() -> None:
    found = examples(tb.schema())
    assert len(found) > 15
    for at, schema in found:
        validator = jsonschema.Draft202012Validator({**schema, "$defs": tb.schema()["$defs"]})
        assert all(validator.is_valid(example) for example in schema["examples"]), at
        # A key with a default has it as its initial value.
        assert "default" not in schema, at


@pytest.mark.parametrize("policy", ["bpd", "ramp", "red", "spd"])
def test_initial_values_of_a_policy_are_consistent(policy: str) -> None:
    [shape] = [shape for shape in tb.schema()["$defs"]["Queue"]["oneOf"] if shape["properties"]["policy"].get("const") == policy]
    first = {key: shape["properties"][key]["examples"][0] for key in shape["required"] if key != "policy"}
    is_of_cells = policy in ("bpd", "spd")
    queue: Any = {"policy": policy, **first, **({"buffer": "1000 cells"} if is_of_cells else {})}
    # Some policies mark, and warn if no flow has ECN.
    group: Any = {"tcp": {"preset": "newreno", "ecn": not is_of_cells}, **({"framing": {}} if is_of_cells else {})}
    tb.dumbbell(rate="10 Mbps", delay="1 ms", queue=queue, duration="1 s", flows={"web": group}).check()
