"""Options and commands that were renamed before the first release. Deleted at 1.0.

An old name is an error like any unknown one, and its hint gives the new name. Keys of scenarios are in `renamed.rs` of the
scenario crate.
"""

from __future__ import annotations

__all__ = ["RENAMED_COMMANDS", "RENAMED_OPTIONS"]

# By command.
RENAMED_OPTIONS: dict[tuple[str, str], str] = {
    ("emulate", "--at"): "--run-on",
    ("emulate", "--play"): "--kernel-flows",
    ("emulate", "--serve"): "--server",
    ("emulate", "--setting"): "--sysctl",
    ("run", "--optimum"): "--fairness",
    ("size-buffer", "--packet"): "--packet-size",
    ("sweep", "--most-seeds"): "--max-seeds",
    ("validate", "--lanes"): "--jobs",
}

# By group.
RENAMED_COMMANDS: dict[tuple[str, str], str] = {
    ("study", "gc"): "prune",
}
