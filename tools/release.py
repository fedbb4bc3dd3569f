"""Prints the facts of a release build, or its notes, and refuses a tag that contradicts the sources.

    .venv/bin/python tools/release.py [TAG | --notes]

Prints `version`, `rust`, `maturin` and `crates`, one `name=value` per line, for the workflows. The version is defined in
Cargo.toml. `crates` lists the published crates, each after its dependencies. With a tag, such as `v0.1.0`, the tag,
papers/pyproject.toml, CITATION.cff and the first section of CHANGELOG.md must name the same version. `--notes` prints that
section.
"""

# ruff: noqa: T201 (the purpose of this script is to print)

from __future__ import annotations

import re
import sys
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def facts(root: Path = ROOT) -> dict[str, str]:
    """The version and the Rust version of Cargo.toml, the maturin version of pyproject.toml, and the published crates."""
    package = tomllib.loads((root / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]
    (maturin,) = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    return {
        "version": package["version"],
        "rust": package["rust-version"],
        "maturin": maturin.removeprefix("maturin=="),
        "crates": " ".join(published(root)),
    }


def published(root: Path = ROOT) -> list[str]:
    """The crates with `publish = true`, each after its dependencies."""
    manifests = [tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(root.glob("crates/*/Cargo.toml"))]
    crates = {manifest["package"]["name"]: manifest for manifest in manifests if manifest["package"]["publish"] is True}
    order = TopologicalSorter[str]()
    for name, manifest in crates.items():
        order.add(name, *sorted(crates.keys() & {**manifest.get("dependencies", {}), **manifest.get("build-dependencies", {})}))
    return list(order.static_order())


def first_section(root: Path = ROOT) -> tuple[str, str]:
    """The heading and the text of the first section of CHANGELOG.md."""
    _, heading, rest = re.split(
        r"^## (.*)\n", (root / "CHANGELOG.md").read_text(encoding="utf-8"), maxsplit=1, flags=re.MULTILINE
    )
    return heading, re.split(r"^## ", rest, maxsplit=1, flags=re.MULTILINE)[0].strip()


def contradictions(tag: str, root: Path = ROOT) -> list[str]:
    """Contradictions between this tag and the sources, one line each."""
    version = facts(root)["version"]
    cited = re.search(r"^version: (\S+)$", (root / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    papers = tomllib.loads((root / "papers/pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = []
    if tag != f"v{version}":
        found.append(f"the tag is {tag}, but the version in Cargo.toml is {version}: tag v{version}, or change Cargo.toml")
    if (papers["version"], papers["dependencies"]) != (version, [f"tailback=={version}"]):
        found.append(
            f"papers/pyproject.toml names version {papers['version']} and {papers['dependencies'][0]}, Cargo.toml {version}"
        )
    if not cited or cited[1] != version:
        found.append(f"CITATION.cff names version {cited[1] if cited else 'none'}, Cargo.toml {version}")
    if (heading := first_section(root)[0]) != f"[{version}]":
        found.append(f"the first section of CHANGELOG.md is `## {heading}`, expected `## [{version}]`")
    return found


def main(arguments: list[str]) -> None:
    """Prints the facts or the notes, or exits with the contradictions."""
    if arguments == ["--notes"]:
        print(first_section()[1])
        return
    found = [line for tag in arguments for line in contradictions(tag)]
    if found:
        sys.exit("\n".join(found))
    for name, value in facts().items():
        print(f"{name}={value}")


if __name__ == "__main__":
    main(sys.argv[1:])
