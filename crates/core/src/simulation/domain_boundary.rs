//! The boundary of a domain in a parallel run: ownership of ports and ends, and packets exchanged between domains.
//!
//! Each domain is an engine that handles the events of its own ports and ends. A packet whose next hop belongs to another domain is sent
//! there in a batch and continues from the line that it was in.

use super::datagrams::Fate;
use super::event_order::EventOrder;
use super::packets::Packets;
use super::path::{Feeder, Path};
use super::routes::RouteEntry;
use crate::primitives::calendar::{Ranks, Slot};
use crate::primitives::ids::{FlowId, PortId};
use crate::primitives::packet::{NumberAndHeader, Packet, Report};
use crate::primitives::units::{Time, TimeDelta};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Number of a domain.
pub(crate) type Domain = u16;

/// The owner of each port and end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owners {
    pub(crate) of_ports: Vec<Domain>,
    /// By flow.
    pub(crate) of_senders: Vec<Domain>,
    pub(crate) of_receivers: Vec<Domain>,
}

impl Owners {
    /// The owner of a packet's next hop. `entry` is an entry of the flat list of routes.
    pub(crate) fn of_next_place(&self, packet: &Packet, entry: RouteEntry) -> Domain {
        match (entry.port(), entry.domain_of_end()) {
            (Some(port), _) => self.of_ports[port],
            (None, Some(domain)) => domain,
            (None, None) if packet.is_ack() => self.of_senders[packet.flow],
            (None, None) => self.of_receivers[packet.flow],
        }
    }
}

/// Packets for another domain in order, each with its previous line, and the side data that they carry.
#[derive(Clone, Debug)]
pub(crate) struct PacketBatch {
    /// The earliest time at which one of them has an effect.
    pub(crate) first: Time,
    pub(crate) packets: Vec<(Feeder, Packet)>,
    pub(crate) reports: Vec<Report>,
    pub(crate) prices: Vec<NumberAndHeader>,
    /// Fates of datagrams, for the domain of the external flows.
    pub(crate) fates: Vec<Fate>,
}

impl Default for PacketBatch {
    fn default() -> PacketBatch {
        PacketBatch { first: Time::NEVER, packets: Vec::new(), reports: Vec::new(), prices: Vec::new(), fates: Vec::new() }
    }
}

impl PacketBatch {
    pub(crate) fn is_empty(&self) -> bool {
        self.packets.is_empty() && self.fates.is_empty()
    }
}

/// Packets from other domains that wait for their turn at a port. A packet that arrives while others are processed has a later turn, so
/// packets are sorted in batches, one time slice at a time, and need no slots in the calendar.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrivals {
    /// A time slice has 2^shift picoseconds.
    shift: u32,
    /// Unsorted packets by time slice, in order of arrival.
    waiting: BTreeMap<u64, Vec<Arrival>>,
    /// The sorted packets of the earliest time slice.
    sorted: SortedArrivals,
    /// Reused buffers for other time slices and for sorting.
    spare: Vec<Vec<Arrival>>,
    keys: Vec<u64>,
}

/// A packet and the slot of the event that processes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) slot: Slot,
    pub(crate) packet: Packet,
}

/// The sorted packets of a time slice, some of which have been processed.
#[derive(Clone, Debug, Default)]
pub(crate) struct SortedArrivals {
    stretch: u64,
    all: Vec<Arrival>,
    gone: usize,
}

impl SortedArrivals {
    fn first(&self) -> Option<Time> {
        self.all.get(self.gone).map(|arrival| arrival.packet.time)
    }

    /// The packet `turns` places after the next one.
    #[inline]
    pub(crate) fn after(&self, turns: usize) -> Option<&Packet> {
        self.all.get(self.gone + turns).map(|arrival| &arrival.packet)
    }

    /// Take the next packet if its time is before `time`.
    #[inline]
    pub(crate) fn next_before(&mut self, time: Time) -> Option<Arrival> {
        let next = self.all.get(self.gone).copied().filter(|arrival| arrival.packet.time < time)?;
        self.gone += 1;
        Some(next)
    }
}

impl Arrivals {
    /// Approximate number of time slices per lookahead.
    const STRETCHES: u64 = 16;
    /// Times within a time slice use half of a sorting key.
    const LONGEST: u32 = 32;

