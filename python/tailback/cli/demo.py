"""`tailback demo`: two questions, each answered by a table and a report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tailback.cli.out import Bar, Exit, command, note, path

__all__ = ["demo"]


@command
def demo(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the report goes; made if missing.", parser=path)] = Path("out"),
    quick: Annotated[bool, typer.Option("--quick", help="A coarse grid: seconds instead of a minute.")] = False,
) -> Exit:
    """How much buffer does a TCP link need? And what does balanced packet discard gain at an ATM switch?

    Prints a table each, writes DIR/buffer.html and DIR/bpd-2001.html.
    """
    from tailback import demo as question
    from tailback.demo import headline

    question.answer(out, quick=quick)
    try:
        with Bar("simulating") as bar:
            headline.answer(out, seeds=3 if quick else 10, progress=bar)
    except KeyboardInterrupt:
        note("interrupted; the first report was kept")
        return Exit.INTERRUPTED
    return Exit.DONE
