"""The closed forms of crates/models: functions, results and keywords, made from the descriptions of the models.

`_closed_forms.pyi`, written by tools/models.py, declares them for editors and type checkers.
"""

from __future__ import annotations

import json
import re
from dataclasses import field, make_dataclass
from typing import Any, Literal

from tailback import _core
from tailback._arguments import arguments_checked
from tailback.models import _documentation
from tailback.models._broadcasting import answers, number
from tailback.models._words import KeywordInfo, Rule

__all__: list[str] = []


def _define() -> None:
    """Define all names in this module: keywords, rules, results and functions."""
    models = [model for family in json.loads(_core.models()).values() for model in family]
    keywords = {each["kind"]: each["of"] for model in models for each in model["parameters"] if isinstance(each["of"], list)}
    made: dict[str, Any] = {}
    for name, words in keywords.items():
        made[name] = Literal[tuple(each["word"] for each in words)]
        plural = re.sub("(?<!^)(?=[A-Z])", "_", name).upper() + "S"
        made[plural] = {each["word"]: KeywordInfo(each["title"], each["help"], each["source"]) for each in words}
    made["SIZING_RULES"] = {
        _rule(model): Rule(_rule(model), model["idea"], model["equation"], model["source"], tuple(model["assumes"]))
        for model in models
        if model["idea"]
    }
    results = {model["answer"]["name"]: model for model in models if model["answer"]["name"]}
    made |= {name: _result(model) for name, model in results.items()}
    globals().update(made, answers=answers, arguments_checked=arguments_checked, number=number)
    # Compiled functions check their arguments like all others, and are as fast.
    exec("\n".join(map(_source, models)), globals())
    for model in models:
        globals()[model["name"]].__doc__ = _documentation.of_function(model)
    names = [*made, *(model["name"] for model in models)]
    __all__.extend(sorted(names, key=lambda name: (name.islower(), not name.isupper(), name)))


def _rule(model: dict[str, Any]) -> str:
    return str(model["name"]).removesuffix("_buffer")


def _result(model: dict[str, Any]) -> type:
    """The class of a model's results; the result of a rule includes the rule."""
    fields: list[Any] = [("rule", "Rule")] if model["idea"] else []
    for one in model["answer"]["fields"]:
        fields.append((one["name"], "Result | None", field(default=None)) if one["optional"] else (one["name"], "Result"))
    namespace = {"__module__": __name__, "__doc__": _documentation.of_result(model)}
    return make_dataclass(model["answer"]["name"], fields, frozen=True, namespace=namespace)


def _source(model: dict[str, Any]) -> str:
    """A model as a function of numbers or arrays."""
    parameters, result = model["parameters"], model["answer"]["name"]
    # Parameters of a group are passed by name only.
    by_name = any(parameter["named"] or parameter["default"] for parameter in parameters)
    signature = ", ".join([*["*"][:by_name], *map(_declared, parameters)])
    words = [parameter["name"] for parameter in parameters if isinstance(parameter["of"], list)]
    numbers = [f"{parameter['name']}={parameter['name']}" for parameter in parameters if parameter["name"] not in words]
    given = ", ".join([repr(model["name"]), *words, *numbers])
    rule = f"SIZING_RULES[{_rule(model)!r}], " if model["idea"] else ""
    returned = f"{result}({rule}*answers({given}))" if result else f"number({given})"
    return f"@arguments_checked\ndef {model['name']}({signature}) -> {result or 'Result'}: return {returned}"


def _declared(parameter: dict[str, Any]) -> str:
    kind, default = parameter["kind"] if isinstance(parameter["of"], list) else "Numbers", parameter["default"]
    return f"{parameter['name']}: {kind}{' | None' * (default == 'None')}{f' = {default}' if default else ''}"


_define()
