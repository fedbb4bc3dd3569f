"""Which points of an experiment its claims and its answer read: the others are only drawn, and need few seeds. Claims that read
points or measures that do not exist are rejected before the runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from tailback.errors import ParameterError, UnknownName
from tailback.papers._measured import Label, Measured, Point, Values

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["check_claim", "read_points"]


class _Recorded(Mapping[str, Values]):
    """Values of a point that remember whether any of them was read."""

    def __init__(self, values: Mapping[str, Values]) -> None:
        self._values = values
        self.is_read = False

    def __getitem__(self, measure: str) -> Values:
        self.is_read = True
        return self._values[measure]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def read_points(
    labels: Iterable[Mapping[str, Label]],
    measures: Iterable[str],
    readers: Iterable[Callable[[Measured], object]],
    settings: Iterable[Mapping[str, Label]],
) -> frozenset[int]:
    """Return the indices of the points whose values any of these functions reads in any of these settings of the open conditions.

    There are no measurements yet, so the functions are called with arbitrary values. If that fails, all points count as read.
    """
    values, points = _arbitrary(labels, measures)
    chosen = list(settings)
    for reader in readers:
        for setting in chosen:
            try:
                reader(_under(points, setting))
            except Exception as error:
                # A claim may select another value of a condition. Other errors are due to the values.
                if type(error) is not LookupError:
                    return frozenset(range(len(points)))
    return frozenset(index for index, each in enumerate(values) if each.is_read)


def check_claim(
    name: str,
    labels: Iterable[Mapping[str, Label]],
    measures: Iterable[str],
    reader: Callable[[Measured], object],
    settings: Iterable[Mapping[str, Label]],
) -> None:
    """Check that a claim finds its points, in any of these settings, and its measures.

    Raises
    ------
    ParameterError
        It does not; the message names the claim.
    """
    _, points = _arbitrary(labels, measures)
    missing: LookupError | None = None
    for setting in settings:
        try:
            reader(_under(points, setting))
            return
        except UnknownName as error:
            raise ParameterError(f"{name}: {error}") from None
        except LookupError as error:
            if type(error) is not LookupError:
                return
            missing = missing or error
        except Exception:
            # Other errors are due to the values.
            return
    if missing:
        raise ParameterError(f"{name}: {missing}") from None


def _arbitrary(labels: Iterable[Mapping[str, Label]], measures: Iterable[str]) -> tuple[list[_Recorded], list[Point]]:
    """Points without measurements, with arbitrary values, and these values."""
    import numpy as np

    random, names = np.random.default_rng(1), list(measures)
    given = list(labels)
    values = [_Recorded({name: random.uniform(0.1, 0.9, 2) for name in names}) for _ in given]
    return values, [Point(*each) for each in zip(given, values, strict=True)]


def _under(points: Iterable[Point], setting: Mapping[str, Label]) -> Measured:
    """The points that have no other value of the labels of a setting."""
    return Measured([each for each in points if all(each.labels.get(name, value) == value for name, value in setting.items())])
