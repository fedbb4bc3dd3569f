"""Interrupts that the process receives."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["interrupts"]


@contextmanager
def interrupts() -> Iterator[list[int] | None]:
    """The interrupts that the process receives in the block, to tell a `KeyboardInterrupt` that code raises from Ctrl-C.

    None if they cannot be observed: outside the main thread, or with a handler that is not Python's.
    """
    usual = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(usual):
        yield None
        return
    received: list[int] = []

    def observe(number: int, frame: FrameType | None) -> None:
        received.append(number)
        usual(number, frame)

    signal.signal(signal.SIGINT, observe)
    try:
        yield received
    finally:
        # Code may have set a handler of its own.
        if signal.getsignal(signal.SIGINT) is observe:
            signal.signal(signal.SIGINT, usual)
