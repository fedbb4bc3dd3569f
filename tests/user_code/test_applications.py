"""Applications in Python: the same exchanges as built-in ones, timers, errors, and refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tailback as tb
from tailback.user_code import Application

RATES = [300e3, 1e6, 3e6, 6e6]


@tb.application("poller")
class Poller(Application):
    """The exchanges of the built-in `requests`."""

    def __init__(self, *, requests: int, response: int, think_s: float = 0.0, parallel: int = 1) -> None:
        self.requests, self.response, self.think_s, self.parallel = requests, response, think_s, parallel

    def on_start(self, now_s: float) -> None:
        for _ in range(self.parallel):
            self.request(self.response)

    def on_response(self, number: int, now_s: float) -> None:
        if number + self.parallel < self.requests:
            self.request(self.response, after_s=self.think_s)


@tb.application("video")
class Video(Application):
    """The built-in `video` with the adaptation `throughput`, and a buffer that is never full."""

    def __init__(self, *, chunk_s: float, chunks: int) -> None:
        self.chunk_s, self.chunks, self.speeds, self.size, self.asked_s = chunk_s, chunks, list[float](), 0, 0.0

    def on_start(self, now_s: float) -> None:
        self.ask(RATES[0], now_s)

    def ask(self, rate: float, now_s: float) -> None:
        self.size, self.asked_s = int(rate * self.chunk_s / 8), now_s
        self.request(self.size)

    def on_response(self, number: int, now_s: float) -> None:
        self.speeds = [*self.speeds, 8 * self.size / (now_s - self.asked_s)][-5:]
        mean = len(self.speeds) / sum(1 / speed for speed in self.speeds)
        if number + 1 < self.chunks:
            self.ask(max([rate for rate in RATES if rate <= mean], default=RATES[0]), now_s)


@tb.application("ticker")
class Ticker(Application):
    """A request after 0.1 s, and after a time that doubles whenever a timer expires."""

    def __init__(self, *, ticks: int = 5, fails_at: int | None = None) -> None:
        self.ticks, self.fails_at, self.count = ticks, fails_at, 0

    def on_start(self, now_s: float) -> None:
        self.wake(0.1)

    def on_timer(self, now_s: float) -> None:
        self.count += 1
        if self.count == self.fails_at:
            raise ZeroDivisionError("no more")
        self.request(1000 * self.count, after_s=0.01)
        if self.count < self.ticks:
            self.wake(0.1 * 2**self.count)


@tb.application("decides")
class Decides(Application):
    """One decision."""

    def __init__(self, *, what: list[Any]) -> None:
        self.what = what

    def on_start(self, now_s: float) -> None:
        if len(self.what) == 1:
            self.wake(*self.what)
        else:
            self.request(self.what[0], after_s=self.what[1])


def scenario(application: dict[str, Any], **flow: Any) -> tb.Scenario:
    flows: Any = {"web": {"tcp": {"preset": "linux/cubic"}, "application": application, **flow}}
    return tb.dumbbell(rate="5 Mbps", delay="10 ms", buffer="20 packets", flows=flows, duration="8 s", traces=["drops", "cwnd"])


def poller(**parameters: Any) -> dict[str, Any]:
    return {"kind": "user:poller", "parameters": parameters}


def same(one: tb.Run, other: tb.Run) -> None:
    """Check that all messages and all traces are the same."""
    for table in ("messages", "drops", "cwnd", "queues"):
        assert one.tables[table].to_dict() == other.tables[table].to_dict(), table


@pytest.mark.parametrize("parallel", [1, 3])
def test_a_client_in_python_exchanges_the_messages_of_the_built_in_one(parallel: int) -> None:
    built_in = {"kind": "requests", "requests": 20, "response_size": "40 kB", "think_time": "25 ms", "parallel": parallel}
    ours = poller(requests=20, response=40_000, think_s=0.025, parallel=parallel)
    theirs = tb.simulate(scenario(built_in, count=3))
    run = tb.simulate(scenario(ours, count=3))
    assert len(run.messages) == 2 * 3 * 20
    assert theirs.queues["dropped_units"].sum() > 0
    same(run, theirs)


def test_a_video_client_in_python_adapts_as_the_built_in_one() -> None:
    built_in = {
        "kind": "video",
        "ladder": [f"{rate / 1e3:g} kbps" for rate in RATES],
        "chunk": "500 ms",
        "chunks": 12,
        "max_buffer": "20 s",
    }
    ours = {"kind": "user:video", "parameters": {"chunk_s": 0.5, "chunks": 12}}
    run = tb.simulate(scenario(ours, count=2))
    assert len(set(run.messages.where(group="web")["size_bytes"].tolist())) > 1
    same(run, tb.simulate(scenario(built_in, count=2)))


def test_timers_and_delayed_requests_are_exact() -> None:
    run = tb.simulate(scenario({"kind": "user:ticker"}, tcp={"preset": "sack"}))
    messages = run.messages.where(group="web")
    assert messages["size_bytes"].tolist() == [1000, 2000, 3000, 4000, 5000]
    assert messages["start_s"].tolist() == pytest.approx([0.11, 0.31, 0.71, 1.51, 3.11], abs=1e-11)
    # A request of 300 bytes and a response, each with the headers of a segment, at 5 Mbit/s, and two delays of 10 ms.
    header = 40
    first = ((300 + header) + (1000 + header)) * 8 / 5e6 + 0.02
    assert messages["completion_time_s"][0] == pytest.approx(first, abs=1e-9)
    assert run.flows.where(group="web")["delivered_bytes"][0] == 15_000


def test_requests_are_written_in_the_order_of_their_times() -> None:
    @tb.application("reordered")
    class Reordered(Application):
        def on_start(self, now_s: float) -> None:
            self.request(7000, after_s=0.2)
            self.request(1000, after_s=0.1)

    messages = tb.simulate(scenario({"kind": "user:reordered"})).messages.where(group="web")
    assert (messages["size_bytes"].tolist(), messages["start_s"].tolist()) == ([1000, 7000], [0.1, 0.2])


def test_slices_and_snapshots_change_nothing() -> None:
    given = scenario(poller(requests=30, response=60_000, think_s=0.01, parallel=2), count=2)
    whole = tb.simulate(given)
    simulation = given._simulation(None)
    done, events = False, 1
    while not done:
        copy = simulation.snapshot()
        done = simulation.run_for(events)
        if events % 3 == 0:
            simulation.run_for(500)
            simulation = copy
            done = simulation.run_for(events)
        events = events * 2 + 1
    same(whole, tb.Run(simulation.results()))


def test_an_exception_has_place_and_time() -> None:
    with pytest.raises(tb.UserCodeError, match=r"`user:ticker` failed: .*no more") as caught:
        tb.simulate(scenario({"kind": "user:ticker", "parameters": {"fails_at": 3}}))
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert caught.value.at == "flows.web.application"
    assert caught.value.time_s == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ([0, 0.0], "a response of 0 bytes; expected 1 to 4294967296 each"),
        ([2**33, 0.0], "a response of 8589934592 bytes"),
        ([1.5, 0.0], "the size of the response is 1.5; expected bytes"),
        ([1000, -1.0], "the wait is -1 s"),
        ([1000, "soon"], "the wait is 'soon'; expected seconds"),
        ([0.0], "a timer that expires at once"),
    ],
)
def test_an_invalid_decision_is_an_error(what: list[Any], message: str) -> None:
    with pytest.raises(tb.UserCodeError, match=message):
        tb.simulate(scenario({"kind": "user:decides", "parameters": {"what": what}}))


def test_more_requests_than_the_maximum_are_an_error() -> None:
    few = {**poller(requests=9, response=1000), "max_requests": 3}
    with pytest.raises(tb.UserCodeError, match="more than 3 requests, the maximum by `max_requests`"):
        tb.simulate(scenario(few))


def test_unknown_names_and_parameters_are_rejected() -> None:
    with pytest.raises(tb.ScenarioError, match=r"`kind` names an unknown application: `user:polar`"):
        tb.simulate(scenario({"kind": "user:polar"}))
    with pytest.raises(tb.ScenarioError, match="`Poller` has no parameter `size`"):
        tb.simulate(scenario(poller(requests=1, response=1, size=2)))
    with pytest.raises(tb.ParameterError, match="does not define `on_start`"):

        @tb.application("idle")
        class Idle(Application):
            pass


def test_a_study_varies_the_parameters_and_hashes_cover_the_class(tmp_path: Path) -> None:
    path = "flows.web.application.parameters.response"
    base = scenario(poller(requests=5, response=1000))
    study = tb.sweep(base, {path: [1000, 30_000]}, out=tmp_path / "study", executor="threads")
    delivered = study.flows.where(group="web")["delivered_bytes"].tolist()
    assert delivered == [5000, 150_000]
    assert study.provenance(0, 1)["user_code"][0]["kind"] == "application"
    assert len(set(study.runs["content_hash"].tolist())) == 2
    sha256 = study.provenance(0, 1)["user_code"][0]["sha256"]
    assert sha256 == tb.simulate(base).provenance["user_code"][0]["sha256"]
    assert sha256 != tb.simulate(scenario({"kind": "user:ticker"})).provenance["user_code"][0]["sha256"]


def test_what_cannot_run_it_says_so(tmp_path: Path) -> None:
    given = scenario(poller(requests=5, response=1000))
    with pytest.raises(tb.ScenarioError, match="`application` in user code cannot run on a host"):
        given._emulation(None, ["web"])
    with pytest.raises(tb.CheckpointError, match="user code"):
        tb.simulate(given, checkpoint=tmp_path / "run.checkpoint")
