"""A run with several threads gives the same bytes as with one."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tailback as tb
import user_laws  # noqa: F401 (it registers laws)
from support import SMALL, Command

# Several bottlenecks in a row, marks, traces, random sources, percentiles and a change during the run.
FLOWS: dict[str, Any] = {
    "long": {"from": "n0", "to": "n3", "count": 5, "tcp": {"preset": "sack", "ecn": True}},
    "short": {
        "from": "n1",
        "to": "n2",
        "count": 5,
        "propagation_rtt": {"uniform": ["20 ms", "60 ms"]},
        "tcp": {"preset": "newreno"},
    },
    "udp": {"from": "n2", "to": "n3", "source": {"kind": "poisson", "rate": "1 Mbps", "packet_size": "500 B"}},
}
SCENARIO = tb.parking_lot(
    hops=3,
    rate="10 Mbps",
    delay="5 ms",
    queue={
        "policy": "red",
        "min_threshold": "5 packets",
        "max_threshold": "15 packets",
        "max_probability": 0.1,
        "buffer": "30 packets",
    },
    flows=FLOWS,
    duration="20 s",
    warmup="2 s",
    timeline=[{"at": "12 s", "link": "hop1", "rate": "8 Mbps"}],
    record={"traces": ["cwnd", "queue", "drops"], "delay_percentiles": True},
)


def alike(one: tb.Run, other: tb.Run) -> None:
    assert one.provenance == other.provenance
    for name, table in one.tables.items():
        assert table.columns == other.tables[name].columns
        for column in table.columns:
            np.testing.assert_array_equal(table[column], other.tables[name][column])


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_any_number_gives_the_same_bytes(threads: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        alike(tb.simulate(SCENARIO, seed=3, threads=threads), tb.simulate(SCENARIO, seed=3))


def test_an_interrupted_run_resumes_with_another_number_of_threads(tmp_path: Path) -> None:
    path = tmp_path / "run.checkpoint"

    def stop(done: float) -> None:
        if done >= 0.1:
            raise KeyboardInterrupt

    with pytest.raises(tb.Interrupted) as caught:
        tb.simulate(SCENARIO, seed=3, threads=3, progress=stop, checkpoint=path)
    assert 2 <= caught.value.run.simulated_s < 20
    assert not caught.value.run.complete
    with pytest.raises(tb.Interrupted):
        tb.simulate(SCENARIO, seed=3, threads=2, progress=lambda done: stop(done - 0.3), checkpoint=path)
    alike(tb.simulate(SCENARIO, seed=3, checkpoint=path), tb.simulate(SCENARIO, seed=3))


def test_a_run_continues_after_a_snapshot() -> None:
    one = SCENARIO._simulation(3, 3)
    assert (one.threads, one.fewer_threads) == (3, None)
    one.run_for(20_000)
    other = one.snapshot()
    assert (other.threads, other.now_s) == (3, one.now_s)
    for simulation in (one, other):
        while not simulation.run_for(10_000):
            pass
    alike(tb.Run(one.results()), tb.Run(other.results()))


def test_a_run_larger_than_the_caches_continues_after_a_snapshot() -> None:
    # Prefetched memory differs after the snapshot, because less is in flight.
    short = {
        f"of_hop{hop}": {"from": f"n{hop}", "to": f"n{hop + 1}", "count": 100, "tcp": {"preset": "sack"}} for hop in range(20)
    }
    hops = {"hops": 20, "rate": "50 Mbps", "delay": "1 ms", "queue": {"buffer": "50 packets"}}
    flows = {"long": {"from": "n0", "to": "n20", "count": 200, "tcp": {"preset": "newreno"}}, **short}
    scenario = tb.Scenario({"duration": "0.2 s", "topology": {"parking_lot": hops}, "flows": flows})
    simulation = scenario._simulation(None, 2)
    for _ in range(7):
        simulation.run_for(997)
    simulation = simulation.snapshot()
    while not simulation.run_for(100_000):
        pass
    alike(tb.Run(simulation.results()), tb.simulate(scenario))


def test_fewer_threads_than_requested_cause_a_warning() -> None:
    user = SCENARIO.with_({"flows.long.tcp.controller": "user:reno"})
    rerouted = SCENARIO.with_({"timeline": [{"at": "3 s", "group": "long", "route": ["hop1", "hop2", "hop3"]}]})
    for scenario, why in [
        (user, "on one thread instead of 4: user code runs on one thread"),
        (rerouted, "4: routes change during the run"),
    ]:
        with pytest.warns(tb.ThreadsWarning, match=why):
            shared = tb.simulate(scenario.with_({"duration": "15 s"}), threads=4)
        alike(shared, tb.simulate(scenario.with_({"duration": "15 s"})))


def test_there_are_at_most_as_many_threads_as_parts(command: Command, file: Path) -> None:
    alone = command("run", file)
    shared = command("run", file, "--threads", 1000)
    assert (shared.returncode, shared.stdout) == (0, alone.stdout)
    assert shared.stderr == (
        "warning: on 2 threads instead of 1000: the network has no more active parts that are separated by a delay\n"
    )


@pytest.mark.parametrize("threads", [0, -1, 1025, 1.5, True, "2", None, 10**30])
def test_an_invalid_number_of_threads_is_rejected(threads: Any) -> None:
    with pytest.raises(tb.ParameterError, match="expected a whole number from 1 to 1024"):
        tb.simulate(SCENARIO, threads=threads)


def test_runs_of_several_seeds_do_not_share_any(command: Command, file: Path) -> None:
    with pytest.raises(tb.ParameterError, match="`seeds` cannot be combined with `threads`"):
        tb.simulate(SCENARIO, seeds=2, threads=2)  # type: ignore[call-overload]
    assert command("run", file, "--threads", "many").returncode == 2


def test_a_run_uses_the_threads_that_fit_into_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    # Each thread has a copy of the flows, of 500 bytes each.
    scenario = tb.Scenario.from_toml(SMALL.replace("count = 2", "count = 2000"))
    monkeypatch.setenv("TAILBACK_MEMORY", "0.02")
    with pytest.warns(tb.ThreadsWarning, match=r"on \d+ of 1024 threads: all of them may need 1\.\d GiB, and 20\.5 MiB are"):
        tb.simulate(scenario, threads=1024)
