//! Random impairments of a link: loss, jitter and duplication.

use super::counts::PortCounts;
use crate::network::{self, GilbertElliott, Jitter, LossAt, Network};
use crate::primitives::packet::Packet;
use crate::primitives::random::{Draws, Entity, Purpose, Stream};
use crate::primitives::units::{Time, TimeDelta};
use crate::queue::DropReason;
use crate::simulation::measurement_interval::MeasurementInterval;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The random losses of a link.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Losses {
    at: LossAt,
    /// Independent loss probability of each packet.
    share: f64,
    draws: Draws,
    bursts: Option<Box<Bursts>>,
}

/// Losses by the Gilbert-Elliott chain.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Bursts {
    chain: GilbertElliott,
    is_bad: bool,
    /// Separate draws for the chain and for losses: the loss probabilities of the states do not affect the sequence of states.
    states: Draws,
    losses: Draws,
}

/// Jitter and duplication of a link.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Disturbance {
    jitter: Option<Jitter>,
    delays: Draws,
    duplication: f64,
    copies: Draws,
}

/// Packets on a link on which they may overtake one another, by arrival time, then in order of transmission.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ReorderedPackets {
    under_way: BTreeMap<(Time, u64), Packet>,
    next: u64,
}

fn draws(of: &Network, port: &network::Port, purpose: Purpose) -> Draws {
    Draws::new(Stream::new(Entity { seed: of.seed, name: &port.name, index: 0 }, purpose))
}

impl Losses {
    pub(super) fn new(port: &network::Port, of: &Network) -> Losses {
        let bursts = port.impairments.bursts.map(|chain| {
            let mut states = draws(of, port, Purpose::BurstState);
            // The chain starts in its stationary distribution, so that no part of a run has a different loss rate.
            let is_bad = states.uniform() < chain.share_of_bad();
            Box::new(Bursts { chain, is_bad, states, losses: draws(of, port, Purpose::BurstLoss) })
        });
        Losses { at: port.impairments.loss_at, share: port.random_loss, draws: draws(of, port, Purpose::Loss), bursts }
    }

    pub(super) fn may_happen(&self) -> bool {
        self.share > 0.0 || self.bursts.is_some()
    }

    pub(super) fn set_share(&mut self, share: f64) {
        self.share = share;
    }

    /// Whether losses take place before the queue.
    pub(super) fn are_before_queue(&self) -> bool {
        self.at == LossAt::BeforeQueue
    }

    /// A packet passes a point of the link at which losses may take place. `arrival`: when it arrived at the port.
    #[inline(never)]
    pub(super) fn spare(
        &mut self,
        here: LossAt,
        [arrival, now]: [Time; 2],
        counts: &mut PortCounts,
        interval: &MeasurementInterval,
    ) -> Result<(), DropReason> {
        if here != self.at {
            return Ok(());
        }
        let is_lost = self.share > 0.0 && self.draws.uniform() < self.share;
        let is_lost_in_burst = self.bursts.as_mut().is_some_and(|bursts| bursts.lose());
        if !is_lost && !is_lost_in_burst {
            return Ok(());
        }
        counts.discard_accepted(DropReason::Random, [arrival, now], interval);
        Err(DropReason::Random)
    }
}

impl Bursts {
    /// Whether the next packet is lost. The chain then makes a transition.
    fn lose(&mut self) -> bool {
        let GilbertElliott { p, r, loss_in_good, loss_in_bad } = self.chain;
        let (loss, change) = if self.is_bad { (loss_in_bad, r) } else { (loss_in_good, p) };
        let is_lost = self.losses.uniform() < loss;
        self.is_bad ^= self.states.uniform() < change;
        is_lost
    }
}

impl Disturbance {
    /// `None` for a link without jitter and duplication.
    pub(super) fn new(port: &network::Port, of: &Network) -> Option<Disturbance> {
        port.impairments.disturbs_arrivals().then(|| Disturbance {
            jitter: port.impairments.jitter,
            delays: draws(of, port, Purpose::LinkJitter),
            duplication: port.impairments.duplication,
            copies: draws(of, port, Purpose::Duplication),
        })
    }

    /// Additional delay of the next packet, or copy of one.
    pub(super) fn jitter(&mut self) -> TimeDelta {
        self.jitter.map_or(TimeDelta::ZERO, |jitter| jitter.delay.draw(&mut self.delays))
    }

    /// Whether the next packet is duplicated.
    pub(super) fn duplicates(&mut self) -> bool {
        self.duplication > 0.0 && self.copies.uniform() < self.duplication
    }
}

impl ReorderedPackets {
    pub(crate) fn insert(&mut self, packet: Packet) {
        self.under_way.insert((packet.time, self.next), packet);
        self.next += 1;
    }

    /// Take the packet that arrives first.
    pub(crate) fn take_first(&mut self) -> Option<Packet> {
        self.under_way.pop_first().map(|(_, packet)| packet)
    }

    /// Arrival time of the first packet.
    pub(crate) fn first(&self) -> Option<Time> {
        self.under_way.first_key_value().map(|(key, _)| key.0)
    }

    /// In order of arrival.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Packet> {
        self.under_way.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::packet::OutgoingPacket;
    use crate::primitives::segment_number::SegmentNumber;

    fn chain(p: f64, r: f64, [loss_in_good, loss_in_bad]: [f64; 2]) -> Bursts {
        let chain = GilbertElliott { p, r, loss_in_good, loss_in_bad };
        let draws = |purpose| Draws::new(Stream::new(Entity { seed: 3, name: "link", index: 0 }, purpose));
        Bursts { chain, is_bad: false, states: draws(Purpose::BurstState), losses: draws(Purpose::BurstLoss) }
    }

    #[test]
    fn a_chain_that_always_moves_loses_every_other_packet() {
        let mut bursts = chain(1.0, 1.0, [0.0, 1.0]);
        assert_eq!([(); 6].map(|()| bursts.lose()), [false, true, false, true, false, true]);
        assert_eq!(bursts.chain.mean_loss(), 0.5);
    }

    #[test]
    fn a_chain_that_never_moves_stays_good() {
        let mut bursts = chain(0.0, 0.0, [0.0, 1.0]);
        assert!((0..1000).all(|_| !bursts.lose()));
        assert_eq!(bursts.chain.mean_loss(), 0.0);
    }

    #[test]
    fn loss_probabilities_do_not_affect_the_sequence_of_states() {
        let states = |losses| {
            let mut bursts = chain(0.1, 0.3, losses);
            (0..200).map(|_| (bursts.is_bad, bursts.lose()).0).collect::<Vec<_>>()
        };
        assert_eq!(states([0.0, 1.0]), states([0.2, 0.4]));
    }

    #[test]
    fn an_overtaking_packet_arrives_first_and_simultaneous_packets_keep_their_order() {
        let packet = |time, segment| {
            let outgoing = OutgoingPacket { segment: SegmentNumber(segment), ..OutgoingPacket::default() };
            Packet::data(Time(time), Time(0), &outgoing, 0)
        };
        let mut link = ReorderedPackets::default();
        [packet(9, 0), packet(5, 1), packet(9, 2), packet(7, 3)].into_iter().for_each(|packet| link.insert(packet));
        assert_eq!(link.first(), Some(Time(5)));
        let arrived: Vec<u32> = std::iter::from_fn(|| link.take_first()).map(|packet| packet.segment().0).collect();
        assert_eq!(arrived, [1, 3, 0, 2]);
    }
}
