"""Queues that a scenario does not describe: reverse links and the interfaces of hosts."""

from __future__ import annotations

from typing import Any

import pytest

import tailback as tb

PIE: Any = {"policy": "pie", "buffer": "200 packets"}
FLOWS: dict[str, Any] = {
    "there": {"count": 4, "tcp": {"preset": "cubic"}},
    "back": {"count": 4, "from": "right", "to": "left", "tcp": {"preset": "cubic"}},
}


def two_way(**more: Any) -> tb.Run:
    return tb.simulate(
        tb.dumbbell(rate="10 Mbps", delay="20 ms", queue=PIE, duration="20 s", warmup="5 s", flows=FLOWS, seed=1, **more)
    )


def test_data_in_both_directions_meet_the_same_queue() -> None:
    inherited, described = two_way(), two_way(reverse={"queue": PIE})
    assert inherited.groups["goodput_bps"].tolist() == described.groups["goodput_bps"].tolist()
    # Before, 1.5 and 8.1 Mbit/s, with 6,332 packets in the reverse queue.
    assert inherited.groups["goodput_bps"].min() > 6e6
    assert inherited.queues["max_queue_units"].max() <= 200
    assert inherited.notes == []


def test_an_unlimited_queue_with_long_waits_has_a_note() -> None:
    run = two_way(reverse={"queue": {"buffer": "unlimited"}})
    [note] = run.notes
    assert note.startswith("the queue of `bottleneck.reverse` is unlimited, and its mean wait of ")
    # The base RTT: 40 ms, 1500 bytes and 52 bytes at 10 Mbit/s.
    assert "exceeds 10 base round-trip times (0.0412 s)" in note
    assert note in run.summary()


@pytest.mark.parametrize("end", ["sender_access", "receiver_access"])
def test_a_thousand_packets_wait_for_a_private_link(end: str) -> None:
    flows: Any = {"f": {"tcp": {"preset": "cubic"}, end: {"rate": "2 Mbps"}}}
    run = tb.simulate(
        tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="2000 packets", duration="120 s", warmup="20 s", flows=flows, seed=1)
    )
    # 1000 packets of 1500 bytes at 2 Mbit/s take 6 s; the base RTT is 27 ms. Before, the mean RTT was 23 s in 120 s.
    assert 4.0 < run.flows["mean_rtt_s"][0] < 6.05
    assert run.flows["loss_rate"][0] > 0
    assert run.flows["goodput_bps"][0] > 1.8e6


def test_datagrams_that_a_private_link_cannot_hold_are_lost() -> None:
    # Bursts of 0.5 s on average at 100 Mbit/s over 8 Mbit/s, which a queue of 1000 packets does not hold.
    source: Any = {"kind": "on_off", "rate": "100 Mbps", "packet_size": "1000 B", "mean_on": "0.5 s", "mean_off": "9.5 s"}
    run = tb.simulate(
        tb.dumbbell(
            rate="100 Mbps",
            delay="1 ms",
            buffer="100 packets",
            duration="60 s",
            flows={"f": {"source": source, "sender_access": {"rate": "8 Mbps"}}},
            seed=1,
        )
    )
    sent, delivered = run.flows["sent_packets"][0], run.flows["delivered_packets"][0]
    assert run.flows["loss_rate"][0] > 0.1
    # The rest is delivered, but for at most 1001 packets at the end.
    assert 0 <= sent * (1 - run.flows["loss_rate"][0]) - delivered <= 1001


@pytest.mark.parametrize(("described", "queued"), [(False, False), (True, True)])
def test_a_described_queue_is_a_device_behind_the_host(described: bool, queued: bool) -> None:
    # Linux keeps the queue of its own interface short (TCP Small Queues), but not that of a device behind it.
    queue: Any = {"host_queue": {"buffer": "100 packets"}} if described else {}
    scenario = tb.leaf_spine(
        leaves=2,
        spines=1,
        hosts=1,
        rate="1 Gbps",
        delay="50 us",
        host_rate="100 Mbps",
        host_delay="10 ms",
        buffer="500 packets",
        duration="10 s",
        warmup="2 s",
        flows={"f": {"from": "host0", "to": "host1", "tcp": {"preset": "linux/cubic"}}},
        seed=1,
        **queue,
    )
    run = tb.simulate(scenario)
    rows = zip(run.queues["queue"], run.queues["max_queue_units"], strict=True)
    [longest] = [units for queue_name, units in rows if queue_name == "leaf0-host0.reverse"]
    assert longest == 100 if queued else longest <= 2
