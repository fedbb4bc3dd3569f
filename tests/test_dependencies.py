"""docs/develop/dependencies.md names all dependencies in the manifests, and deny.toml accepts every crate's licence."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from typing import Any

import pytest

from support import ROOT

PAGE = (ROOT / "docs/develop/dependencies.md").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
ACCEPTED = set(tomllib.loads((ROOT / "deny.toml").read_text())["licenses"]["allow"])
NAME = re.compile(r"^[\w.-]+")


def section(title: str) -> str:
    """The text below a heading, up to the next heading."""
    return PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]


def in_tables(text: str, column: int) -> set[str]:
    """The names in a column of all tables."""
    rows = [row.split("|") for row in text.splitlines() if row.startswith("| `")]
    return {name for row in rows for name in re.findall(r"`([\w.-]+)`", row[column])}


def crates(*options: str) -> list[dict[str, Any]]:
    command = ["cargo", "metadata", "--locked", "--offline", "--format-version", "1", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    packages: list[dict[str, Any]] = json.loads(done.stdout)["packages"]
    return packages


def accepted(expression: str) -> bool:
    """Whether a licence expression allows one of the accepted licences; old crates write `/` for OR."""

    def fits(word: re.Match[str]) -> str:
        return word[0].lower() if word[0] in ("AND", "OR") else str(word[0] in ACCEPTED)

    return bool(eval(re.sub(r"[\w.-]+( WITH [\w.-]+)?", fits, expression.replace("/", " OR "))))


def test_the_page_lists_exactly_the_required_crates() -> None:
    asked = {
        (dependency["name"], dependency["kind"] == "dev")
        for crate in crates("--no-deps")
        for dependency in crate["dependencies"]
        if "path" not in dependency
    }
    built = {name for name, dev in asked if not dev}
    assert in_tables(section("Rust"), 1) == built
    in_tests = section("Rust").rpartition("Only in tests")[2]
    assert {name for name, dev in asked if dev} - built == set(re.findall(r"`([\w-]+)`", in_tests))


def test_the_page_lists_the_required_python_packages() -> None:
    text, project = section("Python"), PROJECT["project"]
    extras = {extra: names for extra, names in project["optional-dependencies"].items() if extra != "all"}
    base, _, rest = text.partition("| Extra |")
    assert in_tables(base, 1) == {NAME.findall(name)[0] for name in project["dependencies"]}
    listed = {
        row.split("|")[1].strip(" `"): set(re.findall(r"`([\w.-]+)`", row.split("|")[2]))
        for row in rest.splitlines()
        if row.startswith("| `")
    }
    assert listed.keys() == extras.keys()
    for extra, names in extras.items():
        assert {NAME.findall(name)[0] for name in names} <= listed[extra], extra
    tools = {NAME.findall(name)[0] for group in PROJECT["dependency-groups"].values() for name in group}
    assert tools - set(re.findall(r"`([\w.-]+)`", rest)) == set()


def test_every_crate_of_this_platform_has_an_accepted_licence() -> None:
    # Crates of other platforms may not have been fetched; `cargo deny` checks them all.
    host = re.findall(r"^host: (.*)$", subprocess.run(["rustc", "-vV"], capture_output=True, text=True).stdout, re.MULTILINE)
    packages = crates("--filter-platform", *host)
    assert len(packages) > 50
    assert {crate["name"]: crate["license"] for crate in packages if not accepted(crate["license"] or "none")} == {}


def test_a_wheel_has_the_texts_of_all_licences_that_are_accepted_on_all_platforms_of_a_release() -> None:
    about, deny = (tomllib.loads((ROOT / name).read_text()) for name in ("about.toml", "deny.toml"))
    assert set(about["accepted"]) == ACCEPTED
    # The WebAssembly build is not part of a wheel.
    assert set(about["targets"]) == {target for target in deny["graph"]["targets"] if "wasm" not in target}


@pytest.mark.parametrize(
    ("expression", "fits"),
    [
        ("MIT", True),
        ("MIT/GPL-3.0", True),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("(MIT OR GPL-3.0-only) AND Unicode-3.0", True),
        ("GPL-3.0-only", False),
        ("MIT AND GPL-3.0-only", False),
        ("GPL-2.0 WITH Classpath-exception-2.0", False),
        ("none", False),
    ],
)
def test_a_licence_expression_is_accepted_if_its_terms_are(expression: str, fits: bool) -> None:
    assert accepted(expression) is fits
