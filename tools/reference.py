"""Writes the generated pages of docs/reference: scenario tables and members from the JSON Schema, the command line from its
commands, and the index of Python's modules.

    .venv/bin/python tools/reference.py docs/reference

A test compares the files with the output of this script. Controllers and queue policies have pages of their own
(tools/members.py).
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import click

import tailback as tb
from tailback._cli import app
from tailback._cli.output import EXIT_CODES
from tailback._scenario.schema_tables import forms


def main(folder: Path) -> None:
    """Writes the pages below `folder`, and removes pages of tables that no longer exist."""
    for old in {*(folder / "scenario").glob("*.md")}:
        old.unlink()
    for name, text in pages().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def pages() -> dict[str, str]:
    """Every generated page of the reference by its path in docs/reference, except those of controllers and queue policies."""
    families = {f"{page}.md": family(page) for page in FAMILIES}
    tables = scenario()
    return {"index.md": index(tables), **tables, **families, "command_line.md": command_line(), "python.md": python()}


SCENARIO = """\
# Scenario

All tables and keys of a scenario, generated from the JSON Schema that `tailback schema` prints. In TOML, a table within a table
is written `[flows.web]` or `flows.web.count = 3`; in Python, a scenario is the same structure of dictionaries. Quantities carry
their unit: `10 ms`, `75 Mbps`, `50 kB`. An unknown key is an error that names the nearest valid one.

"""

INDEX = """\
# Reference

* [Scenario](scenario/index.md): {scenario}.
* [Congestion controllers](controllers/index.md): {controllers}.
* [Queue policies](policies/index.md): {policies}.
* [Schedulers](schedulers.md): settings of each.
* [Price schemes](price_schemes.md): settings of each.
* [Sources](sources.md): settings of each source of datagrams.
* [Applications](applications.md): settings of each application above TCP.
* [Presets](presets.md): the TCP variants and their settings.
* [Tables and columns](tables.md): every result, with its unit.
* [Command line](command_line.md): every command and option.
* [Python](python.md): every function and class.
* [Errors and exit codes](errors.md): the format of errors, warnings and notes.
* [Glossary](glossary.md): the terms of these pages.
"""


def index(tables: dict[str, str]) -> str:
    """The index of the reference, with a link to each table and each member that has a page."""
    pages = [path.removesuffix(".md") for path in tables if not path.endswith("index.md")]
    links = {"scenario": ", ".join(f"[`{page.partition('/')[2]}`]({page}.md)" for page in pages)}
    for folder, table in (("controllers", "ControllerTable"), ("policies", "Queue")):
        links[folder] = ", ".join(f"[`{name}`]({folder}/{name}.md)" for name in members(table, ""))
    return INDEX.format(**links)


VALUES = """\
# Values

Quantities, words and distributions that keys of several tables accept.
"""

# Tables that have a page of their own although they are inside others.
NESTED = {"queue": "Queue", "tcp": "Tcp"}


def scenario() -> dict[str, str]:
    """A page for each table of a scenario, one for the values that keys take, and their index."""
    schema = tb.schema()
    definitions: dict[str, Any] = schema["$defs"]
    tables = {name for name, one in definitions.items() if any(forms(one))}
    roots = {key: [name for name in _references(value) if name in tables] for key, value in schema["properties"].items()}
    roots = {key: found for key, found in roots.items() if found} | {key: [name] for key, name in NESTED.items()}
    home = _homes(roots, definitions)
    link = {name: f"{home[name]}.md#{name.lower()}" if name in tables else f"values.md#{name.lower()}" for name in definitions}
    made = {}
    elsewhere: dict[str, str] = {}
    for page in roots:
        own = {name: definitions[name] for name, at in home.items() if at == page and name in tables}
        made[f"scenario/{page}.md"] = "".join([f"# `{page}`\n", *_tables(own, link, elsewhere)])
    values = [
        f"\n## `{name}`\n\n{_cell(one['description'])}\n\nSyntax: {_written(one, link)}.\n"
        for name, one in sorted(definitions.items())
        if name not in tables
    ]
    made["scenario/values.md"] = "".join([VALUES, *values])
    listed = [
        f"* [`{page}`]({page}.md): {_first_sentence(definitions[names[0]]['description'])}\n" for page, names in roots.items()
    ]
    listed.append("* [Values](values.md): quantities, words and distributions.\n")
    whole = _keys(schema["properties"], set(schema["required"]), link)
    made["scenario/index.md"] = "".join([SCENARIO, *listed, "\n## Top level\n", *whole])
    return made


def _homes(roots: dict[str, list[str]], definitions: dict[str, Any]) -> dict[str, str]:
    """The page of each definition: that of the nearest root from which it can be reached."""
    home = {name: page for page, names in roots.items() for name in names}
    ring = list(home)
    while ring:
        reached = [(inner, home[name]) for name in ring for inner in _references(definitions[name])]
        ring = []
        for name, page in reached:
            if name not in home:
                home[name] = page
                ring.append(name)
    return home


def _references(value: Any) -> Iterator[str]:
    """The definitions that a schema refers to, in the order of the schema."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "$ref":
                yield str(inner).removeprefix("#/$defs/")
            else:
                yield from _references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _references(inner)


