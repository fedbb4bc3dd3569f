"""The loss of a trunk, compared with its equations in sixty digits."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from decimal import Decimal, localcontext

import numpy as np
import pytest

import tailback as tb
from tailback.models import LossModel

TRUNKS = [(2, 1, 0), (2, 1, 5), (3, 1, 2), (4, 1, 10), (4, 3, 2), (16, 2, 10), (16, 2, 60), (80, 20, 5), (7, 2, 40)]
LOADS = [1e-12, 0.01, 0.5, 0.9, 1.0, 1.2, 1.3]


@pytest.mark.parametrize("model", ["g1dm", "ebd", "ebi", "eb", "mmkkb"])
@pytest.mark.parametrize("trunk", TRUNKS)
def test_every_model_has_the_digits_of_its_equations(trunk: tuple[int, int, int], model: LossModel) -> None:
    inputs, transmitters, buffer = trunk
    got = tb.models.trunk_loss(inputs=inputs, transmitters=transmitters, buffer=buffer, load=LOADS, model=model).log10_loss
    with localcontext(prec=60):
        exact = [float(by_equation(model, *trunk, Decimal(load)).log10()) for load in LOADS]
    assert got == pytest.approx(exact, rel=1e-13, abs=1e-13)


def by_equation(model: str, inputs: int, transmitters: int, buffer: int, load: Decimal) -> Decimal:
    """The fixed point of (3.13) by bisection, or (3.13) itself where the model assumes no loss."""
    mean_gap = inputs / (load * transmitters) - 1  # (3.14), in packet times
    if model == "mmkkb":
        return last_share(transmitters, buffer, lambda _: load * transmitters)
    inserting = model in ("g1dm", "ebi")

    def predicted(assumed: Decimal) -> Decimal:
        return last_share(transmitters, buffer, arrivals(inputs, transmitters, buffer, mean_gap + assumed, inserting))

    if model in ("eb", "ebi"):
        return predicted(Decimal(0))
    # The prediction from no loss is an upper bound, and the prediction from that is a lower bound.
    high = predicted(Decimal(0))
    low = predicted(high)
    while high - low > high * Decimal("1e-25"):
        middle = (low + high) / 2
        low, high = (middle, high) if predicted(middle) > middle else (low, middle)
    return low


def arrivals(inputs: int, transmitters: int, buffer: int, gap: Decimal, inserting: bool) -> Callable[[int], Decimal]:
    def rate(packets: int) -> Decimal:
        """(3.6) and, times M - K, (3.9)."""
        if packets <= transmitters or not inserting:
            return (inputs - min(packets, transmitters)) / gap
        alpha = 1 - Decimal(packets - transmitters) / max(transmitters, buffer)
        here = min(packets, inputs)
        return (inputs - here) / gap + (here - transmitters) / (gap + alpha)

    return rate


def last_share(transmitters: int, buffer: int, rate: Callable[[int], Decimal]) -> Decimal:
    """(3.12): arrivals in the last state over all."""
    weight, seen = Decimal(1), rate(0)
    for packets in range(1, transmitters + buffer + 1):
        weight *= rate(packets - 1) / min(packets, transmitters)
        seen += weight * rate(packets)
    return weight * rate(transmitters + buffer) / seen


# Numbers of inputs and channels to which EBL was not fitted.
@pytest.mark.parametrize("numbers", [(24, 2, 7, 0.85), (12, 1, 15, 0.9), (48, 8, 3, 0.7), (10, 4, 7, 1.05), (160, 8, 15, 0.9)])
def test_ebl_is_near_simulations_that_it_was_not_fitted_to(numbers: tuple[int, int, int, float]) -> None:
    trunk = dict(zip(("inputs", "transmitters", "buffer", "load"), numbers, strict=True))
    simulated = tb.models.simulate_trunk(**trunk, relative_width=0.04)  # type: ignore[arg-type]
    assert tb.models.trunk_loss(**trunk, model="ebl").loss == pytest.approx(simulated.loss, rel=0.06)


def test_loss_and_its_logarithm_are_one_number() -> None:
    result = tb.models.trunk_loss(inputs=16, transmitters=2, buffer=[0, 10, 10_000], load=0.3)
    assert result.loss[:2] == pytest.approx(10 ** result.log10_loss[:2], rel=1e-13)
    assert result.loss[2] == 0.0
    assert result.log10_loss[2] < -3000


def test_no_more_inputs_than_channels_lose_nothing() -> None:
    result = tb.models.trunk_loss(inputs=4, transmitters=[4, 5], buffer=0, load=0.7)
    assert result.loss.tolist() == [0.0, 0.0]
    assert np.isneginf(result.log10_loss).all()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"load": 8}, r"`load` is 8; expected 0, or 1e-200 up to but not 8 \(inputs / transmitters"),
        ({"load": [0.5, -1]}, r"`load` is -1; .* \(in element \[1\]\)"),
        ({"inputs": 0}, "`inputs` is 0; expected 1 to 1000000 input links"),
        ({"buffer": 0.5}, "`buffer` is 0.5; expected a whole number"),
        ({"model": "gd1m"}, '`model` is "gd1m"; expected one of g1dm, ebd, ebi, eb, mmkkb, ebl'),
    ],
)
def test_invalid_parameters_are_named(wrong: dict[str, object], message: str) -> None:
    right = {"inputs": 16, "transmitters": 2, "buffer": 10, "load": 0.5}
    with pytest.raises(tb.ParameterError, match=message):
        tb.models.trunk_loss(**(right | wrong))  # type: ignore[arg-type]


def test_the_detailed_model_is_solved_in_its_finite_readings() -> None:
    # Two links, one channel, no buffer, all rates 1: 3/2 of 4 arrivals are lost; see the chain's own tests.
    for reading in ("own_length", "fresh", "coupled"):
        exact = tb.models.exact_trunk_loss(inputs=2, transmitters=1, buffer=0, load=[0.0, 1.0], variant=reading)
        assert exact.loss == pytest.approx([0, 3 / 8], rel=1e-9)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"variant": "own_length"}, "`variant` is own_length; expected fresh or coupled with a buffer"),
        ({"variant": "own"}, '`variant` is "own"; expected one of own_length, fresh, coupled'),
        ({"variant": "coupled", "buffer": 30}, "`buffer` is 30; expected at most 20 packets in the coupled variant"),
        ({"buffer": 10**9}, "`trunk` is a chain of [0-9]+ states; expected at most 4000000 states"),
    ],
)
def test_a_chain_that_is_not_finite_is_rejected(wrong: dict[str, object], message: str) -> None:
    right = {"inputs": 16, "transmitters": 2, "buffer": 10, "load": 0.5, "variant": "fresh"}
    with pytest.raises(tb.ParameterError, match=message):
        tb.models.exact_trunk_loss(**(right | wrong))  # type: ignore[arg-type]


def test_a_signal_interrupts_a_long_computation() -> None:
    class AlarmError(Exception):
        pass

    def on_alarm(_signal: int, _frame: object) -> None:
        raise AlarmError

    before = signal.signal(signal.SIGALRM, on_alarm)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        began = time.process_time()
        with pytest.raises(AlarmError):
            # Three million states, some ten seconds.
            tb.models.exact_trunk_loss(inputs=400, transmitters=100, buffer=50, load=0.95, variant="fresh")
        assert time.process_time() - began < 5
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
