"""`emulate`: creates hosts, runs commands on them, forwards their packets, and collects the results."""

from __future__ import annotations

import os
import platform
import re
import shlex
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tailback import _core, _store
from tailback._arguments import arguments_checked
from tailback._emulation.machine import StealClock, exceeded, longest_wait
from tailback._emulation.real_connections import connection_lines
from tailback._emulation.real_flows import FlowReports, real_flow_tables
from tailback._run import Interrupted, Run
from tailback._scenario import Scenario
from tailback._scenario.description import name_of
from tailback._tables.table import Table
from tailback.errors import EmulationError, EmulationWarning, MissingExtra, ParameterError, UnknownName, warn

if TYPE_CHECKING:
    from tailback._emulation.hosts import Host, Hosts

__all__ = ["Command", "CommandEnd", "Emulated", "emulate", "require_pyroute2"]

# Maximum packet rate measured on one processor, in packets per second.
_REACH = 50_000
_PACKET_BITS = 12_000

_PRIORITY = 10
# Time in which a server must open a socket.
_PATIENCE_S = 5.0
# Time in which commands must exit after SIGTERM.
_GRACE_S = 2.0


@arguments_checked
@dataclass(frozen=True)
class Command:
    """A command to run on a node.

    Parameters
    ----------
    node : str
        Name of the node.
    command : str or sequence of str
        Program and arguments; text is split into words like in a shell, without other shell features.
    server : bool
        The emulation starts when every server has opened a socket, does not wait for servers to exit, and stops them at its end.
    """

    node: str
    command: str | Sequence[str]
    server: bool = False

    @property
    def arguments(self) -> list[str]:
        """Program and arguments."""
        return shlex.split(self.command) if isinstance(self.command, str) else list(self.command)

    def __str__(self) -> str:
        return self.command if isinstance(self.command, str) else shlex.join(self.command)


@dataclass(frozen=True)
class CommandEnd:
    """Outcome of a command.

    Attributes
    ----------
    node, command : str
    code : int or None
        Exit code; the negative signal number if a signal ended it; None if it was still running at the end of the emulation,
        which stopped it.
    server : bool
    """

    node: str
    command: str
    code: int | None
    server: bool


class Emulated(Run):
    """Results of an emulation: the tables of a `Run`, and the quality of its timing.

    Attributes
    ----------
    commands : tuple of CommandEnd
    ended : str
        ``duration``, ``commands``, or ``interrupted``.
    capture_problem : str
        Description of a failure of the capture; empty if there was none.
    """

    _counters = (*Run._counters, "emulation", "connections", "udp_flows", "kernel", "hosts", "transfers")
    commands: tuple[CommandEnd, ...] = ()
    ended: str = "duration"
    capture_problem: str = ""
    _warmup_s: float = 0.0

    @property
    def connections(self) -> Table:
        """The TCP connections as seen at each host, as in a capture (`tailback.analyse`)."""
        return self.tables["connections"]

    @property
    def udp_flows(self) -> Table:
        """The UDP flows as seen at each host, with the spin bit of QUIC, as in a capture (`tailback.analyse`)."""
        return self.tables["udp_flows"]

    @property
    def emulation(self) -> Table:
        """One row: lateness of deliveries, share of the time that slipped because the machine was not responsive, share of
        processor time that a hypervisor gave to others, and mean wait of the kernel flows' programs for a processor."""
        return self.tables["emulation"]

    @property
    def transfers(self) -> Table:
        """One row per kernel flow."""
        return self.tables["transfers"]

    @property
    def kernel(self) -> Table:
        """The kernel's counters of each host that are not 0: ``TcpExt.TCPTimeouts``, ..."""
        return self.tables["kernel"]

    @property
    def hosts(self) -> Table:
        """One row per host: its addresses, and the congestion control of its kernel for connections of commands that choose
        none: the sysctl ``net.ipv4.tcp_congestion_control`` at the end of the emulation."""
        return self.tables["hosts"]

    @property
    def kernel_controllers(self) -> dict[str, str]:
        """The kernel's congestion controller of each group of kernel flows, by the kernel's name, such as ``cubic``."""
        return dict(zip(self.transfers["group"], self.transfers["controller"], strict=True))

    @property
    def measured(self) -> bool:
        """Whether the emulation continued beyond the scenario's warm-up."""
        return self.simulated_s > self._warmup_s

    @property
    def kept_up(self) -> bool:
        """Whether this machine kept up with real time; if not, the results do not represent the scenario."""
        return not exceeded(self._timing)

    @property
    def _timing(self) -> dict[str, float]:
        return {name: values[0] for name, values in self.emulation.to_dict().items()}

    def __str__(self) -> str:
        timing = self._timing
        name = name_of(self.scenario)
        lines = [f"{name}: {self.simulated_s:.4g} s emulated, seed {self.seed}, ended by {_ENDED[self.ended]}"]
        packets = f"{timing['delivered_packets']:,} real packets"
        if timing["delivered_packets"]:
            packets += f", late by {1e3 * timing['lateness_p50_s']:.3f} ms (p50), {1e3 * timing['lateness_p99_s']:.3f} ms (p99)"
        lines.append(f"{packets}; {timing['slipped_share']:.2%} of the time slipped")
        refused = [f"{timing[name]:,} {text}" for name, text in _REFUSED.items() if timing[name]]
        if refused:
            lines.append(f"not forwarded: {', '.join(refused)}")
        laws = self.kernel_controllers
        if laws:
            lines.append("kernel flows: " + ", ".join(f"{name} ({law})" for name, law in laws.items()))
        played = self.provenance["emulation"]["kernel_flows"]
        lines += connection_lines(
            self.connections, self.hosts, {group[end] for group in played for end in ("sender", "receiver")}
        )
        if not self.measured:
            lines.append(f"the emulation ended within the warm-up of {self._warmup_s:g} s: NOTHING WAS MEASURED except traces")
        if self.capture_problem:
            lines.append(self.capture_problem)
        if not self.kept_up:
            why = ", ".join(f"{name} {timing[name]:.3g}" for name in exceeded(timing))
            lines.append(f"THIS MACHINE DID NOT KEEP UP WITH REAL TIME ({why}): the results do not represent the scenario")
        return "\n".join(lines)


