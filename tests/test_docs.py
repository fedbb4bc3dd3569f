"""The documentation works: every fenced snippet of README.md, CONTRIBUTING.md and docs/ runs, and every page is linked.

`python` snippets are executed, `toml` snippets are checked as scenarios, and in `sh` and `console` snippets every `tailback`
command is run and every `make` verb must exist. Any other command in a shell snippet fails the test, except `pip install`. Pages
that show their own results run in `tests/test_pages.py`, the scripts of the gallery in `tests/test_gallery.py`.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from sphinx.search.en import SearchEnglish

import tailback as tb
from made_hosts import fine, why_not
from pages import computed
from support import own_members

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
FETCHED = re.compile(r"<(?:script|img|iframe)\b[^>]*\bsrc=\"([^\"]+)|<link\b[^>]*\bhref=\"([^\"]+)")
PICTURE = re.compile(r"!\[[^]]+\]\(([^)]+)\)")
# The badge of the tests is at an address of the repository, which GitHub resolves.
LINK = re.compile(r"\]\((?!https?:|#|\.\./\.\./actions/)([^)#\s]+)")
COMPUTED = computed()
VERB = re.compile(r"^([a-z][a-z-]*):", re.MULTILINE)


@dataclass(frozen=True)
class Snippet:
    """A fenced block and its place."""

    page: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def snippets(*languages: str) -> list[Snippet]:
    found = []
    for page in PAGES:
        text = page.read_text()
        for match in FENCE.finditer(text):
            if match[1] in languages:
                found.append(Snippet(page, text.count("\n", 0, match.start()) + 2, match[1], match[2]))
    return found


def commands(snippet: Snippet) -> list[str]:
    """The typed lines of a shell snippet: all lines of `sh`, and lines after a prompt of `console`."""
    lines = [line.strip() for line in snippet.text.splitlines()]
    if snippet.language == "console":
        return [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    return [line for line in lines if line and not line.startswith("#")]


def shown(snippet: Snippet) -> list[str]:
    """All lines of a snippet but empty ones at its end."""
    return snippet.text.rstrip("\n").splitlines()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as `make docs` builds it, with shorter navigation."""
    folder = tmp_path_factory.mktemp("site")
    strict = ["--quiet", "--fail-on-warning", "--keep-going", "--show-traceback", "--tag", "collapsed"]
    places = ["--doctree-dir", str(folder / "doctrees"), str(ROOT / "docs"), str(folder / "html")]
    done = subprocess.run([sys.executable, "-m", "sphinx", *strict, *places], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "html"


def test_every_page_exists() -> None:
    parts = {page.parent.name for page in PAGES}
    assert parts >= {"learn", "howto", "reference", "evidence", "develop", "controllers", "policies", "scenario"}


@pytest.mark.parametrize("snippet", [one for one in snippets("python") if one.page not in COMPUTED], ids=str)
def test_python_runs(snippet: Snippet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if "tb.emulate(" in snippet.text and why_not():
        pytest.skip(why_not())
    monkeypatch.chdir(tmp_path)
    # Blank lines in front, so that a traceback shows the line in the page.
    exec(compile("\n" * (snippet.line - 1) + snippet.text, str(snippet.page), "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize("snippet", snippets("toml"), ids=str)
def test_a_scenario_checks(snippet: Snippet) -> None:
    tb.Scenario.from_toml(snippet.text, str(snippet))


@pytest.mark.parametrize(
    ("snippet", "command"),
    [(snippet, command) for snippet in snippets("sh", "console") for command in commands(snippet)],
    ids=str,
)
def test_a_command_works(snippet: Snippet, command: str, tmp_path: Path) -> None:
    program, *arguments = shlex.split(command, comments=True)
    if program == "make":
        assert set(arguments) <= set(VERB.findall((ROOT / "Makefile").read_text())), f"{snippet}: not in the Makefile"
        return
    if program == "pip":
        assert arguments == ["install", "tailback"], f"{snippet}: only the installation of the package"
        return
    assert Path(program).name == "tailback", f"{snippet}: only `make` and `tailback` commands are tested here"
    if arguments[0] == "emulate" and why_not():
        pytest.skip(why_not())
    # Commands read files of the project, and write to a temporary directory.
    named = [str(ROOT / argument) if (ROOT / argument).is_file() else argument for argument in arguments]
    done = subprocess.run([sys.executable, "-m", "tailback", *named], cwd=tmp_path, capture_output=True, text=True)
    assert fine(done) if arguments[0] == "emulate" else done.returncode == 0, f"{snippet}: {done.stderr}"


@pytest.mark.parametrize("snippet", [each for each in snippets("console") if len(shown(each)) > len(commands(each))], ids=str)
def test_a_command_prints_the_documented_output(snippet: Snippet, tmp_path: Path) -> None:
    lines = []
    for command in commands(snippet):
        words = [str(ROOT / word) if (ROOT / word).is_file() else word for word in shlex.split(command)[1:]]
        done = subprocess.run([sys.executable, "-m", "tailback", *words], cwd=tmp_path, capture_output=True, text=True)
        lines += [f"$ {command}", *done.stdout.rstrip("\n").splitlines()]
    assert shown(snippet) == lines


PARTS = ("learn", "howto", "reference", "evidence", "develop")
ITEM = re.compile(r"\]\(([^)#:]+\.md)\)")


def listed(page: Path) -> set[Path]:
    """The pages that a page links to."""
    return {(page.parent / target).resolve() for target in ITEM.findall(page.read_text())}


def test_the_readme_links_to_the_five_parts() -> None:
    parts = {ROOT / "docs" / part / "index.md" for part in PARTS}
    assert listed(ROOT / "README.md") == parts
    assert listed(ROOT / "docs/index.md") == parts


def test_every_page_is_two_clicks_away() -> None:
    first = {ROOT / "docs" / part / "index.md" for part in PARTS}
    second = {page for index in first for page in listed(index)}
    pages = {page for page in PAGES if page.is_relative_to(ROOT / "docs")}
    assert pages - {ROOT / "docs/index.md"} <= first | second


def test_an_index_fits_on_one_screen() -> None:
    for page in (ROOT / "docs/index.md", *(ROOT / "docs" / part / "index.md" for part in PARTS)):
        assert len(page.read_text().splitlines()) <= 40, page


def test_the_readme_shows_the_output_of_its_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [(code, output)] = re.findall(
        r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL
    )
    monkeypatch.chdir(tmp_path)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, {"__name__": "__main__"})
    assert printed.getvalue().strip() == output.strip()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_have_targets(page: Path) -> None:
    missing = [target for target in LINK.findall(page.read_text()) if not (page.parent / target).exists()]
    assert not missing


def test_every_picture_is_in_a_page() -> None:
    shown = {(page.parent / picture).resolve() for page in PAGES for picture in PICTURE.findall(page.read_text())}
    assert set((ROOT / "docs" / "images").rglob("*.svg")) <= shown


@pytest.mark.parametrize("page", COMPUTED, ids=lambda page: page.name)
def test_the_site_shows_the_computed_output_of_a_page(site: Path, page: Path) -> None:
    written, built = page.read_text(), site / page.relative_to(ROOT / "docs").with_suffix(".html")
    html = built.read_text()
    pictures = re.findall(r'<img alt="[^"]+"[^>]* src="([^"]*_images/[^"]+\.svg)"', html)
    assert len(pictures) == html.count("<img ") == len(PICTURE.findall(written))
    assert all((built.parent / picture).exists() for picture in pictures)
    # Folds work, and the comments that name numbers and hide code are not visible.
    assert html.count("<details>") == written.count("<details>")
    assert "&lt;!--" not in html
    assert "--&gt;" not in html


def test_the_site_documents_the_inherited_members_of_a_run(site: Path) -> None:
    text = (site / "reference/python.html").read_text()
    public = {name for name in own_members(tb.Run) if not name.startswith("_")}
    assert {"trace", "seed", "save_as", "plot"} <= public
    assert [name for name in sorted(public) if f'id="tailback.Run.{name}"' not in text] == []


def test_the_site_needs_no_network(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    fetched = {first or second for page in pages for first, second in FETCHED.findall(page.read_text())}
    assert fetched
    assert not [address for address in fetched if "//" in address]
    assert not [sheet for sheet in site.rglob("*.css") if re.search(r"url\([\"']?(https?:)?//|@import", sheet.read_text())]


@pytest.mark.parametrize(
    ("word", "page"),
    [
        ("lognormal", "reference/scenario/values"),
        ("timeline", "reference/scenario/timeline"),
        ("delay_percentiles", "reference/scenario/record"),
        ("max_probability", "reference/policies/red"),
        ("ssthresh", "reference/tables"),
        ("mean_wait_s", "reference/tables"),
    ],
)
def test_a_search_finds_the_page_that_defines_a_word(site: Path, word: str, page: str) -> None:
    text = (site / "searchindex.js").read_text()
    index = json.loads(text[text.index("(") + 1 : text.rindex(")")])
    found: set[int] = set()
    # Titles and words are stemmed, like the query; a word that is in one page only has no list.
    stem = SearchEnglish({}).stem(word.lower())
    for kind in ("terms", "titleterms"):
        places = index[kind].get(stem, [])
        found.update(places if isinstance(places, list) else [places])
    assert page in {index["docnames"][place] for place in found}
