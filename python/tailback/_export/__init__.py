"""Scenarios as input of other tools. Each target is a file with a `TARGET`, and a line in `TARGETS`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from tailback._core import __version__
from tailback._export import mahimahi, mininet, ns3, tc
from tailback._export.changes import follow
from tailback._export.common import omit_common
from tailback._export.network import Network, Omissions
from tailback.errors import UnknownName

__all__ = ["TARGETS", "Export", "exported"]

TARGETS = {target.name: target for target in (tc.TARGET, mahimahi.TARGET, mininet.TARGET, ns3.TARGET)}


@dataclass(frozen=True)
class Export:
    """A scenario as input of another tool.

    Attributes
    ----------
    target : str
        Name of the target.
    text : str
        Content of the file. Its header lists the omissions.
    omissions : tuple of (str, str)
        Parts of the scenario that the file does not express: their paths, such as ``links.bottleneck.jitter``, and what happens
        instead.
    remarks : tuple of (str, str)
        Places of the scenario that the file treats differently without changing the network or its flows.
    file_name : str
        A name for the file.
    """

    target: str
    text: str
    omissions: tuple[tuple[str, str], ...]
    remarks: tuple[tuple[str, str], ...]
    file_name: str

    def __str__(self) -> str:
        return self.text


def exported(description: dict[str, Any], flows: list[dict[str, Any]], target: str) -> Export:
    """Export an expanded scenario.

    Raises
    ------
    UnknownName
        There is no such target.
    """
    if target not in TARGETS:
        raise UnknownName("target", target, TARGETS)
    chosen, network, omitted = TARGETS[target], Network(description, flows), Omissions()
    omit_common(network, description, omitted)
    network.changes = follow(network, description["timeline"], chosen.changes, omitted)
    body = chosen.written(network, omitted)
    stem = re.sub(r"[^A-Za-z0-9]+", "_", network.name).strip("_").lower() or "scenario"
    name = f"{stem}.{chosen.suffix}"
    head = [f"{network.name.splitlines()[0]}, seed {network.seed}: exported by Tailback {__version__} for {target}.", ""]
    comments = "\n".join(f"{chosen.comment} {line}".rstrip() for line in head)
    # The usage has a placeholder for the name of the file.
    usage = chosen.usage.replace("{name}", name).replace("{stem}", stem)
    lines = ["Not exported:", *(f"  {at}: {reason}" for at, reason in omitted)] if omitted else ["Everything is exported."]
    lines += ["Remarks:", *(f"  {at}: {reason}" for at, reason in omitted.remarks)] if omitted.remarks else []
    listed = "\n".join(f"{chosen.comment} {line}" for line in lines)
    return Export(
        target,
        f"{chosen.shebang}{comments}\n{usage}\n{chosen.comment}\n{listed}\n\n{body}",
        tuple(omitted),
        tuple(omitted.remarks),
        name,
    )
