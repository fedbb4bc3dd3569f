"""Writes a page for each controller and each queue policy, with pictures of one experiment.

    .venv/bin/python tools/members.py docs [MEMBER...]

Pages are written to docs/reference/controllers and docs/reference/policies. Members, descriptions and settings come from the JSON
Schema; notes come from the module comment of the member's source file. A test compares the pages with the output of this script.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import gallery
import tailback as tb
from member_experiments import Experiment, controllers, of_controller, over_cells, over_packets, policies
from pictures import svg
from reference import members
from tailback.errors import StarvationWarning

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"

CONTROLLERS = """\
# Congestion controllers

`controller` of a flow's [`tcp`](../scenario/tcp.md) is a name, or a table with settings: `controller = {kind = "fast", alpha =
20}`. Each page below describes one controller: settings, notes on its source, and its behaviour in the experiment of this page.

**Experiment**: a bottleneck of 50 Mbit/s, a round-trip time of 40 ms, and a buffer of 417 packets (2.5 bandwidth-delay
products). The first run has one flow. In the second run a second flow with a round-trip time of 44 ms starts at 10 s. Settings
have their defaults; FAST's default of 200 packets per flow is large for this link. Swift and TIMELY, which are designed for
data centres, are configured for this path, and their receivers do not delay ACKs. Controllers that react to prices use the
queue policy that provides them; all others use drop-tail. Numbers cover the second half of one minute.

```toml
name = "one flow"
duration = "60 s"
warmup = "30 s"

[topology.dumbbell]
rate = "50 Mbps"
delay = "10 ms"
queue = {policy = "drop_tail", buffer = "417 packets"}

[flows.web]
from = "left"
to = "right"
propagation_rtt = "40 ms"
tcp = {preset = "sack", controller = {kind = "reno"}, timestamps = true}
```
"""

POLICIES = """\
# Queue policies

`policy` of a [`queue`](../scenario/queue.md), with its settings in the same table:
`queue = {buffer = "80 packets", policy = "red", min_threshold = "25 %", max_threshold = "75 %"}`. Each page below describes one
policy: settings, notes on its source, and its behaviour in the experiment of this page.
[Queue policies](../../howto/policies.md) helps to choose one.

**Packets**: ten ECN-capable flows with round-trip times of 40 to 80 ms share 50 Mbit/s and a buffer of 333 packets. Senders run
Reno, or the controller that uses the policy's price. Policies with one queue-length threshold use 20 % of the buffer, those
with two use 10 % and 30 %. Numbers cover the last 30 of 40 s.

```toml
name = "packets"
duration = "40 s"
warmup = "10 s"

[topology.dumbbell]
rate = "50 Mbps"
delay = "10 ms"
queue = {policy = "red", buffer = "333 packets", min_threshold = "10 %", max_threshold = "30 %"}

