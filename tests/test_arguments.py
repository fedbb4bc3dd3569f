"""Public functions reject unknown keyword arguments with the nearest name, and otherwise stay as they were written."""

from __future__ import annotations

import inspect
import pickle
import warnings
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any

import pytest

import tailback as tb
from support import own_members
from tailback import _topologies

# Classes of which users define subclasses: the core calls their methods.
INTERFACES = (
    tb.user_code.Application,
    tb.user_code.Controller,
    tb.user_code.Host,
    tb.user_code.Policy,
    tb.user_code.Source,
)
# Their further arguments are the keys of a scenario.
TOPOLOGIES = [getattr(tb, name) for name in _topologies.__all__]


@pytest.mark.parametrize(
    ("function", "wrong", "nearest"),
    [
        (tb.simulate, "sed", "seed"),
        (tb.sweep, "seads", "seeds"),
        (tb.validate, "job", "jobs"),
        (tb.predict, "scneario", "scenario"),
        (tb.size_buffer, "taget", "target"),
        (tb.Scenario.from_toml, "fiel", "file"),
        (tb.Run.plot, "line", "lines"),
        (tb.Run.trace, "knid", "kind"),
        (tb.Table.sort, "descendin", "descending"),
        (tb.Range, "frist", "first"),
        (tb.models.erlang_b, "serves", "servers"),
        (tb.statistics.bootstrap, "see", "seed"),
        (tb.papers.Claim, "publishd", "published"),
    ],
)
def test_an_unknown_argument_gives_the_nearest_one(function: Callable[..., Any], wrong: str, nearest: str) -> None:
    with pytest.raises(tb.ArgumentError) as caught:
        function(**{wrong: 1})
    assert isinstance(caught.value, TypeError)
    (problem,) = caught.value.problems
    assert problem.message == f"`{function.__qualname__}()` has no argument `{wrong}`"
    assert problem.hint == f"did you mean `{nearest}`?"
    assert f"`{nearest}`" in str(problem.expected)


def test_all_unknown_arguments_are_listed_with_the_valid_ones() -> None:
    with pytest.raises(tb.ArgumentError) as caught:
        tb.predict({}, seeed=1, fast=True)  # type: ignore[call-arg]
    assert str(caught.value) == (
        "error: `predict()` has no argument `seeed`\n  at       seeed\n  expected one of `scenario`, `seed`\n"
        "  hint     did you mean `seed`?\n\n"
        "error: `predict()` has no argument `fast`\n  at       fast\n  expected one of `scenario`, `seed`\n"
        "2 errors; nothing was run"
    )
    with pytest.raises(tb.ArgumentError, match="expected no keyword arguments"):
        tb.schema(format="json")  # type: ignore[call-arg]


def test_every_public_function_rejects_unknown_arguments() -> None:
    checked = dict(functions())
    assert {"sweep", "dumbbell", "Run.plot", "Run.trace", "models.erlang_b", "papers.Measured.interval"} <= checked.keys()
    for name, function in checked.items():
        with pytest.raises(tb.ArgumentError, match="has no argument `no such argument`"):
            pytest.fail(f"{name} returned {function(**{'no such argument': 1})}")


def test_a_checked_function_keeps_its_signature_and_documentation() -> None:
    assert list(inspect.signature(tb.predict).parameters) == ["scenario", "seed"]
    assert (tb.predict.__module__, tb.predict.__name__) == ("tailback.prediction._predict", "predict")
    assert str(inspect.getdoc(tb.predict)).startswith("Predict")
    assert list(inspect.signature(tb.Range).parameters) == ["first", "last", "step", "unit"]
    for function in (tb.predict, tb.Table.sort, tb.dumbbell):
        assert pickle.loads(pickle.dumps(function)) is function


def test_a_missing_argument_is_reported_by_python() -> None:
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'duration'"):
        tb.dumbbell(rate="1 Mbps", delay="1 ms", buffer="9 packets")  # type: ignore[call-arg]


def test_a_warning_is_issued_at_the_line_of_the_user() -> None:
    scenario = tb.dumbbell(rate="1 Mbps", delay="1 ms", buffer="9 packets", duration="1 s").with_({"flows.tcp.start": "5 s"})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scenario.check()
        tb.simulate(scenario)
    assert {warning.filename for warning in caught} == {__file__}
    assert len(caught) >= 2


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every public function, and every public method with arguments, except those that accept any name."""
    names = [(name, getattr(tb, name)) for name in tb.__all__]
    for name, module in [*names]:
        if isinstance(module, ModuleType):
            names += [(f"{name}.{inner}", getattr(module, inner)) for inner in module.__all__]
    for name, public in names:
        if isinstance(public, FunctionType) and (public in TOPOLOGIES or not accepts_any(public)):
            yield name, public
        elif inspect.isclass(public) and not issubclass(public, INTERFACES):
            for key, member in own_members(public).items():
                if key.startswith("_") or not isinstance(member, (FunctionType, classmethod)):
                    continue
                method = getattr(public, key)
                has_arguments = len(inspect.signature(method).parameters) > isinstance(member, FunctionType)
                if has_arguments and not accepts_any(method):
                    yield f"{name}.{key}", method


def accepts_any(function: Callable[..., Any]) -> bool:
    return any(parameter.kind is parameter.VAR_KEYWORD for parameter in inspect.signature(function).parameters.values())
