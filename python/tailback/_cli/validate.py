"""`tailback validate`: the simulator beside this machine's kernel."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from tailback._cli.output import Exit, command, data, jsonable, note, path
from tailback._progress import RunsBar

__all__ = ["validate"]


@command
def validate(
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write the page and the numbers to DIR, created if missing; DIR/study keeps the runs, and the same command "
            "resumes there.",
            parser=path,
        ),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="All 48 cases, longer and more often: 270 runs of 40 s, divided by the lanes.")
    ] = False,
    lanes: Annotated[int | None, typer.Option(min=1, help="Emulations at a time; two for each processor if not given.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Rerun what DIR/study already has.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print all comparisons as one JSON document.")] = False,
) -> Exit:
    """Compare the simulator with this machine's kernel. Linux only; five minutes.

    Both play the same scenarios. Exit code 1 if they part anywhere, or if the machine did not keep up.
    """
    from tailback._store import claimed, put
    from tailback._validation import validate as validated
    from tailback._validation.comparison import Verdict

    if out is not None:
        claimed(out)
    with RunsBar("kernel") as bar:
        done = validated(None if out is None else out / "study", full_pack=full, lanes=lanes, fresh=fresh, progress=bar)
    numbers = json.dumps(jsonable(done.to_dict()), indent=1, allow_nan=False)
    data(numbers if as_json else done.markdown())
    if out is not None:
        note(
            "\n".join(
                f"wrote {put(out / name, text)}"
                for name, text in (("validation.md", done.markdown()), ("validation.json", numbers))
            )
        )
    if done.kept_up < done.runs:
        note(f"error: this machine did not keep up in {done.runs - done.kept_up} of {done.runs} runs")
    return Exit.DIFFERENT if done.count(Verdict.PART) or done.kept_up < done.runs else Exit.DONE
