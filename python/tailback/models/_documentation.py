"""Docstrings of the closed forms, from the descriptions of the models."""

from __future__ import annotations

from typing import Any

__all__ = ["of_function", "of_result"]

_WIDTH = 120
# Title of the document cui-thesis.
_THESIS = "Y. Cui, Three problems in TCP performance analysis and congestion management"


def of_function(model: dict[str, Any]) -> str:
    """Documentation of a model's function, in networkx's order of sections."""
    first, *more = _paragraphs(model["help"])
    lines = _filled(first)
    for paragraph in more:
        lines += ["", *_filled(paragraph)]
    if model["parameters"]:
        lines += _section("Parameters")
        for parameter in model["parameters"]:
            lines += _documented(parameter)
    if model["returns"]:
        kind = {"number": "float", "whole": "int"}[model["answer"]["fields"][0]["kind"]]
        lines += [*_section("Returns"), f"{kind} or array", *_filled(model["returns"], "    ")]
    if model["parameters"]:
        also = f" Also raised for {model['refuses']}." if model["refuses"] else ""
        raised = _filled(f"A parameter is invalid; the message contains its name, its value and the valid values.{also}", "    ")
        lines += [*_section("Raises"), "ParameterError", *raised]
    lines += [*_section("Notes"), *_filled(f"``{model['equation']}``")]
    assumes = [f"- {assumption}" for assumption in model["assumes"]]
    if assumes:
        lines += ["", "Assumes:", "", *(line for each in assumes for line in _filled(each, "  ", first=""))]
    lines += [*_section("References"), *_filled(f"{model['source']}.".replace("cui-thesis", _THESIS))]
    if model["example"]:
        lines += [*_section("Examples"), ">>> import tailback as tb", *model["example"].splitlines()]
    return "\n".join(lines)


def of_result(model: dict[str, Any]) -> str:
    """Documentation of a model's result class; the result of a rule includes the rule."""
    answer = model["answer"]
    lines = [*_filled(answer["help"]), "", "Attributes", "----------"]
    if model["idea"]:
        lines += ["rule : Rule", "    Its equation, source and assumptions."]
    for field in answer["fields"]:
        kind = {"number": "float", "whole": "int", "truth": "bool"}[field["kind"]]
        lines += [f"{field['name']} : {kind} or array{' or None' * field['optional']}", *_filled(field["help"], "    ")]
    return "\n".join(lines)


def _documented(parameter: dict[str, Any]) -> list[str]:
    """A parameter's entry: kind, meaning, unit and range."""
    name, optional = parameter["name"], ", optional" if parameter["default"] else ""
    if isinstance(parameter["of"], list):
        words = "; ".join(f'``"{word["word"]}"``, {word["help"]}' for word in parameter["of"])
        return [f"{name} : str{optional}", *_filled(f"{parameter['help']} {words}.", "    ")]
    kind = {"whole": "int", "number": "float"}[parameter["kind"]]
    units = {"bps": "bit/s, ", "bytes": "bytes, ", "s": "seconds, "}
    bounds = units.get(name.rpartition("_")[2], "") if "_" in name else ""
    meaning = f"{parameter['help'].removesuffix('.')}; {bounds}{parameter['of']}."
    return [f"{name} : {kind} or array{optional}", *_filled(meaning, "    ")]


def _section(title: str) -> list[str]:
    return ["", title, "-" * len(title)]


def _paragraphs(lines: list[str]) -> list[str]:
    return [" ".join(part.split()) for part in "\n".join(lines).split("\n\n")]


def _filled(text: str, indent: str = "", first: str | None = None) -> list[str]:
    """Lines of at most `_WIDTH` characters. `textwrap` takes several times as long, at each import."""
    lines, line = [], indent if first is None else first
    for word in text.split():
        if line.strip() and len(line) + len(word) > _WIDTH:
            lines.append(line.rstrip())
            line = indent
        line += word + " "
    return [*lines, line.rstrip()]
