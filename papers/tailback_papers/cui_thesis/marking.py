"""Figures 5.1 to 5.4: receivers' estimates of a constant and of a changing price from marks (section 5.4)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tailback import models, prices
from tailback.papers import (
    Claim,
    Computation,
    Condition,
    Curves,
    Experiment,
    Expression,
    Line,
    Values,
    at,
    axis,
    quick_form,
    vary,
)
from tailback_papers.claims import claims_of
from tailback_papers.cui_thesis.intervals import distance_from_exponential

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["EXPERIMENTS", "SEQUENCES"]

claim = claims_of(__name__)

# Ten seeds have about as many sequences of probes as the document's 256, each with 100 prices.
SEQUENCES = 26
PRICES = 100
# The document's number, for the only sequence that is not random.
PRICES_OF_PURE = 1000

# Numbers of packets k, one less than a power of two and than one and a half times it, where the document has steps.
COUNTS = tuple(sorted({round(half * 2**power) - 1 for power in range(1, 13) for half in (1, 1.5)} - {0}))

# Identifiers of packets in each order of probes.
ORDERS = {"pure_brc": "from_one", "random_brc": "counting", "random": "random"}
NAMES = {"pure_brc": "pure BRC", "random_brc": "random BRC", "random": "random probes"}


@dataclass(frozen=True)
class Errors:
    """Errors of estimates, one for each sequence and price; with the statistics of a model of them."""

    all: NDArray[np.float64]

    @property
    def mean(self) -> float:
        """Mean absolute error."""
        return float(self.all.mean())

    @property
    def largest(self) -> float:
        """Largest absolute error."""
        return float(self.all.max())

    @property
    def percentile(self) -> float:
        """99th percentile of the absolute error."""
        return float(np.quantile(self.all, 0.99))

    @property
    def mean_square(self) -> float:
        """Mean square error."""
        return float((self.all**2).mean())


def errors(order: str, count: int, seed: int) -> Errors:
    """Errors of ADPM after k packets: each sequence of probes has its own prices."""
    sequences, of_each = (1, PRICES_OF_PURE) if order == "pure_brc" else (SEQUENCES, PRICES)
    found = []
    for number in range(sequences):
        chosen = np.random.default_rng([seed, number]).random((of_each, 1)).tolist()
        probed = prices.probe(
            chosen, [count], scheme="adpm", thresholds="reversal", identification=ORDERS[order], seed=1000 * seed + number
        )
        found.append(np.abs(probed.errors[:, 0]))
    return Errors(np.concatenate(found))


def from_exponential(found: Errors | models.AdpmError) -> float:
    """Distance of the errors' distribution from the exponential one with the same mean; NaN for a model."""
    return distance_from_exponential(found.all) if isinstance(found, Errors) else math.nan


def power(count: int) -> int:
    """K, the largest power of two that does not exceed k + 1."""
    return 1 << ((count + 1).bit_length() - 1)


def probes(measure: str, order: str, *counts: int) -> Expression:
    """A measure of an order of probes with some numbers of packets; with all by default."""
    where: dict[str, Any] = {"count": counts} if counts else {}
    return at(measure, by="probes", order=order, **where)


def exact(order: str, *counts: int) -> Expression:
    """The mean error by the model."""
    where: dict[str, Any] = {"count": counts} if counts else {}
    return at("mean", by="model", order=order, **where)


def by_model(order: Any, count: int) -> models.AdpmError:
    """Error by the model."""
    return models.adpm_error(probes=count, order=order)


ERRORS = tuple(
    variant
    for order in ORDERS
    for by, function in (("probes", errors), ("model", by_model))
    for variant in vary(Computation(function, {"order": order}), axis("count", COUNTS), by=by, order=order)
)
POWERS = tuple(count for count in COUNTS if power(count) == count + 1)
BETWEEN = tuple(count for count in COUNTS if power(count) != count + 1)


def with_models(*orders: str) -> tuple[Line, ...]:
    """One line per order of probes, and dashed lines for the models."""
    return tuple(
        line
        for order in orders
        for line in (
            Line(NAMES[order], {"by": "probes", "order": order}),
            Line(f"{NAMES[order]}, model", {"by": "model", "order": order}, dashed=True),
        )
    )


