"""Load files with user code, and find registered classes in other processes."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from tailback._arguments import arguments_checked
from tailback._process.interrupts import interrupts
from tailback.errors import ParameterError, UserCodeError, UserCodeWarning
from tailback.user_code._libraries import library_member, library_names, load_controllers, load_stacks
from tailback.user_code._registry import RegisteredClass, of_library, registered, required

__all__ = ["ClassLocation", "ensure", "load", "place"]


@arguments_checked
def load(file: str | os.PathLike[str]) -> ModuleType:
    """Run a Python file, so that its classes are registered. A file that is already loaded is not loaded again.

    The file becomes a module with the file's name, and may import from its directory, like a script. If it changes the working
    directory, the previous one is restored.

    Parameters
    ----------
    file : path
        For example ``my_laws.py``; the name must be importable.

    Raises
    ------
    ParameterError
        The file is missing or not a Python file, or a loaded module already has its name.
    UserCodeError
        The file raises an exception, which is the ``__cause__``.
    """
    path = Path(file)
    if path.suffix != ".py" or not path.stem.isidentifier():
        raise ParameterError(f"`{path}` cannot be loaded; expected the name of a Python file, for example `my_laws.py`")
    try:
        there = path.is_file()
    except OSError as error:
        raise ParameterError(f"`{path}` cannot be loaded; {error.strerror}") from None
    if not there:
        raise ParameterError(f"`{path}` cannot be loaded; no such file")
    path, name = path.resolve(), path.stem
    known = sys.modules.get(name)
    if known is not None:
        if _file(known) != str(path):
            raise ParameterError(
                f"`{path.name}` cannot be loaded: a module `{name}` is loaded already; give the file another name"
            )
        return known
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ParameterError(f"`{path}` cannot be loaded as a module")
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    received: list[int] | None = None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        with _working_directory_restored(), interrupts() as received:
            spec.loader.exec_module(module)
    except BaseException as error:  # Includes the SystemExit of a file that calls `exit()`.
        del sys.modules[name]
        if isinstance(error, KeyboardInterrupt) and (received is None or received):
            raise
        raise UserCodeError(f"{type(error).__name__}: {error}", path.name, "", None) from error
    return module


@dataclass(frozen=True)
class ClassLocation:
    """Where another process finds a registered class: its module, the file of the module, and the hash of its source. Of a member
    of a library, which has no module: the file of the library, if any, and its version."""

    kind: str
    name: str
    module: str
    file: str | None
    sha256: str


def place(kind: str, name: str) -> ClassLocation:
    """The place of a registered class, or of a member of a library."""
    if member := of_library(kind, name):
        return ClassLocation(kind, name, "", member.file, member.version)
    known = required(kind, name)
    return ClassLocation(kind, name, known.cls.__module__, known.fingerprint.file, known.fingerprint.sha256)


def ensure(places: tuple[ClassLocation, ...]) -> None:
    """Register these classes in this process, by importing their modules or else loading their files.

    Raises
    ------
    ParameterError
        A class or library is not found, or its source or version differs.
    """
    for wanted in places:
        if not wanted.module:
            _ensure_library(wanted)
            continue
        with warnings.catch_warnings():
            # The process that planned the runs has issued them.
            warnings.simplefilter("ignore", UserCodeWarning)
            known = registered(wanted.kind, wanted.name) or _found(wanted)
        if known is None:
            raise ParameterError(
                f"this worker cannot find the {wanted.kind} `{wanted.name}`: neither in the module `{wanted.module}` nor in "
                f"{f'the file `{wanted.file}`' if wanted.file else 'any file'}; put it in a file that workers can read"
            )
        if known.fingerprint.sha256 != wanted.sha256:
            raise ParameterError(f"the {wanted.kind} `{wanted.name}` has a different source on this worker")


def _ensure_library(wanted: ClassLocation) -> None:
    kind, name = wanted.kind, wanted.name
    if name not in library_names(kind) and wanted.file is not None:
        (load_stacks if kind == "stack" else load_controllers)(wanted.file)
    if name not in library_names(kind) or library_member(kind, name).version != wanted.sha256:
        raise ParameterError(f"this worker does not have the {kind} `{name}` in the version `{wanted.sha256}`")


def _found(wanted: ClassLocation) -> RegisteredClass | None:
    if wanted.module not in ("__main__", "__mp_main__"):
        with suppress(ImportError):
            importlib.import_module(wanted.module)
    known = registered(wanted.kind, wanted.name)
    if known is None and wanted.file is not None and Path(wanted.file).is_file():
        load(wanted.file)
        known = registered(wanted.kind, wanted.name)
    return known


@contextmanager
def _working_directory_restored() -> Iterator[None]:
    try:
        before = Path.cwd()
    except OSError:  # It has been removed.
        yield
        return
    try:
        yield
    finally:
        os.chdir(before)


def _file(module: ModuleType) -> str | None:
    file = getattr(module, "__file__", None)
    return None if file is None else str(Path(file).resolve())
