"""A Linux kernel as a process: Debian's package `user-mode-linux`. It has all queueing disciplines, and needs no rights."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

__all__ = ["missing", "run"]

KERNEL = "linux.uml"

# Modules are found below their package, and the directory of the test is at /mnt.
INIT = """\
#!/bin/sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs run /run
mkdir -p /run/modules/lib
ln -s /usr/lib/uml/modules /run/modules/lib/modules
printf '#!/bin/sh\\nexec modprobe -d /run/modules "$@"\\n' > /run/modprobe
chmod +x /run/modprobe
echo /run/modprobe > /proc/sys/kernel/modprobe
mount -t hostfs none /mnt -o "$WORK"
mount -t tmpfs tmp /tmp
cd /mnt
bash -e commands.sh > output 2>&1
echo $? > exit_code
echo o > /proc/sysrq-trigger
sleep 60
"""


def missing() -> str:
    """The programs that a guest needs and this computer lacks."""
    names = (KERNEL, "modprobe", "ip", "tc", "sysctl", "bash", "ping", "iperf3")
    return ", ".join(name for name in names if shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin") is None)


def run(commands: str, directory: Path) -> tuple[int, str]:
    """The exit code and the output of commands of bash, which run as root with the directory as the current one."""
    init = directory / "init.sh"
    init.write_text(INIT)
    init.chmod(0o755)
    (directory / "commands.sh").write_text(commands)
    options = ["root=none", "rootfstype=hostfs", "rootflags=/", "ro", "mem=256M", "con=null", "con0=null,fd:1", "quiet"]
    words = [KERNEL, *options, f"init={init}", f"WORK={directory}"]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", cwd=directory)
    if not (directory / "exit_code").exists():
        raise RuntimeError(f"the kernel ended before its commands: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return int((directory / "exit_code").read_text()), (directory / "output").read_text(errors="replace")