_ENDED = {"duration": "its duration", "commands": "its commands", "interrupted": "an interruption, INCOMPLETE"}
_REFUSED = {
    "refused_other_protocol": "packets of protocols other than IPv4",
    "refused_no_route": "packets to addresses without a route",
    "refused_impossible_size": "packets that are empty or too large",
    "refused_by_host": "packets that their host did not accept",
}


@arguments_checked
def emulate(
    scenario: Scenario | Mapping[str, Any],
    commands: Sequence[Command] = (),
    *,
    kernel_flows: Sequence[str] = (),
    seed: int | None = None,
    sysctls: Mapping[str, str] | None = None,
    stdout: int = 1,
    capture: str | os.PathLike[str] | None = None,
    progress: Callable[[float], None] | None = None,
) -> Emulated:
    """Send real packets through the queues and links of a scenario, in real time.

    Each node becomes a host with the node's name and its own network stack, in namespaces that are removed at the end. Packets of
    commands on the hosts cross the ports of the scenario, together with the simulated flows. Linux only.

    Parameters
    ----------
    scenario : Scenario or mapping
        The scenario whose links and queues forward the packets. It may have no flows.
    commands : sequence of Command
        Commands to run on nodes. The emulation ends when all commands except servers have exited, or after the scenario's
        duration.
    kernel_flows : sequence of str
        Flow groups that run on the kernel's TCP stack instead of being simulated, with their controllers, RTTs, start and stop
        times, sizes and applications.
    seed : int, optional
        Seed to use instead of the scenario's.
    sysctls : mapping, optional
        Sysctls of every host's network stack, for example ``{"net.ipv4.tcp_ecn": "1"}``.
    stdout : int
        File descriptor for the stdout of commands. That of servers, and the stderr of all, go to the stderr of this process.
    capture : path, optional
        Write the packets of every host's interface to this pcapng file.
    progress : callable, optional
        Called about ten times a second with the elapsed fraction of the duration.

    Returns
    -------
    Emulated
        Flows, queues, groups and traces as in a run. For real flows, the engine counts IP packets.

    Raises
    ------
    ScenarioError
        The scenario is not valid, or cannot be emulated.
    ParameterError
        A command or a setting is not valid.
    EmulationError
        This system lacks a feature or a permission, or a command cannot be started; nothing was changed on the system.
    Interrupted
        Ctrl-C; its ``run`` holds the results so far.

    Warns
    -----
    EmulationWarning
        The process has no real-time priority, or the packet rate may exceed the capacity of a processor.

    Examples
    --------
    >>> import tailback as tb
    >>> scenario = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", flows=1, duration="10 s")
    >>> run = tb.emulate(scenario, [tb.Command("left", "ping -c 3 right")])  # doctest: +SKIP
    """
    if sys.platform != "linux":
        raise EmulationError(f"emulation requires namespaces and TUN devices of Linux; this is {platform.system()}")
    require_pyroute2()
    if isinstance(commands, (str, Command)) or isinstance(kernel_flows, str):
        raise ParameterError("`commands` and `kernel_flows` must be lists, also for a single element")
    described = scenario if isinstance(scenario, Scenario) else Scenario(scenario)
    emulation = described._emulation(seed, kernel_flows)
    plan = EmulationPlan(emulation, commands, sysctls or {}, stdout)
    plan.warn()
    if capture is None:
        return plan.run(None, progress or _ignore)
    with _store.staged_file(capture) as partial:
        try:
            return plan.run(partial, progress or _ignore)
        except Interrupted as stopped:
            interrupted = stopped
    raise interrupted


