"""The English of documentation, comments and messages: phrases that projects of this field hardly use stay below ceilings.

Ceilings are occurrences per 1,000 words. Well-written projects of the field (quinn, smoltcp, jiff, uv, turmoil, httpx) stay well
below them.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import ROOT

CEILINGS = {
    r"\bwhat\b": 1.5,
    r"\b(?:tells?|told|telling|hears?|heard)\b": 0.3,
    r"\bso (?:many|much|long|far)\b": 0.3,
    r"(?:^|[.:;]\s+)(?-i:Of)\b": 0.1,
    r"\bof (?:which|whose|whom)\b": 0.2,
    r"\bbesides?\b": 0.2,
    r"\b(?:stands?|l(?:ies|ie|ay))\b": 0.2,
    r"\b(?:hardly|anew|likewise)\b": 0.2,
    r"\b(?:those|ones) (?:that|of|which|who)\b": 0.6,
}
# A string of at least four words is prose; shorter ones are keys and labels.
SENTENCE = re.compile(r"(?:[A-Za-z']+[ ,;:]+){3}[A-Za-z']+")
COMMENT = re.compile(r"^\s*(?://[/!]?|\*|/\*\*?)\s?(.*)")
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)


def markdown(text: str) -> Iterator[str]:
    """The lines outside code, without links and code spans."""
    outside = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    yield from re.sub(r"`[^`]*`|\]\([^)]*\)|<[^>]*>", " ", outside).splitlines()


def python(text: str) -> Iterator[str]:
    """Docstrings, comments and messages."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.string.lstrip("# ")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and SENTENCE.search(node.value):
            yield from re.sub(r"`[^`]*`", " ", node.value).splitlines()


def source(text: str) -> Iterator[str]:
    """Comments and messages of Rust and TypeScript."""
    code = []
    for line in text.splitlines():
        if found := COMMENT.match(line):
            yield re.sub(r"`[^`]*`", " ", found[1])
        else:
            code.append(line)
    for literal in LITERAL.findall("\n".join(code)):
        if SENTENCE.search(literal):
            yield re.sub(r"`[^`]*`|\\\n\s*", " ", literal)


READERS = {".md": markdown, ".py": python, ".rs": source, ".ts": source}


def rates(files: dict[Path, str]) -> dict[str, float]:
    """Occurrences per 1,000 words of each phrase."""
    lines = [line for path, text in files.items() for line in READERS[path.suffix](text)]
    words = sum(len(re.findall(r"[A-Za-z']+", line)) for line in lines)
    return {phrase: 1000 * sum(len(re.findall(phrase, line, re.IGNORECASE)) for line in lines) / words for phrase in CEILINGS}


def tracked() -> dict[Path, str]:
    """The files of the repository that contain prose, except this one."""
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    paths = [ROOT / name for name in names if Path(name).suffix in READERS and name != "tests/test_prose.py"]
    return {path: path.read_text(encoding="utf-8") for path in paths if path.exists()}


def test_phrases_stay_below_their_ceilings() -> None:
    found = rates(tracked())
    above = {phrase: round(rate, 2) for phrase, rate in found.items() if rate > CEILINGS[phrase]}
    assert above == {}, "occurrences per 1,000 words; see the list of ceilings"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("page.md", "It says what waits.\n"),
        ("module.py", '"""Returns what waits in a queue."""\n'),
        ("module.py", "# This is what waits.\n"),
        ("module.py", 'raise ValueError("this is what waits here")\n'),
        ("lib.rs", "/// Returns what waits.\n"),
        ("lib.rs", 'fault("there is no room for \\\n    what waits");\n'),
        ("page.ts", 'button.title = "Shows what waits in the queue";\n'),
    ],
)
def test_a_phrase_is_counted(name: str, text: str) -> None:
    assert rates({Path(name): text})[r"\bwhat\b"] > 100


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("page.md", "Words of a page, and `what` as code.\n\n```sh\nwhat\n```\n"),
        ("module.py", 'words = {"what": 1}  # A key is no prose.\n'),
        ("lib.rs", "// A comment of some words.\nlet what = 1;\n"),
    ],
)
def test_code_is_not_counted(name: str, text: str) -> None:
    assert rates({Path(name): text})[r"\bwhat\b"] == 0
