"""`tailback kernel`, and the stack `linux` without and with a built kernel."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tailback as tb
from support import ROOT
from tailback import _kernels
from tailback._kernels import building
from tailback._kernels.initramfs import initramfs

LINUX: dict[str, Any] = {
    "duration": "2 s",
    "nodes": {"a": {"kind": "host"}, "r": {"kind": "router"}, "s": {"kind": "router"}, "b": {"kind": "host"}},
    "links": {
        "first": {"from": "a", "to": "r", "rate": "1 Gbps", "delay": "5 ms", "queue": {"buffer": "1000 packets"}},
        "bottleneck": {
            "from": "r",
            "to": "s",
            "rate": "20 Mbps",
            "delay": "10 ms",
            "queue": {"policy": "drop_tail", "buffer": "67 packets"},
            "reverse": {"rate": "100 Gbps"},
        },
        "last": {"from": "s", "to": "b", "rate": "1 Gbps", "delay": "5 ms", "queue": {"buffer": "1000 packets"}},
    },
    "flows": {"f": {"from": "a", "to": "b", "tcp": {"stack": "linux", "congestion": "cubic"}}},
}

# As found before any test changes the environment.
BUILT = _kernels.kernels()

needs_kernel = pytest.mark.skipif(
    not any(kernel.manifest["hz"] == 1000 for kernel in BUILT), reason="no kernel with 1000 Hz is built (`tailback kernel build`)"
)


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory of kernels."""
    monkeypatch.setenv("TAILBACK_KERNELS", str(tmp_path / "kernels"))
    return tmp_path / "kernels"


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tailback", "kernel", *arguments], capture_output=True, text=True, check=False, timeout=60
    )


def test_commands_without_kernels(empty: Path) -> None:
    listed = command("list", "--json")
    assert (listed.returncode, json.loads(listed.stdout)) == (0, [])
    assert "`tailback kernel build` builds one" in command("list").stderr
    removed = command("remove", "6.12-hz1000")
    assert removed.returncode == 2
    assert "`6.12-hz1000` is not a built kernel; expected nothing: none is built" in removed.stderr


def test_a_kernel_is_listed_and_removed(empty: Path) -> None:
    place = empty / "6.12.30-hz250"
    place.mkdir(parents=True)
    manifest = {"name": place.name, "hz": 250, "source": "linux.tar.xz", "linux_sha256": "ab" * 32, "fields": {}}
    (place / "kernel.json").write_text(json.dumps(manifest))
    (empty / "other").mkdir()
    (described,) = json.loads(command("list", "--json").stdout)
    assert (described["name"], described["path"], "fields" in described) == (place.name, str(place), False)
    assert command("remove", place.name).returncode == 0
    assert not place.exists()


