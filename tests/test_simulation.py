"""Running a scenario: the seed determines the results; threads, progress and Ctrl-C do not affect them."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tailback as tb


def test_the_seed_determines_the_results(scenario: tb.Scenario) -> None:
    random = scenario.with_({"flows.tcp.start": {"uniform": ["0 s", "1 s"]}})
    first, again, other = (tb.simulate(random, seed=seed) for seed in (1, 1, 2))
    assert (first.seed, other.seed) == (1, 2)
    assert first.content_hash == again.content_hash != other.content_hash
    assert pa.table(first.trace("cwnd")).equals(pa.table(again.trace("cwnd")))
    assert not pa.table(first.trace("cwnd")).equals(pa.table(other.trace("cwnd")))
    assert first.scenario["seed"] == 1


def test_threads_run_side_by_side_and_agree(scenario: tb.Scenario) -> None:
    alone = tb.simulate(scenario).flows.to_dict()
    results: list[dict[str, list[Any]]] = []
    threads = [threading.Thread(target=lambda: results.append(tb.simulate(scenario).flows.to_dict())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    for result in results:
        np.testing.assert_equal(result, alone)


def test_progress_goes_from_start_to_end(scenario: tb.Scenario) -> None:
    seen: list[float] = []
    tb.simulate(scenario, progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1


def test_an_interrupt_contains_the_results_so_far(scenario: tb.Scenario) -> None:
    def interrupt(fraction: float) -> None:
        if fraction > 0.05:
            raise KeyboardInterrupt

    # More events than the first slice has, which has a fixed number.
    long = scenario.with_({"duration": "50 s"})
    with pytest.raises(KeyboardInterrupt) as caught:
        tb.simulate(long, progress=interrupt)
    assert isinstance(caught.value, tb.Interrupted)
    run = caught.value.run
    assert not run.complete
    assert not run.provenance["complete"]
    assert 2.5 < run.simulated_s < 50
    assert run.queues["departed_units"][0] > 0
    assert "INCOMPLETE" in run.summary()


def test_a_run_can_be_interrupted_within_one_instant() -> None:
    seen: list[float] = []

    def interrupt(fraction: float) -> None:
        seen.append(fraction)
        raise KeyboardInterrupt

    # All of them start at 0, and each start is an event. The first slice has a fixed number
    # of events; later ones depend on the clock.
    crowd = tb.dumbbell(rate="10 Gbps", delay="10 ms", buffer="20 packets", flows=50_000, duration="1 s")
    with pytest.raises(tb.Interrupted) as caught:
        tb.simulate(crowd, progress=interrupt)
    assert seen == [0]
    assert caught.value.run.simulated_s == 0
    assert caught.value.run.events < 50_000


def test_an_exception_in_a_callback_ends_the_run(scenario: tb.Scenario) -> None:
    def fail(_fraction: float) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        tb.simulate(scenario, progress=fail)
