"""What `tailback sweep` and `tailback study` share: who does the runs, and how a study is shown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tailback._cli.output import Exit, data

if TYPE_CHECKING:
    from tailback._study import Study
    from tailback._table import Table

__all__ = ["SHOWN", "crew_named", "finished", "means_text", "report"]

# Points, differences, and errors of runs, that are shown to a person.
SHOWN = 20


@contextmanager
def crew_named(executor: str | None, cluster: str | None, workers: int | None) -> Iterator[tuple[Any, int | None]]:
    """The executor that the command line names, and how many workers it has, if that is known."""
    if cluster is None:
        yield executor, workers
        return
    from tailback._study.cluster import connected

    with connected(cluster, workers) as remote:
        yield remote


def finished(study: Study, *, as_json: bool) -> Exit:
    """Shows what a sweep has become, and the goodput at its points."""
    report(study, as_json=as_json)
    if not as_json and study.counts.done:
        data(means_text(study.means(), "goodput", SHOWN))
    return Exit.RUNS_FAILED if study.counts.failed else Exit.DONE


def report(study: Study, *, as_json: bool) -> None:
    """Shows how far a study is."""
    counts, plan = study.counts, study.plan
    if as_json:
        document = {
            **vars(counts),
            "total": counts.total,
            "working": study.working,
            "owner": study.owner,
            "directory": str(study.directory),
        }
        plan_shown = {key: plan[key] for key in ("axes", "columns", "seeds", "until", "version")}
        data(json.dumps({**document, "plan": plan_shown, "errors": _errors(study)}, indent=2))
        return
    lines = [f"{study.directory}: {counts.done} of {counts.total} runs done"]
    lines += [f"  {word} {count}" for word, count in vars(counts).items() if word != "done" and count]
    if (owner := study.owner) is not None:
        lines.append(f"  process {owner['process']} on {owner['host']} works on it")
    lines += [f"  {axis}" for axis in plan["axes"]]
    errors = _errors(study)
    lines += [f"  failed: point {error['point']}, seed {error['seed']}: {error['error']}" for error in errors[:SHOWN]]
    data("\n".join(lines))


def means_text(means: Table, quantity: str, shown: int) -> str:
    """A quantity at each point, with its 95 % interval where there are seeds for one."""
    from tailback._format import aligned
    from tailback._format import quantity as written

    column = "goodput_bps" if quantity == "goodput" else quantity.rpartition(".")[2]
    axes = [name for name in means.columns if name not in ("seeds", "mean", "low", "high")]
    lines = [[*(axes or ["scenario"]), "seeds", quantity, "95 % interval"]]
    for row in means.to_rows()[:shown]:
        labels = [str(row[axis]) for axis in axes] or ["as it is"]
        mean, low, high = (written(column, row[end]) for end in ("mean", "low", "high"))
        lines.append([*labels, str(row["seeds"]), mean, "-" if low == "-" else f"{low} to {high}"])
    rest = f"\n  and {len(means) - shown} more points" if len(means) > shown else ""
    return aligned(lines) + rest


def _errors(study: Study) -> list[dict[str, Any]]:
    runs = study.runs.to_dict()
    columns = zip(runs["point"], runs["seed"], runs["error"], strict=True)
    return [{"point": point, "seed": seed, "error": error} for point, seed, error in columns if error]
