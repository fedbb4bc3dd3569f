"""Families of scenarios for the extrapolation method: rates and flows grown together, and the intervals between packets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tailback._run import Run
from tailback._scenario import Scenario
from tailback.errors import ParameterError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["scaled", "sending_intervals"]

# Of links, and of what generators make.
_RATES = ("rate", "host_rate", "global_rate")

_QUANTITY = re.compile(r"\s*([0-9.eE+-]+)\s*(.*)")


def scaled(scenario: Scenario, factor: float) -> Scenario:
    """The same network with all links `factor` times as fast and as many times more flows: the same rate for each flow.

    Buffers, delays and the flows' own access links stay as they are.

    Raises
    ------
    ParameterError
        If the factor is not above 0, or makes a number of flows that is not whole.

    Examples
    --------
    >>> import tailback as tb
    >>> from tailback.prediction import scaled
    >>> small = tb.dumbbell(rate="400 Mbps", delay="10 ms", buffer="10 packets", flows=40, duration="10 s")
    >>> large = scaled(small, 2.5)
    >>> large["topology.dumbbell.rate"], large["flows.tcp.count"]
    ('1000 Mbps', 100)
    """
    if not 0 < factor < float("inf"):
        raise ParameterError(f"`factor` is {factor}; expected a finite number above 0")
    description = scenario.to_dict()
    shapes = description.get("topology", {})
    listed = shapes.get("graph", {}).get("links", [])
    for link in [*description.get("links", {}).values(), *listed, *shapes.values()]:
        for key in [key for key in _RATES if key in link]:
            link[key] = _times(link[key], factor)
    if "chain" in shapes:
        shapes["chain"]["rates"] = [_times(rate, factor) for rate in shapes["chain"]["rates"]]
    for name, group in description.get("flows", {}).items():
        arrivals = group.get("arrivals")
        if arrivals:
            if "of" in arrivals:
                arrivals["of"] = _times(arrivals["of"], factor)
            else:
                arrivals["mean_interval"] = _times(arrivals["mean_interval"], 1 / factor)
            if "count" not in group:
                continue
        if "traffic" in group and "count" not in group:
            raise ParameterError(f"`{name}` has as many flows as its traffic makes; expected `count`")
        count = group.get("count", 1) * factor
        if abs(count - round(count)) > 1e-9 * count:
            raise ParameterError(f"`factor` is {factor:g}, which makes {count:g} flows of `{name}`; expected whole numbers")
        group["count"] = round(count)
    return Scenario(description)


def sending_intervals(run: Run) -> NDArray[np.float64]:
    """Seconds between packets as all traced senders together send them, after the warm-up, for `models.poisson_check`.

    Raises
    ------
    UnknownName
        If the run has no trace ``segments``: record it of every flow, ``traces = ["segments"]``.
    """
    import numpy as np

    times = np.sort(run.trace("segments")["time_s"])
    intervals: NDArray[np.float64] = np.diff(times)
    return intervals


def _times(quantity: Any, factor: float) -> str:
    """A quantity as text, multiplied."""
    number, unit = _QUANTITY.fullmatch(quantity).groups()  # type: ignore[union-attr]
    return f"{float(number) * factor:.15g} {unit}"
