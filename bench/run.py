"""Compare Tailback with ns-2 and ns-3 on the same dumbbells: speed, memory and results.

    python bench/run.py                          # all of it, about fifteen minutes
    python bench/run.py --workloads W1,W3-10     # a selection
    python bench/run.py --parts memory           # packets per second, and only this part of the other measurements
    python bench/run.py --guided                 # Tailback with profile-guided optimisation, as in releases

Speed is bottleneck data packets per CPU second of the run phase; set-up is reported separately. CPU seconds are user and system
time as counted by the kernel's scheduler, read by each program before and after its run. Repetitions are interleaved, so that
disturbances of the machine affect all tools, and the least CPU time counts. ns-3 gets shorter runs, because full runs take it
hours; instructions are counted in these, too. `presets.py` compares results with ns-3.

Exit code 0; 1 if a result differs from that of ns-2 by more than the tolerance; 2 if a requirement is missing.
"""

# ruff: noqa: T201 (the purpose of this script is to print)

from __future__ import annotations

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from report import ROOT, machine, note, store, table, version
from workloads import (
    CELLS_A_PACKET,
    COMPARED,
    FIRST_LAW,
    HOPS,
    IN_CELLS,
    IN_PACKETS,
    LONG_PIPE,
    OF_LAWS,
    SET_UP_ONLY,
    TRAINING,
    W2,
    WORKLOADS,
    Settings,
    Workload,
)

HERE = pathlib.Path(__file__).resolve().parent
PARTS = ("cells", "hops", "memory", "laws", "scaling")
PACKAGES = {"ns2": "ns-2", "libns3-dev": "ns-3", "valgrind": "instruction counts", "g++": "building the ns-3 program"}
NS3_LIBRARIES = [
    "applications",
    "nix-vector-routing",
    "point-to-point",
    "internet",
    "traffic-control",
    "bridge",
    "network",
    "stats",
    "core",
]

UTILISATION_TOLERANCE = 0.07
LOSS_FACTOR = 1.5
BRIEF = 9
"""Runs of Tailback per run of a peer: they take hundredths of a second, so that disturbances have a large effect."""
FEW_DROPS = 10
"""With fewer drops than this the ratio is not significant."""
WANTED_RATIO = {"ns2": 9.0, "ns3": 100.0}

Measured = dict[str, float]
"""Output of one run, by name."""


class Missing(Exception):
    """A requirement is missing."""


def main() -> int:
    arguments = read_arguments()
    chosen = [workload for workload in WORKLOADS if workload.name in arguments.workloads.split(",")]
    try:
        install_packages()
        programs = build_tailback(arguments.guided)
        tools = Tools(programs["dumbbell"], HERE / "peers" / "dumbbell.tcl", build_ns3())
    except Missing as missing:
        print(f"error: {missing}", file=sys.stderr)
        return 2

    results = [compare_results(tools, workload) for workload in chosen]
    speed = measure_speed(tools, chosen, {of["name"]: of["ns2"]["delivered"] for of in results}, arguments.repetitions)
    instructions = {workload.name: instructions_per_packet(tools, workload.shortened) for workload in chosen}
    report = {
        "workloads": [summary(workload, speed[workload.name], instructions) for workload in chosen],
        "results": results,
        "runs": speed,
        "machine": machine(),
        "guided": arguments.guided,
    }
    measurements: dict[str, Callable[[], Any]] = {
        "cells": lambda: measure_cells(tools, arguments.repetitions),
        "hops": lambda: measure_hops(programs, arguments.repetitions),
        "memory": lambda: measure_memory(tools),
        "laws": lambda: measure_laws(tools),
        "scaling": lambda: measure_scaling(tools, speed, instructions, arguments.repetitions),
    }
    report |= {part: measurements[part]() for part in arguments.parts.split(",") if part}
    store("classic", report)
    show(report)
    strays = [line for result in results for line in result["strays"]]
    for line in strays:
        print(f"error: {line}", file=sys.stderr)
    return 1 if strays else 0


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--workloads", default=",".join(workload.name for workload in WORKLOADS), help="comma-separated names")
    parser.add_argument("--repetitions", type=int, default=3, help="timed runs per tool and workload; the fastest counts")
    parser.add_argument(
        "--guided", action="store_true", help="build Tailback with profile-guided optimisation, as releases are built"
    )
    parser.add_argument("--parts", default=",".join(PARTS), help="comma-separated names of further measurements")
    arguments = parser.parse_args()
    unknown = set(arguments.workloads.split(",")) - {workload.name for workload in WORKLOADS}
    if unknown:
        parser.error(f"unknown workload {', '.join(sorted(unknown))}; expected {', '.join(w.name for w in WORKLOADS)}")
    if unknown := set(arguments.parts.split(",")) - {*PARTS, ""}:
        parser.error(f"unknown part {', '.join(sorted(unknown))}; expected {', '.join(PARTS)}")
    if arguments.repetitions < 1:
        parser.error("--repetitions must be at least 1")
    return arguments


