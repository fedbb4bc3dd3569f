"""Experiments of documents: how claims are judged, what is run, and the command as a whole."""

from __future__ import annotations

import json
import math
import os
import re
import signal
import subprocess
import sys
import types
import xml.etree.ElementTree
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import tailback as tb
from support import Command
from tailback import papers
from tailback._cli import app
from tailback._interval import Interval
from tailback._study.runner import Progress
from tailback.papers import (
    Choice,
    Claim,
    Contrast,
    Curves,
    Document,
    Experiment,
    Grid,
    Inequality,
    Kind,
    LeftOpen,
    Level,
    Line,
    Measured,
    Outcome,
    Point,
    Ranking,
    Trace,
    Value,
    Values,
    vary,
)
from tailback.papers._experiment_plot import draw
from tailback.papers._plan import Plan
from tailback.papers._report import Basis, page

BASE = tb.dumbbell(
    name="toy",
    rate="10 Mbps",
    delay="10 ms",
    buffer="20 packets",
    flows={"tcp": {"count": 2, "start": {"uniform": ["0 s", "20 ms"]}, "tcp": {"preset": "reno"}}},
    duration="3 s",
)


def buffers(*packets: int) -> list[Choice]:
    return [Choice({"packets": n}, {"topology.dumbbell.queue.buffer": f"{n} packets"}) for n in packets]


def goodput(run: tb.Run) -> float:
    return float(run.groups["goodput_bps"][0]) / 10e6


def timeouts(run: tb.Run) -> float:
    return float(run.flows["timeouts"].sum())


def more_with_fifty(seen: Measured) -> Values:
    return seen.values("goodput", packets=50) - seen.values("goodput", packets=2)


def window(run: tb.Run) -> tuple[Values, Values]:
    return run.trace("cwnd")["time_s"], run.trace("cwnd")["cwnd_packets"]


CLAIMS = (
    Claim("T1", "R", "a buffer of 50 packets carries more than one of 2", more_with_fifty, Inequality(">", 0)),
    Claim(
        "T2",
        "S",
        "half of the link is used",
        lambda seen: seen.values("goodput", packets=50),
        Inequality(">", 0.5),
        published=0.9,
        setting="50 packets",
        contrast=Contrast("2 packets", lambda seen: seen.values("goodput", packets=2)),
    ),
    Claim("T3", "N", "two packets are enough", lambda seen: seen.values("goodput", packets=2), Value(0.99, 0.01), published=0.99),
)

TOY = Experiment(
    id="toy/fig1",
    title="A toy",
    question="How much buffer?",
    source="figure 1",
    variants=vary(BASE, buffers(2, 50), policy="drop_tail"),
    measures={"goodput": goodput},
    claims=CLAIMS,
    panels=(
        (Curves("goodput", "packets", (Line("toy", {}),), "goodput", "buffer, packets", levels=(Level("90 %", 0.9),)),),
        (Ranking("goodput", (Line("two", {"packets": 2}), Line("fifty", {"packets": 50})), "goodput"),),
    ),
    traces=(Trace("cwnd", {"packets": 2}, ["cwnd"], window),),
    left_open=(LeftOpen("everything", "a toy"),),
)


def outcome(**values: list[float]) -> Outcome:
    """An outcome in which each name is a policy with such goodputs."""
    points = [Point({"policy": name}, {"goodput": np.array(each)}) for name, each in values.items()]
    return Outcome(points, experiment=TOY, seeds=len(next(iter(values.values()))))


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch) -> list[Experiment]:
    """A document of toys, of which a test may change the experiments."""
    experiments = [TOY]
    module = types.ModuleType("toys")
    monkeypatch.setitem(sys.modules, "toys", module)
    monkeypatch.setattr(papers, "DOCUMENTS", {"toy": "toys"})
    monkeypatch.setattr(
        module, "__getattr__", lambda _name: Document("toy", "Toys", "A toy box", (), tuple(experiments)), raising=False
    )
    return experiments


def replaced(*claims: Claim) -> Experiment:
    """The toy with other claims and no drawings."""
    return Experiment("toy/fig1", "A toy", "How much?", "figure 1", TOY.variants, TOY.measures, claims)


