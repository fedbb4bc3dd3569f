"""`tailback.size_buffer`: every rule's answer side by side, why they differ, and which of them is meant for the case."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tailback import models
from tailback._format import aligned, quantity
from tailback._html import Lines, Shown, notebook
from tailback._scenario import Scenario
from tailback.errors import ParameterError, UnknownName
from tailback.models import BufferSize, Rule
from tailback.models._trunk_map import COUNTLESS
from tailback.prediction._limits import FEW_FLOWS, LOSE_TOGETHER, NEARLY_FULL, SMALL_WINDOW, TRIED_UTILISATION, TRIED_WINDOWS
from tailback.prediction._question import Question, ask, windows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Answer", "BufferAnswers", "size_buffer"]

# Inputs that stand for a number so large that it does not matter.
_COUNTLESS = 10**9


@dataclass(frozen=True)
class Answer:
    """One rule's.

    Attributes
    ----------
    rule : Rule
        Its idea, equation, source and assumptions.
    buffer, most : int or None
        Packets, and the other end of a range; None where the rule has no answer.
    bytes, delay_s : float or None
        The same in bytes, and as the time that the bottleneck takes to send them.
    meant : bool
        Whether nothing known contradicts the rule's assumptions.
    why : str
        What does, or why there is no answer; where it is meant, what must be ensured.
    """

    rule: Rule
    buffer: int | None
    most: int | None
    bytes: float | None
    delay_s: float | None
    meant: bool
    why: str


@dataclass(frozen=True)
class BufferAnswers(Sequence[Answer]):
    """All answers, in the order of `models.SIZING_RULES`.

    Attributes
    ----------
    question : Question
        What was asked, in numbers.
    answers : tuple of Answer
    recommended : Answer or None
        The one that is meant for this case; None where no buffer reaches the target.
    advice : str
        Why, in a sentence or two.

    Examples
    --------
    >>> import tailback as tb
    >>> trunk = dict(rate="40 Gbps", transmitters=16, inputs=32, base_rtt="100 ms", flows=64000, packet="1040 B")
    >>> answers = tb.size_buffer(**trunk, target="80 %")
    >>> answers.recommended.rule.name, answers.recommended.buffer
    ('cui_trunk', 16)
    """

    question: Question
    answers: tuple[Answer, ...]
    recommended: Answer | None
    advice: str

    def __getitem__(self, key: Any) -> Any:
        """By name of the rule, or by place."""
        if isinstance(key, str):
            by_name = {answer.rule.name: answer for answer in self.answers}
            if key not in by_name:
                raise UnknownName("sizing rule", key, by_name)
            return by_name[key]
        return self.answers[key]

    def __len__(self) -> int:
        return len(self.answers)

    def to_dict(self) -> dict[str, Any]:
        """Everything, in types that JSON has."""
        question = {name: value for name, value in vars(self.question).items() if name not in ("base_rtt", "doubts")}
        return {
            "question": {**question, "base_rtt": vars(self.question.base_rtt), "doubts": list(self.question.doubts)},
            "answers": [
                {**vars(answer.rule), "assumes": list(answer.rule.assumes), **vars(answer), "rule": answer.rule.name}
                for answer in self.answers
            ],
            "recommended": None if self.recommended is None else self.recommended.rule.name,
            "advice": self.advice,
        }

    def __str__(self) -> str:
        rows = [["rule", "buffer", "bytes", "delay", ""]]
        rows += [[answer.rule.name, *_cells(answer)] for answer in self.answers]
        table = aligned(rows)
        why = "\n".join(f"  {answer.rule.name} {answer.rule.idea}\n    {answer.why}" for answer in self.answers)
        doubts = "".join(f"\n  but {doubt}" for doubt in self.question.doubts)
        return f"{_asked(self.question)}\n\n{table}\n\nwhy they differ\n{why}\n\n{self.advice}{doubts}"

    def _repr_html_(self) -> str:
        rows = [(answer.rule.name, *_cells(answer), answer.why) for answer in self.answers]
        table = Shown("", ("rule", "buffer, packets", "bytes", "delay", "", "why"), rows)
        lists = (Lines("advice", [self.advice]), Lines("but", self.question.doubts))
        return notebook(_asked(self.question), tables=[table], lists=lists)

    def plot(self) -> Figure:
        """Buffer against utilisation by every rule that relates them, with the target and the other rules' buffers."""
        from tailback.prediction._buffer_plot import plot

        return plot(self.question, {answer.rule.name: answer.buffer for answer in self.answers if answer.buffer is not None})


