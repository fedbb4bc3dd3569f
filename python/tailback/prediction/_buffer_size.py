"""`tailback.size_buffer`: the answers of all buffer sizing rules, why they differ, and which of them applies."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tailback import _core, models
from tailback._arguments import arguments_checked
from tailback._html import HtmlList, HtmlTable, notebook
from tailback._scenario import Scenario
from tailback._tables.text import aligned, quantity
from tailback.errors import ParameterError, UnknownName
from tailback.models import Rule
from tailback.prediction._sizing_case import SizingCase, ask

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tailback._study.runner import Progress
    from tailback.prediction._simulated_buffer import SimulatedBuffer

__all__ = ["SizingResult", "SizingResults", "size_buffer"]


@dataclass(frozen=True)
class SizingResult:
    """The answer of one sizing rule.

    Attributes
    ----------
    rule : Rule
        Description of the rule, with equation, source and assumptions.
    buffer, max_buffer : int or None
        Buffer size in packets, and the upper end if it is a range; None if the rule has no answer.
    bytes, delay_s : float or None
        The buffer size in bytes, and the time in which the bottleneck transmits it.
    applies : bool
        Whether the rule applies: nothing known contradicts its assumptions.
    why : str
        The violated assumption, or why there is no answer; if the rule applies, the conditions that must be ensured.
    """

    rule: Rule
    buffer: int | None
    max_buffer: int | None
    bytes: float | None
    delay_s: float | None
    applies: bool
    why: str


@dataclass(frozen=True)
class SizingResults(Sequence[SizingResult]):
    """The answers of all sizing rules, in the order of `models.SIZING_RULES`.

    Attributes
    ----------
    question : SizingCase
        The question in numbers.
    asked : str
        The question in one line.
    answers : tuple of SizingResult
    recommended : SizingResult or None
        The answer that applies to this case; None if no buffer reaches the target, or if no rule covers the case.
    advice : str
        The simulated answer, if there is one, or the reason for the recommendation in one or two sentences.
    simulated : SimulatedBuffer or None
        The answer by simulation, by default where no rule covers the case.
    is_uncovered : bool
        Whether a simulation has a better answer than the rule, or alone may have one: for controllers whose windows do not halve,
        fewer than 100 flows, and targets close to 100 %.

    Examples
    --------
    >>> import tailback as tb
    >>> trunk = dict(rate="40 Gbps", transmitters=16, inputs=32, base_rtt="100 ms", flows=64000, packet_size="1040 B")
    >>> answers = tb.size_buffer(**trunk, paced=True, target="80 %")
    >>> answers.recommended.rule.name, answers.recommended.buffer
    ('cui_trunk', 16)
    """

    question: SizingCase
    asked: str
    answers: tuple[SizingResult, ...]
    recommended: SizingResult | None
    advice: str
    simulated: SimulatedBuffer | None = None
    is_uncovered: bool = False

    def __getitem__(self, key: Any) -> Any:
        """An answer by name of its rule, or by index."""
        if isinstance(key, str):
            by_name = {answer.rule.name: answer for answer in self.answers}
            if key not in by_name:
                raise UnknownName("sizing rule", key, by_name)
            return by_name[key]
        return self.answers[key]

    def __len__(self) -> int:
        return len(self.answers)

    def to_dict(self) -> dict[str, Any]:
        """All answers, in types that JSON supports."""
        lists = {name: list(getattr(self.question, name)) for name in ("other_controllers", "warnings")}
        return {
            "question": {**vars(self.question), "base_rtt": vars(self.question.base_rtt), **lists},
            "answers": [
                {**vars(answer.rule), "assumes": list(answer.rule.assumes), **vars(answer), "rule": answer.rule.name}
                for answer in self.answers
            ],
            "recommended": None if self.recommended is None else self.recommended.rule.name,
            "advice": self.advice,
            "simulated": None if self.simulated is None else self.simulated.to_dict(),
        }

    def __str__(self) -> str:
        rows = [["rule", "buffer", "bytes", "delay", ""]]
        rows += [[answer.rule.name, *_cells(answer)] for answer in self.answers]
        table = aligned(rows)
        why = "\n".join(f"  {answer.rule.name} {answer.rule.idea}\n    {answer.why}" for answer in self.answers)
        warnings = "".join(f"\n  but {warning}" for warning in self.question.warnings)
        return f"{self.asked}\n\n{table}\n\nwhy they differ\n{why}\n\n{self.advice}{warnings}"

    def _repr_html_(self) -> str:
        rows = [(answer.rule.name, *_cells(answer), answer.why) for answer in self.answers]
        table = HtmlTable("", ("rule", "buffer, packets", "bytes", "delay", "", "why"), rows)
        lists = (HtmlList("advice", [self.advice]), HtmlList("but", self.question.warnings))
        return notebook(self.asked, tables=[table], lists=lists)

    def plot(self, *, width: float | None = None) -> Figure:
        """Plot utilisation over buffer size for every rule that relates them, with the target and the other rules' buffers.

        `width` is that of the figure in inches, by default 8.
        """
        from tailback.prediction._buffer_plot import plot

        # The rules of other controllers are not alternatives to those for windows that halve.
        controllers = self.question.other_controllers
        others = {rule for rule in ("cubic", "bbr") if not any(name.startswith(rule) for name in controllers)}
        known = {
            answer.rule.name: answer.buffer
            for answer in self.answers
            if answer.buffer is not None and answer.rule.name not in others
        }
        return plot(self.question, known, width)


# Arguments of `size_buffer` that are not values of the question.
_OPTIONS = ("scenario", "link", "simulate", "out", "workers", "progress")


@arguments_checked
def size_buffer(
    scenario: Scenario | Mapping[str, Any] | None = None,
    *,
    target: str | float,
    rate: str | None = None,
    base_rtt: str | list[str] | Mapping[str, Any] | None = None,
    flows: int | None = None,
    transmitters: int | None = None,
    inputs: int | None = None,
    packet_size: str | None = None,
    access_rate: str | None = None,
    paced: bool | None = None,
    window: int | None = None,
    preset: str | Sequence[str] | None = None,
    link: str | None = None,
    simulate: bool | None = None,
    out: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> SizingResults:
    """Compute the buffer size that a bottleneck needs for a target utilisation, by every sizing rule.

    The result contains the answer of every rule, and recommends the one whose assumptions hold. Where no rule covers the
    case, the smallest buffer is found by simulation.

    Parameters
    ----------
    scenario : Scenario or mapping, optional
        A scenario that supplies the values not given below; `rate`, `base_rtt` and `flows` are optional then.
    target : str or float
        Target utilisation of the link: ``"80 %"`` or ``0.8``; above 0, at most 1.
    rate : str
        Rate of each transmitter: ``"40 Gbps"``.
    base_rtt : str, list or mapping
        RTT without queueing delay but with serialisation: ``"100 ms"``, one per flow, or a distribution, for example
        ``{"uniform": ["60 ms", "180 ms"]}``.
    flows : int
        Number of long-lived flows, 1 to 10^9.
    transmitters : int, optional
        Number of transmitters that share the buffer: 1 for a link, K for a trunk of K wavelengths.
    inputs : int, optional
        Number of input links, each as fast as one transmitter; by default unlimited.
    packet_size : str, optional
        Packet size on the wire; by default ``"1500 B"``.
    access_rate : str, optional
        Rate of each sender's access link.
    paced : bool, optional
        Whether senders pace their packets.
    window : int, optional
        Maximum window of a flow in packets.
    preset : str or list of str, optional
        TCP presets of the flows, in equal shares; by default flows whose windows halve, as those of Reno.
    link : str, optional
        Link of the scenario whose buffer is sized, by default the one with the smallest capacity per TCP flow.
    simulate : bool, optional
        Whether to find the smallest buffer by simulation, as `tailback.threshold` does. By default if no rule covers the case
        and the estimated number of packets is at most 50 million, some 20 s of work.
    out, workers, progress
        Of the simulation, as in `tailback.threshold`.

    Raises
    ------
    ScenarioError
        An argument or the scenario is not valid; lists every problem with its place.
    ParameterError
        The scenario has no such bottleneck, or the case cannot be simulated.
    StudyError, StudyInterrupted
        As in `tailback.threshold`.
    """
    given = {name: value for name, value in locals().items() if name not in _OPTIONS and value is not None}
    if isinstance(preset, str):
        given["preset"] = [preset]
    described = scenario if scenario is None or isinstance(scenario, Scenario) else Scenario(scenario)
    question = ask(given, described, link)
    return with_simulation(answer(question), given, described, simulate=simulate, out=out, workers=workers, progress=progress)


def with_simulation(
    found: SizingResults, given: Mapping[str, Any], scenario: Scenario | None, *, simulate: bool | None, **options: Any
) -> SizingResults:
    """The answers with the simulated one, if it is requested, or if no rule covers the case and it takes little work."""
    if simulate is None and not found.is_uncovered:
        return found
    if simulate is False:
        return found
    from tailback.prediction import _simulated_buffer as simulation

    is_ruled = found.recommended is not None
    try:
        chosen = simulation.case(found.question, given, scenario)
    except ParameterError as error:
        if simulate:
            raise
        if is_ruled:
            return found
        return replace(found, advice=f"{found.advice}  No simulation: {error}.")
    if simulate is None and is_ruled and chosen.packets > simulation.MOST_PACKETS:
        return found
    if simulate is None and chosen.packets > simulation.MOST_PACKETS:
        work = f"about {chosen.packets / 1e6:,.0f} million packets, more than {simulation.MOST_PACKETS / 1e6:.0f}"
        return replace(found, advice=f"{found.advice}  It takes {work}: request it with `simulate` (`--simulate`).")
    answer = simulation.simulated(found.question, chosen, is_limited=simulate is None, **options)
    return replace(found, advice=answer.sentence, simulated=answer)


def answer(question: SizingCase) -> SizingResults:
    """Compute the answers of all rules to a question in numbers."""
    asked, judged, recommended, is_uncovered, advice = _core.buffer_answers(question)
    answers = tuple(_answer(question, *each) for each in judged)
    by_name = {one.rule.name: one for one in answers}
    return SizingResults(question, asked, answers, by_name.get(recommended or ""), advice, is_uncovered=is_uncovered)


def _answer(question: SizingCase, name: str, buffer: int | None, max_buffer: int | None, applies: bool, why: str) -> SizingResult:
    on_wire = None if buffer is None else buffer * question.packet_bytes
    delay_s = None if on_wire is None else 8 * on_wire / question.capacity_bps
    return SizingResult(models.SIZING_RULES[name], buffer, max_buffer, on_wire, delay_s, applies, why)


def _cells(answer: SizingResult) -> list[str]:
    if answer.buffer is None or answer.bytes is None or answer.delay_s is None:
        return ["-", "-", "-", "no answer"]
    buffer = f"{answer.buffer:,}" if answer.max_buffer is None else f"{answer.buffer} to {answer.max_buffer}"
    return [buffer, _bytes(answer.bytes), quantity("delay_s", answer.delay_s), "applies" if answer.applies else "does not apply"]


def _bytes(size: float) -> str:
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= unit:
            return f"{size / unit:.4g} {name}"
    return f"{size:.4g} B"
