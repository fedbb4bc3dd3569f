"""`tailback sweep` and `tailback study`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tailback as tb
from small_sweep import BUFFER
from support import Command


class TestCommands:
    AXES = ("--vary", "flows.*.tcp.preset=reno,sack", "--vary", f"{BUFFER}=5 packets,20 packets")

    def test_a_sweep_is_run_shown_exported_and_compared(self, command: Command, file: Path, tmp_path: Path) -> None:
        swept = command("sweep", file, *self.AXES, "--seeds", 2, "--out", "a", "--json")
        assert (swept.returncode, json.loads(swept.stdout)["done"]) == (0, 8)
        assert command("sweep", file, *self.AXES, "--seeds", 2, "--out", "b", "--executor", "processes").returncode == 0
        same = command("study", "compare", "a", "b")
        assert (same.returncode, same.stdout) == (0, "no differences in 8 runs\n")
        assert command("study", "export", "a", "--out", "tables", "--format", "csv").returncode == 0
        assert (tmp_path / "tables" / "groups.csv").read_text().count("\n") == 9
        assert command("study", "resume", "a").returncode == 0
        assert command("study", "prune", "a").stdout.startswith("removed 0 results")

    def test_means_and_plots_of_a_study(self, command: Command, file: Path, tmp_path: Path) -> None:
        pytest.importorskip("matplotlib")
        command("sweep", file, "--vary", "flows.tcp.count=1,2", "--vary", f"{BUFFER}=5 packets,20 packets", "--out", "a")
        means = json.loads(command("study", "means", "a", "queues.bottleneck.utilisation", "--json").stdout)
        study = tb.Study(tmp_path / "a")
        assert [row["mean"] for row in means] == study.means("queues.bottleneck.utilisation")["mean"].tolist()
        assert [row["low"] for row in means] == [None] * 4
        # Labels are numbers here, and text on the command line.
        for words, name in (
            (("--over", BUFFER, "--where", "flows.tcp.count=2"), "line.pdf"),
            (("flows.*.goodput_bps", "--kind", "ecdf", "--by", BUFFER, "--where", "flows.tcp.count=2"), "ecdf.svg"),
            (("--kind", "heat", "--over", f"{BUFFER},flows.tcp.count"), "heat.png"),
            (("cwnd,queue", "--kind", "traces", "--by", BUFFER, "--where", "flows.tcp.count=2"), "traces.pdf"),
        ):
            drawn = command("study", "plot", "a", *words, "--out", name)
            assert (drawn.returncode, drawn.stderr) == (0, f"wrote {name}\n")
            assert (tmp_path / name).stat().st_size > 1000
        for asked, told in (
            (("--over", BUFFER, "--where", "flows.tcp.count=3", "--out", "b.pdf"), "expected one of `1`, `2`"),
            (
                ("--over", BUFFER, "--where", "flows.tcp.count=2", "--out", "b.xyz"),
                "cannot write a plot to b.xyz; expected a name",
            ),
            (("--over", BUFFER, "--where", "flows.tcp.count=2", "--out", "no/b.pdf"), "cannot write the plot to no/b.pdf"),
        ):
            refused = command("study", "plot", "a", *asked)
            assert (refused.returncode, told in refused.stderr) == (2, True), refused.stderr

    def test_status_counts_runs_by_state(self, command: Command, file: Path) -> None:
        command("sweep", file, "--seeds", 3, "--out", "a")
        status = json.loads(command("study", "status", "a", "--json").stdout)
        assert {key: status[key] for key in ("planned", "running", "done", "failed", "total", "working")} == {
            "planned": 0,
            "running": 0,
            "done": 3,
            "failed": 0,
            "total": 3,
            "working": False,
        }

    def test_compare_exits_with_1_where_results_differ(self, command: Command, file: Path) -> None:
        command("sweep", file, "--seeds", 2, "--out", "a")
        command("sweep", file, "--seeds", 3, "--out", "b")
        different = command("study", "compare", "a", "b")
        assert (different.returncode, different.stdout) == (
            1,
            "seed 3: run: missing and present\n1 differences; both studies have 2 runs in common\n",
        )

    def test_a_dry_run_shows_the_grid_and_an_estimate_and_creates_no_study(
        self, command: Command, file: Path, tmp_path: Path
    ) -> None:
        shown = command("sweep", file, *self.AXES, "--seeds", 5, "--out", "a", "--dry-run")
        assert shown.stdout.startswith("4 points x 5 seeds = 20 runs\n")
        assert "\nestimate: " in shown.stdout
        assert (shown.returncode, shown.stderr, (tmp_path / "a").exists()) == (0, "dry run: nothing was simulated\n", False)

    def test_a_missed_target_width_is_reported_and_exits_with_1(self, command: Command, file: Path, tmp_path: Path) -> None:
        drawn = (
            file.read_text()
            + '\n[flows.other]\nfrom = "left"\nto = "right"\nstart = {uniform = ["0 s", "1 s"]}\ntcp = {preset = "sack"}\n'
        )
        (tmp_path / "drawn.toml").write_text(drawn)
        goal = ("--until", "queues.bottleneck.mean_wait_s:0.01%", "--seeds", 2, "--max-seeds", 3, "--out", "a")
        missed = command("sweep", "drawn.toml", "--vary", f"{BUFFER}=5 packets", *goal)
        assert missed.returncode == 1
        assert "queues.bottleneck.mean_wait_s" in missed.stdout
        assert "the interval of queues.bottleneck.mean_wait_s is wider than 0.01 % at 1 of 1 points:" in missed.stderr
        assert f"{BUFFER}=5 packets: " in missed.stderr
        assert "with 3 seeds; needs about " in missed.stderr
        shown = json.loads(command("study", "status", "a", "--json").stdout)
        assert [one["seeds"] for one in shown["unconverged"]] == [3]
        assert command("study", "resume", "a").returncode == 1

    def test_seeds_without_effect_are_reported(self, command: Command, file: Path) -> None:
        swept = command("sweep", file, "--seeds", 3, "--out", "a")
        assert (swept.returncode, swept.stderr) == (
            0,
            "nothing is random here: all seeds give the same result, and there is no interval\n",
        )
        assert swept.stdout.rstrip().endswith("-")
        refused = command("sweep", file, "--until", "goodput:2%", "--out", "b")
        assert refused.returncode == 2
        assert "nothing is random" in refused.stderr

    @pytest.mark.parametrize(
        ("words", "told"),
        [
            (("--vary", "links.bottleneck.queue.gap=5"), "did you mean `topology.dumbbell.queue.gap`?"),
            (("--vary", "flows.tcp.count=1..1000000000"), "1,000,000,000 points"),
            (("--vary", "flows.tcp.count="), "the grid is empty"),
            (("--vary", "flows.tcp.count"), "is not an axis"),
            (("--vary", "flows.tcp.count=1..2:1e-300"), "has too many values"),
            (("--vary", "flows.tcp.count=1..2:1e-999999"), "has too many values"),
            (("--until", "goodput"), "is not a target width"),
            (("--executor", "cloud"), "executor 'cloud' is not valid"),
        ],
    )
    def test_bad_input_is_reported_and_exits_with_2(
        self, command: Command, file: Path, tmp_path: Path, words: tuple[str, ...], told: str
    ) -> None:
        refused = command("sweep", file, *words, "--out", "a")
        assert (refused.returncode, told in refused.stderr, "nothing was run" in refused.stderr) == (2, True, True), (
            refused.stderr
        )
        assert not (tmp_path / "a").exists()

    def test_a_sweep_requires_a_directory(self, command: Command, file: Path) -> None:
        refused = command("sweep", file)
        assert (refused.returncode, "--out DIR" in refused.stderr) == (2, True)

    def test_a_directory_without_a_study_is_rejected(self, command: Command) -> None:
        for words in (("status", "a"), ("resume", "a"), ("prune", "a"), ("export", "a", "--out", "b"), ("compare", "a", "b")):
            refused = command("study", *words)
            assert (refused.returncode, refused.stderr) == (2, "error: there is no study in `a`\n")