# Requirements


def install_packages() -> None:
    """Install missing packages if permitted, or report the command."""
    if shutil.which("dpkg-query") is None:
        raise Missing("the comparison requires Debian's packages of ns-2 and ns-3")
    missing = [package for package in PACKAGES if not version(package)]
    if not missing:
        return
    command = ["apt-get", "install", "-y", "--no-install-recommends", *missing]
    if os.geteuid() != 0:
        raise Missing(f"{' and '.join(missing)} not installed; as root: {' '.join(command)}")
    note(f"installing {' '.join(missing)}")
    subprocess.run(["apt-get", "update"], check=False, stdout=subprocess.DEVNULL)
    if subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode:
        raise Missing(f"`{' '.join(command)}` failed")


def build_tailback(guided: bool) -> dict[str, pathlib.Path]:
    """Release builds of the examples of core and scenario, by name; `guided`: with profile-guided optimisation."""
    note("building Tailback")
    if not guided:
        return build_programs([], {})
    (host,) = (line.removeprefix("host: ") for line in output(["rustc", "-vV"]).splitlines() if line.startswith("host: "))
    tools = pathlib.Path(output(["rustc", "--print", "sysroot"]).strip()) / "lib" / "rustlib" / host / "bin"
    if not (tools / "llvm-profdata").exists():
        raise Missing("llvm-profdata, which merges profiles, is not installed: rustup component add llvm-tools")
    # An explicit target applies the flags to the programs only, and not to build scripts and macros.
    apart = ["--target", host, "--target-dir", str(ROOT / "target" / "guided")]
    with tempfile.TemporaryDirectory() as folder:
        profile = pathlib.Path(folder) / "profile"
        programs = build_programs(apart, {"RUSTFLAGS": f"-Cprofile-generate={folder}"})
        for name, settings in TRAINING:
            output([programs[name], *pairs(settings)])
        output([tools / "llvm-profdata", "merge", "--output", profile, folder])
        return build_programs(apart, {"RUSTFLAGS": f"-Cprofile-use={profile}"})


def build_programs(arguments: list[str], environment: dict[str, str]) -> dict[str, pathlib.Path]:
    packages = ["--package", "tailback-core", "--package", "tailback-scenario", "--examples"]
    command = ["cargo", "build", "--release", "--locked", *packages, "--message-format", "json", *arguments]
    built = subprocess.run(command, cwd=ROOT, env=os.environ | environment, stdout=subprocess.PIPE, text=True)
    if built.returncode:
        raise Missing(f"`{' '.join(command)}` failed")
    messages = [json.loads(line) for line in built.stdout.splitlines()]
    return {m["target"]["name"]: pathlib.Path(m["executable"]) for m in messages if m.get("executable")}


def build_ns3() -> pathlib.Path:
    """The ns-3 program, built as by users of the Debian package."""
    note("building the ns-3 program")
    program = ROOT / "target" / "bench" / "dumbbell-ns3"
    program.parent.mkdir(parents=True, exist_ok=True)
    source = HERE / "peers" / "dumbbell-ns3.cc"
    # The package's pkg-config file requires GSL, which the package neither needs nor installs: list the libraries explicitly.
    libraries = [f"-lns3-{name}" for name in NS3_LIBRARIES]
    if subprocess.run(["g++", "-O3", "-std=c++17", "-o", program, source, *libraries]).returncode:
        raise Missing(f"{source.name} did not compile")
    return program


@dataclass(frozen=True)
class Tools:
    """The three programs. Each call is one run and returns the program's output."""

    tailback_program: pathlib.Path
    ns2_program: pathlib.Path
    ns3_program: pathlib.Path

    def tailback(self, settings: Settings) -> Measured:
        measured: Measured = json.loads(output([self.tailback_program, *pairs(settings)]))
        return measured

    def ns2(self, settings: Settings) -> Measured:
        return words(output(["ns", self.ns2_program, *pairs(settings)]))

    def ns3(self, settings: Settings) -> Measured:
        return words(output([self.ns3_program, *(f"--{pair}" for pair in pairs(settings))]))


def pairs(settings: Settings) -> list[str]:
    return [f"{name}={value}" for name, value in settings.items()]


