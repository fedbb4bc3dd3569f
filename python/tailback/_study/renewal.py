"""The content hashes of a plan after a change of the core or of user code."""

from __future__ import annotations

from pathlib import Path

from tailback import _core
from tailback._study.ledger import Ledger
from tailback.errors import StudyError
from tailback.user_code._registry import provenance_of

__all__ = ["code_of", "renew_hashes"]


def code_of(ledger: Ledger) -> list[tuple[str, str]]:
    """Kind and name of all user code in the plan."""
    texts = (text for *_, text in ledger.points() if '"user:' in text)
    return sorted({(kind, name) for text in texts for kind, name, _ in _core.named_user_code(text, "", "json")})


def renew_hashes(directory: Path, ledger: Ledger, *, refresh: bool) -> None:
    """Check that the plan was made with the current core and user code, or adopt them with `refresh`."""
    texts = {point: text for point, _, text in ledger.points()}
    seeds: dict[int, dict[int, str]] = {}
    for row in ledger.runs():
        seeds.setdefault(row.point, {})[row.seed] = row.content_hash
    stale = []
    for point, known in seeds.items():
        hashes = _core.content_hashes(texts[point], "", "json", list(known))
        stale += [(point, seed, now) for (seed, before), now in zip(known.items(), hashes, strict=True) if now != before]
    if stale and not refresh:
        raise StudyError(f"{_outdated(directory, ledger, {point for point, _, _ in stale})}; or start a new study")
    ledger.rehash(stale)


def _outdated(directory: Path, ledger: Ledger, stale: set[int]) -> str:
    """Why runs are stale, and the command that repeats them."""
    before = {(code["kind"], code["name"]): code for code in ledger.code}
    now = provenance_of(code_of(ledger))
    changed = [code for code in now if code["sha256"] != before.get((code["kind"], code["name"]), code)["sha256"]]
    names = {(code["kind"], code["name"]) for code in changed}
    texts = {point: text for point, _, text in ledger.points()}
    of_changed = {
        point for point in stale if names & {(kind, name) for kind, name, _ in _core.named_user_code(texts[point], "", "json")}
    }
    runs = list(ledger.runs())
    repeated = sum(row.point in stale for row in runs)
    why = "" if of_changed == stale else f"another core (Tailback {ledger.plan['version']})"
    if changed:
        listed = " and the ".join(f"{code['kind']} `{code['name']}` (`{code['class']}`)" for code in changed)
        why += (" and " if why else "") + f"another version of the {listed}"
    return (
        f"`{directory}` was planned with {why}, so its runs are not comparable with new ones. "
        f"`tailback study resume --refresh {directory}` repeats {repeated:,} of {len(runs):,} runs"
        + (", those that use the changed class" + ("es" if len(changed) > 1 else "") if of_changed == stale else "")
    )
