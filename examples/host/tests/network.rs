//! The transport in simulated networks, in virtual time.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use example_transport::{PACKET, Sender};
use std::net::SocketAddrV4;
use std::time::Duration;
use tailback_core::primitives::units::Time;
use tailback_host::{Datagram, EcnField, Host, Outbox, Testbed};
use tailback_scenario::Scenario;

struct Sending(Sender, SocketAddrV4, SocketAddrV4);

impl Host for Sending {
    fn receive(&mut self, _now: Time, datagram: &Datagram<'_>) {
        self.0.acknowledged(u64::from_be_bytes(datagram.payload.try_into().unwrap()));
    }

    fn poll(&mut self, now: Time, outbox: &mut Outbox) {
        let now = Duration::from_nanos(now.0 / 1000);
        self.0.tick(now);
        for number in self.0.packets(now) {
            let mut payload = [0; PACKET];
            payload[..8].copy_from_slice(&number.to_be_bytes());
            outbox.send(&Datagram { source: self.1, destination: self.2, ecn: EcnField::NotEct, payload: &payload });
        }
    }

    fn deadline(&self) -> Option<Time> {
        self.0.timeout().map(|at| Time(at.as_nanos() as u64 * 1000))
    }
}

#[derive(Default)]
struct Acknowledging(Vec<(SocketAddrV4, SocketAddrV4, Vec<u8>)>);

impl Host for Acknowledging {
    fn receive(&mut self, _now: Time, datagram: &Datagram<'_>) {
        self.0.push((datagram.destination, datagram.source, datagram.payload[..8].to_vec()));
    }

    fn poll(&mut self, _now: Time, outbox: &mut Outbox) {
        for (source, destination, payload) in self.0.drain(..) {
            outbox.send(&Datagram { source, destination, ecn: EcnField::NotEct, payload: &payload });
        }
    }

    fn deadline(&self) -> Option<Time> {
        None
    }
}

#[test]
fn it_fills_95_percent_of_20_mbps_within_5_s_behind_codel() {
    let network = "duration = \"30 s\"\nwarmup = \"5 s\"\n[topology.dumbbell]\nrate = \"20 Mbps\"\ndelay = \"20 ms\"\n\
                   queue = {policy = \"codel\", buffer = \"1000 packets\"}\n";
    let mut testbed = Testbed::new(&Scenario::from_toml(network, "network.toml").unwrap(), &[]).unwrap();
    let [left, right] = ["left", "right"].map(|name| testbed.address(name).unwrap());
    let (from, to) = (SocketAddrV4::new(left, 1000), SocketAddrV4::new(right, 443));
    testbed.attach(left, Sending(Sender::default(), from, to)).unwrap();
    testbed.attach(right, Acknowledging::default()).unwrap();
    let outcome = testbed.run().unwrap();
    assert_eq!(outcome.fault, None);
    let utilisation = outcome.results.queues.floats("utilisation").unwrap()[0];
    assert!(utilisation > 0.95, "{utilisation}");
}