    fn new(lookahead: TimeDelta) -> Arrivals {
        let shift = (lookahead.0 / Arrivals::STRETCHES).max(1).ilog2();
        Arrivals { shift: shift.min(Arrivals::LONGEST), ..Arrivals::default() }
    }

    pub(crate) fn push(&mut self, arrival: Arrival) {
        let stretch = arrival.packet.time.0 >> self.shift;
        self.waiting.entry(stretch).or_insert_with(|| self.spare.pop().unwrap_or_default()).push(arrival);
    }

    /// Time of the earliest packet.
    pub(crate) fn first(&self) -> Option<Time> {
        let sorted = self.sorted.first();
        let unsorted = self.waiting.first_key_value().filter(|(stretch, _)| sorted.is_none() || **stretch == self.sorted.stretch);
        let unsorted = unsorted.and_then(|(_, all)| all.iter().map(|arrival| arrival.packet.time).min());
        [sorted, unsorted].into_iter().flatten().min()
    }

    /// A time before which there is no packet, without a search.
    pub(crate) fn not_before(&self) -> Option<Time> {
        let unsorted = self.waiting.first_key_value().map(|(stretch, _)| Time(stretch << self.shift));
        [self.sorted.first(), unsorted].into_iter().flatten().min()
    }

    /// Take the packets of the earliest time slice if one of them has its turn before `time`. Packets of one line keep their order. Return
    /// them with [`Arrivals::put_back`].
    pub(crate) fn take_before(&mut self, time: Time, order: &EventOrder) -> Option<SortedArrivals> {
        // Packets that arrived since then belong to that time slice or a later one.
        let is_over = self.sorted.first().is_none();
        let fits = |stretch: u64| if is_over { stretch << self.shift < time.0 } else { stretch == self.sorted.stretch };
        if let Some(first) = self.waiting.first_entry().filter(|first| fits(*first.key())) {
            self.sorted.stretch = *first.key();
            let more = first.remove();
            self.sort(more, order);
        }
        self.sorted.first().filter(|&first| first < time).map(|_| std::mem::take(&mut self.sorted))
    }

    /// Merge `more` with the sorted packets that have not been processed.
    fn sort(&mut self, more: Vec<Arrival>, order: &EventOrder) {
        let mut unsorted = more;
        if self.sorted.first().is_some() {
            let later = std::mem::replace(&mut unsorted, std::mem::take(&mut self.sorted.all));
            unsorted.drain(..self.sorted.gone);
            unsorted.extend_from_slice(&later);
            self.reuse(later);
        }
        // By time within the slice, then in order of arrival. Sorting integer keys is faster than sorting packets.
        let begin = self.sorted.stretch << self.shift;
        self.keys.clear();
        self.keys.extend((0..).zip(&unsorted).map(|(index, arrival)| (arrival.packet.time.0 - begin) << 32 | index));
        self.keys.sort_unstable();
        let mut all = self.spare.pop().unwrap_or_default();
        all.extend(self.keys.iter().map(|&key| unsorted[key as u32 as usize]));
        self.reuse(unsorted);
        for same in all.chunk_by_mut(|one, next| one.packet.time == next.packet.time).filter(|same| same.len() > 1) {
            same.sort_by_key(|arrival| order.rank(arrival.slot));
        }
        self.sorted = SortedArrivals { stretch: self.sorted.stretch, all, gone: 0 };
    }

    /// Put the unprocessed packets back.
    pub(crate) fn put_back(&mut self, sorted: SortedArrivals) {
        if sorted.first().is_some() {
            self.sorted = sorted;
        } else {
            self.reuse(sorted.all);
        }
    }

    fn free_room(&mut self) {
        (self.spare, self.keys) = (Vec::new(), Vec::new());
    }

    fn reuse(&mut self, mut overflow: Vec<Arrival>) {
        overflow.clear();
        self.spare.push(overflow);
    }
}

/// A domain's view of the other domains.
#[derive(Clone, Debug)]
pub(crate) struct DomainBoundary {
    own: Domain,
    owners: Arc<Owners>,
    /// Packets to and from each domain. Incoming ones are read at the start of its epoch.
    outboxes: Vec<PacketBatch>,
    inboxes: Vec<PacketBatch>,
    arrivals: Arrivals,
    /// Timeout waits of senders whose receivers belong to other domains. Waits after the receiver had the whole transfer do not count; that
    /// is known only when the domains are merged.
    waits: Vec<TimeoutWait>,
}