LEFT_OPEN = {
    "the range of k": f"1 to {COUNTS[-1]}, one less than powers of two and than one and a half times them",
    "first estimate and prices": "0, which yields the quoted curves; uniform in 0 to 1",
    "sequences": f"{SEQUENCES} per seed with {PRICES} prices each, so that ten seeds have the document's 256; pure BRC has one "
    f"sequence, with {PRICES_OF_PURE} prices",
}


def to_pure(measure: str, count: int) -> Expression:
    """A measure of random BRC divided by that of pure BRC."""
    return probes(measure, "random_brc", count) / probes(measure, "pure_brc", count)


def over_bound(order: str, steps: int, *counts: int) -> Expression:
    """Largest error divided by a number of steps of 1 / K."""
    return probes("largest", order, *counts) / (lambda count: steps / power(count))


def highest_of_all(values: NDArray[np.float64]) -> Values:
    """The highest value of any point and seed, for every seed."""
    return np.full(values.shape[1], values.max())


MEAN_ERROR = Experiment(
    id="cui-thesis/fig5.1",
    times=3,
    title="Figure 5.1: mean error of ADPM after k packets",
    question="How fast does ADPM find a price, by the order of its probes?",
    source="figure 5.1, section 5.4 (called 5.2 in the text); no values in the text",
    variants=ERRORS,
    measures={"mean": "mean"},
    claims=(
        claim("C-5.1.1", (probes("mean", "pure_brc") / probes("mean", "random")).max() < 1.0),
        claim(
            "C-5.1.1-random-brc", (probes("mean", "random_brc", *COUNTS[2:]) / probes("mean", "random", *COUNTS[2:])).max() < 1.0
        ),
        claim("C-5.1.2-first", (exact("random_brc", *COUNTS[:3]) / exact("random", *COUNTS[:3])).min() > 0.8),
        claim("C-5.1.2-later", to_pure("mean", 7) > to_pure("mean", 4095)),
        claim("C-5.1.3", (exact("random") / (lambda count: 1 / (count + 2))).furthest(ratio=True).equals(1.0, 0.02)),
        claim("5.1-simulated", (probes("mean", "random") / (lambda count: 1 / (count + 2))).mean().equals(1.0, 0.05)),
        claim(
            "C-5.1.4-powers",
            (probes("mean", "pure_brc", *POWERS) / (lambda count: 1 / (2 * count + 2))).furthest(ratio=True).equals(1.0, 0.02),
        ),
        claim("C-5.1.4-above", (probes("mean", "pure_brc", *BETWEEN) / (lambda count: 1 / (2 * count + 2))).min() > 1.0),
        claim("C-5.1.4-below", (probes("mean", "pure_brc", *BETWEEN) / (lambda count: 1 / (2 * power(count)))).max() < 1.0),
    ),
    panels=(Curves("mean", "count", with_models(*NAMES), "mean error", "packets received", log=True, log_over=True),),
    assumptions=LEFT_OPEN,
)

