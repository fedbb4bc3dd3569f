"""The kernel's side of a validation in virtual time: the same scenarios with the stack `linux`, which have no noise."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from tailback import _core
from tailback._scenario import Scenario
from tailback._study.measurements import Measurements, Number
from tailback._study.runner import Progress
from tailback._validation.cases import Case, CaseSet
from tailback._validation.kernel_runs import KernelCase, KernelRuns, identity_with

__all__ = ["VirtualKernel"]

# Stable series of Linux 5.16 to 6.13 whose HyStart is that of 6.14 from this release on (ChangeLog-6.1.129, ChangeLog-6.12.13 of
# kernel.org: "tcp_cubic: fix incorrect HyStart round start detection").
_CORRECTED = {(6, 1): 129, (6, 12): 13}

# Versions whose receiver acknowledges a segment at once while its window grows: from the half of `tcp_rmem` that Linux 6.6 first
# takes for the window to the share of payload in the memory of a packet, 2176 bytes here for packets of up to 1500 bytes.
# Measured with 6.12.117.
_GROWING = range(6, 16)
_LARGEST_PAYLOAD = 1_448
_RECEIVE_BUFFER = 6_291_456
_PACKET_MEMORY = 2_176


@dataclass(frozen=True)
class VirtualKernel:
    """A built kernel.

    Attributes
    ----------
    version : str
    hz : int
        Timer ticks per second.
    sha256 : str
        Hash of the kernel.
    """

    version: str
    hz: int
    sha256: str

    @classmethod
    def find(cls, version: str | None, hz: int) -> Self:
        """The newest built kernel whose version begins with `version`.

        Raises
        ------
        ParameterError
            There is none; the text has the command that builds one.
        """
        given = {"hz": hz} if version is None else {"kernel": version, "hz": hz}
        # "Linux 6.12.117-hz1000 HASH guest HASH".
        _, name, sha256, *_ = _core.linux_kernel(json.dumps(given)).split()
        return cls(name.partition("-")[0], hz, sha256)

    def __str__(self) -> str:
        return f"Linux {self.version} at {self.hz} Hz in virtual time"

    def kernel_scenario(self, case: Case) -> Scenario:
        """The case with kernels at both ends of its flows."""
        return Scenario({**case.scenario.to_dict(), "flows": self._flows(case)})

    def simulated_scenario(self, case: Case) -> Scenario:
        """The case with the settings of this version, where they differ from those of the presets."""
        major, minor, *rest = (int(part) for part in re.findall(r"\d+", self.version))
        series, release = (major, minor), rest[0] if rest else 0
        has_low_window = (5, 16) <= series <= (6, 13) and release < _CORRECTED.get(series, math.inf)
        changes: dict[str, Any] = {}
        for group, module in zip(case.groups, case.modules, strict=True):
            tcp = f"flows.{group}.tcp"
            # A kernel in virtual time sends without delay.
            changes[f"flows.{group}.jitter"] = "0 ns"
            if "recovery" not in case.scenario.to_dict()["flows"][group]["tcp"]:
                changes[f"{tcp}.timer.jiffy"] = f"{1000 / self.hz:g} ms"
            if module == "cubic" and has_low_window:
                changes[f"{tcp}.slow_start"] = "hystart_from_16"
            if series < (6, 5):
                changes[f"{tcp}.syn_linear_timeouts"] = 0
            described = case.scenario.to_dict()["flows"][group]["tcp"]
            payload = int(described.get("mss", "1448 B").removesuffix(" B"))
            if major == 6 and minor in _GROWING and described["delayed_ack"] and payload <= _LARGEST_PAYLOAD:
                changes[f"{tcp}.delayed_ack"] = {"quickack_segments": _quickack_segments(payload)}
            if "read_interval_ms" in case.labels:
                changes[f"{tcp}.delayed_ack.read_interval"] = f"{case.labels['read_interval_ms']:g} ms"
        return case.scenario.with_(changes)

    def identity(self, case: Case) -> str:
        """Identifies what the kernel's runs of a case depend on."""
        return identity_with(case, [self._flows(case), self.version, self.hz, self.sha256])

    def measured(
        self,
        pack: CaseSet,
        identities: Sequence[str],
        folder: Path,
        *,
        command: str,
        jobs: int | None,
        fresh: bool,
        date: str,
        progress: Callable[[Progress], object] | None,
    ) -> KernelRuns:
        """Run the pack, whose cases have these identities; finished runs are stored in `folder`."""
        measurements, requests = Measurements(), []
        for case, name in zip(pack.cases, identities, strict=True):
            numbers = [Number(measure.of) for measure in case.measures]
            seeds = range(1, case.seeds + 1)
            requests.append((case, name, numbers, measurements.request(self.kernel_scenario(case), seeds, numbers, case.name)))
        measurements.collect(folder, command=command, fresh=fresh, workers=jobs, on_progress=progress)
        found, _ = measurements.found(folder)
        cases = []
        for case, name, numbers, keys in requests:
            values = [[Number.value(found[key, number.name]) for key in keys] for number in numbers]
            names = (measure.name for measure in case.measures)
            cases.append(KernelCase(case.name, name, {}, dict(zip(names, values, strict=True))))
        return KernelRuns(pack.name, str(self), date, cases, vars(self).copy())

    def _flows(self, case: Case) -> dict[str, Any]:
        modules = dict(zip(case.groups, case.modules, strict=True))
        flows: dict[str, Any] = case.scenario.to_dict()["flows"]
        return {
            group: {**flow, "tcp": {**self._tcp(modules[group], flow["tcp"], case.labels), **_interface(case)}}
            for group, flow in flows.items()
        }

    def _tcp(self, module: str, tcp: Mapping[str, Any], labels: Mapping[str, Any]) -> dict[str, Any]:
        parameters: dict[str, Any] = {"kernel": self.version, "hz": self.hz, "ecn": tcp["ecn"]}
        if not tcp["delayed_ack"]:
            parameters["quickack"] = True
        if "read_interval_ms" in labels:
            parameters["read_interval_ms"] = labels["read_interval_ms"]
        if "recovery" in tcp:
            parameters["sysctl"] = {"net": {"ipv4": {"tcp_sack": False}}}
        return {"stack": "linux", "congestion": module, "parameters": parameters}


def _quickack_segments(payload: int) -> int:
    """Segments acknowledged one by one, and the SYN: the window grows by two per segment, and 16 or 17 segments follow."""
    share = payload * 256 // _PACKET_MEMORY / 256
    growing = math.ceil((share - 0.5) * _RECEIVE_BUFFER / (2 * payload)) if share > 0.5 else 0
    return growing + 17 + (growing > 0)


def _interface(case: Case) -> dict[str, Any]:
    """The packet size of a case that does not have the usual one."""
    return {"mtu": f"{case.labels['mtu']} B"} if "mtu" in case.labels else {}
