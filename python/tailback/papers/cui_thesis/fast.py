"""Chapter 4 and appendix B for FAST's own update: flows that arrive one after the other, and queues that overflow."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tailback import models
from tailback._run import Run
from tailback._topologies import dumbbell
from tailback.papers import (
    Assumption,
    AxisValue,
    Claim,
    Computation,
    Curves,
    Experiment,
    Inequality,
    Line,
    Measured,
    ReferenceLine,
    Trace,
    TracePanel,
    Value,
    Values,
    Variant,
    vary,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tailback._scenario import Scenario

__all__ = ["EXPERIMENTS"]

# Section 4.3.3 uses 12500 packets a second for 100 Mb/s: 1000 bytes each.
CAPACITY_PPS = 12_500
ALPHA = 200
# Interval between arrivals, and measured time of the last one.
SPACING_S = 80
MEASURED_S = 10


# Forms of FAST's update.
FORMS = ("thesis", "module")


def tcp(alpha: float, **fast: Any) -> dict[str, Any]:
    """The document's sender with FAST."""
    return sender({"kind": "fast", "alpha": alpha, **fast})


def sender(controller: dict[str, Any]) -> dict[str, Any]:
    """The document's sender: every packet acknowledged and timed, losses repaired as by NewReno."""
    return {
        "preset": "newreno",
        "mss": "960 B",
        "timestamps": True,
        "delayed_ack": False,
        "initial_window": 2,
        "controller": controller,
    }


def name(number: int) -> str:
    """Name of a flow by its arrival index, in the order of the tables."""
    return f"flow{number:02}"


def arrivals(count: int, tcp: dict[str, Any], spacing_s: int = SPACING_S) -> Scenario:
    """Flows of 40 ms that start one after the other on a link with an unlimited queue."""
    flows: dict[str, Any] = {
        name(number): {"propagation_rtt": "40 ms", "start": f"{spacing_s * (number - 1)} s", "tcp": tcp}
        for number in range(1, count + 1)
    }
    return shared_link(f"cui-thesis, {count} arrivals", flows, spacing_s * count)


def shared_link(title: str, flows: dict[str, Any], duration_s: int) -> Scenario:
    """100 Mb/s with an unlimited queue; the last seconds are measured."""
    return dumbbell(
        name=title,
        rate="100 Mbps",
        delay="5 ms",
        buffer="100000 packets",
        flows=flows,
        duration=f"{duration_s} s",
        warmup=f"{duration_s - MEASURED_S} s",
    )


@dataclass(frozen=True)
class Expected:
    """Flows in a model's equilibrium: their shares in order of arrival, and packets in the queue."""

    shares: NDArray[np.float64]
    queued: float


def expected_of_fast(arrived: int, alpha: float) -> Expected:
    """Equations (4.19) and (4.20)."""
    found = models.fast_arrivals(arrived=arrived, flow=np.arange(1, arrived + 1))
    return Expected(np.asarray(found.share), alpha * float(np.asarray(found.queue)[0]))


def shares(run: Run | Expected) -> NDArray[np.float64]:
    """Rates of the flows divided by their sum, in order of arrival."""
    if isinstance(run, Expected):
        return run.shares
    rates = np.asarray(run.flows["goodput_bps"], float)
    found: NDArray[np.float64] = rates / rates.sum()
    return found


def share_of(run: Run | Expected, number: int) -> float:
    """Share of a flow by its arrival index; NaN if it has not arrived."""
    found = shares(run)
    return float(found[number - 1]) if len(found) >= number else math.nan


def rate_of_second(run: Run | Expected) -> float:
    """Rate of the second flow, in packets per second."""
    return CAPACITY_PPS * share_of(run, 2)


def rate_of_sixth(run: Run | Expected) -> float:
    """Rate of the sixth flow, in packets per second."""
    return CAPACITY_PPS * share_of(run, 6)


def share_1(run: Run | Expected) -> float:
    """The first flow's share of the capacity."""
    return share_of(run, 1)


def share_2(run: Run | Expected) -> float:
    """The second flow's share of the capacity."""
    return share_of(run, 2)


def share_3(run: Run | Expected) -> float:
    """The third flow's share of the capacity."""
    return share_of(run, 3)


def first_of_equal(run: Run | Expected) -> float:
    """Rate of the first flow divided by an equal share."""
    found = shares(run)
    return float(found[0]) * len(found)


