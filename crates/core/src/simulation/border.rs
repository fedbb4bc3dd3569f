//! Where a run is shared among threads: which domain owns what, and what leaves one for another.
//!
//! Each domain is an engine of its own that handles the events of what it owns. A packet whose next place is another domain's goes there as
//! mail, and walks on from the line that it was in.

use super::event_order::EventOrder;
use super::path::Feeder;
use crate::primitives::calendar::{Ranks, Slot};
use crate::primitives::packet::{NumberAndHeader, Packet, Report};
use crate::primitives::units::{Span, Time};
use std::sync::Arc;

/// End of a route in the flat list of routes.
pub(crate) const END: u32 = u32::MAX;
/// The same, where the flow's end there may be another domain's.
pub(crate) const END_OF_ANY: u32 = u32::MAX - 1;
/// An entry from here on is none of the domain's ports: it is an end, or another's port and this.
pub(crate) const ELSEWHERE: u32 = 1 << 31;

/// Number of a domain.
pub(crate) type Domain = u16;

/// Which domain owns what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owners {
    pub(crate) of_ports: Vec<Domain>,
    /// Of each flow.
    pub(crate) of_senders: Vec<Domain>,
    pub(crate) of_receivers: Vec<Domain>,
}

impl Owners {
    /// The owner of the place to which a packet comes next. `entry`: of the flat list of routes.
    pub(crate) fn of_next_place(&self, packet: &Packet, entry: u32) -> Domain {
        match entry {
            END | END_OF_ANY if packet.is_ack() => self.of_senders[packet.flow as usize],
            END | END_OF_ANY => self.of_receivers[packet.flow as usize],
            port => self.of_ports[(port & !ELSEWHERE) as usize],
        }
    }
}

/// Packets for another domain, the line that each has been in, and what they carry beside, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mail {
    pub(crate) packets: Vec<(Feeder, Packet)>,
    pub(crate) reports: Vec<Report>,
    pub(crate) prices: Vec<NumberAndHeader>,
}

/// Packets of other domains that wait for their turn at a port. In order, they need no place in the calendar.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrivals {
    sorted: Vec<Arrival>,
    /// How many have had their turn.
    taken: usize,
}

/// A packet and the event that its turn is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) slot: Slot,
    pub(crate) packet: Packet,
}

impl Arrivals {
    /// Another, anywhere in the order: see [`Arrivals::sort`].
    pub(crate) fn push(&mut self, arrival: Arrival) {
        if self.taken > 0 {
            self.sorted.drain(..std::mem::take(&mut self.taken));
        }
        self.sorted.push(arrival);
    }

    /// What one line brings stays in its order.
    pub(crate) fn sort(&mut self, order: &EventOrder) {
        self.sorted.sort_by_key(|arrival| (arrival.packet.time, order.rank(arrival.slot)));
    }

    #[inline]
    pub(crate) fn first(&self) -> Option<&Arrival> {
        self.sorted.get(self.taken)
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Arrival> {
        let first = self.first().copied();
        self.taken += usize::from(first.is_some());
        first
    }
}

/// What a domain knows of the others.
#[derive(Clone, Debug)]
pub(crate) struct Border {
    pub(crate) own: Domain,
    pub(crate) owners: Arc<Owners>,
    /// For each domain, and from each: what has come is read when its epoch begins.
    pub(crate) outboxes: Vec<Mail>,
    pub(crate) inboxes: Vec<Mail>,
    pub(crate) arrivals: Arrivals,
    /// Waiting for timeouts of senders whose receivers are others'. What came after the receiver had everything does not count: that is known
    /// when the domains are put together.
    pub(crate) waits: Vec<Wait>,
}

/// A sender's wait for a timeout.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    pub(crate) flow: u32,
    pub(crate) until: Time,
    pub(crate) idle: Span,
}

impl Border {
    /// `domains`: how many there are.
    pub(crate) fn new(own: Domain, owners: Arc<Owners>, domains: usize) -> Border {
        Border {
            own,
            owners,
            outboxes: vec![Mail::default(); domains],
            inboxes: vec![Mail::default(); domains],
            arrivals: Arrivals::default(),
            waits: Vec::new(),
        }
    }

    /// A sender has waited so long for the timeout that has come.
    pub(crate) fn note_wait(&mut self, wait: Wait) {
        if wait.idle > Span::ZERO && self.owners.of_receivers[wait.flow as usize] != self.own {
            self.waits.push(wait);
        }
    }
}
