"""`tailback lab`: the core in a page of the browser."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import click

from tailback._cli import options
from tailback._cli.output import Exit, command, data, note

__all__ = ["lab"]


@click.command
@click.option(
    "--port",
    type=options.WholeNumber(0, 65535),
    metavar="N",
    help="Port of 127.0.0.1, 8017 if not given; any that is free for 0, or if 8017 is taken.",
)
@click.option("--no-open", is_flag=True, help="Print the address, and open no browser.")
@click.option("--out", type=options.PATH, metavar="DIR", help="Write the page as files to this new folder, and serve nothing.")
@command
def lab(port: int | None, no_open: bool, out: Path | None) -> Exit:
    """Watch scenarios run, in a page of the browser.

    Everything is computed in the page; this command hands it its files, to this machine alone, until Ctrl-C. What `--out` writes
    can be put on any web space.
    """
    from tailback._lab import USUAL_PORT, serve_at, write
    from tailback.errors import OutputError, ParameterError

    if out is not None and (unused := [flag for flag, given in (("--port", port is not None), ("--no-open", no_open)) if given]):
        raise ParameterError(f"{' and '.join(unused)} beside --out, with which nothing is served or opened; drop one of them")
    try:
        if out is not None:
            write(out)
            note(f"the page is in {out}; any web server can serve it")
            return Exit.DONE
        server = serve_at(port)
    except OutputError as error:
        note(f"error: {error}")
        return Exit.INPUT
    if port is None and server.port != USUAL_PORT:
        note(f"port {USUAL_PORT} is taken; the page is elsewhere this time, and what the browser has kept of it stays there")
    data(server.address)
    note("Ctrl-C ends it")
    if not no_open:
        webbrowser.open(server.address)
    try:
        server.serve()
    except KeyboardInterrupt:
        note("")
    return Exit.DONE
