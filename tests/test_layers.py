"""Imports point downwards only, including imports within functions and for type checkers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import ROOT

PACKAGE = ROOT / "python" / "tailback"
DOCUMENTS = ROOT / "papers" / "tailback_papers"

# From the bottom up. A part is a module, or a package with all its modules, and imports from parts on lines above its own. The
# private modules of `papers` are below the public package.
LAYERS = """
_core
_arguments
errors
_html _interval _paper_figure _process
_export
_kernels _tables allocation models plots prices statistics user_code
_store
_scenario
_formats _lab _types
_analysis _run _topologies
_packetdrill _simulation _emulation
_study _diff
prediction
_validation
_progress papers._
papers
tailback
_demo
_cli
__main__
"""


def test_imports_point_downwards_only() -> None:
    assert list(upward(PACKAGE, LAYERS)) == []


def test_there_are_no_import_cycles() -> None:
    assert circle(PACKAGE) == []
    assert circle(DOCUMENTS) == []


def test_few_modules_are_outside_a_package() -> None:
    assert len(list(PACKAGE.glob("*.py"))) <= 15


@pytest.mark.parametrize("folder", ["_formats", "_export"])
def test_members_of_a_list_do_not_import_one_another(folder: str) -> None:
    members = {path.stem for path in (PACKAGE / folder).iterdir() if declares_member(path)}
    assert len(members) >= 4
    assert [
        f"{path.relative_to(PACKAGE)} imports {name}"
        for path in sorted((PACKAGE / folder).rglob("*.py"))
        for _, name in imported(PACKAGE, path)
        if (own := path.relative_to(PACKAGE / folder).parts[0].removesuffix(".py")) in members
        and name.split(".")[0] == folder
        and set(name.split(".")[1:2]) & (members - {own})
    ] == []


def declares_member(path: Path) -> bool:
    """Whether a file or folder declares a member of the list of its package."""
    file = path / "__init__.py" if path.is_dir() else path
    return file.is_file() and re.search(r"^(FORMAT|TARGET) = ", file.read_text(encoding="utf-8"), re.MULTILINE) is not None


def test_only_presets_and_notes_on_prices_name_policies_and_controllers() -> None:
    """The other files of the scenario crate use their abilities."""
    sources = ROOT / "crates/scenario/src"
    named_in = set()
    for path in sources.rglob("*.rs"):
        text, _, _ = path.read_text(encoding="utf-8").partition("#[cfg(test)]\nmod tests")
        if set(re.findall(r"\b(?:Policy|Controller|Scheduler)Spec::([A-Z][a-z]\w*)", text)) - {"User"}:
            named_in.add(str(path.relative_to(sources)))
    assert {name for name in named_in if not name.startswith("presets/")} == {"network/settling.rs"}


def test_documents_import_only_the_public_interface() -> None:
    names = {name for path in DOCUMENTS.rglob("*.py") for _, name in named(DOCUMENTS, path) if name.startswith("tailback")}
    assert {"tailback", "tailback.papers.Claim"} <= names
    assert [name for name in sorted(names) if "._" in name] == []


def test_the_package_does_not_import_packages_that_depend_on_it() -> None:
    names = {name.split(".")[0] for path in PACKAGE.rglob("*.py") for _, name in named(PACKAGE, path)}
    assert {"tailback", "click", "numpy"} <= names
    assert names.isdisjoint({DOCUMENTS.name, "tailback_stacks"})


def test_an_upward_import_is_found_anywhere(tmp_path: Path) -> None:
    package = made(
        tmp_path / "tailback",
        {
            "__init__.py": "from tailback._run import Run",
            "errors.py": "import json\n\nif TYPE_CHECKING:\n    from tailback._run import Run",
            "_run.py": "from tailback import errors, _core\nfrom tailback.errors import Error\n",
            "_core.pyi": "",
            "_cli/__init__.py": "",
            "_cli/output.py": "from tailback._study import grid",
            "_study/__init__.py": "",
            "_study/grid.py": "def planned():\n    from tailback import __version__",
            "_study/ledger.py": "from .._run import Run\nfrom .. import _cli\nfrom .grid import Grid\nimport tailback._cli",
        },
    )
    assert list(upward(package, LAYERS)) == [
        "_study/grid.py:2 imports tailback; _study comes before tailback",
        "_study/ledger.py:2 imports _cli; _study comes before _cli",
        "_study/ledger.py:4 imports _cli; _study comes before _cli",
        "errors.py:4 imports _run; errors comes before _run",
    ]


def test_a_part_without_a_layer_is_found(tmp_path: Path) -> None:
    package = made(
        tmp_path / "tailback", {"errors.py": "", "news.py": "from tailback import errors", "_run.py": "import tailback.news"}
    )
    assert list(upward(package, LAYERS)) == [
        "_run.py:1 imports news; news has no layer",
        "news.py:1 imports errors; news has no layer",
    ]


def test_a_cycle_within_a_part_is_found(tmp_path: Path) -> None:
    package = made(
        tmp_path / "tailback",
        {
            "_study/__init__.py": "from tailback._study.grid import Grid",
            "_study/grid.py": "from tailback._study import ledger",
            "_study/ledger.py": "def begin():\n    from tailback._study.work import Work",
            "_study/work.py": "from tailback._study.grid import Grid",
        },
    )
    found = circle(package)
    assert found[0] == found[-1]
    assert sorted(found[1:]) == ["_study.grid", "_study.ledger", "_study.work"]


def made(folder: Path, files: dict[str, str]) -> Path:
    """A package with these files."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def upward(package: Path, layers: str) -> Iterator[str]:
    """Every import from a part that is not on a lower layer, or that has no layer: file, line and order."""
    height = {part: layer for layer, parts in enumerate(layers.strip().splitlines()) for part in parts.split()}
    for path in sorted(package.rglob("*.py")):
        own = part(name_of(package, path))
        for line, name in imported(package, path):
            other = part(name)
            unknown = next((each for each in (own, other) if each not in height), None)
            place = f"{path.relative_to(package)}:{line} imports {name}"
            if unknown is not None:
                yield f"{place}; {unknown} has no layer"
            elif own != other and height[other] >= height[own]:
                yield f"{place}; {own} comes before {other}"


