"""Descriptions of sizing rules and of the choices of models."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["KeywordInfo", "Rule"]


@dataclass(frozen=True)
class Rule:
    """Description of a buffer sizing rule.

    Attributes
    ----------
    name : str
        Name, as in `BufferSize.rule` and in `SIZING_RULES`.
    idea : str
        The purpose of the buffer, which is why rules differ.
    equation : str
        Equation in plain text: M inputs, K transmitters, mu packets/s of one, C of all, N flows, U utilisation.
    source : str
        Reference.
    assumes : tuple of str
        Assumptions of the rule.
    """

    name: str
    idea: str
    equation: str
    source: str
    assumes: tuple[str, ...]


@dataclass(frozen=True)
class KeywordInfo:
    """Description of a keyword that a model accepts.

    Attributes
    ----------
    title : str
        Display name.
    help : str
        Description in one line.
    source : str
        Reference.
    """

    title: str
    help: str
    source: str

    def __str__(self) -> str:
        return self.title
