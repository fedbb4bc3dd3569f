"""Pages show the results of their code: tools/pages.py fills them, and reports differences."""

from __future__ import annotations

import contextlib
import io
import multiprocessing
import sys
import traceback
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

import reduction
from pages import Page, computed, main
from reduction import Reduction
from support import ROOT

MADE = """\
# Squares

Three squared is <!-- nine:d -->, a third 0.5<!-- third:.2f -->.

<details><summary>Show the squares</summary>

```python
squares = {number: number**2 for number in (2, 3)}
```

</details>

```python
squares[3]
```

<!-- result -->
<!-- end -->

<!-- python
assert squares[3] == 9
say(nine=squares[3], third=1 / 3)
print("| number | square |", "|---|---|", *(f"| {number} | {square} |" for number, square in squares.items()), sep="\\n")
-->

<!-- result -->
<!-- end -->

```python
import matplotlib.pyplot as plt

figure, axis = plt.subplots()
axis.plot(list(squares), list(squares.values()))
figure
```

<!-- result -->

![Squares over numbers](images/squares.svg)

<!-- end -->
"""


# A new process for each page, which has imported matplotlib already.
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["pages", "matplotlib.pyplot"])


@dataclass(frozen=True)
class Done:
    """The exit code of a process, and its messages."""

    returncode: int
    stderr: str


def pages(*arguments: object) -> Done:
    """Run tools/pages.py."""
    receiver, sender = FORKS.Pipe(duplex=False)
    process = FORKS.Process(target=report_pages, args=(sender, [str(each) for each in arguments]))
    process.start()
    sender.close()
    try:
        return Done(*receiver.recv())
    except EOFError:
        process.join()
        return Done(process.exitcode or 1, f"ended by signal or exit: {process.exitcode}")
    finally:
        process.join()


def report_pages(sender: Connection, arguments: list[str]) -> None:
    """Send the exit code and the messages of tools/pages.py, with a traceback if it fails, as a process would print it."""
    with contextlib.redirect_stderr(io.StringIO()) as printed:
        sys.argv = ["pages.py", *arguments]
        try:
            code = main()
        except Exception:
            code = 1
            traceback.print_exc()
    sender.send((code, printed.getvalue()))


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """A page whose results are still to come."""
    path = tmp_path / "squares.md"
    path.write_text(MADE)
    return path


@pytest.mark.parametrize("page", computed(), ids=lambda page: page.name)
def test_a_page_shows_the_results_of_its_code(page: Path) -> None:
    """A page with long simulations runs reduced; `make docs` compares its numbers and tests its assertions."""
    done = pages("--reduced" if reduction.of(page) else "--check", page)
    assert done.returncode == 0, f"{done.stderr}\nto fill it: .venv/bin/python tools/pages.py {page.relative_to(ROOT)}"


SIMULATED = """\
# Runs

They last <!-- seconds:g --> s.

```python
import tailback as tb

runs = tb.simulate(tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="10 s", warmup="5 s"), seeds=3)
print([run.simulated_s for run in runs])
```

<!-- result -->
<!-- end -->

<!-- python
for run in runs:
    assert run.simulated_s == 10
say(seconds=runs[0].simulated_s)
-->
"""


def test_a_reduced_run_has_shorter_simulations_fewer_seeds_and_no_assertions(tmp_path: Path) -> None:
    path = tmp_path / "runs.md"
    path.write_text(SIMULATED)
    reduced = Page(path, Reduction(duration=0.1))
    with Reduction(duration=0.1).applied():
        assert "[1.0, 1.0]" in reduced.filled()
    assert "[10.0, 10.0, 10.0]" in Page(path).filled()


def test_a_digest_changes_with_the_code_and_its_results_only(tmp_path: Path) -> None:
    path = tmp_path / "runs.md"

    def digest(text: str, duration: float = 0.1) -> str:
        path.write_text(text)
        return Page(path, Reduction(duration)).digest()

    usual = digest(SIMULATED)
    assert usual == digest(SIMULATED.replace("They last", "Each lasts"))
    assert usual != digest(SIMULATED, duration=0.2)
    assert usual != digest(SIMULATED.replace("seeds=3", "seeds=4"))


def test_the_list_of_reductions_names_pages_and_scripts() -> None:
    scripts = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs/gallery").glob("*/*.py")}
    assert reduction.reductions().keys() <= {page.relative_to(ROOT).as_posix() for page in computed()} | scripts


def test_numbers_results_and_pictures_are_filled_in(page: Path) -> None:
    assert pages(page).returncode == 0
    text = page.read_text()
    assert "squared is 9<!-- nine:d -->, a third 0.33<!-- third:.2f -->." in text
    assert "<!-- result -->\n\n```text\n9\n```\n\n<!-- end -->" in text
    assert "<!-- result -->\n\n| number | square |\n|---|---|\n| 2 | 4 |\n| 3 | 9 |\n\n<!-- end -->" in text
    assert "</svg>" in (page.parent / "images" / "squares.svg").read_text()
    checked = pages("--check", page)
    assert (checked.returncode, checked.stderr) == (0, "")


def test_a_failed_check_shows_place_expected_and_actual_output(page: Path) -> None:
    pages(page)
    page.write_text(page.read_text().replace("0.33", "0.34").replace("| 2 | 4 |", "| 2 | 5 |"))
    (page.parent / "images" / "squares.svg").write_text("<svg></svg>")
    before = page.read_text()
    done = pages("--check", page)
    assert done.returncode == 1
    sentence = "Three squared is 9<!-- nine:d -->, a third 0.34<!-- third:.2f -->."
    for there, now in ((sentence, sentence.replace("0.34", "0.33")), ("| 2 | 5 |", "| 2 | 4 |")):
        line = before.splitlines().index(there) + 1
        assert f"{page}:{line}:\n  there: {there}\n  now:   {now}\n" in done.stderr
    assert "squares.svg: not what its page draws" in done.stderr
    assert page.read_text() == before


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<!-- nine:d -->", "<!-- ten:d -->", "squares.md: nothing was said of ten"),
        ("<!-- nine:d -->", "nine", "squares.md: said, but in no sentence: nine"),
        ("say(nine", "say(third=3)\nsay(nine", "squares.md: said twice: third"),
        ("squares[3]\n```", "three = squares[3]\n```", "squares.md:17: the code above gives no result"),
        ("\n<!-- result -->\n<!-- end -->\n\n<!-- p", "\n<!-- p", "squares.md:15: what this gives has no place"),
        (
            "Three squared",
            "<!-- result -->\nThree squared",
            "squares.md: this comment belongs to no code and names no number: <!-- result",
        ),
        ("<!-- nine:d -->", "<!-- nine -->", "squares.md: this comment belongs to no code and names no number: <!-- nine -->"),
        ("![Squares over numbers]", "![]", "squares.md:37: a picture belongs here"),
        ("== 9", "== 8", 'squares.md", line 21'),
        ("== 9", "== 9\nimport warnings\nwarnings.warn('lost')", "lost"),
    ],
)
def test_text_that_would_be_lost_is_an_error(page: Path, old: str, new: str, message: str) -> None:
    assert MADE.count(old) == 1
    page.write_text(MADE.replace(old, new))
    done = pages(page)
    assert done.returncode == 1
    assert message in done.stderr
