//! A packet in flight: 32 bytes, no headers. Rare fields are in a side pool and exist only while needed.

use super::rm_cell::RmCell;
use super::segment_number::{SackBlock, SegmentNumber};
use super::signal::{PriceHeader, ReceiverFeedback, Signal};
use super::sizes::{MAX_PACKET, MAX_ROUTE_ENTRIES};
use super::units::{Bytes, Rate, Time, Units};
use crate::primitives::ids::FlowId;
use serde::{Deserialize, Serialize};

/// A data packet or an acknowledgement in flight, or a cell of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Packet {
    /// Arrival time at the next place that processes it.
    pub time: Time,
    /// Transmission time of the data packet. An acknowledgement echoes that of the segment that caused it.
    pub sent: Time,
    pub flow: FlowId,
    /// Segment (or datagram) number, or its index in [`Prices`]. In an acknowledgement: number of the segment that caused it. In an RM cell:
    /// the low bits of CCR.
    number: u32,
    /// Data: bytes with headers, and the transmission number above bit 24. Acknowledgement: next expected segment, or the index of its
    /// [`Report`].
    word: u32,
    /// Position in the engine's flat list of routes in the low 24 bits, flags above.
    place: u32,
}

const ACK: u32 = 1 << 31;
/// A retransmitted segment, or a datagram that a link has duplicated.
const RETRANSMITTED: u32 = 1 << 30;
/// The packet has side data: an acknowledgement its [`Report`], a data packet its price.
const IN_SLAB: u32 = 1 << 29;
const CELL: u32 = 1 << 28;
const LAST: u32 = 1 << 27;
/// In a data packet that is not a cell: the flag PSH.
const PUSHED: u32 = LAST;
/// ECN-capable transport (ECT).
const ECT: u32 = 1 << 26;
/// Congestion experienced (CE) in a data packet; its echo (ECE) in an acknowledgement. A mark on an acknowledgement has no effect and is
/// not stored.
const CE: u32 = 1 << 25;
/// The sender has reduced its window (CWR), in a data packet.
const CWR: u32 = 1 << 24;
/// In an acknowledgement: its report has a signal for the controller.
const SIGNALS: u32 = CWR;
/// An RM cell of an available bit rate service, forward or backward. No other packet has all of these flags.
const RM: u32 = CELL | ECT | CWR;
/// In the word of an RM cell: CI, NI.
const CI: u32 = 1 << 31;
const NI: u32 = 1 << 30;
const PLACE: u32 = (1 << 24) - 1;
const SIZE: u32 = (1 << 24) - 1;

const _: () = assert!(MAX_PACKET.0 <= SIZE as u64 && MAX_ROUTE_ENTRIES <= PLACE as usize);

/// ECN field of a packet as sent (RFC 3168 section 6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ecn(u32);

impl Ecn {
    /// A queue that would mark the packet must discard it.
    pub const NOT_ECT: Ecn = Ecn(0);
    pub const ECT: Ecn = Ecn(ECT);
    /// Capable, and the first new data since the window was reduced (CWR).
    pub const CWR: Ecn = Ecn(ECT | CWR);
    /// ECT(1) or CE of a datagram of an external flow, which selects the queue of L4S (RFC 9331). It shares the flag of TCP's CWR.
    pub const L4S: Ecn = Ecn::CWR;
}

/// A data packet as its sender hands it down.
#[derive(Clone, Copy, Debug, Default)]
pub struct OutgoingPacket {
    pub flow: FlowId,
    /// Segment (or datagram) number.
    pub segment: SegmentNumber,
    /// 1 for the first.
    pub transmission: u32,
    /// With headers.
    pub bytes: Bytes,
    /// The last segment of a transfer or of a write by an application (PSH).
    pub pushed: bool,
}

/// Location of the number of an acknowledgement.
#[derive(Clone, Copy, Debug)]
pub enum AckNumber {
    /// In the packet: the next expected segment.
    Inline(SegmentNumber),
    /// In the [`Report`] of this index.
    InReport(u32),
}

impl Packet {
    #[inline]
    pub fn data(time: Time, sent: Time, of: &OutgoingPacket, place: u32) -> Packet {
        let &OutgoingPacket { flow, segment, transmission, bytes, pushed } = of;
        let again = if transmission > 1 { RETRANSMITTED } else { 0 };
        let pushed = if pushed { PUSHED } else { 0 };
        let word = bytes.0 as u32 | transmission.min(255) << 24;
        Packet { time, sent, flow, number: segment.0, word, place: place | again | pushed }
    }

