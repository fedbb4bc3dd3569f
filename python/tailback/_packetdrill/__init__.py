"""Replay of packetdrill scripts with a simulated sender."""

from tailback._packetdrill.replay import Replay, packetdrill

__all__ = ["Replay", "packetdrill"]
