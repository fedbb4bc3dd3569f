"""Source of the user's own modules that a class imports, directly or through others, found without running them.

Own modules are Python or binary files outside Tailback, the standard library and installed packages, for example those beside the
file of the class. `from module import name` depends on the lines that define the name, `import module` on the whole file.
"""

from __future__ import annotations

import ast
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

from tailback.user_code._relevant_lines import relevant_lines

__all__ = ["Import", "ImportedModules", "imports"]

# Functions and modules that import by a name that only a run knows.
_DYNAMIC = frozenset({"__import__", "importlib", "runpy"})


@dataclass(frozen=True)
class Import:
    """A module and the names that are used of it, or None for all. `optional`: the code handles that it is missing."""

    module: str
    names: frozenset[str] | None
    optional: bool = False


class ImportedModules:
    """The own modules that imports lead to; `uncovered` collects the imports whose source cannot be found."""

    def __init__(self, folder: Path | None) -> None:
        self._folders = [str(folder), *sys.path] if folder else sys.path
        self._seen: set[tuple[str, frozenset[str] | None]] = set()
        self.modules: set[str] = set()
        self.uncovered: set[str] = set()

    def source(self, wanted: list[Import]) -> Iterator[bytes]:
        """Name and relevant source of every own module, once."""
        waiting = list(wanted)
        while waiting:
            one = waiting.pop(0)
            for part in self._parts(one):
                if (part.module, part.names) in self._seen:
                    continue
                self._seen.add((part.module, part.names))
                if (file := self._own_file(part)) is None:
                    continue
                self.modules.add(part.module)
                text = _read(part.module, file)
                is_python = file.suffix == ".py"
                lines = text if part.names is None or not is_python else relevant_lines(text, *part.names)
                yield part.module.encode() + b"\0" + lines
                if is_python:
                    package = part.module if file.stem == "__init__" else part.module.rpartition(".")[0]
                    waiting += self.imports(lines, package)

    def imports(self, lines: bytes, package: str) -> list[Import]:
        """The imports of these lines of a module of `package`. Imports by a computed name are uncovered."""
        found = list(imports(lines, package))
        self.uncovered |= {one.module for one in found if one.module in _DYNAMIC}
        if b"__import__" in lines:
            self.uncovered.add("__import__")
        return found

    def _parts(self, one: Import) -> Iterator[Import]:
        """The packages of a module, of which only statements with effects count, the module, and submodules among its names."""
        packages = one.module.split(".")[:-1]
        for count in range(1, len(packages) + 1):
            yield Import(".".join(packages[:count]), frozenset(), one.optional)
        if one.names is None:
            yield one
            return
        submodules = {name for name in one.names if self._is_submodule(one.module, name)}
        yield Import(one.module, one.names - submodules, one.optional)
        for name in sorted(submodules):
            yield Import(f"{one.module}.{name}", None, one.optional)

    def _is_submodule(self, module: str, name: str) -> bool:
        spec = None if _is_foreign(module) else self._spec(module)
        return bool(spec and spec.submodule_search_locations and self._spec(f"{module}.{name}"))

    def _own_file(self, one: Import) -> Path | None:
        if _is_foreign(one.module):
            return None
        spec = self._spec(one.module)
        if spec is None and not one.optional:
            self.uncovered.add(one.module)
        # A package without `__init__.py` has no file.
        if spec is None or not spec.has_location or spec.origin is None:
            return None
        file = Path(spec.origin).resolve()
        return None if not file.is_file() or _is_installed(file) else file

    def _spec(self, module: str) -> ModuleSpec | None:
        loaded: ModuleSpec | None = getattr(sys.modules.get(module), "__spec__", None)
        if loaded is not None:
            return loaded
        spec, places = None, self._folders
        for count in range(1, module.count(".") + 2):
            spec = PathFinder.find_spec(".".join(module.split(".")[:count]), places)
            if spec is None:
                return None
            places = list(spec.submodule_search_locations or ())
        return spec


def imports(lines: bytes, package: str) -> Iterator[Import]:
    """The imports in the source of a module of `package`, those in functions as well."""
    try:
        tree = ast.parse(lines)
    except (SyntaxError, ValueError):
        return
    tried = [node for node in ast.walk(tree) if isinstance(node, ast.Try) and node.handlers]
    optional = {id(inner) for node in tried for statement in node.body for inner in ast.walk(statement)}
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (Import(alias.name, None, id(node) in optional) for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                parents = package.split(".")[: package.count(".") + 2 - level] if level else []
                if base := ".".join(filter(None, [*parents, module])):
                    used = None if any(alias.name == "*" for alias in names) else frozenset(alias.name for alias in names)
                    yield Import(base, used, id(node) in optional)
            case _:
                pass


def _is_foreign(module: str) -> bool:
    top = module.partition(".")[0]
    return top in ("tailback", "__main__", "__mp_main__") or top in sys.stdlib_module_names or top in sys.builtin_module_names


@cache
def _installed_folders() -> frozenset[Path]:
    return frozenset(Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib"))


def _is_installed(file: Path) -> bool:
    # Debian's Python and the user's own packages have other folders with these names.
    return not _installed_folders().isdisjoint(file.parents) or not {"site-packages", "dist-packages"}.isdisjoint(file.parts)


# The spec of a loaded module is replaced when it is loaded again.
_loaded: dict[str, tuple[ModuleSpec, bytes]] = {}


def _read(module: str, file: Path) -> bytes:
    """The content of a file; for a loaded module as of its first use here, because later edits are not loaded."""
    spec = getattr(sys.modules.get(module), "__spec__", None)
    if spec is None:
        return file.read_bytes()
    if module not in _loaded or _loaded[module][0] is not spec:
        _loaded[module] = spec, file.read_bytes()
    return _loaded[module][1]