def _identity(key: str, value: Any) -> str:
    """Equal for keys of the same name, values and description."""
    return json.dumps([key, value], sort_keys=True)


def _tables(own: dict[str, Any], link: dict[str, str], elsewhere: dict[str, str]) -> Iterator[str]:
    """The tables of a page. Keys that several of them share come first, once.

    `elsewhere` maps the identities of the keys of previous pages to their tables; those of this page are added.
    """
    plain = {name: forms(one)[0] for name, one in own.items() if len(forms(one)) == 1}
    places: dict[str, list[str]] = {}
    for name, keys in plain.items():
        for key, value in keys.items():
            places.setdefault(_identity(key, value), []).append(name)
    shared = {text: names for text, names in places.items() if len(names) > 1}
    if shared:
        yield "\n## Shared keys\n\n| Key | Description | Values | Default | Tables |\n|---|---|---|---|---|\n"
        for text, names in shared.items():
            key, value = json.loads(text)
            required = [name for name in names if key in own[name].get("required", ())]
            default = "required" if len(required) == len(names) else _default(value.get("default"))
            tables = ", ".join(f"`{name}`" for name in names)
            described = _described(value, elsewhere.get(text), link)
            yield f"| `{key}` | {described} | {_written(value, link)} | {default} | {tables} |\n"
    for name, one in own.items():
        known = {key for key, value in plain.get(name, {}).items() if _identity(key, value) in shared}
        yield f"\n## `{name}`\n\n"
        yield from _table(name, one, link, known, elsewhere)
    for text, names in places.items():
        elsewhere.setdefault(text, names[0])


def _table(name: str, one: dict[str, Any], link: dict[str, str], known: set[str], elsewhere: dict[str, str]) -> Iterator[str]:
    """A table's description, and its keys that are not `known`: those of all its forms, then those of each form."""
    yield f"{one['description']}\n"
    found = forms(one)
    tag = next((key for key, value in found[0].items() if "const" in value), "")
    required = set(one.get("required", ()))
    common = {key: value for key, value in found[0].items() if key != tag and all(form.get(key) == value for form in found)}
    yield from _keys({key: value for key, value in common.items() if key not in known}, required, link, elsewhere)
    if known:
        yield f"\nShared keys: {', '.join(f'`{key}`' for key in sorted(known))}.\n"
    if not tag:
        return
    members = [form[tag]["const"] for form in found if "$comment" in form[tag]]
    if members:
        yield f"\nValues of `{tag}`: {', '.join(f'[`{word}`]({member_page(name, word)})' for word in members)}.\n"
    for form, own in zip(found, one["oneOf"], strict=True):
        value = form[tag]
        if "$comment" in value:
            continue
        word = f'`{tag} = "{value["const"]}"`' if "const" in value else f'`{tag} = "user:NAME"`'
        yield f"\n{word}: {_cell(value['description'])}\n"
        rest = {key: value for key, value in form.items() if key != tag and key not in common}
        yield from _keys(rest, set(own.get("required", ())), link, elsewhere)


def _keys(
    keys: dict[str, Any], required: set[str], link: dict[str, str], elsewhere: dict[str, str] | None = None
) -> Iterator[str]:
    if not keys:
        return
    yield "\n| Key | Description | Values | Default |\n|---|---|---|---|\n"
    for key, value in keys.items():
        default = "required" if key in required else _default(value.get("default"))
        described = _described(value, (elsewhere or {}).get(_identity(key, value)), link)
        yield f"| `{key}` | {described} | {_written(value, link)} | {default} |\n"


def _described(value: dict[str, Any], table: str | None, link: dict[str, str]) -> str:
    """The description of a key, or a reference to the table that describes it."""
    return f"As in [`{table}`]({link[table]})." if table else _cell(value.get("description", ""))


# The tables that select a member of a family, and the page or folder of pages of that family.
MEMBERS = {
    "ControllerTable": "controllers",
    "Queue": "policies",
    "Class": "policies",
    "SchedulerTable": "schedulers",
    "Prices": "price_schemes",
    "Source": "sources",
    "Application": "applications",
}

