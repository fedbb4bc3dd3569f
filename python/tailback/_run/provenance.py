"""The provenance of a run."""

from __future__ import annotations

import json
from copy import deepcopy
from functools import cached_property
from typing import Any

from tailback import _core
from tailback._scenario.description import name_of

__all__ = ["RunProvenance"]


class RunProvenance:
    """The provenance of a `Run`: its scenario, seed, content hash and outcome."""

    complete: bool
    simulated_s: float
    events: int
    _results: _core.Results

    @cached_property
    def provenance(self) -> dict[str, Any]:
        """The complete scenario, seed, version, content hash, and outcome of the run."""
        provenance: dict[str, Any] = json.loads(self._results.provenance)
        return provenance

    @property
    def seed(self) -> int:
        """The seed of the run."""
        return int(self.provenance["seed"])

    @property
    def content_hash(self) -> str:
        """Hash of scenario, seed and version: equal hashes mean equal results."""
        return str(self.provenance["content_hash"])

    @property
    def scenario(self) -> dict[str, Any]:
        """The scenario of the run, including defaults."""
        return deepcopy(dict(self.provenance["scenario"]))

    @property
    def _title(self) -> str:
        return name_of(self.scenario)
