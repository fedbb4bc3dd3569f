"""Changes during a run, worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

import tailback as tb

ROOM = """
duration = "15 s"
warmup = "0 s"
[topology.dumbbell]
rate = "1 Mbps"
delay = "10 ms"
queue = {buffer = "10 packets"}
[flows.probe]
from = "left"
to = "right"
source = {kind = "constant", rate = "2 Mbps", packet_size = "1000 B"}
[[timeline]]
at = "5 s"
link = "bottleneck"
buffer = "30 packets"
[[timeline]]
at = "10 s"
link = "bottleneck"
buffer = "5 packets"
[record]
traces = ["queue"]
"""


def test_a_resized_queue_keeps_its_packets() -> None:
    trace = tb.simulate(tb.Scenario.from_toml(ROOM), seed=1).trace("queue")
    times, held = np.asarray(trace["time_s"]), np.asarray(trace["queue_units"])
    before, more, less = (held[(begin < times) & (times < end)] for begin, end in ((4, 5), (6, 10), (10, 15)))
    # The arrival rate is twice the link's rate: each departure makes room for the next packet.
    assert (before.min(), before.max()) == (9, 10)
    assert (more.min(), more.max()) == (29, 30)
    # Packets in the queue leave at the link's rate, one per 8 ms with one of them at 10 s, and none arrives meanwhile.
    assert (less.max(), less[-1] in (4, 5)) == (28, True)
    assert times[(times > 10) & (held == 5)][0] == pytest.approx(10.192, abs=1e-9)


def test_thresholds_above_a_smaller_buffer_cause_a_warning() -> None:
    text = ROOM.replace(
        '{buffer = "10 packets"}',
        '{buffer = "60 packets", policy = "red", min_threshold = "4 packets", max_threshold = "20 packets"}',
    )
    with pytest.warns(tb.ScenarioWarning, match="`buffer` becomes smaller than `max_threshold` of `red`") as told:
        tb.Scenario.from_toml(text)
    assert [str(one.message).count("timeline[1].buffer") for one in told] == [1]


def test_tables_in_braces_may_have_several_lines() -> None:
    text = ROOM.replace('{buffer = "10 packets"}', '{\n  buffer = "10 packets", # ten\n}')
    assert tb.Scenario.from_toml(text) == tb.Scenario.from_toml(ROOM)
