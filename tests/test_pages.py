"""Pages show what their code gives: tools/pages.py fills them, and says where they differ."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pages import computed
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


def pages(*arguments: object) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, str(ROOT / "tools" / "pages.py"), *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True)


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """A page whose results are still to come."""
    path = tmp_path / "squares.md"
    path.write_text(MADE)
    return path


@pytest.mark.parametrize("page", computed(), ids=lambda page: page.name)
def test_a_page_shows_what_its_code_gives(page: Path) -> None:
    """As long as its simulations: of one page, minutes."""
    done = pages("--check", page)
    assert done.returncode == 0, f"{done.stderr}\nto fill it: .venv/bin/python tools/pages.py {page.relative_to(ROOT)}"


def test_numbers_results_and_pictures_are_filled_in(page: Path) -> None:
    assert pages(page).returncode == 0
    text = page.read_text()
    assert "squared is 9<!-- nine:d -->, a third 0.33<!-- third:.2f -->." in text
    assert "<!-- result -->\n\n```text\n9\n```\n\n<!-- end -->" in text
    assert "<!-- result -->\n\n| number | square |\n|---|---|\n| 2 | 4 |\n| 3 | 9 |\n\n<!-- end -->" in text
    assert "</svg>" in (page.parent / "images" / "squares.svg").read_text()
    checked = pages("--check", page)
    assert (checked.returncode, checked.stderr) == (0, "")


def test_a_check_says_where_what_stands_there_and_what_came_out(page: Path) -> None:
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
def test_what_would_be_lost_is_an_error(page: Path, old: str, new: str, message: str) -> None:
    assert MADE.count(old) == 1
    page.write_text(MADE.replace(old, new))
    done = pages(page)
    assert done.returncode == 1
    assert message in done.stderr
