"""User code in Python: results, errors, copies and reproducibility."""

from __future__ import annotations

import math
import signal
import statistics
import sys
import threading
import traceback
from pathlib import Path
from typing import Any, ClassVar

import pytest

import tailback as tb
import user_laws
from support import ROOT
from tailback import _core
from tailback.user_code import (
    Ack,
    Congestion,
    Controller,
    Departure,
    Draw,
    Occupancy,
    Policy,
    Signal,
    Source,
    Start,
    Unit,
    Verdict,
)
from tailback.user_code._class_fingerprint import fingerprint

CELLS: dict[str, Any] = {
    "duration": "2 s",
    "topology": {
        "dumbbell": {
            "rate": "10 Mbps",
            "delay": "1 ms",
            "queue": {"buffer": "300 cells", "policy": "epd", "threshold": "100 cells"},
        }
    },
    "flows": {
        "vc": {
            "from": "left",
            "to": "right",
            "count": 4,
            "start": {"uniform": ["0 s", "0.1 s"]},
            "framing": {},
            "tcp": {"preset": "bpd-2001/reno"},
        }
    },
    "record": {"traces": ["drops", "queue", "cwnd"]},
}
UDP: dict[str, Any] = {
    "duration": "5 s",
    "topology": {"dumbbell": {"rate": "10 Mbps", "delay": "1 ms", "queue": {"buffer": "9 packets"}}},
    "flows": {
        "udp": {
            "from": "left",
            "to": "right",
            "count": 3,
            "source": {"kind": "poisson", "rate": "4 Mbps", "packet_size": "1000 B"},
        }
    },
    "record": {"traces": ["drops"]},
}
# 1000 bytes at 4 Mbit/s: 2 ms.
POISSON = {"kind": "user:poisson", "parameters": {"mean_gap_s": 0.002, "packet": 1000}}


def same(ours: tb.Run, theirs: tb.Run, *but: str) -> None:
    """Check that every column of every table has the same bytes."""
    assert list(ours.tables) == list(theirs.tables)
    for name, table in ours.tables.items():
        for column in (column for column in table.columns if column not in but):
            assert table._core.buffer(column) == theirs.tables[name]._core.buffer(column), f"{column} of {name}"


@pytest.mark.parametrize("example", ["recoveries", "parking_lot", "ecn", "short_transfers", "pacing", "delayed_ack", "reroute"])
def test_a_reno_in_python_gives_the_bytes_of_the_built_in_one(example: str) -> None:
    scenario = tb.load(ROOT / "examples" / f"{example}.toml")
    flows = [name for name, flow in scenario["flows"].items() if "tcp" in flow]
    built_in = scenario.with_({f"flows.{name}.tcp.controller": "reno" for name in flows})
    brought = scenario.with_({f"flows.{name}.tcp.controller": "user:reno" for name in flows})
    same(tb.simulate(built_in), tb.simulate(brought))


def test_a_drop_tail_in_python_gives_the_bytes_of_the_built_in_one(scenario: tb.Scenario) -> None:
    same(tb.simulate(scenario), tb.simulate(scenario.with_({"topology.dumbbell.queue.policy": "user:drop_tail"})))


def test_an_epd_in_python_gives_the_bytes_of_the_built_in_one() -> None:
    queue = {"buffer": "300 cells", "policy": "user:epd", "parameters": {"threshold": 100}}
    built_in = tb.simulate(CELLS)
    assert built_in.queues.where(queue="bottleneck")["dropped_early"][0] > 10
    same(built_in, tb.simulate(tb.Scenario(CELLS).with_({"topology.dumbbell.queue": queue})))


def test_a_pie_in_python_draws_as_the_built_in_one_does(scenario: tb.Scenario) -> None:
    queue = {"buffer": "200 packets", "policy": "pie"}
    pie = scenario.with_({"topology.dumbbell.queue": queue, "duration": "20 s"})
    built_in = tb.simulate(pie)
    assert built_in.queues.where(queue="bottleneck")["dropped_early"][0] > 5
    same(built_in, tb.simulate(pie.with_({"topology.dumbbell.queue.policy": "user:pie"})))


