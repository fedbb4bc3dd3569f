"""Code that `tailback sweep` and `tailback study` share: choosing the executor and showing a study."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tailback._cli.output import ExitCode, data, jsonable, note
from tailback.errors import ParameterError

if TYPE_CHECKING:
    from tailback._study import Study
    from tailback._study.study import Unconverged
    from tailback._tables.table import Table

__all__ = ["SHOWN", "finished", "means_text", "note_determinism", "report", "selected_executor"]

# Maximum number of points, differences and failed runs in the text output.
SHOWN = 20


@contextmanager
def selected_executor(
    executor: str | None, cluster: str | None, workers: int | None, wait_s: float | None
) -> Iterator[tuple[Any, int | None]]:
    """The executor that the command line selects, and its number of workers if that is known."""
    if cluster is None:
        if wait_s is not None:
            raise ParameterError("--wait is for the workers of a cluster; add --cluster ADDRESS, or remove it")
        yield executor, workers
        return
    from tailback._study.cluster import WAIT_S, connected

    with connected(cluster, workers, WAIT_S if wait_s is None else wait_s, on_wait=note) as remote:
        yield remote


def finished(study: Study, *, as_json: bool) -> ExitCode:
    """Print the state of a study after a sweep, with the means of the `--until` quantity, or of goodput."""
    report(study, as_json=as_json)
    unconverged = study.unconverged
    if not as_json and study.counts.done:
        asked = study.plan["until"]
        quantity = asked["quantity"] if asked else "goodput"
        means = study.means(quantity)
        data(means_text(means, study.plan["columns"], quantity, SHOWN))
        note_determinism(means)
        _note_wide_intervals(unconverged, study.plan, len(means))
    return ExitCode.RUNS_FAILED if study.counts.failed or unconverged else ExitCode.DONE


def note_determinism(means: Table) -> None:
    """Print a note if seeds have no effect on the results."""
    fixed = sum(row["seeds"] > 1 and row["low"] != row["low"] and row["mean"] == row["mean"] for row in means.to_rows())
    if fixed:
        where = "here" if fixed == len(means) else f"at {fixed} of {len(means)} points"
        note(f"nothing is random {where}: all seeds give the same result, and there is no interval")


def _note_wide_intervals(unconverged: list[Unconverged], plan: dict[str, Any], points: int) -> None:
    """Print the points whose interval is wider than the goal, and the number of seeds that they need."""
    if not unconverged:
        return
    until = plan["until"]
    note(
        f"the interval of {until['quantity']} is wider than {100 * until['width']:g} % at {len(unconverged)} of {points} points:"
    )
    for one in unconverged[:SHOWN]:
        where = ", ".join(f"{axis}={label}" for axis, label in one.labels.items()) or "the unchanged scenario"
        width = f"{100 * one.width:.3g} %" if math.isfinite(one.width) else "no relative width (the mean is 0 or unknown)"
        would = f"needs about {one.needed:,}: --max-seeds" if one.needed else "no number of seeds is enough"
        note(f"  {where}: {width} with {one.seeds} seeds; {would}")
    if len(unconverged) > SHOWN:
        note(f"  and {len(unconverged) - SHOWN} more points")


def report(study: Study, *, as_json: bool) -> None:
    """Print the progress of a study."""
    counts, plan = study.counts, study.plan
    if as_json:
        document = {
            **vars(counts),
            "total": counts.total,
            "working": study.working,
            "owner": study.owner,
            "directory": str(study.directory),
            "unconverged": jsonable([vars(one) for one in study.unconverged]),
            "notes": study.notes,
        }
        plan_shown = {key: plan[key] for key in ("axes", "columns", "seeds", "until", "version")}
        data(json.dumps({**document, "plan": plan_shown, "errors": _errors(study)}, indent=2))
        return
    lines = [f"{study.directory}: {counts.done} of {counts.total} runs done"]
    lines += [f"  {word} {count}" for word, count in vars(counts).items() if word != "done" and count]
    if (owner := study.owner) is not None:
        lines.append(f"  process {owner['process']} on {owner['host']} is working on it")
    lines += [f"  {axis}" for axis in plan["axes"]]
    errors = _errors(study)
    lines += [f"  failed: point {error['point']}, seed {error['seed']}: {error['error']}" for error in errors[:SHOWN]]
    lines += ["  note: " + text.replace("\n", "\n  ") for text in study.notes]
    data("\n".join(lines))


def means_text(means: Table, axes: list[str], quantity: str, shown: int) -> str:
    """A table of a quantity at each point, with its 95 % interval where there is more than one seed."""
    from tailback._tables.text import aligned
    from tailback._tables.text import quantity as written

    column = "goodput_bps" if quantity == "goodput" else quantity.rpartition(".")[2]
    lines = [[*(axes or ["scenario"]), "seeds", quantity, "95 % interval"]]
    for row in means.to_rows()[:shown]:
        labels = [str(row[axis]) for axis in axes] or ["unchanged"]
        mean, low, high = (written(column, row[end]) for end in ("mean", "low", "high"))
        lines.append([*labels, str(row["seeds"]), mean, "-" if low == "-" else f"{low} to {high}"])
    rest = f"\n  and {len(means) - shown} more points" if len(means) > shown else ""
    return aligned(lines) + rest


def _errors(study: Study) -> list[dict[str, Any]]:
    runs = study.runs.to_dict()
    columns = zip(runs["point"], runs["seed"], runs["error"], strict=True)
    return [{"point": point, "seed": seed, "error": error} for point, seed, error in columns if error]