def size_buffer(
    scenario: Scenario | Mapping[str, Any] | None = None,
    *,
    target: str | float,
    rate: str | None = None,
    base_rtt: str | list[str] | Mapping[str, Any] | None = None,
    flows: int | None = None,
    transmitters: int | None = None,
    inputs: int | None = None,
    packet: str | None = None,
    access_rate: str | None = None,
    paced: bool | None = None,
    window: int | None = None,
    link: str | None = None,
) -> BufferAnswers:
    """How much buffer does a bottleneck need for a utilisation? Every rule's answer, and which one is meant for the case.

    Parameters
    ----------
    scenario : Scenario or mapping, optional
        Where all that is not given below comes from; then `rate`, `base_rtt` and `flows` may be left out.
    target : str or float
        Share of the capacity to be used: ``"80 %"`` or ``0.8``; above 0, at most 1.
    rate : str
        Of each transmitter: ``"40 Gbps"``.
    base_rtt : str, list or mapping
        Round trips without queueing, serialisation included: ``"100 ms"``, one for each flow, or a distribution such as
        ``{"uniform": ["60 ms", "180 ms"]}``.
    flows : int
        Long-lived flows, 1 to 10^9.
    transmitters : int, optional
        That share the buffer: 1 for a link, K for a trunk of K wavelengths.
    inputs : int, optional
        Input links, each as fast as one transmitter; so many that they do not matter if not given.
    packet : str, optional
        Size on the wire; ``"1500 B"`` if not given.
    access_rate : str, optional
        Rate of each sender's own link.
    paced : bool, optional
        Whether senders spread their packets over the round trip.
    window : int, optional
        Largest window of a flow in packets.
    link : str, optional
        The link of the scenario to size, if not the one with the least capacity per TCP flow.

    Raises
    ------
    ScenarioError
        Every fault of the question, with its place, and of the scenario.
    ParameterError
        If the scenario has no such bottleneck.
    """
    given = {name: value for name, value in locals().items() if name not in ("scenario", "link") and value is not None}
    described = scenario if scenario is None or isinstance(scenario, Scenario) else Scenario(scenario)
    return answer(ask(given, described, link))


def answer(question: Question) -> BufferAnswers:
    """The answers to a question in numbers."""
    answers = tuple(_answer(question, name) for name in models.SIZING_RULES)
    by_name = {one.rule.name: one for one in answers}
    name, advice = _advice(question, by_name)
    return BufferAnswers(question, answers, by_name.get(name), advice)


def size(question: Question, name: str) -> BufferSize:
    """What one rule asks for; raises `ParameterError` where it has no answer."""
    bottleneck: dict[str, Any] = {
        "transmitters": question.transmitters,
        "rate_bps": question.rate_bps,
        "packet_bytes": question.packet_bytes,
    }
    harmonic, mean = {"harmonic_rtt_s": question.base_rtt.harmonic_s}, {"mean_rtt_s": question.base_rtt.mean_s}
    flows, target = {"flows": question.flows}, {"utilisation": question.target}
    rules: dict[str, Callable[[], BufferSize]] = {
        "cui_trunk": lambda: models.cui_trunk_buffer(
            inputs=question.inputs or _COUNTLESS, **bottleneck, **flows, **harmonic, **target
        ),
        "cui_link": lambda: models.cui_link_buffer(**_single(bottleneck), **flows, **harmonic, **target),
        "unpaced": lambda: models.unpaced_buffer(**bottleneck, **flows, **mean, **target),
        "enachescu": lambda: models.enachescu_buffer(**windows(question), **target),
        "appenzeller": lambda: models.appenzeller_buffer(**bottleneck, **flows, **mean, **target),
        "synchronised": lambda: models.synchronised_buffer(**bottleneck, **mean, **target),
        "bandwidth_delay": lambda: models.bandwidth_delay_buffer(**bottleneck, **mean),
        "full_utilisation": lambda: models.full_utilisation_buffer(**bottleneck, max_rtt_s=question.base_rtt.max_s),
        "gorinsky": lambda: models.gorinsky_buffer(inputs=question.inputs or _flows_for_inputs(question)),
        "beheshti": models.beheshti_buffer,
    }
    return rules[name]()


def _single(bottleneck: dict[str, Any]) -> dict[str, Any]:
    """A bottleneck of one transmitter, without saying so."""
    if bottleneck["transmitters"] != 1:
        raise ParameterError(f"`transmitters` is {bottleneck['transmitters']}; expected 1: this rule is for a single link")
    return {name: value for name, value in bottleneck.items() if name != "transmitters"}


def _flows_for_inputs(question: Question) -> int:
    """Of a single link whose inputs are not known, the flows (cui-thesis, section 3.8.2)."""
    if question.transmitters != 1:
        raise ParameterError("`inputs` is not given; expected the number of input links")
    return question.flows