@pytest.mark.parametrize(
    ("requirement", "low", "high", "holds"),
    [
        (Inequality(">", 1), 1.0, 3.0, False),
        (Inequality(">", 1), 1.1, 3.0, True),
        (Inequality(">=", 1), 1.0, 3.0, True),
        (Inequality(">=", 1), 0.9, 3.0, False),
        (Inequality("<", 3), 1.0, 3.0, False),
        (Inequality("<", 3), 1.0, 2.9, True),
        (Inequality("<=", 3), 1.0, 3.0, True),
        (Inequality("<=", 3), 1.0, 3.1, False),
        (Value(2, 0), 1.0, 3.0, True),
        (Value(4, 1), 1.0, 3.0, True),
        (Value(4.1, 1), 1.0, 3.0, False),
        (Value(0, 1), 1.0, 3.0, True),
        (Value(-0.1, 1), 1.0, 3.0, False),
        (Inequality(">", 0), float("nan"), float("nan"), False),
        (Value(1, 9), float("nan"), float("nan"), False),
    ],
)
def test_the_whole_interval_lies_on_its_side(requirement: Inequality | Value, low: float, high: float, holds: bool) -> None:
    assert requirement.holds(Interval((low + high) / 2, (high - low) / 2)) is holds


def test_an_order_is_the_interval_of_paired_differences() -> None:
    # Differences 1, 2, 3: mean 2, deviation 1, t(2) = 4.3027, half width 4.3027 / sqrt(3) = 2.484: zero is inside.
    wide = outcome(epd=[10.0, 20.0, 30.0], bpd=[11.0, 22.0, 33.0])
    difference = wide.interval(wide.values("goodput", policy="bpd") - wide.values("goodput", policy="epd"))
    assert difference.mean == 2.0
    assert difference.half == pytest.approx(2.48414, abs=1e-5)
    assert not Inequality(">", 0).holds(difference)
    # Differences 2, 2, 2 have no width, though each policy's own interval is far wider than their distance.
    narrow = outcome(epd=[10.0, 20.0, 30.0], bpd=[12.0, 22.0, 32.0])
    difference = narrow.interval(narrow.values("goodput", policy="bpd") - narrow.values("goodput", policy="epd"))
    assert (difference.mean, difference.half) == (2.0, 0.0)
    assert Inequality(">", 0).holds(difference)


def test_the_best_is_the_point_with_the_largest_mean() -> None:
    seen = outcome(a=[1.0, 9.0], b=[4.0, 7.0], c=[0.0, 0.0])
    assert seen.best("goodput").tolist() == [4.0, 7.0]


def test_a_measurement_names_exactly_one_point() -> None:
    with pytest.raises(LookupError, match=r"toy/fig1: 0 points have \{'policy': 'red'\}"):
        outcome(a=[1.0], b=[2.0]).values("goodput", policy="red")
    with pytest.raises(LookupError, match="toy/fig1: 2 points"):
        outcome(a=[1.0], b=[2.0]).values("goodput")


def test_only_an_s_claim_has_a_setting_and_a_contrast() -> None:
    with pytest.raises(ValueError, match="C1: an S claim"):
        Claim("C1", "S", "text", more_with_fifty, Inequality(">", 0))
    with pytest.raises(ValueError, match="C1: an S claim"):
        Claim("C1", "R", "text", more_with_fifty, Inequality(">", 0), contrast=Contrast("there", more_with_fifty))


def test_equal_runs_of_several_experiments_run_once() -> None:
    other = Experiment(
        "toy/fig2", "", "", "", vary(BASE, buffers(50, 2, 9)), {"timeouts": timeouts, "goodput": goodput}, claims=()
    )
    plan = Plan([TOY, other], 3)
    assert plan.run(workers=2) == 0
    # Two buffers in common and a third, three seeds each, and the trace, which records more.
    assert (plan.tally.planned, plan.tally.runs, plan.asked) == (10, 10, 3 * 5 + 1)
    assert len(set(plan.tally.hashes)) == 10
    first, second = plan.outcomes()
    for packets in (2, 50):
        ours, theirs = (each.values("goodput", packets=packets) for each in (first, second))
        np.testing.assert_array_equal(ours, theirs)


