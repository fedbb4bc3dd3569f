//! Policies under unresponsive overload.

use crate::common::{first, flow, group, one_link, port, run};
use tailback_core::Results;
use tailback_core::network::{Buffer, Port, Transport};
use tailback_core::primitives::units::{Bytes, Rate, TimeDelta};
use tailback_core::queue::{CobaltSpec, CodelSpec, PolicySpec};
use tailback_core::traffic::{Arrivals, DatagramSpec, PacketSize, PoissonSpec, ProcessSpec};

/// Twice the capacity of a 10 Mbit/s link with a buffer of 200 packets, for 15 s after the first 5 s.
fn flooded(policy: PolicySpec) -> Results {
    let arrivals = Arrivals::Process(ProcessSpec::Poisson(PoissonSpec { rate: Rate(20_000_000) }));
    let flood = DatagramSpec { arrivals, packet: PacketSize::Fixed(Bytes(1000)), header: Bytes(0) };
    let link = Port { policy, buffer: Buffer::Units(200), ..port("link", Rate(10_000_000), TimeDelta::ZERO) };
    let back = port("back", Rate(10_000_000), TimeDelta::ZERO);
    let group = group("flood", Transport::Datagram(flood));
    let mut network = one_link([link, back], group, vec![flow(0, 0, 1)], TimeDelta::from_millis(20_000));
    network.warmup = TimeDelta::from_millis(5_000);
    run(network)
}

#[test]
fn blue_discards_unresponsive_traffic_that_fills_the_buffer_of_codel() {
    let codel = flooded(PolicySpec::Codel(CodelSpec::default()));
    let cobalt = flooded(PolicySpec::Cobalt(CobaltSpec::default()));
    for results in [&codel, &cobalt] {
        let lost = first(&results.queues, "loss_rate");
        assert!((lost - 0.5).abs() < 0.02, "{lost}");
    }
    // 200 packets take 160 ms. CoDel's drop rate rises by one per interval, which is not sufficient.
    assert!(first(&codel.queues, "dropped_full") > 5000.0 && first(&codel.queues, "mean_wait_s") > 0.08);
    assert!(first(&cobalt.queues, "dropped_full") == 0.0 && first(&cobalt.queues, "mean_wait_s") < 0.04);
    // An empty queue lowers the probability slowly, so the link is rarely idle.
    assert!(first(&cobalt.queues, "utilisation") > 0.97);
}
