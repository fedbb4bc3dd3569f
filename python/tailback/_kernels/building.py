"""Build a kernel of User-mode Linux with time travel from an unmodified source package.

A build happens in a directory of its own inside the directory of kernels, and becomes a kernel by a rename at the end; whatever
interrupts it removes that directory. The guest program is compiled first, so that a missing C library is reported before the
long part.
The bytes of the kernel depend on source, configuration and compiler only: times, user and host of the build are fixed.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
import signal
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tailback import _core
from tailback._kernels.initramfs import initramfs
from tailback._kernels.store import MANIFEST, UNFINISHED, Kernel, folder, kernels, remove_abandoned
from tailback.errors import OutputError, ParameterError

__all__ = ["Build", "Plan", "plan"]

# Where Debian's packages `linux-source-*` store their archives.
_PACKAGES = Path("/usr/src")

# Programs, and the Debian packages that contain them.
_TOOLS = {
    "cc": "gcc",
    "ld": "binutils",
    "objcopy": "binutils",
    "make": "make",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "tar": "tar",
}

# A full build of Linux 6.12 measured with du and getrusage, rounded up: GB on disk until the end, MB afterwards, CPU minutes.
DISK_GB, KEPT_MB, CPU_MINUTES = 2.5, 7, 6

# The names of the kernel's options, where they are not the names of the modules.
_CONGESTION = {"hstcp": "highspeed"}


@dataclass(frozen=True)
class Plan:
    """A kernel to build: the archive with the source, and timer ticks per second."""

    source: Path
    hz: int

    def text(self) -> str:
        """The expected costs."""
        count = os.cpu_count() or 1
        return (
            f"building a kernel with {self.hz} Hz from {self.source}: about {CPU_MINUTES} CPU minutes on {count} "
            f"{'core' if count == 1 else 'cores'}, {DISK_GB} GB in {folder()} during the build and {KEPT_MB} MB afterwards"
        )


def plan(source: str | os.PathLike[str] | None = None, hz: int = 1000) -> Plan:
    """Check that a kernel can be built here.

    Parameters
    ----------
    source : path, optional
        An archive of the kernel's source (tar, compressed or not). By default that of the newest package `linux-source-*`
        of Debian.
    hz : int
        Timer ticks per second: 100 to 1000; distributions use 250 or 1000.

    Raises
    ------
    ParameterError
        Another platform, no source, a program that is missing, or a rate that Linux does not support.
    OutputError
        The disk has too little space.
    """
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise ParameterError(
            f"the stack `linux` needs Linux on x86-64; this is {platform.system()} on {platform.machine()}, "
            'where scenarios can use simulated TCP (`tcp = "linux/cubic"`)'
        )
    if not 100 <= hz <= 1000:
        raise ParameterError(f"`hz` is {hz}; expected 100 to 1000, for example 250 or 1000")
    archive = _newest_package() if source is None else Path(source)
    if not archive.is_file():
        raise ParameterError(f"`{archive}` is not a file; expected an archive with the source of a Linux kernel")
    missing = {program: package for program, package in _TOOLS.items() if shutil.which(program) is None}
    if missing:
        names = ", ".join(f"`{program}`" for program in missing)
        packages = " ".join(dict.fromkeys(missing.values()))
        raise ParameterError(f"building a kernel needs {names}; install it, on Debian with `apt install {packages}`")
    _check_space()
    return Plan(archive, hz)


def _newest_package() -> Path:
    found = sorted(_PACKAGES.glob("linux-source-*.tar.*"), key=lambda path: [int(part) for part in re.findall(r"\d+", path.name)])
    if not found:
        raise ParameterError(
            f"no kernel source in {_PACKAGES}; install a package (`apt install linux-source`), or name an archive with --source. "
            "Tailback downloads nothing"
        )
    return found[-1]


def _check_space() -> None:
    store = folder()
    existing = next(path for path in (store, *store.parents) if path.exists())
    free = shutil.disk_usage(existing).free / 1e9
    if free < DISK_GB:
        raise OutputError(f"{store}: {free:.1f} GB are free; a build needs {DISK_GB} GB")


class Build:
    """The steps of a build. `progress` receives the name of each step."""

    def __init__(self, planned: Plan, progress: Callable[[str], None] = lambda step: None) -> None:
        self._plan = planned
        self._progress = progress
        self._sources = dict(_core.kernel_sources())

    def run(self) -> Kernel:
        """Build the kernel, and replace one of the same name. If it exists with the same source and configuration, only the guest
        program is compiled again.

        Raises
        ------
        ParameterError
            The archive is not the source of a kernel, or the compiler fails; contains the end of its output.
        OutputError
            The result cannot be written.
        """
        try:
            with _directory() as work:
                return self._run(work)
        except OSError as error:
            if isinstance(error, OutputError):
                raise
            raise OutputError(f"{error.filename or folder()}: cannot be written; {error.strerror}") from None

    def _run(self, work: Path) -> Kernel:
        self._progress("guest program")
        result = work / "kernel"
        result.mkdir()
        guest = self._guest(work)
        (result / "guest").write_bytes(guest)
        self._progress("hash of the source")
        source = _sha256_of(self._plan.source)
        config = self._configuration()
        identity = {"sha256": source, "config_sha256": _sha256(config.encode()), "hz": self._plan.hz}
        same = next((kernel for kernel in kernels() if identity.items() <= kernel.manifest.items()), None)
        if same is None:
            manifest = self._compiled(work, result, config)
        else:
            shutil.copy(same.path / "linux", result / "linux")
            manifest = {**same.manifest}
        manifest |= {
            **identity,
            "source": self._plan.source.name,
            "guest_source_sha256": _sha256(self._sources["guest.c"].encode()),
            "guest_sha256": _sha256(guest),
            "linux_sha256": _sha256_of(result / "linux"),
            "built": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        (result / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n")
        return _installed(result, manifest)

    def _guest(self, work: Path) -> bytes:
        code, program = work / "guest.c", work / "init"
        code.write_text(self._sources["guest.c"])
        try:
            _call(["cc", "-static", "-O2", "-o", str(program), str(code)], work)
        except _Failed as failed:
            raise ParameterError(
                "the guest program cannot be compiled; a static C library is needed (Debian: `apt install libc6-dev`, Fedora: "
                f"`dnf install glibc-static`):\n{failed.output}"
            ) from None
        return initramfs(program.read_bytes())

    def _configuration(self) -> str:
        return f"{self._sources['kernel.config']}CONFIG_HZ={self._plan.hz}\n"

    def _compiled(self, work: Path, result: Path, config: str) -> dict[str, Any]:
        """Compile the kernel; returns what the manifest contains about it."""
        tree, out = work / "source", work / "out"
        tree.mkdir()
        out.mkdir()
        self._progress("unpacking the source")
        self._step(["tar", "xf", str(self._plan.source.resolve()), "-C", str(tree), "--strip-components=1"], work)
        if not (tree / "arch" / "um" / "kernel" / "time.c").is_file():
            raise ParameterError(
                f"`{self._plan.source}` does not contain the source of a Linux kernel: arch/um/kernel/time.c is missing"
            )
        # HZ has no prompt in arch/um, so that a configuration cannot set it. A definition before all others can.
        before = 'source "scripts/Kconfig.include"'
        top = (tree / "Kconfig").read_text()
        (out / "Kconfig.top").write_text(
            top.replace(before, f'{before}\n\nconfig HZ\n\tint "Timer frequency"\n\tdefault {self._plan.hz}\n', 1)
        )
        (out / "wanted.config").write_text(config)
        make = ["make", "-C", str(tree), "ARCH=um", f"O={out}", f"KBUILD_KCONFIG={out / 'Kconfig.top'}"]
        self._progress("configuration")
        self._step([*make, f"KCONFIG_ALLCONFIG={out / 'wanted.config'}", "allnoconfig"], work)
        used = (out / ".config").read_text().splitlines()
        for line in (
            f"CONFIG_HZ={self._plan.hz}",
            "CONFIG_UML_TIME_TRAVEL_SUPPORT=y",
            "CONFIG_VIRTIO_UML=y",
            "CONFIG_VIRTIO_NET=y",
        ):
            if line not in used:
                raise ParameterError(f"`{self._plan.source}` does not support {line}; expected Linux 6.12 or later")
        self._progress("compiling")
        self._step([*make, f"-j{os.cpu_count() or 1}", "linux"], work)
        self._progress("layout of the connection's state")
        (tree / "net" / "ipv4" / "tailback_layout.c").write_text(self._sources["layout.c"])
        self._step([*make, "net/ipv4/tailback_layout.o"], work)
        self._step(["objcopy", "--strip-all", str(out / "linux"), str(result / "linux")], work)
        (result / "linux").chmod(0o755)
        release = (out / "include" / "config" / "kernel.release").read_text().strip()
        version = re.match(r"\d+(?:\.\d+)*", release)
        if version is None:
            raise ParameterError(f"`{self._plan.source}` has the version `{release}`; expected numbers, for example 6.12.30")
        return {
            "name": f"{version[0]}-hz{self._plan.hz}",
            "version": version[0],
            "compiler": _first_line(["cc", "--version"]),
            "congestion": sorted(_congestion(used)),
            "physmem": _physical_memory(out / "System.map"),
            **_layout(out / "net" / "ipv4" / "tailback_layout.o", work),
        }

    def _step(self, command: list[str], work: Path) -> None:
        try:
            _call(command, work)
        except _Failed as failed:
            raise ParameterError(
                f"`{command[0]}` failed while building a kernel from {self._plan.source}:\n{failed.output}"
            ) from None


@contextmanager
def _directory() -> Iterator[Path]:
    """A directory for a build, removed at the end."""
    folder().mkdir(parents=True, exist_ok=True)
    remove_abandoned()
    work = folder() / f"{UNFINISHED}{os.getpid()}"
    work.mkdir()
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _installed(result: Path, manifest: dict[str, Any]) -> Kernel:
    """Move a finished kernel to its place."""
    place = folder() / manifest["name"]
    old = result.parent / "replaced"
    if place.exists():
        place.rename(old)
    result.rename(place)
    return Kernel(place, manifest)


class _Failed(Exception):
    def __init__(self, output: str) -> None:
        self.output = output


# Lines of a compiler's output in an error.
_LINES = 12


def _call(command: list[str], work: Path) -> None:
    """Run a command in a process group of its own, which ends with an interruption."""
    fixed = {"KBUILD_BUILD_TIMESTAMP": "1970-01-01", "KBUILD_BUILD_USER": "tailback", "KBUILD_BUILD_HOST": "tailback"}
    environment = {**os.environ, **fixed, "KBUILD_BUILD_VERSION": "1", "LC_ALL": "C"}
    log = work / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, env=environment, start_new_session=True
        )
        try:
            code = process.wait()
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
    if code:
        lines = log.read_text(errors="replace").splitlines()
        raise _Failed("\n".join(lines[-_LINES:]) or f"exit code {code}")


def _first_line(command: list[str]) -> str:
    return (subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines() or [""])[0]


def _congestion(configuration: list[str]) -> Iterator[str]:
    """Congestion controls of a configuration."""
    yield "reno"
    for line in configuration:
        if found := re.fullmatch(r"CONFIG_TCP_CONG_(\w+)=y", line):
            name = found[1].lower()
            if name not in ("advanced",):
                yield _CONGESTION.get(name, name)


def _physical_memory(symbols: Path) -> int:
    """The kernel's virtual address of its first byte of memory."""
    found = re.search(r"^([0-9a-f]+) \w __binary_start$", symbols.read_text(), re.MULTILINE)
    if found is None:
        raise ParameterError("the kernel has no symbol `__binary_start`; this version of Linux is not supported")
    return int(found[1], 16) & ~0xFFF


def _layout(compiled: Path, work: Path) -> dict[str, Any]:
    """The tables of `layout.c`: offset and size of each field, and offset and mask of the bit field."""
    table = _section(compiled, ".tailback", work)
    fields = {}
    for name, offset, size in struct.iter_unpack("<24sII", table):
        fields[name.rstrip(b"\0").decode().rsplit("skc_", 1)[-1].split(".")[0]] = [offset, size]
    state = _section(compiled, ".tailback_ca_state", work)
    offset = next((place for place, byte in enumerate(state) if byte), 0)
    return {"fields": fields, "ca_state": [offset, state[offset]]}


def _section(compiled: Path, name: str, work: Path) -> bytes:
    file = work / "section"
    _call(
        ["objcopy", "-O", "binary", f"--only-section={name}", "--set-section-flags", f"{name}=alloc", str(compiled), str(file)],
        work,
    )
    return file.read_bytes()


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _sha256_of(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
