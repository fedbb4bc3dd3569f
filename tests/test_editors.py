"""Language servers for TOML read the published schema from the first line of the examples: Taplo, of most editors, and Tombi."""

from __future__ import annotations

import json
import subprocess
import sysconfig
from pathlib import Path

import pytest

import tailback as tb
from support import ROOT

VERSION = ".".join(tb.__version__.split(".")[:2])
SCHEMA = ROOT / f"docs/site/schema/{VERSION}/scenario.json"
EXAMPLES = [path for path in sorted((ROOT / "examples").glob("**/*.toml")) if path.name != "Cargo.toml"]
TOOLS = {"taplo": ["check"], "tombi": ["lint", "--offline"]}

# Taplo reads drafts 4 to 7 of JSON Schema, in which lists have no `prefixItems`.
UNKNOWN = {"taplo": {"trace_before_its_begin", "trace_with_an_opportunity_of_nothing"}, "tombi": set[str]()}


def check(tool: str, *paths: Path) -> subprocess.CompletedProcess[str]:
    command = [f"{sysconfig.get_path('scripts')}/{tool}", *TOOLS[tool], *map(str, paths)]
    return subprocess.run(command, capture_output=True, text=True, env={"NO_COLOR": "1"}, cwd=ROOT)


def test_the_schema_is_published_under_its_version() -> None:
    assert json.loads(SCHEMA.read_text()) == tb.schema()
    assert tb.schema()["$id"] == f"urn:tailback:scenario:{VERSION}"


def test_no_constraint_is_next_to_a_reference() -> None:
    """Drafts before 2019-09 ignore keywords next to `$ref`."""
    annotations = {"$ref", "$comment", "default", "description", "examples"}

    def walk(schema: object) -> None:
        if isinstance(schema, dict):
            assert "$ref" not in schema or schema.keys() <= annotations, schema
        for inner in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
            walk(inner)

    walk(tb.schema())


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_begins_with_the_schema(path: Path) -> None:
    directive, _, place = path.read_text().partition("\n")[0].partition(" ")
    assert directive == "#:schema"
    assert (path.parent / place).resolve() == SCHEMA


@pytest.mark.parametrize("tool", TOOLS)
def test_the_examples_are_valid_in_editors(tool: str) -> None:
    done = check(tool, *EXAMPLES)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("tool", TOOLS)
def test_editors_report_the_bad_input(tool: str, tmp_path: Path) -> None:
    paths = []
    for path in sorted((ROOT / "tests/bad_input/schema").glob("*.toml")):
        paths.append(tmp_path / path.name)
        paths[-1].write_text(f"#:schema {SCHEMA.as_uri()}\n{path.read_text()}")
    done = check(tool, *paths)
    assert done.returncode != 0
    said = done.stdout + done.stderr
    assert {path.stem for path in paths if f"{path.name}:" not in said} == UNKNOWN[tool]