def test_a_poisson_source_in_python_gives_the_bytes_of_the_built_in_one() -> None:
    built_in = tb.simulate(UDP)
    brought = tb.simulate(tb.Scenario(UDP).with_({"flows.udp.source": POISSON}))
    # The packet size of a source in Python is not known in advance.
    same(built_in, brought, "base_rtt_s")
    assert built_in.queues.where(queue="bottleneck")["dropped_full"][0] > 10


ALL = {"flows.tcp.tcp.controller": "user:reno", "topology.dumbbell.queue.policy": "user:pie"}


def everything() -> tb.Scenario:
    source = {"from": "left", "to": "right", "source": POISSON}
    scenario = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="60 packets", flows=3, duration="3 s", traces=["cwnd", "drops"])
    return scenario.with_({**ALL, "flows.udp": source})


def test_slices_and_snapshots_change_no_byte() -> None:
    scenario = everything()
    whole = tb.simulate(scenario)
    simulation = scenario._simulation(None)
    done, events = False, 1
    while not done:
        copy = simulation.snapshot()
        done = simulation.run_for(events)
        if events % 3 == 0:
            # The copy continues where the original was; the original is discarded.
            simulation.run_for(1000)
            simulation, done = copy, False
            simulation.run_for(events)
        events = events * 2 + 1
    same(whole, tb.Run(simulation.results()))


def test_a_failed_copy_is_reported_and_the_original_continues() -> None:
    @tb.controller("locked")
    class HoldsLock(user_laws.Reno):
        def __init__(self, start: Start) -> None:
            super().__init__(start)
            self.lock = threading.Lock()

    scenario = small("user:locked")
    simulation = scenario._simulation(None)
    simulation.run_for(100)
    with pytest.raises(
        tb.UserCodeError, match=r"`user:locked` failed: .*lock.*\n  at       flows\.tcp\.tcp\.controller, 0\.\d+ s"
    ) as caught:
        simulation.snapshot()
    assert isinstance(caught.value.__cause__, TypeError)
    while not simulation.run_for(1000):
        pass
    same(tb.simulate(small("user:reno")), tb.Run(simulation.results()))


def small(controller: Any) -> tb.Scenario:
    scenario = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="2 s")
    return scenario.with_({"flows.tcp.tcp.controller": controller})


class FailsOnCongestion(user_laws.Reno):
    """Reno, until its first loss."""

    def on_congestion(self, seen: Congestion) -> None:
        raise ZeroDivisionError(f"at {seen.now_s}")


def test_exceptions_in_user_code_have_traceback_place_and_time() -> None:
    tb.controller("tired")(FailsOnCongestion)
    with pytest.raises(tb.UserCodeError) as caught:
        tb.simulate(small("user:tired"))
    error, cause = caught.value, caught.value.__cause__
    assert isinstance(cause, ZeroDivisionError)
    assert (error.name, error.at, str(cause)) == ("tired", "flows.tcp.tcp.controller", f"at {error.time_s}")
    assert "raise ZeroDivisionError" in "".join(traceback.format_exception(cause))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("window", float("nan"), "the window is NaN"),
        ("window", 0.5, "the window is 0.5"),
        ("window", float("inf"), "the window is inf"),
        ("window", "large", "`window` is 'large'"),
        ("ssthresh", None, "`ssthresh` is None"),
        ("pacing_bps", -1.0, "`pacing_bps` is -1.0"),
        ("pacing_bps", "fast", "`pacing_bps` is 'fast'"),
    ],
)
def test_values_of_a_controller_are_checked(name: str, value: Any, message: str) -> None:
    class InvalidOutput(user_laws.Reno):
        def on_congestion(self, seen: Congestion) -> None:
            setattr(self, name, value)

    tb.controller("odd")(InvalidOutput)
    with pytest.raises(tb.UserCodeError, match=message) as caught:
        tb.simulate(small("user:odd"))
    assert caught.value.at == "flows.tcp.tcp.controller"


class FixedVerdict(Policy[object]):
    """A policy that returns the given value."""

    def __init__(self, *, answer: Any = "accept") -> None:
        self.answer = answer

    def on_arrival(self, unit: Unit, flow: object, buffer: Occupancy, now_s: float) -> Verdict:
        return self.answer  # type: ignore[no-any-return]


