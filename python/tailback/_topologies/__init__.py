"""Scenarios with common topologies. Each function fills in a plain dictionary, which `Scenario.to_dict` shows."""

from tailback._topologies.basic import chain, dumbbell, dwdm, parking_lot
from tailback._topologies.data_centre import dragonfly, fat_tree, leaf_spine, random_regular, torus
from tailback._topologies.graphs import from_networkx, waxman

__all__ = [
    "chain",
    "dragonfly",
    "dumbbell",
    "dwdm",
    "fat_tree",
    "from_networkx",
    "leaf_spine",
    "parking_lot",
    "random_regular",
    "torus",
    "waxman",
]
