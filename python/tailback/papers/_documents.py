"""The registry of documents."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from importlib import import_module
from importlib.metadata import entry_points

from tailback._arguments import arguments_checked
from tailback.errors import MissingExtra, UnknownName
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
def experiments(*wanted: str) -> list[Experiment]:
    """Return experiments by ID or ID pattern, all experiments of a document by its ID, or all of them. The order is that of the
    documents, without duplicates.
    """
    if not DOCUMENTS and not wanted:
        raise _missing("a list of experiments")
    owners = {name: name.partition("/")[0] for name in wanted}
    for name, of in owners.items():
        # Suggest only IDs of the same document: with more than a hundred candidates the nearest one would not be visible.
        names = [of, *(each.id for each in document(of).experiments)]
        if not any(fnmatchcase(known, name) for known in names):
            raise UnknownName("experiment or document", name, names)
    known = _of(name for name in DOCUMENTS if not wanted or name in owners.values())
    fits = {each.id for each in known.values() for name in wanted if fnmatchcase(each.id, name) or each.id.split("/")[0] == name}
    return [each for each in known.values() if not wanted or each.id in fits]


def _missing(what: str) -> MissingExtra:
    return MissingExtra(what, "tailback-papers", "papers")


def _of(names: Iterable[str]) -> dict[str, Experiment]:
    """Experiments of the given documents, by ID."""
    return {experiment.id: experiment for name in names for experiment in document(name).experiments}
