"""Fill pages of docs/ with the results of their own code: numbers in sentences, output below code, pictures.

    .venv/bin/python tools/pages.py
    .venv/bin/python tools/pages.py --check docs/howto/policies.md
    .venv/bin/python tools/pages.py --reduced docs/howto/policies.md

Without arguments it processes every page that shows a result. `--check` writes nothing, prints the differences, and exits with
1 if there are any. `--reduced` runs a page that is listed in tests/reduced.json with shorter simulations and without its
assertions, and compares the digest of code and results (tools/reduction.py). The code of a page runs from top to bottom in one
namespace:

- Blocks of `python` are visible to the reader; `<details>` may fold them.
- Comments that begin with `<!-- python` are invisible: they compute the numbers of the sentences and assert the statements of
  the page. `say(goodput=..., loss=...)` passes numbers to the sentences.
- `<!-- goodput:.0f -->` follows a number, which becomes `format(goodput, ".0f")`.
- `<!-- result -->` and `<!-- end -->` below a block enclose its output or, if it ends in an expression, its value. A printed
  Markdown table stays a table. A figure is written to the linked picture, `![what it shows](images/NAME.svg)`, with the numbers
  of its lines (tools/panels.py).
"""

# ruff: noqa: T201 (the output is the purpose of this script)

from __future__ import annotations

import argparse
import ast
import contextlib
import difflib
import io
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl

import reduction
from panels import with_numbers
from reduction import Reduction
from tailback.errors import StarvationWarning
from tailback.plots import STYLE

DOCS = Path(__file__).resolve().parents[1] / "docs"
CODE = re.compile(
    r"^(?:(?P<fence>```)|<!-- )python\n(?P<code>.*?)^(?(fence)```|-->)\n"
    r"(?P<between>\n*(?:</details>\n)?\n*)"
    r"(?P<shown>^<!-- result -->\n(?P<result>.*?)^<!-- end -->\n)?",
    re.MULTILINE | re.DOTALL,
)
NUMBER = re.compile(r"[-\d,.]*<!-- (?P<name>\w+):(?P<format>[^ ]+) -->")
COMPUTED = re.compile(r"^<!-- (?:result|python)", re.MULTILINE)
TAG = re.compile(r"<[^>]*>")
FINE = re.compile(r"\d+\.\d{3,}")
PICTURE = re.compile(r"!\[[^]]+\]\((?P<file>[^)]+\.svg)\)")


