"""Which documents there are."""

from __future__ import annotations

from importlib import import_module

from tailback.errors import UnknownName
from tailback.papers._experiment import Document, Experiment

__all__ = ["DOCUMENTS", "document", "experiments"]

# Where each document's experiments are. They are loaded when they are asked for.
DOCUMENTS = {
    "bpd-2001": "tailback.papers.bpd_2001",
    "spd-1998": "tailback.papers.spd_1998",
    "cui-thesis": "tailback.papers.cui_thesis",
}


def document(name: str) -> Document:
    """A document by its ID."""
    if name not in DOCUMENTS:
        raise UnknownName("document", name, DOCUMENTS)
    found: Document = import_module(DOCUMENTS[name]).DOCUMENT
    return found


def experiments(*wanted: str) -> list[Experiment]:
    """Experiments by ID, all of a document by its ID, or all there are; in the order of the documents, each once."""
    known = {experiment.id: experiment for name in DOCUMENTS for experiment in document(name).experiments}
    names = [*DOCUMENTS, *known]
    for name in wanted:
        if name not in names:
            raise UnknownName("experiment or document", name, names)
    return [each for each in known.values() if not wanted or each.id in wanted or each.id.split("/")[0] in wanted]
