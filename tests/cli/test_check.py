"""`tailback check`."""

from __future__ import annotations

import json
from pathlib import Path

from support import ROOT, SMALL, Command


def test_check_reports_valid_and_invalid_files(command: Command, file: Path) -> None:
    file.write_text(SMALL.replace("count = 2", "count = 1"))
    bad = file.parent / "bad.toml"
    bad.write_text(SMALL.replace("10 Mbps", "10"))
    done = command("check", file.name, bad.name)
    assert (done.returncode, done.stdout) == (2, "small.toml: valid\n")
    assert done.stderr == (
        "error: `rate` has no unit\n"
        " --> bad.toml:6:8\n"
        "  |\n"
        '6 | rate = "10"\n'
        "  |        ^^^^\n"
        "  at       topology.dumbbell.rate\n"
        '  given    "10"\n'
        "  expected a rate such as `10 Mbps` (bps, bit/s, kbps, kbit/s, Mbps, Mbit/s, Gbps, Gbit/s, Tbps, Tbit/s)\n"
        "  hint     write `10 bps` if it is in bits per second\n"
        "1 error in bad.toml; nothing was run\n"
    )
    verdicts = json.loads(command("check", "--json", file.name, bad.name).stdout)
    assert [verdict["valid"] for verdict in verdicts] == [True, False]
    place = {name: verdicts[1]["errors"][0][name] for name in ("line", "column", "end_column", "source_line")}
    assert place == {"line": 6, "column": 8, "end_column": 12, "source_line": 'rate = "10"'}


def test_remarks_are_made_where_nothing_is_random(command: Command, file: Path) -> None:
    done = command("check", file)
    assert (done.returncode, done.stdout) == (0, f"{file}: valid\n")
    assert done.stderr.startswith("note: results may show phase effects: 2 flows share the drop-tail queue of `bottleneck`")
    assert "phase effects" in command("run", file).stdout
    file.write_text(file.read_text().replace("count = 2", 'count = 2\njitter = "20 us"'))
    assert command("check", file).stderr == ""
    assert "phase effects" not in command("run", file).stdout
    file.write_text(file.read_text().replace("count = 2", 'count = 2\npropagation_rtt = ["40 ms", "42 ms"]'))
    assert command("check", file).stderr.startswith(
        "note: round trips may decide the shares of the 2 flows at the drop-tail queue"
    )


def test_all_examples_are_valid(command: Command) -> None:
    examples = sorted((ROOT / "examples").glob("*.toml"))
    assert len(examples) >= 12
    done = command("check", *examples)
    remarks = [line for line in done.stderr.splitlines() if not line.startswith(" ")]
    assert done.returncode == 0
    assert [line for line in remarks if not line.startswith("note: round trips may decide")] == []


def test_unintended_settings_cause_warnings(command: Command, file: Path) -> None:
    text = (ROOT / "examples/spd.toml").read_text()
    odd = text.replace('congestion_threshold = "200 cells"', 'congestion_threshold = "800 cells"')
    assert odd != text
    file.write_text(odd)
    done = command("check", file.name)
    assert (done.returncode, done.stdout) == (0, "small.toml: valid\n")
    assert done.stderr.startswith(
        "warning: `congestion_threshold` leaves SPD no packet to discard: this policy is `epd`\n  --> small.toml:34:24\n"
    )
    verdict = json.loads(command("check", "--json", file.name).stdout)[0]
    assert verdict["valid"]
    (warning,) = verdict["warnings"]
    assert (warning["at"], "800 cells" in warning["source_line"]) == ("links.link23.queue.congestion_threshold", True)
    assert command("run", file.name).stderr.count("warning: `congestion_threshold`") == 1
