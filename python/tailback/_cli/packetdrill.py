"""`tailback packetdrill FILE`: replay a packetdrill script with a simulated sender."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import click

from tailback._cli import completion, options
from tailback._cli.output import ExitCode, command, data, document, note, summary

__all__ = ["packetdrill"]


@click.command
@click.argument("file", type=options.PATH, help="A script of packetdrill.")
@click.option(
    "--preset",
    metavar="NAME",
    shell_complete=completion.words(options.presets),
    help="TCP preset; by default `linux/` and the script's congestion control, or linux/cubic.",
)
@click.option("--tolerance", metavar="TIME", help="Permitted difference of a time; by default that of the script, or 4 ms.")
@options.out
@click.option("--json", "as_json", is_flag=True, help="Print the verdict of every line as one JSON document.")
@command
def packetdrill(file: Path, preset: str | None, tolerance: str | None, out: Path | None, as_json: bool) -> ExitCode:
    """Replay a packetdrill script with a simulated sender and compare line by line. Exit code 1 if a line differs, or if nothing
    can be compared."""
    from tailback import _packetdrill, _store

    with nullcontext() if out is None else _store.staged(out) as folder:
        replay = _packetdrill.packetdrill(file, preset=preset, tolerance=tolerance)
        if folder:
            _store.write(replay.tables, replay.provenance, folder)
    if as_json:
        data(document(replay.provenance, replay.tables))
    else:
        summary(str(replay), replay.listings(), replay.summary(), replay.notes())
    if out is not None:
        note(f"wrote the table and provenance to {out}")
    return ExitCode.DIFFERENT if replay.differ or not replay.agree else ExitCode.DONE
