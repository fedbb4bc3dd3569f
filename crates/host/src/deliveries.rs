//! The packets to deliver, in order of time, then of flow. Packets of one flow become known in this order, unless they overtake each other.

use crate::in_flight::PacketKey;
use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, VecDeque};
use tailback_core::network::FlowId;
use tailback_core::primitives::units::Time;

/// A packet that arrives at its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Delivery {
    pub(crate) time: Time,
    pub(crate) key: PacketKey,
    /// A queue has marked it.
    pub(crate) is_marked: bool,
}

pub(crate) struct Deliveries {
    /// By flow, in order: time, number and mark.
    flows: Vec<VecDeque<(Time, u32, bool)>>,
    /// The first of each flow. One that another has preceded since is here twice, until its time.
    first: BinaryHeap<Reverse<(Time, FlowId)>>,
}

impl Deliveries {
    pub(crate) fn new(flows: usize) -> Deliveries {
        Deliveries { flows: vec![VecDeque::new(); flows], first: BinaryHeap::new() }
    }

    pub(crate) fn push(&mut self, Delivery { time, key, is_marked }: Delivery) {
        let (of_flow, new) = (&mut self.flows[key.flow], (time, key.number, is_marked));
        if of_flow.back().is_some_and(|last| *last < new) {
            return of_flow.push_back(new);
        }
        let place = of_flow.partition_point(|earlier| *earlier < new);
        of_flow.insert(place, new);
        if place == 0 {
            self.first.push(Reverse((time, key.flow)));
        }
    }

    /// Time of the next delivery.
    pub(crate) fn next(&self) -> Option<Time> {
        self.first.peek().map(|&Reverse((time, _))| time)
    }

    /// Takes the next delivery, if it is due.
    pub(crate) fn pop(&mut self, now: Time) -> Option<Delivery> {
        loop {
            let mut first = self.first.peek_mut().filter(|first| first.0.0 <= now)?;
            let Reverse((time, flow)) = *first;
            let of_flow = &mut self.flows[flow];
            let taken = of_flow.pop_front_if(|next| next.0 == time);
            match of_flow.front() {
                Some(&(next, ..)) if taken.is_some() => *first = Reverse((next, flow)),
                _ => drop(PeekMut::pop(first)),
            }
            if let Some((time, number, is_marked)) = taken {
                return Some(Delivery { time, key: PacketKey { flow, number }, is_marked });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deliveries_are_taken_in_order_of_time_flow_and_number() {
        let delivery = |time, flow, number| {
            let key = PacketKey { flow: FlowId(flow), number };
            Delivery { time: Time(time), key, is_marked: number % 2 == 1 }
        };
        let mut all = Deliveries::new(3);
        // In flow 1, two packets overtake others, and two arrive at the same time.
        let known = [(50, 1, 0), (40, 2, 0), (30, 1, 1), (60, 1, 2), (40, 1, 3), (50, 1, 5), (50, 1, 4), (50, 0, 0)];
        known.iter().for_each(|&(time, flow, number)| all.push(delivery(time, flow, number)));
        assert_eq!((all.next(), all.pop(Time(29))), (Some(Time(30)), None));
        let mut expected = known;
        expected.sort_unstable();
        let mut taken = Vec::new();
        while let Some(now) = all.next() {
            let before = taken.len();
            taken.extend(std::iter::from_fn(|| all.pop(now)));
            assert!(taken.len() > before);
        }
        assert_eq!(taken, expected.map(|(time, flow, number)| delivery(time, flow, number)));
    }
}