LARGEST_ERROR = Experiment(
    id="cui-thesis/fig5.2",
    times=3,
    title="Figure 5.2: largest error of ADPM after k packets",
    question="How large can the error of the estimate be?",
    source="figure 5.2, section 5.4; no values in the text",
    variants=(
        *ERRORS,
        *vary(Computation(errors, {"order": "random_brc"}), axis("count", (256, 384)), by="step", order="random_brc"),
    ),
    measures={"largest": "largest", "percentile": "percentile", "distance": from_exponential},
    claims=(
        claim("C-5.2.1", over_bound("pure_brc", 1).min() > 0.95),
        claim("C-5.2.1-bound", over_bound("pure_brc", 1).fold(highest_of_all) <= 1.0),
        claim("C-5.2.2", to_pure("largest", 7).equals(2.0, 0.2)),
        claim("C-5.2.2-bound", over_bound("random_brc", 2).fold(highest_of_all) <= 1.0),
        claim("C-5.2.2-loose", over_bound("random_brc", 2, 4095) / over_bound("random_brc", 2, 7) < 1.0),
        claim("C-5.2.2-steps", (at("largest", by="step", count=384).fold(highest_of_all) * 256).equals(1.5, 0.05)),
        claim("C-5.2.2-twice", (at("largest", by="step", count=256).fold(highest_of_all) * 256).equals(2.0, 0.05)),
        claim(
            "C-5.2.2-exponential",
            probes("distance", "random", *COUNTS[-5:]).max(each_seed=True) < 0.05,
            note=f"largest distance of the distributions (Kolmogorov and Smirnov) with {COUNTS[-5]} packets or more; the bound "
            "is our choice",
        ),
    ),
    panels=(
        Curves(
            "largest",
            "count",
            with_models("pure_brc", "random_brc"),
            "largest error",
            "packets received",
            log=True,
            log_over=True,
        ),
        Curves(
            "percentile",
            "count",
            with_models("random"),
            "99th percentile of the error",
            "packets received",
            log=True,
            log_over=True,
        ),
    ),
    assumptions=LEFT_OPEN,
)

# Bits of TPM's quantisers; the limit is the receiver's memory with paths of 30 queues.
BITS = (2, 4, 8)
LEVELS = 100
HOPS = 10
SQUARE_COUNTS = tuple(2**power for power in range(4, 13))
# Prices per sequence of probes, of the sums over ten queues.
SUMS = 40


def squares(scheme: str, count: int, seed: int, bits: int = 4) -> Errors:
    """Errors of a scheme after k packets in random order; for TPM, the error of the sum over ten queues divided by ten."""
    rng = np.random.default_rng([seed, count])
    hops = HOPS if scheme == "tpm" else 1
    of_scheme: dict[str, Any] = {
        "adpm": {},
        "ram": {"memory": 4_000_000_000},
        "tpm": {"bits": bits, "hops": 30},
        "rpm": {"levels": LEVELS, "memory": 4_000_000_000},
    }[scheme]
    found = []
    for number in range(SEQUENCES):
        chosen = rng.random((SUMS if hops > 1 else PRICES, hops)).tolist()
        probed = prices.probe(chosen, [count], scheme=scheme, identification="random", seed=1000 * seed + number, **of_scheme)
        found.append(probed.errors[:, 0] / hops)
    return Errors(np.concatenate(found))


def random_marks(count: int) -> float:
    """Mean square error of REM and RAM: 1/(6k)."""
    return 1 / (6 * count)


def average(count: int) -> dict[str, float]:
    """Average of q (1 - q) / k over q."""
    q = (np.arange(10_000) + 0.5) / 10_000
    return {"mean_square": float((q * (1 - q)).mean()) / count}


def by_random_marks(count: int) -> dict[str, float]:
    """The same for a plot."""
    return {"mean_square": random_marks(count)}


# For each scheme with probe types: their number, a number of packets that covers few of them, and one that covers most.
TYPES = (
    ("tpm2", "TPM of 2 bits", 60, 16, 128),
    ("tpm4", "TPM of 4 bits", 120, 32, 256),
    ("tpm8", "TPM of 8 bits", 240, 64, 512),
    ("rpm", "RPM", LEVELS, 16, 256),
)

