"""`tailback emulate FILE -- COMMAND`: send real packets through the queues and links of a scenario."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tailback._cli import options
from tailback._cli.output import ExitCode, command, data, document, note
from tailback._cli.run import show
from tailback._cli.user_code import load_code
from tailback._progress import ProgressBar
from tailback.errors import ParameterError

if TYPE_CHECKING:
    from tailback._emulation import Command, Emulated
    from tailback._scenario import Scenario

__all__ = ["emulate"]


@click.command
@options.file
@click.argument("arguments", nargs=-1, metavar="[-- COMMAND...]", help="A command to run on a node.")
@click.option("--node", metavar="NODE", help="Node that runs COMMAND; by default the source of the scenario's first flow group.")
@click.option("--run-on", multiple=True, metavar="NODE:COMMAND", help="Run another command on a node, quoted as NODE:COMMAND.")
@click.option(
    "--server", multiple=True, metavar="NODE:COMMAND", help="Start a server first; the emulation does not wait for it to exit."
)
@click.option(
    "--kernel-flows",
    multiple=True,
    metavar="GROUP",
    help="Run this flow group on the kernel's TCP stack instead of simulating it.",
)
@click.option(
    "--sysctl", multiple=True, metavar="KEY=VALUE", help="Set a sysctl on every emulated host, such as net.ipv4.tcp_ecn=1."
)
@options.out
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print all measurements as one JSON document; the output of commands goes to stderr.",
)
@click.option(
    "--capture", type=options.PATH, metavar="FILE", help="Write the packets of every host's interface to a pcapng file."
)
@options.seed
@options.code
@command
def emulate(
    file: Path,
    arguments: tuple[str, ...],
    node: str | None,
    run_on: tuple[str, ...],
    server: tuple[str, ...],
    kernel_flows: tuple[str, ...],
    sysctl: tuple[str, ...],
    out: Path | None,
    as_json: bool,
    capture: Path | None,
    seed: int | None,
    code: tuple[Path, ...],
) -> ExitCode:
    """Run commands on the nodes of a scenario, in real time. Linux only.

    Every node becomes a Linux host with the node's name. The packets of its commands cross the queues and links of the
    scenario, together with the simulated flows. The emulation ends when all commands except servers have exited, or after the
    scenario's duration.
    """
    from tailback import _store
    from tailback._emulation import emulate as emulated
    from tailback._run import Interrupted
    from tailback._scenario import load

    load_code(code)
    scenario = load(file)
    commands = [_node_command(text, server=True) for text in server] + [_node_command(text, server=False) for text in run_on]
    if arguments:
        commands.append(_command(node or _first_node(scenario), list(arguments)))
    exit_code = ExitCode.DONE
    with nullcontext() if out is None else _store.staged(out) as folder:
        try:
            with ProgressBar(file.name) as bar:
                result = emulated(
                    scenario,
                    commands,
                    kernel_flows=kernel_flows,
                    seed=seed,
                    sysctls=dict(_sysctl(text) for text in sysctl),
                    stdout=2 if as_json else 1,
                    capture=capture,
                    progress=bar,
                )
        except Interrupted as stopped:
            from typing import cast

            result, exit_code = cast("Emulated", stopped.run), ExitCode.INTERRUPTED
        if folder:
            _store.write(result.tables, result.provenance, folder)
    if as_json:
        data(document(result.provenance, result.tables))
    else:
        show(result)
    if out is not None:
        note(f"wrote {len(result.tables)} tables and provenance to {out}")
    if exit_code is ExitCode.INTERRUPTED:
        note(f"interrupted at {result.simulated_s:g} s; the measurements up to this time are stored and marked incomplete")
        return exit_code
    return _exit_code(result)


def _exit_code(result: Emulated) -> ExitCode:
    """The exit code of an emulation; prints a note for each failure."""
    code = ExitCode.DONE
    for end in result.commands:
        if end.code is None and not end.server:
            note(f"`{end.command}` at {end.node} was still running at the end of the scenario's duration, and was stopped")
            code = ExitCode.RUNS_FAILED
        elif end.code and not end.server:
            how = f"exited with {end.code}" if end.code > 0 else f"was ended by signal {-end.code}"
            note(f"`{end.command}` at {end.node} {how}")
            code = ExitCode.RUNS_FAILED
        elif end.code is not None and end.server:
            note(f"the server `{end.command}` at {end.node} exited with {end.code} before the end of the emulation")
    for transfer in zip(*result.transfers.to_dict().values(), strict=True):
        if transfer[-1]:
            note(f"{transfer[0]}[{transfer[1]}], a kernel flow: {transfer[-1]}")
            code = ExitCode.RUNS_FAILED
    if not result.measured:
        note("error: nothing was measured: the emulation ended within the scenario's warm-up")
        code = ExitCode.RUNS_FAILED
    if result.capture_problem:
        note(f"error: {result.capture_problem}")
        code = ExitCode.RUNS_FAILED
    if not result.kept_up:
        note("error: this machine could not keep up with real time; the results do not represent the scenario")
        code = ExitCode.RUNS_FAILED
    return code


def _node_command(text: str, *, server: bool) -> Command:
    node, colon, rest = text.partition(":")
    if not colon or not node or not rest.strip():
        raise ParameterError(f"`{text}` is not a node and a command; expected for example `right:iperf3 -s`")
    return _command(node, rest.strip(), server=server)


def _command(node: str, words: str | list[str], *, server: bool = False) -> Command:
    from tailback._emulation import Command

    return Command(node, words, server)


def _sysctl(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise ParameterError(f"`{text}` is not a sysctl; expected for example `net.ipv4.tcp_ecn=1`")
    return key, value


def _first_node(scenario: Scenario) -> str:
    flows = scenario.normalised().get("flows", {})
    for flow in flows.values():
        return str(flow["from"])
    raise ParameterError("the scenario has no flows, so the command has no default node; choose one with --node")
