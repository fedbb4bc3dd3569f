"""Appendix B beyond three flows on one link: several bottlenecks, 10 Gb/s, random losses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import tailback as tb
from tailback.papers import (
    Claim,
    Contrast,
    Curves,
    Experiment,
    Expression,
    Label,
    Ranking,
    ReferenceLine,
    TracePanel,
    Variant,
    at,
    lines,
    lowest,
    variants,
)
from tailback_papers.claims import claims_of
from tailback_papers.cui_thesis import conditions, fast, over_time
from tailback_papers.cui_thesis.over_time import name

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["EXPERIMENTS"]

claim = claims_of(__name__)

# Figure B.4: source and destination node, and start time of each flow.
PARKING_LOT = ((1, 4, 0), (1, 2, 20), (2, 4, 40), (3, 4, 60))
LINKS = ("left", "middle", "right")
PARKING_ALPHA = 1000


def parking_lot(form: str, until_s: int) -> tb.Scenario:
    """Four nodes in a line, with the flows that have started by then; the last five seconds are measured."""
    link = {"rate": "100 Mbps", "delay": "10 ms", "queue": {"buffer": "100000 packets"}}
    flows = {
        name(number): {
            "from": f"node{origin}",
            "to": f"node{end}",
            "start": f"{start} s",
            "tcp": fast.tcp(PARKING_ALPHA, update=form),
        }
        for number, (origin, end, start) in enumerate(PARKING_LOT, 1)
        if start < until_s
    }
    return tb.Scenario(
        {
            "name": "cui-thesis, figure B.4",
            "duration": f"{until_s} s",
            "warmup": f"{until_s - 5} s",
            "nodes": {f"node{number}": {} for number in range(1, 5)},
            "links": {
                where: {**link, "from": f"node{number}", "to": f"node{number + 1}"} for number, where in enumerate(LINKS, 1)
            },
            "flows": flows,
            "record": {"traces": ["cwnd"]},
        }
    )


def swing(run: tb.Run) -> float:
    """Largest peak-to-peak variation of a window in the measured seconds, relative to its mean."""
    trace = run.trace("cwnd")
    swings = []
    for group in set(trace["group"].tolist()):
        of_flow = trace.where(group=group)
        late = np.asarray(of_flow["time_s"]) >= run.simulated_s - 5
        windows: NDArray[np.float64] = np.asarray(of_flow["cwnd_packets"], float)[late]
        swings.append(float(np.ptp(windows) / windows.mean()) if len(windows) else 0.0)
    return max(swings)


# End times of the phases, in seconds.
PARKING_PHASES = (20, 40, 60, 100)


def queue(link: str, form: str, until_s: int) -> Expression:
    """Queue of a link at the end of a phase."""
    return at(f"queue_{link}", form=form, until_s=until_s)


def four(label: str) -> tuple[str, ...]:
    """Names of the curves of four flows."""
    return tuple(f"{label} {number}" for number in (1, 2, 3, 4))


LAST_PHASE: dict[str, Label] = {"form": "module", "until_s": PARKING_PHASES[-1]}
PARKING_RECORD = over_time.recording(4, ["cwnd"], LINKS, bin_s=0.5)

FIGURE_B_5 = Experiment(
    id="cui-thesis/figB.5",
    title="Figures B.4 to B.7: FAST over several bottlenecks",
    question="Do FAST flows pass from one equilibrium to the next when bottlenecks appear and disappear?",
    source="figures B.4 to B.7, appendix B: alpha 1000, nodes 1 to 4 in a line",
    variants=variants(parking_lot, form=fast.FORMS, until_s=PARKING_PHASES),
    measures={
        "queue_left": "queues.left.mean_queue_units",
        "queue_middle": "queues.middle.mean_queue_units",
        "queue_right": "queues.right.mean_queue_units",
        "goodput_of_first": f"flows.{name(1)}.goodput_bps / 1e6",
        "swing": swing,
    },
    claims=tuple(
        claim
        for form in fast.FORMS
        for claim in (
            Claim(
                f"C-B.5.1-left-{form}",
                f"the bottleneck of flow 1 is the left link first (packets queued elsewhere with two flows), form {form}",
                queue("middle", form, 40) + queue("right", form, 40) < 1,
            ),
            Claim(
                f"C-B.5.1-both-{form}",
                f"and in the end both the left and the right link (the shorter of their queues), form {form}",
                lowest(queue("left", form, 100), queue("right", form, 100), each_seed=True) > PARKING_ALPHA,
            ),
            Claim(
                f"C-B.5.1-rest-{form}",
                "without oscillation (variation of a window in the last five seconds of a phase, relative to its mean), form "
                f"{form}",
                at("swing", form=form).max(each_seed=True) < 0.05,
            ),
        )
    ),
    panels=(
        TracePanel(four("window"), "window, packets", "time, s", time_range=(0, 100)),
        TracePanel(four("rate"), "rate, packets/s", "time, s", time_range=(0, 100)),
        TracePanel(tuple(f"{link} queue" for link in LINKS), "queue, packets", "time, s", time_range=(0, 100)),
    ),
    traces=(
        *over_time.flow_traces("window {}", over_time.window, 4, LAST_PHASE, PARKING_RECORD),
        *over_time.flow_traces("rate {}", over_time.rate, 4, LAST_PHASE, PARKING_RECORD),
        *(over_time.queue_trace(f"{link} queue", LAST_PHASE, PARKING_RECORD, link) for link in LINKS),
    ),
    assumptions={"rates and delays": "100 Mb/s and 10 ms each; all flows stay to the end"},
    exact=True,
)


def settling(run: tb.Run) -> float:
    """Seconds from a change until all windows stay within 5 % of their final values, for the slowest phase."""
    trace = run.trace("cwnd")
    slowest = 0.0
    for number, stop in enumerate(fast.STOPS, 1):
        of_flow = trace.where(group=name(number))
        times, windows = (np.asarray(of_flow[column], float) for column in ("time_s", "cwnd_packets"))
        for begin in range(fast.STARTS[number - 1], stop, 20):
            within = (times >= begin) & (times < begin + 20)
            off = np.abs(windows[within] / windows[within][-1] - 1) > 0.05
            slowest = max(slowest, float(times[within][off][-1]) - begin if off.any() else 0.0)
    return slowest


def slowest(form: str) -> Expression:
    """The slowest phase with a round trip of 50 ms, for which ns-2's is known."""
    return at("settling", form=form, delay=conditions.ROUND_TRIP)


