//! A path that loses segments at random, between a sender on a test bench and a receiver with complete SACK blocks: for comparison with
//! models of RFCs.

use super::bench::SenderHarness;
use crate::primitives::random::{Entity, Purpose, Stream};
use crate::primitives::units::{Time, TimeDelta};
use std::collections::{BTreeSet, VecDeque};

const ROUND_TRIP: TimeDelta = TimeDelta::from_millis(100);
const SERVICE: TimeDelta = TimeDelta::from_millis(1);

pub(in crate::tcp) struct LossyPath {
    pub bench: SenderHarness,
    stream: Stream,
    drawn: u64,
    /// One segment in this many is lost.
    loses_one_in: u64,
    under_way: VecDeque<(Time, u32)>,
    received: BTreeSet<u32>,
    expected: u32,
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
    pub fn new(mut bench: SenderHarness, seed: u64, loses_one_in: u64) -> LossyPath {
        let stream = Stream::new(Entity { seed, name: "lossy path", index: 0 }, Purpose::Policy);
        let sent = bench.send();
        let (under_way, received) = (VecDeque::new(), BTreeSet::new());
        let mut path = LossyPath { bench, stream, drawn: 0, loses_one_in, under_way, received, expected: 0 };
        path.carry(&sent);
        path
    }

    fn carry(&mut self, sent: &[u32]) {
        for &segment in sent {
            let after_last = self.under_way.back().map_or(Time::ZERO, |last| last.0 + SERVICE);
            self.under_way.push_back(((self.bench.now + ROUND_TRIP).max(after_last), segment));
        }
    }

    fn loses(&mut self) -> bool {
        self.drawn += 1;
        self.stream.bits(self.drawn).is_multiple_of(self.loses_one_in)
    }

    /// The next acknowledgement, or the sender's timer if it expires first; `None` at the end.
    pub fn step(&mut self) -> Option<Step> {
        loop {
            let next = self.under_way.front().map_or(Time::NEVER, |next| next.0);
            if self.bench.sender.timer.deadline <= next {
                if self.bench.sender.timer.deadline == Time::NEVER {
                    return None;
                }
                self.bench.expire();
                let sent = self.bench.send();
                self.carry(&sent);
                return Some(Step::Expired);
            }
            let (now, segment) = self.under_way.pop_front()?;
            self.bench.now = now;
            if self.loses() {
                continue;
            }
            self.received.insert(segment);
            while self.received.contains(&self.expected) {
                self.expected += 1;
            }
            let blocks = self.blocks(segment);
            let sent = self.bench.process_ack(self.expected, &blocks);
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
