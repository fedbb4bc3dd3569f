"""Models over numbers and arrays, each in one call of the core."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from tailback.errors import ParameterError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers: TypeAlias = float | np.generic | Sequence[float] | NDArray[np.generic]
    Result: TypeAlias = Any  # a float for numbers, an array for arrays

__all__ = ["in_order", "one", "over"]


def over(model: Callable[..., Sequence[bytes]], **parameters: Any) -> Any:
    """The model of numbers, or of each element of arrays; several results become a tuple."""
    if all(isinstance(value, (int, float)) for value in parameters.values()):
        results = [memoryview(column).cast("d")[0] for column in one(model, **parameters)]
    else:
        results = _over_arrays(model, parameters)
    return results[0] if len(results) == 1 else tuple(results)


def in_order(model: Callable[[list[Any]], Sequence[bytes]]) -> Callable[..., Sequence[bytes]]:
    """A model of the core that takes its columns as one list, for `over`: name them in its order."""
    return lambda **columns: model(list(columns.values()))


def one(model: Callable[..., Any], *values: Any, **parameters: Any) -> Any:
    try:
        return model(*values, **parameters)
    except (TypeError, OverflowError) as error:
        # PyO3 adds the name of the parameter as a note.
        raise ParameterError(", ".join([str(error), *getattr(error, "__notes__", [])])) from None


def _over_arrays(model: Callable[..., Sequence[bytes]], parameters: dict[str, Any]) -> list[Any]:
    import numpy as np

    arrays = {name: _floats(name, value) for name, value in parameters.items()}
    try:
        shape = np.broadcast_shapes(*(array.shape for array in arrays.values()))
    except ValueError:
        shapes = ", ".join(f"`{name}` has shape {array.shape}" for name, array in arrays.items() if array.shape)
        raise ParameterError(f"{shapes}; expected shapes that broadcast against each other") from None
    if 0 in shape:
        raise ParameterError("an empty array; expected at least one number")
    columns = {name: np.ascontiguousarray(np.broadcast_to(array, shape)) for name, array in arrays.items()}
    return [np.frombuffer(column).reshape(shape).copy()[()] for column in model(**columns)]


def _floats(name: str, value: Any) -> NDArray[np.float64]:
    import numpy as np

    try:
        return np.asarray(value).astype(np.float64, casting="same_kind", copy=False)
    except (TypeError, ValueError):
        raise ParameterError(f"`{name}` is {value!r}; expected a number or an array of numbers") from None
