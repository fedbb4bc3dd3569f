"""`tailback schema`."""

from __future__ import annotations

import json

import tailback as tb
from support import Command


def test_schema_is_what_the_library_has(command: Command) -> None:
    done = command("schema")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == tb.schema()