def test_an_invalid_verdict_is_rejected() -> None:
    tb.policy("answers")(FixedVerdict)
    queue = {"buffer": "20 packets", "policy": "user:answers", "parameters": {"answer": "perhaps"}}
    scenario = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="2 s")
    with pytest.raises(tb.UserCodeError, match="the verdict is 'perhaps'") as caught:
        tb.simulate(scenario.with_({"topology.dumbbell.queue": queue}))
    assert caught.value.at == "topology.dumbbell.queue"


class FixedSource(Source):
    """A source that returns the given values."""

    def __init__(self, *, wait_s: float = 0.001, packet: Any = 1000) -> None:
        self.answer = (wait_s, packet)

    def next(self, now_s: float, draw: Draw) -> tuple[float, int] | None:
        return None if now_s > 1.0 else self.answer


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"wait_s": -1.0}, "the wait is -1 s"),
        ({"packet": "large"}, "the next packet is"),
        ({"packet": 0}, "a packet of 0 bytes"),
        ({"packet": 2_000_000}, "a packet of 2000000 bytes; expected 1 to 1000000"),
        ({"packet": -1}, "the next packet is"),
    ],
)
def test_an_invalid_packet_is_rejected(parameters: dict[str, Any], message: str) -> None:
    tb.source("sends")(FixedSource)
    with pytest.raises(tb.UserCodeError, match=message):
        tb.simulate(tb.Scenario(UDP).with_({"flows.udp.source": {"kind": "user:sends", "parameters": parameters}}))


def test_a_source_ends_when_it_returns_none() -> None:
    tb.source("sends")(FixedSource)
    run = tb.simulate(
        tb.Scenario(UDP).with_({"flows.udp.source": {"kind": "user:sends", "header": "28 B"}, "flows.udp.count": 1})
    )
    # One packet each millisecond until one second has passed, and the packet that was due then.
    assert run.flows["sent_packets"].tolist() == [1001]


class Paced(user_laws.Reno):
    """A window that never limits, with a given pacing rate after the first RTT sample."""

    def __init__(self, start: Start, *, rate_bps: float) -> None:
        super().__init__(start)
        self.rate_bps = rate_bps

    def on_ack(self, ack: Ack) -> None:
        self.window, self.pacing_bps = 1000.0, self.rate_bps


def test_a_later_rate_starts_pacing() -> None:
    tb.controller("paced")(Paced)
    run = tb.simulate(small({"kind": "user:paced", "parameters": {"rate_bps": 4e6}}).with_({"duration": "10 s"}))
    # The rate on the wire is 4 Mbit/s, and 1460 of 1500 bytes are payload; the first round trips are slower.
    assert run.groups["goodput_bps"][0] == pytest.approx(4e6 * 1460 / 1500, rel=0.02)


class AllSubscriptions(user_laws.Reno):
    """Records its inputs."""

    subscriptions = frozenset({"marks", "price", "one_way_delay", "delivered_rate", "release"})
    acks_seen: ClassVar[list[Ack]] = []
    delays: ClassVar[list[tuple[float, float]]] = []

    def __init__(self, start: Start, *, most: int = 100) -> None:
        super().__init__(start)
        self.most = most
        self.release = most

    def on_ack(self, ack: Ack) -> None:
        super().on_ack(ack)
        self.acks_seen.append(ack)

    def on_other_ack(self, ack: Ack) -> None:
        self.acks_seen.append(ack)

    def on_one_way_delay(self, delay_s: float, now_s: float) -> None:
        self.delays.append((delay_s, now_s))


class Prices(Policy[object]):
    """Writes the queue length as a price, and marks every three hundredth packet."""

    def __init__(self) -> None:
        self.sent = 0

    def on_arrival(self, unit: Unit, flow: object, buffer: Occupancy, now_s: float) -> Verdict:
        return Verdict.ACCEPT

    def on_signal(self, unit: Unit, departure: Departure, signal: Signal) -> None:
        self.sent += 1
        signal.price = float(departure.bytes_behind) + (signal.price or 0.0)
        signal.is_marked = signal.is_marked or self.sent % 300 == 0