def words(text: str) -> Measured:
    """The numbers of lines such as `delivered 12 drops 3`."""
    tokens = text.split()
    return {name: float(value) for name, value in zip(tokens[::2], tokens[1::2], strict=True)}


def output(command: list[str | pathlib.Path]) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


# Measuring


def measure_speed(
    tools: Tools, workloads: list[Workload], delivered: dict[str, float], repetitions: int
) -> dict[str, dict[str, Measured]]:
    """The fastest run by workload and tool: packets per CPU second, set-up and run seconds, peak memory."""
    runs: dict[str, dict[str, list[Measured]]] = {w.name: {"tailback": [], "ns2": [], "ns3": []} for w in workloads}
    for repetition in range(repetitions):
        for workload in workloads:
            note(f"timing {workload.name}, {repetition + 1} of {repetitions}")
            timed: dict[str, Callable[[], Measured]] = {
                "tailback": lambda w=workload: tools.tailback(w.settings),  # type: ignore[misc]
                # The counting queue monitor costs time: counts come from a separate run, because every run repeats exactly.
                "ns2": lambda w=workload: tools.ns2(w.settings) | {"delivered": delivered[w.name]},  # type: ignore[misc]
                "ns3": lambda w=workload: tools.ns3(w.shortened | w.ns3),  # type: ignore[misc]
            }
            for tool, run in timed.items():
                for _ in range(BRIEF if tool == "tailback" else 1):
                    measured = run()
                    measured["packets_per_cpu_s"] = measured["delivered"] / measured["run_cpu_s"]
                    runs[workload.name][tool].append(measured)
    return {name: {tool: fastest(measured) for tool, measured in tools_.items()} for name, tools_ in runs.items()}


def fastest(runs: list[Measured]) -> Measured:
    return min(runs, key=lambda run: run["run_cpu_s"])


def compare_results(tools: Tools, workload: Workload) -> dict[str, Any]:
    """Utilisation and loss in Tailback and ns-2, and differences above the tolerance."""
    note(f"comparing results of {workload.name}")
    ours = tools.tailback(workload.settings)
    ns2 = tools.ns2(workload.settings | {"mon": 1})
    strays = []
    if abs(ours["utilisation"] / ns2["utilisation"] - 1) > UTILISATION_TOLERANCE:
        strays.append(f"{workload.name}: utilisation {ours['utilisation']:.4f}, ns-2 {ns2['utilisation']:.4f}")
    many = max(ours["drops"], ns2["drops"]) >= FEW_DROPS
    if many and not 1 / LOSS_FACTOR <= (ours["loss"] or 1e-12) / (ns2["loss"] or 1e-12) <= LOSS_FACTOR:
        strays.append(f"{workload.name}: loss {ours['loss']:.3e}, ns-2 {ns2['loss']:.3e}")
    kept = ("utilisation", "loss", "delivered", "drops")
    compared = {tool: {name: of[name] for name in kept} for tool, of in (("tailback", ours), ("ns2", ns2))}
    return {"name": workload.name, **compared, "strays": strays}


def instructions_per_packet(tools: Tools, settings: Settings) -> float:
    """Tailback's instructions per bottleneck packet, set-up subtracted; exact and undisturbed by other processes."""
    note("counting instructions")
    program = tools.tailback_program
    total, set_up = (instructions([program, *pairs(of)]) for of in (settings, settings | SET_UP_ONLY))
    return (total - set_up) / tools.tailback(settings)["delivered"]


def instructions(program: list[str | pathlib.Path]) -> int:
    command: list[str | pathlib.Path] = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *program]
    counted = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    return int(counted.split("Collected :")[1].split()[0])


