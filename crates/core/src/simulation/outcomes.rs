//! What has become of packets: deliveries, discards and copies, and the traces on request.

use super::clock::Clock;
use super::datagrams::{DatagramOutcome, Fate};
use crate::network::Network;
use crate::primitives::ids::{FlowId, PortId};
use crate::primitives::packet::Packet;
use crate::primitives::units::Time;
use crate::queue::DropReason;
use crate::record::recorder::Recorder;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Outcomes {
    recorder: Option<Box<Recorder>>,
    /// Fates of datagrams of external flows, in the order in which they became known.
    fates: Vec<Fate>,
    /// Copies of packets made by links, by flow.
    copies: BTreeMap<FlowId, DuplicateCounts>,
    /// Acknowledgements discarded within the measurement interval, by flow. The last cell of one in cells decides.
    dropped_acks: BTreeMap<FlowId, u64>,
    /// Discards that were computed ahead: time and flow. Entries in the past are removed from time to time.
    to_be_discarded: VecDeque<(Time, FlowId)>,
}

/// Number of copies that links have made of a flow's packets, over the whole run and beyond.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct DuplicateCounts {
    pub(crate) data: u64,
    pub(crate) acks: u64,
    /// Copies of data packets that were sent within the measurement interval.
    pub(crate) measured: u64,
}

impl Outcomes {
    pub(crate) fn new(network: &Network) -> Outcomes {
        Outcomes {
            recorder: Recorder::new(network).map(Box::new),
            fates: Vec::new(),
            copies: BTreeMap::new(),
            dropped_acks: BTreeMap::new(),
            to_be_discarded: VecDeque::new(),
        }
    }

    /// Present if traces are requested.
    #[inline]
    pub(crate) fn recorder(&self) -> Option<&Recorder> {
        self.recorder.as_deref()
    }

    #[inline]
    pub(crate) fn recorder_mut(&mut self) -> Option<&mut Recorder> {
        self.recorder.as_deref_mut()
    }

    /// The fate of a datagram of an external flow has become known.
    pub(crate) fn add_fate(&mut self, fate: Fate) {
        self.fates.push(fate);
    }

    /// A datagram of an external flow reaches its receiver.
    pub(crate) fn on_datagram(&mut self, packet: &Packet) {
        let outcome = DatagramOutcome::Delivered { is_marked: packet.is_marked() };
        self.fates.push(Fate { time: packet.time, flow: packet.flow, datagram: packet.segment().0, outcome });
    }

    /// Fates that became known in another domain.
    pub(crate) fn add_fates(&mut self, fates: &mut Vec<Fate>) {
        self.fates.append(fates);
    }

    /// The fates that have become known since the last call.
    pub(crate) fn take_fates(&mut self) -> impl Iterator<Item = Fate> {
        self.fates.drain(..)
    }

    /// A packet of a flow is discarded at `time`.
    pub(crate) fn await_discard(&mut self, flow: FlowId, time: Time, clock: &Clock) {
        if time > clock.now() {
            self.to_be_discarded.push_back((time, flow));
        }
    }

    /// A packet or cell is discarded at a port.
    pub(crate) fn on_discard(&mut self, port: PortId, packet: &Packet, time: Time, reason: DropReason, clock: &Clock) {
        while self.to_be_discarded.pop_front_if(|first| first.0 < clock.now()).is_some() {}
        self.await_discard(packet.flow, time, clock);
        if packet.is_rm() {
            return;
        }
        if packet.is_ack() && packet.is_last() && clock.measures(time) {
            *self.dropped_acks.entry(packet.flow).or_default() += 1;
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.on_discard(port, packet, time, reason);
        }
    }

    /// A link has made a copy of a packet.
    pub(crate) fn on_copy(&mut self, copy: &Packet, clock: &Clock) {
        let copies = self.copies.entry(copy.flow).or_default();
        if copy.is_ack() {
            copies.acks += 1;
        } else {
            copies.data += 1;
            copies.measured += u64::from(clock.measures(copy.sent));
        }
    }

    /// Copies of a flow's packets.
    pub(crate) fn copies(&self, flow: FlowId) -> DuplicateCounts {
        self.copies.get(&flow).copied().unwrap_or_default()
    }

    /// Acknowledgements of a flow that queues and links have discarded.
    pub(crate) fn dropped_acks(&self, flow: FlowId) -> u64 {
        self.dropped_acks.get(&flow).copied().unwrap_or_default()
    }

    /// The flow of each packet that is discarded at `time` or later.
    pub(crate) fn discards_from(&self, time: Time) -> impl Iterator<Item = FlowId> {
        self.to_be_discarded.iter().filter(move |discard| discard.0 >= time).map(|discard| discard.1)
    }
}

/// Domains of a parallel run.
impl Outcomes {
    /// Reset the counters and records: the first domain keeps the previous ones.
    pub(crate) fn forget(&mut self) {
        self.fates.clear();
        self.copies.clear();
        self.dropped_acks.clear();
        self.to_be_discarded.clear();
        if let Some(recorder) = &mut self.recorder {
            recorder.forget();
        }
    }

    /// Add the counters and records of another domain. `sends`: whether it owns the sender of a flow.
    pub(crate) fn add(&mut self, other: &Outcomes, sends: impl Fn(FlowId) -> bool) {
        self.fates.extend_from_slice(&other.fates);
        for (&flow, other) in &other.copies {
            let copies = self.copies.entry(flow).or_default();
            (copies.data, copies.acks) = (copies.data + other.data, copies.acks + other.acks);
            copies.measured += other.measured;
        }
        for (&flow, dropped) in &other.dropped_acks {
            *self.dropped_acks.entry(flow).or_default() += dropped;
        }
        self.to_be_discarded.extend(&other.to_be_discarded);
        self.to_be_discarded.make_contiguous().sort_unstable();
        if let (Some(recorder), Some(other)) = (&mut self.recorder, &other.recorder) {
            recorder.add(other, sends);
        }
    }
}
