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
from typing import Any

import pytest
import yaml

from support import ROOT

WORKSPACE = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]
VERSION: str = WORKSPACE["package"]["version"]
# Not part of this wheel: golden hashes are compared with those of `wasm`, and the others are `tailback-stacks`.
LEFT_OUT = {"stacks", "stacks-python", "wasm"}
LICENCES = ("LICENSE-APACHE", "LICENSE-MIT")
WORKFLOWS = {path.stem: yaml.safe_load(path.read_text()) for path in (ROOT / ".github/workflows").glob("*.yml")}


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
    names = {path.parent.name for path in ROOT.glob("crates/*/Cargo.toml")} - LEFT_OUT
    own = {"Cargo.toml", "Cargo.lock", "LICENSE-APACHE", "LICENSE-MIT", "README.md", "pyproject.toml"}
    expected = {"PKG-INFO"} | own | sources(ROOT / "python")
    for crate in names:
        folder = ROOT / "crates" / crate
        expected |= {f"crates/{crate}/Cargo.toml"} | sources(folder / "src") | sources(folder / "include")
        expected |= {f"crates/{crate}/{name}" for name in ("build.rs", "README.md", *LICENCES)} & sources(folder)
    assert sorted(packed ^ expected) == []


def crates() -> list[dict[str, Any]]:
    command = ["cargo", "metadata", "--locked", "--offline", "--no-deps", "--format-version", "1"]
    packages: list[dict[str, Any]] = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout)[
        "packages"
    ]
    return packages


def release(*arguments: str, root: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, root / "tools/release.py", *arguments], capture_output=True, text=True)


