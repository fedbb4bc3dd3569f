"""Fills pages of docs/ with what their own code gives: numbers in sentences, results below code, pictures.

    .venv/bin/python tools/pages.py
    .venv/bin/python tools/pages.py --check docs/howto/policies.md

Without pages it takes every page that shows a result. `--check` writes nothing, says what would change, and exits with 1 if
anything would. The code of a page runs from its top to its bottom, in one namespace:

- Blocks of `python` are what the reader sees; they may be folded by `<details>`.
- Comments that begin `<!-- python` are what nobody sees who reads the page: what the sentences need, and assertions about what
  they say. `say(goodput=..., loss=...)` hands numbers to the sentences.
- `<!-- goodput:.0f -->` stands behind a number, which becomes `format(goodput, ".0f")`.
- `<!-- result -->` and `<!-- end -->` below a block enclose what it printed or, if it ends in an expression, its value. A printed
  table of Markdown stays a table. A figure is written to the picture that is linked there, `![what it shows](images/NAME.svg)`,
  with the numbers of its lines (tools/panels.py).
"""

# ruff: noqa: T201 (printing is what this script is for)

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

from panels import with_numbers
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
    """What is wrong with a page, and where."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    parser.add_argument("pages", nargs="*", type=Path, metavar="PAGE")
    given = parser.parse_args()
    mpl.use("agg")
    # A warning would be lost, here and to the reader.
    warnings.simplefilter("error")
    stale = False
    for page in given.pages or computed():
        one = Page(page.resolve())
        try:
            made = {one.path: one.filled()}
        except PageError as error:
            print(error, file=sys.stderr)
            return 1
        for file, text in (made | one.pictures).items():
            there = file.read_text(encoding="utf-8") if file.exists() else ""
            if there == text:
                continue
            stale = True
            if given.check:
                print(*differences(file, there, text), sep="\n", file=sys.stderr)
            else:
                file.parent.mkdir(exist_ok=True)
                file.write_text(text, encoding="utf-8")
                print(f"filled {_short(file)}")
    return int(stale and given.check)


def computed() -> list[Path]:
    """The pages that show what their code gives."""
    return [page for page in sorted(DOCS.rglob("*.md")) if COMPUTED.search(page.read_text(encoding="utf-8"))]


class Page:
    """A page, and its code as it runs.

    Attributes
    ----------
    path : Path
        Where it is.
    text : str
        What stands there.
    pictures : dict of Path to str
        What its code has drawn.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = path.read_text(encoding="utf-8")
        self.pictures: dict[Path, str] = {}
        self._said: dict[str, Any] = {}
        self._used: set[str] = set()
        self._namespace: dict[str, Any] = {"__name__": "__main__", "say": self._say}

    def filled(self) -> str:
        """The page as its code gives it.

        Raises
        ------
        PageError
            If a result has no place, a place no result, or a number no name. What the code itself raises is passed on.
        """
        if strange := re.search(r"<!--.*", NUMBER.sub("", CODE.sub("", self.text))):
            raise PageError(f"{_short(self.path)}: this comment belongs to no code and names no number: {strange[0]}")
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            text = CODE.sub(self._with_result, self.text)
        text = NUMBER.sub(self._with_number, text)
        if unused := self._said.keys() - self._used:
            raise PageError(f"{_short(self.path)}: said, but in no sentence: {', '.join(sorted(unused))}")
        return text

    def _say(self, **numbers: Any) -> None:
        if again := self._said.keys() & numbers:
            raise PageError(f"{_short(self.path)}: said twice: {', '.join(sorted(again))}")
        self._said.update(numbers)

    def _with_number(self, match: re.Match[str]) -> str:
        name, form = match["name"], match["format"]
        if name not in self._said:
            raise PageError(f"{_short(self.path)}: nothing was said of {name}")
        self._used.add(name)
        return f"{self._said[name]:{form}}<!-- {name}:{form} -->"

    def _with_result(self, block: re.Match[str]) -> str:
        """A block of code, with what it gives below."""
        value, printed = _run(block["code"], self.path, self._line(block.start("code")), self._namespace)
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
        if not shown.startswith("|"):
            shown = f"```text\n{shown}```\n"
        return block[0].removesuffix(block["shown"]) + f"<!-- result -->\n\n{shown}\n<!-- end -->\n"

    def _at(self, place: int) -> str:
        return f"{_short(self.path)}:{self._line(place)}"

    def _line(self, place: int) -> int:
        return self.text.count("\n", 0, place) + 1


def differences(file: Path, there: str, computed: str) -> Iterator[str]:
    """Where a file differs, with what stands there and what came out; of a picture only that it does."""
    if file.suffix == ".svg":
        yield f"{_short(file)}: not what its page draws"
        return
    was, now = there.splitlines(), computed.splitlines()
    for kind, begin, end, first, last in difflib.SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        if kind != "equal":
            yield f"{_short(file)}:{begin + 1}:"
            yield from (f"  there: {line}" for line in was[begin:end])
            yield from (f"  now:   {line}" for line in now[first:last])


def _run(code: str, page: Path, line: int, namespace: dict[str, Any]) -> tuple[Any, str]:
    """The value of the code's last expression, and what it printed."""
    # Blank lines in front, so that a traceback shows the line in the page.
    tree = ast.parse("\n" * (line - 1) + code, str(page))
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
    """The figure, the same bytes whenever it is drawn: to a hundredth of a point, which no eye sees, nor any last bit changes."""
    text = io.StringIO()
    with mpl.rc_context(STYLE):
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
        drawn = TAG.sub(lambda tag: FINE.sub(lambda number: f"{float(number[0]):.2f}", tag[0]), text.getvalue())
        return with_numbers(drawn, figure)


def _short(file: Path) -> str:
    return str(file.relative_to(DOCS.parent) if file.is_relative_to(DOCS.parent) else file)


if __name__ == "__main__":
    sys.exit(main())
