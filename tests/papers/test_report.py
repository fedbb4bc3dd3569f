"""The report on a document."""

from __future__ import annotations

import json
import re
import sys
import xml.etree.ElementTree
from dataclasses import replace
from pathlib import Path

import pytest

import tailback as tb
from reports import fetched, parsed
from tailback.papers import Claim, Condition, Curves, Document, Experiment, Grid, Line, Ranking, ReferenceLine, at, document
from tailback.papers._report import Basis, page
from toy_experiment import TOY


@pytest.mark.usefixtures("toys")
def test_the_report_is_a_self_contained_page(tmp_path: Path) -> None:
    done = tb.reproduce("toy", seeds=2)
    (page,) = done.report(tmp_path / "new")
    assert page == tmp_path / "new" / "toy.html"
    text = page.read_text()
    assert fetched(text) == []
    drawn = re.findall(r"<svg .*?</svg>", text, re.DOTALL)
    assert len(drawn) == 2
    for svg in drawn:
        assert xml.etree.ElementTree.fromstring(svg).tag.endswith("svg")
    assert text.index("3 statements: ") < text.index("How much buffer?")
    assert done.report(tmp_path / "page.html") == [tmp_path / "page.html"]
    assert (tmp_path / "page.html").read_text() == text


def test_a_document_begins_with_the_experiment_that_leads(toys: list[Experiment], monkeypatch: pytest.MonkeyPatch) -> None:
    second = replace(
        TOY, id="toy/fig2", title="The verdict", answer=lambda results: f"It is {len(results.points)}.\n\nReally <so>."
    )
    toys.append(second)
    document = Document("toy", "Toys", "A toy box", {}, tuple(toys), lead="toy/fig2")
    monkeypatch.setattr(sys.modules["toys"], "DOCUMENT", document, raising=False)
    done = tb.reproduce("toy", seeds=2)
    shown = page(document, done.experiments, [], Basis(2, done.requested, done.tally))
    assert shown.index("The verdict") < shown.index("A claim is judged by") < shown.index('id="toy/fig1"')
    assert shown.count('id="toy/fig2"') == 1
    assert "<p>It is 2.</p>\n<p>Really &lt;so&gt;.</p>" in shown
    assert [each.get("answer") for each in done.to_dict()["experiments"]] == [None, "It is 2.\n\nReally <so>."]


def test_a_grid_is_a_table_with_the_best_of_each_row_in_bold(toys: list[Experiment]) -> None:
    grids = (
        Grid("goodput", "policy", "packets", "carried"),
        Grid("goodput", "policy", "packets", "spared", best="min"),
    )
    toys[0] = replace(TOY, grids=grids, panels=())
    done = tb.reproduce("toy", seeds=2)
    shown = page(
        Document("toy", "Toys", "A toy box", {}, tuple(toys)), done.experiments, [], Basis(2, done.requested, done.tally)
    )
    most, least = (re.search(rf"<tr><th>{title}</th>.*?</table>", shown, re.DOTALL) for title in ("carried", "spared"))
    assert most
    assert least
    assert '<th class="n">2</th><th class="n">50</th>' in most[0]
    # Fifty packets carry more than two.
    assert re.search(r'<td>drop_tail</td><td class="n">0[^<]*</td><td class="n"><b>0[^<]*</b></td>', most[0])
    assert re.search(r'<td>drop_tail</td><td class="n"><b>0[^<]*</b></td><td class="n">0[^<]*</td>', least[0])


HOSTILE = "<script>alert('\"')</script>&amp;</figure>"