def test_a_build_that_cannot_work_names_the_reason(empty: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if sys.platform != "linux":
        pytest.skip("kernels are built on Linux only")
    archive = tmp_path / "linux.tar"
    archive.write_bytes(b"no archive")
    with pytest.raises(tb.errors.ParameterError, match="is not a file"):
        _kernels.plan(tmp_path / "missing.tar.xz")
    with pytest.raises(tb.errors.ParameterError, match="`hz` is 50; expected 100 to 1000"):
        _kernels.plan(archive, 50)
    with monkeypatch.context() as changed:
        changed.setattr("shutil.which", lambda name: None if name in ("flex", "bc") else name)
        with pytest.raises(tb.errors.ParameterError, match=r"needs `flex`, `bc`; .*`apt install flex bc`"):
            _kernels.plan(archive)
    with monkeypatch.context() as changed:
        changed.setattr("platform.machine", lambda: "aarch64")
        with pytest.raises(tb.errors.ParameterError, match="needs Linux on x86-64; this is Linux on aarch64"):
            _kernels.plan(archive)
    with monkeypatch.context() as changed:
        changed.setattr(building, "_PACKAGES", tmp_path / "nothing")
        with pytest.raises(tb.errors.ParameterError, match="Tailback downloads nothing"):
            _kernels.plan()


def test_a_failed_or_interrupted_build_leaves_nothing(empty: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / "linux.tar"
    archive.write_bytes(b"no archive")
    build = _kernels.Build(building.Plan(archive, 1000))
    monkeypatch.setattr(build, "_guest", lambda work: b"")
    with pytest.raises(
        tb.errors.ParameterError, match=r"(?s)`tar` failed while building a kernel .*does not look like a tar archive"
    ):
        build.run()
    assert list(empty.iterdir()) == []

    def interrupted(step: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _kernels.Build(building.Plan(archive, 1000), interrupted).run()
    assert list(empty.iterdir()) == []


def test_the_root_file_system_has_four_entries_and_fixed_bytes() -> None:
    archive = initramfs(b"program")
    assert archive.count(b"070701") == 5
    assert len(archive) % 4 == 0
    assert b"dev/console\0" in archive
    assert archive == initramfs(b"program")


def test_a_missing_kernel_is_an_error_of_the_scenario(empty: Path) -> None:
    scenario = tb.Scenario(LINUX).with_({"flows.f.tcp.parameters": {"kernel": "6.12", "hz": 1000}})
    with pytest.raises(tb.errors.ScenarioError) as raised:
        scenario.check()
    (problem,) = raised.value.problems
    assert "linux" in problem.message or "Linux" in problem.message or "kernel" in problem.message
    if sys.platform == "linux":
        assert problem.at == "flows.f.tcp.parameters.kernel"
        assert "`tailback kernel build --source linux-6.12.tar.xz --hz 1000`" in problem.message


def test_a_validation_without_a_kernel_ends_with_the_command_that_builds_one(empty: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tailback", "validate", "--hz", "250"], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout) == (2, "")
    if sys.platform == "linux":
        assert "type `tailback kernel build --hz 250` to build it" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--kernel", "FILE", "--hz", "250"], "--hz cannot be used: the file of --kernel determines the kernel"),
        (["--kernel", "FILE", "--real-time"], "--real-time cannot be used: the file of --kernel determines the kernel"),
        (["--real-time", "--linux", "6.12"], "--linux cannot be used: --real-time uses the kernel of this machine"),
    ],
)
def test_options_that_nothing_would_read_are_refused(arguments: list[str], message: str) -> None:
    file = str(ROOT / "docs/evidence/linux_6.12.json")
    given = [file if argument == "FILE" else argument for argument in arguments]
    done = subprocess.run(
        [sys.executable, "-m", "tailback", "validate", *given], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 2
    assert message in done.stderr


@needs_kernel
def test_the_same_packets_on_any_number_of_threads(tmp_path: Path) -> None:
    captures = set()
    for threads in (1, 2, 3):
        file = tmp_path / f"{threads}.pcapng"
        run = tb.simulate(tb.Scenario(LINUX), capture=file, threads=threads)
        captures.add(hashlib.sha256(file.read_bytes()).hexdigest())
    assert len(captures) == 1
    assert next(row for row in run.queues.to_rows() if row["queue"] == "bottleneck")["utilisation"] > 0.8
    assert "Linux 6" in run.provenance["user_code"][0]["kernel"]


@needs_kernel
@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"memory": 32, "sysctl": {"vm": {"min_free_kbytes": 30000}}}, "panic - not syncing: System is deadlocked on memory"),
        ({"sysctl": {"net": {"ipv4": {"no_such": 1}}}}, "/proc/sys/net/ipv4/no_such: No such file or directory"),
    ],
)
def test_the_console_explains_the_end_of_a_kernel(parameters: dict[str, Any], reason: str) -> None:
    with pytest.raises(tb.HostError, match=rf"the host `f.sender` failed: (?s:.*){reason} \(at 0 s, after 0 packets\)"):
        tb.simulate(tb.Scenario(LINUX).with_({"flows.f.tcp.parameters": parameters}))
    assert own_kernels() == []


@needs_kernel
def test_a_killed_kernel_ends_the_run_and_keeps_its_results() -> None:
    simulation = tb.Simulation(tb.Scenario(LINUX))
    simulation.step(1.0)
    os.kill(own_kernels()[-1], signal.SIGKILL)
    with pytest.raises(tb.HostError, match=r"the kernel failed: it ended with signal: 9 \(SIGKILL\)") as raised:
        simulation.step(2.0)
    assert 1 <= raised.value.time_s < 1.1
    assert raised.value.run.flows["delivered_bytes"][0] > 1e6
    del simulation, raised
    assert own_kernels() == []


