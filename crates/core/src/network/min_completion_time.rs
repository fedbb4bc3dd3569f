//! Minimum completion time of a transfer.

use super::{AccessLink, ChangeKind, Group, Network, Port, PortId, Switching, Transport, VaryingRate};
use crate::primitives::sizes::CELL_BYTES;
use crate::primitives::units::{Bytes, Rate, TimeDelta};

/// A one-way transfer.
pub(crate) struct Transfer<'a> {
    pub(crate) group: &'a Group,
    pub(crate) size: Bytes,
    pub(crate) sender_access: AccessLink,
    pub(crate) receiver_access: AccessLink,
    pub(crate) route: &'a [PortId],
    /// The value of [`Network::best_links`].
    pub(crate) links: &'a [Hop],
}

impl Transfer<'_> {
    /// Minimum time from a flow's start until its receiver has the whole transfer: all of it is sent at once through the empty network,
    /// with the highest rate and the shortest delay of each link of its first route over the run. `None` for datagrams. Controller,
    /// handshake and host delays are ignored. With several transmitters on a link it is a lower bound.
    pub(crate) fn min_completion_time(&self) -> Option<TimeDelta> {
        let Transport::Tcp(spec, _) = &self.group.transport else { return None };
        let packets = self.size.0.div_ceil(spec.mss.0).max(1);
        let full = spec.mss + spec.header;
        let last = Bytes(self.size.0 - (packets - 1) * spec.mss.0) + spec.header;
        let (train, at_ends) = match self.group.framing {
            Some(framing) => {
                let cells = framing.cells(full).0 * (packets - 1) + framing.cells(last).0;
                (Train { units: cells, size: CELL_BYTES, last_size: CELL_BYTES }, framing.delay())
            }
            None => (Train { units: packets, size: full, last_size: last }, TimeDelta::ZERO),
        };
        let ports = self.route.iter().map(|&port| self.links[port]);
        let [up, down] = [&self.sender_access, &self.receiver_access].map(Hop::access);
        let hops: Vec<Hop> = std::iter::once(up).chain(ports).chain([down]).collect();
        let min = if hops.iter().all(|hop| hop.transmitters == 1) { train.over_single(&hops) } else { train.bound(&hops) };
        Some(TimeDelta(min.saturating_add(at_ends.0)))
    }
}

impl Network {
    /// The link of each port, with its highest rate and shortest delay over the run.
    pub(crate) fn best_links(&self) -> Vec<Hop> {
        let link = |port: &Port| {
            let cuts_through = port.switching == Switching::CutThrough;
            let rate = port.varying.as_ref().map_or(port.rate, VaryingRate::highest_rate);
            Hop { rate: Some(rate), delay: port.delay, transmitters: port.transmitters.into(), cuts_through }
        };
        let mut links: Vec<Hop> = self.ports.iter().map(link).collect();
        for change in &self.changes {
            match change.what {
                ChangeKind::Rate(port, new) => links[port].rate = links[port].rate.max(Some(new)),
                ChangeKind::Delay(port, new) => links[port].delay = links[port].delay.min(new),
                ChangeKind::RandomLoss(..) | ChangeKind::Buffer(..) | ChangeKind::Route(..) => {}
            }
        }
        links
    }
}

/// A link of the path, without its queue.
#[derive(Clone, Copy)]
pub(crate) struct Hop {
    rate: Option<Rate>,
    delay: TimeDelta,
    transmitters: u64,
    cuts_through: bool,
}

impl Hop {
    fn access(access: &AccessLink) -> Hop {
        Hop { rate: access.rate, delay: access.delay, transmitters: 1, cuts_through: false }
    }

    fn service(&self, bytes: Bytes) -> u64 {
        self.rate.map_or(0, |rate| rate.time_to_send(bytes).0)
    }
}

/// Units that leave a host at once, all of the same size except the last. Times are in picoseconds.
#[derive(Clone, Copy)]
struct Train {
    units: u64,
    size: Bytes,
    last_size: Bytes,
}

