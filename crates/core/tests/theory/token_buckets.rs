//! Policers and shapers in a network: bursts, long-term rates and departure times.

use crate::common::{first, floats, flow, group, one_link, port, run, trace};
use tailback_core::Results;
use tailback_core::network::{
    Buffer, ClassQueue, DeliveryTrace, Group, Network, Opportunities, Port, Queues, Recording, Scheduling, Trace, TraceKind,
    Transport, VaryingRate,
};
use tailback_core::primitives::token_bucket::BucketSpec;
use tailback_core::primitives::units::{Bytes, Rate, Time, TimeDelta};
use tailback_core::queue::{Excess, PolicerSpec, PolicySpec};
use tailback_core::schedule::SchedulerSpec;
use tailback_core::traffic::{Arrivals, ConstantSpec, DatagramSpec, PacketSize, ProcessSpec};

/// Packets of 1000 bytes at 16 Mbit/s, one every 0.5 ms.
fn source(name: &str) -> Group {
    let arrivals = Arrivals::Process(ProcessSpec::Constant(ConstantSpec { rate: Rate(16_000_000) }));
    group(name, Transport::Datagram(DatagramSpec { arrivals, packet: PacketSize::Fixed(Bytes(1000)), header: Bytes(0) }))
}

/// A flow of the source over a link of 80 Mbit/s, where a packet takes 0.1 ms.
fn network(link: Port, duration: TimeDelta) -> Network {
    let back = port("back", Rate(80_000_000), TimeDelta::ZERO);
    one_link([link, back], source("source"), vec![flow(0, 0, 1)], duration)
}

fn link() -> Port {
    Port { buffer: Buffer::Unlimited, ..port("link", Rate(80_000_000), TimeDelta::ZERO) }
}

fn policer(burst: u32, excess: Excess) -> PolicySpec {
    PolicySpec::Policer(PolicerSpec { rate: Rate(8_000_000), burst, excess })
}

#[test]
fn a_policer_passes_a_burst_and_its_rate_exactly() {
    // One packet every 0.5 ms, tokens for one packet per millisecond: with a burst of ten, the 20th is the first that does not conform, at
    // 9.5 ms, because 19,000 of 10,000 + 9500 bytes have been used.
    let mut network = network(Port { policy: policer(10_000, Excess::Dropped), ..link() }, TimeDelta::from_millis(10_000));
    network.record =
        Recording { traces: vec![Trace { kind: TraceKind::Drops, of: vec![0] }], delay_percentiles: false, queue_flows: false };
    let results = run(network);
    let drops = floats(trace(&results, "drops"), "time_s");
    assert!((drops[0] - 0.0095).abs() < 1e-12, "{}", drops[0]);
    // In 10 s, with the last arrival at 9.9995 s: 10,000 + 9,999,500 bytes.
    assert_eq!(first(&results.queues, "departed_units"), 10_009.0);
    assert_eq!(first(&results.queues, "dropped_policed"), 20_000.0 - 10_009.0);
    assert_eq!(first(&results.queues, "dropped_units"), first(&results.queues, "dropped_policed"));
    assert_eq!(first(&results.queues, "mean_wait_s"), 0.0);
}

#[test]
fn opportunities_of_a_trace_that_pass_while_a_packet_waits_for_tokens_are_lost() {
    // One opportunity per millisecond, tokens for one packet per 2 ms. The first packet uses the opportunity at 1 ms. From then on a packet
    // has its tokens at 2, 4, 6 ms, just too late for the opportunity at that instant, and uses the next one: at 3, 5, 7 ms.
    let Ok(trace) = DeliveryTrace::new(vec![Opportunities { millisecond: 1, count: 1 }]) else { panic!("no trace") };
    let shaper = Some(BucketSpec { rate: Rate(4_000_000), burst: Bytes(1000) });
    let link = Port { rate: trace.mean_rate(), varying: Some(VaryingRate::Opportunities(trace)), shaper, ..link() };
    let results = run(network(link, TimeDelta::from_millis(10_000)));
    assert_eq!(first(&results.queues, "departed_units"), 5000.0);
}

