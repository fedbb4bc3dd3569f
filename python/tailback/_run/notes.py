"""Notes that affect the interpretation of a run."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from itertools import chain

from tailback import _core
from tailback._run.files import RunFiles
from tailback._run.starvation import starved_flows
from tailback._scenario import Scenario

__all__ = ["notes"]

# A note names unlimited queues in which packets wait for more base round-trip times than this on average.
_LONG_WAIT_RTTS = 10


def notes(run: RunFiles) -> list[str]:
    """The notes of the scenario, and those on measured values."""
    measured = (_not_measured(run), _beyond_range(run), _long_waits(run), starved_flows([run.tables]))
    return [*Scenario(run.scenario).notes(), *chain.from_iterable(measured)]


def _not_measured(run: RunFiles) -> Iterator[str]:
    """A note if the run was interrupted within its warm-up."""
    warmup = run.scenario.get("warmup", "0 s")
    seconds, _ = _core.in_column_units(warmup) or (0.0, "s")
    if not run.complete and run.simulated_s <= seconds:
        yield f"nothing was measured: the run was interrupted within its warm-up of {warmup}"


def _beyond_range(run: RunFiles) -> Iterator[str]:
    """A note for each queue whose price was outside the range of the marking scheme."""
    if "clamped_packets" not in run.queues.columns:
        return
    rows = zip(run.queues["queue"], run.queues["clamped_packets"], run.queues["departed_units"], strict=True)
    for queue, beyond, departed in rows:
        if beyond:
            yield f"the price of `{queue}` left the range of `prices` and was clamped to it for {beyond} of {departed} packets"


def _long_waits(run: RunFiles) -> Iterator[str]:
    """A note for each unlimited queue in which packets wait for more than ten base round-trip times on average."""
    shortest = min((rtt for rtt in run.flows.head("base_rtt_s", len(run.flows)) if rtt > 0), default=math.inf)
    waits = dict(zip(*(run.queues.head(column, len(run.queues)) for column in ("queue", "mean_wait_s")), strict=True))
    if not any(wait > _LONG_WAIT_RTTS * shortest for wait in waits.values()):
        return
    for queue, base_rtt_s in _core.unlimited_queues(json.dumps(run.scenario), "", "json"):
        if waits[queue] > _LONG_WAIT_RTTS * base_rtt_s:
            yield (
                f"the queue of `{queue}` is unlimited, and its mean wait of {waits[queue]:.3g} s exceeds {_LONG_WAIT_RTTS} "
                f"base round-trip times ({base_rtt_s:.3g} s): equipment with a buffer would discard packets"
            )