def _answer(question: Question, name: str) -> Answer:
    rule = models.SIZING_RULES[name]
    try:
        found = size(question, name)
    except ParameterError as error:
        return Answer(rule, None, None, None, None, False, f"no answer: {error}")
    against = [text for holds, text in _against(question, name) if holds]
    why = "; ".join(against) if against else _provided(question, name, found.buffer)
    on_wire = found.buffer * question.packet_bytes
    delay_s = 8 * on_wire / question.capacity_bps
    return Answer(rule, found.buffer, found.most, on_wire, delay_s, not against, why)


def _is_measured(question: Question, buffer: int) -> bool:
    """Whether EBD was measured for such a trunk: by it the rules keep their promise, and on the map it never loses too little."""
    return models.trunk_accuracy(
        inputs=question.inputs or COUNTLESS,
        transmitters=question.transmitters,
        buffer=buffer,
        load=question.target,
        model="ebd",
    ).mapped


def _against(question: Question, name: str) -> list[tuple[bool, str]]:
    """What speaks against a rule here, as (whether it does, how)."""
    bursty = (
        question.smooth is False,
        "packets arrive in bursts: not paced, and over access links more than a hundredth as fast",
    )
    few = (question.flows < FEW_FLOWS, f"fewer than {FEW_FLOWS} flows may halve together")
    full = (question.target > NEARLY_FULL, "asks for far too much above 95 %: packets no longer arrive as a Poisson process")
    small = (question.share < SMALL_WINDOW, "windows of fewer than four packets, whose losses cost timeouts")
    limited = (
        question.over_provision is not None and question.over_provision < 1,
        "the flows' largest windows cannot fill the bottleneck",
    )
    no_trunk = question.inputs is None and question.transmitters == 1
    promise = (True, "promises no utilisation")
    fast = question.access_rate_bps is None or 5 * question.access_rate_bps > question.rate_bps
    many = (question.flows >= FEW_FLOWS, f"{question.flows:,} flows hardly ever halve all at once: more than is needed")
    return {
        "cui_trunk": [
            bursty,
            full,
            small,
            limited,
            (no_trunk, "one transmitter with unlimited inputs is the case of cui_link"),
        ],
        "cui_link": [
            bursty,
            full,
            small,
            limited,
            (question.inputs is not None, "known inputs are the case of cui_trunk"),
        ],
        "unpaced": [
            (question.smooth is True, "packets arrive smoothly: more than is needed"),
            (
                not TRIED_WINDOWS[0] <= question.share <= TRIED_WINDOWS[1],
                f"tried with {TRIED_WINDOWS[0]} to {TRIED_WINDOWS[1]} packets under way for each flow",
            ),
            (question.target > TRIED_UTILISATION, f"tried for utilisations of up to {100 * TRIED_UTILISATION:.0f} %"),
            (fast, "over access links more than a fifth as fast one flow may take all of the bottleneck"),
            few,
            limited,
        ],
        "enachescu": [
            bursty,
            (not limited[0], "the flows could fill more than the bottleneck; computed as if their windows ended at 95 % of it"),
        ],
        "appenzeller": [few, small, limited],
        "synchronised": [many],
        "bandwidth_delay": [many],
        "full_utilisation": [(question.target < 1, "the target is below a full link")],
        "gorinsky": [promise],
        "beheshti": [promise],
    }[name]


def _provided(question: Question, name: str, buffer: int) -> str:
    """What has to be made sure, where nothing speaks against a rule."""
    provided = []
    if name in ("cui_trunk", "cui_link", "enachescu") and question.smooth is None:
        provided.append("that packets arrive smoothly: paced, or over access links a hundredth as fast")
    if name in ("cui_trunk", "cui_link") and question.target > LOSE_TOGETHER:
        provided.append("that flows do not lose together, which paced ones did in simulations of targets above 85 %")
    if name in ("cui_trunk", "cui_link") and not _is_measured(question, buffer):
        provided.append("that its loss model, EBD, errs on the safe side for such a trunk as for all that were measured")
    return f"provided {', and '.join(provided)}" if provided else "meant for this case"


