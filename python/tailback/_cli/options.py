"""Arguments and options that several commands take, and how all of them read paths and whole numbers."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import click

__all__ = ["PATH", "WholeNumber", "cluster", "code", "executor", "fail_fast", "file", "out", "seed", "threads", "workers"]


class _Given(click.Path[Path]):
    """A path that the user gave. An empty one, such as of a shell variable without a value, is not the current directory."""

    def convert(self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None) -> Path:
        if not os.fspath(value):
            self.fail("the name is empty", param, ctx)
        try:
            os.lstat(value)
        except ValueError as error:
            self.fail(f"no file can have this name: {error}", param, ctx)
        except OSError as error:
            # Whatever else is wrong with it concerns whoever opens it.
            if error.errno == errno.ENAMETOOLONG:
                self.fail(f"no file can have this name: {error.strerror}", param, ctx)
        return Path(value)


class WholeNumber(click.IntRange):
    """A whole number within limits; `name` is what errors call it."""

    name = "integer"


PATH = _Given()

file = click.argument("file", type=PATH, help="A scenario in TOML, or in JSON if the name ends in .json.")
out = click.option("--out", type=PATH, metavar="DIR", help="Write all tables (Parquet) and provenance to this new directory.")
seed = click.option("--seed", type=WholeNumber(0, 2**53 - 1), metavar="N", help="Instead of the scenario's own.")
threads = click.option(
    "--threads",
    type=WholeNumber(1, 1024),
    default=1,
    metavar="N",
    help="Threads that share the run; the same results for any number.",
)
executor = click.option(
    "--executor", metavar="KIND", help="`threads` or `processes`; if not given, threads, or processes where user code needs them."
)
workers = click.option("--workers", type=WholeNumber(1), metavar="N", help="Number of workers; one per processor if not given.")
cluster = click.option("--cluster", metavar="ADDRESS", help="A Dask scheduler, or `local` for a new cluster on this machine.")
fail_fast = click.option("--fail-fast", is_flag=True, help="Stop at the first run that fails.")
code = click.option(
    "--code", type=PATH, multiple=True, metavar="FILE.py", help="A Python file that registers user code; repeat for more."
)