def test_names_are_escaped_everywhere(toys: list[Experiment]) -> None:
    claim = replace(TOY.claims[0], text=HOSTILE, note=HOSTILE)
    assumptions = {HOSTILE: HOSTILE}
    labels = [replace(variant, labels={**variant.labels, "policy": HOSTILE}) for variant in TOY.variants]
    curves, ranking = TOY.panels
    assert isinstance(curves, Curves)
    assert isinstance(ranking, Ranking)
    panels = (
        (
            replace(
                curves,
                title=HOSTILE,
                axis=HOSTILE,
                unit=HOSTILE,
                lines=(Line(HOSTILE, {}),),
                reference_lines=(ReferenceLine(HOSTILE, 0.9),),
            ),
        ),
        (replace(ranking, lines=tuple(replace(line, label=HOSTILE + line.label) for line in ranking.lines)),),
    )
    toys[0] = replace(
        TOY,
        title=HOSTILE,
        question=HOSTILE,
        source=f"{HOSTILE}, figure 1",
        variants=tuple(labels),
        claims=(claim,),
        assumptions=assumptions,
        panels=panels,
        grids=(Grid("goodput", "policy", "packets", HOSTILE),),
        answer=lambda _: HOSTILE,
    )
    done = tb.reproduce("toy", seeds=2)
    document = Document("toy", HOSTILE, HOSTILE, assumptions, tuple(toys))
    shown = page(document, done.experiments, [HOSTILE], Basis(2, done.requested, done.tally))
    tree = parsed(shown)
    # Data of one figure, and the script of the page if it has been built.
    assert [each.get("type", "") for each in tree.iter("script")] in (["application/json"], ["application/json", ""])
    assert "alert('" not in "".join(each.text or "" for each in tree.iter("script"))
    # All of it is present as text: in the title, headings, paragraphs, tables and drawings.
    for tag in ("title", "h1", "h2", "td", "th", "dt", "dd", "text"):
        assert any(HOSTILE in "".join(each.itertext()) for each in tree.iter(tag)), tag
    numbers = next(each for each in tree.iter("script") if each.get("type"))
    assert json.loads(numbers.text or "")["panels"][0]["curves"][0]["name"] == HOSTILE


def test_figures_have_the_document_s_numbers_and_are_linked(toys: list[Experiment]) -> None:
    toys[:] = [
        replace(TOY, source="figures 3 to 5, section 2"),
        replace(TOY, id="toy/own", source="nowhere", question="More than in figure 4 or figure 9?", panels=TOY.panels[:1]),
    ]
    done = tb.reproduce("toy", seeds=2)
    document = Document("toy", "Toys", "A toy box", {}, tuple(toys))
    tree = parsed(page(document, done.experiments, [], Basis(2, done.requested, done.tally)))
    names = {figure.get("id"): figure.findtext("figcaption/b") for figure in tree.iter("figure")}
    assert names == {"toy/fig1-1": "Figures 3 to 5, 1 of 2.", "toy/fig1-2": "Figures 3 to 5, 2 of 2.", "toy/own-1": "Plot 1."}
    links = [(link.get("href"), link.text) for paragraph in tree.iter("p") for link in paragraph.iter("a")]
    # Figure 9 is not on the page, and no text links to its own section.
    assert links == [("#toy/fig1-1", "figure 4")]
    captions = ["".join(caption.itertext()) for caption in tree.iter("figcaption")]
    assert captions[0].startswith("Figures 3 to 5, 1 of 2. Goodput over buffer. Dotted: 90\N{NO-BREAK SPACE}%.")
    assert captions[1] == "Figures 3 to 5, 2 of 2. Goodput."


def test_open_conditions_are_listed_with_the_claims_that_they_decide(toys: list[Experiment]) -> None:
    condition = Condition("packets", "figure 1 gives no buffer", (50, 2), "usual then")
    claims = (
        Claim("T8", "some of the link is used", at("goodput") > 0),
        Claim("T9", "half of the link is used", at("goodput") > 0.5, kind="conditional"),
    )
    toys[:] = [replace(TOY, claims=claims, conditions=(condition,))]
    done = tb.reproduce("toy", seeds=8)
    assert [verdict.finding for verdict in done.claims] == ["holds", "depends"]
    (experiment,) = done.to_dict()["experiments"]
    assert experiment["conditions"][0]["says"] == "figure 1 gives no buffer"
    shown = page(document("toy"), done.experiments, [], Basis(8, done.requested, done.tally))
    assert re.search(r"<td[^>]*>figure 1 gives no buffer</td><td[^>]*>50: usual then</td><td>2</td><td[^>]*>T9</td>", shown)
    assert "1 holds, 1 holds in some settings" in shown