def test_a_controller_receives_the_signals_that_it_subscribes_to() -> None:
    tb.controller("wanting")(AllSubscriptions)
    tb.policy("prices")(Prices)
    AllSubscriptions.acks_seen.clear()
    AllSubscriptions.delays.clear()
    queue = {"buffer": "20 packets", "policy": "user:prices"}
    tcp = {"flows.tcp.tcp.ecn": True, "flows.tcp.tcp.delayed_ack": False}
    scenario = small("user:wanting").with_({"topology.dumbbell.queue": queue, "duration": "20 s", **tcp})
    run = tb.simulate(scenario)
    acks = list(AllSubscriptions.acks_seen)
    # Each mark is reported once, though every acknowledgement echoes it until the sender has reacted. The last ones are in
    # flight.
    marked = int(run.flows["marked_packets"][0])
    assert marked - 3 < sum(ack.marks for ack in acks) <= marked
    assert marked > 30
    assert {ack.price for ack in acks} > {0.0, 1500.0, 3000.0}
    # 10 ms plus 1.2 ms per packet: alone, and behind twenty queued packets and one in transmission.
    delays = [delay_s for delay_s, _ in AllSubscriptions.delays]
    assert len(delays) == len(acks)
    assert min(delays) == pytest.approx(0.0112, abs=1e-9)
    assert 0.03 < max(delays) <= 0.0112 + 21 * 0.0012
    rates = [ack.delivered_rate for ack in acks if ack.delivered_rate is not None]
    # 10 Mbit/s of 1500 bytes: 833 segments a second while the queue is not empty. After a repair samples may be far above.
    assert statistics.median(rates) == pytest.approx(10e6 / 12000, rel=0.01)


class FixedPrice(Policy[object]):
    """Always writes the same price."""

    def on_arrival(self, unit: Unit, flow: object, buffer: Occupancy, now_s: float) -> Verdict:
        return Verdict.ACCEPT

    def on_signal(self, unit: Unit, departure: Departure, signal: Signal) -> None:
        signal.price = 1.5


@pytest.mark.parametrize("prices", [{"scheme": "exact"}, {"scheme": "adpm", "min_price": 0, "max_price": 6}])
def test_senders_receive_the_price_of_a_user_policy(prices: dict[str, Any]) -> None:
    tb.policy("toll")(FixedPrice)
    queue = {"buffer": "200 packets", "policy": "user:toll"}
    paid = {"topology.dumbbell.queue": queue, "duration": "10 s", "warmup": "2 s", "prices": prices}
    run = tb.simulate(small({"kind": "maxnet", "max_rate": "10 Mbps"}).with_(paid))
    assert run.groups["goodput_bps"][0] == pytest.approx(10e6 * math.exp(-1.5) * 1460 / 1500, rel=0.02)


def test_unavailable_inputs_of_a_controller_cause_a_warning() -> None:
    tb.controller("wanting")(AllSubscriptions)
    scenario = small("user:wanting").with_(
        {
            "topology.dumbbell.queue": {"buffer": "20 packets", "policy": "rem", "target": "5 packets"},
            "links.further": {
                "from": "right",
                "to": "end",
                "rate": "10 Mbps",
                "delay": "1 ms",
                "queue": {"buffer": "20 packets", "policy": "rem", "target": "5 packets"},
            },
            "nodes.end": {},
            "flows.tcp.to": "end",
        }
    )
    few = {"scheme": "tpm", "hops": 1, "min_price": 0, "max_price": 1}
    with pytest.warns(tb.ScenarioWarning, match="cannot use prices: 2 queues on the path send prices, more than"):
        scenario.with_({"prices": few}).check()
    with pytest.warns(tb.ScenarioWarning, match="send a marginal cost and one over a rate, which cannot be combined"):
        scenario.with_({"links.further.queue": {"buffer": "20 packets", "policy": "rcp"}}).check()


def test_a_controller_may_limit_the_release_per_acknowledgement() -> None:
    tb.controller("wanting")(AllSubscriptions)
    path = {"flows.tcp.tcp.initial_window": 40, "flows.tcp.tcp.delayed_ack": False, "record.traces": ["segments"]}
    sent: dict[int, list[float]] = {}
    for most in (1, 100):
        law = {"kind": "user:wanting", "parameters": {"most": most}}
        times = tb.simulate(small(law).with_(path)).trace("segments")["time_s"].tolist()
        sent[most] = [times.count(time) for time in dict.fromkeys(times)]
    # Slow start sends two segments per acknowledgement, unless it is limited to one.
    assert max(sent[100][1:]) >= 2
    assert max(sent[1][1:]) == 1


