"""Progress of long operations on stderr: a bar in a terminal after one second, elsewhere a line at intervals."""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from tailback._arguments import arguments_checked

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import ProgressColumn

    from tailback._study.runner import Progress

__all__ = ["ProgressBar", "RunsBar"]


# Without a terminal, the first line appears after this time, so that short commands print none.
FIRST_LINE_S = 5.0
LINE_EVERY_S = 60.0


class _Bar(ABC):
    """Base of progress bars: shows nothing for a second, then a line that is removed at the end."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._began = time.monotonic()
        self._bar: Bars | None = None
        self._next_line_s = FIRST_LINE_S

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

    @abstractmethod
    def _columns(self) -> list[ProgressColumn]:
        """Columns of the bar."""

    def _shown(self, total: int, completed: int = 0, **fields: Any) -> Bars | None:
        """The bar, if it is due. Starts at `completed`, so that the rate excludes work of an earlier process."""
        if self._bar is None and sys.stderr.isatty() and time.monotonic() - self._began >= 1:
            from rich.console import Console
            from rich.progress import Progress

            self._bar = Progress(*self._columns(), console=Console(stderr=True), transient=True)
            self._bar.start()
            self._bar.add_task(self._what, total=total, completed=completed, **fields)
        return self._bar

    def _log(self, done: str, left: str = "") -> None:
        """Write a line to a file or a pipe, if one is due."""
        passed = time.monotonic() - self._began
        if not sys.stderr.isatty() and passed >= self._next_line_s:
            sys.stderr.write(f"{self._what}: {done} after {passed:.0f} s{left}\n")
            sys.stderr.flush()
            self._next_line_s = passed + LINE_EVERY_S


@arguments_checked
class ProgressBar(_Bar):
    """Progress bar for a completed fraction: the ``progress`` of `tailback.simulate` and `tailback.models.simulate_trunk`.

    Without a terminal it prints a line after five seconds and then every minute.

    Parameters
    ----------
    what : str
        Label of the bar.

    Examples
    --------
    >>> import tailback as tb
    >>> with tb.ProgressBar("a trunk") as bar:
    ...     simulated = tb.models.simulate_trunk(inputs=16, transmitters=2, buffer=5, load=0.8, progress=bar)
    >>> simulated.narrow
    True
    """

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self._first: tuple[float, float] | None = None

    def __call__(self, fraction: float) -> None:
        """Show the completed fraction, 0 to 1."""
        bar = self._shown(1)
        if bar is not None:
            bar.update(bar.task_ids[0], completed=fraction)
            return
        now = time.monotonic()
        # A resumed run does not start at 0.
        began, before = self._first = self._first or (now, fraction)
        left = f", about {(now - began) * (1 - fraction) / (fraction - before):.0f} s left" if fraction > before else ""
        self._log(f"{fraction:.0%}", left)

    def _columns(self) -> list[ProgressColumn]:
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn

        return [TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn()]


class RunsBar(_Bar):
    """Progress bar for runs, with rate, remaining time and failures: the ``progress`` of `sweep`, `reproduce` and `Study.resume`.

    Parameters
    ----------
    what : str
        Label of the bar.

    Examples
    --------
    >>> import tailback as tb
    >>> scenario = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", flows=2, duration="5 s")
    >>> with tb.RunsBar("buffers") as bar:
    ...     study = tb.sweep(scenario, {"topology.dumbbell.queue.buffer": ["10 packets", "20 packets"]}, progress=bar)
    >>> study.counts.done
    2
    """

    def __call__(self, progress: Progress) -> None:
        """Show the numbers of finished and failed runs."""
        finished = progress.done + progress.failed
        failed = f"{progress.failed} failed" if progress.failed else ""
        bar = self._shown(progress.total, finished, rate="", failed="")
        if bar is None:
            self._log(f"{finished:,} of {progress.total:,} runs" + (f", {failed}" if failed else ""))
            return
        task = bar.tasks[0]
        rate = f"{task.speed:.3g} runs/s" if task.speed else ""
        bar.update(task.id, completed=finished, total=progress.total, rate=rate, failed=failed)

    def _columns(self) -> list[ProgressColumn]:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

        return [
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("runs {task.fields[rate]}"),
            TextColumn("left"),
            TimeRemainingColumn(),
            TextColumn("[red]{task.fields[failed]}"),
        ]
