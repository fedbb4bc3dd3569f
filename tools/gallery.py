"""Writes the gallery: docs/howto/gallery.md and docs/images/gallery, from the scripts in docs/gallery.

    .venv/bin/python tools/gallery.py docs

Each script is what a user would write; its docstring is the title and what to see, and it saves one picture under its own name. A
test compares what is there with what this makes, so that a picture, its lines and its page cannot disagree.
"""

from __future__ import annotations

import ast
import contextlib
import runpy
import sys
import tempfile
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from unittest import mock

import matplotlib as mpl
from matplotlib.figure import Figure

from panels import with_numbers
from pictures import LOOKS, slim

SCRIPTS = Path(__file__).resolve().parents[1] / "docs/gallery"

PAGE = """\
# Gallery

{count} pictures, each with the lines that made it. The scripts are in `docs/gallery`, to be copied and changed. All together take
less than a minute. A test runs them and compares the pictures, so that a picture and its lines belong together.

Pictures come from `plot` of a run, a study or an answer, or from matplotlib. Where matplotlib draws, what you get looks a little
different: here `plt.rcParams.update(tailback.plots.STYLE)` stood before the first line, and layouts are constrained.
"""


@dataclass(frozen=True)
class Script:
    """A script and what its docstring says."""

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

    def draw(self) -> str:
        """The picture, with its numbers."""
        saving = mock.patch.object(Figure, "savefig", autospec=True, side_effect=Figure.savefig)
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), mpl.rc_context(LOOKS), saving as saved:
            runpy.run_path(str(self.path), run_name="__main__")
            drawn = slim(Path(f"{self.path.stem}.svg").read_text(encoding="utf-8"))
            return with_numbers(drawn, saved.call_args.args[0])

    def shown(self) -> str:
        picture = f"![{self.title}](images/gallery/{self.path.stem}.svg)"
        return f"\n### {self.title}\n\n{self.see}\n\n{picture}\n\n```python\n{self.code}\n```\n"


def scripts() -> list[Script]:
    """All, in the order of the page: a folder is a section."""
    return [Script.read(path) for path in sorted(SCRIPTS.glob("*/*.py"))]


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


def main(docs: Path) -> None:
    """Writes the page and all pictures, and removes those whose script is gone."""
    pictures = docs / "images/gallery"
    pictures.mkdir(parents=True, exist_ok=True)
    found = scripts()
    for script in found:
        (pictures / f"{script.path.stem}.svg").write_text(script.draw(), encoding="utf-8")
    for picture in {*pictures.glob("*.svg")} - {pictures / f"{script.path.stem}.svg" for script in found}:
        picture.unlink()
    (docs / "gallery.md").write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