    /// A data packet becomes its acknowledgement, to start at `place`.
    #[inline]
    pub fn become_ack(&mut self, time: Time, number: AckNumber, place: u32) {
        let (word, side) = match number {
            AckNumber::Inline(next) => (next.0, 0),
            AckNumber::InReport(index) => (index, IN_SLAB),
        };
        self.time = time;
        self.word = word;
        self.place = place | ACK | (self.place & (RETRANSMITTED | CELL | LAST)) | side;
    }

    /// Number of a segment or datagram without a price. Of an acknowledgement: number of the segment that caused it.
    #[inline]
    pub fn segment(&self) -> SegmentNumber {
        SegmentNumber(self.number)
    }

    #[inline]
    pub fn is_ack(&self) -> bool {
        self.place & ACK != 0
    }

    /// The segment (or the one that caused this acknowledgement) is a retransmission.
    #[inline]
    pub fn is_retransmission(&self) -> bool {
        self.place & RETRANSMITTED != 0
    }

    /// A link duplicates this datagram. Datagrams are never retransmitted, so that they share the flag.
    pub fn note_duplication(&mut self) {
        self.place |= RETRANSMITTED;
    }

    /// A link has duplicated this datagram: another copy may arrive or has arrived.
    #[inline]
    pub fn is_duplicated(&self) -> bool {
        self.is_retransmission()
    }

    /// The number of an acknowledgement is in the side pool, with the rest of its report.
    #[inline]
    pub fn has_report(&self) -> bool {
        self.place & IN_SLAB != 0
    }

    /// The number of a data packet is in the side pool, with its price.
    #[inline]
    pub fn has_price(&self) -> bool {
        self.place & (ACK | IN_SLAB) == IN_SLAB
    }

    /// Add a price to a data packet that is being sent.
    pub fn reserve_price(&mut self, header: PriceHeader, prices: &mut Prices) {
        self.number = prices.put(NumberAndHeader { segment: self.segment(), header });
        self.place |= IN_SLAB;
    }

