"""Arguments and options that several commands share, and the parsers of paths and integers."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import click

from tailback._cli import completion

__all__ = [
    "PATH",
    "WholeNumber",
    "cluster",
    "code",
    "executor",
    "fail_fast",
    "file",
    "out",
    "presets",
    "seed",
    "threads",
    "wait",
    "workers",
]


class _PathArgument(click.Path[Path]):
    """A path from the command line. An empty path, for example from an unset shell variable, is an error and not `.`."""

    def convert(self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None) -> Path:
        if not os.fspath(value):
            self.fail("the path is empty", param, ctx)
        try:
            os.lstat(value)
        except ValueError as error:
            self.fail(f"not a valid file name: {error}", param, ctx)
        except OSError as error:
            # Other errors are reported where the file is opened.
            if error.errno == errno.ENAMETOOLONG:
                self.fail(f"not a valid file name: {error.strerror}", param, ctx)
        return Path(value)


class WholeNumber(click.IntRange):
    """An integer within a range. Error messages use `name`."""

    name = "integer"


PATH = _PathArgument()


def presets() -> list[str]:
    """Names of all TCP presets, for completion."""
    from tailback._scenario import schema

    words: list[str] = schema()["$defs"]["PresetName"]["enum"]
    return words


file = click.argument("file", type=PATH, help="A scenario in TOML, or in JSON if the name ends in .json.")
out = click.option("--out", type=PATH, metavar="DIR", help="Write all tables (Parquet) and provenance to this new directory.")
seed = click.option("--seed", type=WholeNumber(0, 2**53 - 1), metavar="N", help="Seed to use instead of the scenario's.")
threads = click.option(
    "--threads",
    type=WholeNumber(1, 1024),
    default=1,
    metavar="N",
    help="Number of threads of the run; results do not depend on it.",
)
executor = click.option(
    "--executor",
    metavar="KIND",
    shell_complete=completion.words(lambda: ("threads", "processes")),
    help="`threads` or `processes`; by default threads, or processes where user code requires them.",
)
workers = click.option("--workers", type=WholeNumber(1), metavar="N", help="Number of workers; by default one per processor.")
cluster = click.option("--cluster", metavar="ADDRESS", help="A Dask scheduler, or `local` for a new cluster on this machine.")
wait = click.option(
    "--wait",
    "wait_s",
    type=WholeNumber(0),
    metavar="SECONDS",
    help="With --cluster: time to wait for the first worker; by default 60.",
)
fail_fast = click.option("--fail-fast", is_flag=True, help="Stop at the first run that fails.")
code = click.option(
    "--code", type=PATH, multiple=True, metavar="FILE.py", help="A Python file that registers user code; repeatable."
)
