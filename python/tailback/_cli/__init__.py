"""The `tailback` command. Each subcommand has its own file: parse the options, call the library, show the result."""

from __future__ import annotations

import click

from tailback._cli.analyse import analyse
from tailback._cli.check import check
from tailback._cli.demo import demo
from tailback._cli.diff import diff
from tailback._cli.emulate import emulate
from tailback._cli.export import export
from tailback._cli.kernel import kernel
from tailback._cli.lab import lab
from tailback._cli.output import Commands, guarded_stdout
from tailback._cli.packetdrill import packetdrill
from tailback._cli.predict import predict
from tailback._cli.reproduce import reproduce
from tailback._cli.run import run
from tailback._cli.schema import schema
from tailback._cli.size_buffer import size_buffer
from tailback._cli.study import study
from tailback._cli.sweep import sweep
from tailback._cli.threshold import threshold
from tailback._cli.validate import validate
from tailback._core import __commit__, __version__

__all__ = ["app", "main"]


@click.group(
    "tailback",
    cls=Commands,
    commands=[
        run,
        lab,
        kernel,
        emulate,
        validate,
        sweep,
        threshold,
        predict,
        size_buffer,
        diff,
        export,
        analyse,
        packetdrill,
        check,
        schema,
        reproduce,
        demo,
        study,
    ],
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
)
@click.version_option(__version__, message=f"%(prog)s %(version)s{__commit__ and f' (commit {__commit__})'}")
def app() -> None:
    """A laboratory for network congestion: describe a network, simulate it, and measure the result."""


def main() -> None:
    """Entry point of the `tailback` command."""
    with guarded_stdout():
        # `python -m tailback` also shows this name in its help and uses it for completion.
        app(prog_name="tailback")
