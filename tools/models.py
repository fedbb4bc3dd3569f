"""Writes what follows from the models in crates/models: python/tailback/models/_closed_forms.py and the tables of
docs/evidence/theory.md.

    .venv/bin/python tools/models.py

A test compares the files with what this makes, so that a model says what it is in its own file only.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from textwrap import wrap
from typing import Any

from tailback import _core

ROOT = Path(__file__).resolve().parents[1]
MODULE = ROOT / "python/tailback/models/_closed_forms.py"
PAGE = ROOT / "docs/evidence/theory.md"
WIDTH = 120
# How the document cui-thesis is called where there is no list of documents.
THESIS = "Y. Cui, Three problems in TCP performance analysis and congestion management"

HEAD = '''\
"""The closed forms of crates/models, each as a function. Made by tools/models.py; a test compares."""

# ruff: noqa: E501 (what rules say of themselves are single strings)

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from tailback.models._broadcasting import answers, number
from tailback.models._words import Rule, Word

if TYPE_CHECKING:
    from tailback.models._broadcasting import Numbers, Result

'''

Families = dict[str, list[dict[str, Any]]]


def main() -> None:
    """Writes both files."""
    families: Families = json.loads(_core.models())
    MODULE.write_text(module(families))
    PAGE.write_text(page(families, PAGE.read_text()))


def module(families: Families) -> str:
    """The Python module, formatted."""
    models = [model for family in families.values() for model in family]
    parts, names = [], []
    for name, words in choices(models).items():
        title = "".join(f"_{letter}" if letter.isupper() and at else letter for at, letter in enumerate(name)).upper() + "S"
        literal = ", ".join(repr(word["word"]) for word in words)
        said = ", ".join(f"{word['word']!r}: Word({word['title']!r}, {word['help']!r}, {word['source']!r})" for word in words)
        parts.append(f"{name}: TypeAlias = Literal[{literal}]\n{title}: dict[{name}, Word] = {{{said}}}\n")
        names += [name, title]
    parts.append(f"SIZING_RULES: dict[str, Rule] = {{{', '.join(rules(models))}}}\n")
    parts.append('"""All rules, from those that take most of the network into account to those that take least."""\n')
    names.append("SIZING_RULES")
    for answer in {model["answer"]["name"]: model for model in models if model["answer"]["name"]}.values():
        parts.append(answer_class(answer))
        names.append(answer["answer"]["name"])
    for model in models:
        parts.append(function(model))
        names.append(model["name"])
    exported = "".join(f"    {name!r},\n" for name in sorted(names, key=lambda name: (name.islower(), not name.isupper(), name)))
    text = f"{HEAD}__all__ = [\n{exported}]\n\n" + "\n".join(parts)
    ruff = [sys.executable, "-m", "ruff", "format", "--quiet", "--stdin-filename", MODULE.name, "-"]
    return subprocess.run(ruff, input=text, text=True, check=True, capture_output=True).stdout


def choices(models: list[dict[str, Any]]) -> dict[str, list[dict[str, str]]]:
    """The words of each type of choice."""
    kinds = {}
    for model in models:
        for parameter in model["parameters"]:
            if isinstance(parameter["of"], list):
                kinds[parameter["kind"]] = parameter["of"]
    return kinds


def rules(models: list[dict[str, Any]]) -> Iterator[str]:
    for model in models:
        if model["idea"]:
            name = rule(model)
            said = [name, model["idea"], model["equation"], model["source"], tuple(model["assumes"])]
            yield f"{name!r}: Rule({', '.join(map(repr, said))})"


def rule(model: dict[str, Any]) -> str:
    return str(model["name"]).removesuffix("_buffer")


def answer_class(model: dict[str, Any]) -> str:
    """The class of what a model answers; what a rule answers carries the rule."""
    answer = model["answer"]
    fields = [(field["name"], "Result", described(field), field["optional"]) for field in answer["fields"]]
    if model["idea"]:
        fields.insert(0, ("rule", "Rule", ["rule : Rule", "    Its equation, source and assumptions."], False))
    lines = [*filled(answer["help"]), "", "Attributes", "----------", *(line for field in fields for line in field[2])]
    body = "".join(f"    {name}: {kind}{' | None = None' if optional else ''}\n" for name, kind, _, optional in fields)
    return f"\n@dataclass(frozen=True)\nclass {answer['name']}:\n{docstring(lines)}\n{body}\n"


def described(field: dict[str, Any]) -> list[str]:
    kind = {"number": "float", "whole": "int", "truth": "bool"}[field["kind"]]
    return [f"{field['name']} : {kind} or array{' or None' * field['optional']}", *filled(field["help"], "    ")]


def function(model: dict[str, Any]) -> str:
    """A model as a function with its documentation."""
    parameters, answer = model["parameters"], model["answer"]
    # Parameters that come together are told apart by their names alone.
    by_name = any(parameter["named"] or parameter["default"] for parameter in parameters)
    signature = ", ".join([*(["*"] if by_name and parameters else []), *map(declared, parameters)])
    words = [parameter["name"] for parameter in parameters if isinstance(parameter["of"], list)]
    numbers = [f"{parameter['name']}={parameter['name']}" for parameter in parameters if parameter["name"] not in words]
    given = ", ".join([repr(model["name"]), *words, *numbers])
    if not answer["name"]:
        kind, returned = "Result", f"number({given})"
    else:
        rule_of = [f"SIZING_RULES[{rule(model)!r}]"] if model["idea"] else []
        kind, returned = answer["name"], f"{answer['name']}({', '.join([*rule_of, f'*answers({given})'])})"
    return f"\ndef {model['name']}({signature}) -> {kind}:\n{docstring(documentation(model))}\n    return {returned}\n"


def declared(parameter: dict[str, Any]) -> str:
    kind = parameter["kind"] if isinstance(parameter["of"], list) else "Numbers"
    default = parameter["default"]
    return f"{parameter['name']}: {kind}{' | None' * (default == 'None')}{f' = {default}' if default else ''}"


def documentation(model: dict[str, Any]) -> list[str]:
    """Lines in networkx's order of sections."""
    first, *more = paragraphs(model["help"])
    lines = filled(first)
    for paragraph in more:
        lines += ["", *filled(paragraph)]
    if model["parameters"]:
        lines += section("Parameters")
        for parameter in model["parameters"]:
            lines += documented(parameter)
    if model["returns"]:
        kind = {"number": "float", "whole": "int"}[model["answer"]["fields"][0]["kind"]]
        lines += [*section("Returns"), f"{kind} or array", *filled(model["returns"], "    ")]
    if model["parameters"]:
        also = f"; also for {model['refuses']}" if model["refuses"] else ""
        raised = filled(f"Names the parameter, what was given and what fits{also}.", "    ")
        lines += [*section("Raises"), "ParameterError", *raised]
    lines += [*section("Notes"), *filled(f"``{model['equation']}``")]
    assumes = [f"- {assumption}" for assumption in model["assumes"]]
    if assumes:
        lines += ["", "Assumes:", "", *(line for each in assumes for line in filled(each, "  ", first=""))]
    lines += [*section("References"), *filled(f"{model['source']}.".replace("cui-thesis", THESIS))]
    if model["example"]:
        lines += [*section("Examples"), ">>> import tailback as tb", *model["example"].splitlines()]
    return lines