/// A sender's wait for a timeout.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeoutWait {
    pub(crate) flow: FlowId,
    pub(crate) until: Time,
    pub(crate) idle: TimeDelta,
}

impl DomainBoundary {
    /// `domains`: number of domains.
    pub(crate) fn new(own: Domain, owners: Arc<Owners>, domains: usize, lookahead: TimeDelta) -> DomainBoundary {
        DomainBoundary {
            own,
            owners,
            outboxes: vec![PacketBatch::default(); domains],
            inboxes: vec![PacketBatch::default(); domains],
            arrivals: Arrivals::new(lookahead),
            waits: Vec::new(),
        }
    }

    pub(crate) fn own(&self) -> Domain {
        self.own
    }

    pub(crate) fn owners(&self) -> &Arc<Owners> {
        &self.owners
    }

    pub(crate) fn is_first(&self) -> bool {
        self.own == 0
    }

    pub(crate) fn owns_port(&self, port: PortId) -> bool {
        self.owners.of_ports[port] == self.own
    }

    /// Send a packet to another domain if its next hop, given by `entry`, is there.
    #[inline(never)]
    pub(crate) fn send(
        &mut self,
        entry: RouteEntry,
        feeder: Feeder,
        packet: Packet,
        paths: &[Path],
        packets: &mut Packets,
    ) -> bool {
        let owner = self.owners.of_next_place(&packet, entry);
        if owner == self.own {
            return false;
        }
        let batch = &mut self.outboxes[usize::from(owner)];
        // The last cell owns the report of an acknowledgement.
        if packet.is_ack() && packet.has_report() && packet.is_last() {
            batch.reports.push(packets.take_report(&packet));
        } else if packet.has_price() {
            batch.prices.push(packets.remove_price(&packet));
        }
        // The flow's memory is read for few packets only.
        if packet.time < batch.first {
            let delay = paths[packet.flow].wire.delay_behind(entry, &packet);
            batch.first = batch.first.min(packet.time + delay);
        }
        batch.packets.push((feeder, packet));
        true
    }

    /// Like `send`, for a packet whose arrival at the next hop or end is an event.
    pub(crate) fn send_for_event(
        &mut self,
        entry: RouteEntry,
        feeder: Feeder,
        packet: Packet,
        paths: &[Path],
        packets: &mut Packets,
    ) -> bool {
        let is_sent = self.send(entry, feeder, packet, paths, packets);
        if is_sent {
            let owner = self.owners.of_next_place(&packet, entry);
            let first = &mut self.outboxes[usize::from(owner)].first;
            *first = packet.time.min(*first);
        }
        is_sent
    }

    /// Packets to each domain.
    pub(crate) fn outboxes(&mut self) -> &mut [PacketBatch] {
        &mut self.outboxes
    }

    /// Packets from each domain.
    pub(crate) fn inboxes(&mut self) -> &mut [PacketBatch] {
        &mut self.inboxes
    }

    /// Packets from other domains that wait for their turn.
    pub(crate) fn arrivals(&mut self) -> &mut Arrivals {
        &mut self.arrivals
    }

    /// Time of the earliest packet from another domain.
    pub(crate) fn first_arrival(&self) -> Option<Time> {
        self.inboxes.iter().map(|batch| batch.first).chain(self.arrivals.first()).min()
    }

    /// A time before which no packet from another domain has its turn, without a search.
    pub(crate) fn no_arrival_before(&self) -> Option<Time> {
        self.arrivals.not_before()
    }

    /// Timeout waits of senders whose receivers belong to other domains.
    pub(crate) fn waits(&self) -> &[TimeoutWait] {
        &self.waits
    }

    /// Send the fates of datagrams to the domain of the external flows.
    pub(crate) fn send_fates(&mut self, fates: impl Iterator<Item = Fate>) {
        self.outboxes[0].fates.extend(fates);
    }

    /// Free the buffers of batches and arrivals that are empty.
    pub(crate) fn free_room(&mut self) {
        self.arrivals.free_room();
        let boxes = self.outboxes.iter_mut().chain(&mut self.inboxes);
        boxes.filter(|batch| batch.is_empty()).for_each(|batch| *batch = PacketBatch::default());
    }

    /// Record the time that a sender was idle before its timeout.
    pub(crate) fn note_wait(&mut self, wait: TimeoutWait) {
        if wait.idle > TimeDelta::ZERO && self.owners.of_receivers[wait.flow] != self.own {
            self.waits.push(wait);
        }
    }
}
