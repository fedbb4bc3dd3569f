"""Models of numbers, mapped over arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from tailback.errors import ParameterError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers: TypeAlias = float | Sequence[float] | NDArray[np.generic]
    Result: TypeAlias = Any  # a float for numbers, an array for arrays


def over(model: Callable[..., Any], *parameters: Any) -> Any:
    """The model of numbers, or of each element of arrays; several results become as many arrays."""
    if all(isinstance(value, (int, float)) for value in parameters):
        return one(model, *parameters)
    import numpy as np

    broadcast = np.broadcast_arrays(*parameters)
    if broadcast[0].size == 0:
        raise ParameterError("an empty array; expected at least one number")
    flat = [[item.item() for item in array.ravel()] for array in broadcast]
    results = [one(model, *values) for values in zip(*flat, strict=True)]
    shape = broadcast[0].shape
    if isinstance(results[0], tuple):
        return tuple(_shaped(column, shape) for column in zip(*results, strict=True))
    return _shaped(results, shape)


def one(model: Callable[..., Any], *values: Any) -> Any:
    try:
        return model(*values)
    except (TypeError, OverflowError) as error:
        # PyO3 adds the name of the parameter as a note.
        raise ParameterError(", ".join([str(error), *getattr(error, "__notes__", [])])) from None


def _shaped(values: Sequence[Any], shape: tuple[int, ...]) -> Any:
    import numpy as np

    return cast("NDArray[Any]", np.array(values).reshape(shape))[()]
