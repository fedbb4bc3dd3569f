"""The report on a document."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree
from dataclasses import replace
from pathlib import Path

import pytest

import tailback as tb
from tailback.papers import (
    Document,
    Experiment,
    Grid,
)
from tailback.papers._report import Basis, page
from toy_experiment import TOY


@pytest.mark.usefixtures("toys")
def test_the_report_is_one_page_that_needs_no_other(tmp_path: Path) -> None:
    done = tb.reproduce(seeds=2)
    (page,) = done.report(tmp_path / "new")
    assert page == tmp_path / "new" / "toy.html"
    text = page.read_text()
    assert not re.search(r'(src|href)="(?!#)', text)
    assert "url(http" not in text
    drawn = re.findall(r"<svg .*?</svg>", text, re.DOTALL)
    assert len(drawn) == 2
    for svg in drawn:
        assert xml.etree.ElementTree.fromstring(svg).tag.endswith("svg")
    assert text.index("3 statements: ") < text.index("How much buffer?")
    assert done.report(tmp_path / "page.html") == [tmp_path / "page.html"]
    assert (tmp_path / "page.html").read_text() == text


def test_a_document_begins_with_the_experiment_that_leads(toys: list[Experiment], monkeypatch: pytest.MonkeyPatch) -> None:
    second = replace(TOY, id="toy/fig2", title="The verdict", answer=lambda seen: f"It is {len(seen.points)}.\n\nReally <so>.")
    toys.append(second)
    document = Document("toy", "Toys", "A toy box", (), tuple(toys), lead="toy/fig2")
    monkeypatch.setattr(sys.modules["toys"], "DOCUMENT", document, raising=False)
    done = tb.reproduce("toy", seeds=2)
    shown = page(document, done.experiments, [], Basis(2, done.asked, done.tally))
    assert shown.index("The verdict") < shown.index("A claim is judged by") < shown.index('id="toy/fig1"')
    assert shown.count('id="toy/fig2"') == 1
    assert "<p>It is 2.</p>\n<p>Really &lt;so&gt;.</p>" in shown
    assert [each.get("answer") for each in done.to_dict()["experiments"]] == [None, "It is 2.\n\nReally <so>."]


def test_a_grid_is_a_table_with_the_best_of_each_row_in_bold(toys: list[Experiment]) -> None:
    grids = (
        Grid("goodput", "policy", "packets", "carried"),
        Grid("goodput", "policy", "packets", "spared", best="least"),
    )
    toys[0] = replace(TOY, grids=grids, panels=())
    done = tb.reproduce("toy", seeds=2)
    shown = page(Document("toy", "Toys", "A toy box", (), tuple(toys)), done.experiments, [], Basis(2, done.asked, done.tally))
    most, least = (re.search(rf"<tr><th>{title}</th>.*?</table>", shown, re.DOTALL) for title in ("carried", "spared"))
    assert most
    assert least
    assert "<th class=n>2</th><th class=n>50</th>" in most[0]
    # Fifty packets carry more than two.
    assert re.search(r"<td>drop_tail</td><td class=n>0[^<]*</td><td class=n><b>0[^<]*</b></td>", most[0])
    assert re.search(r"<td>drop_tail</td><td class=n><b>0[^<]*</b></td><td class=n>0[^<]*</td>", least[0])
