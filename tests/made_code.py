"""Generate code during tests, so that it can change."""

from __future__ import annotations

import sys
import textwrap
import types
from typing import Any

PLAIN = """
import math
from functools import cache
from tailback import models
LIMIT = 3
class Box:
    size = 1
    def doubled(self):
        return 2 * self.size
def helper(x, by=2):
    return x * by
def measure(run):
    return helper(run) + LIMIT
def inner(run):
    from tailback.models import mathis_rate
    return [math.sqrt(x) for x in run if x in {1, 2}]
def closed(limit):
    return lambda run: run + limit
@cache
def remembered(run):
    return helper(run)
def modelled(run):
    return models.erlang_b(run, 2).loss
def boxed(run):
    return Box().doubled()
"""


def module(text: str) -> Any:
    """A temporary package, freshly imported."""
    made = types.ModuleType("own")
    sys.modules["own"] = made
    exec(compile(textwrap.dedent(text), "own.py", "exec"), vars(made))
    return made
