"""Outcome of an experiment: its points and judged claims, also as plain data."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import product
from typing import Any

from tailback._arguments import arguments_checked
from tailback._interval import Interval
from tailback.papers._experiment import Claim, Condition, Experiment
from tailback.papers._measured import BoundedValues, Label, Measured
from tailback.papers._requirement import LEVEL, Finding, Requirement, Value, decided_by

__all__ = ["Judged", "Outcome", "Verdict"]


@dataclass(frozen=True)
class Judged:
    """A claim judged in one setting.

    Attributes
    ----------
    setting : str
        Values of the open conditions, such as ``senders: paced``; empty without any.
    labels : mapping
        The same by the label of the condition; also the ``reading`` of a claim with a contrast.
    interval : Interval
        The 99.9 % confidence interval that decides the claim.
    finding : str
        ``holds``, ``contradicted``, or ``cannot tell`` (too few seeds, or too near the bound).
    decided_by : int or None
        Number of seeds that would be enough for this mean and deviation; None if more than a thousand.
    """

    setting: str
    labels: Mapping[str, Label]
    interval: Interval
    finding: Finding
    decided_by: int | None

    def to_dict(self) -> dict[str, Any]:
        """Setting, measured value, its 99.9 % interval, and the finding there."""
        return {"setting": self.setting, **_ends(self.interval), "finding": self.finding}


@arguments_checked
@dataclass(frozen=True)
class Verdict:
    """A judged claim.

    Attributes
    ----------
    settings : tuple of Judged
        The claim in every setting tried; the first has the default values of the open conditions.
    finding : str
        ``holds`` or ``contradicted`` in all settings, ``depends`` (holds in some of them and is contradicted in others), or
        ``cannot tell``. A statement of a document is not contradicted by runs in which none of its open conditions was varied, or
        whose values are on both sides of its value: the finding is ``cannot tell``.
    seeds : int
        Number of seeds used.
    """

    claim: Claim
    settings: tuple[Judged, ...]
    finding: Finding
    seeds: int
    is_open: bool

    @classmethod
    def of(cls, claim: Claim, settings: tuple[Judged, ...], seeds: int, *, is_open: bool) -> Verdict:
        """The common finding of all settings. `is_open`: the document leaves conditions of the runs open."""
        finding = _common([judged.finding for judged in settings])
        open_ = is_open and not claim.closed and not claim.ours
        if finding == "contradicted" and open_ and (len(settings) == 1 or _brackets(claim.must, settings)):
            finding = "cannot tell"
        return cls(claim, settings, finding, seeds, open_)

    @property
    def interval(self) -> Interval:
        """The 99.9 % confidence interval in the first setting."""
        return self.settings[0].interval

    @property
    def decided_by(self) -> int | None:
        """Number of seeds that would decide the claim in the first setting."""
        return self.settings[0].decided_by

    @property
    def holds(self) -> bool:
        """Whether the finding is ``holds``."""
        return self.finding == "holds"

    @property
    def may_hold(self) -> bool:
        """Whether no setting contradicts it."""
        return all(judged.finding != "contradicted" for judged in self.settings)

    @property
    def whose(self) -> str:
        """Whose the verdict is.

        ``document``: it is the same under all values of the open conditions tried, or no condition is open. ``ours``: it was
        found under the one choice that we made. ``undecided``: otherwise.
        """
        found = {judged.finding for judged in self.settings}
        if len(found) > 1 or "cannot tell" in found:
            return "undecided"
        return "ours" if self.is_open and len(self.settings) == 1 else "document"

    def decided_by_condition(self, label: str) -> bool:
        """Whether it holds in one of two settings that differ only in this condition, and is contradicted in the other."""
        found: dict[frozenset[tuple[str, Label]], set[Finding]] = {}
        for judged in self.settings:
            others = frozenset((name, value) for name, value in judged.labels.items() if name != label)
            found.setdefault(others, set()).add(judged.finding)
        differs = any({"holds", "contradicted"} <= findings for findings in found.values())
        return differs and all(label in judged.labels for judged in self.settings)

    @property
    def text(self) -> str:
        """The text of the claim, with its setting."""
        return f"{self.claim.text} ({self.claim.setting})" if self.claim.setting else self.claim.text

    def to_dict(self) -> dict[str, Any]:
        """Return the dictionary that `tailback reproduce --json` prints."""
        return {
            "id": self.claim.id,
            "kind": self.claim.kind,
            "text": self.text,
            "ours": self.claim.ours,
            "published": self.claim.published,
            **_ends(self.interval),
            "finding": self.finding,
            "whose": self.whose,
            "seeds": self.seeds,
            "decided_by": self.decided_by,
            "settings": [judged.to_dict() for judged in self.settings],
        }


@dataclass(kw_only=True)
class Outcome(Measured):
    """Points and judged claims of one experiment. `seeds` is the number of runs per point."""

    experiment: Experiment
    seeds: int

    @cached_property
    def claims(self) -> list[Verdict]:
        """All claims of the experiment, judged."""
        return [self._judged(claim) for claim in self.experiment.claims]

    @cached_property
    def answer(self) -> str:
        """The answer in words; empty if the experiment defines none."""
        return self.experiment.answer(self) if self.experiment.answer else ""

    @property
    def failed(self) -> list[Verdict]:
        """The ``reproduced`` claims that failed (`Reproduction.failed`)."""
        reproduced = [verdict for verdict in self.claims if verdict.claim.kind == "reproduced" and not verdict.holds]
        return [verdict for verdict in reproduced if self.experiment.form == "full" or not verdict.may_hold]

    def to_dict(self) -> dict[str, Any]:
        """Return the dictionary that `tailback reproduce --json` prints."""
        points = []
        for point in self.points:
            measured = {
                name: {**_ends(self.interval_of(point, name), "mean"), "seeds": len(values)}
                for name, values in point.values.items()
            }
            points.append({**point.labels, **measured})
        said: dict[str, Any] = {"answer": self.answer} if self.answer else {}
        if self.experiment.conditions:
            said["conditions"] = [asdict(condition) for condition in self.experiment.conditions]
        return {
            "id": self.experiment.id,
            "form": self.experiment.form,
            **said,
            "points": points,
            "claims": [verdict.to_dict() for verdict in self.claims],
        }

    def _judged(self, claim: Claim) -> Verdict:
        settings = tuple(self._settings(claim))
        return Verdict.of(claim, tuple(judged for _, judged in settings), settings[0][0], is_open=self.experiment.is_open)

    def _settings(self, claim: Claim) -> Iterator[tuple[int, Judged]]:
        """The claim in each setting, with the number of seeds."""
        readings = [(claim.setting, claim.statement.measured)]
        if claim.contrast:
            readings.append((claim.contrast.setting, claim.contrast.measured))
        conditions = [condition for condition in self.experiment.conditions if self._matters(condition, claim)]
        for reading, measured in readings:
            found = False
            for choice in product(*(condition.values for condition in conditions)):
                labels = {condition.label: value for condition, value in zip(conditions, choice, strict=True)}
                with suppress(LookupError):
                    # The claim may select another value of a condition.
                    parts = [reading, *(f"{name}: {label}" for name, label in labels.items())]
                    known = labels | ({"reading": reading} if claim.contrast else {})
                    judged = self._in(", ".join(filter(None, parts)), known, measured, self._under(labels), claim.must)
                    found = True
                    yield judged
            if not found:
                # The claim compares values of a condition with each other. Without points, this raises its error.
                yield self._in(reading, {}, measured, self, claim.must)

    def _matters(self, condition: Condition, claim: Claim) -> bool:
        """Whether the claim reads points that have a value of the condition."""
        default = self._under({each.label: each.values[0] for each in self.experiment.conditions})
        without = Measured([point for point in default.points if condition.label not in point.labels], self.traces, self.ranges)
        try:
            alone, together = (claim.statement.measured(each).tolist() for each in (without, default))
        except LookupError:
            return True
        return bool(alone != together)

    def _under(self, labels: Mapping[str, Label]) -> Measured:
        """The points that have no other value of these labels."""
        fits = [point for point in self.points if all(point.labels.get(name, label) == label for name, label in labels.items())]
        return Measured(fits, self.traces, self.ranges)

    def _in(
        self, setting: str, labels: Mapping[str, Label], measured: BoundedValues, points: Measured, must: Requirement
    ) -> tuple[int, Judged]:
        values, within = measured(points), measured.range(points)
        interval = self.interval(values, LEVEL, within)
        return len(values), Judged(setting, labels, interval, must.judge(interval), decided_by(values.tolist(), must, within))


def _brackets(must: Requirement, settings: tuple[Judged, ...]) -> bool:
    """Whether a value is above the measured one in some settings and below it in others: one between them may give it."""
    return isinstance(must, Value) and len({judged.interval.mean > must.value for judged in settings}) > 1


def _common(findings: list[Finding]) -> Finding:
    """The finding in all settings."""
    if len(set(findings)) == 1:
        return findings[0]
    return "depends" if {"holds", "contradicted"} <= set(findings) else "cannot tell"


def _ends(interval: Interval, name: str = "measured") -> dict[str, float | None]:
    ends = {name: interval.mean, "low": interval.low, "high": interval.high}
    return {end: value if math.isfinite(value) else None for end, value in ends.items()}
