//! Lengths of queues, as policies compare them with the buffer's occupancy.

use crate::primitives::units::{Bytes, Units};
use serde::{Deserialize, Serialize};

/// A queue length in the unit of the port, or in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum QueueLength {
    /// Packets or cells.
    Units(u64),
    Bytes(u64),
}

impl QueueLength {
    /// The number, in its own unit.
    pub fn number(self) -> u64 {
        match self {
            QueueLength::Units(number) | QueueLength::Bytes(number) => number,
        }
    }

    /// This queue in the unit of the length.
    pub(crate) fn measure(self, units: Units, bytes: Bytes) -> u64 {
        match self {
            QueueLength::Units(_) => units.0,
            QueueLength::Bytes(_) => bytes.0,
        }
    }

    /// Whether it is shorter than another length; false for lengths in different units.
    pub(crate) fn is_below(self, other: QueueLength) -> bool {
        match (self, other) {
            (QueueLength::Units(own), QueueLength::Units(other)) | (QueueLength::Bytes(own), QueueLength::Bytes(other)) => {
                own < other
            }
            _ => false,
        }
    }

    /// The length in packets or cells, where bytes are packets of this size.
    pub(crate) fn typical(self, packet: Bytes) -> f64 {
        match self {
            QueueLength::Units(number) => number as f64,
            QueueLength::Bytes(number) => number as f64 / packet.0 as f64,
        }
    }
}

impl From<u64> for QueueLength {
    fn from(number: u64) -> QueueLength {
        QueueLength::Units(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_in_different_units_are_not_ordered() {
        let (packets, bytes) = (QueueLength::Units(5), QueueLength::Bytes(9));
        assert!(packets.is_below(QueueLength::Units(6)) && bytes.is_below(QueueLength::Bytes(10)));
        assert!(!packets.is_below(bytes) && !bytes.is_below(packets) && !packets.is_below(packets));
    }

    #[test]
    fn a_length_is_compared_with_the_occupancy_in_its_unit() {
        let of = |length: QueueLength| length.measure(Units(3), Bytes(4500));
        assert_eq!((of(QueueLength::Units(5)), of(QueueLength::Bytes(5))), (3, 4500));
        assert_eq!((QueueLength::Units(5).typical(Bytes(1500)), QueueLength::Bytes(4500).typical(Bytes(1500))), (5.0, 3.0));
    }
}