FAMILIES = {
    "schedulers": (
        "SchedulerTable",
        """\
# Schedulers

`scheduler` of a [`queue`](scenario/queue.md) is a name, or a table with settings:
`scheduler = {kind = "flow_queue", queues = 1024}`. [Schedulers](../howto/schedulers.md) compares them.
""",
    ),
    "price_schemes": (
        "Prices",
        """\
# Price schemes

`scheme` of the table [`prices`](scenario/prices.md) selects how packets carry congestion prices:
`prices = {scheme = "adpm", min_price = 0, max_price = 10}`. [Prices](../howto/prices.md) compares them.
""",
    ),
    "sources": (
        "Source",
        """\
# Sources

`kind` of a datagram `source`, which also needs its `packet_size`:
`source = {kind = "poisson", rate = "5 Mbps", packet_size = "1000 B"}`.
""",
    ),
    "applications": (
        "Application",
        """\
# Applications

`kind` of an `application` above TCP: `application = {kind = "on_off", rate = "5 Mbps", burst = 2}`. `constant`, `poisson` and
`on_off` are those of [sources](sources.md); their `burst` is the number of full segments per write, 1 to 1,000,000, by default 1.
With a `stack`, a full segment is the MTU without 52 bytes of headers, the segment of Linux.
""",
    ),
}


def member_page(table: str, word: str) -> str:
    """Where a member is described, from docs/reference/scenario."""
    page = "sources" if word in _members("Source") else MEMBERS[table]
    return f"../{page}.md#{word}" if page in FAMILIES else f"../{page}/{word}.md"


def family(page: str) -> str:
    """All members of a family with their settings. One with the description of an earlier member or queue policy refers to it."""
    table, head = FAMILIES[page]
    parts = [head]
    described = {
        (key, value["description"]): f"[`{name}`](policies/{name}.md)"
        for name, (_, settings, _) in _members("Queue").items()
        for key, value in settings.items()
    }
    for name, (description, settings, required) in _members(table).items():
        if table == "Application" and name in _members("Source"):
            continue
        referring = {
            key: value | {"description": f"As in {described[known]}."}
            if (known := (key, value["description"])) in described
            else value
            for key, value in settings.items()
        }
        parts.append(f"\n## `{name}`\n\n{description}\n{''.join(_keys(referring, required, _values('scenario/')))}")
        described = {(key, value["description"]): f"[`{name}`](#{name})" for key, value in settings.items()} | described
    return "".join(parts)


def members(table: str, scenario: str) -> dict[str, tuple[str, str]]:
    """The description with its source, and the table of settings, of each member that `table` selects.

    `scenario` is the path of docs/reference/scenario from the page that shows them.
    """
    link = _values(scenario)
    return {
        name: (description, "".join(_keys(settings, required, link)))
        for name, (description, settings, required) in _members(table).items()
    }


@cache
def _definitions() -> dict[str, Any]:
    """The definitions of the schema."""
    definitions: dict[str, Any] = tb.schema()["$defs"]
    return definitions


def _values(scenario: str) -> dict[str, str]:
    """Links to the definitions of values."""
    definitions = _definitions()
    return {name: f"{scenario}values.md#{name.lower()}" for name, one in definitions.items() if not any(forms(one))}


def _members(table: str) -> dict[str, tuple[str, dict[str, Any], set[str]]]:
    """The description with its source, the settings, and the required ones, of each member that `table` selects."""
    definitions = _definitions()
    found = forms(definitions[table])
    tag = next(key for key, value in found[0].items() if "const" in value)
    common = {key for key, value in found[0].items() if key != tag and all(form.get(key) == value for form in found)}
    made = {}
    for form, own in zip(found, definitions[table]["oneOf"], strict=True):
        if "$comment" in form[tag]:
            settings = {key: value for key, value in form.items() if key != tag and key not in common}
            described = f"{form[tag]['description']} Source: {form[tag]['$comment']}."
            made[form[tag]["const"]] = described, settings, set(own.get("required", ()))
    return made


def _default(value: Any) -> str:
    """As a scenario would say it; nothing for what is not there, or an empty table."""
    if value in (None, [], "") or isinstance(value, dict):
        return ""
    text = str(value).lower() if isinstance(value, bool) else _number(value) if isinstance(value, float) else str(value)
    return f"`{text}`"


def _number(value: float) -> str:
    """Without a fraction of zero, with separators of thousands from 10,000 on."""
    whole = int(value) if float(value).is_integer() else value
    return f"{whole:,}" if abs(whole) >= 10_000 else str(whole)


