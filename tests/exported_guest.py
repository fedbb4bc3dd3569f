"""An exported script of tc in a Linux kernel that runs in virtual time: the whole network and its hosts in one guest.

The kernel is User-mode Linux with `time-travel=inf-cpu`: the processing of packets takes no time, so that runs are exact, and
the same seed gives the same packets.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import tailback as tb
from tailback import _kernels

__all__ = ["Measured", "measured", "missing"]

SOURCE = Path(__file__).with_name("exported_guest.c")
STEP_US = 10_000

# An own network, and `sysctl` as in the settings of the stack `linux`. Everything of a run is in memory until its end.
INIT = """\
#!/bin/sh
export PATH=/mnt:/usr/sbin:/usr/bin:/sbin:/bin MEASURED=/tmp
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs run /run
mount -t tmpfs tmp /tmp
mount -t hostfs none /mnt -o "$WORK"
cd /mnt
bash -e commands.sh > output 2>&1
echo $? > exit_code
sync
exec busybox poweroff -f
"""

COMMANDS = """\
bash network.sh up
for node in /run/netns/*; do
    ip netns exec "${node##*/}" sysctl -qw net.ipv4.tcp_autocorking=0
done
sysctl -qw "net.ipv4.tcp_mem=98304 114688 131072"
ip netns exec SOURCE queues INTERFACE /tmp/queues STEP &
bash network.sh run
# Samples after the end of the flows.
sleep 0.3
cat /tmp/queues > queues.txt
for file in /tmp/sender.* /tmp/receiver.*; do
    cat "$file" > "${file##*/}.txt"
done
"""


@dataclass(frozen=True)
class Measured:
    """Goodput in bit/s by the number of the flow, and mean queue and drops of the first link."""

    goodput_bps: list[float]
    mean_queue: float
    drops: int


@cache
def kernel() -> str:
    """A kernel with virtual time and bridges: `$TAILBACK_EXPORT_KERNEL`, or a built one; empty if there is none."""
    built = [str(each.path / "linux") for each in reversed(_kernels.kernels()) if each.manifest["hz"] == 1000]
    # A message of the bridge.
    return os.environ.get("TAILBACK_EXPORT_KERNEL") or next(
        (each for each in built if b"entered %s state" in Path(each).read_bytes()), ""
    )


def missing() -> str:
    """The programs that a run needs and this computer lacks."""
    names = ("cc", "ip", "tc", "sysctl", "bash", "busybox")
    path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    lacks = [name for name in names if shutil.which(name, path=path) is None]
    return ", ".join(lacks if kernel() else [*lacks, "a kernel with bridges (`tailback kernel build`)"])


@cache
def program(folder: Path) -> Path:
    """The program that sends, receives and samples in the guest."""
    built = folder / "iperf3"
    subprocess.run(["cc", "-O2", "-static", "-pthread", "-o", built, SOURCE], check=True)
    return built


def measured(scenario: tb.Scenario, bottleneck: str, seed: int, folder: Path) -> Measured:
    """Run the scenario's script in a kernel whose random numbers come from the seed."""
    folder.mkdir(parents=True)
    for name in ("iperf3", "queues"):
        shutil.copy(program(folder.parent), folder / name)
    text = scenario.export("tc").text
    (folder / "network.sh").write_text(text)
    found = re.search(rf"# {re.escape(bottleneck)}: (\S+) to \S+\n    wire (\d+) ", text)
    assert found is not None
    commands = COMMANDS.replace("SOURCE", f"tb-{found[1]}").replace("INTERFACE", f"l{found[2]}a").replace("STEP", str(STEP_US))
    (folder / "commands.sh").write_text(commands)
    init = folder / "init.sh"
    init.write_text(INIT)
    init.chmod(0o755)
    options = ["mem=768M", "time-travel=inf-cpu", "time-travel-start=1000000000000000000", "root=none", "rootfstype=hostfs"]
    options += ["rootflags=/", "ro", "con=null", "con0=null,fd:1", "quiet", f"SEED={seed}"]
    command = ["setarch", "x86_64", "-R", kernel(), *options, f"init={init}", f"WORK={folder}"]
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        cwd=folder,
        preexec_fn=_refuse_getrandom,
    )
    if not (folder / "exit_code").exists():
        raise RuntimeError(f"the kernel ended before its commands: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    output = (folder / "output").read_text(errors="replace")
    if (folder / "exit_code").read_text().strip() != "0" or output:
        raise RuntimeError(f"the script failed: {output[-2000:]}")
    return _read(scenario, folder)


def _read(scenario: tb.Scenario, folder: Path) -> Measured:
    description = scenario.to_dict()
    duration_s = float(description["duration"].removesuffix(" s"))
    starts = [float(flow.get("start", "0 s").removesuffix(" s")) for flow in description["flows"].values()]
    rows = {
        role: [_rows(folder / f"{role}.{5201 + number}.txt") for number in range(len(starts))] for role in ("sender", "receiver")
    }
    # The beginning of the flows.
    zero = min(sent[0][0] - start for sent, start in zip(rows["sender"], starts, strict=True))
    end = zero + duration_s
    goodput = [8 * _at(received, end) / duration_s for received in rows["receiver"]]
    queue = [row for row in _rows(folder / "queues.txt", 16) if row[1] == 2 and zero <= row[0] <= end]
    mean = sum(row[2] for row in queue) / len(queue)
    return Measured(goodput, mean, int(queue[-1][3] - queue[0][3]))


def _at(rows: list[list[float]], end: float) -> float:
    """The bytes received at a time, between two samples."""
    before = [row for row in rows if row[0] <= end]
    after = [row for row in rows if row[0] > end]
    if not before or not after:
        return before[-1][1] if before else 0.0
    (begin, first), (finish, last) = before[-1][:2], after[0][:2]
    return first + (last - first) * (end - begin) / (finish - begin)


def _rows(file: Path, base: int = 10) -> list[list[float]]:
    """Rows of numbers; the last may be incomplete. Handles of qdiscs have the base 16."""
    lines = file.read_text().splitlines()[:-1]
    split = [line.split() for line in lines]
    return [[float(words[0]), float(int(words[1], base)), *map(float, words[2:])] for words in split]


def _refuse_getrandom() -> None:
    """As crates/linux does: without the host's random numbers, the kernel derives all of its own from its command line."""

    class Instruction(ctypes.Structure):
        _fields_ = [("code", ctypes.c_uint16), ("true", ctypes.c_uint8), ("false", ctypes.c_uint8), ("value", ctypes.c_uint32)]

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_uint16), ("filter", ctypes.POINTER(Instruction))]

    libc = ctypes.CDLL(None, use_errno=True)
    # Load the number of the call; ENOSYS for getrandom (318 on x86-64), otherwise allow it.
    code = (Instruction * 4)(
        Instruction(0x20, 0, 0, 0),
        Instruction(0x15, 0, 1, 318),
        Instruction(0x06, 0, 0, 0x50000 | 38),
        Instruction(0x06, 0, 0, 0x7FFF0000),
    )
    given = Program(4, code)
    # PR_SET_NO_NEW_PRIVS; seccomp(SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW).
    if libc.prctl(38, 1, 0, 0, 0) or libc.syscall(317, 1, 4, ctypes.byref(given)):
        os._exit(1)
