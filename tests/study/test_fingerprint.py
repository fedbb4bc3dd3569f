"""Fingerprints of code."""

from __future__ import annotations

import functools
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import tailback as tb
from made_code import PLAIN, module
from tailback._study.fingerprint import fingerprint


class TestFingerprint:
    @pytest.mark.parametrize("name", ["measure", "inner", "remembered", "modelled", "boxed"])
    def test_it_is_the_same_for_the_same_code_read_twice(self, name: str) -> None:
        first, second = (fingerprint(getattr(module(PLAIN), name)) for _ in range(2))
        assert first == second

    @pytest.mark.parametrize(
        ("name", "before", "after"),
        [
            ("measure", "+ LIMIT", "- LIMIT"),
            ("measure", "LIMIT = 3", "LIMIT = 4"),
            ("measure", "x * by", "x / by"),
            ("measure", "by=2", "by=3"),
            ("remembered", "x * by", "x / by"),
            ("inner", "math.sqrt", "math.exp"),
            ("inner", "{1, 2}", "{1, 3}"),
            ("inner", "mathis_rate", "padhye_rate"),
            ("boxed", "size = 1", "size = 2"),
            ("boxed", "2 * self", "3 * self"),
            ("modelled", "erlang_b", "mm1k"),
        ],
    )
    def test_it_changes_with_everything_the_function_refers_to(self, name: str, before: str, after: str) -> None:
        assert before in PLAIN
        first, second = (fingerprint(getattr(module(text), name)) for text in (PLAIN, PLAIN.replace(before, after)))
        assert first != second

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("def measure(run):", 'def measure(run):\n    """Now it is documented."""'),
            ("def measure(run):", "\n\n# Further down.\ndef measure(run):"),
            ("{1, 2}", "{1, 3}"),
            ("size = 1", "size = 2"),
        ],
    )
    def test_it_does_not_change_with_unrelated_code(self, before: str, after: str) -> None:
        first, second = (fingerprint(module(text).measure) for text in (PLAIN, PLAIN.replace(before, after)))
        assert first == second

    def test_it_is_the_same_in_every_process(self) -> None:
        code = """
            from tailback._study.fingerprint import fingerprint
            from tailback.user_code import Occupancy
            print(fingerprint(lambda: Occupancy))
        """
        words = [sys.executable, "-c", textwrap.dedent(code)]
        first, second = (subprocess.run(words, capture_output=True, check=True).stdout for _ in range(2))
        assert first == second

    def test_internal_attributes_of_abstract_classes_are_ignored(self) -> None:
        assert fingerprint(lambda: tb.Runs) == fingerprint(lambda: tb.Runs)

    def test_closures_and_arguments_of_partials_count(self) -> None:
        own = module(PLAIN)
        assert fingerprint(own.closed(1)) == fingerprint(own.closed(1))
        assert fingerprint(own.closed(1)) != fingerprint(own.closed(2))
        assert fingerprint(functools.partial(own.helper, by=1)) != fingerprint(functools.partial(own.helper, by=2))
        assert fingerprint(own.closed(np.array([1, 2]))) != fingerprint(own.closed(np.array([1, 3])))

    def test_recursive_functions_terminate(self) -> None:
        text = "def odd(n):\n    return n and even(n - 1)\ndef even(n):\n    return not n or odd(n - 1)\n"
        first, second = (fingerprint(module(each).odd) for each in (text, text.replace("not n or", "n == 0 or")))
        assert first != second

    def test_the_compiled_part_counts_by_its_sources(self, monkeypatch: pytest.MonkeyPatch) -> None:
        before, untouched = fingerprint(module(PLAIN).modelled), fingerprint(module(PLAIN).measure)
        monkeypatch.setattr(tb._core, "sources", lambda: "another")
        assert fingerprint(module(PLAIN).modelled) != before
        assert fingerprint(module(PLAIN).measure) == untouched

    def test_another_package_counts_by_its_version_and_is_not_loaded(self) -> None:
        code = """
            import sys
            from tailback import Table
            from tailback._study import fingerprint
            first = fingerprint.fingerprint(Table.to_pandas)
            assert "pandas" not in sys.modules
            fingerprint._installed = lambda package: "another"
            assert fingerprint.fingerprint(Table.to_pandas) != first
        """
        subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)

    def test_names_of_the_package_count_before_they_are_loaded(self) -> None:
        made = module("import tailback as tb\ndef measure(run):\n    return tb.simulate")
        before = fingerprint(made.measure)
        assert before != fingerprint(module("import tailback as tb\ndef measure(run):\n    return tb.dumbbell").measure)
        simulate = sys.modules["tailback._simulation.simulating"].simulate
        code = simulate.__code__
        try:
            simulate.__code__ = code.replace(co_consts=(*code.co_consts, "another"))
            assert fingerprint(made.measure) != before
        finally:
            simulate.__code__ = code
        assert fingerprint(made.measure) == before

    def test_patterns_count_by_their_text(self) -> None:
        found = [fingerprint(module(f"import re\nWORD = re.compile('{text}')\ndef f(run):\n    return WORD").f) for text in "aba"]
        assert found[0] == found[2] != found[1]

    def test_objects_without_content_are_rejected(self) -> None:
        with pytest.raises(tb.ParameterError, match=r"lock.* has no fingerprint"):
            fingerprint(module(PLAIN).closed(threading.Lock()))
