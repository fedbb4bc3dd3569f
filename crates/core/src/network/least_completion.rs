//! How long a transfer takes if nothing holds it back.

use super::{Access, Group, Network, PortId, Switching, Transport};
use crate::primitives::sizes::CELL_BYTES;
use crate::primitives::units::{Bytes, Rate, Span, Units};

/// Data that go one way.
pub(crate) struct Transfer<'a> {
    pub(crate) group: &'a Group,
    pub(crate) size: Bytes,
    pub(crate) sender_access: Access,
    pub(crate) receiver_access: Access,
    pub(crate) route: &'a [PortId],
}

impl Network {
    /// From a flow's start until its receiver has everything, if all of it were sent at once through the empty network, with the rates
    /// that links begin with; `None` of datagrams. No controller, no handshake, no host that takes time.
    pub(crate) fn least_completion(&self, of: &Transfer) -> Option<Span> {
        let Transport::Tcp(spec, _) = &of.group.transport else { return None };
        let packets = of.size.0.div_ceil(spec.mss.0).max(1);
        let full = spec.mss + spec.header;
        let last = Bytes(of.size.0 - (packets - 1) * spec.mss.0) + spec.header;
        let (mut train, at_ends) = match of.group.framing {
            Some(framing) => {
                let cells = framing.cells(full).0 * (packets - 1) + framing.cells(last).0;
                (Train::new(Units(cells), CELL_BYTES, CELL_BYTES), framing.delay())
            }
            None => (Train::new(Units(packets), full, last), Span::ZERO),
        };
        train.cross(&Hop::access(&of.sender_access));
        for &port in of.route {
            let port = &self.ports[port as usize];
            let cuts_through = port.switching == Switching::CutThrough;
            train.cross(&Hop { rate: Some(port.rate), delay: port.delay, transmitters: port.transmitters.into(), cuts_through });
        }
        train.cross(&Hop::access(&of.receiver_access));
        Some(Span(train.arrived().saturating_add(at_ends.0)))
    }
}

/// A link on the way, without a queue before it.
struct Hop {
    rate: Option<Rate>,
    delay: Span,
    transmitters: u64,
    cuts_through: bool,
}

impl Hop {
    fn access(access: &Access) -> Hop {
        Hop { rate: access.rate, delay: access.delay, transmitters: 1, cuts_through: false }
    }

    fn service(&self, bytes: Bytes) -> u64 {
        self.rate.map_or(0, |rate| rate.time_to_send(bytes).0)
    }
}

/// Units that leave a host at once, all of one size but the last: when the last bits of three of them are at the next hop, in picoseconds.
struct Train {
    units: u64,
    size: Bytes,
    last_size: Bytes,
    first: u64,
    last_but_one: u64,
    last: u64,
    /// What the hop before took for a unit, and for the last one.
    services: [u64; 2],
    /// From one unit to the next.
    pace: u64,
}

impl Train {
    fn new(units: Units, size: Bytes, last_size: Bytes) -> Train {
        Train { units: units.0, size, last_size, first: 0, last_but_one: 0, last: 0, services: [0; 2], pace: 0 }
    }

    fn cross(&mut self, hop: &Hop) {
        let [service, last_service] = [hop.service(self.size), hop.service(self.last_size)];
        let [head, last_head] = if hop.cuts_through { self.services } else { [0; 2] };
        let delay = hop.delay.0;
        let own_pace = service.div_ceil(hop.transmitters);
        self.pace = self.pace.max(own_pace);
        self.first = (self.first.saturating_sub(head)).saturating_add(service).saturating_add(delay);
        let mut is_free = 0;
        if self.units > 1 {
            self.last_but_one = self.first.saturating_add(self.pace.saturating_mul(self.units - 2));
            // With several transmitters, the next of them.
            is_free = self.last_but_one.saturating_sub(delay).saturating_sub(service - own_pace);
        }
        self.last = self.last.saturating_sub(last_head).max(is_free).saturating_add(last_service).saturating_add(delay);
        self.services = [service, last_service];
    }

    /// When all are there: a short last one may overtake where there are several transmitters.
    fn arrived(&self) -> u64 {
        if self.units > 1 { self.last.max(self.last_but_one) } else { self.last }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 bit/s is a picosecond for 10^-12 bit: rates such that a byte takes so many picoseconds.
    fn hop(picoseconds_a_byte: u64, delay: u64) -> Hop {
        Hop { rate: Some(Rate(8_000_000_000_000 / picoseconds_a_byte)), delay: Span(delay), transmitters: 1, cuts_through: false }
    }

    fn over(units: u64, last: u64, hops: &[Hop]) -> u64 {
        let mut train = Train::new(Units(units), Bytes(100), Bytes(last));
        hops.iter().for_each(|hop| train.cross(hop));
        train.arrived()
    }

    #[test]
    fn a_single_packet_is_sent_at_each_hop() {
        assert_eq!(over(1, 10, &[hop(1, 5), hop(4, 7)]), 10 + 5 + 40 + 7);
    }

    #[test]
    fn a_train_goes_at_the_pace_of_the_slowest_link() {
        // Four packets: the first at 100 + 5 + 400 + 7 + 200, three more 400 apart; the last one, of 10 bytes, waits at the slow link.
        let hops = [hop(1, 5), hop(4, 7), hop(2, 0)];
        assert_eq!(over(4, 100, &hops), 712 + 3 * 400);
        // It leaves that at 105 + 3 x 400 + 40 and is alone on the fast link behind, where the one before left 200 after 105 + 1200 + 7.
        assert_eq!(over(4, 10, &hops), 105 + 1200 + 7 + 200 + 20);
    }

    #[test]
    fn heads_that_cut_through_save_the_service_before() {
        let mut cut = hop(1, 7);
        cut.cuts_through = true;
        assert_eq!(over(3, 100, &[hop(1, 5), cut]), 100 + 5 + 7 + 200);
    }

    #[test]
    fn channels_serve_side_by_side() {
        let mut trunk = hop(4, 0);
        trunk.transmitters = 4;
        // A packet each 100, each 400 long: the fourth is there at 300 + 100 + 400.
        assert_eq!(over(4, 100, &[hop(1, 0), trunk]), 800);
    }
}