FIGURE_B_1_SETTLING = Experiment(
    id="cui-thesis/figB.1-settling",
    title="Figures B.1 and B.2: how fast FAST flows converge",
    question="How long do FAST flows take to converge when one arrives or leaves?",
    source="figures B.1 and B.2, appendix B: 100 Mb/s, a link of 50 ms, alpha 200",
    variants=variants(
        lambda form, delay: fast.three_flows(form, fast.STOPS[0], delay).with_(
            {"name": "cui-thesis, figure B.1, full sequence", "record.traces": ["cwnd"]}
        ),
        form=fast.FORMS,
        delay=conditions.DELAYS,
    ),
    measures={"settling": settling},
    claims=(
        *(
            Claim(
                f"C-B.1.1-{form}",
                f"each phase converges quickly (slowest phase: seconds until windows stay within 5 %), form {form}",
                at("settling", form=form) < 5,
                kind="conditional" if form == "thesis" else "reproduced",
            )
            for form in fast.FORMS
        ),
        claim("B.1-forms", (slowest("thesis") / slowest("module")).equals(2, 0.2)),
    ),
    panels=(Ranking("settling", lines("form", fast.FORMS, delay=conditions.ONE_WAY), "seconds"),),
    conditions=(conditions.DELAY,),
    assumptions={"buffer": "100,000 packets: never full"},
    exact=True,
)

FAST_PHASES = {"one flow": 20, "two flows": 40, "three flows": 60}
TEN_GIGABIT_ALPHA = 10_000


