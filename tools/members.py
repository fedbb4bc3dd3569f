"""Writes a page for each controller and each queue policy, with pictures of one experiment: docs/reference/controllers, docs/reference/policies.

    .venv/bin/python tools/members.py docs [MEMBER...]

Which members there are is read from the JSON Schema, what they say of themselves from docs/reference/settings.md, which the core writes,
and where they stand from the guides, the gallery and the examples. So a new member has its page without a word here; a test
compares the pages with what this makes.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import gallery
from member_experiments import Experiment, controllers, of_controller, over_cells, over_packets, policies
from pictures import svg

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"

CONTROLLERS = """\
# Controllers, one by one

What each congestion controller does with the same link: 50 Mbit/s, a round trip of 40 ms, and 417 waiting places, which is two
and a half bandwidth-delay products. First with one flow; then with a second one that starts at 10 s and has 44 ms. Settings have
their defaults, of which FAST's 200 packets a flow are large for this link; a controller that begins at a rate begins with the
link's. Those made for data centres, Swift and TIMELY, are set for this path, and their receivers delay no acknowledgement. One
that goes by a price has the queue that tells it, the others have drop-tail. Numbers are of the second half of a minute.

Each page has the scenario, all settings and a picture, on the same axes for all, above which slow start may peak.
[Settings](../settings.md) has all settings on one page.
"""

QUEUES = """\
# Queue policies, one by one

What each queue policy does with the same traffic. [Which queue policy, and when?](../policies.md) says what to choose.

**Over packets**: ten flows with round trips of 40 to 80 ms over 50 Mbit/s, with 333 waiting places, and ECN. Senders are Reno, or
those that go by the queue's price where it tells one. A policy that asks for a length of the queue is given 20 % of the buffer,
one that asks for two 10 and 30 %. Numbers are of the last 30 of 40 s.
"""

CELLS = """\

**Over cells**: five Reno flows of 30 Mbit/s each over 75 Mbit/s, with a round trip of 1.2 ms and 1200 waiting places, as in the
topology B of bpd-2001, with its coarse timer. Numbers are of the last 9 of 10 s.
"""


# Where the axes of all pictures end: a little above what a window can be at rest, and what buffers hold.
TOPS = {("windo", False): 650, ("queue", False): 420, ("queue", True): 1210}

NUMBERS = "utilisation | mean queue | 99 % wait at most | lost | marked | goodput, Mbit/s | fairness"


@dataclass(frozen=True)
class Family:
    """Members of one kind.

    Attributes
    ----------
    folder : str
        Of their pages in docs, and of their pictures.
    heading : str
        Of their section in docs/reference/settings.md.
    sources : str
        Folder of their sources.
    key : str
        The keys of a scenario that name one, as a regular expression.
    same, other : str
        What a page says of its experiment, and of the other end where that is not the usual one.
    """

    folder: str
    heading: str
    sources: str
    key: str
    same: str
    other: str
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
        "Controllers",
        "congestion",
        "controller|kind",
        "One flow, and beside it two, of which one starts at 10 s: [the same for all controllers](index.md), on the same scales.",
        "this controller goes by what the queue [`{0}`](../queues/{0}.md) tells.",
        controllers,
        _of_controller,
    ),
    Family(
        "queues",
        "Queue policies",
        "queue",
        "policy",
        "[The same traffic for all policies](index.md), on the same scale.",
        "the senders here have the controller [`{0}`](../controllers/{0}.md).",
        policies,
        _of_queue,
    ),
)


def main(docs: Path, drawn: Container[str] | None = None) -> None:
    """Writes all pages, and the pictures of all members or of those that are `drawn`; removes what is of others."""
    for family in FAMILIES:
        made = dict(pages(family))
        made.update(pictures(family, drawn))
        for folder in (docs / family.folder, docs / "images" / family.folder):
            folder.mkdir(parents=True, exist_ok=True)
            for left in {*folder.iterdir()} - {docs / name for name in made}:
                left.unlink()
        for name, text in made.items():
            (docs / name).write_text(text, encoding="utf-8")


def pages(family: Family) -> Iterator[tuple[str, str]]:
    """Of each member, and of all: where in docs, and the text."""
    for name in family.names():
        yield f"{family.folder}/{name}.md", page(family, name)
    yield f"{family.folder}/index.md", overview(family)


def remarks(family: Family, name: str) -> str:
    """What its code says of it beside what it is and where that is from."""
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
            yield f"images/{family.folder}/{picture}.svg", picture_of(experiment)


def page(family: Family, name: str) -> str:
    said, settings = declared(family.heading)[name]
    parts = [f"# `{name}`\n\n{said}\n\n{remarks(family, name)}Its code is in `{source(family, name)}`.\n", "\n## Settings\n\n"]
    parts.append(settings or "It has none.\n")
    parts.append(f"\n## What it does\n\n{family.same}\n")
    for picture, experiment in family.experiments(name):
        if experiment.partner:
            parts.append(f"\nPrices need both ends: {family.other.format(experiment.partner)}\n")
        parts.append(f"\n```toml\n{experiment.toml}```\n")
        parts.append(f"\n![{name}: {', '.join(experiment.runs)}](../images/{family.folder}/{picture}.svg)\n")
        parts.append(f"\n| | {NUMBERS} |\n|---|{'---|' * (NUMBERS.count('|') + 1)}\n")
        parts += [f"| {title} | {measured(run)} |\n" for title, run in experiment.runs.items()]
    return "".join([*parts, *where(family, name)])


def overview(family: Family) -> str:
    """The page of a family: all members side by side."""
    head = f"{NUMBERS} |\n|---|{'---|' * (NUMBERS.count('|') + 1)}\n"
    if family.folder == "controllers":
        rows: dict[str, list[str]] = {}
        for name in family.names():
            for title, run in of_controller(name).runs.items():
                rows.setdefault(title, []).append(f"| [`{name}`]({name}.md) | {measured(run)} |\n")
        tables = [f"\n| {title} | {head}{''.join(lines)}" for title, lines in rows.items()]
        return "".join([CONTROLLERS, *tables])
    packets, cells = (
        [f"| [`{name}`]({name}.md) | {measured(found.runs[name])} |\n" for name in family.names() if (found := kind(name))]
        for kind in (over_packets, over_cells)
    )
    return "".join([QUEUES, f"\n| packets | {head}", *packets, CELLS, f"\n| cells | {head}", *cells])


@cache
def declared(heading: str) -> dict[str, tuple[str, str]]:
    """What members say of themselves in docs/reference/settings.md: description with source, and the table of their settings."""
    text = (DOCS / "settings.md").read_text(encoding="utf-8")
    section = re.split(r"^## ", text.partition(f"\n## {heading}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]
    found = re.findall(r"^`(\w+)`: (.*)\n(?:\n((?:\|.*\n)+))?", section, flags=re.MULTILINE)
    return {name: (said, settings) for name, said, settings in found}


def source(family: Family, name: str) -> str:
    """The member's file, or folder."""
    path = Path("crates/core/src") / family.sources / name
    return str(path) if (ROOT / path).is_dir() else f"{path}.rs"