def _advice(question: Question, answers: Mapping[str, Answer]) -> tuple[str, str]:
    """The rule that is meant for this case, and why."""
    poisson = "cui_link" if question.inputs is None and question.transmitters == 1 else "cui_trunk"
    few, target = question.flows < FEW_FLOWS, f"{100 * question.target:g} %"
    if question.inputs is not None and question.inputs < question.target * question.transmitters:
        most = f"{100 * question.inputs / question.transmitters:.3g} %"
        return "", f"No buffer gives {target}: the inputs, each as fast as a transmitter, bring {most} of the capacity at most."
    if question.target >= 1:
        name = "full_utilisation" if answers["full_utilisation"].buffer is not None else "bandwidth_delay"
        return name, f"A link that is never idle takes {_packets(answers[name])}: {name}."
    if question.over_provision is not None and question.over_provision <= question.target:
        most = f"{100 * question.over_provision:.3g} %"
        return "", f"No buffer gives {target}: at their largest windows all flows together use {most}."
    if answers["enachescu"].meant:
        return (
            "enachescu",
            f"The windows end below the capacity, so only bursts have to be held: {_packets(answers['enachescu'])}.",
        )
    # Few flows may halve together, and what they send in bursts has to be held all the same.
    bursts = "unpaced" if answers["unpaced"].meant else "appenzeller"
    otherwise = _of_few(question, answers) if few or answers[bursts].buffer is None else bursts
    if answers[poisson].meant and question.flows > 1:
        text = f"For {target}: {_packets(answers[poisson])} ({poisson})"
        check = " Simulate it: above 85 % paced flows may lose together." if question.target > LOSE_TOGETHER else ""
        if not _is_measured(question, answers[poisson].buffer or 0):
            check += " Nobody has measured how far the model behind it is off for such a trunk: simulate it."
            if question.smooth:
                check += f" The next rule has {_packets(answers[otherwise])} ({otherwise})."
        if question.smooth:
            return poisson, f"{text}.{check}"
        smoothly = "if packets arrive smoothly, that is paced or over access links a hundredth as fast"
        return poisson, f"{text} {smoothly}; else {_packets(answers[otherwise])} ({otherwise}).{check}"
    if few or answers[bursts].buffer is None:
        paced = question.smooth and (answers[poisson].buffer or 0) > (answers["synchronised"].buffer or 0)
        name = poisson if paced else otherwise
        why = "whatever they do" if name in ("synchronised", "bandwidth_delay") else "to hold their bursts"
        text = f"So few flows may halve together: {_packets(answers[name])} for {target} {why} ({name})."
        together = answers["synchronised"]
        if name == "bandwidth_delay" and together.meant and together.buffer:
            text += (
                f" Not the {_packets(together)} of synchronised: they hold what flows give up together, and bursts may be more."
            )
        return name, text + ("" if name == poisson else _instead(answers[poisson]))
    return bursts, f"For {target}: {_packets(answers[bursts])} ({bursts}).{_instead(answers[poisson])}"


def _of_few(question: Question, answers: Mapping[str, Answer]) -> str:
    """What holds what few flows give up together, and where that is nothing or their bursts are more, these.

    Bursts are no more than a bandwidth-delay product, and known for windows with which they were tried.
    """
    together, bursts = answers["synchronised"].buffer or 0, answers["unpaced"].buffer or 0
    if TRIED_WINDOWS[0] <= question.share <= TRIED_WINDOWS[1] and bursts > together:
        return "unpaced" if bursts <= (answers["bandwidth_delay"].buffer or 0) else "bandwidth_delay"
    return "synchronised" if together else "bandwidth_delay"


def _instead(answer: Answer) -> str:
    """Why the buffer of a rule that is not meant is not recommended."""
    return "" if answer.meant or answer.buffer is None else f" Not the {_packets(answer)} of {answer.rule.name}: {answer.why}."


def _packets(answer: Answer) -> str:
    # What is asked for here is a product of rate and time, which has an answer unless it is beyond all numbers.
    if answer.buffer is None:
        return "2^53 packets or more"
    return f"{answer.buffer:,} packets" if answer.buffer != 1 else "1 packet"


def _cells(answer: Answer) -> list[str]:
    if answer.buffer is None or answer.bytes is None or answer.delay_s is None:
        return ["-", "-", "-", "no answer"]
    buffer = f"{answer.buffer:,}" if answer.most is None else f"{answer.buffer} to {answer.most}"
    return [buffer, _bytes(answer.bytes), quantity("delay_s", answer.delay_s), "meant" if answer.meant else "not meant"]


def _bytes(size: float) -> str:
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= unit:
            return f"{size / unit:.4g} {name}"
    return f"{size:.4g} B"


def _asked(question: Question) -> str:
    several = f"{question.transmitters} x " if question.transmitters > 1 else ""
    rates = several + quantity("rate_bps", question.rate_bps)
    inputs = "" if question.inputs is None else f" from {question.inputs} inputs"
    trips = question.base_rtt
    same = math.isclose(trips.mean_s, trips.harmonic_s)
    spread = "" if same else f" (mean; harmonic {quantity('rtt_s', trips.harmonic_s)})"
    flows = f"{question.flows:,} flow{'s' if question.flows > 1 else ''}"
    return (
        f"{100 * question.target:g} % of {rates}{inputs}, {flows} over {quantity('rtt_s', trips.mean_s)}{spread}, "
        f"packets of {question.packet_bytes:g} B: {question.share:.3g} packets under way for each flow"
    )
