"""The report of drawn scenarios in Markdown."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tailback._validation.draws import KINDS, distributions, label
from tailback._validation.judged import JudgedDraw
from tailback._validation.judging import LIMITS, Judgement, Result
from tailback._validation.page import table

__all__ = ["markdown"]

_WIDTH = 130
_HOW = (
    "A measure is *within* if the means differ by at most its limit. Outside it is *undecided* with less than three standard "
    "errors between the means, and otherwise *outside*. Shares are those of the decided draws. The first packet that differs is "
    "that of the run with seed 1; times count from the first packet of the run. With random losses the same loss can hit "
    "another packet, so that this packet is a consequence."
)


def markdown(
    head: str, draws: Sequence[JudgedDraw], worst: Sequence[JudgedDraw], failed: Mapping[str, str], missing: Sequence[str]
) -> str:
    """The whole report."""
    parts = ["# Drawn scenarios: kernel and presets", "\n".join(textwrap.wrap(f"{head}. {_HOW}", _WIDTH)), by_measure(draws)]
    parts += ["## Kinds", "Draws within the limit, of the decided ones.", by_kind(draws)]
    if any(drawn.differs for drawn in draws):
        parts += ["## First packet that differs", by_cause(draws), "## Largest differences", "\n".join(map(_item, worst))]
    reasons = distributions()["not_run"].items()
    parts += ["## Not run", "\n".join(f"* `{kind}`: {reason}" for kind, reason in reasons)]
    if failed:
        parts += ["## Failed draws", "\n".join(f"* {name}: {error}" for name, error in failed.items())]
    if missing:
        parts += ["## Draws without kernel runs", "\n".join(f"* {name}" for name in missing)]
    return "\n\n".join(parts) + "\n"


def by_measure(draws: Sequence[JudgedDraw]) -> str:
    """A table of the shares within the limits."""
    rows = []
    for name, limit in LIMITS.items():
        found = [each for drawn in draws for each in drawn.judgements if each.measure == name]
        if found:
            absolute = f" or {limit.absolute:g} {found[0].unit}".rstrip() if limit.absolute else ""
            undecided = sum(each.result is Result.UNDECIDED for each in found)
            within = sum(each.result is Result.WITHIN for each in found)
            share = _per_cent(within, len(found) - undecided)
            unclear = _per_cent(undecided, len(found))
            rows.append([name, f"{limit.share:.0%}{absolute}", str(len(found)), str(within), share, str(undecided), unclear])
    return table(["measure", "limit", "draws", "within", "of the decided", "undecided", "of all"], rows)


def by_kind(draws: Sequence[JudgedDraw]) -> str:
    """A table of the draws within the limits by kind and measure."""
    rows = []
    for kind in KINDS:
        chosen = [drawn for drawn in draws if kind in drawn.kinds]
        cells = []
        for name in LIMITS:
            found = [each for drawn in chosen for each in drawn.judgements if each.measure == name]
            within = sum(each.result is Result.WITHIN for each in found)
            decided = sum(each.result is not Result.UNDECIDED for each in found)
            cells.append(f"{within} of {decided}" if decided else "")
        rows.append([kind, str(len(chosen)), *cells])
    return table(["kind", "draws", *LIMITS], rows)


def by_cause(draws: Sequence[JudgedDraw]) -> str:
    """A table of the draws outside a limit by the kind of the first packet that differs, the most frequent one first."""
    causes: dict[str, list[JudgedDraw]] = {}
    for drawn in draws:
        if drawn.differs:
            unknown = "error" if drawn.problem else "none with seed 1"
            causes.setdefault(drawn.packet["cause"] if drawn.packet else unknown, []).append(drawn)
    rows = []
    for cause, found in sorted(causes.items(), key=lambda pair: -len(pair[1])):
        names = [drawn.settings["name"] for drawn in found]
        more = f" and {len(names) - 8} more" if len(names) > 8 else ""
        rows.append([cause, str(len(found)), ", ".join(names[:8]) + more])
    return table(["first difference", "draws", "which"], rows)


def _item(drawn: JudgedDraw) -> str:
    lines = [f"* **{drawn.settings['name']}**: {label(drawn.settings)}"]
    lines += [f"  * {_values(each)}" for each in drawn.judgements if each.result is Result.OUTSIDE]
    lines += _packet(drawn.packet)
    if drawn.reduced and drawn.reduced["steps"]:
        real, made = drawn.reduced["values"]
        lines.append(f"  * reduced ({', '.join(drawn.reduced['steps'])}) to: {label(drawn.reduced['settings'])}")
        lines.append(f"    * {drawn.worst_measure} {real:.4g} → {made:.4g}")
        lines += [f"  {line}" for line in _packet(drawn.reduced["packet"])]
    if drawn.problem:
        lines.append(f"  * error: {drawn.problem}")
    return "\n".join(lines)


def _values(each: Judgement) -> str:
    difference = f", {each.difference:+.1%}" if math.isfinite(each.difference) else ""
    unit = f" {each.unit}" if each.unit else ""
    return f"{each.measure} {each.kernel:.4g} → {each.simulated:.4g}{unit}{difference}"


def _packet(packet: Mapping[str, Any] | None) -> Iterator[str]:
    if packet is not None:
        event = packet["event"]
        sides = ((event["left"], event["left_s"]), (event["right"], event["right_s"]))
        texts = ["sends nothing more" if time is None else f"{text} at {time:.6f} s" for text, time in sides]
        where = f"`{packet['flow']}`, data packet {packet['number']}"
        yield f"  * {packet['cause']}: {where}: the kernel {texts[0]}, the simulator {texts[1]}"


def _per_cent(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else ""
