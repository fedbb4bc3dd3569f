"""Commands and options that people expect from other tools, and what to use instead."""

from __future__ import annotations

__all__ = ["OTHER_COMMANDS", "OTHER_OPTIONS"]

# By group.
OTHER_COMMANDS: dict[tuple[str, str], str] = {
    ("tailback", "plot"): "`tailback run FILE --plot` plots a run, and `tailback study plot DIR` a study",
    ("tailback", "show"): "`tailback run FILE` shows a run, and `tailback study means DIR` a study",
    ("tailback", "simulate"): "`tailback run FILE` simulates a scenario",
    ("tailback", "sim"): "`tailback run FILE` simulates a scenario",
    (
        "tailback",
        "compare",
    ): "`tailback diff A B` compares two scenarios or stored runs, and `tailback study compare A B` two studies",
    ("tailback", "version"): "`tailback --version` shows the version",
}

_SWEEP = "`tailback sweep FILE"

# By command.
OTHER_OPTIONS: dict[tuple[str, str], str] = {
    ("run", "--seeds"): f"one run has one `--seed`, and {_SWEEP} --seeds N` runs N seeds",
    ("run", "--runs"): f"one run has one `--seed`, and {_SWEEP} --seeds N` runs N seeds",
    ("run", "--repeat"): f"one run has one `--seed`, and {_SWEEP} --seeds N` runs N seeds",
    ("run", "--vary"): f"{_SWEEP} --vary PATH=VALUES` runs several values",
    ("run", "--set"): f"{_SWEEP} --vary PATH=VALUE` changes a setting",
    ("run", "--output"): "`--out DIR` writes the tables",
    ("run", "--format"): "`--json` and `--csv` select the output",
    ("run", "--duration"): f"`duration` is a key of the scenario; {_SWEEP} --vary duration=VALUE` changes it",
    ("sweep", "--seed"): "`--seeds N` runs seeds 1 to N",
}