def fairness(run: Run | Expected) -> float:
    """Jain's index (4.24)."""
    found = shares(run)
    return 1 / (len(found) * float((found**2).sum()))


def queue(run: Run | Expected) -> float:
    """Time-averaged queue, in packets."""
    if isinstance(run, Expected):
        return run.queued
    return float(run.queues.where(queue="bottleneck")["mean_queue_units"][0])


def utilisation(run: Run) -> float:
    """Utilisation of the bottleneck."""
    return float(run.queues.where(queue="bottleneck")["utilisation"][0])


def off_model(run: Run | Expected) -> float:
    """Largest relative deviation of a rate from (4.20)."""
    found = shares(run)
    return float(np.abs(found / expected_of_fast(len(found), ALPHA).shares - 1).max())


def by_model(arrived: int) -> models.ArrivalEquilibrium:
    """Values of (4.19)."""
    return models.fast_arrivals(arrived=arrived)


def step(equilibrium: models.ArrivalEquilibrium) -> float:
    """B(i) / B(1): B(1) is alpha."""
    return float(equilibrium.step)


ARRIVED = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


def excess(results: Measured) -> Values:
    """Largest absolute value of B(i) / B(1) - log i."""
    steps = np.array([results.values("step", arrived=count) - math.log(count) for count in ARRIVED])
    largest: Values = np.abs(steps).max(axis=0)
    return largest


FIGURE_4_1 = Experiment(
    id="cui-thesis/fig4.1",
    title="Figure 4.1: queue added by each arrival",
    question="Does the queue added by a FAST flow grow faster than the logarithm of the number of flows before it?",
    source="figure 4.1, section 4.3.3, equation (4.19)",
    variants=vary(Computation(by_model), [AxisValue({"arrived": count}, {"arrived": count}) for count in ARRIVED]),
    measures={"step": step},
    claims=(
        Claim(
            "C-4.1.1",
            "reproduced",
            "B(i) / B(1) - log i stays bounded: its largest value up to 1000 flows",
            excess,
            Inequality("<=", 1),
        ),
    ),
    panels=((Curves("step", "arrived", (Line("(4.19)", {}),), "added to the queue, in alpha", "flows that have arrived"),),),
    assumptions=(Assumption("range of i", "1 to 1000"),),
    exact=True,
)

COUNTS = tuple(range(1, 11))


def over_counts(measure: str, form: str) -> Callable[[Measured], Values]:
    """Values of a measure, one row per number of flows."""
    return lambda results: np.array([results.values(measure, arrived=count, alpha=ALPHA, form=form) for count in COUNTS])


def worst(form: str) -> Callable[[Measured], Values]:
    """Largest deviation of any rate at any number of flows."""

    def found(results: Measured) -> Values:
        largest: Values = over_counts("off_model", form)(results).max(axis=0)
        return largest

    return found


def min_fall(form: str) -> Callable[[Measured], Values]:
    """Smallest fall of Jain's index from one number of flows to the next."""

    def found(results: Measured) -> Values:
        least: Values = (-np.diff(over_counts("fairness", form)(results), axis=0)).min(axis=0)
        return least

    return found


def first_of_two(alpha: int, form: str) -> Callable[[Measured], Values]:
    """The first flow's share of the capacity with a second one."""
    return lambda results: results.values("share_1", arrived=2, alpha=alpha, form=form)


def by_form() -> tuple[Line, ...]:
    """One line per form, and one for the model."""
    measured = (Line(f"FAST, form {form}", {"alpha": ALPHA, "form": form}) for form in FORMS)
    return (*measured, Line("(4.20)", {"alpha": ALPHA, "form": "model"}, dashed=True))


# Reason why form `module` deviates more from the model, increasingly with a smaller alpha.
FEWER = (
    "The module counts one of its own packets as queue, because its first round trip was a handshake's, and ignores growth of "
    "less than a packet: a flow keeps one to three packets fewer than alpha."
)

