"""`tailback.diff`: settings, the first differing event, and values."""

from __future__ import annotations

from pathlib import Path

import pytest

import tailback as tb
from support import SMALL

SCENARIO = tb.Scenario.from_toml(SMALL)


def test_equal_runs_have_no_differences() -> None:
    found = tb.diff(SCENARIO, SCENARIO)
    assert not found
    assert (found.settings, found.event, found.values, found.events_from) == ((), None, (), "simulation")
    assert str(found).endswith("all events up to the end of the shorter run are equal\nall tables are equal")


def test_a_smaller_buffer_discards_first() -> None:
    found = tb.diff(SCENARIO, SCENARIO.with_({"topology.dumbbell.queue.buffer": "10 packets"}))
    assert [(each.at, each.left, each.right) for each in found.settings] == [
        ("topology.dumbbell.queue.buffer", "20 packets", "10 packets")
    ]
    # Only the run with the larger buffer holds eleven packets.
    assert found.event
    assert "holds 11" in f"{found.event.left}" or "discards" in f"{found.event.right}"
    longest = next(each for each in found.values if (each.row, each.column) == ("bottleneck", "max_queue_units"))
    assert (longest.left, longest.right) == (20, 10)


def test_events_that_differ_only_in_time_are_shown_with_their_times() -> None:
    found = tb.diff(SCENARIO, SCENARIO.with_({"flows.tcp.start": "1 ms"}))
    assert found.event
    assert found.event.left == found.event.right
    assert found.event.left_s == found.event.time_s != found.event.right_s
    shown = [line for line in str(found).splitlines() if line.startswith(("  A: ", "  B: "))]
    times = [f"at {time:.12g} s" for time in (found.event.left_s, found.event.right_s) if time is not None]
    assert [line.endswith(time) for line, time in zip(shown, times, strict=True)] == [True, True]


def test_a_change_has_no_effect_before_its_time() -> None:
    run = tb.simulate(SCENARIO)
    found = tb.diff(run, run.fork("3 s", {"link": "bottleneck", "rate": "5 Mbps"}))
    assert found.event
    assert 3.0 <= found.event.time_s < 3.1


def test_seeds_are_settings() -> None:
    found = tb.diff(tb.simulate(SCENARIO, 1), tb.simulate(SCENARIO, 2))
    assert [(each.at, each.left, each.right) for each in found.settings] == [("seed", 1, 2)]
    # Nothing in this scenario is random.
    assert not found


def test_runs_of_another_version_are_compared_by_their_traces() -> None:
    ours = tb.simulate(SCENARIO)
    theirs = tb.simulate(SCENARIO.with_({"topology.dumbbell.queue.buffer": "10 packets"}))
    theirs.provenance["content_hash"] = "of another version"
    found = tb.diff(ours, theirs)
    assert found.events_from == "traces"
    assert found.event
    assert found.event.time_s == tb.diff(ours, SCENARIO.with_({"topology.dumbbell.queue.buffer": "10 packets"})).event.time_s  # type: ignore[union-attr]
    plain = tb.simulate(SCENARIO.with_({"record": None}))
    found = tb.diff(plain, theirs)
    assert (found.events_from, found.event) == ("nothing", None)
    assert "events were not compared" in str(found)


def test_runs_with_transport_stacks_are_compared_by_their_traces() -> None:
    run = tb.simulate(SCENARIO)
    run.provenance["scenario"]["flows"]["tcp"]["tcp"] = {"stack": "quinn"}
    found = tb.diff(run, SCENARIO)
    assert (found.events_from, found.event) == ("traces", None)


def test_rows_that_only_one_run_has_are_differences() -> None:
    found = tb.diff(SCENARIO, SCENARIO.with_({"flows.tcp.count": 3}))
    assert ("flows", "tcp 2", "sent_packets") in {
        (each.table, each.row, each.column) for each in found.values if each.left is None
    }


def test_a_seed_for_two_runs_is_refused(tmp_path: Path) -> None:
    run = tb.simulate(SCENARIO)
    run.save(tmp_path / "run")
    with pytest.raises(tb.ParameterError, match="`seed` is the seed of scenarios"):
        tb.diff(run, tb.read_run(tmp_path / "run"), seed=3)
