"""`emulate`: hosts made, commands started, packets carried, results taken."""

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
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tailback import _core, _store
from tailback._emulation.known import Told, known
from tailback._run import Interrupted, Run
from tailback._scenario import Scenario
from tailback._table import Table
from tailback.errors import EmulationError, EmulationWarning, MissingExtra, ParameterError, UnknownName

if TYPE_CHECKING:
    from tailback._emulation.hosts import Host, Hosts

__all__ = ["Command", "CommandEnd", "Emulated", "emulate", "require_pyroute2"]

# Beyond this an emulation does not show what the scenario says: a packet of 1500 bytes at 12 Mbit/s takes a millisecond.
_MOST_SLIPPED = 0.01
_MOST_LATE_S = 1e-3

# As much as one processor has been seen to carry, in packets a second.
_REACH = 50_000
_PACKET_BITS = 12_000

_PRIORITY = 10
# How long commands that are told to end may take.
_GRACE_S = 2.0


@dataclass(frozen=True)
class Command:
    """A command to run on a node.

    Parameters
    ----------
    node : str
        Name of the node.
    command : str or sequence of str
        Program and arguments; text is split as a shell would, and nothing else of a shell is done.
    server : bool
        It does not keep the emulation going, and is ended with it.
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
    """How a command ended.

    Attributes
    ----------
    node, command : str
    code : int or None
        Exit code; the negative of a signal that ended it; None if it was still running when the emulation ended, and was ended
        with it.
    server : bool
    """

    node: str
    command: str
    code: int | None
    server: bool


class Emulated(Run):
    """What an emulation measured: the tables of a `Run`, and how real it was.

    Attributes
    ----------
    commands : tuple of CommandEnd
    ended : str
        ``duration``, ``commands``, or ``interrupted``.
    capture_problem : str
        What went wrong with the capture, if anything did.
    """

    _counters = (*Run._counters, "emulation", "connections", "kernel", "transfers")
    commands: tuple[CommandEnd, ...] = ()
    ended: str = "duration"
    capture_problem: str = ""
    _warmup_s: float = 0.0

    @property
    def connections(self) -> Table:
        """The TCP connections as each host saw them, as of a capture (`tailback.analyse`)."""
        return self.tables["connections"]

    @property
    def emulation(self) -> Table:
        """One row: how late deliveries were, and how much time slipped because the machine stood still."""
        return self.tables["emulation"]

    @property
    def transfers(self) -> Table:
        """One row per flow that the kernel played."""
        return self.tables["transfers"]

    @property
    def kernel(self) -> Table:
        """The kernel's own counters of each host, as far as they are not 0: ``TcpExt.TCPTimeouts``, ..."""
        return self.tables["kernel"]

    @property
    def measured(self) -> bool:
        """Whether it went on beyond the scenario's warm-up."""
        return self.simulated_s > self._warmup_s

    @property
    def kept_up(self) -> bool:
        """Whether this machine kept to the scenario's time; if not, the results are not those of the scenario."""
        timing = {name: values[0] for name, values in self.emulation.to_dict().items()}
        return not (timing["slipped_share"] > _MOST_SLIPPED or timing["lateness_p99_s"] > _MOST_LATE_S)

    def __str__(self) -> str:
        timing = {name: values[0] for name, values in self.emulation.to_dict().items()}
        name = self.scenario.get("name") or "scenario"
        lines = [f"{name}: {self.simulated_s:.4g} s emulated, seed {self.seed}, ended by {_ENDED[self.ended]}"]
        packets = f"{timing['delivered_packets']:,} real packets"
        if timing["delivered_packets"]:
            packets += f", late by {1e3 * timing['lateness_p50_s']:.3f} ms (p50), {1e3 * timing['lateness_p99_s']:.3f} ms (p99)"
        lines.append(f"{packets}; {timing['slipped_share']:.2%} of the time slipped")
        refused = [f"{timing[name]:,} {text}" for name, text in _REFUSED.items() if timing[name]]
        if refused:
            lines.append(f"not carried: {', '.join(refused)}")
        if not self.measured:
            lines.append(f"it ended within the scenario's warm-up of {self._warmup_s:g} s: NOTHING WAS MEASURED but traces")
        if self.capture_problem:
            lines.append(self.capture_problem)
        if not self.kept_up:
            lines.append("THIS MACHINE DID NOT KEEP UP: these are not the results of the scenario")
        return "\n".join(lines)


