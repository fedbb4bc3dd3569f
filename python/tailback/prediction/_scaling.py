"""Families of scenarios for the extrapolation method, with rates and flows scaled together, and intervals between packets."""

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

# Keys of links and of topology generators.
_RATES = ("rate", "host_rate", "global_rate")

_QUANTITY = re.compile(r"\s*([0-9.eE+-]+)\s*(.*)")


def scaled(scenario: Scenario, factor: float) -> Scenario:
    """Scale the rates of all links and the number of flows by the same factor, so that the rate per flow is constant.

    Buffers, delays and the flows' access links are unchanged.

    Raises
    ------
    ParameterError
        The factor is not above 0, or gives a number of flows that is not an integer.

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
            if "reference_rate" in arrivals:
                arrivals["reference_rate"] = _times(arrivals["reference_rate"], factor)
            else:
                arrivals["mean_interval"] = _times(arrivals["mean_interval"], 1 / factor)
            if "count" not in group:
                continue
        if "count" not in group and ("traffic" in group or any(_may_be_several(group.get(key)) for key in ("from", "to"))):
            raise ParameterError(f"the nodes of `{name}` determine its number of flows; expected `count`")
        count = group.get("count", 1) * factor
        if abs(count - round(count)) > 1e-9 * count:
            raise ParameterError(f"`factor` {factor:g} gives {count:g} flows of `{name}`; expected an integer")
        group["count"] = round(count)
    return Scenario(description)


def sending_intervals(run: Run) -> NDArray[np.float64]:
    """Intervals in seconds between the packets of all traced senders, after the warm-up, for `models.poisson_check`.

    Raises
    ------
    UnknownName
        The run has no trace ``segments``; record it for every flow with ``traces = ["segments"]``.
    """
    import numpy as np

    times = np.sort(run.trace("segments")["time_s"])
    intervals: NDArray[np.float64] = np.diff(times)
    return intervals


def _may_be_several(nodes: Any) -> bool:
    """Whether `from` or `to` may have several nodes."""
    return isinstance(nodes, list) or (isinstance(nodes, str) and "*" in nodes)


def _times(quantity: Any, factor: float) -> str:
    """A quantity as text, multiplied by a factor."""
    number, unit = _QUANTITY.fullmatch(quantity).groups()  # type: ignore[union-attr]
    return f"{float(number) * factor:.15g} {unit}"