def _cell(text: str) -> str:
    """In a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def _written(value: dict[str, Any], link: dict[str, str]) -> str:
    """The values that a key accepts."""
    if "$ref" in value:
        name = str(value["$ref"]).removeprefix("#/$defs/")
        return f"[{name}]({link[name]})"
    if "anyOf" in value:
        return " or ".join(dict.fromkeys(_written(one, link) for one in value["anyOf"]))
    if "oneOf" in value and "type" not in value:
        return " or ".join(dict.fromkeys(_written(one, link) for one in value["oneOf"]))
    if "const" in value:
        return f"`{value['const']}`"
    if "enum" in value:
        return ", ".join(f"`{word}`" for word in value["enum"])
    kind = value.get("type")
    if "prefixItems" in value:
        return " and ".join(_written(item, link) for item in value["prefixItems"])
    if kind == "array":
        return f"{'two' if value.get('minItems') == value.get('maxItems') == 2 else 'a list'} of {_written(value['items'], link)}"
    if kind == "object" and "properties" in value:
        return "a table of " + " and ".join(f"`{key}` ({_written(inner, link)})" for key, inner in value["properties"].items())
    if kind == "object":
        inner = [*value.get("patternProperties", {}).values(), *filter(None, [value.get("additionalProperties")])]
        return f"a table by name of {_written(inner[0], link)}" if inner else "a table"
    if kind in ("integer", "number"):
        low, high = value.get("minimum"), value.get("maximum")
        above, below = value.get("exclusiveMinimum"), value.get("exclusiveMaximum")
        whole = "a whole number" if kind == "integer" else "a number"
        bounds = [
            *([f"from {_number(low)}"] if low is not None else []),
            *([f"above {_number(above)}"] if above is not None else []),
            *([f"to {_number(high)}"] if high is not None and high < 2**53 - 1 else []),
            *([f"below {_number(below)}"] if below is not None else []),
        ]
        return " ".join([whole, *bounds])
    return {"string": "text", "boolean": "true or false"}[str(kind)]


COMMANDS = """\
# The command line

All commands with their options; `tailback COMMAND --help` prints the same.

To enable shell completion in bash 4.4 or newer, add to `~/.bashrc`:

    eval "$(_TAILBACK_COMPLETE=bash_source tailback)"

For zsh, use `zsh_source` in `~/.zshrc`. For fish, write the output of `_TAILBACK_COMPLETE=fish_source tailback` to
`~/.config/fish/completions/tailback.fish`.

| Exit code | Meaning |
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
        yield "\n"
    for argument in arguments:
        note = " Required." if argument.required else ""
        yield f"* `{argument.make_metavar(context)}`: {_sentence(argument.help)}{note}\n"
    for option in options:
        extra = option.get_help_extra(context)
        value = "" if option.is_flag else f" {option.make_metavar(context)}"
        shown = ", ".join(f"`{word}{value}`" for word in (*option.opts, *option.secondary_opts))
        notes = [f" Range: `{extra['range']}`."] if "range" in extra else []
        notes += [" Required."] if option.required else [f" Default: `{extra['default']}`."] if "default" in extra else []
        yield f"* {shown}: {_sentence(option.help)}{''.join(notes)}\n"


def _sentence(text: str | None) -> str:
    """In one line, with a full stop."""
    line = " ".join((text or "").split())
    return line if not line or line.endswith((".", "!", "?", ":")) else f"{line}."


PYTHON = """\
# Python

All public functions and classes. The site shows their full docstrings below each list; in an interpreter, `help(tb.simulate)`
prints them. Types such as `tb.Flow` describe the tables of a [scenario](scenario/index.md).
"""

MODULES = ("models", "prices", "allocation", "statistics", "user_code", "papers", "plots", "errors")


def python() -> str:
    """The page of modules. When the site is built, docs/conf.py adds the docstrings of what the tables name."""
    here = {name: getattr(tb, name) for name in tb.__all__ if name not in MODULES}
    here = {name: thing for name, thing in here.items() if getattr(thing, "__module__", "") != "tailback._types"}
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


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[.!?])\s", " ".join(text.split()), maxsplit=1)[0]


def _module(name: str, found: dict[str, Any]) -> Iterator[str]:
    """A list of names with their first sentences; only the names of the models, because another page describes these."""
    yield f"\n## `{name}`\n\n"
    listed = {known: thing for known, thing in found.items() if inspect.isclass(thing) or inspect.isroutine(thing)}
    if name == "tailback.models":
        names = ", ".join(f"`{known}`" for known in listed)
        yield f"{names}. [Theory](../evidence/theory.md) lists their quantities and sources.\n"
        return
    for known, thing in listed.items():
        first = (inspect.getdoc(thing) or "").partition("\n\n")[0]
        yield f"* `{known}`: {_first_sentence(first)}\n"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