def documented(parameter: dict[str, Any]) -> list[str]:
    """A parameter's entry: kind, meaning, unit and range."""
    name, optional = parameter["name"], ", optional" if parameter["default"] else ""
    if isinstance(parameter["of"], list):
        words = "; ".join(f'``"{word["word"]}"``, {word["help"]}' for word in parameter["of"])
        return [f"{name} : str{optional}", *filled(f"{parameter['help']} {words}.", "    ")]
    kind = {"whole": "int", "number": "float"}[parameter["kind"]]
    units = {"bps": "bit/s, ", "bytes": "bytes, ", "s": "seconds, "}
    bounds = units.get(name.rpartition("_")[2], "") if "_" in name else ""
    meaning = f"{parameter['help'].removesuffix('.')}; {bounds}{parameter['of']}."
    return [f"{name} : {kind} or array{optional}", *filled(meaning, "    ")]


def section(title: str) -> list[str]:
    return ["", title, "-" * len(title)]


def paragraphs(lines: list[str]) -> list[str]:
    return [" ".join(part.split()) for part in "\n".join(lines).split("\n\n")]


def filled(text: str, indent: str = "", first: str | None = None) -> list[str]:
    first = indent if first is None else first
    return wrap(text, WIDTH, initial_indent=first, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def docstring(lines: list[str]) -> str:
    body = "\n".join(f"    {line}".rstrip() for line in lines[1:])
    if not body:
        return f'    """{lines[0]}"""'
    return f'    """{lines[0]}\n{body}\n    """'


def page(families: Families, text: str) -> str:
    """The page with its tables written anew: each stands between comments that name its family."""
    for family, models in families.items():
        head = ["| quantity | function | source | what it assumes |", "|---|---|---|---|"]
        table = "\n".join([*head, *rows(models)]).replace("\\", "\\\\")
        text, found = re.subn(rf"(<!-- models: {family} -->\n).*?(<!-- end -->)", rf"\1\n{table}\n\n\2", text, flags=re.DOTALL)
        if found != 1:
            raise SystemExit(f"{PAGE}: expected one table `<!-- models: {family} -->` up to `<!-- end -->`, found {found}")

    for name, words in choices([model for family in families.values() for model in family]).items():
        head = ["| model | word | what it is | source |", "|---|---|---|---|"]
        listed = [f"| {word['title']} | `{word['word']}` | {word['help']} | {word['source']} |" for word in words]
        table = "\n".join([*head, *listed])
        text = re.sub(rf"(<!-- words: {name} -->\n).*?(<!-- end -->)", rf"\1\n{table}\n\n\2", text, flags=re.DOTALL)
    return text


def rows(models: list[dict[str, Any]]) -> Iterator[str]:
    """A row for each quantity, with all functions that ask its equation for something."""
    for at, model in enumerate(models):
        if model["quantity"]:
            others = takewhile(lambda other: not other["quantity"], models[at + 1 :])
            functions = ", ".join(f"`{each['name']}`" for each in (model, *others))
            cells = [model["quantity"], functions, model["source"], "; ".join(model["assumes"])]
            yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


if __name__ == "__main__":
    main()