class EmulationPlan:
    """The validated hosts and commands of an emulation."""

    def __init__(self, emulation: _core.Emulation, commands: Sequence[Command], sysctls: Mapping[str, str], stdout: int) -> None:
        import json

        from tailback._emulation.hosts import Host
        from tailback._emulation.kernel_flows import ROOM, kernel_hosts

        self._core, self._stdout = emulation, stdout
        self._commands = list(commands)
        _check(self._commands, sysctls)
        self._groups = json.loads(emulation.played)
        if not self._commands and not self._groups:
            raise EmulationError("there is nothing to run: give commands, or groups to run on the kernel")
        if self._commands and all(command.server for command in self._commands) and not self._groups:
            raise EmulationError("there are only servers: give a command that uses them")
        special = {name: host for group in self._groups for name, host in kernel_hosts(group, sysctls).items()}
        usual = {name: Host(name, (), sysctls={**ROOM, **sysctls}) for name, _ in emulation.hosts}
        made = {**usual, **special}
        self._hosts: list[Host] = [replace(made[name], addresses=tuple(addresses)) for name, addresses in emulation.hosts]
        for command in self._commands:
            if command.node not in usual or command.node in special:
                raise UnknownName("node", command.node, [name for name in usual if name not in special])
            if not command.arguments:
                raise EmulationError(f"the command for `{command.node}` is empty")

    def warn(self) -> None:
        """Warn if this machine may not reach the required packet rate, and of links that are limited in one direction only."""
        fastest = self._core.reach_bps / _PACKET_BITS
        if fastest > _REACH:
            text = (
                f"links of {self._core.reach_bps / 1e6:g} Mbit/s can carry {fastest:,.0f} packets of 1500 bytes per second; "
                f"the measured maximum of one processor is {_REACH:,}. The result reports whether the machine kept up"
            )
            warn(EmulationWarning(text))
        for name in self._core.lossless_reverses if self._commands else ():
            link = name.removesuffix(".reverse")
            text = (
                f"`{name}`, unlike `{link}`, loses no packets and has an unlimited buffer; the link's table `reverse` sets both"
            )
            warn(EmulationWarning(text))

    def run(self, capture: Path | None, progress: Callable[[float], None]) -> Emulated:
        from tailback._emulation.hosts import Hosts
        from tailback._emulation.kernel_flows import KernelGroup

        timing: dict[str, float] = {}
        with Hosts(self._hosts) as hosts:
            supervisor = Supervisor(hosts, progress, self._core)
            # The output of servers is apart from that of the other commands.
            supervisor.start_servers(self._commands, 2)
            kernel_groups = [KernelGroup(group, hosts) for group in self._groups]
            with self._forwarding(hosts, capture) as forwarder:
                for kernel_group in kernel_groups:
                    kernel_group.begin(forwarder.origin, self._core.warmup_s, self._core.duration_s)
                steal = StealClock()
                try:
                    supervisor.start(self._commands, self._stdout)
                    ended = supervisor.run(forwarder)
                except KeyboardInterrupt:
                    ended = "interrupted"
                self._core.stop()
                forwarder.join()
            after = hosts.counters()
            laws = hosts.congestion_controls()
            timing["steal_share"] = steal.share()
            ends = [kernel_group.finish() for kernel_group in kernel_groups]
            timing["kernel_flows_wait_s"] = longest_wait([end["mean_wait_s"] for pair in ends for end in pair])
            reports = [
                (kernel_group.group, *(end["flows"] for end in pair))
                for kernel_group, pair in zip(kernel_groups, ends, strict=True)
            ]
            supervisor.end()
        if forwarder.error:
            raise forwarder.error
        run = self._results(supervisor, ended, _difference(supervisor.before, after), laws, reports, timing)
        if ended == "interrupted":
            raise Interrupted(run)
        return run

    @contextmanager
    def _forwarding(self, hosts: Hosts, capture: Path | None) -> Iterator[Forwarder]:
        """Run the forwarding loop in its own thread, with the hosts' devices."""
        door, outside = _core.DeviceDoor.open()
        with socket.socket(fileno=outside) as way:
            for first in range(0, len(hosts.devices), 250):
                socket.send_fds(way, [b"."], hosts.devices[first : first + 250])
        hosts.close_devices()
        forwarder = Forwarder(self._core, door, capture)
        try:
            forwarder.start()
            yield forwarder
        finally:
            self._core.stop()
            forwarder.join()

    def _results(
        self,
        supervisor: Supervisor,
        ended: str,
        counters: list[dict[str, int]],
        laws: list[str],
        reports: FlowReports,
        timing: Mapping[str, float],
    ) -> Emulated:
        run = Emulated(self._core.results())
        kept = {**run.tables["emulation"].to_dict(), **{name: [value] for name, value in timing.items()}}
        run._tables["emulation"] = Table._of("emulation", kept)
        run.ended, run.commands, run._warmup_s = ended, tuple(supervisor.ends()), self._core.warmup_s
        run.complete = ended != "interrupted"
        run.capture_problem = self._core.finish_capture() or ""
        names = [host.name for host in self._hosts]
        addresses = [", ".join(host.addresses) for host in self._hosts]
        rows = [(name, *row) for name, counted in zip(names, counters, strict=True) for row in sorted(counted.items()) if row[1]]
        run._tables["kernel"] = Table._of("kernel", _columns(("host", "counter", "value"), rows))
        run._tables["hosts"] = Table._of("hosts", {"host": names, "addresses": addresses, "congestion_control": laws})
        run._tables |= real_flow_tables(run, self._core.warmup_s, reports)
        run.provenance["complete"] = run.complete
        run.provenance["emulation"] = {
            "kernel": platform.release(),
            "machine": platform.machine(),
            "real_time": supervisor.is_real_time,
            "ended": ended,
            "kept_up": run.kept_up,
            "commands": [asdict(end) for end in run.commands],
            "kernel_flows": self._groups,
            "sysctls": {host.name: dict(host.sysctls) for host in self._hosts},
        }
        return run


