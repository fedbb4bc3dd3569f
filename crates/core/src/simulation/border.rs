//! Where a run is shared among threads: which domain owns what, and what leaves one for another.
//!
//! Each domain is an engine of its own that handles the events of what it owns. A packet whose next place is another domain's goes there as
//! mail, and walks on from the line that it was in.

use super::event_order::EventOrder;
use super::path::Feeder;
use super::routes::{ELSEWHERE, END, END_IN, END_OF_ANY, is_end};
use crate::primitives::calendar::{Ranks, Slot};
use crate::primitives::packet::{NumberAndHeader, Packet, Report};
use crate::primitives::units::{Span, Time};
use std::collections::BTreeMap;
use std::sync::Arc;

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
            end if is_end(end) => (end - END_IN) as Domain,
            port => self.of_ports[(port & !ELSEWHERE) as usize],
        }
    }
}

/// Packets for another domain, the line that each has been in, and what they carry beside, in their order.
#[derive(Clone, Debug)]
pub(crate) struct Mail {
    /// When the first of them makes a difference.
    pub(crate) first: Time,
    pub(crate) packets: Vec<(Feeder, Packet)>,
    pub(crate) reports: Vec<Report>,
    pub(crate) prices: Vec<NumberAndHeader>,
}

impl Default for Mail {
    fn default() -> Mail {
        Mail { first: Time::NEVER, packets: Vec::new(), reports: Vec::new(), prices: Vec::new() }
    }
}

/// Packets of other domains that wait for their turn at a port. Whatever comes while some have theirs has it later: so they are put in order
/// a stretch of time at once, and need no places in the calendar.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrivals {
    /// A stretch is 2^shift picoseconds long.
    shift: u32,
    /// As they came, by stretch.
    waiting: BTreeMap<u64, Vec<Arrival>>,
    /// Those of the first stretch, as far as they have been put in order.
    sorted: Sorted,
    /// Room for other stretches, and for sorting one.
    spare: Vec<Vec<Arrival>>,
    keys: Vec<u64>,
}

/// A packet and the event that its turn is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) slot: Slot,
    pub(crate) packet: Packet,
}

/// The packets of a stretch in order, of which some have had their turn.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sorted {
    stretch: u64,
    all: Vec<Arrival>,
    gone: usize,
}

impl Sorted {
    fn first(&self) -> Option<Time> {
        self.all.get(self.gone).map(|arrival| arrival.packet.time)
    }

    /// The packet that has its turn so many after the next.
    #[inline]
    pub(crate) fn after(&self, turns: usize) -> Option<&Packet> {
        self.all.get(self.gone + turns).map(|arrival| &arrival.packet)
    }

    /// The next, if its turn is before this time.
    #[inline]
    pub(crate) fn next_before(&mut self, time: Time) -> Option<Arrival> {
        let next = self.all.get(self.gone).copied().filter(|arrival| arrival.packet.time < time)?;
        self.gone += 1;
        Some(next)
    }
}

impl Arrivals {
    /// How many stretches there are about in a lookahead.
    const STRETCHES: u64 = 16;
    /// Times within a stretch are half of a sorting key.
    const LONGEST: u32 = 32;

    fn new(lookahead: Span) -> Arrivals {
        let shift = (lookahead.0 / Arrivals::STRETCHES).max(1).ilog2();
        Arrivals { shift: shift.min(Arrivals::LONGEST), ..Arrivals::default() }
    }

    pub(crate) fn push(&mut self, arrival: Arrival) {
        let stretch = arrival.packet.time.0 >> self.shift;
        self.waiting.entry(stretch).or_insert_with(|| self.spare.pop().unwrap_or_default()).push(arrival);
    }

    /// When the first has its turn.
    pub(crate) fn first(&self) -> Option<Time> {
        let sorted = self.sorted.first();
        let unsorted = self.waiting.first_key_value().filter(|(stretch, _)| sorted.is_none() || **stretch == self.sorted.stretch);
        let unsorted = unsorted.and_then(|(_, all)| all.iter().map(|arrival| arrival.packet.time).min());
        [sorted, unsorted].into_iter().flatten().min()
    }

    /// Those of the first stretch, if one of them has its turn before `time`; what one line brings stays in its order. To be returned by
    /// [`Arrivals::put_back`].
    pub(crate) fn take_before(&mut self, time: Time, order: &EventOrder) -> Option<Sorted> {
        // What came since then belongs to that stretch or to one after it.
        let is_over = self.sorted.first().is_none();
        let fits = |stretch: u64| if is_over { stretch << self.shift < time.0 } else { stretch == self.sorted.stretch };
        if let Some(first) = self.waiting.first_entry().filter(|first| fits(*first.key())) {
            self.sorted.stretch = *first.key();
            let more = first.remove();
            self.sort(more, order);
        }
        self.sorted.first().filter(|&first| first < time).map(|_| std::mem::take(&mut self.sorted))
    }

    /// What has been sorted and has not had its turn, and these, in order.
    fn sort(&mut self, more: Vec<Arrival>, order: &EventOrder) {
        let mut unsorted = more;
        if self.sorted.first().is_some() {
            let later = std::mem::replace(&mut unsorted, std::mem::take(&mut self.sorted.all));
            unsorted.drain(..self.sorted.gone);
            unsorted.extend_from_slice(&later);
            self.reuse(later);
        }
        // By time within the stretch, and as they came: numbers are sorted in less time than packets.
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
        self.sorted = Sorted { stretch: self.sorted.stretch, all, gone: 0 };
    }

    /// Some of them have had their turn.
    pub(crate) fn put_back(&mut self, sorted: Sorted) {
        if sorted.first().is_some() {
            self.sorted = sorted;
        } else {
            self.reuse(sorted.all);
        }
    }

    fn free_room(&mut self) {
        (self.spare, self.keys) = (Vec::new(), Vec::new());
    }

    fn reuse(&mut self, mut room: Vec<Arrival>) {
        room.clear();
        self.spare.push(room);
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
    pub(crate) fn new(own: Domain, owners: Arc<Owners>, domains: usize, lookahead: Span) -> Border {
        Border {
            own,
            owners,
            outboxes: vec![Mail::default(); domains],
            inboxes: vec![Mail::default(); domains],
            arrivals: Arrivals::new(lookahead),
            waits: Vec::new(),
        }
    }

    /// Give back the room that is for what comes and goes, as far as nothing does.
    pub(crate) fn free_room(&mut self) {
        self.arrivals.free_room();
        let boxes = self.outboxes.iter_mut().chain(&mut self.inboxes);
        boxes.filter(|mail| mail.packets.is_empty()).for_each(|mail| *mail = Mail::default());
    }

    /// A sender has waited so long for the timeout that has come.
    pub(crate) fn note_wait(&mut self, wait: Wait) {
        if wait.idle > Span::ZERO && self.owners.of_receivers[wait.flow as usize] != self.own {
            self.waits.push(wait);
        }
    }
}