FIGURE_4_2 = Experiment(
    id="cui-thesis/fig4.2",
    title="Figures 4.2, 4.5 and 4.8: FAST flows that arrive one after the other",
    question="Do (4.19) and (4.20) predict the rates of FAST flows that arrive one after the other?",
    source="figures 4.2, 4.5 and 4.8, section 4.3.3: 100 Mb/s, 40 ms, alpha 200",
    variants=(
        *(
            Variant({"arrived": count, "alpha": alpha, "form": form}, arrivals(count, tcp(alpha, update=form)))
            for form in FORMS
            for alpha, counts in ((ALPHA, COUNTS), (50, (2,)), (800, (2,)))
            for count in counts
        ),
        *(
            Variant(
                {"arrived": count, "alpha": ALPHA, "form": "model"},
                Computation(expected_of_fast, {"arrived": count, "alpha": ALPHA}),
            )
            for count in COUNTS
        ),
    ),
    measures={
        "rate_of_second": rate_of_second,
        "rate_of_sixth": rate_of_sixth,
        "first_of_equal": first_of_equal,
        "fairness": fairness,
        "queue": queue,
        "off_model": off_model,
        "share_1": share_1,
    },
    claims=tuple(
        claim
        for form in FORMS
        for claim in (
            Claim(
                f"C-4.2.1-{form}",
                "reproduced" if form == "thesis" else "not_reproduced",
                f"theory and simulation agree almost perfectly (largest deviation of any rate, 1 to 10 flows), form {form}",
                worst(form),
                Inequality("<", 0.03),
                note="" if form == "thesis" else FEWER,
            ),
            Claim(
                f"C-4.5.1-{form}",
                "reproduced",
                f"fairness falls with the number of flows (smallest fall of Jain's index), form {form}",
                min_fall(form),
                Inequality(">", 0),
            ),
            *(
                Claim(
                    f"C-4.3.1-{alpha}-{form}",
                    "not_reproduced" if (alpha, form) == (50, "module") else "reproduced",
                    f"of two flows the first gets 2 / (3 + sqrt 5) of the capacity, whatever alpha: {alpha}, form {form}",
                    first_of_two(alpha, form),
                    Value(0.38197, 0.004),
                    published=0.38197,
                    note=FEWER if (alpha, form) == (50, "module") else "",
                )
                for alpha in (50, 200, 800)
            ),
        )
    ),
    panels=(
        (
            Curves("rate_of_second", "arrived", by_form(), "rate, packets/s", "flows", title="second flow"),
            Curves("rate_of_sixth", "arrived", by_form(), "rate, packets/s", "flows", title="sixth flow"),
        ),
        (Curves("fairness", "arrived", by_form(), "Jain's index", "flows"),),
        (Curves("queue", "arrived", by_form(), "queue, packets", "flows"),),
    ),
    assumptions=(
        Assumption(
            "from one arrival to the next",
            "80 s; rates are those of the last 10 s before the next arrival. After 40 s, ten flows are still 5.5 % from "
            "equilibrium",
        ),
        Assumption("buffer", "100,000 packets: never full"),
        Assumption("Vegas", "together with FAST in figure 4.3's experiment, which judges C-4.8.1"),
    ),
    exact=True,
)

# Appendix B: 20 s apart, leaving in reverse order.
STARTS = (0, 20, 40)
STOPS = (100, 80, 60)


def three_flows(form: str, until: int) -> Scenario:
    """Figure B.1: three flows of 50 ms, with the flows that have started by then."""
    flows: dict[str, Any] = {
        name(number): {"propagation_rtt": "50 ms", "start": f"{start} s", "stop": f"{stop} s", "tcp": tcp(ALPHA, update=form)}
        for number, (start, stop) in enumerate(zip(STARTS, STOPS, strict=True), 1)
        if start < until
    }
    return shared_link("cui-thesis, figure B.1", flows, until)


# End times in seconds; the last ten seconds are measured.
PHASES = {"one flow": 20, "two flows": 40, "three flows": 60, "two flows again": 80}


def rate(results: Measured, form: str, number: int, phase: str) -> Values:
    """Rate of a flow divided by the capacity."""
    return results.values(f"share_{number}", form=form, phase=phase)


def newer_gets_more(form: str) -> Callable[[Measured], Values]:
    """Smallest excess of a newer flow's share over that of the previous one."""

    def found(results: Measured) -> Values:
        steps = [
            rate(results, form, newer, phase) - rate(results, form, newer - 1, phase)
            for phase, flows in (("two flows", 2), ("three flows", 3))
            for newer in range(2, flows + 1)
        ]
        least: Values = np.min(steps, axis=0)
        return least

    return found


