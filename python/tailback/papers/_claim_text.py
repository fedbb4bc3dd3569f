"""Text of judged claims for tables and reports."""

from __future__ import annotations

from tailback.papers._outcome import Judged, Verdict
from tailback.papers._requirement import MAX_SEEDS, Finding

__all__ = ["HEAD", "cells", "failures", "finding_label", "left_to_full_form", "number", "seeds_needed", "summary"]

HEAD = ("claim", "kind", "", "text", "published", "measured", "requirement", "seeds", "seeds needed")


def cells(verdict: Verdict) -> tuple[str, ...]:
    """The cells of a claim in a table under `HEAD`."""
    claim = verdict.claim
    published = "" if claim.published is None else f"{claim.published:g}"
    said = (
        claim.id,
        claim.kind.replace("_", " "),
        finding_label(verdict),
        verdict.text,
        published,
        number(verdict),
        str(claim.must),
    )
    return (*said, str(verdict.seeds), seeds_needed(verdict))


def number(verdict: Verdict | Judged) -> str:
    """The measured mean and its interval: ``0.932 [0.93, 0.934]``."""
    interval = verdict.interval
    if interval.half == 0:
        return f"{interval.mean:.4g}"
    return f"{interval.mean:.4g} [{interval.low:.4g}, {interval.high:.4g}]"


def seeds_needed(verdict: Verdict) -> str:
    """Number of seeds that decides a claim, assuming the mean and deviation of the completed runs."""
    return f"> {MAX_SEEDS}" if verdict.decided_by is None else str(verdict.decided_by)


def seeds_used(verdict: Verdict) -> str:
    """``10 seeds; 4 needed``. A deterministic measure has one run and no seeds."""
    return "1 deterministic run" if verdict.seeds == 1 else f"{verdict.seeds} seeds; {seeds_needed(verdict)} needed"


def finding_label(verdict: Verdict) -> str:
    """The finding of a claim, in capitals if it differs from the expected one."""
    if verdict.claim.kind == "not_reproduced" and verdict.holds:
        return "holds after all"
    if verdict.finding == "cannot tell" and verdict.settings[0].finding == "contradicted" and len(verdict.settings) == 1:
        label = "contradicted in our setting"
    elif verdict.finding == "cannot tell" and (holding := sum(judged.finding == "holds" for judged in verdict.settings)):
        label = f"holds in {holding} of {len(verdict.settings)} settings, undecided in the others"
    else:
        label = verdict.finding
    return label if verdict.holds or verdict.claim.kind != "reproduced" else label.upper()


def summary(claims: list[Verdict]) -> str:
    """Summary of claims by finding: statements of documents first, then additional claims."""
    said = [verdict for verdict in claims if not verdict.claim.ours]
    ours = [verdict for verdict in claims if verdict.claim.ours]
    parts = [_counted(said, "statement"), _counted(ours, "additional claim", "additional claims")]
    return "; ".join(part for part in parts if part) or "no claims"


def _counted(claims: list[Verdict], one: str, many: str = "") -> str:
    """``46 statements: 40 hold, 4 hold in some settings, 2 are contradicted``; empty for no claims."""
    if not claims:
        return ""
    found = {finding: sum(verdict.finding == finding for verdict in claims) for finding in _VERBS}
    parts = [f"{count} {verbs[count > 1]}" for finding, verbs in _VERBS.items() if (count := found[finding])]
    return f"{len(claims)} {one if len(claims) == 1 else many or one + 's'}: {', '.join(parts)}"


_VERBS: dict[Finding, tuple[str, str]] = {
    "holds": ("holds", "hold"),
    "depends": ("holds in some settings", "hold in some settings"),
    "contradicted": ("is contradicted", "are contradicted"),
    "cannot tell": ("is undecided", "are undecided"),
}


def failures(failed: list[Verdict]) -> str:
    """A sentence about ``reproduced`` claims that do not hold; empty if there are none."""
    if not failed:
        return ""
    return f"{len(failed)} reproduced {'claims do' if len(failed) > 1 else 'claim does'} not hold: {_with_seeds(failed)}"


def left_to_full_form(left: list[Verdict]) -> str:
    """A sentence about ``reproduced`` claims that quick forms leave undecided; empty if there are none."""
    if not left:
        return ""
    claims = "claims are" if len(left) > 1 else "claim is"
    return (
        f"{len(left)} reproduced {claims} undecided by the quick form, which has fewer seeds than `--full`: {_with_seeds(left)}"
    )


def _with_seeds(verdicts: list[Verdict]) -> str:
    return ", ".join(f"{verdict.claim.id} ({verdict.finding} by {seeds_used(verdict).replace(';', ',')})" for verdict in verdicts)
