"""`tailback schema`: print the JSON Schema of a scenario, for editors and validators."""

from __future__ import annotations

import json

import click

from tailback._cli.output import ExitCode, command, data

__all__ = ["schema"]


@click.command
@command
def schema() -> ExitCode:
    """Print the JSON Schema of a scenario."""
    from tailback import _scenario

    data(json.dumps(_scenario.schema(), indent=2))
    return ExitCode.DONE
