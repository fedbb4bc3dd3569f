"""`tailback demo`: how much buffer does a TCP link need?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tailback.cli.out import Exit, command, path

__all__ = ["demo"]


@command
def demo(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the report goes; made if missing.", parser=path)] = Path("out"),
    quick: Annotated[bool, typer.Option("--quick", help="A coarse grid: seconds instead of a minute.")] = False,
) -> Exit:
    """Answer a real question: how much buffer does a TCP link need? Prints a table, writes DIR/buffer.html."""
    from tailback import demo as question

    question.answer(out, quick=quick)
    return Exit.DONE
