"""Generates declarations of the topology functions: python/tailback/_topologies/generators.pyi, and their names in
python/tailback/__init__.pyi.

    .venv/bin/python tools/topologies.py

A test compares the files with the output of this script, so that a topology is described only in its own file.
"""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import wrap

from tailback import _topologies
from tailback._scenario.schema_tables import definitions
from tailback._topologies import generators
from tailback._topologies.declaring import signature, topologies

ROOT = Path(__file__).resolve().parents[1]
STUB = ROOT / "python/tailback/_topologies/generators.pyi"
PACKAGE = ROOT / "python/tailback/__init__.pyi"
WIDTH = 130

HEAD = """\
# The functions of the topologies for type checkers, by tools/topologies.py; a test compares them.
# fmt: off
from collections.abc import Mapping
from typing import Any

from tailback._scenario import Scenario
"""


def main() -> None:
    """Writes both files."""
    STUB.write_text(stub())
    PACKAGE.write_text(package(PACKAGE.read_text()))


def stub() -> str:
    """The declarations of all functions."""
    functions = [filled(f"{signature(topology)} ...", "    ") for topology in sorted(topologies())]
    words = {word for function in functions for word in re.findall("[A-Za-z]+", function)}
    exported = filled(f"__all__ = [{', '.join(map(repr, generators.__all__))}]", "    ")
    types = "".join(f"    {name},\n" for name in sorted(words & {*definitions()}))
    return "".join([HEAD, f"from tailback._types import (\n{types})\n\n", exported, *functions])


def package(text: str) -> str:
    """The package's stub with the names of all functions."""
    names = "".join(f"    {name} as {name},\n" for name in sorted(_topologies.__all__))
    before, _, rest = text.partition("from ._topologies import (\n")
    return f"{before}from ._topologies import (\n{names}){rest.partition(')')[2]}"


def filled(text: str, indent: str) -> str:
    """A statement in lines that are not too long."""
    # A line cannot begin with the arrow of a function.
    lines = wrap(
        text.replace(") -> ", ")\0->\0"), WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(lines).replace("\0", " ") + "\n"


if __name__ == "__main__":
    main()
