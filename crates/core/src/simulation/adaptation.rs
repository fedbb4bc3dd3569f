//! AAL5 adaptation at the two ends of a virtual channel (ITU-T I.363.5): packets become cells, and cells packets again.
//!
//! A damaged frame is carried on to the receiver, which throws it away: the check of CRC-32 and length holds exactly if what was
//! collected up to a last cell is all of one frame. Where a last cell is lost, the frame after it is glued to the remainder, and
//! both are lost.

use crate::base::packet::Packet;
use crate::base::units::Time;
use serde::{Deserialize, Serialize};

/// Both directions of a virtual channel.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Channel {
    pub(crate) data: Adaptation,
    pub(crate) acks: Adaptation,
}

/// Segmentation at one end of a virtual channel and reassembly at the other.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Adaptation {
    /// Over the whole run and beyond.
    pub(crate) sent_in_all: u64,
    pub(crate) received_in_all: u64,
    pub(crate) discarded_in_all: u64,
    /// Cells of the packet at the head of the line to the first port that have gone.
    gone: u32,
    /// Cells collected since the last one that ended a frame, and how many of them belong to the packet of the latest.
    collected: u32,
    own: u32,
    segment: u32,
    sent: Time,
}

impl Adaptation {
    /// The next cell of a packet of `cells` cells, which stands at the head of the line to the first port.
    #[inline]
    pub(crate) fn next_cell(&mut self, packet: &Packet, cells: u32) -> Packet {
        let mut cell = *packet;
        self.gone += 1;
        cell.become_cell(self.gone == cells);
        if self.gone == cells {
            self.gone = 0;
        }
        cell
    }

    /// A cell has reached the receiver. True if it completes a whole packet, of `cells` cells.
    #[inline]
    pub(crate) fn collect(&mut self, cell: &Packet, cells: u32) -> bool {
        self.received_in_all += 1;
        if (cell.segment, cell.sent) != (self.segment, self.sent) {
            (self.segment, self.sent, self.own) = (cell.segment, cell.sent, 0);
        }
        self.collected += 1;
        self.own += 1;
        if !cell.is_last() {
            return false;
        }
        let is_whole = self.own == cells && self.collected == cells;
        (self.collected, self.own) = (0, 0);
        is_whole
    }

    /// Cells that still have to leave of the packet at the head of the line.
    pub(crate) fn gone(&self) -> u32 {
        self.gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(segment: u32) -> Packet {
        Packet::data(Time(0), Time(u64::from(segment)), 0, segment, 112, 1, 0)
    }

    /// Which of the packets that are cut into three cells each arrive whole, if the cells at these places get lost.
    fn arrive(packets: u32, lost: &[u32]) -> Vec<u32> {
        let (mut sender, mut receiver) = (Adaptation::default(), Adaptation::default());
        let mut whole = Vec::new();
        for place in 0..3 * packets {
            let cell = sender.next_cell(&packet(place / 3), 3);
            if !lost.contains(&place) && receiver.collect(&cell, 3) {
                whole.push(cell.segment);
            }
        }
        whole
    }

    #[test]
    fn only_the_third_cell_of_three_is_marked() {
        let mut sender = Adaptation::default();
        let marks: Vec<bool> = (0..6).map(|_| sender.next_cell(&packet(0), 3).is_last()).collect();
        assert_eq!(marks, [false, false, true, false, false, true]);
    }

    #[test]
    fn a_packet_that_lost_a_cell_is_thrown_away() {
        assert_eq!(arrive(3, &[]), [0, 1, 2]);
        assert_eq!(arrive(3, &[3]), [0, 2]);
        assert_eq!(arrive(3, &[3, 4]), [0, 2]);
        assert_eq!(arrive(3, &[3, 4, 5]), [0, 2]);
    }

    #[test]
    fn a_lost_last_cell_takes_the_next_packet_along() {
        assert_eq!(arrive(4, &[5]), [0, 3]);
        assert_eq!(arrive(4, &[2, 5]), [3]);
    }

    #[test]
    fn two_remainders_do_not_make_a_packet() {
        // One cell of the first and two of the second have the right number together.
        assert_eq!(arrive(3, &[1, 2, 3]), [2]);
    }

    #[test]
    fn a_packet_of_one_cell_is_glued_too() {
        let mut receiver = Adaptation::default();
        let (mut first, mut second) = (packet(0), packet(1));
        first.become_cell(false);
        second.become_cell(true);
        assert!(!receiver.collect(&first, 2));
        assert!(!receiver.collect(&second, 1));
        assert!(receiver.collect(&second, 1));
    }
}