def test_unknown_inputs_are_rejected() -> None:
    with pytest.raises(tb.ParameterError, match="subscriptions` has `mark`; expected any of `marks`"):
        tb.controller("greedy")(type("Greedy", (user_laws.Reno,), {"subscriptions": {"mark"}}))
    with pytest.raises(tb.ParameterError, match=r"subscriptions` is 'marks'; expected a set of words: \{'marks'\}"):
        tb.controller("greedy")(type("Greedy", (user_laws.Reno,), {"subscriptions": "marks"}))


def refused(scenario: dict[str, Any] | tb.Scenario) -> tuple[tb.errors.Problem, ...]:
    with pytest.raises(tb.ScenarioError) as caught:
        (scenario if isinstance(scenario, tb.Scenario) else tb.Scenario(scenario)).check()
    return caught.value.problems


def test_unregistered_names_are_rejected() -> None:
    (problem,) = refused(small("user:rino"))
    assert (problem.at, problem.message) == ("flows.tcp.tcp.controller", "`controller` names an unknown controller: `user:rino`")
    assert problem.hint == "did you mean `user:reno`?"
    (problem,) = refused(tb.Scenario(UDP).with_({"flows.udp.source": {"kind": "user:zzzzzzzz"}}))
    assert (problem.at, problem.hint) == (
        "flows.udp.source.kind",
        "`--code FILE.py` loads the file that registers it; in Python, import it first",
    )


def test_unknown_and_missing_parameters_are_rejected() -> None:
    queue = {"buffer": "300 cells", "policy": "user:epd", "parameters": {"treshold": 100}}
    (problem,) = refused(tb.Scenario(CELLS).with_({"topology.dumbbell.queue": queue}))
    assert (problem.at, problem.message, problem.expected) == (
        "topology.dumbbell.queue.parameters.treshold",
        "`Epd` has no parameter `treshold`",
        "`threshold`",
    )
    queue["parameters"] = {}
    (problem,) = refused(tb.Scenario(CELLS).with_({"topology.dumbbell.queue": queue}))
    assert (problem.at, problem.message) == ("topology.dumbbell.queue.parameters", "`Epd` requires `threshold`")
    (problem,) = refused(small({"kind": "user:reno", "parameters": {"start": 1}}))
    assert (problem.at, problem.expected) == ("flows.tcp.tcp.controller.parameters.start", "no parameters")


def test_a_failing_constructor_is_reported_before_anything_runs() -> None:
    @tb.policy("picky")
    class FailingConstructor(FixedVerdict):
        def __init__(self, *, share: float) -> None:
            raise ValueError(f"no share of {share}")

    queue = {"buffer": "20 packets", "policy": "user:picky", "parameters": {"share": 2.0}}
    scenario = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="2 s")
    with pytest.raises(tb.UserCodeError, match=r"no share of 2\.0") as caught:
        tb.simulate(scenario.with_({"topology.dumbbell.queue": queue}))
    assert (caught.value.time_s, type(caught.value.__cause__)) == (0.0, ValueError)


def test_invalid_classes_are_not_registered() -> None:
    class Incomplete(Controller):
        def on_ack(self, ack: Ack) -> None: ...

    with pytest.raises(tb.ParameterError, match=r"`.*Incomplete` does not define `on_congestion`, `on_timeout`"):
        tb.controller("half")(Incomplete)
    with pytest.raises(tb.ParameterError, match=r"expected a subclass of `tailback\.user_code\.Policy`"):
        tb.policy("reno")(user_laws.Reno)
    with pytest.raises(tb.ParameterError, match=r"as in `@tailback\.controller\(NAME\)`"):
        tb.controller(user_laws.Reno)  # type: ignore[arg-type]
    with pytest.raises(tb.ParameterError, match="is not a valid name"):
        tb.controller("a b")
    with pytest.raises(tb.ParameterError, match=r"`reno` is `user_laws\.Reno` already"):
        tb.controller("reno")(FailsOnCongestion)


