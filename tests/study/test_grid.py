"""Axes in Python and on the command line, and their possible errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tailback as tb
from tailback._study.grid import grid
from tailback._study.vary import parse

COUNT, PRESET, RATE = "flows.tcp.count", "flows.*.tcp.preset", "topology.dumbbell.rate"


@pytest.fixture
def two_groups() -> tb.Scenario:
    return tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="1 s", flows={"tcp": {}, "web": {"count": 3}})


def points(scenario: tb.Scenario, vary: Any, seeds: Any = 1) -> list[dict[str, Any]]:
    return [point.labels for point in grid(scenario, vary, seeds).points()]


def problem(scenario: tb.Scenario, vary: Any, seeds: Any = 1) -> Any:
    """The only problem of an error."""
    with pytest.raises(tb.ScenarioError) as caught:
        grid(scenario, vary, seeds).check()
    (found,) = caught.value.problems
    return found


def test_axes_are_crossed_and_the_last_varies_fastest(scenario: tb.Scenario) -> None:
    found = points(scenario, {COUNT: [1, 2], PRESET: ["reno", "sack"]})
    assert [tuple(labels.values()) for labels in found] == [(1, "reno"), (1, "sack"), (2, "reno"), (2, "sack")]


def test_a_star_matches_every_name(two_groups: tb.Scenario) -> None:
    changed = grid(two_groups, {PRESET: ["sack"]}, 1).point(0).scenario
    assert [changed[f"flows.{name}.tcp.preset"] for name in ("tcp", "web")] == ["sack", "sack"]


def test_coupled_paths_are_not_crossed(scenario: tb.Scenario) -> None:
    found = points(scenario, {(COUNT, RATE): [(1, "10 Mbps"), (2, "20 Mbps")]})
    assert found == [{COUNT: 1, RATE: "10 Mbps"}, {COUNT: 2, RATE: "20 Mbps"}]


def test_a_variant_has_a_label_and_several_changes(scenario: tb.Scenario) -> None:
    made = grid(scenario, {"kind": {"old": {PRESET: "reno", COUNT: 1}, "new": {PRESET: "sack"}}}, 1)
    assert [point.labels for point in made.points()] == [{"kind": "old"}, {"kind": "new"}]
    assert [point.scenario[COUNT] for point in made.points()] == [1, 2]


def test_values_of_a_field_can_have_names(scenario: tb.Scenario) -> None:
    made = grid(scenario, {COUNT: {"few": 2, "many": 200}}, 1)
    assert [(point.labels[COUNT], point.scenario[COUNT]) for point in made.points()] == [("few", 2), ("many", 200)]


def test_ranges_are_exact_and_keep_their_unit() -> None:
    assert list(tb.Range("0.1", "0.7", "0.2")) == [0.1, 0.3, 0.5, 0.7]
    assert list(tb.Range(10, 35, 10, unit="ms")) == ["10 ms", "20 ms", "30 ms"]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("a.b=5,10,15", {"a.b": [5, 10, 15]}),
        ("a.b=0.5,true,x y,40 %", {"a.b": [0.5, True, "x y", "40 %"]}),
        ("a.b='1','2,3'", {"a.b": ["1", "2,3"]}),
        ("a.b=[1,2],{c=1,d=2}", {"a.b": [[1, 2], {"c": 1, "d": 2}]}),
        ("a.b=1..9:4", {"a.b": tb.Range("1", "9", "4")}),
        ("a.b=10..30:10 Mbps", {"a.b": tb.Range("10", "30", "10", "Mbps")}),
        ("a.b=bpd-2001/reno,sack", {"a.b": ["bpd-2001/reno", "sack"]}),
        ("a.b=1,2 & c.d=x,y", {("a.b", "c.d"): [(1, "x"), (2, "y")]}),
        ("k=old{a.b=1;c.d=40 %},new{a.b={e=1,f=2}}", {"k": {"old": {"a.b": 1, "c.d": "40 %"}, "new": {"a.b": {"e": 1, "f": 2}}}}),
        ("k=old{},new{a.b=1}", {"k": {"old": {}, "new": {"a.b": 1}}}),
        ("a.b=", {"a.b": []}),
    ],
)
def test_command_line_text_equals_python_values(text: str, meant: Any) -> None:
    assert parse([text]) == meant


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a.b", "is not an axis"),
        ("=1", "is not an axis"),
        ("a.b=1,,2", "a value is missing"),
        ("a.b=9..1", "the range `9..1:1` has no values"),
        ("a.b=1..9:0", "the range `1..9:0` has no values"),
        ("a=x{b=1},2", "either all or none"),
        ("a=x{b}", "is not a change"),
        ("a=x{b=1},x{b=2}", "given twice"),
        ("a.b=1,2 & c.d=1", "lists of equal length"),
    ],
)
def test_a_text_that_cannot_be_read_is_shown(text: str, told: str) -> None:
    with pytest.raises(tb.ParameterError, match=told):
        parse([text])


@pytest.mark.parametrize(
    ("path", "nearest"),
    [
        ("flows.tpc.count", "flows.tcp.count"),
        ("flows.tcp.tcp.prest", "flows.tcp.tcp.preset"),
        ("flows.*.tcp.prest", "flows.*.tcp.preset"),
        ("topology.dumbell.queue.buffer", "topology.dumbbell.queue.buffer"),
        ("links.bottleneck.queue.buffer", "topology.dumbbell.queue.buffer"),
        ("duraton", "duration"),
        ("flows.*.preset", "flows.*.tcp.preset"),
        ("bottleneck.rate", "topology.dumbbell.rate"),
        ("buffer", "topology.dumbbell.queue.buffer"),
        ("queue.buffer", "topology.dumbbell.queue.buffer"),
        ("bandwidth", "topology.dumbbell.rate"),
        ("latency", "topology.dumbbell.delay"),
        ("preset", "flows.tcp.tcp.preset"),
        ("policy", "topology.dumbbell.queue.policy"),
        ("controller", "flows.tcp.tcp.controller"),
        ("loss", "topology.dumbbell.loss"),
        ("flows.tcp.buffer", "topology.dumbbell.queue.buffer"),
        ("topology.dumbbell.queue.xyz", None),
    ],
)
def test_an_unknown_path_is_rejected_with_the_nearest_one(scenario: tb.Scenario, path: str, nearest: str | None) -> None:
    found = problem(scenario, {path: [1]})
    assert (found.at, found.hint) == (path, nearest and f"did you mean `{nearest}`?")


def test_an_unknown_path_is_rejected_in_the_words_of_a_scenario(scenario: tb.Scenario) -> None:
    found = problem(scenario, {"topology.dumbbell.rat": ["1 Mbps"]})
    expected = "one of `delay`, `duplication`, `jitter`, `loss`, `mtu`, `queue`, `rate`, `reverse`"
    assert (found.message, found.expected) == ("`topology.dumbbell` has no key `rat`", expected)
    assert problem(scenario, {"xyz": [1]}).message == "`xyz` is not a known key"
    assert problem(scenario, {"timeline[0].at": [1]}).message == "`timeline` has no entry 0"


def test_an_old_key_in_a_path_gives_the_new_path(scenario: tb.Scenario) -> None:
    found = problem(scenario, {"flows.tcp.tcp.halves": ["window"]})
    assert found.hint == "`halves` has been renamed to `flows.tcp.tcp.ssthresh_from`"
    assert problem(scenario, {"flows.*.halves": ["window"]}).hint == "`halves` has been renamed to `flows.*.tcp.ssthresh_from`"


def test_all_wrong_paths_are_reported_together(scenario: tb.Scenario) -> None:
    with pytest.raises(tb.ScenarioError) as caught:
        grid(scenario, {"flows.a.count": [1], "flows.b.count": [1], "links.x.rate": []}, 1)
    assert [found.at for found in caught.value.problems] == ["links.x.rate", "flows.a.count", "flows.b.count"]


def test_all_invalid_values_are_reported_together_and_once(scenario: tb.Scenario) -> None:
    with pytest.raises(tb.ScenarioError) as caught:
        grid(scenario, {COUNT: [0, 1, -1], PRESET: ["sack", "sakc", "reno"]}, 1).check()
    told = {(found.at, found.given): found.message for found in caught.value.problems}
    assert told.keys() == {(COUNT, "0"), (COUNT, "-1"), ("flows.tcp.tcp.preset", None)}
    assert any("and 2 other points" in message for message in told.values())


@pytest.mark.parametrize(
    ("vary", "seeds", "message"),
    [
        ({COUNT: []}, 1, "the grid is empty: there are no values"),
        ({COUNT: range(0)}, 1, "the grid is empty: there are no values"),
        ({}, 0, "the grid is empty: there are no seeds"),
        ({}, [], "the grid is empty: there are no seeds"),
        ({}, [1, 1], "`seeds` has the same seed twice"),
        ({}, "many", "`seeds` is neither a number nor a list of seeds"),
        ({"seed": [1, 2]}, 1, "`seed` cannot be an axis of the grid"),
        ({COUNT: [1, 1]}, 1, f"`{COUNT}` has the same value twice"),
        ({(COUNT, RATE): [(1, "10 Mbps"), (2,)]}, 1, "value 2 does not match the coupled paths"),
        ({"kind": {"old": {}, "new": 3}}, 1, "the variant `new` is not a table of changes"),
        ({3: [1]}, 1, "a path is not text"),
        ([COUNT], 1, "`vary` is not a mapping"),
    ],
)
def test_an_invalid_grid_is_rejected(scenario: tb.Scenario, vary: Any, seeds: Any, message: str) -> None:
    assert problem(scenario, vary, seeds).message == message


def test_values_of_numpy_are_numbers(scenario: tb.Scenario) -> None:
    vary = {COUNT: list(np.arange(1, 3)), PRESET: np.array(["reno", "sack"])}
    assert points(scenario, vary) == points(scenario, {COUNT: [1, 2], PRESET: ["reno", "sack"]})


@pytest.mark.parametrize("value", [{1, 2}, object(), float("nan"), lambda: 1])
def test_values_that_scenarios_cannot_contain_are_rejected_with_their_path(scenario: tb.Scenario, value: Any) -> None:
    assert problem(scenario, {COUNT: [1, value]}).at == COUNT


def test_a_field_varies_on_one_axis_only(scenario: tb.Scenario) -> None:
    assert problem(scenario, {COUNT: [1, 2], "kind": {"old": {COUNT: 3}}}).message == f"`{COUNT}` varies twice"


@pytest.mark.parametrize(
    ("vary", "seeds", "size"),
    [
        ({COUNT: range(1, 10**9 + 1)}, 1, "1,000,000,000 points and 1,000,000,000 runs"),
        ({COUNT: tb.Range(1, 10**9)}, 3, "1,000,000,000 points and 3,000,000,000 runs"),
        ({COUNT: range(1, 1001), PRESET: ["reno", "sack"], RATE: tb.Range(1, 1000, 1, "Mbps")}, 1, "2,000,000 points"),
        ({}, 10**9, "1 point and 1,000,000,000 runs"),
    ],
)
def test_a_grid_that_is_too_large_is_rejected_without_building_it(
    scenario: tb.Scenario, vary: Any, seeds: int, size: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tb.Scenario, "with_", lambda *_: pytest.fail("a point was built"))
    assert size in problem(scenario, vary, seeds).message


def test_points_that_differ_in_nothing_have_one_content_hash(scenario: tb.Scenario) -> None:
    made = grid(scenario, {"kind": {"one": {COUNT: 2}, "two": {COUNT: 2}}}, 2)
    first, second = (point.keys(made.seeds) for point in made.points())
    assert first == second
    assert len(set(first)) == 2
    assert tb.simulate(made.point(0).scenario, 1).content_hash == first[0]


@pytest.mark.parametrize("name", ["point", "state", "content_hash", "seeds", "mean", "low", "high"])
def test_an_axis_is_not_named_as_a_column_of_the_results(scenario: tb.Scenario, name: str) -> None:
    found = problem(scenario, {name: {"one": {COUNT: 1}, "two": {COUNT: 2}}})
    assert (found.at, found.message) == (name, f"`{name}` is a column of the results")
