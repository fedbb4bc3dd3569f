"""A controller in its own file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import tailback as tb

LAW = """\
import tailback as tb


@tb.controller("NAME")
class Law(tb.user_code.Controller):
    def __init__(self, start, *, gain=1.0):
        super().__init__(start)
        self.gain = gain

    def on_ack(self, ack):
        if ack.window_validated:
            self.window += self.gain * ack.counted / self.window

    def on_congestion(self, seen):
        self.window = self.ssthresh = max(seen.in_flight / 2, 2.0)

    def on_timeout(self, seen):
        self.window = 1.0
"""


def scenario(controller: Any) -> tb.Scenario:
    made = tb.dumbbell(rate="5 Mbps", delay="10 ms", buffer="20 packets", duration="2 s")
    return made.with_({"flows.tcp.tcp.controller": controller})


def law(folder: Path, name: str, text: str = LAW) -> Path:
    """A file with a controller of this name."""
    file = folder / f"{name}.py"
    file.write_text(text.replace("NAME", name))
    return file


def forget(name: str) -> None:
    """Unload the file, as in another process."""
    tb.user_code._registry._registered.pop(("controller", name), None)
    sys.modules.pop(name, None)
