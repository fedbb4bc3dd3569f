"""`tailback kernel build | list | remove`: Linux kernels for the stack `linux`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from tailback._cli import options
from tailback._cli.output import Commands, ExitCode, command, data, note, termination_as_interrupt

__all__ = ["kernel"]


@click.group(cls=Commands)
def kernel() -> None:
    """Build, list and remove Linux kernels, which scenarios use as `tcp = {stack = "linux"}`."""


@kernel.command()
@click.option(
    "--source",
    type=options.PATH,
    metavar="FILE",
    help="Archive with the source of a Linux kernel; by default that of the newest installed package linux-source-* of Debian.",
)
@click.option("--hz", type=options.WholeNumber(100, 1000), default=1000, metavar="N", help="Timer ticks per second.")
@command
def build(source: Path | None, hz: int) -> ExitCode:
    """Build a Linux kernel from its unmodified source.

    The kernel runs as a process of yours, in virtual time. Building takes about 6 CPU minutes and 2.5 GB of disk, and needs gcc,
    make, flex, bison and bc. Nothing is downloaded.
    """
    from tailback._kernels import Build, plan

    planned = plan(source, hz)
    note(planned.text())
    with termination_as_interrupt():
        built = Build(planned, lambda step: note(f"  {step}")).run()
    note(f"built {built.path}")
    data(built.name)
    return ExitCode.DONE


@kernel.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print the manifests as JSON.")
@command
def list_kernels(as_json: bool) -> ExitCode:
    """List the built kernels."""
    from tailback._kernels import kernels

    found = kernels()
    if as_json:
        data(json.dumps([each.described() for each in found], indent=2))
        return ExitCode.DONE
    for each in found:
        data(
            f"{each.name}  {each.manifest['source']}  {each.manifest['linux_sha256'][:12]}  {each.size / 1e6:.1f} MB  {each.path}"
        )
    if not found:
        note("no kernels; `tailback kernel build` builds one")
    return ExitCode.DONE


@kernel.command()
@click.argument("name", help="Name of a kernel, for example 6.12.30-hz1000.")
@command
def remove(name: str) -> ExitCode:
    """Remove a built kernel."""
    from tailback import _kernels

    note(f"removed {_kernels.remove(name).path}")
    return ExitCode.DONE
