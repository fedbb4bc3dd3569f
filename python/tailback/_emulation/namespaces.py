"""Linux namespace calls that Python 3.11 does not have: unshare(2), setns(2), mount(2)."""

from __future__ import annotations

import ctypes
import os

__all__ = ["MOUNTS", "NAMES", "NETWORK", "PROCESSES", "USERS", "bind", "enter", "make_private", "mount_proc", "unshare"]

# <sched.h>
MOUNTS = 0x00020000
NAMES = 0x04000000
USERS = 0x10000000
PROCESSES = 0x20000000
NETWORK = 0x40000000

# <sys/mount.h>
_BIND = 0x1000
_RECURSIVE = 0x4000
_PRIVATE = 1 << 18

_libc = ctypes.CDLL(None, use_errno=True)


def unshare(kinds: int) -> None:
    """Move this process to new namespaces; a PID namespace applies to its future children.

    Raises
    ------
    OSError
        The system does not permit it.
    """
    _checked(_libc.unshare(kinds), "unshare")


def enter(namespace: int) -> None:
    """Move this process to the network namespace of an open file."""
    _checked(_libc.setns(namespace, NETWORK), "setns")


def make_private() -> None:
    """Keep subsequent mounts private to this namespace."""
    _mount(b"none", b"/", None, _RECURSIVE | _PRIVATE)


def bind(file: str, place: str) -> None:
    """Bind-mount a file over another."""
    _mount(file.encode(), place.encode(), None, _BIND)


def mount_proc() -> None:
    """Mount a ``/proc`` with the processes of this namespace."""
    _mount(b"proc", b"/proc", b"proc", 0)


def _mount(source: bytes, target: bytes, kind: bytes | None, flags: int) -> None:
    _checked(_libc.mount(source, target, kind, ctypes.c_ulong(flags), None), f"mount {target.decode()}")


def _checked(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