[flows.web]
count = 10
from = "left"
to = "right"
propagation_rtt = {evenly = ["40 ms", "80 ms"]}
start = {uniform = ["0 s", "1 s"]}
tcp = {preset = "sack", controller = {kind = "reno"}, ecn = true}
```
"""

CELLS = """\

**Cells**: five Reno flows of 30 Mbit/s each share 75 Mbit/s, with a round-trip time of 1.2 ms, a buffer of 1200 cells and a
coarse retransmission timer, as in topology B of bpd-2001. Numbers cover the last 9 of 10 s.
"""


# Upper ends of the axes of all pictures: above the largest steady window, and above the buffer.
TOPS = {("windo", False): 650, ("queue", False): 420, ("queue", True): 1210}

NUMBERS = "Utilisation | Mean queue | 99th percentile of delay | Lost | Marked | Goodput (Mbit/s) | Fairness"


@dataclass(frozen=True)
class Family:
    """The members of one kind.

    Attributes
    ----------
    folder : str
        Folder of their pages in docs/reference.
    pictures : str
        Folder of their pictures in docs/images.
    table : str
        Table of the JSON Schema that selects a member.
    sources : str
        Folder of their source files.
    key : str
        Keys of a scenario that name a member, as a regular expression.
    partner : str
        Sentence on the other end of the experiment where it is not the default.
    """

    folder: str
    pictures: str
    table: str
    sources: str
    key: str
    partner: str
    names: Callable[[], dict[str, Any]]
    experiments: Callable[[str], Iterator[tuple[str, Experiment]]]


def _of_controller(name: str) -> Iterator[tuple[str, Experiment]]:
    yield name, of_controller(name)


def _of_queue(name: str) -> Iterator[tuple[str, Experiment]]:
    """A policy may be tried over packets, over cells, or over both."""
    packets, cells = over_packets(name), over_cells(name)
    if packets:
        yield name, packets
    if cells:
        yield f"{name}_cells" if packets else name, cells


FAMILIES = (
    Family(
        "controllers",
        "controllers",
        "ControllerTable",
        "congestion",
        "controller|kind",
        "This controller reacts to the signals of the queue policy [`{0}`](../policies/{0}.md).",
        controllers,
        _of_controller,
    ),
    Family(
        "policies",
        "queues",
        "Queue",
        "queue",
        "policy",
        "Senders use the controller [`{0}`](../controllers/{0}.md), which reacts to this policy's price.",
        policies,
        _of_queue,
    ),
)


def main(docs: Path, drawn: Container[str] | None = None) -> None:
    """Writes all pages, and the pictures of all members or of those that are `drawn`; removes what is of others."""
    # Members are compared under the same conditions, which do not suit all of them.
    warnings.filterwarnings("ignore", "`ecn` has no effect", tb.ScenarioWarning)
    warnings.simplefilter("ignore", StarvationWarning)
    for family in FAMILIES:
        made = dict(pages(family))
        made.update(pictures(family, drawn))
        for folder in (docs / "reference" / family.folder, docs / "images" / family.pictures):
            folder.mkdir(parents=True, exist_ok=True)
            for left in {*folder.iterdir()} - {docs / name for name in made}:
                left.unlink()
        for name, text in made.items():
            (docs / name).write_text(text, encoding="utf-8")


def pages(family: Family) -> Iterator[tuple[str, str]]:
    """Of each member, and of all: where in docs, and the text."""
    for name in family.names():
        yield f"reference/{family.folder}/{name}.md", page(family, name)
    yield f"reference/{family.folder}/index.md", overview(family)


def remarks(family: Family, name: str) -> str:
    """The remarks in the module comment of its source file."""
    path = ROOT / source(family, name)
    head = re.match(r"(?://!.*\n)*", (path / "mod.rs" if path.is_dir() else path).read_text(encoding="utf-8"))
    lines = [line.removeprefix("//!").strip() for line in head.group().splitlines()] if head else []
    _, *paragraphs = " ".join(line or "\n" for line in lines).split("\n")
    told = [
        re.sub(r"\[(`[^`]+`)\](\([^)]*\))?", r"\1", text).strip().replace("Differs: ", "**Differs from its source**: ")
        for text in paragraphs
    ]
    return "".join(f"{text}\n\n" for text in told)


def pictures(family: Family, drawn: Container[str] | None) -> Iterator[tuple[str, str]]:
    for name in family.names():
        if drawn is not None and name not in drawn:
            continue
        for picture, experiment in family.experiments(name):
            yield f"images/{family.pictures}/{picture}.svg", picture_of(experiment)


def page(family: Family, name: str) -> str:
    description, settings = members(family.table, "../scenario/")[name]
    parts = [f"# `{name}`\n\n{description}\n\n{remarks(family, name)}Code: `{source(family, name)}`.\n", "\n## Settings\n"]
    parts.append(settings or "\nNone.\n")
    parts.append("\n## Behaviour\n\n[Experiment and results](index.md).\n")
    for picture, experiment in family.experiments(name):
        if experiment.partner:
            parts.append(f"\n{family.partner.format(experiment.partner)}\n")
        parts.append(f"\n{configured(family, experiment)}\n")
        parts.append(f"\n![{name}: {', '.join(experiment.runs)}](../../images/{family.pictures}/{picture}.svg)\n")
    return "".join([*parts, *where(family, name)])