impl Train {
    /// Exact arrival time of the last unit over hops with one transmitter each.
    fn over_single(&self, hops: &[Hop]) -> u64 {
        // Arrival times of the last bits of the first and the last unit at the next hop.
        let (mut first, mut last) = (0_u64, 0_u64);
        let (mut pace, mut services) = (0, [0; 2]);
        for hop in hops {
            let [service, last_service] = [hop.service(self.size), hop.service(self.last_size)];
            let [head, last_head] = if hop.cuts_through { services } else { [0; 2] };
            pace = service.max(pace);
            first = first.saturating_sub(head).saturating_add(service).saturating_add(hop.delay.0);
            let mut is_free = 0;
            if self.units > 1 {
                let last_but_one = first.saturating_add(pace.saturating_mul(self.units - 2));
                is_free = last_but_one.saturating_sub(hop.delay.0);
            }
            last = last.saturating_sub(last_head).max(is_free).saturating_add(last_service).saturating_add(hop.delay.0);
            services = [service, last_service];
        }
        last
    }

    /// Lower bound of the arrival time of the last unit. For each hop it is the sum of the time until a unit arrives there, the time until
    /// its transmitters have sent all units, and the remaining time of a unit of the smaller size.
    fn bound(&self, hops: &[Hop]) -> u64 {
        let small = self.size.min(self.last_size);
        let alone = Train { units: 1, size: small, last_size: small }.over_single(hops);
        let of_hop = |hop: &Hop| {
            let rounds = (self.units - 1).div_ceil(hop.transmitters);
            let work = hop.service(self.size).saturating_mul(rounds).max(hop.service(small));
            alone.saturating_sub(hop.service(small)).saturating_add(work)
        };
        hops.iter().map(of_hop).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rate such that one byte takes `picoseconds_a_byte`.
    fn hop(picoseconds_a_byte: u64, delay: u64) -> Hop {
        Hop {
            rate: Some(Rate(8_000_000_000_000 / picoseconds_a_byte)),
            delay: TimeDelta(delay),
            transmitters: 1,
            cuts_through: false,
        }
    }

    fn over(units: u64, last: u64, hops: &[Hop]) -> u64 {
        Train { units, size: Bytes(100), last_size: Bytes(last) }.over_single(hops)
    }

    #[test]
    fn a_single_packet_is_sent_at_each_hop() {
        assert_eq!(over(1, 10, &[hop(1, 5), hop(4, 7)]), 10 + 5 + 40 + 7);
    }

    #[test]
    fn a_train_travels_at_the_rate_of_the_slowest_link() {
        // Four packets: the first arrives at 100 + 5 + 400 + 7 + 200, three more 400 apart. The last one, of 10 bytes, waits at the slow
        // link.
        let hops = [hop(1, 5), hop(4, 7), hop(2, 0)];
        assert_eq!(over(4, 100, &hops), 712 + 3 * 400);
        // It leaves the slow link at 105 + 3 x 400 + 40. The next link is free by then: the previous packet left it 200 after 105 + 1200 +
        // 7.
        assert_eq!(over(4, 10, &hops), 105 + 1200 + 7 + 200 + 20);
    }

    #[test]
    fn cut_through_saves_the_transmission_time_of_the_previous_hop() {
        let mut cut = hop(1, 7);
        cut.cuts_through = true;
        assert_eq!(over(3, 100, &[hop(1, 5), cut]), 100 + 5 + 7 + 200);
    }

    #[test]
    fn a_trunk_is_bounded_by_the_total_rate_of_its_channels() {
        let mut trunk = hop(4, 7);
        trunk.transmitters = 4;
        let bound = |units, last| Train { units, size: Bytes(100), last_size: Bytes(last) }.bound(&[hop(1, 5), trunk]);
        // One packet: 100 + 5 + 400 + 7. Nine full packets and a short one: three rounds of the trunk, after the 10 + 5 of the short one.
        assert_eq!(bound(1, 100), 512);
        assert_eq!(bound(10, 10), 10 + 5 + 3 * 400 + 7);
    }
}
