//! `[links.NAME]`

use super::Queue;
use crate::quantity::{Duration, Probability, Rate};
use crate::record::record;
use crate::values::{FlowIndex, Name, Whole, Word};
use tailback_core::network::Switching;

record! {
    /// A link from one node to another, with a queue where packets wait for it.
    pub struct Link {
        /// Node where the link begins.
        from: Name,
        /// Node where it ends.
        to: Name,
        /// Bit rate of each transmitter.
        rate: Rate,
        /// Propagation delay, one way.
        delay: Duration,
        /// The queue in front of the link.
        queue: Queue,
        /// When the queue decides on a packet: at its last bit, or at its first (cut-through).
        switching: Word<Switching> = Word(Switching::StoreAndForward),
        /// Transmitters that share the queue: 1 for a link, K for a trunk of K wavelengths.
        transmitters: Whole<1, 65536> = Whole(1),
        /// Packets lost on the wire.
        loss: Option<Loss>,
        /// Whether there is also a link back, called NAME.reverse, with the same rate and delay and an unlimited queue.
        duplex: bool = true,
        /// What differs on the way back.
        reverse: Option<Reverse>,
    }
}

record! {
    /// What differs on a link's way back.
    pub struct Reverse {
        /// Bit rate, if not the link's.
        rate: Option<Rate>,
        /// Propagation delay, if not the link's.
        delay: Option<Duration>,
        /// The queue in front of it, if not an unlimited one.
        queue: Option<Queue>,
        /// When that queue decides on a packet, if not as the link's does.
        switching: Option<Word<Switching>>,
        /// Packets lost on the wire.
        loss: Option<Loss>,
    }
}

record! {
    /// Packets lost regardless of the queue.
    pub struct Loss {
        /// Probability of loss for each packet on the wire, independently.
        probability: Probability = Probability(0.0),
        /// Packets to discard on arrival at the queue.
        drops: Vec<Drop> = Vec::new(),
    }
}

record! {
    /// One transmission of one packet.
    pub struct Drop {
        /// Flow group.
        group: Name,
        /// Flow in the group; 0 is the first.
        flow: FlowIndex = FlowIndex::default(),
        /// Data segment or datagram of the flow; 0 is the first, or the SYN where a connection is opened.
        segment: Whole<0, 2147483647>,
        /// 1 is the first transmission, 2 the first retransmission.
        transmission: Whole<1, 255> = Whole(1),
        /// For a packet that travels in cells: which of its cells that reach the queue, counted from 0; all of them if not given.
        cell: Option<Whole<0, 1366>>,
    }
}