def measure_cells(tools: Tools, repetitions: int) -> list[dict[str, Any]]:
    """Cells through the bottleneck per CPU second, and the cost of each."""
    measured = []
    for name, settings in IN_CELLS.items():
        note(f"timing {name}")
        run = fastest([tools.tailback(settings) for _ in range(max(repetitions, BRIEF))])
        measured.append(
            {
                "name": name,
                "cells_per_cpu_s": run["delivered"] / run["run_cpu_s"],
                "instructions_per_cell": instructions_per_packet(tools, settings),
                "instructions_per_packet": instructions_per_packet(
                    tools, settings | IN_PACKETS | {"buf": settings["buf"] // CELLS_A_PACKET}
                ),
                "events_per_cell": run["events"] / run["delivered"],
                "settings": settings,
            }
        )
    return measured


def measure_hops(programs: dict[str, pathlib.Path], repetitions: int) -> list[dict[str, Any]]:
    """Packets that leave ports per CPU second where lines merge at every hop, and their cost, including TCP's share."""
    measured = []
    for name, (program, settings, counted) in HOPS.items():
        note(f"timing {name}")
        runs = [json.loads(output([programs[program], *pairs(settings)])) for _ in range(repetitions)]
        run = fastest(runs)
        brief = json.loads(output([programs[program], *pairs(settings | counted)]))
        spent = [instructions([programs[program], *pairs(settings | counted | only)]) for only in ({}, {"t": 1e-7})]
        measured.append(
            {
                "name": name,
                "hops": run["hops"],
                "hops_per_cpu_s": run["hops"] / run["run_cpu_s"],
                "instructions_per_hop": (spent[0] - spent[1]) / brief["hops"],
                "events_per_hop": run["events"] / run["hops"],
                "setup_cpu_s": run["setup_cpu_s"],
                "run_cpu_s": run["run_cpu_s"],
                "peak_rss_kb": run["peak_rss_kb"],
                "settings": settings,
            }
        )
    return measured


def measure_memory(tools: Tools) -> dict[str, dict[str, float]]:
    """Bytes per flow before traffic and per packet in flight, as slopes of peak memory between two sizes."""
    note("measuring memory")
    idle = W2 | SET_UP_ONLY
    return {
        "bytes_per_flow": {
            "tailback": slope(tools.tailback, idle, "n", 1000, 101_000),
            "ns2": slope(tools.ns2, idle, "n", 100, 500),
            "ns3": slope(tools.ns3, idle, "n", 100, 1000),
        },
        "bytes_per_packet_in_flight": {
            "tailback": slope(tools.tailback, LONG_PIPE, "ss", 1000, 100_000),
            "ns2": slope(tools.ns2, LONG_PIPE, "ss", 1000, 100_000),
            # Its cost per packet grows with the window: a larger one would take hours.
            "ns3": slope(tools.ns3, LONG_PIPE | {"sndbuf": 16_777_216}, "ss", 1000, 8000),
        },
    }


def slope(run: Callable[[Settings], Measured], settings: Settings, name: str, low: int, high: int) -> float:
    peaks = [run(settings | {name: size})["peak_rss_kb"] for size in (low, high)]
    return 1024 * (peaks[1] - peaks[0]) / (high - low)


def measure_scaling(
    tools: Tools, speed: dict[str, dict[str, Measured]], by_workload: dict[str, float], repetitions: int
) -> dict[str, dict[str, float]]:
    """Growth of the cost per packet with flows, window and controller; 1 means no growth."""
    note("measuring the growth of cost")
    grows = {}
    if {"W3-10", "W3-1000"} <= speed.keys():
        few, many = (speed[name]["tailback"]["packets_per_cpu_s"] for name in ("W3-10", "W3-1000"))
        grows["1000 flows over 10"] = {"time": few / many, "instructions": by_workload["W3-1000"] / by_workload["W3-10"]}
    for name, pair in COMPARED.items():
        costs: list[list[float]] = [[], []]
        for _ in range(repetitions):
            for cost, settings in zip(costs, pair, strict=True):
                measured = tools.tailback(settings)
                cost.append((measured["run_cpu_s"] + measured["results_cpu_s"]) / measured["delivered"])
        before, after = (min(cost) for cost in costs)
        counted = instructions_per_packet(tools, pair[1]) / instructions_per_packet(tools, pair[0])
        grows[name] = {"time": after / before, "instructions": counted}
    return grows


def measure_laws(tools: Tools) -> dict[str, float]:
    """Instructions per packet of each controller, pacing included, over Reno's."""
    names: list[str] = json.loads(output([tools.tailback_program, "laws"]))
    cost = {name: instructions_per_packet(tools, OF_LAWS | {"law": FIRST_LAW + index}) for index, name in enumerate(names)}
    return {name: spent / cost["reno"] for name, spent in cost.items()}


# Reporting


def summary(workload: Workload, speed: dict[str, Measured], instructions_: dict[str, float]) -> dict[str, Any]:
    rates = {tool: measured["packets_per_cpu_s"] for tool, measured in speed.items()}
    return {
        "name": workload.name,
        **rates,
        "tailback_over_ns2": rates["tailback"] / rates["ns2"],
        "tailback_over_ns3": rates["tailback"] / rates["ns3"],
        "instructions_per_packet": instructions_[workload.name],
        "events_per_packet": speed["tailback"]["events"] / speed["tailback"]["delivered"],
        "settings": workload.settings,
    }


def show(report: dict[str, Any]) -> None:
    about = report["machine"]
    built = f"{about['commit']}{', guided by a profile' if report['guided'] else ''}"
    print(f"\n{about['cpu']}, {about['cores']} cores, load {about['load_average']:.1f}, commit {built}, {about['date']}")
    print(f"ns-2 {about['ns2']}, ns-3 {about['ns3']}\n")
    rows = [["", "Tailback", "ns-2", "ns-3", "over ns-2", "over ns-3", "instructions", "events"]]
    for workload in report["workloads"]:
        ratios = [
            ratio(workload["tailback_over_ns2"], WANTED_RATIO["ns2"]),
            ratio(workload["tailback_over_ns3"], WANTED_RATIO["ns3"]),
        ]
        rates = [f"{workload[tool] / 1e3:,.1f}" for tool in ("tailback", "ns2", "ns3")]
        counts = [f"{workload['instructions_per_packet']:.0f}", f"{workload['events_per_packet']:.2f}"]
        rows.append([workload["name"], *rates, *ratios, *counts])
    wanted = f"* below {WANTED_RATIO['ns2']:g} or {WANTED_RATIO['ns3']:g} times"
    table(f"Thousand bottleneck packets per CPU second ({wanted}), and Tailback's cost per packet", rows)

    shown: dict[str, Callable[[Any], None]] = {
        "cells": show_cells,
        "hops": show_hops,
        "memory": show_memory,
        "scaling": show_scaling,
        "laws": show_laws,
    }
    for part in shown.keys() & report.keys():
        shown[part](report[part])

    rows = [["", "tool", "set-up CPU s", "run CPU s", "delivered", "peak MB"]]
    for name, tools in report["runs"].items():
        for tool, of in tools.items():
            seconds = [f"{of['setup_cpu_s']:.3f}", f"{of['run_cpu_s']:.3f}"]
            rows.append([name, tool, *seconds, f"{of['delivered']:,.0f}", f"{of['peak_rss_kb'] / 1e3:.1f}"])
    table("Cost of the runs", rows)

    rows = [["", "tool", "utilisation", "loss", "drops"]]
    for result in report["results"]:
        for tool in ("tailback", "ns2"):
            of = result[tool]
            rows.append([result["name"], tool, f"{of['utilisation']:.4f}", f"{of['loss']:.3e}", f"{of['drops']:,.0f}"])
    table("Results", rows)


def show_cells(measured: list[dict[str, Any]]) -> None:
    rows = [["", "thousand per CPU s", "instructions", "per packet", "events"]]
    for of in measured:
        counts = [
            f"{of['instructions_per_cell']:.0f}",
            f"{of['instructions_per_packet']:.0f}",
            f"{of['events_per_cell']:.2f}",
        ]
        rows.append([of["name"], f"{of['cells_per_cpu_s'] / 1e3:,.1f}", *counts])
    table("Cells through an ATM bottleneck with BPD, or with SPD (ATM-15)", rows)


def show_hops(measured: list[dict[str, Any]]) -> None:
    rows = [["", "million per CPU s", "instructions", "events", "set-up CPU s", "run CPU s", "hops", "peak MB"]]
    for of in measured:
        costs = [f"{of['hops_per_cpu_s'] / 1e6:.2f}", f"{of['instructions_per_hop']:.0f}", f"{of['events_per_hop']:.2f}"]
        seconds = [f"{of['setup_cpu_s']:.3f}", f"{of['run_cpu_s']:.2f}"]
        rows.append([of["name"], *costs, *seconds, f"{of['hops']:,.0f}", f"{of['peak_rss_kb'] / 1e3:.0f}"])
    table("Hops where lines merge: packets and acknowledgements that leave a port", rows)


def show_memory(measured: dict[str, dict[str, float]]) -> None:
    rows = [["bytes", "Tailback", "ns-2", "ns-3"]]
    for name, by in measured.items():
        rows.append([name.removeprefix("bytes_").replace("_", " "), *(f"{by[tool]:,.0f}" for tool in ("tailback", "ns2", "ns3"))])
    table("Memory, as the slope of the peak between two sizes", rows)


def show_scaling(measured: dict[str, dict[str, float]]) -> None:
    rows = [["cost of a packet", "time", "instructions"]]
    rows += [[name, f"{of['time']:.2f}", f"{of['instructions']:.2f}"] for name, of in measured.items()]
    table("Growth of Tailback's cost (1.00: none)", rows)


def show_laws(measured: dict[str, float]) -> None:
    rows = [["", "instructions"], *([name, f"{ratio:.2f}"] for name, ratio in measured.items())]
    table("Cost per packet of each controller over Reno", rows)


def ratio(value: float, wanted: float) -> str:
    return f"{value:.1f}{'' if value >= wanted else ' *'}"


if __name__ == "__main__":
    sys.exit(main())