    /// The price header of a data packet that has a price.
    pub fn price_header<'a>(&self, prices: &'a mut Prices) -> &'a mut PriceHeader {
        &mut prices.at_mut(self.number).header
    }

    /// Remove the price header of a data packet, and restore its number.
    pub fn take_price(&mut self, prices: &mut Prices) -> PriceHeader {
        let NumberAndHeader { segment, header } = *prices.at(self.number);
        prices.release(self.number);
        self.number = segment.0;
        self.place &= !IN_SLAB;
        header
    }

    /// The number and price header of a data packet that has a price.
    pub fn price(&self, prices: &Prices) -> NumberAndHeader {
        *prices.at(self.number)
    }

    /// Remove a data packet's price header from this pool, to move it to another; see [`Packet::lay_price`].
    pub fn remove_price(&self, prices: &mut Prices) -> NumberAndHeader {
        prices.release(self.number);
        self.price(prices)
    }

    /// Store a data packet's price header in this pool.
    pub fn store_price(&mut self, price: NumberAndHeader, prices: &mut Prices) {
        self.number = prices.put(price);
    }

    /// Store the report of an acknowledgement in this pool.
    pub fn store_report(&mut self, report: Report, reports: &mut Slab<Report>) {
        self.word = reports.put(report);
    }

    /// The number of a data packet, wherever it is stored.
    pub fn segment_in(&self, prices: &Prices) -> SegmentNumber {
        if self.has_price() { prices.at(self.number).segment } else { self.segment() }
    }

    /// The signal that a packet carries through the network.
    pub fn signal(&self, prices: &Prices) -> Signal {
        let marks = u32::from(self.place & (ACK | ECT | CE) == ECT | CE);
        Signal { marks, price: if self.has_price() { prices.at(self.number).header.price } else { None }, ..Signal::default() }
    }

    /// Write the parts of the signal that the packet can carry.
    pub fn write_signal(&mut self, signal: &Signal, prices: &mut Prices) {
        if self.has_price() {
            prices.at_mut(self.number).header.price = signal.price;
        }
        if self.place & (ACK | ECT) == ECT {
            self.place = (self.place & !CE) | if signal.marks > 0 { CE } else { 0 };
        }
    }

    /// The packet travels in cells; this is one of them.
    #[inline]
    pub fn is_cell(&self) -> bool {
        self.place & CELL != 0
    }

    /// The last cell of its frame, or a packet that is not segmented.
    #[inline]
    pub fn is_last(&self) -> bool {
        self.place & (CELL | LAST) != CELL
    }

    /// The last segment of a transfer or of a write by an application (PSH). Cells do not carry the flag.
    #[inline]
    pub fn is_pushed(&self) -> bool {
        self.place & (CELL | PUSHED) == PUSHED
    }

    /// Convert the packet to one of its cells, with `following` cells after it.
    #[inline]
    pub fn become_cell(&mut self, following: Units) {
        self.place = (self.place & !LAST) | CELL | if following == Units(0) { LAST } else { 0 };
    }

    /// A forward RM cell on the path of this packet. It stores ER in the field of the transmission time, and CCR in those of number and
    /// size, which has 62 bits.
    pub fn forward_rm(&self, time: Time, fields: &RmCell) -> Packet {
        let place = (self.place & PLACE) | RM | LAST;
        let mut packet = Packet { time, sent: Time(0), flow: self.flow, number: 0, word: 0, place };
        packet.write_rm(fields);
        packet
    }

    /// A resource management cell, forward (counted as a data cell) or backward (as a cell of acknowledgements).
    #[inline]
    pub fn is_rm(&self) -> bool {
        self.place & RM == RM
    }

    /// The fields of an RM cell.
    pub fn rm(&self) -> RmCell {
        let ccr = u64::from(self.number) | u64::from(self.word & !(CI | NI)) << 32;
        RmCell { ccr: Rate(ccr), er: Rate(self.sent.0), ci: self.word & CI != 0, ni: self.word & NI != 0 }
    }

    /// Write the fields of an RM cell.
    pub fn write_rm(&mut self, fields: &RmCell) {
        self.sent = Time(fields.er.0);
        self.number = fields.ccr.0 as u32;
        let bits = if fields.ci { CI } else { 0 } | if fields.ni { NI } else { 0 };
        self.word = ((fields.ccr.0 >> 32) as u32 & !(CI | NI)) | bits;
    }

    /// Convert a forward RM cell to a backward one, to start at `place`.
    pub fn turn_around(&mut self, place: u32) {
        self.place = place | ACK | RM | LAST;
    }

    /// Allow a data cell to carry explicit forward congestion indication (EFCI).
    #[inline]
    pub fn enable_efci(&mut self) {
        self.place |= ECT;
    }

    /// Remove EFCI, which does not apply to the packet that the cell ends.
    #[inline]
    pub fn clear_efci(&mut self) {
        self.place &= !(ECT | CE);
    }

    /// Size of a data packet with its headers; its size on the wire unless it is segmented.
    #[inline]
    pub fn bytes(&self) -> Bytes {
        Bytes((self.word & SIZE).into())
    }

    /// 1 for the first transmission, counted up to 255.
    #[inline]
    pub fn transmission(&self) -> u32 {
        self.word >> 24
    }

    /// Next expected segment, of an acknowledgement without a report.
    #[inline]
    pub fn next_expected(&self) -> SegmentNumber {
        SegmentNumber(self.word)
    }

    /// Index of the report, of an acknowledgement that has one.
    #[inline]
    pub fn report_index(&self) -> u32 {
        self.word
    }

    /// A packet is sent.
    #[inline]
    pub fn set_ecn(&mut self, ecn: Ecn) {
        self.place |= ecn.0;
    }

    /// Whether a packet is ECN-capable.
    #[inline]
    pub fn is_capable(&self) -> bool {
        self.place & ECT != 0
    }

    /// A data packet is marked (CE); an acknowledgement echoes a mark (ECE).
    #[inline]
    pub fn is_marked(&self) -> bool {
        self.place & CE != 0
    }

    /// A queue marks the packet.
    #[inline]
    pub fn mark(&mut self) {
        if !self.is_ack() {
            self.place |= CE;
        }
    }

    /// An acknowledgement echoes a mark.
    #[inline]
    pub fn echo_mark(&mut self) {
        self.place |= CE;
    }

    /// The acknowledgement's report has a signal for the controller.
    pub fn set_signals(&mut self) {
        self.place |= SIGNALS;
    }

    /// An acknowledgement has additional content: it echoes a mark, or its report has a signal for the controller.
    #[inline]
    pub fn signals(&self) -> bool {
        self.place & (CE | SIGNALS) != 0
    }

    /// In a datagram of an external flow: it was sent as [`Ecn::L4S`].
    #[inline]
    pub fn is_l4s(&self) -> bool {
        self.has_cwr()
    }

    /// The sender has reduced its window (CWR), in a data packet.
    #[inline]
    pub fn has_cwr(&self) -> bool {
        self.place & CWR != 0
    }

    #[inline]
    pub fn place(&self) -> usize {
        (self.place & PLACE) as usize
    }

    #[inline]
    pub fn next_hop(&mut self) {
        self.place += 1;
    }
}

