"""Generates files from the models in crates/models: python/tailback/models/_closed_forms.pyi and the tables of
docs/evidence/theory.md.

    .venv/bin/python tools/models.py

A test compares the files with the output of this script, so that a model is described only in its own file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from textwrap import wrap
from typing import Any

from tailback import _core
from tailback.models import _closed_forms as closed_forms

ROOT = Path(__file__).resolve().parents[1]
STUB = ROOT / "python/tailback/models/_closed_forms.pyi"
PAGE = ROOT / "docs/evidence/theory.md"
WIDTH = 130
# A space at which no line ends.
UNBROKEN = "\0"

HEAD = """\
# The closed forms of crates/models for type checkers, by tools/models.py; a test compares them.
# fmt: off
from dataclasses import dataclass
from typing import Literal, TypeAlias

from tailback.models._broadcasting import Numbers, Result
from tailback.models._words import KeywordInfo, Rule

"""

Families = dict[str, list[dict[str, Any]]]


def main() -> None:
    """Writes both files."""
    families: Families = json.loads(_core.models())
    STUB.write_text(stub(families))
    PAGE.write_text(page(families, PAGE.read_text()))


def stub(families: Families) -> str:
    """The declarations of all names."""
    models = [model for family in families.values() for model in family]
    parts = [HEAD, filled(f"__all__ = [{', '.join(map(repr, closed_forms.__all__))}]")]
    for name, words in choices(models).items():
        listed = re.sub("(?<!^)(?=[A-Z])", "_", name).upper() + "S"
        parts.append(f"{name}: TypeAlias = Literal[{', '.join(repr(word['word']) for word in words)}]\n")
        parts.append(f"{listed}: dict[{name}, KeywordInfo]\n")
    parts.append("SIZING_RULES: dict[str, Rule]\n")
    results = {model["answer"]["name"]: model for model in models if model["answer"]["name"]}
    parts += [*map(result, results.values()), "\n", *map(function, models)]
    return "".join(parts)


def choices(models: list[dict[str, Any]]) -> dict[str, list[dict[str, str]]]:
    """The words of each type of choice."""
    kinds = {}
    for model in models:
        for parameter in model["parameters"]:
            if isinstance(parameter["of"], list):
                kinds[parameter["kind"]] = parameter["of"]
    return kinds


def result(model: dict[str, Any]) -> str:
    """The result class of a model; the result of a rule includes the rule."""
    fields = ["    rule: Rule\n"] if model["idea"] else []
    for field in model["answer"]["fields"]:
        fields.append(f"    {field['name']}: Result{' | None = None' * field['optional']}\n")
    return f"\n@dataclass(frozen=True)\nclass {model['answer']['name']}:\n{''.join(fields)}"


def function(model: dict[str, Any]) -> str:
    """A model as a function."""
    parameters = model["parameters"]
    # Parameters of a group are passed by name only.
    by_name = any(parameter["named"] or parameter["default"] for parameter in parameters)
    signature = ", ".join([*["*"][:by_name], *(declared(parameter).replace(" ", UNBROKEN) for parameter in parameters)])
    end = f" -> {model['answer']['name'] or 'Result'}: ...".replace(" ", UNBROKEN)
    return filled(f"def {model['name']}({signature}){end}")


def declared(parameter: dict[str, Any]) -> str:
    kind = parameter["kind"] if isinstance(parameter["of"], list) else "Numbers"
    default = parameter["default"]
    return f"{parameter['name']}: {kind}{' | None' * (default == 'None')}{f' = {default}' if default else ''}"


def filled(text: str) -> str:
    lines = wrap(text, WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines).replace(UNBROKEN, " ") + "\n"


def page(families: Families, text: str) -> str:
    """The page with its tables regenerated; each table is between comments that name its family."""
    for family, models in families.items():
        head = ["| Quantity | Function | Source |", "|---|---|---|"]
        table = "\n".join([*head, *rows(models)]).replace("\\", "\\\\")
        text, found = re.subn(rf"(<!-- models: {family} -->\n).*?(<!-- end -->)", rf"\1\n{table}\n\n\2", text, flags=re.DOTALL)
        if found != 1:
            raise SystemExit(f"{PAGE}: expected one table `<!-- models: {family} -->` up to `<!-- end -->`, found {found}")

    for name, words in choices([model for family in families.values() for model in family]).items():
        head = ["| Model | Keyword | Description | Source |", "|---|---|---|---|"]
        listed = [f"| {word['title']} | `{word['word']}` | {word['help']} | {word['source']} |" for word in words]
        table = "\n".join([*head, *listed])
        text = re.sub(rf"(<!-- words: {name} -->\n).*?(<!-- end -->)", rf"\1\n{table}\n\n\2", text, flags=re.DOTALL)
    return text


def rows(models: list[dict[str, Any]]) -> Iterator[str]:
    """A row for each quantity, with all functions that use its equation."""
    for at, model in enumerate(models):
        if model["quantity"]:
            others = takewhile(lambda other: not other["quantity"], models[at + 1 :])
            functions = ", ".join(f"`{each['name']}`" for each in (model, *others))
            cells = [model["quantity"], functions, model["source"]]
            yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


if __name__ == "__main__":
    main()
