"""Fingerprints of user code that imports the user's own modules."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tailback as tb
from tailback.user_code._class_fingerprint import Fingerprint, fingerprint

FILES = {
    "own_laws.py": "{}\n\n\nclass Law:\n    def answer(self):\n        return {}\n",
    "own_gains.py": "from own_more import LIMIT\n\n\ndef gain():\n    return LIMIT\n\n\ndef unused():\n    return 1\n",
    "own_more.py": "LIMIT = 1\nOTHER = 1\n",
    "own_package/__init__.py": "from .parts import part\n\nNAME = 'a'\n",
    "own_package/parts.py": "def part():\n    return 1\n",
    "own_package/sub.py": "from . import parts\nfrom .parts import part\n\nVALUE = 1\n",
}
OWN = ("own_laws", "own_gains", "own_more", "own_package", "own_package.parts", "own_package.sub")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield tmp_path
    _forget()


def _forget() -> None:
    for name in OWN:
        sys.modules.pop(name, None)
    importlib.invalidate_caches()


def _law(folder: Path, line: str, value: str) -> Fingerprint:
    _forget()
    (folder / "own_laws.py").write_text(FILES["own_laws.py"].format(line, value))
    return fingerprint(importlib.import_module("own_laws").Law)


@pytest.mark.parametrize(
    ("line", "value", "file", "old", "new", "changes"),
    [
        ("from own_gains import gain", "gain()", "own_gains.py", "return LIMIT", "return 2", True),
        ("from own_gains import gain", "gain()", "own_gains.py", "return 1", "return 2", False),
        ("from own_gains import gain", "gain()", "own_more.py", "LIMIT = 1", "LIMIT = 2", True),
        ("from own_gains import gain", "gain()", "own_more.py", "OTHER = 1", "OTHER = 2", False),
        ("from own_gains import gain", "1", "own_gains.py", "return LIMIT", "return 2", False),
        ("from own_gains import *", "gain()", "own_gains.py", "return 1", "return 2", True),
        ("import own_gains", "own_gains.gain()", "own_more.py", "LIMIT = 1", "LIMIT = 2", True),
        ("LOCAL = True", "__class__ and gain()\n\n    from own_gains import gain", "own_more.py", "LIMIT = 1", "LIMIT = 2", True),
        ("import own_package.sub", "own_package.sub.VALUE", "own_package/parts.py", "return 1", "return 2", True),
        ("import own_package.sub", "own_package.sub.VALUE", "own_package/__init__.py", "'a'", "'b'", False),
        ("from own_package import sub", "sub.VALUE", "own_package/sub.py", "VALUE = 1", "VALUE = 2", True),
        ("from own_package import part", "part()", "own_package/parts.py", "return 1", "return 2", True),
    ],
)
def test_imported_lines_change_the_fingerprint(
    folder: Path, line: str, value: str, file: str, old: str, new: str, changes: bool
) -> None:
    before = _law(folder, line, value)
    assert before == _law(folder, line, value)
    text = FILES[file].replace(old, new)
    assert text != FILES[file]
    (folder / file).write_text(text)
    assert (_law(folder, line, value).sha256 != before.sha256) is changes


def test_a_class_without_a_file_depends_on_the_functions_that_it_reaches(folder: Path) -> None:
    hashes = []
    for limit in (1, 1, 2):
        _forget()
        (folder / "own_more.py").write_text(f"LIMIT = {limit}\n")
        namespace: dict[str, Any] = {"__name__": "nowhere", "gain": importlib.import_module("own_gains").gain}
        exec("class Law:\n    def answer(self):\n        return gain()\n", namespace)
        hashes.append(fingerprint(namespace["Law"]))
    assert hashes[0] == hashes[1]
    assert hashes[0].sha256 != hashes[2].sha256
    assert hashes[0].imports == ("own_gains", "own_more")


def test_an_edit_after_the_import_belongs_to_the_next_import(folder: Path) -> None:
    before = _law(folder, "from own_gains import gain", "gain()")
    (folder / "own_more.py").write_text("LIMIT = 2\n")
    assert fingerprint(sys.modules["own_laws"].Law) == before
    importlib.reload(sys.modules["own_more"])
    assert fingerprint(sys.modules["own_laws"].Law) != before


@pytest.mark.parametrize("value", ["__import__('own_' + 'gains').gain()", "importlib.import_module('own_' + 'gains').gain()"])
def test_imports_that_are_not_covered_cause_a_warning(folder: Path, value: str) -> None:
    with pytest.warns(tb.errors.UserCodeWarning, match="`Law` imports with `(__import__|importlib)`"):
        _law(folder, "import importlib", value)
    with pytest.warns(tb.errors.UserCodeWarning, match="`Law` imports `own_missing`, whose source is not found"):
        _law(
            folder,
            "LOCAL = True",
            "missing\n\n    def later(self):\n        import own_missing as missing\n\n        return missing",
        )


@pytest.mark.filterwarnings("error")
def test_installed_and_optional_modules_are_not_covered(folder: Path) -> None:
    plain = _law(folder, "import numpy as np", "np.array([1])")
    assert plain.imports == ()
    optional = "try:\n    import own_missing as other\nexcept ImportError:\n    import math as other"
    assert _law(folder, optional, "other.pi").imports == ()
