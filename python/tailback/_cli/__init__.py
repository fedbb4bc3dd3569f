"""The command `tailback`: one file per command, each in three steps: read, call the library, show."""

from __future__ import annotations

from typing import Annotated

import typer

from tailback._cli.analyse import analyse
from tailback._cli.check import check
from tailback._cli.demo import demo
from tailback._cli.emulate import emulate
from tailback._cli.output import stdout_watched
from tailback._cli.predict import predict
from tailback._cli.reproduce import reproduce
from tailback._cli.run import run
from tailback._cli.schema import schema
from tailback._cli.size_buffer import size_buffer
from tailback._cli.study import study
from tailback._cli.sweep import sweep
from tailback._cli.validate import validate
from tailback._core import __version__

__all__ = ["app", "main"]

app = typer.Typer(
    name="tailback",
    help="A laboratory for network congestion: describe a network, run it, see what happens.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    # Boxes around help cost more time than all the rest of it.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (run, emulate, validate, sweep, predict, size_buffer, analyse, check, schema, reproduce, demo):
    app.command()(command)
app.add_typer(study)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tailback {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    # Typer shows the help of the app, not of this function.
    pass


def main() -> None:
    """The entry point of the command."""
    with stdout_watched():
        app()