def picture_of(experiment: Experiment) -> str:
    """The runs side by side, on the same scales for all members; of a queue alone a few seconds, since more would be a carpet."""
    first, *others = experiment.runs.values()
    end = first.simulated_s
    if first.traces == ["queue"]:
        figure = first.plot("queue", lines="bottleneck", span=(0.6 * end, 0.8 * end))
    else:
        beside = dict(zip(list(experiment.runs)[1:], others, strict=True))
        figure = first.plot(("cwnd", "queue"), lines=("web", "bottleneck"), beside=beside, span=(0, end))
    # A word of a panel's title tells its quantity.
    for axis in figure.axes:
        top = TOPS[axis.get_title(loc="left")[:5], "cells" in first.queues["unit"]]
        axis.set_ylim(-0.02 * top, top)
    return svg(figure)


def measured(run: Any) -> str:
    """A row of numbers."""
    queue, flows = run.queues.where(queue="bottleneck"), run.flows
    lost, marked = (queue[column][0] / max(queue["arrived_units"][0], 1) for column in ("discarded_units", "marked_units"))
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
    """Guides, pictures and examples that use a member, or name it."""
    used = re.compile(rf"""\b(?:{family.key})["']?\s*[=:]\s*["']{name}["']""")
    named = used if name in words() else re.compile(rf"{used.pattern}|(?<!\w)(?:{called(name)})(?!\w)")
    counts = {place: len(named.findall(_text(DOCS / place[0]))) for place in guide_pages()}
    most = sorted((place for place, count in counts.items() if count), key=lambda place: -counts[place])[:4]
    guides = [f"[{title}](../{at})" for at, title in most]
    shown = [f"[{one.title}](../gallery.md#{anchor(one.title)})" for one in gallery.scripts() if used.search(one.code)]
    examples = [f"`examples/{path.name}`" for path in sorted((ROOT / "examples").glob("*.toml")) if used.search(_text(path))]
    lists = {"Guides and concepts that name it most": guides, "Gallery": shown, "Examples": examples}
    if any(lists.values()):
        yield "\n## Where it is used\n\n"
        yield from (f"* {title}: {', '.join(places)}.\n" for title, places in lists.items() if places)


def called(name: str) -> str:
    """As texts call it, as a regular expression: `fast` is FAST, `bbrv1` BBR, `pie` PIE, `drop_tail` drop-tail, `codel` CoDel."""
    plain = re.sub(r"v\d$", "", name)
    if "_" in plain:
        return f"(?i:{plain.replace('_', '[-_ ]')})"
    return f"`{name}`|{plain[0].upper()}(?i:{plain[1:]})"


@cache
def words() -> set[str]:
    """Names of settings: in a text they say nothing of a member that is called the same."""
    return {setting for forms in (controllers(), policies()) for form in forms.values() for setting in form["properties"]}


@cache
def guide_pages() -> list[tuple[str, str]]:
    """The pages that docs/index.md has as guides and concepts, and their titles; not those that tools write."""
    index = _text(DOCS / "index.md")
    listed = [page for section in ("Guides", "Concepts") for page in _listed(index, section) if page != "gallery"]
    return [(f"{page}.md", re.findall(r"^# (.*)", _text(DOCS / f"{page}.md"), re.MULTILINE)[0]) for page in listed]


def _listed(index: str, section: str) -> list[str]:
    """The pages in a section of docs/index.md."""
    text = index.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\* \[[^]]+\]\((\S+)\.md\)", text, re.MULTILINE)


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def anchor(title: str) -> str:
    """As Markdown makes it of a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:] or None)
