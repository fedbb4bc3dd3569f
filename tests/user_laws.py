"""Reno, drop-tail, EPD, PIE and a Poisson source in Python, as a user would write them, to compare with the built-in ones."""

from __future__ import annotations

import math
from dataclasses import dataclass

import tailback as tb
from tailback.user_code import Ack, Congestion, Controller, Draw, Occupancy, Policy, Source, Start, Unit, Verdict


def whole_windows(window: float, counted: float) -> float:
    """RFC 3465 section 2.1; the fraction of the window counts the acknowledged part of it."""
    if counted == 0:
        return window
    segments = math.floor(window)
    acknowledged = math.floor((window - segments) * segments + 0.5) + counted
    while acknowledged >= segments:
        acknowledged -= segments
        segments += 1
    return segments + acknowledged / segments


@tb.controller("reno")
class Reno(Controller):
    """RFC 5681 section 3.1."""

    def __init__(self, start: Start) -> None:
        super().__init__(start)
        self.counts_bytes = start.counts_bytes

    def on_ack(self, ack: Ack) -> None:
        if ack.window_validated:
            counted = float(ack.counted)
            if self.window < self.ssthresh:
                opens = min(counted, math.ceil(min(self.ssthresh - self.window, counted)))
                self.window += opens
                counted -= opens
            self.window = whole_windows(self.window, counted) if self.counts_bytes else self.window + counted / self.window

    def on_congestion(self, seen: Congestion) -> None:
        half = float(seen.in_flight // 2)
        self.window, self.ssthresh = max(half, float(seen.min_window)), max(half, 2.0)

    def on_timeout(self, seen: Congestion) -> None:
        if not seen.repeated:
            self.ssthresh = max(float(seen.in_flight // 2), 2.0)
        self.window = 1.0


@tb.policy("drop_tail")
class DropTail(Policy[object]):
    """Accepts every packet that fits."""

    def on_arrival(self, unit: Unit, flow: object, buffer: Occupancy, now_s: float) -> Verdict:
        return Verdict.ACCEPT


@dataclass
class Channel:
    """Position of a VC in its frame."""

    in_frame: bool = False
    refusing: bool = False


@tb.policy("epd")
class Epd(Policy[Channel]):
    """Above the threshold no packet begins (Romanow and Floyd, 1995); after a lost cell, all but the last cell are discarded."""

    def __init__(self, *, threshold: int) -> None:
        self.threshold = threshold

    def new_flow(self) -> Channel:
        return Channel()

    def on_arrival(self, unit: Unit, flow: Channel, buffer: Occupancy, now_s: float) -> Verdict:
        first, flow.in_frame = not flow.in_frame, not unit.is_last
        overflow = Verdict.ACCEPT if buffer.has_room else Verdict.DISCARD_FULL
        if unit.is_last:
            flow.refusing = False
            return overflow
        if first:
            verdict = Verdict.DISCARD if buffer.has_room and buffer.units >= self.threshold else overflow
        else:
            verdict = Verdict.DISCARD_PARTIAL if flow.refusing else overflow
        flow.refusing = verdict is not Verdict.ACCEPT
        return verdict


STEPS = [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (1e-1, 2.0)]


@tb.policy("pie")
class Pie(Policy[object]):
    """RFC 8033 sections 4 and 5.1, with its defaults."""

    def __init__(self) -> None:
        self.period_s, self.target, self.allowance = 0.015, 0.015, 150
        self.probability = self.delay = 0.0

    def on_arrival(self, unit: Unit, flow: object, buffer: Occupancy, now_s: float) -> Verdict:
        spared = self.allowance > 0 or (self.delay < self.target / 2 and self.probability < 0.2) or buffer.bytes <= 2000
        if spared or self.draw.uniform() >= self.probability:
            return Verdict.ACCEPT
        return Verdict.MARK if self.probability <= 0.1 else Verdict.DISCARD

    def on_period(self, held_bytes: int, rate_bps: int) -> None:
        delay = held_bytes * 8.0 / rate_bps
        step = 0.125 * (delay - self.target) + 1.25 * (delay - self.delay)
        self.probability += step / next((part for below, part in STEPS if self.probability < below), 1.0)
        if delay == 0.0 and self.delay == 0.0:
            self.probability *= 0.98
        self.probability = min(max(self.probability, 0.0), 1.0)
        calm = self.probability == 0.0 and delay < self.target / 2 and self.delay < self.target / 2
        self.allowance = 150 if calm else max(self.allowance - 15, 0)
        self.delay = delay


@tb.source("poisson")
class Poisson(Source):
    """Exponential intervals and constant size."""

    def __init__(self, *, mean_gap_s: float, packet: int) -> None:
        self.mean_gap_s, self.packet = mean_gap_s, packet

    def next(self, now_s: float, draw: Draw) -> tuple[float, int]:
        return draw.exponential() * self.mean_gap_s, self.packet