def own_kernels() -> list[int]:
    """Processes of the kernels that this process has started and that have not ended."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            _, _, rest = (place / "stat").read_text().rpartition(") ")
            state, parent, *_ = rest.split()
            if int(parent) == os.getpid() and state != "Z" and b"TB_SEED=" in (place / "cmdline").read_bytes():
                found.append(int(place.name))
    return sorted(found)


@needs_kernel
def test_a_transfer_of_a_size_completes() -> None:
    scenario = tb.Scenario(LINUX).with_({"flows.f.size": "1 MB"})
    (flow,) = tb.simulate(scenario).flows.to_rows()
    assert flow["delivered_bytes"] == 1_000_000
    assert 0.4 < flow["completion_time_s"] < 1


@needs_kernel
@pytest.mark.parametrize("stop_s", [0.1, 0.5, 1.0, 1.3])
def test_a_stop_drops_what_is_unsent(stop_s: float) -> None:
    scenario = tb.Scenario(LINUX).with_({"flows.f.size": "10 MB", "flows.f.stop": f"{stop_s} s"})
    (flow,) = tb.simulate(scenario).flows.to_rows()
    # At most what the link has carried until then, its buffer and a round trip.
    assert flow["delivered_bytes"] < (stop_s + 0.1) * 20e6 / 8
    assert math.isnan(flow["completion_time_s"])


@needs_kernel
def test_a_stop_resets_a_connection_whose_data_is_in_the_send_buffer() -> None:
    scenario = tb.Scenario(LINUX).with_({"flows.f.size": "1 MB", "flows.f.stop": "0.2 s"})
    (flow,) = tb.simulate(scenario).flows.to_rows()
    assert 0 < flow["delivered_bytes"] < 500_000


@needs_kernel
def test_a_receiver_reads_in_intervals() -> None:
    scenario = tb.Scenario(LINUX).with_({"flows.f.size": "20 kB", "flows.f.tcp.parameters.read_interval_ms": 500})
    (flow,) = tb.simulate(scenario).flows.to_rows()
    (at_once,) = tb.simulate(scenario.with_({"flows.f.tcp.parameters.read_interval_ms": None})).flows.to_rows()
    # The first pause begins when the connection is accepted, before the data arrives.
    assert at_once["completion_time_s"] < 0.2
    assert 0.5 < flow["completion_time_s"] < 0.6


@needs_kernel
def test_the_state_of_the_connection_is_in_traces_and_columns() -> None:
    kinds = ["cwnd", "ssthresh", "rtt", "rto", "in_flight", "state"]
    changes = {"duration": "6 s", "record.traces": [*kinds, "drops"], "flows.f.tcp.congestion": "reno"}
    run = tb.simulate(tb.Scenario(LINUX).with_(changes))
    traces = {kind: run.trace(kind) for kind in kinds}
    first_drop = run.trace("drops")["time_s"][0]
    # The threshold is unlimited until the first loss: it has no row before, and never 2**31 segments.
    assert traces["ssthresh"]["time_s"][0] > first_drop
    assert 2 <= traces["ssthresh"]["ssthresh_packets"].max() < 1000
    assert traces["state"]["state"][0] == "slow_start"
    assert {"recovery", "congestion_avoidance"} <= set(traces["state"]["state"])
    (flow,) = run.flows.to_rows()
    assert traces["rto"]["rto_s"][-1] == flow["rto_s"]
    # Linux: 1 s before the first sample, then at least 200 ms above the smoothed RTT.
    assert traces["rto"]["rto_s"][0] == 1
    assert 0.2 < flow["rto_s"] < 1
    assert 0 < traces["in_flight"]["in_flight_packets"].max() <= traces["cwnd"]["cwnd_packets"].max()
    assert flow["lost_packets"] > 0


@needs_kernel
def test_an_application_limits_the_data_as_that_of_simulated_tcp() -> None:
    writes = [{"at": "0.2 s", "size": "100 kB"}, {"at": "1 s", "size": "50 kB"}]
    linux = tb.Scenario(LINUX).with_({"flows.f.application": {"kind": "script", "writes": writes}})
    simulated = linux.with_({"flows.f.tcp": "linux/cubic"})
    (flow,), (other,) = (tb.simulate(scenario).flows.to_rows() for scenario in (linux, simulated))
    assert flow["delivered_bytes"] == other["delivered_bytes"] == 150_000
    assert flow["completion_time_s"] == pytest.approx(other["completion_time_s"], abs=1e-3)
    stopped = linux.with_({"flows.f.stop": "0.9 s"})
    assert tb.simulate(stopped).flows["delivered_bytes"][0] == 100_000


@needs_kernel
def test_every_segment_is_acknowledged_on_request() -> None:
    every = tb.Scenario(LINUX).with_({"flows.f.tcp.parameters": {"quickack": True}})
    (data, acks), (_, fewer) = (tb.simulate(scenario).queues["departed_units"][:2] for scenario in (every, tb.Scenario(LINUX)))
    assert acks > 0.95 * data
    assert fewer < 0.7 * data