class Forwarder(threading.Thread):
    """The thread that forwards packets, with real-time priority if permitted."""

    def __init__(self, emulation: _core.Emulation, door: _core.DeviceDoor, capture: Path | None) -> None:
        super().__init__(name="emulation", daemon=True)
        self._emulation, self._door, self._capture = emulation, door, capture
        self._began = threading.Event()
        self.origin = 0.0
        self.is_real_time = False
        self.error: Exception | None = None

    def start(self) -> None:
        super().start()
        self._began.wait()
        if not self.is_real_time:
            warn(
                EmulationWarning("without real-time priority (root, CAP_SYS_NICE or `ulimit -r`), other processes delay packets")
            )

    def run(self) -> None:
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_PRIORITY))
            self.is_real_time = True
        except OSError:
            # Not permitted for this user or in this container.
            pass
        self.origin = time.monotonic()
        self._began.set()
        try:
            self._emulation.run(self._door, self._capture)
        except OSError as error:
            self.error = EmulationError(f"packets cannot be forwarded any more: {error}")
        except Exception as error:
            self.error = error


class Supervisor:
    """Supervises the running commands."""

    def __init__(self, hosts: Hosts, progress: Callable[[float], None], emulation: _core.Emulation) -> None:
        self._hosts, self._progress, self._emulation = hosts, progress, emulation
        # Of the forwarder.
        self.is_real_time = False
        # The kernel's counters at the end of the warm-up.
        self.before = hosts.counters()
        self._numbers: dict[int, Command] = {}
        self._codes: dict[int, int] = {}

    def start_servers(self, commands: Sequence[Command], stdout: int) -> None:
        """Start the servers, each when the one before has opened a socket."""
        for server in (command for command in commands if command.server):
            before = self._hosts.sockets(server.node)
            number = self._start(server, stdout)
            deadline = time.monotonic() + _PATIENCE_S
            while not self._hosts.sockets(server.node) - before and number not in self._codes:
                if time.monotonic() > deadline:
                    text = f"the server `{server}` at {server.node} has not opened a socket within {_PATIENCE_S:g} s"
                    warn(EmulationWarning(text))
                    break
                self._note(0.02)

    def start(self, commands: Sequence[Command], stdout: int) -> None:
        """Start the commands that are not servers."""
        for command in (command for command in commands if not command.server):
            self._start(command, stdout)

    def _start(self, command: Command, stdout: int) -> int:
        number = self._hosts.start(command.node, command.arguments, stdout=stdout)
        self._numbers[number] = command
        return number

    def run(self, forwarder: Forwarder) -> str:
        """Wait for the end of the emulation, and return its reason."""
        self.is_real_time = forwarder.is_real_time
        waits_for_commands = any(not command.server for command in self._numbers.values())
        warms_up = self._emulation.warmup_s > 0
        while forwarder.is_alive():
            now_s = self._emulation.now_s
            self._note(min(0.1, max(0.0, self._emulation.warmup_s - now_s)) if warms_up else 0.1)
            if warms_up and now_s >= self._emulation.warmup_s:
                self.before, warms_up = self._hosts.counters(), False
            self._progress(now_s / self._emulation.duration_s)
            if waits_for_commands and not self._in_front():
                return "commands"
        return "duration"

    def end(self) -> None:
        """Send SIGTERM to running commands; the removal of the hosts kills the rest."""
        running = [number for number in self._numbers if number not in self._codes]
        for number in running:
            self._hosts.signal(number, signal.SIGTERM)
        deadline = time.monotonic() + _GRACE_S
        ended: set[int] = set()
        while len(ended) < len(running) and time.monotonic() < deadline:
            ended.update(end.number for end in self._hosts.ended(0.05) if end.number in running)

    def ends(self) -> Iterator[CommandEnd]:
        for number, command in self._numbers.items():
            yield CommandEnd(command.node, str(command), self._codes.get(number), command.server)

    def _note(self, patience_s: float) -> None:
        self._codes.update({end.number: end.code for end in self._hosts.ended(patience_s) if end.number in self._numbers})

    def _in_front(self) -> bool:
        return any(number not in self._codes for number, command in self._numbers.items() if not command.server)


