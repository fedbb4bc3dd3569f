//! A path that loses or delays segments, between a sender on a test bench and a receiver with complete SACK blocks: for comparison with
//! models of RFCs.

use super::bench::SenderHarness;
use crate::primitives::random::{Entity, Purpose, Stream};
use crate::primitives::units::{Time, TimeDelta};
use std::collections::{BTreeMap, BTreeSet};

const ROUND_TRIP: TimeDelta = TimeDelta::from_millis(100);
const SERVICE: TimeDelta = TimeDelta::from_millis(1);

pub(in crate::tcp) struct LossyPath {
    pub bench: SenderHarness,
    faults: Faults,
    /// Arrival of the last segment that was not delayed.
    last: Time,
    /// Segments under way: arrival, departure, segment.
    under_way: BTreeSet<(Time, Time, u32)>,
    received: BTreeSet<u32>,
    expected: u32,
}

/// The segments that the path does not deliver in order.
pub(in crate::tcp) enum Faults {
    /// One segment in this many is lost.
    LosesOneIn { stream: Stream, drawn: u64, segments: u64 },
    /// The first transmission of each of these segments is lost (`None`) or late.
    Listed(BTreeMap<u32, Option<TimeDelta>>),
}

impl Faults {
    /// Whether a segment that arrives is lost.
    fn loses(&mut self) -> bool {
        let Faults::LosesOneIn { stream, drawn, segments } = self else { return false };
        *drawn += 1;
        stream.bits(*drawn).is_multiple_of(*segments)
    }

    /// The extra delay of a segment that leaves; `None` if it is lost.
    fn delay(&mut self, segment: u32) -> Option<TimeDelta> {
        match self {
            Faults::LosesOneIn { .. } => Some(TimeDelta::ZERO),
            Faults::Listed(listed) => listed.remove(&segment).unwrap_or(Some(TimeDelta::ZERO)),
        }
    }
}

/// An acknowledgement, and the segments sent in response.
pub(in crate::tcp) struct ReceivedAck {
    pub ack: u32,
    /// Newest block first.
    pub blocks: Vec<(u32, u32)>,
    pub sent: Vec<u32>,
}

/// The next event.
pub(in crate::tcp) enum Step {
    ReceivedAck(ReceivedAck),
    /// The sender's timer expired.
    Expired,
}

impl LossyPath {
    pub fn new(bench: SenderHarness, seed: u64, loses_one_in: u64) -> LossyPath {
        let stream = Stream::new(Entity { seed, name: "lossy path", index: 0 }, Purpose::Policy);
        LossyPath::with_faults(bench, Faults::LosesOneIn { stream, drawn: 0, segments: loses_one_in })
    }

    pub fn with_faults(mut bench: SenderHarness, faults: Faults) -> LossyPath {
        let sent = bench.send();
        let (under_way, received) = (BTreeSet::new(), BTreeSet::new());
        let mut path = LossyPath { bench, faults, last: Time::ZERO, under_way, received, expected: 0 };
        path.carry(&sent);
        path
    }

    fn carry(&mut self, sent: &[u32]) {
        let now = self.bench.now;
        for &segment in sent {
            self.last = (now + ROUND_TRIP).max(self.last + SERVICE);
            if let Some(delay) = self.faults.delay(segment) {
                self.under_way.insert((self.last + delay, now, segment));
            }
        }
    }

    /// The next acknowledgement, or the sender's timer if it expires first; `None` at the end.
    pub fn step(&mut self) -> Option<Step> {
        loop {
            let next = self.under_way.first().map_or(Time::NEVER, |next| next.0);
            if self.bench.sender.timer.deadline <= next {
                if self.bench.sender.timer.deadline == Time::NEVER {
                    return None;
                }
                self.bench.expire();
                let sent = self.bench.send();
                self.carry(&sent);
                return Some(Step::Expired);
            }
            let (now, echo, segment) = self.under_way.pop_first()?;
            self.bench.now = now;
            if self.faults.loses() {
                continue;
            }
            let is_duplicate = !self.received.insert(segment);
            while self.received.contains(&self.expected) {
                self.expected += 1;
            }
            let mut blocks = self.blocks(segment);
            if is_duplicate && self.bench.sender.recovery.is_by_time() {
                // RFC 2883 section 4.
                blocks.insert(0, (segment, segment + 1));
            }
            let sent = self.bench.process_echo(self.expected, &blocks, echo);
            self.carry(&sent);
            return Some(Step::ReceivedAck(ReceivedAck { ack: self.expected, blocks, sent }));
        }
    }

    fn blocks(&self, newest: u32) -> Vec<(u32, u32)> {
        let mut blocks: Vec<(u32, u32)> = Vec::new();
        for &segment in self.received.range(self.expected..) {
            match blocks.last_mut() {
                Some(last) if last.1 == segment => last.1 += 1,
                _ => blocks.push((segment, segment + 1)),
            }
        }
        blocks.sort_by_key(|block| !(block.0..block.1).contains(&newest));
        blocks
    }
}
