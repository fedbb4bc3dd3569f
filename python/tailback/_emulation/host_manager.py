"""The manager of an emulation's hosts: process 1 of a PID namespace, with a network namespace for each host.

All processes and namespaces exist only while the manager runs, and it runs only while the other end of its control socket is
open. If the emulating process or the manager is killed, the kernel removes everything, including devices.

Usage: ``python -m tailback._emulation.host_manager FD`` with a message socket. Messages are JSON objects, some with file
descriptors. To the manager: first ``hosts`` (name, addresses, MTU, route settings, sysctls), then ``start`` (number, host,
arguments, environment; with descriptors of stdin, stdout, stderr), ``signal``, ``counters``. From the manager: ``ready`` with the
TUN devices, ``failed``, ``started``, ``ended``, ``counters``.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tailback._emulation import namespaces
from tailback._emulation.protocol import LARGEST_MESSAGE, MAX_FILES, TUN

__all__ = ["main"]

# <linux/if_tun.h>
_TUNSETIFF = 0x400454CA
_IFF_TUN = 0x0001
_IFF_NO_PI = 0x1000
_DEVICE = "tailback0"
# Queue length of a device in packets: larger than any burst, because overflows are not reported.
_DEVICE_QUEUE = 10_000

# Sockets that programs receive with: the protocols in /proc/net, and the column of the inode.
_PROTOCOLS = {"tcp": 9, "tcp6": 9, "udp": 9, "udp6": 9, "raw": 9, "raw6": 9, "packet": 8}
_LISTENS = "0A"

_COUNTERS = ("/proc/self/net/netstat", "/proc/self/net/snmp")


class HostManager:
    """The hosts and the commands that run on them."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._namespaces: list[int] = []
        self._running: dict[int, int] = {}

    def make(self, hosts: list[dict[str, Any]]) -> None:
        """Create all hosts, and send their devices."""
        namespaces.make_private()
        with suppress(OSError):
            # Not permitted in some containers; commands then also see the processes of the machine.
            namespaces.mount_proc()
        _name(hosts)
        devices = [self._make(host) for host in hosts]
        for first in range(0, len(devices), MAX_FILES):
            part = devices[first : first + MAX_FILES]
            socket.send_fds(self._control, [json.dumps({"ready": len(part)}).encode()], part)
        for device in devices:
            os.close(device)

    def _make(self, host: dict[str, Any]) -> int:
        """Create a network namespace with a device for all addresses of the host."""
        namespaces.unshare(namespaces.NETWORK)
        self._namespaces.append(os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC))
        _set({"net.ipv6.conf.all.disable_ipv6": "1", "net.ipv6.conf.default.disable_ipv6": "1"}, may_lack=True)
        _set(host["sysctls"], may_lack=False)
        device = os.open(TUN, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        fcntl.ioctl(device, _TUNSETIFF, struct.pack("16sH22x", _DEVICE.encode(), _IFF_TUN | _IFF_NO_PI))
        _connect(host)
        return device

    def serve(self) -> None:
        """Handle requests until the other end is closed."""
        wakeup, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        while True:
            ready, _, _ = select.select([self._control.fileno(), wakeup], [], [])
            if wakeup in ready:
                with suppress(BlockingIOError):
                    os.read(wakeup, 4096)
            self._reap()
            if self._control.fileno() in ready:
                data, files, _, _ = socket.recv_fds(self._control, LARGEST_MESSAGE, 3)
                if not data:
                    return
                self._handle(json.loads(data), files)

    def _handle(self, message: dict[str, Any], files: list[int]) -> None:
        if "start" in message:
            self._start(message, files)
        elif "signal" in message:
            for process, number in self._running.items():
                if number == message["signal"]:
                    with suppress(ProcessLookupError):
                        os.kill(process, message["with"])
        elif "sockets" in message:
            self._send({"sockets": self._sockets(self._namespaces[message["sockets"]])})
        elif "congestion_controls" in message:
            self._send({"congestion_controls": [_congestion_control(namespace) for namespace in self._namespaces]})
        elif "counters" in message:
            self._send({"counters": [self._counters(namespace) for namespace in self._namespaces]})

    def _start(self, message: dict[str, Any], files: list[int]) -> None:
        number, namespace = message["start"], self._namespaces[message["host"]]

        def prepare() -> None:
            namespaces.enter(namespace)
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            signal.set_wakeup_fd(-1)

        try:
            stdin, stdout, stderr = files
            process = subprocess.Popen(
                message["arguments"],
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                env={**os.environ, **message["environment"]},
                preexec_fn=prepare,
            )
        except (OSError, TypeError, ValueError) as error:
            self._send({"failed": number, "why": getattr(error, "strerror", None) or str(error)})
        else:
            # All processes are reaped below, including orphans of commands.
            process.returncode = 0
            self._running[process.pid] = number
            self._send({"started": number})
        finally:
            for file in files:
                os.close(file)

    def _reap(self) -> None:
        while True:
            try:
                process, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if process == 0:
                return
            number = self._running.pop(process, None)
            if number is not None:
                self._send({"ended": number, "code": os.waitstatus_to_exitcode(status)})

    def _counters(self, namespace: int) -> dict[str, int]:
        """The kernel's counters of a host: ``Tcp.RetransSegs``, ``TcpExt.TCPTimeouts``, ..."""
        namespaces.enter(namespace)
        return {name: value for file in _COUNTERS for name, value in _counted(Path(file).read_text())}

    def _sockets(self, namespace: int) -> list[str]:
        """The sockets of a host that accept connections or packets, by protocol and inode (proc_pid_net(5))."""
        namespaces.enter(namespace)
        found = []
        for protocol, inode in _PROTOCOLS.items():
            with suppress(FileNotFoundError):
                rows = [row.split() for row in Path("/proc/self/net", protocol).read_text().splitlines()[1:]]
                found += [f"{protocol} {row[inode]}" for row in rows if "tcp" not in protocol or row[3] == _LISTENS]
        return found

    def _send(self, message: dict[str, Any]) -> None:
        # The other end may be closed, which `serve` detects.
        with suppress(BrokenPipeError, ConnectionResetError):
            self._control.send(json.dumps(message).encode())


def _congestion_control(namespace: int) -> str:
    """The default of a host's kernel; empty if it is not known."""
    namespaces.enter(namespace)
    try:
        return Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text().strip()
    except OSError:
        return ""


def _counted(text: str) -> Iterator[tuple[str, int]]:
    """Parse pairs of lines with names and values."""
    lines = text.splitlines()
    for names, values in zip(lines[::2], lines[1::2], strict=True):
        family, *columns = names.split()
        yield from zip((f"{family.rstrip(':')}.{column}" for column in columns), map(int, values.split()[1:]), strict=True)


def _name(hosts: list[dict[str, Any]]) -> None:
    """Make the hosts resolvable by name, and let all other name lookups fail immediately."""
    lines = ["127.0.0.1 localhost", *(f"{host['addresses'][0]} {host['name']}" for host in hosts if host["addresses"])]
    for place, text in (("/etc/hosts", "\n".join(lines)), ("/etc/resolv.conf", "")):
        if not Path(place).exists():
            continue
        with tempfile.NamedTemporaryFile("w", prefix="tailback-hosts-") as file:
            file.write(f"{text}\n")
            file.flush()
            Path(file.name).chmod(0o644)
            namespaces.bind(file.name, place)


_CONGESTION_CONTROL = "net.ipv4.tcp_congestion_control"


def _set(settings: dict[str, str], *, may_lack: bool) -> None:
    for key, value in settings.items():
        try:
            Path("/proc/sys", *key.split(".")).write_text(value)
        except FileNotFoundError as error:
            if key == _CONGESTION_CONTROL:
                known = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()
                raise OSError(
                    error.errno,
                    f"this kernel has no congestion control `{value}`; expected one of {', '.join(known)}, or its module",
                ) from None
            if not may_lack:
                raise OSError(error.errno, f"this kernel has no sysctl `{key}`") from None
        except OSError as error:
            raise OSError(error.errno, f"`{key}` cannot be set to `{value}`: {error.strerror}") from None


def _connect(host: dict[str, Any]) -> None:
    """Configure addresses, and a default route through the device."""
    from pyroute2 import IPRoute

    with IPRoute() as network:
        network.link("set", index=network.link_lookup(ifname="lo")[0], state="up")
        index = network.link_lookup(ifname=_DEVICE)[0]
        # One packet at a time: with segmentation offload, the burstiness would be the kernel's and not TCP's.
        network.link("set", index=index, mtu=host["mtu"], txqlen=_DEVICE_QUEUE, gso_max_segs=1, state="up")
        for address in host["addresses"]:
            network.addr("add", index=index, address=address, prefixlen=32)
        if host["addresses"]:
            metrics = {"metrics": host["route"]} if host["route"] else {}
            network.route("add", family=socket.AF_INET, dst="default", oif=index, prefsrc=host["addresses"][0], **metrics)


@contextmanager
def _reporting_failures(control: socket.socket) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        number = getattr(error, "errno", None)
        text = f"{type(error).__name__}: {error}" if number is None else (getattr(error, "strerror", None) or str(error))
        file = getattr(error, "filename", None)
        with suppress(OSError):
            control.send(json.dumps({"failed": None, "errno": number, "file": file, "why": text}).encode())
        os._exit(1)


def main() -> None:
    """Enter namespaces, and become their first process."""
    control = socket.socket(fileno=int(sys.argv[1]))
    # The emulating process decides how to handle Ctrl-C.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with _reporting_failures(control):
        given = json.loads(control.recv(LARGEST_MESSAGE))
        if os.geteuid() != 0:
            _enter_user_namespace()
        namespaces.unshare(namespaces.PROCESSES | namespaces.MOUNTS | namespaces.NAMES)
        first = os.fork()
    if first:
        control.close()
        os.waitpid(first, 0)
        return
    with _reporting_failures(control):
        manager = HostManager(control)
        manager.make(given["hosts"])
        manager.serve()
    # The exit of the first process of a PID namespace ends all others.
    os._exit(0)


def _enter_user_namespace() -> None:
    """Enter a user namespace in which this user has all rights over the objects created in it (user_namespaces(7))."""
    user, group = os.geteuid(), os.getegid()
    namespaces.unshare(namespaces.USERS)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"0 {user} 1")
    Path("/proc/self/gid_map").write_text(f"0 {group} 1")


if __name__ == "__main__":
    main()
