"""Reduced computations: tests run pages and gallery scripts whose simulations are long with shorter ones, and compare a digest.

`tests/reduced.json` lists them with the share of each simulation's duration and the number of seeds that remain, and the digest
of their code and of its reduced results. A reduced run reports code that fails and results that changed; its numbers are not
those that the page shows. `make docs` computes these, tests the assertions about them and renews the digests.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import tailback as tb
from tailback import _validation

ROOT = Path(__file__).resolve().parents[1]
LIST = ROOT / "tests/reduced.json"

# The cases of a reduced validation: a small buffer.
_VALIDATED = "*, 0.25 BDP"

# Number of draws that a reduced comparison of drawn scenarios has at most.
_DRAWS = 5


@dataclass(frozen=True)
class Reduction:
    """The reduced form of a page or script.

    Attributes
    ----------
    duration : float
        Share of every simulation's duration, and of its warm-up.
    seeds : int
        Maximum number of seeds of one call.
    digest : str
        Of code and reduced results.
    """

    duration: float = 1.0
    seeds: int = 2
    digest: str = ""

    @contextlib.contextmanager
    def applied(self) -> Iterator[None]:
        """Replace `tailback.simulate`, `tailback.sweep` and `tailback.validate` by their reduced forms."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(warnings.catch_warnings())
            # In a shorter run some flows do not start.
            warnings.simplefilter("ignore", tb.ScenarioWarning)
            for name in ("simulate", "sweep"):
                stack.enter_context(mock.patch.object(tb, name, self._reduced(getattr(tb, name))))
            # The cases of a validation are not shortened, because the kernel's runs are of their duration.
            stack.enter_context(mock.patch.object(tb, "validate", partial(tb.validate, cases=_VALIDATED)))
            drawn = _validation.validate_drawn
            stack.enter_context(
                mock.patch.object(_validation, "validate_drawn", lambda number, *of, **to: drawn(min(number, _DRAWS), *of, **to))
            )
            yield

    def _reduced(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def reduced(scenario: Any, *arguments: Any, seeds: int | Iterable[int] | None = None, **options: Any) -> Any:
            if isinstance(seeds, int):
                options["seeds"] = min(seeds, self.seeds)
            elif seeds is not None:
                options["seeds"] = list(itertools.islice(seeds, self.seeds))
            return function(self.shortened(scenario), *arguments, **options)

        return reduced

    def shortened(self, scenario: Any) -> tb.Scenario:
        """The scenario with its share of the duration and of the warm-up."""
        whole = scenario if isinstance(scenario, tb.Scenario) else tb.Scenario(scenario)
        times = {name: text for name, text in whole.to_dict().items() if name in ("duration", "warmup")}
        return whole.with_({name: self._share(text) for name, text in times.items()})

    def _share(self, duration: str) -> str:
        number, unit = duration.split()
        return f"{float(number) * self.duration:.6g} {unit}"


def reductions() -> dict[str, Reduction]:
    """All of the list, by path."""
    return {path: Reduction(**values) for path, values in json.loads(LIST.read_text(encoding="utf-8")).items()}


def of(path: Path) -> Reduction | None:
    """The reduction of a page or script, if the list has one."""
    return reductions().get(path.relative_to(ROOT).as_posix()) if path.is_relative_to(ROOT) else None


def renew(digests: dict[Path, str]) -> None:
    """Write digests into the list."""
    listed = reductions()
    for path, digest in digests.items():
        name = path.relative_to(ROOT).as_posix()
        listed[name] = replace(listed[name], digest=digest)
    lines = [f"  {json.dumps(path)}: {json.dumps(asdict(reduction))}" for path, reduction in sorted(listed.items())]
    LIST.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def digest(parts: Iterable[str]) -> str:
    """Of code and results."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
