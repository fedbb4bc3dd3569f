//! `[links.NAME]`

use super::{Processing, Queue};
use crate::link_rate::LinkRate;
use crate::quantity::{Duration, Probability};
use crate::record::record;
use crate::values::{FlowIndex, Name, Whole, Word};
use tailback_core::network::{LossAt, Switching};

record! {
    /// A link from one node to another, with a queue where packets wait for it.
    pub struct Link {
        /// Node where the link begins.
        from: Name,
        /// Node where it ends.
        to: Name,
        /// Bit rate of each transmitter, or when the link can send.
        rate: LinkRate,
        /// Propagation delay, one way.
        delay: Duration,
        /// The queue in front of the link.
        queue: Queue,
        /// When the queue decides on a packet: at its last bit, or at its first (cut-through).
        switching: Word<Switching> = Word(Switching::StoreAndForward),
        /// Transmitters that share the queue: 1 for a link, K for a trunk of K wavelengths.
        transmitters: Whole<1, 65536> = Whole(1),
        /// Packets that the link loses.
        loss: Option<Loss>,
        /// A random addition to the delay.
        jitter: Option<Jitter>,
        /// Probability that a packet which is not lost arrives twice.
        duplication: Probability = Probability(0.0),
        /// Whether there is also a link back, called NAME.reverse, with the same rate and delay and an unlimited queue.
        duplex: bool = true,
        /// What differs on the way back.
        reverse: Option<Reverse>,
    }
}

record! {
    /// What differs on a link's way back.
    pub struct Reverse {
        /// Bit rate, or when it can send, if not as the link.
        rate: Option<LinkRate>,
        /// Propagation delay, if not the link's.
        delay: Option<Duration>,
        /// The queue in front of it, if not an unlimited one.
        queue: Option<Queue>,
        /// When that queue decides on a packet, if not as the link's does.
        switching: Option<Word<Switching>>,
        /// Packets that it loses.
        loss: Option<Loss>,
        /// A random addition to its delay.
        jitter: Option<Jitter>,
        /// Probability that a packet which is not lost arrives twice.
        duplication: Probability = Probability(0.0),
    }
}

record! {
    /// A random addition to a link's delay, drawn for each packet.
    pub struct Jitter {
        /// What is added.
        delay: Processing,
        /// Whether packets overtake one another. If not, a packet waits behind those before it.
        reordering: bool = false,
    }
}

record! {
    /// Packets lost regardless of the queue.
    pub struct Loss {
        /// Probability of loss for each packet, independently.
        probability: Probability = Probability(0.0),
        /// Losses in bursts, beside those.
        gilbert_elliott: Option<GilbertElliott>,
        /// Where chance takes packets: on the wire behind the queue, or before they get to it.
        at: Word<LossAt> = Word(LossAt::Wire),
        /// Packets to discard on arrival at the queue.
        drops: Vec<Drop> = Vec::new(),
    }
}

record! {
    /// Losses in bursts (Gilbert 1960, Elliott 1963): a link is in a good or in a bad state, and may change it with each packet.
    pub struct GilbertElliott {
        /// Probability of going from the good state to the bad one.
        p: Probability,
        /// Probability of going back.
        r: Probability,
        /// Probability of loss in the good state (Elliott's 1 - k).
        loss_in_good: Probability = Probability(0.0),
        /// Probability of loss in the bad state (Gilbert's 1 - h).
        loss_in_bad: Probability = Probability(1.0),
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
