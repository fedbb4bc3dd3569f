"""Write the gallery, docs/howto/gallery.md and docs/images/gallery, from the scripts in docs/gallery.

    .venv/bin/python tools/gallery.py
    .venv/bin/python tools/gallery.py --check

Each script is an example for users; its docstring is the title and a description of its picture, which it saves under its own
name. Assertions after it check the numbers of the description. `--check` writes nothing, prints the differences, and exits with 1
if there are any. It runs the scripts in tests/reduced.json with shorter simulations and without assertions, and compares digests
instead of pictures (tools/reduction.py).
"""

# ruff: noqa: T201 (the output is the purpose of this script)

from __future__ import annotations

import argparse
import ast
import contextlib
import sys
import tempfile
import warnings
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from unittest import mock

import matplotlib as mpl
from matplotlib.figure import Figure

import reduction
from panels import with_numbers
from pictures import LOOKS, slim
from reduction import Reduction
from tailback.errors import StarvationWarning

DOCS = Path(__file__).resolve().parents[1] / "docs"
PICTURES = DOCS / "images/gallery"
PAGE_FILE = DOCS / "howto/gallery.md"

PAGE = """\
# Gallery

{count} pictures, each drawn by a script of about ten lines that you can copy and change. The scripts are in `docs/gallery`;
together they take less than a minute.

Pictures are drawn by `plot` of a run, a study or an answer, or by matplotlib. To get the look of the latter, run
`plt.rcParams.update(tailback.plots.STYLE)` first and use constrained layouts.
"""


@dataclass(frozen=True)
class Script:
    """A script and the parts of its docstring."""

    path: Path
    title: str
    see: str
    code: str

    @classmethod
    def read(cls, path: Path) -> Script:
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        title, _, see = (ast.get_docstring(tree) or "").partition("\n\n")
        if not see:
            raise SystemExit(f"{path}: the docstring needs a title, an empty line, and what to see")
        after = tree.body[0].end_lineno or 0
        return cls(path, title.removesuffix("."), " ".join(see.split()), "".join(text.splitlines(keepends=True)[after:]).strip())

    @property
    def section(self) -> str:
        return self.path.parent.name

    @property
    def picture(self) -> Path:
        return PICTURES / f"{self.path.stem}.svg"

    @property
    def drawing(self) -> str:
        """The code up to the picture, without the assertions about it."""
        before, saving, after = self.code.rpartition(".savefig(")
        return before + saving + after.partition("\n")[0]

    def draw(self, code: str | None = None) -> str:
        """The picture, with its numbers, by the whole script or by some of its code."""
        saving = mock.patch.object(Figure, "savefig", autospec=True, side_effect=Figure.savefig)
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), mpl.rc_context(LOOKS), saving as saved:
            exec(compile(code or self.path.read_text(encoding="utf-8"), str(self.path), "exec"), {"__name__": "__main__"})
            drawn = slim(Path(self.picture.name).read_text(encoding="utf-8"))
            return with_numbers(drawn, saved.call_args.args[0])

    def digest(self, reduced: Reduction) -> str:
        """The digest of the code and of the picture of a reduced run."""
        with reduced.applied():
            return reduction.digest([self.drawing, self.draw(self.drawing)])

    def is_stale(self) -> bool:
        """Whether the picture is not that of the script, as far as a reduced run detects it."""
        if not self.picture.exists():
            return True
        if listed := reduction.of(self.path):
            return self.digest(listed) != listed.digest
        return self.draw() != self.picture.read_text(encoding="utf-8")

    def shown(self) -> str:
        picture = f"![{self.title}](../images/gallery/{self.path.stem}.svg)"
        script = f"[{self.path.name}](../gallery/{self.section}/{self.path.name})"
        return f"\n### {self.title}\n\n{self.see} ({script})\n\n{picture}\n"


def scripts() -> list[Script]:
    """All, in the order of the page: a folder is a section."""
    return [Script.read(path) for path in sorted((DOCS / "gallery").glob("*/*.py"))]


def title(folder: str) -> str:
    """`2_several_flows` is the second section, "Several flows"."""
    return folder.partition("_")[2].replace("_", " ").capitalize()


def page() -> str:
    """docs/howto/gallery.md."""
    found = scripts()
    parts = [PAGE.format(count=len(found))]
    for section, members in groupby(found, key=lambda script: script.section):
        parts += [f"\n## {title(section)}\n", *(script.shown() for script in members)]
    return "".join(parts)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    given = parser.parse_args()
    # Some scripts show flows far below the rate of their link.
    warnings.simplefilter("ignore", StarvationWarning)
    if not given.check:
        write()
        return 0
    found = differences()
    print(*found, sep="\n", file=sys.stderr)
    return int(bool(found))


def write() -> None:
    """Write the page and all pictures, renew the digests, and remove pictures without a script."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    found = scripts()
    for script in found:
        script.picture.write_text(script.draw(), encoding="utf-8")
    reduction.renew({script.path: script.digest(listed) for script in found if (listed := reduction.of(script.path))})
    for picture in _without_script(found):
        picture.unlink()
    PAGE_FILE.write_text(page(), encoding="utf-8")


def differences() -> list[str]:
    """A line for each stale file."""
    found = scripts()
    stale = [f"{script.picture.name}: not the picture of its script" for script in found if script.is_stale()]
    stale += [f"{picture.name}: has no script" for picture in _without_script(found)]
    if PAGE_FILE.read_text(encoding="utf-8") != page():
        stale.append(f"{PAGE_FILE.name}: does not show the scripts")
    return stale


def _without_script(found: list[Script]) -> list[Path]:
    return sorted({*PICTURES.glob("*.svg")} - {script.picture for script in found})


if __name__ == "__main__":
    sys.exit(main())
