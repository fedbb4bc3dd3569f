"""Kill a reproduction and a demonstration at some places, resume them, and print the outcomes.

Run by `papers/test_survives.py`. Each trial is a fork, as in `study_killer.py`. Pages contain the plotted numbers in full
instead of pictures, whose drawing would take most of the time.
"""

from __future__ import annotations

import hashlib
import html
import json
import os
import signal
import sys
import types
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from matplotlib.figure import Figure

import tailback as tb
from study_killer import forked, worked
from tailback import papers
from tailback._demo import buffer
from tailback._demo import buffer_grid as grid
from tailback._html.pictures import picture
from tailback._study import failpoint, runner
from tailback._study.fingerprint import fingerprint
from tailback.papers import Document, Experiment
from toy_experiment import TIMEOUTS, TOY, window

OTHER = Experiment("toy/fig2", "Another", "", "", TOY.variants, {"timeouts": TIMEOUTS}, ())


def reproduce(out: Path) -> None:
    """Two figures with common runs, and a trace."""
    tb.reproduce("toy", seeds=3, study=out / "study", workers=1).save(out)


def demonstrate(out: Path) -> None:
    """The first question, with few and short runs."""
    sys.stdout = sys.stderr
    buffer.answer(out, kept=out / "study")


# The failpoints at which they are killed. Searches of the demonstration, which have ledgers of their own, begin after about 100.
WAYS = {"reproduce": (reproduce, range(1, 22, 4)), "demo": (demonstrate, range(1, 70, 17))}


def savefig(figure: Figure, file: TextIO, **_options: object) -> None:
    """Write a figure's lines and texts, which are all of its results, as an element without a drawing."""
    axes = [
        ([np.asarray(line.get_xydata()).tolist() for line in axis.lines], [text.get_text() for text in axis.texts])
        for axis in figure.axes
    ]
    file.write(f'<svg width="0" height="0"><desc>{html.escape(repr(axes))}</desc></svg>')


def trial(out: Path, work: Any, at: int) -> dict[str, Any]:
    """Stop it at a place, resume it, and return the differences from an uninterrupted one."""
    said = out.with_name(f"{out.name}.json")

    def stopped() -> None:
        failpoint.arm(f"kill:{at}")
        work(out)

    def resumed() -> None:
        ledger = out / "study"
        before = tb.Study(ledger).counts.done if (ledger / "study.sqlite3").exists() else 0
        said.write_text(json.dumps([before, worked(lambda: work(out))]))

    status = forked(stopped)
    again = forked(resumed)
    before, after = json.loads(said.read_text())
    killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    return {"at": at, "killed": killed, "resumed": again == 0, "before": before, "after": after, "digest": digest(out)}


def digest(out: Path) -> str:
    """Hash of the pages and the results."""
    files = sorted(file for file in out.iterdir() if file.is_file())
    return hashlib.sha256(b"".join(file.name.encode() + file.read_bytes() for file in files)).hexdigest()


def trials(folder: Path, way: str) -> dict[str, Any]:
    """An uninterrupted trial, a repeated one, and one per chosen failpoint.

    Each commit has five failpoints, and at most as many runs as are in progress; the number of commits depends on the threads.
    The steps have no factor in common with five, so that the trials reach all of them.
    """
    work, places = WAYS[way]
    whole, said = folder / way, folder / f"{way}-whole.json"

    def undisturbed() -> None:
        runs = worked(lambda: work(whole))
        said.write_text(json.dumps([runs, worked(lambda: work(whole))]))

    assert forked(undisturbed) == 0
    runs, again = json.loads(said.read_text())
    stopped = [trial(folder / f"{way}-{at}", work, at) for at in places]
    return {"runs": runs, "again": again, "digest": digest(whole), "trials": stopped}


def main(folder: Path) -> None:
    runner._COMMIT_S, runner._AHEAD_S = 0.0, 0.0
    grid._TIMES, grid._USUAL_TIMES = {1: grid.Times(1, 2, 4)}, grid.Times(1, 1, 1)
    whole = grid.plan(full=False)
    few = tuple(cell for cell in whole.cells if cell.flows <= 10 and cell.share not in (0.2, 0.5))
    grid.plan = lambda *, full: replace(whole, flows=(1, 10), cells=few, seeds=2)
    module = sys.modules["toys"] = types.ModuleType("toys")
    module.DOCUMENT = Document("toy", "Toys", "A toy box", {}, (TOY, OTHER))  # type: ignore[attr-defined]
    papers._documents.DOCUMENTS = {"toy": "toys"}
    Figure.savefig = savefig  # type: ignore[method-assign, assignment]
    # Modules for drawing and for fingerprints are imported here once, not by each fork.
    picture(Figure())
    fingerprint(window, tb.Run, tb.Table)
    sys.stdout.write(json.dumps({way: trials(folder, way) for way in WAYS}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