SQUARED = axis("count", SQUARE_COUNTS)
MEAN_SQUARE = Experiment(
    id="cui-thesis/fig5.3",
    times=3,
    title="Figure 5.3: mean square error of marking schemes after k packets",
    question="Which scheme estimates a price with the fewest packets?",
    source="figure 5.3, section 5.4; no values in the text",
    variants=(
        *vary(Computation(squares, {"scheme": "adpm"}), SQUARED, scheme="adpm"),
        *vary(Computation(by_model, {"order": "random"}), SQUARED, scheme="adpm, model"),
        *vary(Computation(squares, {"scheme": "ram"}), SQUARED, scheme="ram"),
        *vary(Computation(by_random_marks), SQUARED, scheme="closed form"),
        *vary(Computation(average), SQUARED, scheme="average"),
        *vary(Computation(squares, {"scheme": "rpm"}), SQUARED, scheme="rpm"),
        *(
            variant
            for bits in BITS
            for variant in vary(Computation(squares, {"scheme": "tpm", "bits": bits}), SQUARED, scheme=f"tpm{bits}")
        ),
    ),
    measures={"mean_square": "mean_square"},
    claims=(
        claim("C-5.3.1-lower", at("mean_square", scheme="adpm", count=256) / random_marks(256) < 0.1),
        claim(
            "C-5.3.1-power",
            (at("mean_square", scheme="adpm", count=256) / at("mean_square", scheme="adpm", count=4096))
            .log(16)
            .equals(2.0, 0.05),
        ),
        claim(
            "C-5.3.1-random-marks", (at("mean_square", scheme="average") / random_marks).furthest(ratio=True).equals(1.0, 0.001)
        ),
        claim("5.3.1-random-marks", (at("mean_square", scheme="ram", count=1024) / random_marks(1024)).equals(1.0, 0.05)),
        *(
            Claim(
                f"C-5.3.2-first-{scheme}",
                f"when only a small fraction of the probe types have been received, there is a large mean square error ({name})",
                (at("mean_square", scheme=scheme, count=few) / at("mean_square", scheme="adpm", count=few)) > 10.0,
                note=f"divided by ADPM's with {few} packets, of {types} types; the factor of ten is our choice",
            )
            for scheme, name, types, few, _ in TYPES
        ),
        *(
            Claim(
                f"C-5.3.2-drop-{scheme}",
                f"the error then drops rapidly after most probe types have been observed ({name})",
                (at("mean_square", scheme=scheme, count=most) / at("mean_square", scheme=scheme, count=2 * most)).log(2) > 2.0,
                note=f"exponent from {most} to {2 * most} packets, of {types} types: faster than ADPM's power law",
            )
            for scheme, name, types, _, most in TYPES
        ),
        *(
            Claim(
                f"C-5.3.2-floor-tpm{bits}",
                f"because a fixed quantiser is used, there is an error floor (TPM of {bits} bits)",
                (at("mean_square", scheme=f"tpm{bits}", count=4096) * 12 * HOPS * (2**bits - 1) ** 2).equals(1.0, 0.05),
                note="divided by that of ten independent quantisers, 1/(12 (2^n - 1)^2) over ten",
            )
            for bits in BITS
        ),
        claim("C-5.3.2-floor-rpm", (at("mean_square", scheme="rpm", count=4096) * 12 * (LEVELS - 1) ** 2).equals(1.0, 0.05)),
    ),
    panels=(
        Curves(
            "mean_square",
            "count",
            (
                Line("ADPM, random probes", {"scheme": "adpm"}),
                Line("ADPM, model", {"scheme": "adpm, model"}, dashed=True),
                Line("RAM", {"scheme": "ram"}),
                Line("REM and RAM, 1/(6k)", {"scheme": "closed form"}, dashed=True),
                *(Line(f"TPM, {bits} bits", {"scheme": f"tpm{bits}"}) for bits in BITS),
                Line(f"RPM, {LEVELS} levels", {"scheme": "rpm"}),
            ),
            "mean square error",
            "packets received",
            log=True,
            log_over=True,
        ),
    ),
    assumptions={
        "bits of TPM": "2, 4 and 8; with 30 queues, 8 bits are the most that fit into a receiver's 32 bytes here",
        "bits not yet received": "0, also before the first packet",
        "quantisers": "levels at both ends and evenly between them, rounded to the nearest; RPM with 100 levels, from an "
        "estimate of 0",
        "the range of k": f"{SQUARE_COUNTS[0]} to {SQUARE_COUNTS[-1]}, powers of two",
    },
)

DRIFTS = (1e-8, 1e-7, 1e-6, 1e-5)
# Packets until an estimate no longer depends on its initial value, at the slowest ramp, and packets read after that, with their
# spacing.
SETTLED = 50_000
READ = tuple(range(SETTLED + 500, SETTLED + 50_001, 500))
PATHS = 20


