"""Requests and video of kernel flows: the sockets follow the rules of the simulation, whatever the speed of the machine."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import tailback as tb

pytestmark = [
    pytest.mark.usefixtures("emulation"),
    pytest.mark.filterwarnings("ignore::tailback.EmulationWarning"),
    pytest.mark.real_time,
]

# One way: 10 ms, and 1500 bytes at 10 Mbit/s take 1.2 ms.
RTT_S = 0.02


def web(application: dict[str, Any], duration: str = "4 s", **flow: object) -> tb.Scenario:
    flows: Any = {"web": {"tcp": {"preset": "linux/cubic"}, "application": application, **flow}}
    return tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="100 packets", duration=duration, flows=flows)


def messages(run: tb.Run, group: str, flow: int = 0) -> dict[str, list[Any]]:
    return run.messages.where(group=group, flow=flow).to_dict()


def test_requests_have_the_sizes_and_think_times_of_the_simulation() -> None:
    application = {
        "kind": "requests",
        "requests": 8,
        "request_size": {"uniform": ["1 B", "4 kB"]},
        "response_size": {"uniform": ["1 kB", "40 kB"]},
        "think_time": {"exponential": "40 ms"},
        "server_time": "30 ms",
    }
    scenario = web(application, count=2)
    simulated, run = tb.simulate(scenario), tb.emulate(scenario, kernel_flows=["web"])
    assert run.transfers["failure"].tolist() == ["", ""]
    for flow in (0, 1):
        real, ideal = messages(run, "web", flow), messages(simulated, "web", flow)
        asked = messages(run, "web.requests", flow)
        assert real["size_bytes"] == ideal["size_bytes"][: len(real["size_bytes"])]
        assert asked["size_bytes"] == messages(simulated, "web.requests", flow)["size_bytes"][: len(asked["size_bytes"])]
        assert len(real["start_s"]) > 3
        assert real["start_s"] == asked["start_s"]
        # A simulated request follows the response before it after exactly the think time, a real one not before.
        ends = np.add(ideal["start_s"], ideal["completion_time_s"])[:-1]
        thinks = np.subtract(ideal["start_s"][1:], ends)
        waits = np.subtract(real["start_s"][1:], np.add(real["start_s"], real["completion_time_s"])[:-1])
        assert (waits > thinks[: len(waits)] - 1e-6).all()
        done = np.asarray(real["completion_time_s"])[~np.isnan(real["completion_time_s"])]
        sizes = np.asarray(real["size_bytes"])[: len(done)]
        assert (done >= RTT_S + 0.03 + 8 * sizes / 10e6).all()
        assert (np.asarray(asked["completion_time_s"])[: len(done)] >= RTT_S / 2).all()
        assert run.flows.where(group="web", flow=flow)["delivered_bytes"][0] >= sum(sizes)


def test_new_connections_follow_one_another() -> None:
    application = {"kind": "requests", "requests": 5, "response_size": "20 kB", "think_time": "50 ms", "connections": "new"}
    run = tb.emulate(web(application), kernel_flows=["web"])
    began = [start for flow in range(5) for start in messages(run, "web", flow)["start_s"]]
    took = [messages(run, "web", flow)["completion_time_s"][0] for flow in range(len(began))]
    assert len(began) > 2
    assert all(later - start - lasted >= 0.05 for start, lasted, later in zip(began, took, began[1:], strict=False))
    # The handshake, the request, and the transmission of the response.
    assert all(lasted >= 2 * RTT_S + 8 * 20e3 / 10e6 for lasted in took if lasted == lasted)
    assert set(run.transfers["failure"].tolist()) == {""}


@pytest.mark.parametrize("adaptation", ["throughput", "buffer"])
def test_a_video_client_follows_its_adaptation(adaptation: str) -> None:
    ladder = [300e3, 1e6, 3e6, 6e6]
    application = {
        "kind": "video",
        "ladder": [f"{rate / 1e3:g} kbps" for rate in ladder],
        "chunk": "500 ms",
        "max_buffer": "3 s",
        "adaptation": adaptation,
    }
    run = tb.emulate(web(application, "5 s"), kernel_flows=["web"])
    chunks = messages(run, "web")
    levels = [[round(rate / 16) for rate in ladder].index(size) for size in chunks["size_bytes"]]
    assert levels[0] == 0
    assert len(levels) > 3
    if adaptation == "throughput":
        speeds = [8 * size / time for size, time in zip(chunks["size_bytes"], chunks["completion_time_s"], strict=True)]
        # A request waits for room in the buffer, and the throughput is that from the request on.
        for number in range(1, len(levels)):
            last = speeds[max(0, number - 5) : number]
            mean = len(last) / sum(1 / speed for speed in last)
            # The program notices a delivery up to a moment after the time that it reports.
            near = {max(0, sum(rate <= mean * factor for rate in ladder) - 1) for factor in (0.97, 1, 1.03)}
            assert levels[number] in near
    played = run.flows.where(group="web")
    assert played["bitrate_switches"][0] == sum(one != other for one, other in pairwise(levels[: _delivered(chunks)]))
    assert played["mean_bitrate_bps"][0] == pytest.approx(np.mean([ladder[level] for level in levels[: _delivered(chunks)]]))
    # Playing starts with the first chunk.
    assert played["startup_s"][0] >= RTT_S
    assert np.isnan(run.flows.where(group="web.requests")["stalls"][0])


def _delivered(chunks: dict[str, list[Any]]) -> int:
    return int(np.sum(~np.isnan(chunks["completion_time_s"])))


def test_a_request_that_cannot_name_a_chunk_is_refused() -> None:
    application = {"kind": "video", "ladder": ["1 Mbps"], "request_size": "7 B"}
    with pytest.raises(tb.ScenarioError, match="at least 8 B"):
        tb.emulate(web(application), kernel_flows=["web"])
