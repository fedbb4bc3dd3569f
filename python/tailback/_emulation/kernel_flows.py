"""Flow groups that run on this machine's kernel: host configuration, and the processes that send and receive."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tailback._emulation import transfer
from tailback._emulation.hosts import Host, Hosts
from tailback.errors import EmulationError

__all__ = ["Group", "KernelGroup", "kernel_controllers", "kernel_hosts"]

Group = Mapping[str, Any]

_AVAILABLE = "/proc/sys/net/ipv4/tcp_available_congestion_control"

# Sysctls that are not in the scenario: room for any window, and no metrics from earlier connections (tcp(7)).
ROOM = {
    "net.ipv4.tcp_rmem": "4096 4194304 67108864",
    "net.ipv4.tcp_wmem": "4096 4194304 67108864",
    "net.ipv4.tcp_no_metrics_save": "1",
}

# Minimum header size of a segment by RFC 9293 and RFC 791.
_HEADERS = 40

# The kernel's names of controllers, where they differ.
_NAMES = {"bbrv1": "bbr"}

# With SACK the kernel uses RACK-TLP, for either of the first two.
_RECOVERIES = ("rack_tlp", "sack", "newreno")


def kernel_controllers() -> tuple[str, ...]:
    """The congestion controllers that this machine's kernel supports."""
    try:
        return tuple(Path(_AVAILABLE).read_text().split())
    except OSError:
        return ()


def kernel_name(controller: str) -> str:
    """The kernel's name of a controller."""
    return _NAMES.get(controller, controller)


def kernel_hosts(group: Group, sysctls: Mapping[str, str]) -> dict[str, Host]:
    """The group's hosts, without addresses, with the kernel settings of the group.

    Raises
    ------
    EmulationError
        The kernel does not support the group.
    """
    name, controller = group["group"], kernel_name(group["controller"])
    known = kernel_controllers()
    if controller not in known:
        raise EmulationError(f"this kernel cannot run `{name}`: it has no controller `{controller}`; it has {', '.join(known)}")
    if group["recovery"] not in _RECOVERIES:
        raise EmulationError(
            f"this kernel cannot run `{name}`: it has no recovery `{group['recovery']}`; it supports {', '.join(_RECOVERIES)}"
        )
    given = {
        **ROOM,
        "net.ipv4.tcp_sack": str(int(group["recovery"] != "newreno")),
        "net.ipv4.tcp_timestamps": str(int(group["timestamps"])),
        "net.ipv4.tcp_ecn": str(int(group["ecn"])),
        **sysctls,
    }
    route = {"initcwnd": int(group["initial_window"])}
    if not group["delayed_ack"]:
        route["quickack"] = 1
    mtu = group["packet"]
    if mtu < 576 or mtu > 65535:
        raise EmulationError(
            f"this kernel cannot run `{name}`: packets have {mtu} bytes; expected 576 to 65535, with headers of {_HEADERS}"
        )
    return {
        group["sender"]: Host(group["sender"], (), mtu, route, given),
        group["receiver"]: Host(group["receiver"], (), mtu, route, given),
    }


class KernelGroup:
    """The sending and the receiving process of a group."""

    def __init__(self, group: Group, hosts: Hosts) -> None:
        self.group = group
        # The receiver must listen before the sender connects.
        self._ends = [KernelProcess(group, way, hosts) for way in ("receiver", "sender")]

    def begin(self, origin: float, warmup_s: float, duration_s: float) -> None:
        """Schedule the flows; `origin` is the start of the emulation on the monotonic clock."""
        for end in self._ends:
            end.send({"origin": origin, "warmup_s": warmup_s, "duration_s": duration_s})

    def finish(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The reports of sender and receiver: all flows, and the mean wait for a processor."""
        received, sent = (end.finish() for end in self._ends)
        return sent, received


class KernelProcess:
    """A sending or receiving process."""

    def __init__(self, group: Group, way: str, hosts: Hosts) -> None:
        theirs, self._to = os.pipe2(os.O_CLOEXEC)
        self._from, answers = os.pipe2(os.O_CLOEXEC)
        self._host = group[way]
        try:
            hosts.start(self._host, [sys.executable, "-I", *_program(group), way], stdin=theirs, stdout=answers)
        finally:
            os.close(theirs)
            os.close(answers)
        self._answers = os.fdopen(self._from)
        self.send({"flows": group["transfers"], "controller": kernel_name(group["controller"])})
        self._receive()

    def send(self, message: Any) -> None:
        os.write(self._to, json.dumps(message).encode() + b"\n")

    def finish(self) -> dict[str, Any]:
        os.close(self._to)
        report: dict[str, Any] = json.loads(self._receive())
        self._answers.close()
        return report

    def _receive(self) -> str:
        line = self._answers.readline()
        if not line:
            raise EmulationError(f"the process that runs the flows on `{self._host}` has failed; its output is above")
        return line


# A program that imports Tailback from the folder in its first argument.
_MESSAGE_ENDS = "import sys; sys.path.insert(0, sys.argv.pop(1)); from tailback._emulation.message_ends import main; main()"


def _program(group: Group) -> list[str]:
    """Arguments of Python for the program of a group."""
    if any("conversation" in described for described in group["transfers"]):
        return ["-c", _MESSAGE_ENDS, str(Path(transfer.__file__).parents[2])]
    return [transfer.__file__]
