"""`tailback size-buffer [FILE]`: the buffer size that a bottleneck needs, by every sizing rule or by simulation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from tailback._cli import completion, options
from tailback._cli.output import ExitCode, command, data, jsonable, note
from tailback._progress import RunsBar

__all__ = ["size_buffer"]


@click.command
@click.argument("file", type=options.PATH, required=False, help="A scenario that supplies the values not given as options.")
@click.option("--target", required=True, metavar="SHARE", help="Target utilisation of the link: '80 %' or 0.8.")
@click.option("--rate", metavar="RATE", help="Rate of each transmitter: '40 Gbps'.")
@click.option(
    "--base-rtt",
    metavar="TIME",
    help="RTT without queueing delay: '100 ms', or '{uniform = [\"60 ms\", \"180 ms\"]}'.",
)
@click.option("--flows", metavar="N", help="Number of long-lived flows.")
@click.option("--transmitters", metavar="K", help="Number of transmitters that share the buffer; by default 1.")
@click.option("--inputs", metavar="M", help="Number of input links; by default unlimited.")
@click.option("--packet-size", metavar="SIZE", help="Packet size on the wire; by default '1500 B'.")
@click.option("--access-rate", metavar="RATE", help="Rate of each sender's access link.")
@click.option("--paced/--not-paced", default=None, help="Whether senders pace their packets.")
@click.option("--window", metavar="PACKETS", help="Maximum window of a flow, in packets.")
@click.option(
    "--preset",
    multiple=True,
    metavar="NAME",
    shell_complete=completion.words(options.presets),
    help="TCP preset of the flows; repeat for a mix in equal shares. By default flows whose windows halve, as those of Reno.",
)
@click.option("--link", metavar="NAME", help="Link of the scenario whose buffer is sized.")
@click.option(
    "--simulate/--no-simulate",
    default=None,
    help="Find the smallest buffer by simulation; by default if no rule covers the case and the estimated number of "
    "packets is at most 50 million, some 20 s of work.",
)
@click.option("--out", type=options.PATH, metavar="DIR", help="Store the simulated runs in this directory, which is resumed.")
@options.workers
@click.option("--json", "as_json", is_flag=True, help="Print question and answers as one JSON document.")
@click.option("--plot", type=options.PATH, metavar="FILE", help="Plot utilisation over buffer size to this SVG, PNG or PDF.")
@command
def size_buffer(
    file: Path | None,
    target: str,
    rate: str | None,
    base_rtt: str | None,
    flows: str | None,
    transmitters: str | None,
    inputs: str | None,
    packet_size: str | None,
    access_rate: str | None,
    paced: bool | None,
    window: str | None,
    preset: tuple[str, ...],
    link: str | None,
    simulate: bool | None,
    out: Path | None,
    workers: int | None,
    as_json: bool,
    plot: Path | None,
) -> ExitCode:
    """Compute the buffer size that a bottleneck needs, by every sizing rule or by simulation.

    Explains why the rules differ, and which of them applies. Exit code 1 if the simulation finds no buffer, or if the utilisation
    is not monotonic.
    """
    from tailback import plots
    from tailback._scenario import load
    from tailback.prediction._buffer_size import answer, with_simulation
    from tailback.prediction._sizing_case import ask

    if plot is not None:
        plots.require()
    texts = {"target": target, "rate": rate, "packet_size": packet_size, "access_rate": access_rate}
    numbers = {"flows": flows, "transmitters": transmitters, "inputs": inputs, "window": window}
    given: dict[str, Any] = {name: text for name, text in texts.items() if text is not None}
    given |= {name: _number(text) for name, text in numbers.items() if text is not None}
    given["target"] = _number(target)
    if base_rtt is not None:
        given["base_rtt"] = _value(base_rtt)
    if paced is not None:
        given["paced"] = paced
    if preset:
        given["preset"] = list(preset)
    scenario = None if file is None else load(file)
    answers = answer(ask(given, scenario, link, flags=True))
    with RunsBar("simulating") as bar:
        answers = with_simulation(answers, given, scenario, simulate=simulate, out=out, workers=workers, progress=bar)
    if plot is not None:
        plots.save(answers.plot(), plot)
        note(f"drew {plot}")
    data(json.dumps(jsonable(answers.to_dict()), indent=2, allow_nan=False) if as_json else str(answers))
    is_uncertain = answers.simulated is not None and (
        answers.simulated.buffer is None or "monotonic" in answers.simulated.threshold.problem
    )
    return ExitCode.INCOMPLETE if is_uncertain else ExitCode.DONE


def _number(text: str) -> int | float | str:
    """The number that `text` represents; else `text` itself, which the caller rejects with a better message."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _value(text: str) -> Any:
    """A list or a table in the TOML syntax of scenarios; else the text."""
    if not text.lstrip().startswith(("{", "[")):
        return text
    import tomllib

    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
