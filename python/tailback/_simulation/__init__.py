"""Simulations: `simulating` runs to the end, `runs` with several seeds, and `stepped` step by step."""

from tailback._simulation.simulating import has_stack, simulate, simulate_keeping_checkpoint

__all__ = ["has_stack", "simulate", "simulate_keeping_checkpoint"]