def copied(*names: str, to: Path) -> None:
    """Copies these files and all manifests."""
    manifests = [path.relative_to(ROOT).as_posix() for path in ROOT.glob("crates/*/Cargo.toml")]
    for name in (*names, "Cargo.toml", "pyproject.toml", "papers/pyproject.toml", "stacks/pyproject.toml", *manifests):
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, to / name)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The files that a release compares, in their state at the time of the release."""
    copied("CITATION.cff", "tools/release.py", to=tmp_path)
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n## [{VERSION}]\n\n- [New](docs/new.md).\n\n## [0.0.9]\n\n- Old.\n")
    return tmp_path


def test_a_release_names_its_toolchain() -> None:
    facts = dict(line.split("=") for line in release().stdout.splitlines())
    assert facts["version"] == VERSION
    assert f"maturin=={facts['maturin']}" in (ROOT / "constraints.txt").read_text().splitlines()
    assert facts["rust"] == WORKSPACE["package"]["rust-version"]


def test_the_package_and_the_citation_have_the_version_of_the_workspace() -> None:
    assert {crate["version"] for crate in crates()} == {VERSION}
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


def test_all_distributions_have_the_same_licences() -> None:
    names = {path.name for path in ROOT.glob("LICENSE-*") if "THIRD" not in path.name}
    for folder in ("papers", "stacks"):
        assert {name: (ROOT / folder / name).read_text() for name in names} == {name: (ROOT / name).read_text() for name in names}


def test_a_release_missing_in_changelog_or_citation_fails(copy: Path) -> None:
    (copy / "CHANGELOG.md").write_text("# Changelog\n\n## [Unreleased]\n")
    (copy / "CITATION.cff").write_text("version: 0.0.9\n")
    assert release(f"v{VERSION}", root=copy).stderr.splitlines() == [
        f"CITATION.cff names version 0.0.9, Cargo.toml {VERSION}",
        f"the first section of CHANGELOG.md is `## [Unreleased]`, expected `## [{VERSION}]`",
    ]


def test_the_notes_are_the_first_section_of_the_changelog(copy: Path) -> None:
    assert release("--notes", root=copy).stdout == "- [New](docs/new.md).\n"


def test_published_crates_follow_their_dependencies() -> None:
    order = dict(line.split("=") for line in release().stdout.splitlines())["crates"].split()
    # `publish = false` is an empty list of registries.
    assert set(order) == {crate["name"] for crate in crates() if crate["publish"] != []}
    assert {"tailback-core", "tailback-scenario", "tailback-host"} <= set(order)
    asked = {
        crate["name"]: {found["name"]: found for found in crate["dependencies"] if "path" in found and found["kind"] != "dev"}
        for crate in crates()
    }
    for place, name in enumerate(order):
        assert asked[name].keys() <= set(order[:place]), name
        # All crates of a release have one version.
        assert {found["req"] for found in asked[name].values()} <= {f"={VERSION}"}, name


def test_published_crates_describe_themselves() -> None:
    for crate in crates():
        if crate["publish"] == []:
            continue
        folder = Path(crate["manifest_path"]).parent
        assert crate["description"], folder
        assert crate["license"] == "MIT OR Apache-2.0"
        assert 1 < len(crate["keywords"]) <= 5, folder
        assert crate["categories"], folder
        assert crate["documentation"] == f"https://docs.rs/{crate['name']}"
        assert (folder / "README.md").read_text().startswith(f"# {crate['name']}\n")
        assert {name: (folder / name).read_text() for name in LICENCES} == {name: (ROOT / name).read_text() for name in LICENCES}


REPOSITORY = "https://github.com/owner/name"


def project_urls(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, root / "tools/project_urls.py", *arguments], capture_output=True, text=True)


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    """Files that contain the addresses of the project."""
    copied("README.md", "CHANGELOG.md", "tools/project_urls.py", to=tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", ["pyproject.toml", "papers/pyproject.toml", "stacks/pyproject.toml"])
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
    badge = "actions/workflows/ci.yml/badge.svg"
    assert badge in inside
    assert [link for link in inside if link != badge and not (ROOT / link.partition(f"/v{VERSION}/")[2]).exists()] == []


def test_links_in_the_notes_point_to_the_repository(fresh: Path) -> None:
    project_urls(fresh, REPOSITORY)
    assert f"({REPOSITORY}/blob/v{VERSION}/docs/reference/policies/index.md)" in (fresh / "CHANGELOG.md").read_text()


def test_published_crates_have_the_address_of_the_project(fresh: Path) -> None:
    project_urls(fresh, REPOSITORY)
    manifests = [tomllib.loads(path.read_text())["package"] for path in fresh.glob("crates/*/Cargo.toml")]
    assert {package["name"] for package in manifests if package.get("repository") == REPOSITORY} == {
        package["name"] for package in manifests if package["publish"] is True
    }


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


def jobs() -> dict[str, dict[str, Any]]:
    """The jobs of all workflows, as `WORKFLOW/JOB`."""
    return {f"{name}/{job}": content for name, flow in WORKFLOWS.items() for job, content in flow["jobs"].items()}


def test_workflows_pin_actions() -> None:
    text = "".join(path.read_text() for path in (ROOT / ".github/workflows").glob("*.yml"))
    actions = [action for action in re.findall(r"uses: (.*)", text) if action != "./.github/workflows/build.yml"]
    assert actions
    assert [action for action in actions if not re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action)] == []
    # One version of each action.
    assert len({action.partition("@")[0] for action in actions}) == len(set(actions))


def test_every_wheel_is_tried_on_its_platform() -> None:
    build = WORKFLOWS["build"]["jobs"]
    built = {(f"wheel-{entry['platform']}", entry["runner"]) for entry in build["wheels"]["strategy"]["matrix"]["include"]}
    tried = {(entry["package"], entry["runner"]) for entry in build["try"]["strategy"]["matrix"]["include"]}
    assert {name.split("-")[1] for name, _ in built} == {"linux", "macos", "windows"}
    assert tried - built == {("sdist", "ubuntu-24.04")}
    assert built <= tried
    assert {name for name, _ in tried} == set(build["try"]["strategy"]["matrix"]["package"])


def test_every_job_ends_by_itself_and_states_its_permissions() -> None:
    for name, job in jobs().items():
        # The jobs of a called workflow have their own limits.
        assert ("timeout-minutes" in job) != ("uses" in job), name
        assert "permissions" in job, name
        assert "strategy" not in job or job["strategy"]["fail-fast"] is False, name
    assert all(flow["permissions"] == {} for flow in WORKFLOWS.values())


def test_only_a_tag_publishes() -> None:
    release = WORKFLOWS["release"]["jobs"]
    tagged = {name for name, job in release.items() if "ref_type == 'tag'" in job.get("if", "")}
    assert tagged == {"attest"}
    for name in ("publish", "crates", "github", "pages"):
        # A job is skipped if one that it needs was.
        needs, waiting = set[str](), {name}
        while waiting:
            found = release[waiting.pop()].get("needs", [])
            new = {found} if isinstance(found, str) else set(found)
            waiting |= new - needs
            needs |= new
        assert needs >= {"attest", "build", "site"}, name
        assert "if" not in release[name], name
    writing = {name for name, job in release.items() if "write" in job["permissions"].values()}
    assert writing - {"attest", "publish", "crates", "github", "pages"} == {"rehearse"}
    assert release["rehearse"]["if"] == "github.event_name == 'workflow_dispatch'"


def test_the_numbers_of_the_paper_are_those_of_the_linked_pages() -> None:
    validation = (ROOT / "paper.md").read_text().partition("\n# Validation\n")[2].partition("\n\nConservation")[0]
    statements = validation.strip().removeprefix("- ").split("\n- ")
    assert len(statements) == 6
    for statement in statements:
        pages = re.findall(r"\]\((docs/evidence/\w+\.md)\)", statement)
        assert pages
        text = "".join(re.sub(r"<!--.*?-->", "", (ROOT / page).read_text()) for page in pages)
        numbers = re.findall(r"\b\d[\d.]*\b", re.sub(r"\([^)]*\)|\[\d{4}\]", "", statement))
        assert [number for number in numbers if not re.search(rf"(?<![\d.,]){re.escape(number)}(?![\d,]|\.\d)", text)] == [], (
            statement
        )


def test_every_work_of_the_paper_is_cited() -> None:
    listed = re.findall(r"^@\w+\{(\w+),$", (ROOT / "paper.bib").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(set(re.findall(r"@(\w+)", (ROOT / "paper.md").read_text())))
