"""Scenarios in Python. `scenario` has the public class; the other modules read, change and write its description."""

from tailback._scenario.scenario import Scenario, load, schema

__all__ = ["Scenario", "load", "schema"]