_ENDED = {"duration": "its duration", "commands": "its commands", "interrupted": "an interruption, INCOMPLETE"}
_REFUSED = {
    "refused_other_protocol": "packets of other protocols than IPv4",
    "refused_no_route": "packets to addresses that no route leads to",
    "refused_impossible_size": "packets that are empty or too large",
    "refused_by_host": "packets that their host did not take",
}


def emulate(
    scenario: Scenario | Mapping[str, Any],
    commands: Sequence[Command] = (),
    *,
    played: Sequence[str] = (),
    seed: int | None = None,
    settings: Mapping[str, str] | None = None,
    stdout: int = 1,
    capture: str | os.PathLike[str] | None = None,
    progress: Callable[[float], None] | None = None,
) -> Emulated:
    """Let real packets cross a scenario's queues and links, in real time.

    Each node becomes a host with a network stack of its own and the node's name, in namespaces that end with the call; what its
    commands send crosses the ports of the scenario, beside the scenario's own flows, which are simulated. Linux only.

    Parameters
    ----------
    scenario : Scenario or mapping
        Its links and queues carry the packets. It may be without flows.
    commands : sequence of Command
        What runs, and where. The emulation ends when all have ended that are not servers, or with the scenario's duration.
    played : sequence of str
        Flow groups whose flows this machine's kernel plays instead of being simulated, with their controller, round trips,
        starts, stops and sizes.
    seed : int, optional
        Instead of the scenario's own.
    settings : mapping, optional
        Of every host's network stack, such as ``{"net.ipv4.tcp_ecn": "1"}``.
    stdout : int
        An open file for what the commands print; what they say on stderr goes where this process says it.
    capture : path, optional
        Write what each host's device sees to this file, as pcapng.
    progress : callable, optional
        Called about ten times a second with the fraction of the duration.

    Returns
    -------
    Emulated
        Flows, queues, groups and traces as of a run. Of real flows, the engine counts IP packets.

    Raises
    ------
    ScenarioError
        The scenario cannot run, or real packets cannot cross it.
    ParameterError
        A command or a setting is none.
    EmulationError
        This system lacks something or does not allow it, or a command cannot be started; nothing is left behind.
    Interrupted
        Ctrl-C; its ``run`` holds what was measured until then.

    Warns
    -----
    EmulationWarning
        Without real-time priority; beyond what one processor carries.

    Examples
    --------
    >>> import tailback as tb
    >>> scenario = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", flows=1, duration="10 s")
    >>> run = tb.emulate(scenario, [tb.Command("left", "ping -c 3 right")])  # doctest: +SKIP
    """
    if sys.platform != "linux":
        raise EmulationError(f"this needs namespaces and TUN devices of Linux; this is {platform.system()}")
    require_pyroute2()
    if isinstance(commands, (str, Command)) or isinstance(played, str):
        raise ParameterError("`commands` and `played` are sequences; expected lists, even of one")
    described = scenario if isinstance(scenario, Scenario) else Scenario(scenario)
    emulation = described._emulation(seed, played)
    plan = Plan(emulation, commands, settings or {}, stdout)
    plan.warn()
    if capture is None:
        return plan.carry_out(None, progress or _ignore)
    with _store.staged_file(capture) as partial:
        try:
            return plan.carry_out(partial, progress or _ignore)
        except Interrupted as stopped:
            interrupted = stopped
    raise interrupted