def circle(package: Path) -> list[str]:
    """Modules that import one another in a cycle, with the first one repeated at the end; empty without a cycle."""
    below = {name_of(package, path): {name for _, name in imported(package, path)} for path in package.rglob("*.py")}
    done: set[str] = set()

    def follow(way: list[str]) -> list[str]:
        for name in sorted(below.get(way[-1], set()) - done):
            if name in way:
                return [*way[way.index(name) :], name]
            if found := follow([*way, name]):
                return found
        done.add(way[-1])
        return []

    return next((found for name in sorted(below) if name not in done and (found := follow([name]))), [])


def part(name: str) -> str:
    """The part of the package that a module belongs to."""
    first, _, rest = name.partition(".")
    return "papers._" if first == "papers" and rest else first


def name_of(package: Path, path: Path) -> str:
    """The name of a module below the package, or the name of the package itself."""
    return ".".join(path.relative_to(package).with_suffix("").parts).removesuffix(".__init__").replace("__init__", package.name)


def imported(package: Path, path: Path) -> Iterator[tuple[int, str]]:
    """Line and name of every module of the package that a file imports."""
    for line, name in named(package, path):
        if name.split(".")[0] == package.name:
            yield line, module_of(package, name)


def named(package: Path, path: Path) -> Iterator[tuple[int, str]]:
    """Line and full name of every module, class and function that a file of the package imports."""
    folder = (package.name, *path.relative_to(package).parent.parts)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = folder[: len(folder) + 1 - node.level] if node.level else ()
            origin = ".".join([*base, *([node.module] if node.module else [])])
            names = [f"{origin}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from ((node.lineno, name) for name in dict.fromkeys(names))


def module_of(package: Path, name: str) -> str:
    """The module of an imported name: `Run` of `tailback._run` is in `_run`."""
    parts = name.split(".")[1:]
    while parts and not is_module(package.joinpath(*parts)):
        parts.pop()
    return ".".join(parts) or package.name


def is_module(path: Path) -> bool:
    return path.is_dir() or any(path.with_suffix(ending).exists() for ending in (".py", ".pyi"))
