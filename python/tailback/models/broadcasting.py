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

__all__ = ["one", "over", "through"]


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


def through(model: Callable[[list[Any]], tuple[Any, ...]], *parameters: Any) -> tuple[Any, ...]:
    """The results of a model that takes whole arrays: floats for numbers, arrays for arrays. No loop in Python."""
    if all(isinstance(value, (int, float)) for value in parameters):
        return cast("tuple[float, ...]", one(model, [_float(value) for value in parameters]))
    import numpy as np

    columns = [value if isinstance(value, (int, float)) else _array(value) for value in parameters]
    try:
        shape = np.broadcast_shapes(*(np.shape(column) for column in columns))
    except ValueError:
        shapes = ", ".join(str(np.shape(column)) for column in columns if np.ndim(column))
        raise ParameterError(f"arrays of shapes {shapes}; expected shapes that broadcast against each other") from None
    if 0 in shape:
        raise ParameterError("an empty array; expected at least one number")
    flat = [
        _float(column) if isinstance(column, (int, float)) else np.ascontiguousarray(np.broadcast_to(column, shape)).ravel()
        for column in columns
    ]
    return tuple(np.frombuffer(result).reshape(shape) for result in one(model, flat))


def one(model: Callable[..., Any], *values: Any) -> Any:
    try:
        return model(*values)
    except (TypeError, OverflowError) as error:
        # PyO3 adds the name of the parameter as a note.
        raise ParameterError(", ".join([str(error), *getattr(error, "__notes__", [])])) from None


def _float(number: float) -> float:
    try:
        return float(number)
    except OverflowError:
        raise ParameterError("a whole number of hundreds of digits; expected one below 1e308") from None


def _array(values: Any) -> NDArray[np.float64]:
    import numpy as np

    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        written = repr(values)
        shown = written if len(written) <= 60 else f"{written[:57]}..."
        raise ParameterError(f"{shown}; expected a number or an array of numbers") from None


def _shaped(values: Sequence[Any], shape: tuple[int, ...]) -> Any:
    import numpy as np

    return cast("NDArray[Any]", np.array(values).reshape(shape))[()]
