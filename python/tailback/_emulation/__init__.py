"""Real packets through a simulated network. `emulate` is all that others need."""

from tailback._emulation.emulating import Command, CommandEnd, Emulated, emulate

__all__ = ["Command", "CommandEnd", "Emulated", "emulate"]
