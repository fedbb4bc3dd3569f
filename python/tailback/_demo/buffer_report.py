"""The report on the first question; every number in its sentences comes from the runs."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterator

from tailback import _html, models
from tailback._core import __version__
from tailback._demo.buffer_grid import (
    BDP_PACKETS,
    PACKET_BYTES,
    RATE_MBPS,
    RTT_MS,
    RTT_SPREAD_MS,
    Cell,
    Study,
    rule,
    scenario,
)
from tailback._demo.buffer_needed import TARGET
from tailback._html.pictures import Picture, dark_inks
from tailback._interval import Interval

__all__ = ["page", "setting", "table"]

# A difference of utilisation without practical relevance, even if it is significant.
NEGLIGIBLE = 1e-4


def setting(study: Study) -> str:
    """The simulated link in one line."""
    return f"{RATE_MBPS} Mbps, {RTT_MS} ms, so 1 BDP = {BDP_PACKETS} packets; mean over {study.plan.seeds} seeds ± 95 % interval"


def table(study: Study) -> list[list[str]]:
    """Header, and one row per number of flows."""
    least, more = 0.01, 0.1
    head = [
        "flows",
        f"utilised at {_share(least)} BDP",
        f"at {_share(more)} BDP",
        f"buffer for {_share(TARGET)} (95 % interval)",
        "BDP/√N",
        "utilised there",
        "lost there",
        "wait there",
    ]
    rows = [head]
    for flows in study.plan.flows:
        ruled = rule(flows)
        rows.append(
            [
                str(flows),
                _percent(study.interval("utilisation", Cell(flows, least))),
                _percent(study.interval("utilisation", Cell(flows, more))),
                str(study.needed[flows]),
                _share(ruled.share),
                _percent(study.interval("utilisation", ruled)),
                _percent(study.interval("loss_rate", ruled)),
                f"{1e3 * study.interval('mean_wait_s', ruled).mean:.3g} ms",
            ]
        )
    return rows


def page(study: Study, figures: dict[str, Picture]) -> str:
    """The whole report as one self-contained HTML file."""
    return _html.page(
        "_demo/buffer_report.html",
        dark_inks(figures.values()),
        figures=figures,
        answer=_answer(study),
        method=_method(study),
        summary=_numbers(table(study)),
        on_single=_on_single(study),
        on_rule=_on_rule(study),
        on_paced=_on_paced(study),
        on_loss=_on_loss(study),
        on_delay=_on_delay(study),
        on_sawtooth=_on_sawtooth(study),
        scenario=json.dumps(scenario(study.plan.cells[0]).to_dict(), indent=2),
        all_numbers=_numbers(list(_all_numbers(study))),
        tally=study.tally,
        seeds=study.plan.seeds,
        digest=hashlib.sha256("".join(sorted(study.tally.hashes)).encode()).hexdigest()[:16],
        version=__version__,
        python=platform.python_version(),
    )


def _answer(study: Study) -> str:
    """The answer, from the extremes of the grid."""
    few, many = study.plan.flows[0], study.plan.flows[-1]
    waits = [1e3 * study.interval("mean_wait_s", Cell(flows, 2.0)).mean for flows in (few, many)]
    return (
        f"To keep the link {_share(TARGET)} busy, one flow needs a buffer of {study.needed[few]} of a bandwidth-delay product, "
        f"and {many} flows together need {study.needed[many]}; 95 % intervals in parentheses. A larger buffer adds delay: with "
        f"two bandwidth-delay products a packet waits {waits[0]:.0f} ms on average behind one flow, {waits[1]:.0f} ms behind "
        f"{many}; the path itself takes {RTT_MS} ms."
    )


def _on_single(study: Study) -> str:
    """Differences between the closed form and the simulation."""
    cells = study.cells(1)
    compared = [(study.interval("utilisation", cell), float(models.single_flow_utilisation(cell.share)), cell) for cell in cells]
    measured, theory, cell = max(compared, key=lambda item: abs(item[0].mean - item[1]))
    apart = [cell for measured, theory, cell in compared if abs(measured.mean - theory) > max(measured.half, NEGLIGIBLE)]
    difference = f"{100 * (measured.mean - theory):+.2f}".replace("-", "\u2212")
    text = (
        f"The largest difference is {difference} percentage points, at a buffer of {_share(cell.share)} of a BDP: "
        f"simulated {_percent(measured)}, closed form {100 * theory:.2f} %. "
    )
    if apart:
        where = f"{len(apart)} of {len(cells)} buffers ({', '.join(_share(cell.share) for cell in apart)})"
        return text + f"At {where} the closed form lies outside the 95 % interval of the simulation."
    return text + (
        f"At all {len(cells)} buffers the closed form lies inside the 95 % interval of the simulation or within "
        f"{100 * NEGLIGIBLE:g} percentage points of it."
    )


def _on_rule(study: Study) -> str:
    """Results of the square-root rule."""
    reached = [(study.interval("utilisation", rule(flows)), flows) for flows in study.plan.flows]
    low, low_flows = min(reached, key=lambda item: item[0].mean)
    high, high_flows = max(reached, key=lambda item: item[0].mean)
    short = [flows for interval, flows in reached if interval.high < TARGET]
    text = (
        f"With a buffer of BDP/√N the link was between {_percent(low)} ({_flows(low_flows)}) and {_percent(high)} "
        f"({_flows(high_flows)}) busy. "
    )
    if short:
        names = ", ".join(str(flows) for flows in short)
        return text + f"For N = {names} the utilisation is significantly below {_share(TARGET)}."
    return text + f"No measured utilisation is significantly below {_share(TARGET)}."


def _on_paced(study: Study) -> str:
    """Small buffers: trains of packets from several flows, and pacing."""
    single = study.interval("utilisation", Cell(1, 0.01))
    parts = []
    for flows in study.paced_flows:
        clocked, paced = (study.interval("utilisation", Cell(flows, 0.01, paced)) for paced in (False, True))
        parts.append(f"{_flows(flows)} went from {_percent(clocked)} to {_percent(paced)}")
    return (
        f"With a buffer of 1 % of a BDP, {Cell(1, 0.01).buffer_packets} packets, one flow uses {_percent(single)} of the link: "
        "acknowledgements clock its packets at the rate of the link, so that few of them queue. Several flows send such trains "
        "concurrently, and where two trains meet, the buffer must hold the shorter one. Pacing, which spreads a window "
        f"evenly over the round trip, avoids this: {' and '.join(parts)}."
    )


def _on_loss(study: Study) -> str:
    many = study.plan.flows[-1]
    small, full = (study.interval("loss_rate", Cell(many, share)) for share in (0.01, 1.0))
    timeouts = study.interval("timeouts_per_flow_s", Cell(many, 0.01)).mean
    per_flow = BDP_PACKETS / many
    return (
        f"Loss depends on the number of flows more than on the buffer: {many} flows share a path that holds {BDP_PACKETS} "
        f"packets, {per_flow:.1f} each, and only losses keep their windows that small. They lose {_percent(small)} at 1 % of a "
        f"BDP and {_percent(full)} at one BDP; with the smallest buffer each flow has a timeout {_often(timeouts)}."
    )


def _on_delay(study: Study) -> str:
    single, shared = study.plan.flows[0], study.plan.flows[-1]
    fills = {flows: study.interval("mean_wait_s", Cell(flows, 1.0)).mean / (RTT_MS * 1e-3) for flows in (single, shared)}
    return (
        f"A full buffer of one BDP delays packets by {RTT_MS} ms. On average {_flows(single)} kept it {_share(fills[single])} "
        f"full and {_flows(shared)} {_share(fills[shared])}. Beyond full utilisation a larger buffer only lengthens the queue."
    )


def _on_sawtooth(study: Study) -> str:
    parts = []
    for trace in study.sawtooth:
        empty = float((trace.queue == 0).mean())
        least = int(trace.queue.min())
        standing = (
            f"its queue never falls below {least} packets"
            if least
            else f"its queue is empty {_share(round(empty, 2))} of the time"
        )
        parts.append(f"at {_share(trace.share)} of a BDP {standing}")
    text = "; ".join(parts)
    return text[0].upper() + text[1:] + "."


def _method(study: Study) -> str:
    low, high = RTT_SPREAD_MS
    return (
        f"One link of {RATE_MBPS} Mbps with a drop-tail queue; greedy flows with SACK and Reno's window (preset "
        f"sack), packets of {PACKET_BYTES} bytes. Round trips without queueing: {RTT_MS} ms for a single flow, "
        f"uniform between {low} and {high} ms for several, so that one bandwidth-delay product (BDP) is {BDP_PACKETS} packets. "
        f"Flows start at random, and the start of each run is not measured. Lines are means over {study.plan.seeds} seeds, "
        f"bands their 95 % intervals (Student's t); a ring marks the rule BDP/√N. The buffer for {_share(TARGET)} is found by a "
        "search with the same seeds (tailback.threshold)."
    )


def _all_numbers(study: Study) -> Iterator[list[str]]:
    yield [
        "flows",
        "buffer, packets",
        "of a BDP",
        "utilisation",
        "lost",
        "mean wait, ms",
        "timeouts per flow and minute",
        "fairness",
    ]
    for flows in study.plan.flows:
        for cell in [*study.cells(flows), *study.cells(flows, paced=True)]:
            timeouts, fairness, wait = (study.interval(name, cell) for name in ("timeouts_per_flow_s", "fairness", "mean_wait_s"))
            yield [
                f"{flows}, paced" if cell.paced else str(flows),
                str(cell.buffer_packets),
                _share(cell.share),
                _percent(study.interval("utilisation", cell)),
                _percent(study.interval("loss_rate", cell)),
                f"{1e3 * wait.mean:.3g}",
                f"{60 * timeouts.mean:.2g}",
                f"{fairness.mean:.3f}",
            ]


def _percent(interval: Interval) -> str:
    return f"{interval.text(2, 100)} %"


def _share(share: float) -> str:
    return f"{100 * share:.3g} %"


def _flows(flows: int) -> str:
    return "one flow" if flows == 1 else f"{flows} flows"


def _often(per_second: float) -> str:
    return "never" if per_second == 0 else f"every {1 / per_second:.2g} s"


def _numbers(rows: list[list[str]]) -> list[list[str]]:
    """Mark all columns as numbers."""
    return [[f"*{name}" for name in rows[0]], *rows[1:]]
