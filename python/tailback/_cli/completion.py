"""Completion of the values of options in shells: words, and the paths of a scenario with their words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import click
from click.shell_completion import CompletionItem

__all__ = ["paths", "words"]

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def words(known: Callable[[], Iterable[str]]) -> Completer:
    """Complete one of these words, which are computed on demand: a completion must not import more than it needs."""

    def complete(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(word) for word in known() if word.startswith(incomplete)]

    return complete


def paths(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete ``PATH=VALUE,VALUE`` for the scenario on the command line: keys in use first by table, then the words of a key."""
    from tailback._scenario import load
    from tailback._study.paths import Paths
    from tailback.errors import TailbackError

    # An option without its value ends the parsing before arguments are assigned.
    file = context.params.get("file") or next((word for word in context.args if Path(word).is_file()), None)
    if file is None:
        return []
    with suppress(TailbackError):
        known = Paths(load(file))
        path, equals, values = incomplete.partition("=")
        if equals:
            before, comma, last = values.rpartition(",")
            found = [word for word in known.words(path) if word.startswith(last)]
            return [CompletionItem(f"{path}={before}{comma}{word}") for word in found]
        return [CompletionItem(f"{known_path}=") for known_path in known.known() if known_path.startswith(incomplete)]
    return []
