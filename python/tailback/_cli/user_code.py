"""``--code FILE.py``: user code in Python, loaded before a scenario is read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tailback._cli.output import path

__all__ = ["Code", "load"]

Code = Annotated[
    list[Path] | None,
    typer.Option("--code", metavar="FILE.py", help="A Python file that registers user code; repeat for more.", parser=path),
]


def load(files: list[Path] | None) -> None:
    """Run these files, in turn."""
    for file in files or ():
        from tailback import user_code

        user_code.load(file)