def tracking(scheme: str, drift: float, seed: int, bits: int = 4) -> Errors:
    """Errors of the largest price, which rises and falls, on paths whose other nine queues have a price of 0."""
    rng = np.random.default_rng([seed, int(1 / drift)])
    chosen = [[float(first), *[0.0] * (HOPS - 1)] for first in rng.random(PATHS)]
    of_scheme: dict[str, Any] = {"adpm": {}, "tpm": {"bits": bits, "hops": 30}}[scheme]
    probed = prices.probe(chosen, READ, scheme=scheme, identification="random", ramp=drift, seed=seed, **of_scheme)
    return Errors(np.abs(probed.errors).ravel())


def ramp_model(drift: float) -> models.AdpmCoarseRampError:
    """Error by the model, with 16-bit thresholds."""
    return models.adpm_coarse_ramp_error(drift=drift)


# ADPM's mean error divided by sqrt(2 delta), at the delta with the largest ratio.
OVER_BOUND = (at("mean", scheme="adpm") / (lambda drift: math.sqrt(2 * drift))).max()


def ramp_bound(drift: float) -> dict[str, float]:
    """The square root of 2 delta, and 2 delta."""
    return {"mean": math.sqrt(2 * drift), "mean_square": 2 * drift}


DRIFTING = axis("drift", DRIFTS)
TPM_BITS = Condition(
    "bits",
    'figure 5.4 does not state the bits of the scheme of Thommes and Coates; those of figure 5.3 are "n-bit"',
    (4, 2, 8),
    "16 levels, as in section 2.3.5",
)


TRACKING = Experiment(
    id="cui-thesis/fig5.4",
    title="Figure 5.4: mean error in tracking a changing price",
    question="Which scheme tracks a price?",
    source="figure 5.4, section 5.4; no values in the text",
    variants=(
        *vary(Computation(tracking, {"scheme": "adpm"}), DRIFTING, scheme="adpm"),
        *vary(Computation(ramp_model), DRIFTING, scheme="model"),
        *vary(Computation(ramp_bound), DRIFTING, scheme="bound"),
        *vary(Computation(tracking, {"scheme": "tpm"}), DRIFTING, axis("bits", TPM_BITS.values), scheme="tpm"),
    ),
    measures={"mean": "mean", "mean_square": "mean_square"},
    claims=(
        claim(
            "C-5.4.1-square",
            (at("mean_square", scheme="model") / (lambda drift: 2 * drift)).furthest(ratio=True).equals(1.0, 0.01),
        ),
        claim(
            "5.4.1-square",
            (at("mean_square", scheme="adpm", drift=DRIFTS[2:]) / (lambda drift: 2 * drift)).mean().equals(1.0, 0.1),
        ),
        claim("C-5.4.1-bound", OVER_BOUND < 1.0),
        claim("C-5.4.1-slightly", OVER_BOUND > 0.8),
        claim("C-5.4.1-tpm", (at("mean", scheme="tpm") / at("mean", scheme="adpm")).min(each_seed=True) > 2.0),
    ),
    panels=(
        Curves(
            "mean",
            "drift",
            (
                Line("ADPM", {"scheme": "adpm"}),
                Line("ADPM, model", {"scheme": "model"}, dashed=True),
                Line("sqrt(2 delta)", {"scheme": "bound"}, dashed=True),
                *(Line(f"TPM, {bits} bits", {"scheme": "tpm", "bits": bits}) for bits in BITS),
            ),
            "mean error",
            "change of the price per packet",
            log=True,
            log_over=True,
        ),
    ),
    conditions=(TPM_BITS,),
    assumptions={
        "length of a run": f"{READ[-1]} packets, of which the first {SETTLED} are excluded; the price starts at a random value "
        "and reverses at 0 and 1",
    },
)

EXPERIMENTS = (
    MEAN_ERROR,
    LARGEST_ERROR,
    quick_form(MEAN_SQUARE, "claims whose interval, with twenty seeds, includes the bound", times=2),
    TRACKING,
)
