//! Which units make room when a buffer that several queues share is full. A unit in service is never discarded.

use crate::primitives::units::Bytes;
use serde::{Deserialize, Serialize};

/// Behaviour when the port has no room for an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OverflowRule {
    /// The arrival is refused.
    Refuses,
    /// The first unit of the queue with the largest backlog over its weight (Suter and others, 1998, Design Considerations for Supporting
    /// TCP with Per-flow Queueing), in units or bytes as the buffer counts. A queue's first unit does not count: of two queues with units of
    /// 1500 and 64 bytes, the first would have the largest backlog whenever it has one unit, and would lose every unit.
    LargestShare,
    /// The first unit of the queue with the most units (McKenney, 1990).
    MostUnits,
    /// Half of the units of the queue with the most bytes, up to this number.
    HalfOfMostBytes(u32),
}

/// Waiting units of a queue.
#[derive(Clone, Copy, Debug)]
pub struct Backlog {
    pub queue: usize,
    pub units: u32,
    pub bytes: Bytes,
    /// Units or bytes behind the first unit, as the buffer counts.
    pub behind_first: u64,
    pub weight: f64,
}

/// Units to discard from the head of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Eviction {
    pub queue: usize,
    pub units: u32,
}

impl OverflowRule {
    /// The length of a queue by which the queue that makes room is chosen; below 0 if the queue is empty.
    pub fn length(self, backlog: &Backlog) -> f64 {
        match self {
            _ if backlog.units == 0 => -1.0,
            OverflowRule::LargestShare => backlog.behind_first as f64 / backlog.weight,
            OverflowRule::MostUnits => f64::from(backlog.units),
            OverflowRule::HalfOfMostBytes(_) | OverflowRule::Refuses => backlog.bytes.0 as f64,
        }
    }

    /// The units that make room for an arrival that has joined a queue, given the first of the longest queues and that of the arrival.
    pub fn eviction(self, longest: &Backlog, arrival: &Backlog) -> Option<Eviction> {
        // In a buffer for fewer units than queues, the first queue would otherwise lose all of its units.
        let ties = self == OverflowRule::LargestShare && self.length(arrival) >= self.length(longest);
        let &Backlog { queue, units, .. } = if ties { arrival } else { longest };
        let discarded = match self {
            OverflowRule::Refuses => 0,
            OverflowRule::LargestShare | OverflowRule::MostUnits => 1,
            OverflowRule::HalfOfMostBytes(max) => max.min(units / 2).max(1),
        };
        (discarded.min(units) > 0).then_some(Eviction { queue, units: discarded })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The eviction among queues with these units, bytes per unit and weights, in a buffer that counts units.
    fn eviction(rule: OverflowRule, arrival: usize, queues: &[(u32, u64, f64)]) -> Option<Eviction> {
        let backlog = |queue: usize| {
            let (units, size, weight) = queues[queue];
            let behind_first = u64::from(units.saturating_sub(1));
            Backlog { queue, units, bytes: Bytes(u64::from(units) * size), behind_first, weight }
        };
        let length = |queue: &usize| rule.length(&backlog(*queue));
        let longest = (0..queues.len()).rev().max_by(|a, b| length(a).total_cmp(&length(b)))?;
        rule.eviction(&backlog(longest), &backlog(arrival))
    }

    #[test]
    fn each_rule_has_its_own_longest_queue() {
        // Queue 0 has the most units, queue 1 the most bytes, queue 2 the most units over its weight behind its first unit: 4, 3, 6.
        let queues = [(9, 64, 2.0), (4, 1500, 1.0), (4, 500, 0.5)];
        let of = |rule: OverflowRule| eviction(rule, 0, &queues);
        assert_eq!(of(OverflowRule::MostUnits), Some(Eviction { queue: 0, units: 1 }));
        assert_eq!(of(OverflowRule::HalfOfMostBytes(64)), Some(Eviction { queue: 1, units: 2 }));
        assert_eq!(of(OverflowRule::HalfOfMostBytes(1)), Some(Eviction { queue: 1, units: 1 }));
        assert_eq!(of(OverflowRule::LargestShare), Some(Eviction { queue: 2, units: 1 }));
        assert_eq!(of(OverflowRule::Refuses), None);
    }

    #[test]
    fn single_units_stay_and_an_arrival_that_is_one_makes_room_itself() {
        let of = |arrival: usize, queues: &[(u32, u64, f64)]| eviction(OverflowRule::LargestShare, arrival, queues);
        assert_eq!(of(1, &[(1, 1500, 1.0), (2, 64, 8.0)]), Some(Eviction { queue: 1, units: 1 }));
        assert_eq!(of(2, &[(1, 1500, 1.0), (0, 64, 1.0), (1, 64, 1.0)]), Some(Eviction { queue: 2, units: 1 }));
        // The buffer has become smaller: no unit of the arrival's queue waits any more.
        assert_eq!(of(1, &[(1, 1500, 1.0), (0, 64, 1.0), (1, 64, 1.0)]), Some(Eviction { queue: 0, units: 1 }));
        assert_eq!(of(0, &[(0, 1500, 1.0)]), None);
    }
}
