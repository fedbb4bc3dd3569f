//! Ratios, means and maxima of a run whose queue changes at the end of the warm-up.

use crate::common::{first, flow, group, one_link, port, reno, run, tcp};
use tailback_core::Results;
use tailback_core::network::{Buffer, Network, Port, Transport};
use tailback_core::primitives::token_bucket::BucketSpec;
use tailback_core::primitives::units::{Bytes, Rate, Time, TimeDelta};
use tailback_core::queue::{CodelSpec, PolicySpec};
use tailback_core::tcp::Recovery;
use tailback_core::traffic::{Arrivals, ConstantSpec, DatagramSpec, PacketSize, ProcessSpec};

const WARMUP: TimeDelta = TimeDelta::from_millis(5_000);

/// A source of packets of 1000 bytes that stops, into a link of 1 Mbit/s for 20 s, of which the first 5 s are the warm-up. Computed ahead
/// where possible, and stepped.
fn stopped(rate: Rate, stop: TimeDelta, link: Port) -> [Results; 2] {
    let arrivals = Arrivals::Process(ProcessSpec::Constant(ConstantSpec { rate }));
    let source = DatagramSpec { arrivals, packet: PacketSize::Fixed(Bytes(1000)), header: Bytes(0) };
    let back = port("back", Rate(1_000_000), TimeDelta::ZERO);
    let mut flow = flow(0, 0, 1);
    flow.stop = Time::ZERO + stop;
    let group = group("source", Transport::Datagram(source));
    let network = one_link([link, back], group, vec![flow], TimeDelta::from_millis(20_000));
    [false, true].map(|stepped| run(Network { warmup: WARMUP, stepped, ..network.clone() }))
}

#[test]
fn only_discards_of_arrivals_within_the_interval_count_in_the_loss_rate() {
    let link = Port {
        policy: PolicySpec::Codel(CodelSpec::default()),
        buffer: Buffer::Unlimited,
        ..port("link", Rate(1_000_000), TimeDelta::ZERO)
    };
    for Results { queues, flows, .. } in stopped(Rate(9_000_000), WARMUP + TimeDelta::from_millis(10), link) {
        let [dropped, arrived] = ["dropped_units", "arrived_units"].map(|column| first(&queues, column));
        assert!(dropped > arrived, "{dropped} of {arrived}");
        for rate in [first(&queues, "loss_rate"), first(&flows, "loss_rate")] {
            assert!((0.0..=1.0).contains(&rate), "{rate}");
        }
    }
}

#[test]
fn the_queue_at_the_end_of_the_warmup_counts_in_the_maximum() {
    let link = Port { buffer: Buffer::Unlimited, ..port("link", Rate(1_000_000), TimeDelta::ZERO) };
    for Results { queues, .. } in stopped(Rate(2_000_000), TimeDelta::from_millis(4_000), link) {
        // 1000 packets have arrived. 625 have left, and at this instant the next one begins to leave.
        assert_eq!(first(&queues, "max_queue_units"), 374.0);
        // The queue becomes empty in 3 of 15 s.
        let mean = first(&queues, "mean_queue_units");
        assert!((mean - 374.0 / 2.0 * 3.0 / 15.0).abs() < 0.5, "{mean}");
    }
}

#[test]
fn a_packet_that_waits_for_tokens_at_the_transmitter_is_not_in_the_queue() {
    let shaper = Some(BucketSpec { rate: Rate(1_000_000), burst: Bytes(1000) });
    let link = Port { shaper, buffer: Buffer::Units(5), ..port("link", Rate(10_000_000), TimeDelta::ZERO) };
    for Results { queues, .. } in stopped(Rate(2_000_000), TimeDelta::from_millis(20_000), link) {
        let [mean, max] = ["mean_queue_units", "max_queue_units"].map(|column| first(&queues, column));
        assert_eq!(max, 5.0);
        assert!((4.4..=5.0).contains(&mean), "{mean}");
    }
}

#[test]
fn a_stopped_flow_is_active_until_its_last_data_is_acknowledged() {
    // Slow start fills the queue of 1 Mbit/s until the stop after 1 s. The queue drains during many seconds, without further transmissions.
    let link = Port { buffer: Buffer::Unlimited, ..port("link", Rate(1_000_000), TimeDelta::from_millis(10)) };
    let back = port("back", Rate(1_000_000), TimeDelta::from_millis(10));
    let mut flow = flow(0, 0, 1);
    flow.stop = Time::ZERO + TimeDelta::from_millis(1_000);
    let network = one_link([link, back], group("web", reno(tcp(Recovery::NewReno))), vec![flow], TimeDelta::from_millis(20_000));
    for warmup in [0, 990, 1_000, 1_100] {
        let results = run(Network { warmup: TimeDelta::from_millis(warmup), ..network.clone() });
        let [goodput, bytes, active] =
            ["goodput_bps", "delivered_bytes", "active_share"].map(|column| first(&results.flows, column));
        assert_eq!(goodput, bytes * 8.0 / (20.0 - warmup as f64 / 1e3));
        assert!(bytes > 0.0 && active == 1.0, "warm-up of {warmup} ms: {bytes} bytes, {active}");
    }
}
