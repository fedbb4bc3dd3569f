"""Claims in words, as tables and reports show them."""

from __future__ import annotations

from collections import Counter

from tailback.papers._outcome import Contrasted, Verdict

__all__ = ["HEAD", "number", "row", "sentence", "word"]

HEAD = ("claim", "kind", "", "says", "published", "measured", "must be")


def row(verdict: Verdict) -> tuple[str, ...]:
    """A claim as the cells of a table under `HEAD`."""
    claim = verdict.claim
    published = "" if claim.published is None else f"{claim.published:g}"
    return (claim.id, claim.kind, word(verdict), verdict.text, published, number(verdict), str(claim.must))


def number(verdict: Verdict | Contrasted) -> str:
    """What was measured and its interval: ``0.932 [0.93, 0.934]``."""
    interval = verdict.interval
    if interval.half == 0:
        return f"{interval.mean:.4g}"
    return f"{interval.mean:.4g} [{interval.low:.4g}, {interval.high:.4g}]"


def word(verdict: Verdict) -> str:
    """What became of a claim."""
    if verdict.claim.kind == "R":
        return "holds" if verdict.holds else "FAILS"
    if verdict.claim.kind == "N":
        return "holds after all" if verdict.holds else "not reproduced"
    if not verdict.holds:
        return "not shown"
    return "shown" if verdict.shown else "holds in both settings"


def sentence(claims: list[Verdict]) -> str:
    """The verdict over some claims."""
    total = Counter(verdict.claim.kind for verdict in claims)
    held = Counter(verdict.claim.kind for verdict in claims if verdict.shown)
    parts = []
    if total["R"]:
        parts.append(f"{held['R']} of {total['R']} robust claims hold")
    if total["S"]:
        parts.append(f"{held['S']} of {total['S']} that need a special setting hold there and fail in the contrasting one")
    if total["N"]:
        parts.append(
            f"{total['N'] - held['N']} of {total['N']} that were not obtained in any setting are not obtained here either"
        )
    return "; ".join(parts) or "no claims"