def test_values_stand_in_the_order_of_the_seeds_with_any_number_of_workers() -> None:
    measured = []
    for workers in (1, 2):
        plan = Plan([TOY], 3)
        plan.run(workers=workers)
        measured.append(plan.outcomes()[0].values("goodput", packets=2))
    scenario = BASE.with_({"topology.dumbbell.queue.buffer": "2 packets"})
    expected = [goodput(tb.simulate(scenario, seed=seed)) for seed in (1, 2, 3)]
    assert measured[0].tolist() == measured[1].tolist() == expected


def test_progress_counts_runs_up_to_all_of_them() -> None:
    heard: list[Progress] = []
    Plan([TOY], 2).run(workers=2, progress=heard.append)
    assert heard[0] == Progress(done=0, failed=0, total=5)
    assert heard[-1] == Progress(done=5, failed=0, total=5)


def test_a_failing_run_names_its_experiment_variant_and_seed() -> None:
    def broken(run: tb.Run) -> float:
        return 1 / 0 if run.seed == 2 else 0.0

    plan = Plan([Experiment("toy/fig9", "", "", "", TOY.variants[:1], {"broken": broken}, ())], 2)
    with pytest.raises(tb.InternalError) as caught:
        plan.run(workers=1)
    assert re.fullmatch(
        r"toy/fig9 \(policy drop_tail, packets 2\), seed 2: .*broken-\w{20}: ZeroDivisionError: division by zero",
        caught.value.message,
    )
    assert (len(caught.value.content_hash), caught.value.seed) == (64, 2)


def test_a_scenario_that_cannot_run_names_its_experiment_before_anything_runs() -> None:
    variants = vary(BASE, [Choice({"rate": "none"}, {"topology.dumbbell.rate": "10"})])
    with pytest.raises(tb.InternalError, match=r"toy/fig9 \(rate none\): .*a rate without a unit"):
        Plan([Experiment("toy/fig9", "", "", "", variants, {"goodput": goodput}, ())], 2)


@pytest.mark.usefixtures("toys")
def test_claims_as_data() -> None:
    done = tb.reproduce("toy/fig1", seeds=3)
    (experiment,) = done.to_dict()["experiments"]
    assert list(experiment) == ["id", "points", "claims"]
    assert [(point["policy"], point["packets"], point["goodput"]["seeds"]) for point in experiment["points"]] == [
        ("drop_tail", 2, 3),
        ("drop_tail", 50, 3),
    ]
    first, second, third = experiment["claims"]
    assert set(first) == {"id", "kind", "text", "published", "measured", "low", "high", "holds", "contrast"}
    assert (first["kind"], first["holds"], first["published"], first["contrast"]) == ("R", True, None, None)
    assert first["low"] < first["measured"] < first["high"]
    assert (second["text"], second["published"], second["holds"]) == ("half of the link is used (50 packets)", 0.9, True)
    assert set(second["contrast"]) == {"setting", "measured", "low", "high", "holds"}
    assert (second["contrast"]["setting"], second["contrast"]["holds"]) == ("2 packets", False)
    assert (third["kind"], third["holds"], third["published"]) == ("N", False, 0.99)
    assert done.verdict() == (
        "1 of 1 robust claims hold; 1 of 1 that need a special setting hold there and fail beside it; "
        "1 of 1 that no setting gave before do not come out here either"
    )
    assert done.holds
    assert done.complete
    assert "T1" in done._repr_html_()
    assert repr(done).startswith("<Reproduction toy/fig1: 1 of 1 robust")
    assert done.points[0]["experiment"] == "toy/fig1"


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
    assert text.index("1 of 1 robust claims hold") < text.index("How much buffer?")
    assert done.report(tmp_path / "page.html") == [tmp_path / "page.html"]
    assert (tmp_path / "page.html").read_text() == text


@pytest.mark.parametrize(("kind", "code"), [("R", 1), ("N", 0)])
def test_only_a_failing_r_claim_fails_the_command(toys: list[Experiment], kind: Kind, code: int) -> None:
    toys[:] = [replaced(Claim("T", kind, "false", more_with_fifty, Inequality("<", 0)))]
    done = CliRunner().invoke(app, ["reproduce", "toy", "--seeds", "2"])
    assert done.exit_code == code, done.output
    assert ("FAILS" if kind == "R" else "not reproduced") in done.stdout