def test_provenance_and_hash_cover_the_source() -> None:
    run = tb.simulate(small("user:reno"))
    (told,) = run.provenance["user_code"]
    file = Path(user_laws.__file__)
    assert (told["at"], told["class"], told["file"], told["covers"]) == (
        "flows.tcp.tcp.controller",
        "user_laws.Reno",
        "user_laws.py",
        "class",
    )
    text = "class Law:\n    def answer(self):\n        return {}\n"
    hashes = []
    for answer in (1, 2, 1):
        namespace: dict[str, Any] = {"__name__": "nowhere"}
        exec(text.replace("{}", str(answer)), namespace)
        hashes.append(fingerprint(namespace["Law"]))
    assert hashes[0] == hashes[2] != hashes[1]
    assert hashes[0].covers == "bytecode"
    assert file.is_file()
    assert "user_code" not in tb.simulate(small("reno")).provenance


def test_ctrl_c_in_user_code_is_ctrl_c() -> None:
    @tb.controller("interrupting")
    class Interrupting(user_laws.Reno):
        def on_congestion(self, seen: Congestion) -> None:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(tb.Interrupted) as caught:
        tb.simulate(small("user:interrupting"))
    assert 0 < caught.value.run.simulated_s < 2
    assert not caught.value.run.complete


@pytest.mark.parametrize(
    "raised", [KeyboardInterrupt(), SystemExit(0), SystemExit(3), GeneratorExit("over"), BaseException("out"), StopIteration()]
)
def test_other_exceptions_of_user_code_are_its_errors(raised: BaseException, tmp_path: Path) -> None:
    name = f"leaving_{type(raised).__name__}_{getattr(raised, 'code', 0)}"

    @tb.controller(name)
    class RaisesBaseException(user_laws.Reno):
        def on_congestion(self, seen: Congestion) -> None:
            raise raised

    with pytest.raises(tb.UserCodeError, match=type(raised).__name__) as caught:
        tb.simulate(small(f"user:{name}"))
    assert caught.value.__cause__ is raised
    file = tmp_path / "leaves_at_once.py"
    file.write_text("exit(0)\n")
    with pytest.raises(tb.UserCodeError, match="SystemExit"):
        tb.user_code.load(file)


def test_threads_with_user_code_agree() -> None:
    scenario = everything().with_({"duration": "1 s"})
    alone = tb.simulate(scenario)
    runs: list[tb.Run] = []
    threads = [threading.Thread(target=lambda: runs.append(tb.simulate(scenario))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(runs) == 3
    for run in runs:
        same(alone, run)


def test_inputs_of_user_code_can_be_constructed_in_tests() -> None:
    law = user_laws.Reno(Start(window=4.0, ssthresh=8.0, packet_bytes=1500))
    law.on_ack(Ack(now_s=0.1, acked=1, counted=1, rtt_s=None, in_flight=4, window_validated=True))
    assert law.window == 5.0
    seen = Congestion(now_s=0.2, in_flight=5, repeated=False)
    law.on_congestion(seen)
    assert (law.window, repr(seen)) == (2.0, "Congestion(now_s=0.2, in_flight=5, repeated=false, min_window=2)")


def test_a_file_is_loaded_once_and_its_errors_are_reported(tmp_path: Path) -> None:
    good = tmp_path / "some_laws_of_a_test.py"
    good.write_text("import tailback as tb\nfrom user_laws import Reno\n@tb.controller('loaded')\nclass Loaded(Reno): ...\n")
    assert tb.user_code.load(good) is tb.user_code.load(good)
    tb.simulate(small("user:loaded"))
    bad = tmp_path / "bad_laws_of_a_test.py"
    bad.write_text("1 / 0\n")
    with pytest.raises(tb.UserCodeError, match=r"`bad_laws_of_a_test\.py` cannot be loaded: ZeroDivisionError") as caught:
        tb.user_code.load(bad)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert bad.stem not in sys.modules
    for name, message in [("nowhere.py", "no such file"), ("laws.txt", "expected the name of a Python file")]:
        with pytest.raises(tb.ParameterError, match=message):
            tb.user_code.load(tmp_path / name)
    (tmp_path / "json.py").touch()
    with pytest.raises(tb.ParameterError, match="a module `json` is loaded already"):
        tb.user_code.load(tmp_path / "json.py")


def test_hashes_differ_by_code() -> None:
    text = small("user:reno")._text
    (ours,) = _core.content_hashes(text, "", "json", [1])
    assert tb.simulate(small("user:reno"), seed=1).content_hash == ours
    (other,) = _core.content_hashes(small("reno")._text, "", "json", [1])
    assert ours != other
