"""The report on the second question; every number in its sentences comes from the runs."""

from __future__ import annotations

import hashlib
import json
import platform

from tailback import _html
from tailback._core import __version__
from tailback._demo.switch_grid import Study
from tailback._html.pictures import dark_inks
from tailback._interval import Interval
from tailback.papers._experiment_plot import draw

__all__ = ["QUESTION", "headline", "page", "setting", "table"]

QUESTION = "How much goodput does balanced packet discard (BPD) gain over early packet discard (EPD) at an ATM switch?"


def setting(study: Study) -> str:
    """The columns of the table, in two lines."""
    return (
        "bpd-2001, figures 12 and 14.\n"
        f"Each policy with its best threshold; mean over {study.plan.seeds} seeds ± 95 % interval. "
        "Active: share of the time without waiting for a timeout"
    )


def table(study: Study) -> list[list[str]]:
    """Header, and one row per topology and tick of the retransmission timer, which the document does not state."""
    rows = [["topology", "timer tick", "EPD goodput", "BPD goodput", "gain", "EPD active", "BPD active"]]
    for case in study.cases:
        goodputs, actives = ([_shown(of(study, policy)) for policy in ("EPD", "BPD")] for of in (case.goodput, case.active))
        rows.append([case.topology, f"{case.tick:g} s", *goodputs, _percent(case.gain(study)), *actives])
    return rows


def headline(study: Study) -> str:
    """The document's headline and ours."""
    case, published = study.headline, study.plan.definition.PUBLISHED
    epd, bpd = (_shown(case.goodput(study, policy)) for policy in ("EPD", "BPD"))
    return (
        f"In topology {case.topology} with a timer tick of {case.tick:g} s, goodput is {bpd} of the link with BPD and "
        f"{epd} with EPD, a gain of {_percent(case.gain(study))}. "
        f"Published: {published['BPD']} and {published['EPD']}, a gain of more than {100 * study.plan.definition.GAIN:g} %."
    )


def page(study: Study) -> str:
    """The whole report as one self-contained HTML file."""
    in_b, in_a = draw(study.outcome.experiment.rows, study.outcome)
    return _html.page(
        "_demo/switch_report.html",
        dark_inks([in_b, in_a]),
        question=QUESTION,
        answer=headline(study),
        on_ticks=_on_ticks(study),
        on_timeouts=_on_timeouts(study),
        on_a=_on_a(study),
        in_b=in_b,
        in_a=in_a,
        table=_numbers(table(study), words=1),
        all_numbers=_numbers(_all_numbers(study), words=3),
        scenario=json.dumps(study.outcome.experiment.variants[0].scenario.to_dict(), indent=2),
        tally=study.tally,
        seeds=study.plan.seeds,
        digest=hashlib.sha256("".join(sorted(study.tally.hashes)).encode()).hexdigest()[:16],
        version=__version__,
        python=platform.python_version(),
    )


def _on_ticks(study: Study) -> str:
    gains = [f"{_percent(case.gain(study))} with a tick of {case.tick:g} s" for case in study.cases if case.topology == "B"]
    return (
        "The document does not state the tick of the retransmission timer, whose minimum timeout is two ticks. "
        f"The gain grows with it: {', '.join(gains)}."
    )


def _on_timeouts(study: Study) -> str:
    case = study.headline
    shares = {policy: case.active(study, policy) for policy in ("EPD", "BPD")}
    return (
        "With EPD a connection often loses several packets of one window, which Reno recovers only by a timeout. BPD protects a "
        "connection for 25 packets after a loss, so that a fast retransmit suffices. With a tick of "
        f"{case.tick:g} s and the best thresholds, connections spend {_shown(shares['BPD'])} of the time without waiting "
        f"for a timeout with BPD, and {_shown(shares['EPD'])} with EPD."
    )


def _on_a(study: Study) -> str:
    (case,) = (each for each in study.cases if each.topology == "A")
    return (
        "In topology A each of ten sources can fill the link alone, and the others use the share of a connection that waits for "
        f"a timeout. Goodput is {_shown(case.goodput(study, 'BPD'))} with BPD and {_shown(case.goodput(study, 'EPD'))} with EPD, "
        f"a gain of {_percent(case.gain(study))}. The document reports no significant improvement there."
    )


def _all_numbers(study: Study) -> list[list[str]]:
    rows = [["topology", "tick", "policy", "threshold", "goodput", "active"]]
    for point in study.outcome.points:
        labels = point.labels
        shown = [_shown(study.outcome.interval_of(point, name)) for name in ("goodput", "active")]
        rows.append([str(labels["topology"]), f"{labels['tick']:g} s", str(labels["policy"]), str(labels["threshold"]), *shown])
    return rows


def _shown(interval: Interval) -> str:
    return interval.text(3)


def _percent(interval: Interval) -> str:
    return f"{interval.text(0, 100)} %"


def _numbers(rows: list[list[str]], *, words: int) -> list[list[str]]:
    """Mark all columns after the first `words` as numbers."""
    return [[*rows[0][:words], *(f"*{name}" for name in rows[0][words:])], *rows[1:]]
