"""The lines of a file on which a class of user code depends."""

from __future__ import annotations

import pytest

from tailback.user_code._relevant_lines import relevant_lines

LAWS = """import tailback as tb
from math import sqrt

GAIN = 2
OTHER_GAIN = 3


def gain(window):
    return GAIN * sqrt(window)


def other_gain(window):
    return OTHER_GAIN


class Law:
    def answer(self):
        return gain(4)


class Child(Law):
    pass


class Other:
    def answer(self):
        return other_gain(4)


if __name__ == "__main__":
    print(Other().answer(), Law().answer())
"""


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        ("return OTHER_GAIN", "return 7", False),
        ("OTHER_GAIN = 3", "OTHER_GAIN = 4", False),
        ("print(Other()", "print(1, Other()", False),
        ("class Other:", "class Another:", False),
        ("GAIN = 2", "GAIN = 5", True),
        ("sqrt(window)", "sqrt(window + 1)", True),
        ("from math import sqrt", "from cmath import sqrt", True),
        ("gain(4)\n\n\nclass Child", "gain(5)\n\n\nclass Child", True),
        ("OTHER_GAIN = 3", "OTHER_GAIN = 3\nsetattr(tb, 'x', 1)", True),
    ],
)
def test_a_change_elsewhere_in_the_file_leaves_a_class_unchanged(old: str, new: str, changes: bool) -> None:
    changed = LAWS.replace(old, new, 1)
    assert changed != LAWS
    for name in ("Law", "Child"):
        assert (relevant_lines(changed.encode(), name) != relevant_lines(LAWS.encode(), name)) is changes


def test_a_class_that_looks_names_up_depends_on_its_whole_file() -> None:
    text = LAWS.replace("return gain(4)", "return globals()['gain'](4)")
    assert relevant_lines(text.encode(), "Law") == text.encode()
    assert relevant_lines(b"def f(:", "f") == b"def f(:"
    assert relevant_lines(LAWS.encode(), "Missing") == LAWS.encode()
