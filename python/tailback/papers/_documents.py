"""The registry of documents."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from importlib import import_module
from importlib.metadata import entry_points

from tailback._arguments import arguments_checked
from tailback.errors import UnknownName
from tailback.papers._experiment import Document, Experiment

__all__ = ["DOCUMENTS", "document", "experiments"]

# Modules with a `DOCUMENT`, by its ID: the package's own, and those that installed packages declare as entry points of the group
# `tailback.papers`. They are imported on demand.
DOCUMENTS = {
    "bpd-2001": "tailback.papers.bpd_2001",
    "spd-1998": "tailback.papers.spd_1998",
    "cui-thesis": "tailback.papers.cui_thesis",
    "standards": "tailback.papers.standards",
    "abr": "tailback.papers.abr",
    **{point.name: point.value for point in entry_points(group="tailback.papers")},
}


@arguments_checked
def document(name: str) -> Document:
    """Return a document by its ID."""
    if name not in DOCUMENTS:
        raise UnknownName("document", name, DOCUMENTS)
    found: Document = import_module(DOCUMENTS[name]).DOCUMENT
    return found


@arguments_checked
def experiments(*wanted: str) -> list[Experiment]:
    """Return experiments by ID or ID pattern, all experiments of a document by its ID, or all of them. The order is that of the
    documents, without duplicates.
    """
    owners = {name: name.partition("/")[0] for name in wanted}
    for name, of in owners.items():
        # Suggest only IDs of the same document: with more than a hundred candidates the nearest one would not be visible.
        names = [of, *(each.id for each in document(of).experiments)]
        if not any(fnmatchcase(known, name) for known in names):
            raise UnknownName("experiment or document", name, names)
    known = _of(name for name in DOCUMENTS if not wanted or name in owners.values())
    fits = {each.id for each in known.values() for name in wanted if fnmatchcase(each.id, name) or each.id.split("/")[0] == name}
    return [each for each in known.values() if not wanted or each.id in fits]


def _of(names: Iterable[str]) -> dict[str, Experiment]:
    """Experiments of the given documents, by ID."""
    return {experiment.id: experiment for name in names for experiment in document(name).experiments}
