//! The packets in the lines of a run, and their side data: reports of acknowledgements, and prices of data packets.

use super::agenda::Agenda;
use super::event_order::Event;
use crate::primitives::packet::{NumberAndHeader, Packet, Prices, Received, Report, Slab};
use crate::primitives::pooled_queue::{Pool, PooledQueue};
use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::signal::{PriceHeader, ReceiverFeedback, Signal};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Packets {
    pool: Pool<Packet>,
    reports: Slab<Report>,
    /// Prices on data packets of flows whose controllers request them.
    prices: Prices,
}

/// Lines.
impl Packets {
    #[inline]
    pub(crate) fn push(&mut self, line: &mut PooledQueue, packet: Packet) {
        self.pool.push(line, packet);
    }

    #[inline]
    pub(crate) fn pop(&mut self, line: &mut PooledQueue) -> Option<Packet> {
        self.pool.pop(line)
    }

    #[inline]
    pub(crate) fn front(&self, line: &PooledQueue) -> Option<&Packet> {
        self.pool.front(line)
    }

    #[inline]
    pub(crate) fn front_mut(&mut self, line: &PooledQueue) -> Option<&mut Packet> {
        self.pool.front_mut(line)
    }

    pub(crate) fn iter<'a>(&'a self, line: &PooledQueue) -> impl Iterator<Item = &'a Packet> + 'a {
        self.pool.iter(line)
    }

    /// Queue a packet in a line whose head is an event.
    #[inline(always)]
    pub(crate) fn enqueue(&mut self, line: &mut PooledQueue, packet: Packet, event: Event, agenda: &mut Agenda) {
        debug_assert!(self.pool.back(line).is_none_or(|last| last.time <= packet.time));
        if line.is_empty() {
            agenda.at(event, packet.time);
        }
        self.pool.push(line, packet);
    }

    /// Take the head of a line, and schedule the event of the next packet.
    #[inline(always)]
    pub(crate) fn take_head(&mut self, line: &mut PooledQueue, event: Event, agenda: &mut Agenda) -> Option<Packet> {
        let head = self.pool.pop(line);
        if let Some(next) = self.pool.front(line) {
            agenda.at(event, next.time);
        }
        head
    }

    /// Packets that fit in the memory of the pool.
    #[cfg(test)]
    pub(crate) fn places(&self) -> usize {
        self.pool.places()
    }
}

/// Prefetching. Places are those of the pool.
impl Packets {
    #[inline]
    pub(crate) fn at(&self, place: u32) -> &Packet {
        self.pool.at(place)
    }

    #[inline]
    pub(crate) fn prefetch_front(&self, line: &PooledQueue) -> Option<u32> {
        self.pool.prefetch_front(line)
    }

    #[inline]
    pub(crate) fn prefetch_back(&self, line: &PooledQueue) {
        self.pool.prefetch_back(line);
    }
}

/// Reports of acknowledgements.
impl Packets {
    /// Returns the index of the report.
    #[inline]
    pub(crate) fn add_report(&mut self, report: Report) -> u32 {
        self.reports.put(report)
    }

    /// The received data that an acknowledgement with a report has reported. The report may be read until another one is added.
    #[inline]
    pub(crate) fn release_report(&mut self, ack: &Packet) -> Received {
        self.reports.release(ack.report_index());
        self.reports.at(ack.report_index()).received
    }

    /// The signals that an acknowledgement carries to its controller.
    #[inline]
    pub(crate) fn feedback(&self, ack: &Packet) -> ReceiverFeedback {
        if ack.has_report() { self.reports.at(ack.report_index()).feedback } else { ReceiverFeedback::default() }
    }

    pub(crate) fn take_report(&mut self, ack: &Packet) -> Report {
        self.reports.release(ack.report_index());
        *self.reports.at(ack.report_index())
    }

    pub(crate) fn store_report(&mut self, ack: &mut Packet, report: Report) {
        ack.store_report(report, &mut self.reports);
    }

    pub(crate) fn reports(&self) -> usize {
        self.reports.used()
    }
}

/// Prices of data packets.
impl Packets {
    /// Add room for a price to a packet that is being sent.
    pub(crate) fn reserve_price(&mut self, packet: &mut Packet, header: PriceHeader) {
        packet.reserve_price(header, &mut self.prices);
    }

    pub(crate) fn price_header(&mut self, packet: &Packet) -> &mut PriceHeader {
        packet.price_header(&mut self.prices)
    }

    /// Remove the price from a packet, and restore its number.
    pub(crate) fn take_price(&mut self, packet: &mut Packet) -> PriceHeader {
        packet.take_price(&mut self.prices)
    }

    /// Remove the price of a packet that leaves for another domain.
    pub(crate) fn remove_price(&mut self, packet: &Packet) -> NumberAndHeader {
        packet.remove_price(&mut self.prices)
    }

    /// Store the price of a packet from another domain.
    pub(crate) fn store_price(&mut self, packet: &mut Packet, price: NumberAndHeader) {
        packet.store_price(price, &mut self.prices);
    }

    pub(crate) fn prices(&self) -> usize {
        self.prices.used()
    }

    /// The number of a data packet, wherever it is stored.
    pub(crate) fn segment(&self, packet: &Packet) -> SegmentNumber {
        packet.segment_in(&self.prices)
    }

    /// The signal that a packet carries through the network.
    pub(crate) fn signal(&self, packet: &Packet) -> Signal {
        packet.signal(&self.prices)
    }

    /// Write the parts of the signal that the packet can carry.
    pub(crate) fn write_signal(&mut self, packet: &mut Packet, signal: &Signal) {
        packet.write_signal(signal, &mut self.prices);
    }
}

/// Side data of any packet.
impl Packets {
    /// A packet is discarded. The last cell owns the report of an acknowledgement.
    pub(crate) fn release(&mut self, packet: &mut Packet) {
        if packet.is_ack() {
            if packet.has_report() && packet.is_last() {
                self.reports.release(packet.report_index());
            }
        } else if packet.has_price() {
            packet.take_price(&mut self.prices);
        }
    }

    /// Give a copy of a packet side data of its own.
    pub(crate) fn copy_side_data(&mut self, copy: &mut Packet) {
        if copy.is_ack() {
            if copy.has_report() {
                copy.store_report(*self.reports.at(copy.report_index()), &mut self.reports);
            }
        } else if copy.has_price() {
            copy.store_price(copy.price(&self.prices), &mut self.prices);
        }
    }

    /// Copy the report of an acknowledgement from another owner.
    pub(crate) fn copy_report(&mut self, ack: &mut Packet, from: &Packets) {
        ack.store_report(*from.reports.at(ack.report_index()), &mut self.reports);
    }

    /// Copy the price of a data packet from another owner.
    pub(crate) fn copy_price(&mut self, packet: &mut Packet, from: &Packets) {
        packet.store_price(packet.price(&from.prices), &mut self.prices);
    }
}
