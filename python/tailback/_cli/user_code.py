"""``--code FILE.py``: user code in Python, loaded before the scenario is read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

__all__ = ["load_code"]


def load_code(files: Iterable[Path]) -> None:
    """Run these files in order."""
    for file in files:
        from tailback import user_code

        user_code.load(file)