def test_an_s_claim_that_holds_nowhere_does_not_fail_the_command(toys: list[Experiment]) -> None:
    claim = Claim(
        "T", "S", "false", more_with_fifty, Inequality("<", 0), setting="here", contrast=Contrast("there", more_with_fifty)
    )
    toys[:] = [replaced(claim)]
    done = CliRunner().invoke(app, ["reproduce", "toy", "--seeds", "2"])
    assert (done.exit_code, "not shown" in done.stdout) == (0, True)


def test_our_bug_in_an_experiment_is_exit_code_3(toys: list[Experiment]) -> None:
    toys[:] = [Experiment("toy/fig9", "", "", "", TOY.variants, {"broken": lambda _run: float("x")}, ())]
    done = CliRunner().invoke(app, ["reproduce", "toy"])
    assert done.exit_code == 3
    assert re.search(r"toy/fig9 \(policy drop_tail, packets \d+\), seed \d+: .*: ValueError", done.stderr)


def test_what_is_not_known_is_null_and_holds_nothing(toys: list[Experiment]) -> None:
    claim = Claim("T", "N", "unknown", lambda seen: seen.values("goodput", packets=2) * float("nan"), Inequality(">", 0))
    toys[:] = [replaced(claim)]
    (judged,) = tb.reproduce("toy", seeds=2).to_dict()["experiments"][0]["claims"]
    assert (judged["measured"], judged["low"], judged["high"], judged["holds"]) == (None, None, None, False)


def test_an_experiment_may_take_a_multiple_of_the_seeds() -> None:
    thrice = Experiment("toy/fig1", "", "", "", TOY.variants, TOY.measures, (), times=3)
    exact = Experiment("toy/fig1", "", "", "", TOY.variants, TOY.measures, (), exact=True)
    assert [each.seeds(10) for each in (TOY, thrice, exact)] == [10, 30, 1]
    assert [each.runs(10) for each in (TOY, thrice, exact)] == [21, 60, 2]


def test_a_document_begins_with_the_experiment_that_leads(toys: list[Experiment], monkeypatch: pytest.MonkeyPatch) -> None:
    second = replace(TOY, id="toy/fig2", title="The verdict", answer=lambda seen: f"It is {len(seen.points)}.\n\nReally <so>.")
    toys.append(second)
    document = Document("toy", "Toys", "A toy box", (), tuple(toys), lead="toy/fig2")
    monkeypatch.setattr(sys.modules["toys"], "DOCUMENT", document, raising=False)
    done = tb.reproduce("toy", seeds=2)
    shown = page(document, done.experiments, [], Basis(2, done.asked, done.tally))
    assert shown.index("The verdict") < shown.index("Claims are of three kinds") < shown.index('id="toy/fig1"')
    assert shown.count('id="toy/fig2"') == 1
    assert "<p>It is 2.</p>\n<p>Really &lt;so&gt;.</p>" in shown
    assert [each.get("answer") for each in done.to_dict()["experiments"]] == [None, "It is 2.\n\nReally <so>."]


@pytest.mark.parametrize("log", [False, True])
def test_a_line_has_a_gap_where_nothing_is_known(log: bool) -> None:
    panels = [(Curves("goodput", "packets", (Line("toy", {}),), "goodput", "buffer, packets", log=log),)]
    known = {2: [0.1, 0.2], 20: [math.nan, math.nan], 30: [0.0, 0.0], 40: [0.5, 0.6], 50: [math.inf, math.inf]}
    points = [Point({"packets": packets}, {"goodput": np.array(values)}) for packets, values in known.items()]
    (drawn,) = draw(panels, Measured(points))
    assert drawn.count("toy") == 1
    nothing = [Point(point.labels, {"goodput": point.values["goodput"] * math.nan}) for point in points]
    (empty,) = draw(panels, Measured(nothing))
    assert "toy" not in empty


def test_printed_numbers_are_crosses_in_the_plot() -> None:
    panel = Curves("goodput", "packets", (Line("toy", {}),), "goodput", "buffer, packets")
    points = [
        Point({"packets": packets, "printed": number}, {"goodput": np.array([packets / 100, packets / 90])})
        for packets, number in ((2, 0.4), (20, "0.5 and 0.6"), (50, 0.7))
    ]
    (drawn,) = draw([(replace(panel, printed=True),)], Measured(points))
    (without,) = draw([(panel,)], Measured(points))
    assert "crosses: printed in the document" in drawn
    assert "printed" not in without


