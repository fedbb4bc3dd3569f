"""Writes pages of the reference: docs/reference/scenario.md from the JSON Schema, docs/reference/command_line.md from the commands themselves, and
docs/reference/python.md, which says what Sphinx shows of which module.

    .venv/bin/python tools/reference.py docs

A test compares the files with what this makes, so that a field, a command and an option say what they are in one place only.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

import tailback as tb
from scenario_types import forms
from tailback import _types
from tailback._cli import app
from tailback._cli.output import EXIT_CODES


def main(folder: Path) -> None:
    """Writes the pages."""
    for page in (scenario, command_line, python):
        (folder / f"{page.__name__}.md").write_text(page(), encoding="utf-8")


SCENARIO = """\
# Scenarios, key by key

Every table of a scenario and all its keys, made from the JSON Schema that `tailback schema` prints. In a TOML file a key of a
table inside another is written `[flows.web]` or `flows.web.count = 3`; in Python a scenario is the same as dictionaries. Members
that are chosen by a word, that is controllers, queue policies, price schemes and sources, have [their own page](settings.md), and
so have [presets](presets.md). What the results are is in [tables and columns](tables.md).

"""


def scenario() -> str:
    """The page of all tables of a scenario; values that are words or numbers with a unit come after them."""
    schema = tb.schema()
    definitions: dict[str, Any] = schema["$defs"]
    tables = {name: one for name, one in definitions.items() if any(forms(one))}
    values = {name: one for name, one in definitions.items() if name not in tables}
    parts = [SCENARIO, "## The whole\n\n", *_table(schema)]
    for name, one in sorted(tables.items()):
        parts += [f"\n## `{name}`\n\n", *_table(one)]
    parts.append("\n## Values\n")
    parts += [
        f"\n### `{name}`\n\n{_cell(one['description'])}\n\nWritten: {_written(one)}.\n" for name, one in sorted(values.items())
    ]
    return "".join(parts)


def _table(one: dict[str, Any]) -> Iterator[str]:
    """A table's description, and its keys: those of all its forms, then those of each form."""
    yield f"{one['description']}\n"
    found = forms(one)
    tag = next((key for key, value in found[0].items() if "const" in value), "")
    required = set(one.get("required", ()))
    common = {key: value for key, value in found[0].items() if key != tag and all(form.get(key) == value for form in found)}
    yield from _keys(common, required)
    if not tag:
        return
    yield f"\n`{tag}` says what else there is:\n"
    for form, own in zip(found, one["oneOf"], strict=True):
        said = form[tag]
        word = f'`{tag} = "{said["const"]}"`' if "const" in said else f'`{tag} = "user:NAME"`'
        yield f"\n{word}: {_cell(said['description'])}\n"
        rest = {key: value for key, value in form.items() if key != tag and key not in common}
        yield from _keys(rest, set(own.get("required", ())))


def _keys(keys: dict[str, Any], required: set[str]) -> Iterator[str]:
    if not keys:
        return
    yield "\n| key | what it is | what fits | unless given |\n|---|---|---|---|\n"
    for key, value in keys.items():
        default = "required" if key in required else _default(value.get("default"))
        yield f"| `{key}` | {_cell(value.get('description', ''))} | {_written(value)} | {default} |\n"


def _default(value: Any) -> str:
    """As a scenario would say it; nothing for what is not there, or an empty table."""
    if value in (None, [], "") or isinstance(value, dict):
        return ""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"`{text}`"


def _cell(text: str) -> str:
    """In a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def _written(value: dict[str, Any]) -> str:
    """What may be written there."""
    if "$ref" in value:
        name = str(value["$ref"]).removeprefix("#/$defs/")
        return f"[{name}](#{name.lower()})"
    if "anyOf" in value:
        return " or ".join(dict.fromkeys(_written(one) for one in value["anyOf"]))
    if "oneOf" in value and "type" not in value:
        return " or ".join(dict.fromkeys(_written(one) for one in value["oneOf"]))
    if "const" in value:
        return f"`{value['const']}`"
    if "enum" in value:
        return ", ".join(f"`{word}`" for word in value["enum"])
    kind = value.get("type")
    if "prefixItems" in value:
        return " and ".join(_written(item) for item in value["prefixItems"])
    if kind == "array":
        return f"{'two' if value.get('minItems') == value.get('maxItems') == 2 else 'a list'} of {_written(value['items'])}"
    if kind == "object" and "properties" in value:
        return "a table of " + " and ".join(f"`{key}` ({_written(inner)})" for key, inner in value["properties"].items())
    if kind == "object":
        inner = [*value.get("patternProperties", {}).values(), *filter(None, [value.get("additionalProperties")])]
        return f"a table by name of {_written(inner[0])}" if inner else "a table"
    if kind in ("integer", "number"):
        low, high = value.get("minimum"), value.get("maximum")
        above, below = value.get("exclusiveMinimum"), value.get("exclusiveMaximum")
        whole = "a whole number" if kind == "integer" else "a number"
        bounds = [
            *([f"from {low:,}"] if low is not None else []),
            *([f"above {above:,}"] if above is not None else []),
            *([f"to {high:,}"] if high is not None and high < 2**53 - 1 else []),
            *([f"below {below:,}"] if below is not None else []),
        ]
        return " ".join([whole, *bounds])
    return {"string": "text", "boolean": "true or false"}[str(kind)]


COMMANDS = """\
# The command line