def configured(family: Family, experiment: Experiment) -> str:
    """The lines of the experiment that select the member."""
    key = "tcp" if family.folder == "controllers" else "queue"
    lines = [line for line in experiment.toml.splitlines() if line.startswith(f"{key} = ")]
    return "\n".join(f"`{line}`" for line in lines)


def overview(family: Family) -> str:
    """The index of a family: a table of all members, and their results in the experiment."""
    head = f"{NUMBERS} |\n|---|{'---|' * (NUMBERS.count('|') + 1)}\n"
    if family.folder == "controllers":
        rows: dict[str, list[str]] = {}
        for name in family.names():
            for title, run in of_controller(name).runs.items():
                rows.setdefault(title, []).append(f"| [`{name}`]({name}.md) | {measured(run)} |\n")
        tables = [f"\n## {title.capitalize()}\n\n| Controller | {head}{''.join(lines)}" for title, lines in rows.items()]
        return "".join([CONTROLLERS, *tables])
    packets, cells = (
        [f"| [`{name}`]({name}.md) | {measured(found.runs[name])} |\n" for name in family.names() if (found := kind(name))]
        for kind in (over_packets, over_cells)
    )
    return "".join([POLICIES, f"\n| Policy | {head}", *packets, CELLS, f"\n| Policy | {head}", *cells])


def source(family: Family, name: str) -> str:
    """The member's file, or folder."""
    path = Path("crates/core/src") / family.sources / name
    return str(path) if (ROOT / path).is_dir() else f"{path}.rs"


def picture_of(experiment: Experiment) -> str:
    """The runs side by side, on the same scales for all members; of a queue alone a few seconds, since more would be a carpet."""
    first, *others = experiment.runs.values()
    end = first.simulated_s
    if first.traces == ["queue"]:
        figure = first.plot("queue", lines="bottleneck", time_range=(0.6 * end, 0.8 * end))
    else:
        compared = dict(zip(list(experiment.runs)[1:], others, strict=True))
        figure = first.plot(("cwnd", "queue"), lines=("web", "bottleneck"), compare=compared, time_range=(0, end))
    # The title of a panel begins with its quantity.
    for axis in figure.axes:
        top = TOPS[axis.get_title()[:5], "cells" in first.queues["unit"]]
        axis.set_ylim(-0.02 * top, top)
    return svg(figure)


def measured(run: Any) -> str:
    """A row of numbers."""
    queue, flows = run.queues.where(queue="bottleneck"), run.flows
    lost, marked = (queue[column][0] / max(queue["arrived_units"][0], 1) for column in ("dropped_units", "marked_units"))
    shares = [f"{goodput / 1e6:.1f}" for goodput in flows["goodput_bps"]] if len(flows) <= 2 else []
    numbers = (
        f"{100 * queue['utilisation'][0]:.1f} %",
        f"{queue['mean_queue_units'][0]:.1f} {queue['unit'][0]}",
        f"{1e3 * queue['wait_p99_s'][0]:.1f} ms",
        share(lost),
        share(marked),
        " and ".join(shares) or f"{run.groups['goodput_bps'][0] / 1e6:.1f}",
        f"{run.groups['fairness'][0]:.3f}" if len(flows) > 1 else "",
    )
    return " | ".join(numbers)


def share(part: float) -> str:
    return "0" if part == 0 else f"{100 * part:.2g} %"


def where(family: Family, name: str) -> Iterator[str]:
    """Gallery pictures and examples that use a member."""
    used = re.compile(rf"""\b(?:{family.key})["']?\s*[=:]\s*["']{name}["']""")
    shown = [f"[{one.title}](../../howto/gallery.md#{anchor(one.title)})" for one in gallery.scripts() if used.search(one.code)]
    examples = [f"`examples/{path.name}`" for path in sorted((ROOT / "examples").glob("*.toml")) if used.search(_text(path))]
    lists = {"Gallery": shown, "Examples": examples}
    if any(lists.values()):
        yield "\n## See also\n\n"
        yield from (f"* {title}: {', '.join(places)}.\n" for title, places in lists.items() if places)


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def anchor(title: str) -> str:
    """As Markdown makes it of a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:] or None)
