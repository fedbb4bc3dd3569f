"""Arguments and options that several commands take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tailback._cli.output import path

__all__ = ["Cluster", "Executor", "FailFast", "File", "Seed", "Workers"]

File = Annotated[
    Path, typer.Argument(metavar="FILE", help="A scenario in TOML, or in JSON if the name ends in .json.", parser=path)
]
Seed = Annotated[int | None, typer.Option(min=0, max=2**53 - 1, help="Instead of the scenario's own.")]
Executor = Annotated[
    str | None, typer.Option(help="`threads` or `processes`; if not given threads, and processes where user code needs them.")
]
Workers = Annotated[int | None, typer.Option(min=1, help="How many; one a processor if not given.")]
Cluster = Annotated[str | None, typer.Option(metavar="ADDRESS", help="A Dask scheduler, or `local` for a cluster of its own.")]
FailFast = Annotated[bool, typer.Option("--fail-fast", help="Stop at the first run that fails.")]