class Plan:
    """What is to be made and run."""

    def __init__(self, emulation: _core.Emulation, commands: Sequence[Command], settings: Mapping[str, str], stdout: int) -> None:
        import json

        from tailback._emulation.hosts import Host
        from tailback._emulation.playing import ROOM, played_hosts

        self._core, self._stdout = emulation, stdout
        self._commands = list(commands)
        _check(self._commands, settings)
        self._groups = json.loads(emulation.played)
        if not self._commands and not self._groups:
            raise EmulationError("there is nothing to run: give commands, or groups for the kernel to play")
        if self._commands and all(command.server for command in self._commands) and not self._groups:
            raise EmulationError("there are only servers: give a command that uses them")
        special = {name: host for group in self._groups for name, host in played_hosts(group, settings).items()}
        usual = {name: Host(name, (), settings={**ROOM, **settings}) for name, _ in emulation.hosts}
        made = {**usual, **special}
        self._hosts: list[Host] = [replace(made[name], addresses=tuple(addresses)) for name, addresses in emulation.hosts]
        for command in self._commands:
            if command.node not in usual or command.node in special:
                raise UnknownName("node", command.node, [name for name in usual if name not in special])
            if not command.arguments:
                raise EmulationError(f"an empty command for `{command.node}`")

    def warn(self) -> None:
        """Say beforehand what this machine may not reach."""
        fastest = self._core.reach_bps / _PACKET_BITS
        if fastest > _REACH:
            warnings.warn(
                f"links of {self._core.reach_bps / 1e6:g} Mbit/s could carry {fastest:,.0f} packets of 1500 bytes a second; "
                f"one processor has been seen to carry {_REACH:,}. If the machine does not keep up with what is sent, "
                "the result says so",
                EmulationWarning,
                stacklevel=3,
            )

    def carry_out(self, capture: Path | None, progress: Callable[[float], None]) -> Emulated:
        from tailback._emulation.hosts import Hosts
        from tailback._emulation.playing import Player

        with Hosts(self._hosts) as hosts:
            players = [Player(group, hosts) for group in self._groups]
            with self._carried(hosts, capture) as carrier:
                for player in players:
                    player.begin(carrier.origin, self._core.warmup_s)
                watch = Watch(hosts, carrier, progress, self._core)
                try:
                    watch.start(self._commands, self._stdout)
                    ended = watch.run()
                except KeyboardInterrupt:
                    ended = "interrupted"
                self._core.stop()
                carrier.join()
            after = hosts.counters()
            told = [(player.group, *player.finish()) for player in players]
            watch.end()
        if carrier.error:
            raise carrier.error
        run = self._results(watch, ended, _difference(watch.before, after), told)
        if ended == "interrupted":
            raise Interrupted(run)
        return run

    @contextmanager
    def _carried(self, hosts: Hosts, capture: Path | None) -> Iterator[Carrier]:
        """The loop runs, in a thread of its own, with the hosts' devices."""
        door, outside = _core.DeviceDoor.open()
        with socket.socket(fileno=outside) as way:
            for first in range(0, len(hosts.devices), 250):
                socket.send_fds(way, [b"."], hosts.devices[first : first + 250])
        hosts.close_devices()
        carrier = Carrier(self._core, door, capture)
        try:
            carrier.start()
            yield carrier
        finally:
            self._core.stop()
            carrier.join()

    def _results(self, watch: Watch, ended: str, counters: list[dict[str, int]], told: Told) -> Emulated:
        run = Emulated(self._core.results())
        run.ended, run.commands, run._warmup_s = ended, tuple(watch.ends()), self._core.warmup_s
        run.complete = ended != "interrupted"
        run.capture_problem = self._core.finish_capture() or ""
        names = [host.name for host in self._hosts]
        rows = [(name, *row) for name, counted in zip(names, counters, strict=True) for row in sorted(counted.items()) if row[1]]
        run._tables["kernel"] = Table._of("kernel", _columns(("host", "counter", "value"), rows))
        run._tables |= known(run, self._core.warmup_s, told)
        run.provenance["complete"] = run.complete
        run.provenance["emulation"] = {
            "kernel": platform.release(),
            "machine": platform.machine(),
            "real_time": watch.carrier.is_real_time,
            "ended": ended,
            "kept_up": run.kept_up,
            "commands": [asdict(end) for end in run.commands],
            "played": self._groups,
            "settings": {host.name: dict(host.settings) for host in self._hosts},
        }
        return run


