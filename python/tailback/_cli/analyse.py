"""`tailback analyse FILE`: measure what a packet capture, a qlog file, a report of iperf3 or a data file of Flent contains."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import click

from tailback._cli import options
from tailback._cli.output import ExitCode, command, data, document, note, summary
from tailback._progress import ProgressBar

__all__ = ["analyse"]


@click.command
@click.argument(
    "file",
    type=options.PATH,
    help="A packet capture (pcap, pcapng), a qlog file, reports of iperf3 -J or --json-stream, or a data file of Flent.",
)
@options.out
@click.option("--json", "as_json", is_flag=True, help="Print all measurements as one JSON document.")
@click.option(
    "--samples", is_flag=True, help="Include every RTT sample and every change of the bytes in flight in --out and --json."
)
@command
def analyse(file: Path, out: Path | None, as_json: bool, samples: bool) -> ExitCode:
    """Measure the TCP connections in a capture, a qlog file or a report of iperf3, or the series of Flent.

    Without --out, print a summary and write nothing.
    """
    from tailback import _analysis, _store

    with nullcontext() if out is None else _store.staged(out) as folder:
        with ProgressBar(file.name) as bar:
            result = _analysis.analyse(file, samples=samples, progress=bar)
        if folder:
            _store.write(result.tables, result.provenance, folder)
    if as_json:
        data(document(result.provenance, result.tables))
    else:
        summary(str(result), _analysis.listings(result), result.summary(), _analysis.notes(result))
    if out is not None:
        note(f"wrote {len(result.tables)} tables and provenance to {out}")
    if result.damage is not None:
        note(f"{result.damage}; the results up to this point are valid and marked incomplete")
    return ExitCode.DONE if result.complete else ExitCode.INCOMPLETE
