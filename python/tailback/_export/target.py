"""What a target of exports declares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tailback._export.network import Network, Omissions

__all__ = ["Target"]


@dataclass(frozen=True)
class Target:
    """A target: `written` writes the body of its file and lists what it omits."""

    name: str
    summary: str
    suffix: str
    # Begins a comment.
    comment: str
    usage: str
    # First line of the file, or empty.
    shebang: str
    written: Callable[[Network, Omissions], str]
    # Values of links that may change during the run: of `rate`, `delay`, `loss`, `buffer` and `down`.
    changes: tuple[str, ...] = ()
