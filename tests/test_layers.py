"""Imports point downwards only, including imports within functions and for type checkers."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from support import ROOT

# From the bottom up. A part is a module, or a package with all its modules, and imports from parts on lines above its own. In
# `papers`, the private modules (`_`) are below the public package, and the documents are above it, like a user's experiments.
LAYERS = """
_core
_arguments
errors _format _html _interval _processors _schema_tables _time_slices _toml
_lab _quantity _scenario _table _types allocation models plots prices statistics user_code
_completions _delivery_trace _fairness _pictures _run_plot _store _summary _topologies _widget
_capture _run
_runs
_simulation _emulation
_study prediction
_validation
_progress papers._
papers
tailback
papers.documents
_demo
_cli
__main__
"""


def test_imports_point_downwards_only() -> None:
    assert list(upward(ROOT / "python" / "tailback", LAYERS)) == []


def test_there_are_no_import_cycles() -> None:
    assert circle(ROOT / "python" / "tailback") == []


def test_an_upward_import_is_found_anywhere(tmp_path: Path) -> None:
    package = made(
        tmp_path,
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
    package = made(tmp_path, {"errors.py": "", "news.py": "from tailback import errors", "_run.py": "import tailback.news"})
    assert list(upward(package, LAYERS)) == [
        "_run.py:1 imports news; news has no layer",
        "news.py:1 imports errors; news has no layer",
    ]


def test_a_cycle_within_a_part_is_found(tmp_path: Path) -> None:
    package = made(
        tmp_path,
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
        (folder / name).parent.mkdir(exist_ok=True)
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
    if first == "papers" and rest:
        return "papers._" if rest.startswith("_") else "papers.documents"
    return first


def name_of(package: Path, path: Path) -> str:
    """The name of a module below `tailback`, and `tailback` itself."""
    return ".".join(path.relative_to(package).with_suffix("").parts).removesuffix(".__init__").replace("__init__", "tailback")


def imported(package: Path, path: Path) -> Iterator[tuple[int, str]]:
    """Line and name of every module of the package that a file imports."""
    folder = ("tailback", *path.relative_to(package).parent.parts)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = folder[: len(folder) + 1 - node.level] if node.level else ()
            origin = ".".join([*base, *([node.module] if node.module else [])])
            names = [f"{origin}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in dict.fromkeys(names):
            if name.split(".")[0] == "tailback":
                yield node.lineno, module_of(package, name)


def module_of(package: Path, name: str) -> str:
    """The module of an imported name: `Run` of `tailback._run` is in `_run`."""
    parts = name.split(".")[1:]
    while parts and not is_module(package.joinpath(*parts)):
        parts.pop()
    return ".".join(parts) or "tailback"


def is_module(path: Path) -> bool:
    return path.is_dir() or any(path.with_suffix(ending).exists() for ending in (".py", ".pyi"))
