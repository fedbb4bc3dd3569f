//! Processing at the hosts: a server in series with the network, whose rate no acknowledgement policy changes.

use crate::common::{dumbbell, first, flow, group, link, reno, run, tcp};
use tailback_core::Engine;
use tailback_core::network::*;
use tailback_core::primitives::packet::Ecn;
use tailback_core::primitives::units::{Bytes, Segments, Time, TimeDelta};
use tailback_core::tcp::{DelayedAck, Recovery, TcpSpec};
use tailback_core::traffic::{Arrivals, DatagramSpec, PacketSize};

fn slow_receiver(transport: Transport, milliseconds: u64) -> Group {
    let receive_processing = Some(Delay::Fixed(TimeDelta::from_millis(milliseconds)));
    Group { receive_processing, ..group("slow", transport) }
}

#[test]
fn a_receiver_serves_every_segment_whatever_it_acknowledges() {
    // 20 ms for each of 40 segments in flight, which the RTT of 10 ms does not limit: 50 segments of 1000 bytes a second.
    for every in [1, 2, 10] {
        let delayed_ack = (every > 1).then(|| DelayedAck { every, ..DelayedAck::default() });
        let spec = TcpSpec { receiver_window: Segments(40), delayed_ack, ..tcp(Recovery::Sack) };
        let bottleneck = link("link", 100, TimeDelta::from_millis(5), Buffer::Unlimited);
        let network = dumbbell(bottleneck, slow_receiver(reno(spec), 20), vec![flow(0, 0, 1)], TimeDelta::from_millis(60_000));
        let flows = run(Network { warmup: TimeDelta::from_millis(10_000), ..network }).flows;
        assert_eq!(first(&flows, "goodput_bps"), 400_000.0, "an acknowledgement per {every} segments");
    }
}

#[test]
fn datagrams_are_received_when_they_have_been_served() {
    // One arrives every millisecond, the first at 1 + 5 ms, and each takes 2 ms.
    let spec = DatagramSpec { arrivals: Arrivals::External, packet: PacketSize::Fixed(Bytes(1000)), header: Bytes(0) };
    let bottleneck = link("link", 8, TimeDelta::from_millis(5), Buffer::Unlimited);
    let group = slow_receiver(Transport::Datagram(spec), 2);
    let mut engine = Engine::new(dumbbell(bottleneck, group, vec![flow(0, 0, 1)], TimeDelta::from_millis(1000)));
    for number in 0..5 {
        engine.run_until(Time(TimeDelta::from_millis(number).0));
        assert_eq!(engine.inject(FlowId(0), Bytes(1000), Ecn::NOT_ECT), Some(number as u32));
    }
    engine.run_until(Time::NEVER);
    let received: Vec<f64> = engine.take_fates().map(|fate| fate.time.seconds() * 1000.0).collect();
    assert_eq!(received, [8.0, 10.0, 12.0, 14.0, 16.0]);
}
