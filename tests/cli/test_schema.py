"""`tailback schema`."""

from __future__ import annotations

import json

import tailback as tb
from support import Command


def test_the_command_prints_the_schema_of_the_library(command: Command) -> None:
    done = command("schema")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == tb.schema()
