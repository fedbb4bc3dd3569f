"""The registry of documents."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from importlib import import_module
from importlib.metadata import entry_points

from tailback._arguments import arguments_checked
from tailback.errors import MissingExtra, ParameterError, UnknownName
from tailback.papers._experiment import Document, Experiment

__all__ = ["DOCUMENTS", "document", "experiments"]

# The documents of tailback-papers.
_PUBLISHED = ("bpd-2001", "spd-1998", "cui-thesis", "standards", "abr")

_found = {point.name: point.value for point in entry_points(group="tailback.papers")}
# Modules with a `DOCUMENT`, by its ID, which installed packages declare as entry points of the group `tailback.papers`. They are
# imported on demand. The documents of tailback-papers come first.
DOCUMENTS = {name: _found[name] for name in (*_PUBLISHED, *_found) if name in _found}


@arguments_checked
def document(name: str) -> Document:
    """Return a document by its ID.

    Raises
    ------
    UnknownName
        No installed package declares the document; the message lists the available ones.
    MissingExtra
        It is one of tailback-papers, which is not installed.
    """
    if name not in DOCUMENTS and name in _PUBLISHED:
        raise _missing(name)
    if name not in DOCUMENTS:
        raise UnknownName("document", name, DOCUMENTS or _PUBLISHED)
    found: Document = import_module(DOCUMENTS[name]).DOCUMENT
    return found


@arguments_checked
def experiments(*wanted: str | Experiment | Document) -> list[Experiment]:
    """Return experiments by ID or ID pattern, all experiments of a document by its ID, or all of them. Experiments and documents
    that are given as objects need not be declared by a package. The order is that of the arguments and of the documents, without
    duplicates.
    """
    if not wanted:
        if not DOCUMENTS:
            raise _missing("a list of experiments")
        wanted = tuple(DOCUMENTS)
    objects: tuple[object, ...] = wanted
    for each in objects:
        if not isinstance(each, (str, Experiment, Document)):
            expected = "an ID such as `bpd-2001/fig12`, an `Experiment` or a `Document`"
            raise ParameterError(f"{each!r} is not an experiment; expected {expected}")
    named = [each for each in wanted if isinstance(each, str)]
    known = _of(name for name in DOCUMENTS if name in {each.partition("/")[0] for each in named})
    found = {each.id: each for name in named for each in _named(name)}
    own = {each.id: each for given in wanted if not isinstance(given, str) for each in _given(given)}
    return [*(each for each in known.values() if each.id in found), *(each for each in own.values() if each.id not in found)]


def _given(own: Experiment | Document) -> tuple[Experiment, ...]:
    return own.experiments if isinstance(own, Document) else (own,)


def _named(name: str) -> list[Experiment]:
    """The experiments of one document that an ID or a pattern names."""
    of = name.partition("/")[0]
    known = document(of).experiments
    # Suggest only IDs of the same document: with more than a hundred candidates the nearest one would not be visible.
    names = [of, *(each.id for each in known)]
    if not any(fnmatchcase(each, name) for each in names):
        raise UnknownName("experiment or document", name, names)
    return [each for each in known if name == of or fnmatchcase(each.id, name)]


def _missing(what: str) -> MissingExtra:
    return MissingExtra(what, "tailback-papers", "papers")


def _of(names: Iterable[str]) -> dict[str, Experiment]:
    """Experiments of these documents, by ID."""
    return {experiment.id: experiment for name in names for experiment in document(name).experiments}
