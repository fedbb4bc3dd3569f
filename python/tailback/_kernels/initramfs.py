"""An archive with the guest program, which the kernel unpacks as its root file system.

The format is "newc" of cpio, as in the kernel's documentation (`driver-api/early-userspace/buffer-format`). The archive has fixed
times and owners, so that the same program gives the same bytes.
"""

from __future__ import annotations

__all__ = ["initramfs"]

_DIRECTORY, _DEVICE, _FILE = 0o040755, 0o020600, 0o100755


def initramfs(program: bytes) -> bytes:
    """The archive: the program as ``/init``, an empty ``/proc``, and ``/dev/console``."""
    entries = [
        _entry(1, "dev", _DIRECTORY),
        _entry(2, "dev/console", _DEVICE, device=(5, 1)),
        _entry(3, "proc", _DIRECTORY),
        _entry(4, "init", _FILE, program),
        _entry(0, "TRAILER!!!", 0),
    ]
    return b"".join(entries)


def _entry(number: int, name: str, mode: int, content: bytes = b"", device: tuple[int, int] = (0, 0)) -> bytes:
    links, owner, modified, checksum = 1, 0, 0, 0
    fields = (number, mode, owner, owner, links, modified, len(content), 0, 0, *device, len(name) + 1, checksum)
    header = b"070701" + b"".join(b"%08X" % field for field in fields)
    return _padded(header + name.encode() + b"\0") + _padded(content)


def _padded(part: bytes) -> bytes:
    return part + bytes(-len(part) % 4)