class PageError(Exception):
    """An error in a page, with its place."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    parser.add_argument("--reduced", action="store_true", help="compare the digest of a reduced run, and write nothing")
    parser.add_argument("pages", nargs="*", type=Path, metavar="PAGE")
    given = parser.parse_args()
    mpl.use("agg")
    # A warning would be lost, here and to the reader.
    warnings.simplefilter("error")
    # Short runs end while some flows wait for a timeout; the tables count them.
    warnings.simplefilter("ignore", StarvationWarning)
    stale = False
    try:
        for page in given.pages or computed():
            stale |= _stale_digest(page.resolve()) if given.reduced else _stale(page.resolve(), check=given.check)
    except PageError as error:
        print(error, file=sys.stderr)
        return 1
    return int(stale and (given.check or given.reduced))


def _stale(path: Path, *, check: bool) -> bool:
    """Run a page; compare it and its pictures with the files, or write these and the digest of a reduced run."""
    page = Page(path)
    stale = False
    for file, text in ({path: page.filled()} | page.pictures).items():
        there = file.read_text(encoding="utf-8") if file.exists() else ""
        if there == text:
            continue
        stale = True
        if check:
            print(*differences(file, there, text), sep="\n", file=sys.stderr)
        else:
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
            print(f"filled {_short(file)}")
    if not check and (listed := reduction.of(path)):
        reduction.renew({path: Page(path, listed).digest()})
    return stale


def _stale_digest(path: Path) -> bool:
    """Compare the digest of a reduced run with the list."""
    listed = reduction.of(path)
    if listed is None:
        raise PageError(f"{_short(path)}: tests/reduced.json does not list this page")
    if Page(path, listed).digest() == listed.digest:
        return False
    print(f"{_short(path)}: its code, or a result of it, changed", file=sys.stderr)
    return True


def computed() -> list[Path]:
    """The pages that show results of their code."""
    return [page for page in sorted(DOCS.rglob("*.md")) if COMPUTED.search(page.read_text(encoding="utf-8"))]


class Page:
    """A page and the state of its running code.

    Attributes
    ----------
    path : Path
    text : str
        The content of the file.
    reduced : Reduction, optional
        Run with shorter simulations, and without assertions.
    pictures : dict of Path to str
        The drawn pictures.
    """

    def __init__(self, path: Path, reduced: Reduction | None = None) -> None:
        self.path = path
        self.text = path.read_text(encoding="utf-8")
        self.reduced = reduced
        self.pictures: dict[Path, str] = {}
        self._results: list[str] = []
        self._said: dict[str, Any] = {}
        self._used: set[str] = set()
        self._namespace: dict[str, Any] = {"__name__": "__main__", "__file__": str(path), "say": self._say}

    def filled(self) -> str:
        """The page with the results of its code.

        Raises
        ------
        PageError
            If a result has no place, a place no result, or a number no name. Exceptions of the code are passed on.
        """
        if strange := re.search(r"<!--.*", NUMBER.sub("", CODE.sub("", self.text))):
            raise PageError(f"{_short(self.path)}: this comment belongs to no code and names no number: {strange[0]}")
        # A page may change the style, but not that of the next page.
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), mpl.rc_context():
            text = CODE.sub(self._with_result, self.text)
        text = NUMBER.sub(self._with_number, text)
        if unused := self._said.keys() - self._used:
            raise PageError(f"{_short(self.path)}: said, but in no sentence: {', '.join(sorted(unused))}")
        return text

    def digest(self) -> str:
        """The digest of the code and of all its results, after a reduced run.

        Raises
        ------
        PageError
            As `filled`, and if a linked picture does not exist.
        """
        with (self.reduced or Reduction(seeds=sys.maxsize)).applied():
            self.filled()
        if missing := [file for file in self.pictures if not file.exists()]:
            raise PageError(f"{_short(self.path)}: no picture {_short(missing[0])}")
        code = [block["code"] for block in CODE.finditer(self.text)]
        return reduction.digest([*code, *self._results, *self.pictures.values()])

    def _say(self, **numbers: Any) -> None:
        if again := self._said.keys() & numbers:
            raise PageError(f"{_short(self.path)}: said twice: {', '.join(sorted(again))}")
        self._said.update(numbers)

    def _with_number(self, match: re.Match[str]) -> str:
        name, form = match["name"], match["format"]
        if name not in self._said:
            raise PageError(f"{_short(self.path)}: nothing was said of {name}")
        self._used.add(name)
        self._results.append(f"{self._said[name]:{form}}")
        return f"{self._results[-1]}<!-- {name}:{form} -->"

    def _with_result(self, block: re.Match[str]) -> str:
        """A block of code and its result."""
        code = _parsed(block["code"], self.path, self._line(block.start("code")))
        if self.reduced:
            code = _WithoutAssertions().visit(code)
        value, printed = _run(code, self.path, self._namespace)
        if block["shown"] is None:
            if value is not None or printed:
                raise PageError(f"{self._at(block.end('code'))}: what this gives has no place: <!-- result -->, <!-- end -->")
            return block[0]
        at = self._at(block.start("shown"))
        if hasattr(value, "savefig"):
            picture = PICTURE.search(block["result"])
            if not picture:
                raise PageError(f"{at}: a picture belongs here: ![what it shows](images/NAME.svg)")
            file = (self.path.parent / picture["file"]).resolve()
            if file in self.pictures:
                raise PageError(f"{at}: {picture['file']} is another picture of this page")
            self.pictures[file] = _svg(value)
            return block[0]
        shown = printed if value is None else f"{printed}{value!r}\n"
        if not shown:
            raise PageError(f"{at}: the code above gives no result")
        self._results.append(shown)
        if not shown.startswith("|"):
            shown = f"```text\n{shown}```\n"
        return block[0].removesuffix(block["shown"]) + f"<!-- result -->\n\n{shown}\n<!-- end -->\n"

    def _at(self, place: int) -> str:
        return f"{_short(self.path)}:{self._line(place)}"

    def _line(self, place: int) -> int:
        return self.text.count("\n", 0, place) + 1


def differences(file: Path, there: str, computed: str) -> Iterator[str]:
    """The differing lines of a file, before and now; for a picture only that it differs."""
    if file.suffix == ".svg":
        yield f"{_short(file)}: not what its page draws"
        return
    was, now = there.splitlines(), computed.splitlines()
    for kind, begin, end, first, last in difflib.SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        if kind != "equal":
            yield f"{_short(file)}:{begin + 1}:"
            yield from (f"  there: {line}" for line in was[begin:end])
            yield from (f"  now:   {line}" for line in now[first:last])


class _WithoutAssertions(ast.NodeTransformer):
    """Remove assertions, because a page asserts statements about its whole results."""

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        return ast.copy_location(ast.Pass(), node)


def _parsed(code: str, page: Path, line: int) -> ast.Module:
    """The code with the line numbers of the page, for tracebacks."""
    return ast.increment_lineno(ast.parse(code, str(page)), line - 1)


def _run(tree: ast.Module, page: Path, namespace: dict[str, Any]) -> tuple[Any, str]:
    """The value of the last expression, and the output."""
    value, last = None, tree.body[-1]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        if isinstance(last, ast.Expr):
            exec(compile(ast.Module(tree.body[:-1], []), str(page), "exec"), namespace)
            value = eval(compile(ast.Expression(last.value), str(page), "eval"), namespace)
        else:
            exec(compile(tree, str(page), "exec"), namespace)
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
    return value, printed.getvalue()


def _svg(figure: Any) -> str:
    """The figure with coordinates rounded to a hundredth of a point, so that it has the same bytes on every platform."""
    text = io.StringIO()
    with mpl.rc_context(STYLE):
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
        drawn = TAG.sub(lambda tag: FINE.sub(lambda number: f"{float(number[0]):.2f}", tag[0]), text.getvalue())
        return with_numbers(drawn, figure)


def _short(file: Path) -> str:
    return str(file.relative_to(DOCS.parent) if file.is_relative_to(DOCS.parent) else file)


if __name__ == "__main__":
    sys.exit(main())