/// Content of an acknowledgement in addition to its number, if any.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Report {
    pub received: Received,
    /// For the controller, if it requests signals.
    pub feedback: ReceiverFeedback,
}

/// Received data as reported by an acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Received {
    /// Next expected segment.
    pub ack: SegmentNumber,
    /// SACK blocks (RFC 2018): half-open ranges of segments, the most recent first.
    pub count: u32,
    pub ranges: [SackBlock; 4],
}

/// The price headers of data packets in flight.
pub type Prices = Slab<NumberAndHeader>;

/// A data packet has no room for both its number and its price header, so both are stored here.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NumberAndHeader {
    segment: SegmentNumber,
    header: PriceHeader,
}

impl Received {
    /// All segments before this one, and none after it.
    #[inline]
    pub const fn before(ack: SegmentNumber) -> Received {
        Received { ack, count: 0, ranges: [(SegmentNumber(0), SegmentNumber(0)); 4] }
    }

    pub fn ranges(&self) -> &[SackBlock] {
        &self.ranges[..self.count as usize]
    }
}

/// Storage with stable indices and a free list.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Slab<T> {
    items: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Slab { items: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    pub fn put(&mut self, item: T) -> u32 {
        match self.free.pop() {
            Some(index) => {
                self.items[index as usize] = item;
                index
            }
            None => {
                self.items.push(item);
                (self.items.len() - 1) as u32
            }
        }
    }

    pub fn release(&mut self, index: u32) {
        self.free.push(index);
    }

    pub fn at(&self, index: u32) -> &T {
        &self.items[index as usize]
    }

    pub fn at_mut(&mut self, index: u32) -> &mut T {
        &mut self.items[index as usize]
    }

    /// Items in use.
    pub fn used(&self) -> usize {
        self.items.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SENT: OutgoingPacket =
        OutgoingPacket { flow: FlowId(3), segment: SegmentNumber(77), transmission: 1, bytes: Bytes(1040), pushed: false };

    #[test]
    fn a_packet_takes_32_bytes() {
        assert_eq!(std::mem::size_of::<Packet>(), 32);
    }

    #[test]
    fn a_report_takes_a_cache_line() {
        assert_eq!(std::mem::size_of::<Report>(), 64);
    }

    #[test]
    fn an_rm_cell_keeps_its_fields_when_turned_around_and_differs_from_other_cells() {
        let fields = RmCell { ccr: Rate((1 << 53) + 12_345_678_901), er: Rate(u64::MAX), ci: false, ni: true };
        let mut rm = Packet::data(Time(9), Time(5), &SENT, 41).forward_rm(Time(9), &fields);
        assert!(rm.is_rm() && rm.is_cell() && !rm.is_ack() && !rm.has_price());
        rm.next_hop();
        assert_eq!((rm.rm(), rm.place()), (fields, 42));
        rm.write_rm(&RmCell { er: Rate(7), ci: true, ..fields });
        rm.mark();
        rm.turn_around(11);
        assert!(rm.is_rm() && rm.is_ack() && !rm.has_report() && !rm.is_marked());
        assert_eq!((rm.rm(), rm.place(), rm.flow), (RmCell { er: Rate(7), ci: true, ..fields }, 11, FlowId(3)));
        let mut cell = Packet::data(Time(9), Time(5), &SENT, 41);
        cell.become_cell(Units(0));
        cell.enable_efci();
        cell.mark();
        assert!(!cell.is_rm() && cell.is_capable() && cell.is_marked());
        cell.clear_efci();
        cell.become_ack(Time(11), AckNumber::Inline(SegmentNumber(78)), 7);
        cell.set_signals();
        cell.echo_mark();
        assert!(!cell.is_rm());
    }

    #[test]
    fn flags_and_numbers_do_not_overlap() {
        let mut packet = Packet::data(Time(9), Time(5), &OutgoingPacket { transmission: 2, ..SENT }, 41);
        packet.become_cell(Units(0));
        packet.next_hop();
        assert_eq!((packet.bytes(), packet.transmission(), packet.place()), (Bytes(1040), 2, 42));
        let mut ack = packet;
        ack.become_ack(Time(11), AckNumber::Inline(SegmentNumber(78)), 7);
        assert!(ack.is_ack() && ack.is_cell() && ack.is_last() && ack.is_retransmission() && !ack.has_report());
        assert_eq!(
            (ack.next_expected(), ack.place(), ack.segment(), ack.sent),
            (SegmentNumber(78), 7, SegmentNumber(77), Time(5))
        );
    }

    #[test]
    fn an_acknowledgement_echoes_a_mark_and_stores_none_of_its_own() {
        let mut packet = Packet::data(Time(9), Time(5), &SENT, (1 << 24) - 2);
        packet.set_ecn(Ecn::CWR);
        packet.mark();
        packet.next_hop();
        assert!(packet.is_capable() && packet.is_marked() && packet.has_cwr() && !packet.is_cell());
        assert_eq!(packet.place(), (1 << 24) - 1);
        packet.become_ack(Time(11), AckNumber::Inline(SegmentNumber(78)), 7);
        assert!(!packet.is_capable() && !packet.is_marked());
        packet.set_ecn(Ecn::ECT);
        packet.mark();
        packet.write_signal(&Signal { marks: 1, ..Signal::default() }, &mut Slab::default());
        assert!(packet.is_capable() && !packet.is_marked() && !packet.signals());
        packet.echo_mark();
        packet.write_signal(&Signal::default(), &mut Slab::default());
        assert_eq!((packet.is_marked(), packet.signal(&Slab::default()).marks, packet.place()), (true, 0, 7));
    }

    #[test]
    fn a_price_replaces_the_number_and_restores_it() {
        let (mut prices, mut packet) = (Slab::default(), Packet::data(Time(9), Time(5), &SENT, 41));
        packet.reserve_price(PriceHeader::default(), &mut prices);
        let signal = Signal { price: Some(0.5), ..Signal::default() };
        packet.write_signal(&signal, &mut prices);
        assert_eq!((packet.has_price(), packet.segment_in(&prices), packet.signal(&prices)), (true, SegmentNumber(77), signal));
        assert_eq!(packet.take_price(&mut prices).price, Some(0.5));
        assert_eq!((packet.has_price(), packet.segment(), prices.used()), (false, SegmentNumber(77), 0));
    }

    #[test]
    fn signals_that_a_packet_cannot_carry_are_lost() {
        let (mut prices, mut packet) = (Slab::default(), Packet::data(Time(9), Time(5), &SENT, 41));
        let signal = Signal { marks: 1, price: Some(0.5), ..Signal::default() };
        packet.write_signal(&signal, &mut prices);
        assert_eq!((packet.signal(&prices), packet.segment()), (Signal::default(), SegmentNumber(77)));
        packet.set_ecn(Ecn::ECT);
        packet.write_signal(&signal, &mut prices);
        assert_eq!(packet.signal(&prices), Signal { price: None, ..signal });
        packet.write_signal(&Signal::default(), &mut prices);
        assert!(!packet.is_marked() && packet.is_capable());
    }

    #[test]
    fn an_acknowledgement_with_a_signal_is_not_ecn_capable() {
        let mut packet = Packet::data(Time(9), Time(5), &SENT, 41);
        packet.become_ack(Time(11), AckNumber::InReport(5), 7);
        assert!(packet.has_report() && !packet.has_price() && !packet.signals());
        packet.set_signals();
        assert!(packet.signals() && !packet.is_capable() && !packet.is_marked());
    }
}