def test_bands_beyond_the_scale_are_named() -> None:
    (level,), _ = TOY.panels
    assert isinstance(level, Curves)
    curve = replace(level, levels=())

    def drawn(second: float) -> str:
        points = [Point({"packets": n}, {"goodput": np.array([n, n * second])}) for n in (2, 50)]
        return draw([(curve,)], Measured(points))[0]

    assert "bands go on beyond the scale" in drawn(3.0)
    assert "bands" not in drawn(1.0001)


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


def test_every_claim_of_the_reference_is_there_once() -> None:
    ids = [claim.id for experiment in papers.experiments("bpd-2001") for claim in experiment.claims]
    assert len(ids) == len(set(ids))
    # C24 has two parts from the start, a and b.
    missing = [number for number in range(1, 32) if f"C{number}" not in ids and f"C{number}a" not in ids]
    assert missing == []


def test_every_figure_of_the_document_is_there() -> None:
    figures = [experiment.id.removeprefix("bpd-2001/fig") for experiment in papers.experiments("bpd-2001")]
    # Figures 5, 10, 11 and 21 are drawings of networks and of the algorithm.
    assert figures == [str(number) for number in (1, 2, 3, 4, 6, 7, 8, 9, *range(12, 21))]


def test_every_claim_and_figure_of_the_thesis_is_there() -> None:
    found = papers.experiments("spd-1998")
    ids = [claim.id for experiment in found for claim in experiment.claims]
    assert len(ids) == len(set(ids))
    # Some are asked for each number of connections: C32-15.
    missing = [number for number in range(32, 51) if not any(re.match(f"C{number}(?!\\d)", each) for each in ids)]
    assert missing == []
    # Figure 5.15 is a drawing of the network of 5.16.
    figures = [experiment.id.removeprefix("spd-1998/fig5.") for experiment in found if "/fig" in experiment.id]
    assert figures == [str(number) for number in (*range(1, 15), 16)]


def test_every_number_of_the_tables_stands_beside_what_is_measured() -> None:
    counts = {}
    for experiment in papers.experiments("spd-1998"):
        short = [each for each in experiment.variants if each.labels.get("setting") == "SHORT" and "printed" in each.labels]
        counts[experiment.id.partition("/")[2]] = len(short)
    # Table 5.2 has two rows for 20 cells.
    rows = {1: 9, 2: 9 - 1, 3: 9, 4: 9, 5: 9, 6: 8, 7: 18, 8: 18, 9: 18, 10: 18, 11: 18, 16: 10}
    assert {name: count for name, count in counts.items() if count} == {f"fig5.{number}": count for number, count in rows.items()}


def test_spd_keeps_the_queue_below_the_threshold_of_epd() -> None:
    done = tb.reproduce("spd-1998/fig5.12", "spd-1998/fig5.14", seeds=2)
    by_id = {verdict.claim.id: verdict for verdict in done.claims}
    # 600 cells and a tail of 22 for each of fifteen connections.
    assert 600 <= by_id["C44"].interval.mean <= 930
    assert by_id["C46b"].interval.mean < 0.01


def test_epd_keeps_the_buffer_at_its_threshold_and_bpd_does_not() -> None:
    by_id = {verdict.claim.id: verdict for verdict in tb.reproduce("bpd-2001/fig18", seeds=2).claims}
    # 600 cells and a tail of 11 for each of five connections; BPD may go to 1080 and beyond.
    assert 600 <= by_id["C27"].interval.mean <= 655
    assert 900 < by_id["C27b"].interval.mean <= 1200


def test_the_list_names_every_experiment(command: Command) -> None:
    done = command("reproduce", "list")
    assert (done.returncode, done.stderr) == (0, "")
    rows = json.loads(command("reproduce", "list", "--json").stdout)
    assert set(rows[0]) == {"id", "title", "claims", "runs"}
    assert [row["id"] for row in rows] == [experiment.id for experiment in papers.experiments()]
    assert all(row["id"] in done.stdout for row in rows)


