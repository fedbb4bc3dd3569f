"""Releases: contents of the source distribution, consistent versions, and the workflow."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest

from support import ROOT

WORKSPACE = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]
VERSION: str = WORKSPACE["package"]["version"]
# Not part of a wheel: golden hashes are compared with those of `wasm`, and `stacks` is for tests of transports.
LEFT_OUT = {"stacks", "wasm"}


def sources(folder: Path) -> set[str]:
    """All files below a directory, except generated ones."""
    made = {".so", ".pyc", ".pyd"}
    return {path.relative_to(ROOT).as_posix() for path in folder.rglob("*") if path.is_file() and path.suffix not in made}


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The files of the source distribution, as packed by maturin."""
    folder = tmp_path_factory.mktemp("sdist")
    maturin = Path(sys.executable).with_name("maturin")
    done = subprocess.run([maturin, "sdist", "--out", folder], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        return {name.partition("/")[2] for name in tar.getnames()}


def test_the_source_distribution_has_exactly_the_sources_of_the_wheel(packed: set[str]) -> None:
    crates = {path.parent.name for path in ROOT.glob("crates/*/Cargo.toml")} - LEFT_OUT
    own = {"Cargo.toml", "Cargo.lock", "LICENSE-APACHE", "LICENSE-MIT", "README.md", "pyproject.toml"}
    expected = {"PKG-INFO"} | own | sources(ROOT / "python")
    for crate in crates:
        expected |= {f"crates/{crate}/Cargo.toml"} | sources(ROOT / "crates" / crate / "src")
        expected |= {f"crates/{crate}/build.rs"} & sources(ROOT / "crates" / crate)
    assert sorted(packed ^ expected) == []


def release(*arguments: str, root: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, root / "tools/release.py", *arguments], capture_output=True, text=True)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The files that a release compares, in their state at the time of the release."""
    for name in ("Cargo.toml", "CITATION.cff", "pyproject.toml", "papers/pyproject.toml", "tools/release.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n## [Unreleased]\n\n## [{VERSION}] - 2026-12-01\n\n### Added\n")
    return tmp_path


def test_a_release_names_its_toolchain() -> None:
    facts = dict(line.split("=") for line in release().stdout.splitlines())
    assert facts["version"] == VERSION
    assert f"maturin=={facts['maturin']}" in (ROOT / "constraints.txt").read_text().splitlines()
    assert facts["rust"] == WORKSPACE["package"]["rust-version"]


def test_the_package_and_the_citation_have_the_version_of_the_workspace() -> None:
    crates = json.loads(
        subprocess.run(
            ["cargo", "metadata", "--locked", "--offline", "--no-deps", "--format-version", "1"],
            cwd=ROOT,
            capture_output=True,
            check=True,
        ).stdout
    )["packages"]
    assert {crate["version"] for crate in crates} == {VERSION}
    assert f"\nversion: {VERSION}\n" in (ROOT / "CITATION.cff").read_text()


def test_a_matching_tag_passes(copy: Path) -> None:
    done = release(f"v{VERSION}", root=copy)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"version={VERSION}\n" in done.stdout


@pytest.mark.parametrize("tag", [VERSION, f"v{VERSION}.1", "v99.0.0", "main"])
def test_a_wrong_tag_fails_with_instructions(copy: Path, tag: str) -> None:
    done = release(tag, root=copy)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"the tag is {tag}, but the version in Cargo.toml is {VERSION}: tag v{VERSION}, or change Cargo.toml\n"


def test_a_release_with_a_contradicting_version_of_the_papers_fails(copy: Path) -> None:
    path = copy / "papers/pyproject.toml"
    path.write_text(path.read_text().replace(f"tailback=={VERSION}", "tailback==0.0.9"))
    assert release(f"v{VERSION}", root=copy).stderr.splitlines() == [
        f"papers/pyproject.toml names version {VERSION} and tailback==0.0.9, Cargo.toml {VERSION}"
    ]


def test_both_distributions_have_the_same_licences() -> None:
    names = {path.name for path in ROOT.glob("LICENSE-*") if "THIRD" not in path.name}
    assert {name: (ROOT / "papers" / name).read_text() for name in names} == {name: (ROOT / name).read_text() for name in names}


def test_a_release_missing_in_changelog_or_citation_fails(copy: Path) -> None:
    (copy / "CHANGELOG.md").write_text("# Changelog\n\n## [Unreleased]\n")
    (copy / "CITATION.cff").write_text("version: 0.0.9\n")
    assert release(f"v{VERSION}", root=copy).stderr.splitlines() == [
        f"CITATION.cff names version 0.0.9, Cargo.toml {VERSION}",
        f"CHANGELOG.md has no section `## [{VERSION}] - YYYY-MM-DD`",
    ]


REPOSITORY = "https://github.com/owner/name"


def project_urls(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, root / "tools/project_urls.py", *arguments], capture_output=True, text=True)


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    """Files that contain the addresses of the project."""
    for name in ("Cargo.toml", "README.md", "pyproject.toml", "papers/pyproject.toml", "tools/project_urls.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


@pytest.mark.parametrize("name", ["pyproject.toml", "papers/pyproject.toml"])
def test_a_release_has_the_address_of_the_project(fresh: Path, name: str) -> None:
    before = tomllib.loads((fresh / name).read_text())
    done = project_urls(fresh, REPOSITORY)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    after = tomllib.loads((fresh / name).read_text())
    urls = after["project"].pop("urls")
    assert after == before
    assert urls == {
        "Source": REPOSITORY,
        "Documentation": f"{REPOSITORY}/blob/v{VERSION}/docs/index.md",
        "Changelog": f"{REPOSITORY}/blob/HEAD/CHANGELOG.md",
        "Issues": f"{REPOSITORY}/issues",
    }


def test_links_on_pypi_point_to_the_repository(fresh: Path) -> None:
    project_urls(fresh, REPOSITORY)
    page = (fresh / "README.md").read_text()
    links = re.findall(r"\]\(([^)]+)\)", page)
    assert [link for link in links if not link.startswith("https://")] == []
    inside = [link.removeprefix(f"{REPOSITORY}/") for link in links if link.startswith(REPOSITORY)]
    assert f"raw/v{VERSION}/docs/images/buffer.svg" in inside
    assert [link for link in inside if not (ROOT / link.partition(f"/v{VERSION}/")[2]).exists()] == []


@pytest.mark.parametrize(
    "given", [[], ["github.com/owner/name"], [f"{REPOSITORY}/tree/main"], ["https://github.com/"], [REPOSITORY, REPOSITORY]]
)
def test_an_invalid_repository_is_rejected(fresh: Path, given: list[str]) -> None:
    done = project_urls(fresh, *given)
    told = " ".join(given) or "nothing"
    assert done.returncode == 1
    assert done.stderr == f"given {told}, expected the address of a repository: https://github.com/OWNER/NAME\n"
    assert (fresh / "pyproject.toml").read_bytes() == (ROOT / "pyproject.toml").read_bytes()


def test_addresses_are_written_once(fresh: Path) -> None:
    project_urls(fresh, REPOSITORY)
    done = project_urls(fresh, REPOSITORY)
    assert done.returncode == 1
    assert "already has [project.urls]" in done.stderr


def test_the_workflow_pins_actions_and_tests_every_wheel() -> None:
    workflow = (ROOT / ".github/workflows/release.yml").read_text()
    actions = re.findall(r"uses: (.*)", workflow)
    assert actions
    assert [action for action in actions if not re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action)] == []
    built, tried = set(re.findall(r"\{platform: ([\w-]+)", workflow)), set(re.findall(r"\{package: wheel-([\w-]+)", workflow))
    assert {platform.partition("-")[0] for platform in built} == {"linux", "macos", "windows"}
    assert tried == built
