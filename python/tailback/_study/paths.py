"""Which fields a scenario has, or could have: what `vary` may name, and the nearest where it names none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from typing import Any

from tailback._core import nearest_word
from tailback._scenario import Scenario, _steps, schema

__all__ = ["Paths"]

Step = str | int


@dataclass(frozen=True)
class Place:
    """A place in a description: the schemas that may hold there, and what stands there, if anything does."""

    schemas: tuple[Mapping[str, Any], ...]
    value: Any


@cache
def _schema() -> Mapping[str, Any]:
    """Written by the core once, for all studies of a process."""
    return schema()


class Paths:
    """The fields of one scenario. Fields come from the schema, names of links, nodes and flows from the scenario itself."""

    def __init__(self, scenario: Scenario) -> None:
        self._schema = _schema()
        self._root = Place((self._schema,), scenario.to_dict())
        self._known: list[str] | None = None

    def fault(self, path: str) -> tuple[str, str, str | None] | None:
        """Message, what would fit and the nearest path, if this path leads nowhere."""
        steps = _steps(path)
        place: Place | None = self._root
        for index, step in enumerate(steps):
            assert place is not None
            names = self._names(place)
            place = self._enter(place, step)
            if place is None:
                written = f"[{step}]" if isinstance(step, int) else f"`{step}`"
                expected = f"one of {', '.join(f'`{name}`' for name in names[:20])}" if names else "a field of the scenario"
                return f"the scenario has no {written} here", expected, self._nearest(steps, index, names)
        return None

    def is_field(self, name: str) -> bool:
        """Whether a scenario has a field of that name at its top."""
        return name in self._names(self._root)

    def known(self) -> list[str]:
        """All fields, with the names that the scenario gives to links, nodes and flows."""
        if self._known is None:
            self._known = [_written(steps) for steps in self._walk(self._root, ())]
        return self._known

    def _nearest(self, steps: list[Step], index: int, names: list[str]) -> str | None:
        """The path with the wrong step mended, or else the field that ends alike."""
        near = nearest_word(str(steps[index]), names)
        if near is not None:
            mended = [*steps[:index], near, *steps[index + 1 :]]
            if self.fault(_written(mended)) is None:
                return _written(mended)
        given = _written(steps)
        best = max(self.known(), key=lambda path: self._likeness(path, given), default=None)
        return best if best is not None and self._likeness(best, given) >= (0, 0, 0.6) else None

    def _likeness(self, path: str, given: str) -> tuple[int, int, float]:
        """Last steps that agree, at least a field and its table; how far the scenario has the path; how alike the whole is."""
        agreeing = 0
        for ours, theirs in zip(reversed(_steps(path)), reversed(_steps(given)), strict=False):
            if ours != theirs:
                break
            agreeing += 1
        there, place = 0, self._root.value
        for step in _steps(path):
            if not isinstance(place, Mapping) or step not in place:
                break
            there, place = there + 1, place[str(step)]
        close = agreeing >= 2
        return agreeing if close else 0, there if close else 0, SequenceMatcher(None, path, given).ratio()

    def _walk(self, place: Place, steps: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
        if steps:
            yield steps
        inner: list[Step] = list(range(len(place.value))) if isinstance(place.value, list) else list(self._names(place))
        for step in inner:
            entered = self._enter(place, step)
            # Deep enough for every field; a schema that refers to itself has no end.
            if entered is not None and len(steps) < 8:
                yield from self._walk(entered, (*steps, step))

    def _names(self, place: Place) -> list[str]:
        """What may follow in a table: its fields, or the names that it has."""
        names: dict[str, None] = {}
        for form in self._alternatives(place):
            names |= dict.fromkeys(form.get("properties", ()))
            is_open = "patternProperties" in form or isinstance(form.get("additionalProperties"), Mapping)
            if is_open and isinstance(place.value, Mapping):
                names |= dict.fromkeys(place.value)
        return list(names)

    def _enter(self, place: Place, step: Step) -> Place | None:
        """One step on; ``*`` goes to any of the names that there are."""
        inner: list[Mapping[str, Any]] = []
        values: list[Any] = []
        for form in self._alternatives(place):
            if isinstance(step, int) or step == "*":
                inner += [form["items"]] if "items" in form and isinstance(place.value, list) else []
            if step in form.get("properties", ()):
                inner.append(form["properties"][step])
            elif isinstance(place.value, Mapping) and (step in place.value or (step == "*" and place.value)):
                inner += form.get("patternProperties", {}).values()
            # Where any name may stand, as among the parameters of user code, one need not be there yet.
            anything = form.get("additionalProperties")
            if isinstance(anything, Mapping) and isinstance(step, str) and (step != "*" or place.value):
                inner.append(anything)
        if isinstance(place.value, Mapping):
            values = list(place.value.values()) if step == "*" else [place.value[str(step)]] if step in place.value else []
        elif isinstance(place.value, list):
            values = place.value if step == "*" else place.value[step : step + 1] if isinstance(step, int) else []
            inner = inner if values else []
        return Place(tuple(inner), values[0] if values else None) if inner else None

    def _alternatives(self, place: Place) -> Iterator[Mapping[str, Any]]:
        """Every schema that may hold, references followed."""
        waiting: list[Any] = list(place.schemas)
        while waiting:
            schema = waiting.pop()
            if not isinstance(schema, Mapping):
                # `true`: anything may stand there.
                continue
            if "$ref" in schema:
                waiting.append(self._schema["$defs"][schema["$ref"].rsplit("/", 1)[1]])
            for several in ("anyOf", "oneOf", "allOf"):
                waiting += schema.get(several, ())
            yield schema


def _written(steps: list[Step] | tuple[Step, ...]) -> str:
    """``["timeline", 0, "at"]`` as ``timeline[0].at``."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return text.removeprefix(".")