class Carrier(threading.Thread):
    """The thread in which packets are carried, with real-time priority if that is allowed."""

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
            warnings.warn(
                "without real-time priority (root, CAP_SYS_NICE or `ulimit -r`) packets come as late as others make them",
                EmulationWarning,
                stacklevel=2,
            )

    def run(self) -> None:
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_PRIORITY))
            self.is_real_time = True
        except OSError:
            # Not allowed to this user, or in this container.
            pass
        self.origin = time.monotonic()
        self._began.set()
        try:
            self._emulation.run(self._door, self._capture)
        except OSError as error:
            self.error = EmulationError(f"packets can no longer be carried: {error}")
        except Exception as error:
            self.error = error


class Watch:
    """Commands while they run."""

    def __init__(self, hosts: Hosts, carrier: Carrier, progress: Callable[[float], None], emulation: _core.Emulation) -> None:
        self._hosts, self.carrier, self._progress, self._emulation = hosts, carrier, progress, emulation
        # The kernel's counters at the end of the warm-up.
        self.before = hosts.counters()
        self._numbers: dict[int, Command] = {}
        self._codes: dict[int, int] = {}

    def start(self, commands: Sequence[Command], stdout: int) -> None:
        """Start them, servers first."""
        for command in sorted(commands, key=lambda command: not command.server):
            self._numbers[self._hosts.start(command.node, command.arguments, stdout=stdout)] = command

    def run(self) -> str:
        """Wait for the end, and say what it was."""
        waits_for_commands = any(not command.server for command in self._numbers.values())
        warms_up = self._emulation.warmup_s > 0
        while self.carrier.is_alive():
            now_s = self._emulation.now_s
            self._note(min(0.1, max(0.0, self._emulation.warmup_s - now_s)) if warms_up else 0.1)
            if warms_up and now_s >= self._emulation.warmup_s:
                self.before, warms_up = self._hosts.counters(), False
            self._progress(now_s / self._emulation.duration_s)
            if waits_for_commands and not self._in_front():
                return "commands"
        return "duration"

    def end(self) -> None:
        """Tell what still runs to end; what does not is ended with its hosts."""
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


# Of a host's network stack: what a network namespace has of its own stands below `net`.
_SETTING = r"net(\.[A-Za-z0-9_-]+)+"


def _check(commands: Sequence[Command], settings: Mapping[str, str]) -> None:
    """Raise a `ParameterError` where something is not what it should be."""
    for command in commands:
        if not isinstance(command, Command):
            raise ParameterError(f"{command!r} is not a command; expected a `tailback.Command`")
        try:
            arguments = command.arguments
        except (TypeError, ValueError) as error:
            raise ParameterError(f"{command.command!r} is not a command: {str(error).lower()}; expected words") from None
        if not all(isinstance(word, str) and "\0" not in word for word in arguments):
            raise ParameterError(f"{command.command!r} is not a command; expected words, without characters of code 0")
    for key, value in settings.items():
        if not isinstance(key, str) or not re.fullmatch(_SETTING, key):
            raise ParameterError(f"`{key}` is no setting of a host's network stack; expected such as `net.ipv4.tcp_ecn`")
        if not isinstance(value, str):
            raise ParameterError(f"`{key}` is {value!r}; expected text such as `'1'`")


def _difference(before: list[dict[str, int]], after: list[dict[str, int]]) -> list[dict[str, int]]:
    return [{name: value - old.get(name, 0) for name, value in new.items()} for old, new in zip(before, after, strict=True)]


def _columns(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> dict[str, list[Any]]:
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def require_pyroute2() -> None:
    """Raise `MissingExtra` where hosts cannot be made for want of a library."""
    import importlib.util

    if importlib.util.find_spec("pyroute2") is None:
        raise MissingExtra("making hosts", "pyroute2", "emulate")


def _ignore(fraction: float) -> None:
    pass
