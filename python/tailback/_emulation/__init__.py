"""Emulation: real packets cross a simulated network. `emulate` is the public function."""

from tailback._emulation.emulating import Command, CommandEnd, Emulated, emulate

__all__ = ["Command", "CommandEnd", "Emulated", "emulate"]