# Sysctls of a network namespace are below `net`.
_SYSCTL = r"net(\.[A-Za-z0-9_-]+)+"


def _check(commands: Sequence[Command], sysctls: Mapping[str, str]) -> None:
    """Raise a `ParameterError` if a command or a sysctl is not valid."""
    for command in commands:
        if not isinstance(command, Command):
            raise ParameterError(f"{command!r} is not a command; expected a `tailback.Command`")
        try:
            arguments = command.arguments
        except (TypeError, ValueError) as error:
            raise ParameterError(f"{command.command!r} is not a command: {str(error).lower()}; expected words") from None
        if not all(isinstance(word, str) and "\0" not in word for word in arguments):
            raise ParameterError(f"{command.command!r} is not a command; expected words without null characters")
    for key, value in sysctls.items():
        if not isinstance(key, str) or not re.fullmatch(_SYSCTL, key):
            raise ParameterError(f"`{key}` is not a sysctl of the network stack; expected for example `net.ipv4.tcp_ecn`")
        if not isinstance(value, str):
            raise ParameterError(f"`{key}` is {value!r}; expected text, for example `'1'`")


def _difference(before: list[dict[str, int]], after: list[dict[str, int]]) -> list[dict[str, int]]:
    return [{name: value - old.get(name, 0) for name, value in new.items()} for old, new in zip(before, after, strict=True)]


def _columns(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> dict[str, list[Any]]:
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def require_pyroute2() -> None:
    """Raise `MissingExtra` if the library for creating hosts is not installed."""
    import importlib.util

    if importlib.util.find_spec("pyroute2") is None:
        raise MissingExtra("emulation", "pyroute2", "emulate")


def _ignore(fraction: float) -> None:
    pass
