"""Evaluate models for numbers and arrays, with one call of the core."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from tailback import _core
from tailback.errors import ParameterError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers: TypeAlias = float | np.generic | Sequence[float] | NDArray[np.generic]
    Result: TypeAlias = Any  # a float for numbers, an array for arrays

__all__ = ["answers", "number", "one"]


def number(model: str, /, *words: str, **parameters: Any) -> Any:
    """Evaluate a model with a single result, for numbers or element by element for arrays."""
    [answer] = answers(model, *words, **parameters)
    return answer


def answers(model: str, /, *words: str, **parameters: Any) -> list[Any]:
    """Evaluate a model. Words and parameters are in the order of the core's definition; None omits a parameter."""
    given = [value for value in parameters.values() if value is not None]
    if all(isinstance(value, (int, float)) for value in given):
        columns = one(_core.evaluate, model, words, [_float(name, value) for name, value in parameters.items()])
        return [None if column is None else memoryview(column[1]).cast(column[0])[0] for column in columns]
    return _of_arrays(model, words, parameters)


def one(model: Callable[..., Any], *values: Any, **parameters: Any) -> Any:
    try:
        return model(*values, **parameters)
    except (TypeError, OverflowError) as error:
        # PyO3 adds the name of the parameter as a note.
        raise ParameterError(", ".join([str(error), *getattr(error, "__notes__", [])])) from None


def _of_arrays(model: str, words: tuple[str, ...], parameters: dict[str, Any]) -> list[Any]:
    import numpy as np

    arrays = {name: _floats(name, value) for name, value in parameters.items() if value is not None}
    try:
        shape = np.broadcast_shapes(*(array.shape for array in arrays.values()))
    except ValueError:
        shapes = ", ".join(f"`{name}` has shape {array.shape}" for name, array in arrays.items() if array.shape)
        raise ParameterError(f"{shapes}; expected shapes that broadcast against each other") from None
    if 0 in shape:
        raise ParameterError("an empty array; expected at least one number")
    same = {name: np.ascontiguousarray(np.broadcast_to(array, shape)) for name, array in arrays.items()}
    columns = one(_core.evaluate, model, words, [same.get(name) for name in parameters])
    return [None if column is None else np.frombuffer(column[1], column[0]).reshape(shape).copy()[()] for column in columns]


def _float(name: str, value: float | None) -> float | None:
    try:
        return None if value is None else float(value)
    except OverflowError:
        raise ParameterError(f"`{name}` exceeds the range of floating-point numbers; expected a smaller number") from None


def _floats(name: str, value: Any) -> NDArray[np.float64]:
    import numpy as np

    try:
        return np.asarray(value).astype(np.float64, casting="same_kind", copy=False)
    except (TypeError, ValueError):
        raise ParameterError(f"`{name}` is {value!r}; expected a number or an array of numbers") from None
