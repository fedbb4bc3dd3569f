"""The hosts of an emulation, as used by the emulating process: creation, commands, and removal."""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tailback._emulation.protocol import LARGEST_MESSAGE, MAX_FILES, TUN
from tailback.errors import EmulationError, how_to_install

__all__ = ["CommandExit", "Host", "Hosts"]

# Timeout of requests; creating a host takes some hundredths of a second.
_PATIENCE_S = 60


@dataclass(frozen=True)
class Host:
    """Configuration of a host.

    Attributes
    ----------
    name : str
    addresses : tuple of str
        The host's name resolves to the first one.
    mtu : int
    route : mapping
        Metrics of its route, such as ``quickack`` (ip-route(8)).
    sysctls : mapping
        Sysctls of its network stack, such as ``net.ipv4.tcp_sack``.
    """

    name: str
    addresses: tuple[str, ...]
    mtu: int = 1500
    route: Mapping[str, int] = field(default_factory=dict)
    sysctls: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class CommandExit:
    """A command that has ended.

    Attributes
    ----------
    number : int
        Number returned at its start.
    code : int
        Exit code; the negative signal number if a signal ended it.
    """

    number: int
    code: int


class Hosts:
    """Hosts that exist within a ``with`` block. Leaving it stops everything that was started in it.

    Raises
    ------
    EmulationError
        The system lacks a feature or a permission; nothing was changed on the system.
    """

    def __init__(self, hosts: Sequence[Host]) -> None:
        self._hosts = {host.name: place for place, host in enumerate(hosts)}
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.devices: list[int] = []
        self._messages: list[dict[str, Any]] = []
        self._started = 0
        # Commands share its terminal input.
        self._manager = subprocess.Popen(
            [sys.executable, "-m", "tailback._emulation.host_manager", str(theirs.fileno())], pass_fds=[theirs.fileno()]
        )
        theirs.close()
        try:
            self._make(hosts)
        except BaseException:
            self.__exit__(None, None, None)
            raise

    def _make(self, hosts: Sequence[Host]) -> None:
        described = [{**vars(host), "route": dict(host.route), "sysctls": dict(host.sysctls)} for host in hosts]
        self._send({"hosts": described})
        deadline = time.monotonic() + _PATIENCE_S
        while len(self.devices) < len(hosts):
            message, files = self._receive(deadline - time.monotonic())
            self.devices.extend(files)
            if "failed" in message:
                raise EmulationError(_why_not(message))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close_devices()
        # The manager exits when the other end of its socket is closed, which removes everything.
        self._control.close()
        try:
            self._manager.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._manager.kill()
            self._manager.wait()

    def close_devices(self) -> None:
        """Close the devices in this process; they remain open in the process that received them."""
        for device in self.devices:
            os.close(device)
        self.devices = []

    def start(self, host: str, arguments: Sequence[str], *, stdout: int = 1, stderr: int = 2, stdin: int = 0) -> int:
        """Start a command on a host, and return its number.

        Raises
        ------
        EmulationError
            The command cannot be started.
        """
        number, self._started = self._started, self._started + 1
        message = {
            "start": number,
            "host": self._hosts[host],
            "arguments": list(arguments),
            "environment": {"TAILBACK_HOST": host},
        }
        self._send(message, [stdin, stdout, stderr])
        answer = self._await(lambda message: number in (message.get("started"), message.get("failed")))
        if "failed" in answer:
            raise EmulationError(f"`{arguments[0]}` cannot be started on `{host}`: {answer['why']}")
        return number

    def signal(self, number: int, signal: int) -> None:
        """Send a signal to a command."""
        self._send({"signal": number, "with": signal})

    def counters(self) -> list[dict[str, int]]:
        """The kernel's counters of each host."""
        self._send({"counters": True})
        counters: list[dict[str, int]] = self._await(lambda message: "counters" in message)["counters"]
        return counters

    def congestion_controls(self) -> list[str]:
        """The congestion control that each host's kernel uses for connections that choose none; empty where it is not known."""
        self._send({"congestion_controls": True})
        names: list[str] = self._await(lambda message: "congestion_controls" in message)["congestion_controls"]
        return names

    def sockets(self, host: str) -> set[str]:
        """The host's sockets that accept connections or packets, as the kernel lists them."""
        self._send({"sockets": self._hosts[host]})
        sockets: list[str] = self._await(lambda message: "sockets" in message)["sockets"]
        return set(sockets)

    def ended(self, patience_s: float) -> list[CommandExit]:
        """The commands that have ended; waits up to `patience_s` for the first one."""
        with suppress(TimeoutError):
            self._messages.append(self._receive(0 if self._messages else patience_s)[0])
        over = [message for message in self._messages if "ended" in message]
        self._messages = [message for message in self._messages if "ended" not in message]
        return [CommandExit(message["ended"], message["code"]) for message in over]

    def _send(self, message: Mapping[str, Any], files: Sequence[int] = ()) -> None:
        data = json.dumps(message).encode()
        if len(data) > LARGEST_MESSAGE:
            raise EmulationError("a message to the hosts is too long: too many addresses, or too long a command")
        try:
            socket.send_fds(self._control, [data], files)
        except OSError as error:
            raise EmulationError(f"the hosts are gone: {error.strerror}") from None

    def _await(self, is_it: Any) -> dict[str, Any]:
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            message, _ = self._receive(deadline - time.monotonic())
            if is_it(message):
                return message
            self._messages.append(message)

    def _receive(self, patience_s: float) -> tuple[dict[str, Any], list[int]]:
        ready, _, _ = select.select([self._control], [], [], max(0.0, patience_s))
        if not ready:
            raise TimeoutError("the hosts do not respond")
        data, files, _, _ = socket.recv_fds(self._control, LARGEST_MESSAGE, MAX_FILES)
        if not data:
            raise EmulationError("the hosts are gone: their process was killed")
        message: dict[str, Any] = json.loads(data)
        return message, files


_ALLOWED = "net.ipv4.tcp_allowed_congestion_control"


def _allowed() -> str:
    try:
        return ", ".join(Path("/proc/sys", *_ALLOWED.split(".")).read_text().split())
    except OSError:
        return "unknown here"


def _why_not(message: Mapping[str, Any]) -> str:
    """A message that names the missing feature or permission, with a remedy."""
    import errno

    why, number = message["why"], message["errno"]
    if message["file"] == TUN:
        if number == errno.ENOENT:
            return f"this system has no {TUN}, which is required to receive packets from the kernel; load the module `tun`"
        return f"{TUN} cannot be opened: {why}; run as root, or allow all users to open it: `sudo chmod 0666 {TUN}`"
    if "cannot be set to" in why:
        if "tcp_congestion_control" in why and number == errno.EPERM:
            return (
                f"{why}; network namespaces may only use the controllers of the sysctl `{_ALLOWED}`: {_allowed()}; add it there, "
                f'for example with `sudo sysctl -w {_ALLOWED}="reno cubic"`'
            )
        return f"the hosts cannot be created: {why}"
    if number in (errno.EPERM, errno.EACCES):
        return f"this user may not create network namespaces ({why}); run as root, or allow unprivileged user namespaces"
    if "pyroute2" in why:
        return f"this requires pyroute2: {how_to_install('emulate', 'pyroute2')}"
    return f"the hosts cannot be created: {why}"
