"""Scenarios with common topologies. Each function fills in a plain dictionary, which `Scenario.to_dict` shows."""

from tailback._topologies import generators
from tailback._topologies.generators import *  # noqa: F403
from tailback._topologies.graphs import from_networkx

__all__ = [*generators.__all__, "from_networkx"]
