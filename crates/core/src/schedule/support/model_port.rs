//! A port for scheduler tests that sends one byte per microsecond.

use super::overflow::{Backlog, OverflowRule};
use super::scheduler::{DequeueReason, Dequeued, Enqueued};
use crate::primitives::random::{Entity, Purpose, Stream};
use crate::primitives::units::{Bytes, Rate, Time};
use crate::schedule::{SchedulerSpec, Schedulers};
use std::collections::VecDeque;

pub(in crate::schedule) struct ModelPort {
    scheduler: Schedulers,
    queues: Vec<VecDeque<u64>>,
    now_us: u64,
}

/// A unit and its time of arrival.
#[derive(Clone, Copy, Debug)]
pub(in crate::schedule) struct Arrival {
    pub(in crate::schedule) at_us: u64,
    pub(in crate::schedule) queue: usize,
    pub(in crate::schedule) bytes: u64,
}

impl ModelPort {
    pub(in crate::schedule) fn new(spec: &SchedulerSpec, weights: &[f64]) -> ModelPort {
        ModelPort { scheduler: Schedulers::new(spec, weights), queues: vec![VecDeque::new(); weights.len()], now_us: 0 }
    }

    pub(in crate::schedule) fn waiting(&self, queue: usize) -> usize {
        self.queues[queue].len()
    }

    pub(in crate::schedule) fn store(&mut self, queue: usize, bytes: u64) {
        self.store_at(self.now_us, queue, bytes);
    }

    fn store_at(&mut self, at_us: u64, queue: usize, bytes: u64) {
        let begins_busy_period = self.queues.iter().all(VecDeque::is_empty) && self.now_us <= at_us;
        let now = Time(at_us * 1_000_000);
        self.scheduler.on_enqueue(&Enqueued { queue, bytes: Bytes(bytes), now, rate: Rate(8_000_000), begins_busy_period });
        self.queues[queue].push_back(bytes);
    }

    fn leave(&mut self, queue: usize, reason: DequeueReason) -> u64 {
        let bytes = self.queues[queue].pop_front().unwrap();
        let is_empty = self.queues[queue].is_empty();
        self.scheduler.on_dequeue(&Dequeued { queue, bytes: Bytes(bytes), reason, is_empty });
        bytes
    }

    /// Discards the first unit of the queue.
    pub(in crate::schedule) fn discard(&mut self, queue: usize) {
        self.leave(queue, DequeueReason::Discarded);
    }

    /// Discards units until the buffer limit is met.
    fn make_room(&mut self, overload: &Overload, rule: OverflowRule, arrival: usize) {
        let units = |queue: &VecDeque<u64>| queue.len() as u64;
        let bytes = |queue: &VecDeque<u64>| queue.iter().sum::<u64>();
        loop {
            let backlog = |queue: usize| {
                let waiting = &self.queues[queue];
                let behind_first = match overload.buffer {
                    Limit::Units(_) => units(waiting).saturating_sub(1),
                    Limit::Bytes(_) => waiting.iter().skip(1).sum(),
                };
                let weight = overload.weights[queue];
                Backlog { queue, units: waiting.len() as u32, bytes: Bytes(bytes(waiting)), behind_first, weight }
            };
            let is_within = match overload.buffer {
                Limit::Units(max) => self.queues.iter().map(units).sum::<u64>() <= max,
                Limit::Bytes(max) => self.queues.iter().map(bytes).sum::<u64>() <= max,
            };
            if is_within {
                return;
            }
            let length = |queue: &usize| rule.length(&backlog(*queue));
            let longest = (0..self.queues.len()).rev().max_by(|a, b| length(a).total_cmp(&length(b))).unwrap();
            let eviction = rule.eviction(&backlog(longest), &backlog(arrival)).unwrap();
            (0..eviction.units).for_each(|_| self.discard(eviction.queue));
        }
    }

    /// The queue that is served next, and the bytes that it sends.
    pub(in crate::schedule) fn send_one(&mut self) -> Option<(usize, u64)> {
        let queues = &self.queues;
        let queue = self.scheduler.next(&|queue| queues[queue].front().map(|&bytes| Bytes(bytes)));
        assert_eq!(queue.is_none(), queues.iter().all(VecDeque::is_empty), "the scheduler is work-conserving");
        let queue = queue?;
        let bytes = self.leave(queue, DequeueReason::Sent);
        self.now_us += bytes;
        Some((queue, bytes))
    }

    pub(in crate::schedule) fn send(&mut self) -> Option<usize> {
        self.send_one().map(|(queue, _)| queue)
    }

    /// The queues in the order of service until all are empty.
    pub(in crate::schedule) fn send_all(&mut self) -> Vec<usize> {
        std::iter::from_fn(|| self.send()).collect()
    }
}

/// Units of 40 to 1500 bytes that arrive in bursts, at about the rate of the port.
pub(in crate::schedule) fn arrivals(seed: u64, queues: usize, units: usize) -> Vec<Arrival> {
    let stream = Stream::new(Entity { seed, name: "arrivals", index: 0 }, Purpose::Policy);
    let mut at_us = 0;
    let one = |number: usize| {
        let draw = |which: u64, below: u64| stream.bits(4 * number as u64 + which) % below;
        if draw(0, 3) == 0 {
            at_us += draw(1, 4600);
        }
        Arrival { at_us, queue: draw(2, queues as u64) as usize, bytes: 40 + draw(3, 1461) }
    };
    (0..units).map(one).collect()
}

