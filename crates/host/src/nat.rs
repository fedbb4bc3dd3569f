//! A network address translator between a host and the network.

use crate::ip::{self, PortField};
use std::borrow::Cow;
use tailback_core::primitives::units::Time;

/// A change of the source port of a host, as by a NAT that has forgotten it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rebinding {
    pub at: Time,
    /// Packets leave with this source port from then on, and packets to the old one are lost.
    pub port: u16,
}

/// Translates the port of a host after the first change; of UDP and TCP only.
#[derive(Default)]
pub(crate) struct Nat {
    /// In order of time.
    rebindings: Vec<Rebinding>,
    /// The host's own port.
    own: u16,
}

impl Nat {
    pub(crate) fn add(&mut self, rebinding: Rebinding) {
        self.rebindings.push(rebinding);
        self.rebindings.sort_by_key(|rebinding| rebinding.at);
    }

    /// The port that others see.
    fn outer(&self, now: Time) -> Option<u16> {
        self.rebindings.iter().take_while(|rebinding| rebinding.at <= now).last().map(|rebinding| rebinding.port)
    }

    /// A packet from the host.
    pub(crate) fn translate_sent(&mut self, now: Time, packet: &mut [u8]) {
        let Some(outer) = self.outer(now) else { return };
        let Some(own) = ip::port(packet, PortField::Source) else { return };
        self.own = own;
        ip::set_port(packet, PortField::Source, outer);
    }

    /// A packet to the host; `None` if its port is an old one.
    pub(crate) fn translate_received<'p>(&self, now: Time, packet: &'p [u8]) -> Option<Cow<'p, [u8]>> {
        let Some(outer) = self.outer(now) else { return Some(packet.into()) };
        let Some(port) = ip::port(packet, PortField::Destination) else { return Some(packet.into()) };
        if port != outer {
            return None;
        }
        let mut packet = packet.to_vec();
        ip::set_port(&mut packet, PortField::Destination, self.own);
        Some(packet.into())
    }
}