#[test]
fn a_marking_policer_passes_all_ecn_capable_packets() {
    let mut network = network(Port { policy: policer(10_000, Excess::Marked), ..link() }, TimeDelta::from_millis(10_000));
    network.groups[0].l4s = true;
    let results = run(network);
    assert_eq!((first(&results.queues, "departed_units"), first(&results.queues, "marked_units")), (20_000.0, 9991.0));
    assert_eq!(first(&results.queues, "dropped_units"), 0.0);
}

#[test]
fn groups_have_policers_of_their_own() {
    let class = |name: &str, policy| ClassQueue { name: name.into(), weight: 1.0, buffer: Buffer::Unlimited, policy };
    let classes = vec![class("policed", policer(1000, Excess::Dropped)), class("free", PolicySpec::DropTail(()))];
    let queues = Queues::OfClasses(classes, vec![None, Some(0), Some(1)]);
    let scheduling = Some(Box::new(Scheduling { scheduler: SchedulerSpec::Fifo(()), queues }));
    let mut network = network(Port { scheduling, ..link() }, TimeDelta::from_millis(1000));
    network.groups = vec![Group { class: 1, ..source("a") }, Group { class: 2, ..source("b") }];
    network.flows = vec![flow(0, 0, 1), flow(1, 0, 1)];
    let results = run(network);
    let classes = results.classes.as_ref().unwrap_or_else(|| panic!("the link has class queues"));
    assert_eq!(floats(classes, "dropped_units"), [1000.0, 0.0]);
    assert_eq!(first(&results.queues, "dropped_policed"), 1000.0);
}

fn shaped(burst: u64, sends: TimeDelta) -> Results {
    let shaper = Some(BucketSpec { rate: Rate(8_000_000), burst: Bytes(burst) });
    let mut network = network(Port { shaper, ..link() }, TimeDelta::from_millis(10_000));
    network.flows[0].stop = Time(sends.0);
    network.record =
        Recording { traces: vec![Trace { kind: TraceKind::Queue, of: vec![0] }], delay_percentiles: false, queue_flows: false };
    run(network)
}

#[test]
fn a_shaper_passes_a_burst_and_delays_later_packets_to_its_rate() {
    // 100 packets in 50 ms. Packet n, from 0 on, arrives at n / 2 ms. The 20th packet exceeds the burst of ten and the tokens that have
    // arrived by then: from n = 19 on, packet n is sent at n - 9 ms, when the tokens of n + 1 packets are available. It waits n / 2 - 9 ms,
    // which is 0.5 ms for n = 19.
    let results = shaped(10_000, TimeDelta::from_millis(50));
    assert_eq!((first(&results.queues, "departed_units"), first(&results.queues, "dropped_units")), (100.0, 0.0));
    let waits: f64 = (0..100).map(|n| (f64::from(n) / 2.0 - 9.0).max(0.0)).sum();
    let found = first(&results.queues, "mean_wait_s");
    assert!((found - waits / 100.0 * 1e-3).abs() < 1e-12, "{found}, not {} ms", waits / 100.0);
}

#[test]
fn in_the_long_run_a_shaper_sends_at_its_rate() {
    // All 20,000 packets of 10 s arrive. Tokens for 10 s and a burst of one packet are available; the packets that have left by 10 s count.
    let results = shaped(1000, TimeDelta::from_millis(10_000));
    // Packet n is sent at n ms and has left 0.1 ms later.
    assert_eq!(first(&results.queues, "departed_units"), 10_000.0);
    assert!((first(&results.queues, "utilisation") - 0.1).abs() < 1e-9);
}

#[test]
fn the_policy_sees_packets_that_wait_for_tokens() {
    // 8 Mbit/s in the long run, 16 Mbit/s arrive. With a buffer of 20 packets the queue is full, and 21 packets of 1 ms each precede an
    // accepted packet.
    let shaper = Some(BucketSpec { rate: Rate(8_000_000), burst: Bytes(1000) });
    let results = run(network(Port { shaper, buffer: Buffer::Units(20), ..link() }, TimeDelta::from_millis(10_000)));
    assert!((first(&results.queues, "loss_rate") - 0.5).abs() < 0.01);
    let wait = first(&results.queues, "mean_wait_s");
    assert!((0.019..0.0215).contains(&wait), "{wait}");
}