/// Departure time of each of these units, in microseconds.
pub(in crate::schedule) fn depart(spec: &SchedulerSpec, weights: &[f64], arrivals: &[Arrival]) -> Vec<f64> {
    let mut port = ModelPort::new(spec, weights);
    let mut waiting = vec![VecDeque::new(); weights.len()];
    let mut departures = vec![f64::NAN; arrivals.len()];
    let mut come = arrivals.iter().enumerate().peekable();
    loop {
        while let Some((number, arrival)) = come.next_if(|(_, arrival)| arrival.at_us <= port.now_us) {
            port.store_at(arrival.at_us, arrival.queue, arrival.bytes);
            waiting[arrival.queue].push_back(number);
        }
        match (port.send(), come.peek()) {
            (Some(queue), _) => departures[waiting[queue].pop_front().unwrap()] = port.now_us as f64,
            (None, Some((_, next))) => port.now_us = next.at_us,
            (None, None) => return departures,
        }
    }
}

/// Asserts that continuously backlogged queues receive bytes in proportion to their weights, within a unit of each and `turn` bytes per
/// weight.
pub(in crate::schedule) fn fairness(spec: &SchedulerSpec, turn: f64) {
    let weights = [1.0, 2.0, 3.5];
    let mut port = ModelPort::new(spec, &weights);
    let stream = Stream::new(Entity { seed: 1, name: "fairness", index: 0 }, Purpose::Policy);
    let mut sent = [0.0; 3];
    let mut drawn = 0;
    for _ in 0..20_000 {
        for queue in 0..3 {
            while port.waiting(queue) < 3 {
                drawn += 1;
                port.store(queue, 40 + stream.bits(drawn) % 1461);
            }
        }
        let (queue, bytes) = port.send_one().unwrap();
        sent[queue] += bytes as f64 / weights[queue];
        for other in (0..3).filter(|&other| other != queue) {
            let max = turn + 1500.0 / weights[queue] + 1500.0 / weights[other];
            assert!((sent[queue] - sent[other]).abs() <= max, "{sent:?}");
        }
    }
}

/// A limit of waiting units or bytes.
#[derive(Clone, Copy, Debug)]
enum Limit {
    Units(u64),
    Bytes(u64),
}

/// Queues that overload a port and share its buffer.
#[derive(Debug)]
struct Overload {
    weights: [f64; 3],
    /// Bytes of every unit of a queue, or 0 for sizes from 40 to 1500.
    sizes: [u64; 3],
    buffer: Limit,
}

/// Asserts that queues of units of 40 to 1500 bytes receive their shares of an overloaded port with a buffer of 100 units.
pub(in crate::schedule) fn overload(spec: &SchedulerSpec, turn: f64) {
    for weights in [[1.0, 1.0, 1.0], [1.0, 2.0, 3.5]] {
        // Schedulers without weights count units.
        let (weights, sizes) = if spec.uses_weights() { (weights, [0; 3]) } else { ([1.0; 3], [1000; 3]) };
        overloaded(spec, turn, &Overload { weights, sizes, buffer: Limit::Units(100) });
    }
}

/// Like [`overload`], with queues whose units have different sizes, and buffers from two of the largest units per queue.
pub(in crate::schedule) fn overload_of_mixed_sizes(spec: &SchedulerSpec, turn: f64) {
    for weights in [[1.0, 1.0, 1.0], [1.0, 2.0, 3.5], [10.0, 1.0, 1.0]] {
        for sizes in [[64, 500, 1500], [1500, 500, 64], [64, 1500, 1500], [0; 3]] {
            for buffer in [6, 8, 20, 50].map(Limit::Units).into_iter().chain([9000, 12_000, 60_000].map(Limit::Bytes)) {
                overloaded(spec, turn, &Overload { weights, sizes, buffer });
            }
        }
    }
}

/// Asserts that the queues receive bytes in proportion to their weights, within a unit of each and `turn` bytes per weight. In the time of a
/// unit, at least 1.2 times as many bytes arrive for each queue.
fn overloaded(spec: &SchedulerSpec, turn: f64, overload: &Overload) {
    let Overload { weights, sizes, .. } = overload;
    let mut port = ModelPort::new(spec, weights);
    let stream = Stream::new(Entity { seed: 1, name: "overload", index: 0 }, Purpose::Policy);
    let mut drawn = (0..).map(|number| 40 + stream.bits(number) % 1461);
    let (mut due, mut sent) = ([20_000.0; 3], [0.0; 3]);
    for _ in 0..5_000 {
        for (queue, due) in due.iter_mut().enumerate() {
            while *due > 0.0 {
                let bytes = if sizes[queue] == 0 { drawn.next().unwrap() } else { sizes[queue] };
                *due -= bytes as f64;
                port.store(queue, bytes);
                port.make_room(overload, spec.overflow(), queue);
            }
        }
        let (queue, bytes) = port.send_one().unwrap();
        due.iter_mut().for_each(|due| *due += 1.2 * bytes as f64);
        sent[queue] += bytes as f64 / weights[queue];
        for other in (0..3).filter(|&other| other != queue) {
            let max = turn + 1500.0 / weights[queue] + 1500.0 / weights[other];
            assert!((sent[queue] - sent[other]).abs() <= max, "{overload:?}: {sent:?}");
        }
    }
}
