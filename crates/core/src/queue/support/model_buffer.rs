//! A first-in first-out buffer for policy tests: cells arrive and leave one at a time, and the verdict on each is recorded.

use super::flow_records::FlowRecords;
use super::policy::{DropReason, Occupancy, Policy, Unit, Verdict};
use crate::primitives::ids::FlowId;
use crate::primitives::random::{Entity, Purpose, Stream};
use crate::primitives::sizes::CELL_BYTES;
use crate::primitives::units::{Bytes, Time, Units};
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::queue) enum Event {
    Arrives { vc: u32, is_last: bool },
    Leaves,
}

pub(in crate::queue) struct ModelBuffer<P: Policy> {
    policy: P,
    places: u64,
    /// VCs of the cells, in the order of departure.
    cells: VecDeque<u32>,
    records: FlowRecords<P::PerFlow>,
}

impl<P: Policy> ModelBuffer<P> {
    pub(in crate::queue) fn new(policy: P, places: u64, vcs: u32) -> ModelBuffer<P> {
        let all: Vec<FlowId> = FlowId::all(vcs as usize).collect();
        ModelBuffer { policy, places, cells: VecDeque::new(), records: FlowRecords::new(&all) }
    }

    pub(in crate::queue) fn occupancy(&self) -> u64 {
        self.cells.len() as u64
    }

    pub(in crate::queue) fn arrive(&mut self, vc: u32, is_last: bool) -> Verdict {
        let units = self.occupancy();
        let bytes = units * CELL_BYTES.0;
        let has_room = units < self.places;
        let mut buffer = Occupancy { has_room, ..Occupancy::of(Units(units), Bytes(bytes)) };
        let record = self.records.describe(FlowId(vc), &mut buffer);
        let cell = Unit { bytes: CELL_BYTES, is_last };
        let verdict = self.policy.on_arrival(&cell, record, &buffer, Time::ZERO);
        if verdict == Verdict::Accept {
            assert!(has_room, "a policy must discard cells that do not fit");
            self.cells.push_back(vc);
            self.records.add(FlowId(vc));
        }
        verdict
    }

    /// Whether a cell was available to leave.
    pub(in crate::queue) fn leave(&mut self) -> bool {
        let vc = self.cells.pop_front();
        vc.into_iter().for_each(|vc| self.records.remove(FlowId(vc)));
        vc.is_some()
    }

    /// Letters are VCs, capitals the last cells of frames, and a dot lets a cell leave. Returns `+` for an accepted cell and the reason's
    /// initial for a discarded one.
    pub(in crate::queue) fn play(&mut self, cells: &str) -> String {
        let vc = |letter: char| letter.to_ascii_lowercase() as u32 - 'a' as u32;
        let decision = |letter: char| match letter {
            '.' => {
                assert!(self.leave(), "the buffer is empty");
                '.'
            }
            letter => match self.arrive(vc(letter), letter.is_ascii_uppercase()) {
                Verdict::Accept => '+',
                Verdict::Mark => panic!("cell policies do not mark"),
                Verdict::Discard(DropReason::Full) => 'F',
                Verdict::Discard(DropReason::Early) => 'E',
                Verdict::Discard(DropReason::Partial) => 'P',
                Verdict::Discard(DropReason::Single) => 'S',
                Verdict::Discard(reason) => panic!("unexpected reason of a discard: {reason:?}"),
            },
        };
        cells.chars().map(decision).collect()
    }

    /// The verdicts on all arrivals.
    pub(in crate::queue) fn replay(&mut self, events: &[Event]) -> Vec<Verdict> {
        let mut verdicts = Vec::new();
        for event in events {
            match *event {
                Event::Arrives { vc, is_last } => verdicts.push(self.arrive(vc, is_last)),
                Event::Leaves => {
                    self.leave();
                }
            }
        }
        verdicts
    }
}

/// Consecutive draws of one stream.
pub(in crate::queue) struct TestRandom {
    stream: Stream,
    draws: u64,
}

impl TestRandom {
    pub(in crate::queue) fn new(name: &str, index: u64) -> TestRandom {
        TestRandom { stream: Stream::new(Entity { seed: 1, name, index }, Purpose::Policy), draws: 0 }
    }

    /// Uniform from `low` to `high`, both included.
    pub(in crate::queue) fn pick(&mut self, low: u64, high: u64) -> u64 {
        self.draws += 1;
        low + (self.stream.uniform(self.draws) * (high - low + 1) as f64) as u64
    }
}

/// 200 000 random events: frames of 1 to `longest` cells, with the cells of all VCs interleaved, and alternating phases of more arrivals
/// and more departures, so that the queue covers every length from empty to full.
pub(in crate::queue) fn traffic(name: &str, vcs: u32, longest: u64) -> Vec<Event> {
    let mut dice = TestRandom::new(name, 0);
    let mut left = vec![0; vcs as usize];
    let mut share_that_leaves = 0;
    let mut event = |number: u32| {
        if number.is_multiple_of(500) {
            share_that_leaves = dice.pick(20, 80);
        }
        if dice.pick(0, 99) < share_that_leaves {
            return Event::Leaves;
        }
        let vc = dice.pick(0, u64::from(vcs) - 1) as u32;
        let left = &mut left[vc as usize];
        if *left == 0 {
            *left = dice.pick(1, longest);
        }
        *left -= 1;
        Event::Arrives { vc, is_last: *left == 0 }
    };
    (0..200_000).map(&mut event).collect()
}