def ten_gigabit(form: str, until_s: int, delay: str, scale: int = 1) -> tb.Scenario:
    """Figure B.8: flows over a link of 20 ms that start 20 s apart, with the flows that have started by then. `scale` divides
    rate and alpha.
    """
    rtt = f"{conditions.rtt_ms(20, delay)} ms"
    flows: dict[str, Any] = {
        name(number): {"propagation_rtt": rtt, "start": f"{start} s", "tcp": fast.tcp(TEN_GIGABIT_ALPHA // scale, update=form)}
        for number, start in enumerate(fast.STARTS, 1)
        if start < until_s
    }
    return tb.dumbbell(
        name="cui-thesis, figure B.8",
        rate=f"{10_000 // scale} Mbps",
        delay="2 ms",
        buffer="1000000 packets",
        flows=flows,
        duration=f"{until_s} s",
        warmup=f"{until_s - 3} s",
    )


SCALE = 100
SMALLER: dict[str, Label] = {"scale": SCALE}
SMALLER_RECORD = over_time.recording(3, ["cwnd"], ["bottleneck"])

FIGURE_B_8 = Experiment(
    id="cui-thesis/figB.8",
    title="Figures B.8 to B.10: three flows of FAST at 10 Gb/s",
    question="Does FAST behave at 10 Gb/s as it does at 100 Mb/s?",
    source="figures B.8 to B.10, appendix B: 10 Gb/s, a link of 20 ms, alpha 10,000",
    variants=(
        *(
            Variant({"phase": phase, "delay": delay}, ten_gigabit("module", until, delay))
            for phase, until in FAST_PHASES.items()
            for delay in conditions.DELAYS
        ),
        Variant(SMALLER, ten_gigabit("module", FAST_PHASES["three flows"], conditions.ONE_WAY, SCALE)),
    ),
    measures={
        "share_1": fast.SHARE_1,
        "share_2": fast.SHARE_2,
        "share_3": fast.SHARE_3,
        "queue": fast.QUEUE,
        "utilisation": fast.UTILISATION,
    },
    claims=(
        claim("C-B.8.1", at("utilisation", phase="one flow") > 0.999),
        claim("C-B.8.1-order", at("share_1", phase="two flows").equals(0.38197, 0.01)),
        claim(
            "C-B.8.1-queue",
            at("queue", phase="three flows") * 8000 / 10e9 / (lambda delay: conditions.rtt_ms(20, delay) / 1000) < 1,
        ),
    ),
    panels=(
        Ranking("share_1", lines("phase", tuple(FAST_PHASES), delay=conditions.ONE_WAY), "share of the first flow"),
        TracePanel(fast.three("window {}"), "window, packets", "time, s"),
        TracePanel(fast.three("rate {}"), "rate, packets/s", "time, s"),
        TracePanel(("queue",), "queue, packets", "time, s"),
    ),
    traces=(
        *over_time.flow_traces("window {}", over_time.window, 3, SMALLER, SMALLER_RECORD),
        *over_time.flow_traces(
            "rate {}",
            over_time.rate,
            3,
            {"phase": "three flows", "delay": conditions.ONE_WAY},
            over_time.recording(3, bin_s=0.2),
        ),
        over_time.queue_trace("queue", SMALLER, SMALLER_RECORD),
    ),
    conditions=(conditions.DELAY,),
    assumptions={
        "times": "20 s apart, as in figure B.1; the last 3 s before the next start are measured; form `module`",
        "drawn windows and queue": f"those of a link of {10_000 // SCALE} Mb/s with alpha {TEN_GIGABIT_ALPHA // SCALE}, a "
        f"{SCALE}th: the windows of 10 Gb/s change millions of times",
    },
    exact=True,
)

LOSSES = (1e-6, 1e-5, 1e-4, 1e-3)


def random_loss(form: str, probability: float) -> tb.Scenario:
    """One flow of 100 ms over a link with random losses."""
    flows: dict[str, Any] = {
        name(1): {
            "propagation_rtt": "100 ms",
            "tcp": {**fast.tcp(fast.ALPHA, update=form), "recovery": "sack", "timer": {"min_rto": "200 ms"}},
        }
    }
    link = fast.shared_link("cui-thesis, figure B.11", flows, 220)
    return link.with_({"warmup": "20 s", "topology.dumbbell.loss": {"probability": probability}})


RARE_LOSS: dict[str, Label] = {"form": "module", "loss": 1e-5}

FIGURE_B_11 = Experiment(
    id="cui-thesis/figB.11",
    title="Figures B.11 and B.12: FAST under random loss",
    question="Does FAST recover from random losses, and what does recovery do to the queue?",
    source="figures B.11 and B.12, appendix B",
    variants=tuple(
        Variant({"form": form, "loss": probability}, random_loss(form, probability))
        for form in fast.FORMS
        for probability in LOSSES
    ),
    measures={"utilisation": fast.UTILISATION, "longest_queue": "queues.bottleneck.max_queue_units"},
    claims=(
        claim("C-B.11.1", at("utilisation", form="module", loss=1e-5) > 0.9),
        claim(
            "C-B.11.1-spikes",
            at("longest_queue", form="module", loss=1e-5) / fast.ALPHA > 2,
            contrast=Contrast(
                "by (4.1), which evaluates the current window", at("longest_queue", form="thesis", loss=1e-5) / fast.ALPHA
            ),
        ),
    ),
    panels=(
        (
            Curves("utilisation", "loss", lines("form", fast.FORMS), "utilisation", "probability of loss"),
            Curves("longest_queue", "loss", lines("form", fast.FORMS), "packets", "probability of loss"),
        ),
        TracePanel(("window 1",), "window, packets", "time, s"),
        TracePanel(("queue",), "queue, packets", "time, s", reference_lines=(ReferenceLine("alpha", fast.ALPHA),)),
    ),
    traces=(
        *over_time.flow_traces("window {}", over_time.window, 1, RARE_LOSS, over_time.recording(1, ["cwnd"], ["bottleneck"])),
        over_time.queue_trace("queue", RARE_LOSS, over_time.recording(1, ["cwnd"], ["bottleneck"])),
    ),
    assumptions={"rate, delay, probability": "100 Mb/s, 100 ms, one in a million to one in a thousand; SACK"},
)

EXPERIMENTS = (FIGURE_B_1_SETTLING, FIGURE_B_5, FIGURE_B_8, FIGURE_B_11)
