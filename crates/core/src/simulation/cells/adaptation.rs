//! AAL5 at the two ends of a virtual channel (ITU-T I.363.5): segmentation of packets into cells, and reassembly.
//!
//! A damaged frame is forwarded to the receiver, which discards it: the check of CRC-32 and length passes exactly if the cells collected up
//! to a last cell all belong to one frame. If a last cell is lost, the next frame is appended to the remainder, and both are discarded.

use crate::primitives::packet::Packet;
use crate::primitives::rm_cell::RmCell;
use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::units::{Time, Units};
use crate::simulation::wire::Direction;
use serde::{Deserialize, Serialize};

/// Both directions of a virtual channel.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Channel {
    pub(crate) data: Adaptation,
    pub(crate) acks: Adaptation,
    /// The last data cell that arrived had EFCI set, and no RM cell has reported it yet.
    pub(crate) efci: bool,
    /// Data cells that completed whole packets, and data cells of discarded packets. Both count only within the measurement interval, by
    /// the arrival time of the packet's last cell.
    pub(crate) frame_goodput: u64,
    pub(crate) badput: u64,
}

/// State of the cells collected at a receiver after the arrival of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReassemblyState {
    /// Part of an unfinished packet.
    Part,
    /// A whole packet.
    Whole,
    /// This number of cells up to the end of a packet, which do not form a whole packet.
    Remains(Units),
}

impl Channel {
    pub(super) fn side(&mut self, direction: Direction) -> &mut Adaptation {
        match direction {
            Direction::Forward => &mut self.data,
            Direction::Reverse => &mut self.acks,
        }
    }

    /// Copy the state of the sending end.
    pub(crate) fn take_sender(&mut self, from: &Channel) {
        self.data.take_cutting(&from.data);
        self.acks.take_collecting(&from.acks);
    }

    /// Copy the state of the receiving end.
    pub(crate) fn take_receiver(&mut self, from: &Channel) {
        self.data.take_collecting(&from.data);
        self.acks.take_cutting(&from.acks);
        (self.frame_goodput, self.badput, self.efci) = (from.frame_goodput, from.badput, from.efci);
    }

    /// A forward RM cell has reached the receiving end, which sets CI if data met congestion.
    #[cold]
    pub(crate) fn take_forward_rm(&mut self, cell: &mut Packet) {
        let rm = cell.rm();
        self.data.note_received(cell.time);
        cell.write_rm(&RmCell { ci: rm.ci | std::mem::take(&mut self.efci), ..rm });
    }

    /// Reset the count of discarded cells.
    pub(crate) fn forget_discarded(&mut self) {
        (self.data.discarded_in_all, self.acks.discarded_in_all) = (0, 0);
    }

    pub(crate) fn add_discarded(&mut self, other: &Channel) {
        self.data.discarded_in_all += other.data.discarded_in_all;
        self.acks.discarded_in_all += other.acks.discarded_in_all;
    }

    /// Count data cells by outcome.
    pub(crate) fn count(&mut self, collected: ReassemblyState, cells: Units) {
        match collected {
            ReassemblyState::Part => {}
            ReassemblyState::Whole => self.frame_goodput += cells.0,
            ReassemblyState::Remains(cells) => self.badput += cells.0,
        }
    }
}

/// Segmentation at one end of a virtual channel and reassembly at the other.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Adaptation {
    /// Over the whole run and beyond.
    pub(crate) sent_in_all: u64,
    pub(crate) received_in_all: u64,
    pub(crate) discarded_in_all: u64,
    /// Arrival time of the latest cell at the receiver. It may be in the future, because hops are computed ahead.
    pub(crate) received_until: Time,
    /// Cells sent of the packet at the head of the line to the first port.
    gone: u32,
    /// Cells collected since the last end of a frame, and how many of them belong to the packet of the latest cell.
    collected: u32,
    own: u32,
    segment: SegmentNumber,
    sent: Time,
}

impl Adaptation {
    fn take_cutting(&mut self, from: &Adaptation) {
        (self.sent_in_all, self.gone) = (from.sent_in_all, from.gone);
    }

    fn take_collecting(&mut self, from: &Adaptation) {
        let (sent_in_all, discarded_in_all, gone) = (self.sent_in_all, self.discarded_in_all, self.gone);
        *self = Adaptation { sent_in_all, discarded_in_all, gone, ..from.clone() };
    }

    /// The next cell of the packet at the head of the line to the first port. `cells` is the packet's number of cells.
    #[inline]
    pub(crate) fn next_cell(&mut self, packet: &Packet, cells: Units) -> Packet {
        let mut cell = *packet;
        self.gone += 1;
        let following = Units(cells.0 - u64::from(self.gone));
        cell.become_cell(following);
        if following == Units(0) {
            self.gone = 0;
        }
        cell
    }