Every command with all its options, made from the commands themselves; `tailback COMMAND --help` prints the same.

A shell completes commands, options and names of files once it is told how. For bash, from 4.4 on, add to `~/.bashrc`:

    eval "$(_TAILBACK_COMPLETE=bash_source tailback)"

For zsh the same with `zsh_source` belongs in `~/.zshrc`. For fish, write what `_TAILBACK_COMPLETE=fish_source tailback` prints to
`~/.config/fish/completions/tailback.fish`.

| exit code | meaning |
|---|---|
"""


def command_line() -> str:
    """The page of all commands, and of exit codes."""
    parts = [COMMANDS]
    parts += [f"| {int(code)} | {meaning} |\n" for code, meaning in EXIT_CODES.items()]
    parts += _commands(app, "tailback")
    return "".join(parts)


def _commands(one: click.Command, name: str) -> Iterator[str]:
    """A command, or the commands of a group."""
    if isinstance(one, click.Group):
        for inner, command in sorted(one.commands.items()):
            yield from _commands(command, f"{name} {inner}")
        return
    context = click.Context(one, show_default=True)
    arguments = [each for each in one.params if isinstance(each, click.Argument)]
    options = [each for each in one.params if isinstance(each, click.Option)]
    words = " ".join([name, *one.collect_usage_pieces(context)])
    yield f"\n## `{name}`\n\n{_cell(one.help or '')}\n\n    {words}\n"
    if one.params:
        yield "\n| | what it is | unless given |\n|---|---|---|\n"
    for argument in arguments:
        default = "required" if argument.required else ""
        yield f"| `{argument.make_metavar(context)}` | {_cell(argument.help or '')} | {default} |\n"
    for option in options:
        extra = option.get_help_extra(context)
        shown = ", ".join(f"`{word}`" for word in (*option.opts, *option.secondary_opts))
        value = "" if option.is_flag else f" `{option.make_metavar(context)}`"
        fits = f" (`{extra['range']}`)" if "range" in extra else ""
        default = "required" if option.required else f"`{extra['default']}`" if "default" in extra else ""
        yield f"| {shown}{value} | {_cell(option.help or '')}{fits} | {default} |\n"


PYTHON = """\
# Python, name by name

Everything public, in a sentence each. On the site the whole docstrings follow: units, ranges, errors, sources and examples; in an
interpreter `help(tb.simulate)` shows them. The types of a scenario's tables, such as `tb.Flow`, are what
[Scenarios, key by key](scenario.md) has.
"""

MODULES = ("models", "prices", "allocation", "statistics", "user_code", "papers", "plots", "errors")


def python() -> str:
    """The page of modules. When the site is built, docs/conf.py adds the docstrings of what the tables name."""
    here = {name: getattr(tb, name) for name in tb.__all__ if name not in (*MODULES, *_types.__all__)}
    homes = {
        id(thing)
        for thing in here.values()
        if not getattr(thing, "__module__", "").startswith(("tailback.errors", "tailback.user_code"))
    }
    parts = [PYTHON, *_module("tailback", {name: thing for name, thing in here.items() if id(thing) in homes})]
    for name in MODULES:
        module = importlib.import_module(f"tailback.{name}")
        found = {known: getattr(module, known) for known in module.__all__}
        parts += _module(f"tailback.{name}", {known: thing for known, thing in found.items() if id(thing) not in homes})
    return "".join(parts)


def _module(name: str, found: dict[str, Any]) -> Iterator[str]:
    yield f"\n## `{name}`\n\n| name | what it is |\n|---|---|\n"
    for known, thing in found.items():
        if inspect.isclass(thing) or inspect.isroutine(thing):
            said = (inspect.getdoc(thing) or "").partition("\n\n")[0]
            sentence = re.split(r"(?<=[.!?])\s", " ".join(said.split()), maxsplit=1)[0]
            yield f"| `{known}` | {_cell(sentence)} |\n"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
