"""What rules and choices of models are, in words."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Rule", "Word"]


@dataclass(frozen=True)
class Rule:
    """What a sizing rule is, in words.

    Attributes
    ----------
    name : str
        As in `BufferSize.rule` and in `SIZING_RULES`.
    idea : str
        What the buffer is for, which is why rules differ.
    equation : str
        In plain text: M inputs, K transmitters, mu packets/s of one, C of all, N flows, U utilisation.
    source : str
        Where it is written.
    assumes : tuple of str
        What has to hold for it to be meant.
    """

    name: str
    idea: str
    equation: str
    source: str
    assumes: tuple[str, ...]


@dataclass(frozen=True)
class Word:
    """What one of the words is that a model takes.

    Attributes
    ----------
    title : str
        As people write it.
    help : str
        In a line.
    source : str
        Where it is written.
    """

    title: str
    help: str
    source: str

    def __str__(self) -> str:
        return self.title
