"""The JSON Schema, by the judgement of an independent validator."""

from __future__ import annotations

import tomllib
from pathlib import Path

import jsonschema
import pytest

import tailback as tb
from support import ROOT

VALIDATOR = jsonschema.Draft202012Validator(tb.schema())


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(tb.schema())


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.toml")), ids=lambda path: path.stem)
def test_it_accepts_the_examples(path: Path) -> None:
    VALIDATOR.validate(tomllib.loads(path.read_text()))
    # What the core made of it is a scenario too, and the same one.
    normalised = tb.load(path).normalised()
    VALIDATOR.validate(normalised)
    assert tb.Scenario(normalised).normalised() == normalised


@pytest.mark.parametrize("path", sorted((ROOT / "tests/bad_input/schema").glob("*.toml")), ids=lambda path: path.stem)
def test_it_refuses_the_bad_input(path: Path) -> None:
    assert not VALIDATOR.is_valid(tomllib.loads(path.read_text()))


@pytest.mark.parametrize("path", sorted((ROOT / "tests/bad_input/meaning").glob("*.toml")), ids=lambda path: path.stem)
def test_what_only_the_core_can_know_is_no_fault_of_the_form(path: Path) -> None:
    VALIDATOR.validate(tomllib.loads(path.read_text()))
