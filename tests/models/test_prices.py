"""ADPM and other schemes compared with receivers that follow the rules packet by packet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import tailback as tb

if TYPE_CHECKING:
    from collections.abc import Iterator

THRESHOLDS = 1 << 16
# 99.9 % quantile; with this many values Student's distribution equals the normal one.
NORMAL = 3.291


def reversed_bits(counters: np.ndarray) -> np.ndarray:
    """The thresholds of bit-reversed counting, 0 to 1."""
    return np.asarray(np.sum([(counters >> bit & 1) / 2 ** (bit + 1) for bit in range(16)], axis=0))


def probes(order: str, paths: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """A threshold for each path, packet by packet."""
    starts = {"pure_brc": np.ones(paths, dtype=int), "random_brc": rng.integers(1, THRESHOLDS, paths)}
    packet = 0
    while True:
        yield rng.integers(THRESHOLDS, size=paths) / THRESHOLDS if order == "random" else reversed_bits(starts[order] + packet)
        packet += 1


def heard(prices: np.ndarray, estimates: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """Estimates after a packet, by the rule of section 5.2.1."""
    marked = prices > thresholds
    return np.where(np.where(marked, thresholds > estimates, thresholds < estimates), thresholds, estimates)


def holds(values: np.ndarray, expected: float) -> None:
    """Check that the mean agrees with the expected value, with an interval narrower than 5 %."""
    half = NORMAL * values.std(ddof=1) / np.sqrt(len(values))
    assert abs(values.mean() - expected) < half < 0.05 * expected


@pytest.mark.parametrize("order", ["random", "pure_brc", "random_brc"])
@pytest.mark.parametrize("first", [0.0, 1.0])
def test_the_error_of_a_constant_price_agrees_with_receivers(order: tb.models.ProbeOrder, first: float) -> None:
    rng = np.random.default_rng(1)
    prices = rng.random(40_000)
    estimates = np.full(len(prices), first)
    for packet, thresholds in zip(range(1, 101), probes(order, len(prices), rng), strict=False):
        estimates = heard(prices, estimates, thresholds)
        if packet in (1, 3, 10, 100):
            error = tb.models.adpm_error(probes=packet, order=order)
            errors = np.abs(estimates - prices)
            holds(errors, error.mean)
            holds(errors**2, error.mean_square)
            assert errors.max() <= error.largest
            within = np.mean(errors <= error.percentile)
            assert abs(within - 0.99) < NORMAL * np.sqrt(0.99 * 0.01 / len(errors))


def test_a_step_is_detected_and_followed_as_in_the_models() -> None:
    rng = np.random.default_rng(2)
    before = rng.random(40_000) * 0.9
    prices, estimates = before + 0.1, before.copy()
    unnoticed = np.ones(len(prices), dtype=bool)
    for packet, thresholds in zip(range(1, 41), probes("random_brc", len(prices), rng), strict=False):
        unnoticed &= ~((before < thresholds) & (thresholds < prices))
        if packet in (2, 4, 8):
            holds(unnoticed.astype(float), tb.models.adpm_undetected(step=0.1, probes=packet, form="brc"))
    for packet, thresholds in zip(range(1, 41), probes("random", len(prices), rng), strict=False):
        estimates = heard(prices, estimates, thresholds)
        if packet in (1, 10, 40):
            error = tb.models.adpm_step_error(step=0.1, probes=packet)
            holds(prices - estimates, error.mean)
            holds((prices - estimates) ** 2, error.mean_square)


def test_a_ramp_is_followed_with_rayleigh_s_error() -> None:
    rng = np.random.default_rng(3)
    prices = 0.1 + 0.1 * rng.random(10_000)
    estimates, drift = prices.copy(), 1e-4
    for _, thresholds in zip(range(1000), probes("random", len(prices), rng), strict=False):
        prices += drift
        estimates = heard(prices, estimates, thresholds)
    for error in (tb.models.adpm_ramp_error(drift), tb.models.adpm_coarse_ramp_error(drift=drift)):
        holds(prices - estimates, error.mean)
        holds((prices - estimates) ** 2, error.mean_square)
    # 11.4 % below the bound of the document.
    assert tb.models.adpm_ramp_error(1e-8).mean / np.sqrt(2e-8) == pytest.approx(np.sqrt(np.pi) / 2, rel=1e-4)


@pytest.mark.parametrize(("unseen", "value"), [("zero", 0.0), ("half", 0.5)])
def test_tpm_of_figure_5_3(unseen: tb.models.UnseenBit, value: float) -> None:
    rng = np.random.default_rng(4)
    paths, hops, max_hops, bits, packets = 16_000, 10, 30, 4, 200
    prices = rng.random((paths, hops))
    last = 2**bits - 1
    digits = np.rint(prices * last).astype(int)[..., None] >> np.arange(bits) & 1
    kinds = rng.integers(bits * max_hops, size=(paths, packets))
    seen = np.zeros((paths, bits * max_hops), dtype=bool)
    seen[np.arange(paths)[:, None], kinds] = True
    believed = np.where(seen[:, : bits * hops].reshape(paths, hops, bits), digits, value)
    estimates = believed @ 2.0 ** np.arange(bits) / last
    errors = (estimates - prices).mean(axis=1)
    holds(errors**2, tb.models.tpm_error(probes=packets, bits=bits, hops=hops, unseen=unseen).mean_square)


def test_rem_and_ram() -> None:
    rng = np.random.default_rng(5)
    error = tb.models.rem_error(price=2.0, phi=1.5, packets=2000)
    shares = rng.binomial(2000, 1 - 1.5**-2.0, 40_000) / 2000
    holds((shares - error.marked) ** 2, error.share_mean_square)
    holds((-np.log(1 - shares) / np.log(1.5) - 2.0) ** 2, error.price_mean_square)
    prices = rng.random((40_000, 10)).mean(axis=1)
    holds((rng.binomial(100, prices) / 100 - prices) ** 2, tb.models.ram_error(packets=100, hops=10))


def test_words_and_ranges_are_checked() -> None:
    with pytest.raises(tb.errors.ParameterError, match='`order` is "brc"; expected one of random, pure_brc, random_brc'):
        tb.models.adpm_error(probes=3, order="brc")  # type: ignore[arg-type]
    with pytest.raises(tb.errors.ParameterError, match="`bits` is 17; expected 1 to 16"):
        tb.models.adpm_error(probes=3, bits=17)
    with pytest.raises(tb.errors.ParameterError, match=r"`step` is 0\.0001; expected at least 2\^-bits"):
        tb.models.adpm_detection_packets(step=1e-4, bits=12)
    assert set(tb.models.PROBE_ORDERS) == {"random", "pure_brc", "random_brc"}