    /// A cell has reached the receiver. `cells` returns the number of cells of its packet; it is called only for the last one.
    #[inline]
    pub(crate) fn collect(&mut self, cell: &Packet, cells: impl FnOnce() -> Units) -> ReassemblyState {
        self.received_in_all += 1;
        self.received_until = cell.time;
        if (cell.segment(), cell.sent) != (self.segment, self.sent) {
            (self.segment, self.sent, self.own) = (cell.segment(), cell.sent, 0);
        }
        self.collected += 1;
        self.own += 1;
        if !cell.is_last() {
            return ReassemblyState::Part;
        }
        let (collected, cells) = (Units(std::mem::take(&mut self.collected).into()), cells());
        let is_whole = u64::from(self.own) == cells.0 && collected == cells;
        self.own = 0;
        if is_whole { ReassemblyState::Whole } else { ReassemblyState::Remains(collected) }
    }

    /// An RM cell, which belongs to no packet, has reached the end.
    pub(crate) fn note_received(&mut self, time: Time) {
        self.received_in_all += 1;
        self.received_until = time;
    }

    /// Cells sent of the packet at the head of the line.
    pub(crate) fn gone(&self) -> u32 {
        self.gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::ids::FlowId;
    use crate::primitives::packet::OutgoingPacket;
    use crate::primitives::units::Bytes;

    fn packet(segment: u32) -> Packet {
        Packet::data(
            Time(0),
            Time(u64::from(segment)),
            &OutgoingPacket {
                flow: FlowId(0),
                segment: SegmentNumber(segment),
                transmission: 1,
                bytes: Bytes(112),
                pushed: false,
            },
            0,
        )
    }

    /// The packets, of three cells each, that arrive whole if the cells at the positions `lost` are lost.
    fn arrive(packets: u32, lost: &[u32]) -> Vec<u32> {
        let (mut sender, mut receiver) = (Adaptation::default(), Adaptation::default());
        let mut whole = Vec::new();
        for place in 0..3 * packets {
            let cell = sender.next_cell(&packet(place / 3), Units(3));
            if !lost.contains(&place) && receiver.collect(&cell, || Units(3)) == ReassemblyState::Whole {
                whole.push(cell.segment().0);
            }
        }
        whole
    }

    #[test]
    fn only_the_third_cell_of_three_is_marked() {
        let mut sender = Adaptation::default();
        let marks: Vec<bool> = (0..6).map(|_| sender.next_cell(&packet(0), Units(3)).is_last()).collect();
        assert_eq!(marks, [false, false, true, false, false, true]);
    }

    #[test]
    fn a_packet_that_lost_a_cell_is_discarded() {
        assert_eq!(arrive(3, &[]), [0, 1, 2]);
        assert_eq!(arrive(3, &[3]), [0, 2]);
        assert_eq!(arrive(3, &[3, 4]), [0, 2]);
        assert_eq!(arrive(3, &[3, 4, 5]), [0, 2]);
    }

    #[test]
    fn a_lost_last_cell_also_destroys_the_next_packet() {
        assert_eq!(arrive(4, &[5]), [0, 3]);
        assert_eq!(arrive(4, &[2, 5]), [3]);
    }

    #[test]
    fn two_remainders_do_not_make_a_packet() {
        // One cell of the first packet and two of the second add up to the right number.
        assert_eq!(arrive(3, &[1, 2, 3]), [2]);
    }

    #[test]
    fn a_packet_of_one_cell_is_appended_to_the_remainder_too() {
        let mut receiver = Adaptation::default();
        let (mut first, mut second) = (packet(0), packet(1));
        first.become_cell(Units(1));
        second.become_cell(Units(0));
        assert_eq!(receiver.collect(&first, || Units(2)), ReassemblyState::Part);
        assert_eq!(receiver.collect(&second, || Units(1)), ReassemblyState::Remains(Units(2)));
        assert_eq!(receiver.collect(&second, || Units(1)), ReassemblyState::Whole);
    }

    #[test]
    fn cells_are_counted_by_the_outcome_of_their_packet() {
        // The second packet loses a cell. The third loses its last cell, so that the fourth is discarded as well.
        let (mut sender, mut channel) = (Adaptation::default(), Channel::default());
        for place in (0..15).map(|place| (place, packet(place / 3))) {
            let cell = sender.next_cell(&place.1, Units(3));
            if ![3, 8].contains(&place.0) {
                let collected = channel.data.collect(&cell, || Units(3));
                channel.count(collected, Units(3));
            }
        }
        assert_eq!((channel.frame_goodput, channel.badput), (6, 2 + 5));
    }
}
