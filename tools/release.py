"""Prints the versions for a release build, and refuses a tag that contradicts the sources.

    .venv/bin/python tools/release.py [TAG]

Prints `version`, `rust` and `maturin`, one `name=value` per line, for .github/workflows/release.yml. The version is defined in
Cargo.toml. With a tag, such as `v0.1.0`, the tag, papers/pyproject.toml, CITATION.cff and a section of CHANGELOG.md must name the
same version.
"""

# ruff: noqa: T201 (the purpose of this script is to print)

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def facts(root: Path = ROOT) -> dict[str, str]:
    """The version and the Rust version of Cargo.toml, and the maturin version of pyproject.toml."""
    package = tomllib.loads((root / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]
    (maturin,) = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    return {"version": package["version"], "rust": package["rust-version"], "maturin": maturin.removeprefix("maturin==")}


def contradictions(tag: str, root: Path = ROOT) -> list[str]:
    """Contradictions between this tag and the sources, one line each."""
    version = facts(root)["version"]
    cited = re.search(r"^version: (\S+)$", (root / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    papers = tomllib.loads((root / "papers/pyproject.toml").read_text(encoding="utf-8"))["project"]
    section = rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$"
    found = []
    if tag != f"v{version}":
        found.append(f"the tag is {tag}, but the version in Cargo.toml is {version}: tag v{version}, or change Cargo.toml")
    if (papers["version"], papers["dependencies"]) != (version, [f"tailback=={version}"]):
        found.append(
            f"papers/pyproject.toml names version {papers['version']} and {papers['dependencies'][0]}, Cargo.toml {version}"
        )
    if not cited or cited[1] != version:
        found.append(f"CITATION.cff names version {cited[1] if cited else 'none'}, Cargo.toml {version}")
    if not re.search(section, (root / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE):
        found.append(f"CHANGELOG.md has no section `## [{version}] - YYYY-MM-DD`")
    return found


def main(arguments: list[str]) -> None:
    """Prints the facts, or exits with the contradictions."""
    found = [line for tag in arguments for line in contradictions(tag)]
    if found:
        sys.exit("\n".join(found))
    for name, value in facts().items():
        print(f"{name}={value}")


if __name__ == "__main__":
    main(sys.argv[1:])
