//! `[links.NAME]`

use super::node::Processing;
use super::queue::Queue;
use crate::link_rate::LinkRate;
use crate::probability::Probability;
use crate::quantity::{Duration, Size};
use crate::record::record;
use crate::values::{FlowIndex, Integer, Name, Word};
use tailback_core::network::{LossAt, Switching};

record! {
    /// A link from one node to another, with a queue at its input.
    pub struct Link {
        /// Node at which the link starts.
        from: Name,
        /// Node at which the link ends.
        to: Name,
        /// Bit rate of each transmitter, or a delivery trace.
        rate: LinkRate,
        /// One-way propagation delay.
        delay: Duration,
        /// Queue at the input of the link.
        queue: Queue,
        /// Switching mode: the queue receives a packet at its last bit (store and forward) or at its first (cut-through).
        switching: Word<Switching> = Word(Switching::StoreAndForward),
        /// Number of transmitters that share the queue: 1 for a link, K for a trunk of K wavelengths.
        transmitters: Integer<1, 65536> = Integer(1),
        /// Losses that do not depend on the queue.
        loss: Option<Loss>,
        /// Random delay added for each packet.
        jitter: Option<Jitter>,
        /// Probability that a packet that is not lost is duplicated.
        duplication: Probability = Probability(0.0),
        /// Largest packet that the link carries, with its IP header; larger ones are discarded, as with the DF bit. Default: no limit.
        mtu: Option<Size>; "1400 B",
        /// Create a reverse link, NAME.reverse, with the same rate and delay. If data cross it, it has the same queue, otherwise an unlimited one.
        duplex: bool = true,
        /// Settings of the reverse link that differ.
        reverse: Option<Reverse>,
    }
}

record! {
    /// Settings of a reverse link. Keys that are absent have the values of the link.
    pub struct Reverse {
        /// Bit rate or delivery trace. Default: that of the link.
        rate: Option<LinkRate>,
        /// One-way propagation delay. Default: that of the link.
        delay: Option<Duration>,
        /// Queue at the input of the reverse link. Default: that of the link if data cross the reverse link, otherwise unlimited.
        queue: Option<Queue>,
        /// Switching mode. Default: that of the link.
        switching: Option<Word<Switching>>,
        /// Losses that do not depend on the queue.
        loss: Option<Loss>,
        /// Random delay added for each packet.
        jitter: Option<Jitter>,
        /// Probability that a packet that is not lost is duplicated.
        duplication: Probability = Probability(0.0),
        /// Largest packet that the reverse link carries. Default: that of the link.
        mtu: Option<Size>; "1400 B",
    }
}

record! {
    /// Random delay that is added for each packet of a link.
    pub struct Jitter {
        /// Distribution of the added delay.
        delay: Processing,
        /// Allow reordering. Otherwise a packet never arrives before an earlier one.
        reordering: bool = false,
    }
}

record! {
    /// Losses that do not depend on the queue.
    pub struct Loss {
        /// Probability of loss of each packet, independently of others.
        probability: Probability = Probability(0.0),
        /// Additional losses in bursts.
        gilbert_elliott: Option<GilbertElliott>,
        /// Where random losses happen: on the wire behind the queue, or before the queue.
        at: Word<LossAt> = Word(LossAt::Wire),
        /// Individual packets to discard on arrival at the queue.
        drops: Vec<Drop> = Vec::new(),
    }
}

record! {
    /// Burst losses (Gilbert 1960, Elliott 1963): the link has a good and a bad state, and may change its state with each packet.
    pub struct GilbertElliott {
        /// Transition probability from the good to the bad state.
        p: Probability,
        /// Transition probability from the bad to the good state.
        r: Probability,
        /// Probability of loss in the good state (Elliott's 1 - k).
        loss_in_good: Probability = Probability(0.0),
        /// Probability of loss in the bad state (Gilbert's 1 - h).
        loss_in_bad: Probability = Probability(1.0),
    }
}

record! {
    /// One transmission of one packet, which is discarded.
    pub struct Drop {
        /// Flow group.
        group: Name,
        /// Flow of the group, from 0.
        flow: FlowIndex = FlowIndex::default(),
        /// Data segment or datagram of the flow, from 0. With `handshake`, 0 is the SYN.
        segment: Integer<0, 2147483647>,
        /// Transmission of the packet: 1 is the first, 2 the first retransmission.
        transmission: Integer<1, 255> = Integer(1),
        /// With `framing`: number of the cell, from 0, among the cells of the packet that reach the queue. Default: all cells.
        cell: Option<Integer<0, 1366>>,
    }
}