def apart_again(form: str) -> Callable[[Measured], Values]:
    """Difference of the first two flows' shares after the third has left."""

    def found(results: Measured) -> Values:
        first, second = (rate(results, form, number, "two flows again") for number in (1, 2))
        difference: Values = np.abs(first - second)
        return difference

    return found


def queue_of_two(form: str) -> Callable[[Measured], Values]:
    """Packets in the queue with two flows."""
    return lambda results: results.values("queue", form=form, phase="two flows")


def window_of(run: Run, number: int) -> tuple[Any, Any]:
    """Window of a flow over time. A constant window has no rows, so it is extended to the end of the flow."""
    trace = run.trace("cwnd").where(group=name(number))
    times, windows = (np.asarray(trace[column], float) for column in ("time_s", "cwnd_packets"))
    stop = run.scenario["flows"][name(number)].get("stop")
    end = run.simulated_s if stop is None else min(run.simulated_s, float(stop.removesuffix(" s")))
    return np.append(times, end), np.append(windows, windows[-1:])


def window_1(run: Run) -> tuple[Any, Any]:
    """Window of the first flow."""
    return window_of(run, 1)


def window_2(run: Run) -> tuple[Any, Any]:
    """Window of the second flow."""
    return window_of(run, 2)


def window_3(run: Run) -> tuple[Any, Any]:
    """Window of the third flow."""
    return window_of(run, 3)


def queue_over_time(run: Run) -> tuple[Any, Any]:
    """Packets in the bottleneck queue."""
    trace = run.trace("queue")
    return trace["time_s"], trace["queue_units"]


QUEUES = (ReferenceLine("2 alpha", 2 * ALPHA), ReferenceLine("3 alpha", 3 * ALPHA))

FIGURE_B_1 = Experiment(
    id="cui-thesis/figB.1",
    title="Figures B.1 to B.3: three FAST flows arrive and leave",
    question="What rates do FAST flows receive that arrive 20 s apart and leave in reverse order?",
    source="figures B.1 to B.3, appendix B: 100 Mb/s, 50 ms, alpha 200",
    variants=tuple(
        Variant({"form": form, "phase": phase}, three_flows(form, until)) for form in FORMS for phase, until in PHASES.items()
    ),
    measures={"share_1": share_1, "share_2": share_2, "share_3": share_3, "queue": queue},
    claims=tuple(
        claim
        for form in FORMS
        for claim in (
            Claim(
                f"C-B.1.2-{form}",
                "reproduced",
                "from 20 to 60 s newer flows have larger rates (smallest difference of the shares of two consecutive flows), "
                f"form {form}",
                newer_gets_more(form),
                Inequality(">", 0),
            ),
            Claim(
                f"C-B.1.3-{form}",
                "not_reproduced",
                f"from 60 to 80 s flows 1 and 2 share evenly (difference of their shares, within a twentieth), form {form}",
                apart_again(form),
                Inequality("<", 0.05),
                note="When the third flow leaves, the windows of the others exceed the path: the queue does not empty, and the "
                "second flow's estimate of the propagation delay still contains 0.7 alpha of queue.",
            ),
            Claim(
                f"C-B.3.1-{form}",
                "reproduced",
                f"with two flows the queue exceeds 2 alpha = 400 packets, form {form}",
                queue_of_two(form),
                Inequality(">", 400),
            ),
        )
    ),
    panels=(
        *(
            (TracePanel(tuple(f"window {number}, form {form}" for number in (1, 2, 3)), "window, packets", "time, s"),)
            for form in FORMS
        ),
        tuple(
            TracePanel((f"queue, form {form}",), "queue, packets", "time, s", reference_lines=QUEUES, title=f"form {form}")
            for form in FORMS
        ),
    ),
    traces=tuple(
        trace
        for form in FORMS
        for trace in (
            *(
                Trace(
                    f"window {number}, form {form}", {"form": form, "phase": "two flows again"}, {"cwnd": [name(number)]}, window
                )
                for number, window in ((1, window_1), (2, window_2), (3, window_3))
            ),
            Trace(f"queue, form {form}", {"form": form, "phase": "two flows again"}, {"queue": ["bottleneck"]}, queue_over_time),
        )
    ),
    assumptions=(Assumption("buffer", "100,000 packets: never full"),),
    exact=True,
)

EXPERIMENTS = (FIGURE_4_1, FIGURE_4_2, FIGURE_B_1)