def test_a_figure_of_the_document(command: Command, tmp_path: Path) -> None:
    done = command("reproduce", "bpd-2001/fig2", "--json", "--out", "out")
    assert (done.returncode, done.stderr) == (0, "wrote out/bpd-2001.html\nwrote out/bpd-2001.json\n")
    document = json.loads(done.stdout, parse_constant=pytest.fail)
    assert list(document) == ["experiments"]
    (experiment,) = document["experiments"]
    assert [(claim["id"], claim["kind"], claim["holds"]) for claim in experiment["claims"]] == [
        ("C1", "R", True),
        ("C3", "R", True),
    ]
    assert json.loads((tmp_path / "out" / "bpd-2001.json").read_text()) == document
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"bpd-2001.html", "bpd-2001.json", "study"}
    again = command("reproduce", "bpd-2001/fig2", "--json", "--out", "out")
    assert (again.returncode, again.stdout) == (0, done.stdout)
    said = re.fullmatch(
        r"(\d+) of (\d+) runs were in out/study already; `--fresh` runs them again\n(.*)", again.stderr, re.DOTALL
    )
    assert said
    assert (said[1], said[3]) == (said[2], done.stderr)
    assert "already" not in command("reproduce", "bpd-2001/fig2", "--out", "out", "--fresh").stderr


def test_an_unknown_experiment_gets_the_nearest_word(command: Command) -> None:
    done = command("reproduce", "bpd-2001/fg2")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: no experiment or document `bpd-2001/fg2`; there is `bpd-2001`, ")
    assert "did you mean `bpd-2001/fig2`?" in done.stderr


@pytest.mark.parametrize("seeds", ["0", "1", "-3", "many", "2.5"])
def test_fewer_than_two_seeds_are_refused(command: Command, seeds: str) -> None:
    done = command("reproduce", "bpd-2001/fig1", "--seeds", seeds)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--seeds" in done.stderr


@pytest.mark.parametrize("seeds", [1, 0, 2.5, "many", True])
def test_python_refuses_them_too(seeds: object) -> None:
    with pytest.raises(tb.ParameterError, match="seeds"):
        tb.reproduce("bpd-2001/fig1", seeds=seeds)  # type: ignore[arg-type]


def test_python_refuses_what_is_not_there() -> None:
    with pytest.raises(tb.UnknownName, match="did you mean `bpd-2001`"):
        tb.reproduce("bpd-2002")


@pytest.mark.parametrize("out", ["taken", "/proc/out", "taken/out"])
def test_a_place_that_cannot_be_written_is_refused_before_anything_runs(command: Command, tmp_path: Path, out: str) -> None:
    (tmp_path / "taken").touch()
    done = command("reproduce", "bpd-2001/fig1", "--out", out)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: nothing can be written to `{out}`: ")


def test_ctrl_c_keeps_the_experiments_that_were_done(tmp_path: Path) -> None:
    script = tmp_path / "endless.py"
    script.write_text(
        """\
import sys, types
from tailback import papers
from tailback._cli import app
from tailback.papers import Document, Experiment, vary
from test_reproduce import BASE, TOY, goodput

endless = Experiment("toy/fig2", "", "", "", vary(BASE.with_({"duration": "1000000 s"})), {"goodput": goodput}, ())
def said(self, progress):
    if progress.done == 5:
        sys.stderr.write("done so far\\n")
        sys.stderr.flush()
module = sys.modules["toys"] = types.ModuleType("toys")
module.DOCUMENT = Document("toy", "Toys", "", (), (TOY, endless))
papers.DOCUMENTS = {"toy": "toys"}
from tailback._progress import RunsBar
RunsBar.__call__ = said
app()
"""
    )
    words = [sys.executable, str(script), "reproduce", "toy", "--seeds", "2", "--out", "out", "--json"]
    environment = {**os.environ, "PYTHONPATH": f"{Path(__file__).parent}:{os.environ.get('PYTHONPATH', '')}", "MPLBACKEND": "agg"}
    with subprocess.Popen(
        words, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr
        assert process.stderr.readline() == "done so far\n"
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130, stderr
    assert "interrupted after 5 of 7 runs; kept what was done, without toy/fig2; the same command does the rest" in stderr
    assert [experiment["id"] for experiment in json.loads(stdout)["experiments"]] == ["toy/fig1"]
    assert "Interrupted: without toy/fig2." in (tmp_path / "out" / "toy.html").read_text()
