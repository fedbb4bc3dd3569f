//! DualPI2: a queue for L4S packets (L) and a queue for Classic packets (C) with coupled marking, so that flows of either kind get about
//! the same rate while L stays short (De Schepper, Briscoe and White, RFC 9332, appendix A, with the edge cases of A.2). Names are from
//! the appendix.
//!
//! A linear controller of the delay computes the base probability p'. C is marked with its square, which senders like Reno respond to with
//! its square root; L is marked with k p' or, if larger, with a ramp over its own delay. Marks are spread evenly (`recur`).
//!
//! Differs: classification as L is per flow and includes the flow's acknowledgements and retransmissions, although they cannot carry a
//! mark. Like any other packet that cannot be marked, they are not marked in L. The native marks of L depend on the packet's own wait, and
//! apply only if another packet waits behind it (Th_len of a packet). The weighted round robin, one of the schedulers of section 4.2.2,
//! counts bytes. The RFC leaves the share of C and the time shift to the operator: the defaults are examples.

use super::support::{ClassicTarget, Decision, DequeueReason, Dequeued, Enqueued, HeadOfLine, Scheduler};
use crate::primitives::units::{Bytes, Time, TimeDelta};
use crate::settings::{ABOVE_ZERO, Kind, PlainWords, SettingConflict, Settings, conflicts, member, words};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

words! {
    /// Service discipline of the two queues of DualPI2.
    pub enum DualService ("service discipline") {
        /// The L queue, with a small guaranteed share of the bytes for the C queue.
        WeightedRoundRobin = "weighted_round_robin",
        /// The packet that has waited longest, with the wait of L packets extended by a time shift.
        TimeShiftedFifo = "time_shifted_fifo",
    }
}

// RFC 9332 figure 2, for a maximum RTT of 100 ms (RTT_max).
member! {
    /// Two queues with coupled marking: one for L4S packets (`l4s`) and one for all others. Includes the policies of both.
    DualPi2 = "dualpi2", "RFC 9332 appendix A";

    pub struct DualPi2Spec {
        /// Target delay of the Classic queue (target).
        target: TimeDelta = TimeDelta::from_millis(15) => ABOVE_ZERO,
        /// Time between updates of the base probability (Tupdate), at least 1 us.
        period: TimeDelta = TimeDelta::from_millis(15) => Kind::Duration { min: TimeDelta::from_micros(1) },
        /// Integral gain: weight of the deviation of the delay from the target, per second (alpha).
        alpha: f64 = 0.15 => Kind::Number { min: 0.0, max: 1000.0 },
        /// Proportional gain: weight of the change of the delay, per second (beta).
        beta: f64 = 3.0 => Kind::Number { min: 0.0, max: 1000.0 },
        /// Coupling factor: L4S packets are marked with at least this multiple of the base probability (k).
        coupling: f64 = 2.0 => Kind::Number { min: 1.0, max: 100.0 },
        /// Delay above which the L4S queue marks on its own (minTh).
        l4s_min_threshold: TimeDelta = TimeDelta::from_micros(800) => Kind::Duration { min: TimeDelta::ZERO },
        /// Width of the ramp above `l4s_min_threshold`, at whose end every L4S packet is marked; 0 gives a step (range).
        l4s_range: TimeDelta = TimeDelta::from_micros(400) => Kind::Duration { min: TimeDelta::ZERO },
        /// Service discipline of the two queues.
        service: DualService = DualService::WeightedRoundRobin => Kind::Words(&DualService::WORDS),
        /// Weighted round robin: minimum share of the link for the Classic queue while both queues are backlogged.
        classic_share: f64 = 0.0625 => Kind::Probability,
        /// Time-shifted FIFO: time added to the wait of L4S packets (tshift).
        time_shift: TimeDelta = TimeDelta::from_millis(50) => Kind::Duration { min: TimeDelta::ZERO },
    }
}

impl Settings for DualPi2Spec {
    fn check(&self) -> Vec<SettingConflict> {
        let usual = DualPi2Spec::default();
        let is_weighted = self.service == DualService::WeightedRoundRobin;
        let is_share = self.classic_share > 0.0 && self.classic_share < 1.0;
        conflicts! {
            error if self.alpha == 0.0 => ["alpha"], "`alpha` of 0 removes the delay target", "above 0";
            error if is_weighted && !is_share => ["classic_share"],
                "`classic_share` of 0 or 1 never serves one of the queues", "above 0, below 1";
            warning if is_weighted && is_share && self.time_shift != usual.time_shift => ["time_shift"],
                "`time_shift` is ignored: it applies to the other `service`",
                "no `time_shift`, or `service = \"time_shifted_fifo\"`";
            warning if !is_weighted && self.classic_share != usual.classic_share => ["classic_share"],
                "`classic_share` is ignored: it applies to the other `service`",
                "no `classic_share`, or `service = \"weighted_round_robin\"`";
        }
    }

    fn samples() -> Vec<DualPi2Spec> {
        let usual = DualPi2Spec::default();
        let shifted = DualPi2Spec { service: DualService::TimeShiftedFifo, time_shift: TimeDelta::from_millis(20), ..usual };
        vec![usual, DualPi2Spec { target: TimeDelta::from_millis(2), l4s_range: TimeDelta::ZERO, coupling: 3.0, ..shifted }]
    }
}

/// Indices of the two queues.
const L: usize = 0;
const C: usize = 1;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DualPi2 {
    spec: DualPi2Spec,
    /// p', the base probability.
    p_prime: f64,
    /// Delay in seconds at the last update.
    prevq: f64,
    /// Arrival times of the packets in each queue.
    arrivals: [VecDeque<Time>; 2],
    /// Sum of each queue's likelihoods since its last mark or discard.
    count: [f64; 2],
    /// Bytes that C may send ahead of L.
    credit: f64,
}

impl DualPi2 {
    pub(super) fn new(spec: &DualPi2Spec, _weights: &[f64]) -> DualPi2 {
        DualPi2 { spec: *spec, p_prime: 0.0, prevq: 0.0, arrivals: Default::default(), count: [0.0; 2], credit: 0.0 }
    }

    fn p_c(&self) -> f64 {
        self.p_prime * self.p_prime
    }

    fn p_cl(&self) -> f64 {
        (self.spec.coupling * self.p_prime).min(1.0)
    }

    /// From this probability on, marks cannot increase the signal to L.
    fn p_cmax(&self) -> f64 {
        1.0 / (self.spec.coupling * self.spec.coupling)
    }

    /// The native probability of L, p'_L.
    fn laqm(&self, head: &HeadOfLine) -> f64 {
        let DualPi2Spec { l4s_min_threshold, l4s_range, .. } = self.spec;
        match head.sojourn_time {
            _ if head.bytes_behind == Bytes(0) => 0.0,
            sojourn_time if sojourn_time >= l4s_min_threshold + l4s_range => 1.0,
            sojourn_time if sojourn_time > l4s_min_threshold => {
                (sojourn_time.0 - l4s_min_threshold.0) as f64 / l4s_range.0 as f64
            }
            _ => 0.0,
        }
    }

    fn recur(&mut self, queue: usize, likelihood: f64) -> bool {
        self.count[queue] += likelihood;
        let is_due = self.count[queue] > 1.0;
        self.count[queue] -= f64::from(u8::from(is_due));
        is_due
    }

    fn decide_l4s(&mut self, head: &HeadOfLine) -> Decision {
        let p_cl = self.p_cl();
        let is_overloaded = p_cl >= 1.0;
        if is_overloaded && self.recur(L, self.p_c()) {
            return Decision::Discard;
        }
        let p_l = if is_overloaded { p_cl } else { self.laqm(head).max(p_cl) };
        if head.is_capable && self.recur(L, p_l) { Decision::Mark } else { Decision::Send }
    }

    fn decide_classic(&mut self) -> Decision {
        let p_c = self.p_c();
        match self.recur(C, p_c) {
            false => Decision::Send,
            true if p_c >= self.p_cmax() => Decision::Discard,
            true => Decision::Mark,
        }
    }
}

impl Scheduler for DualPi2 {
    const USES_WEIGHTS: bool = false;
    const IS_AQM: bool = true;

    fn classic_target(&self) -> Option<ClassicTarget> {
        Some(ClassicTarget { target: self.spec.target, share: self.spec.classic_share })
    }

    fn on_enqueue(&mut self, joined: &Enqueued) {
        self.arrivals[joined.queue].push_back(joined.now);
    }

    fn next(&mut self, head: &dyn Fn(usize) -> Option<Bytes>) -> Option<usize> {
        let (first_l, first_c) = match [L, C].map(|queue| self.arrivals[queue].front().copied()) {
            [Some(first_l), Some(first_c)] => (first_l, first_c),
            [None, None] => return None,
            [of_l, _] => return Some(if of_l.is_some() { L } else { C }),
        };
        let serves_classic = match self.spec.service {
            DualService::WeightedRoundRobin => head(C).is_some_and(|bytes| self.credit >= bytes.0 as f64),
            DualService::TimeShiftedFifo => first_c + self.spec.time_shift < first_l,
        };
        Some(if serves_classic { C } else { L })
    }

    fn on_dequeue(&mut self, left: &Dequeued) {
        self.arrivals[left.queue].pop_front();
        let (bytes, share) = (left.bytes.0 as f64, self.spec.classic_share);
        // Credit is earned only while both queues are backlogged.
        self.credit = match left.queue {
            _ if self.arrivals[C].is_empty() => 0.0,
            _ if left.reason == DequeueReason::Discarded => self.credit,
            L => self.credit + bytes * share / (1.0 - share),
            _ => (self.credit - bytes).max(0.0),
        };
    }

    fn decide(&mut self, head: &HeadOfLine) -> Decision {
        if head.queue == L { self.decide_l4s(head) } else { self.decide_classic() }
    }

    fn period(&self) -> Option<TimeDelta> {
        Some(self.spec.period)
    }

    /// `dualpi2_update`, with the longer of both delays as in appendix A.2.
    fn on_period(&mut self, now: Time) {
        let first = self.arrivals.iter().filter_map(|queue| queue.front()).min();
        let curq = first.map_or(0.0, |&first| now.since(first).seconds());
        let DualPi2Spec { target, alpha, beta, .. } = self.spec;
        let step = alpha * (curq - target.seconds()) + beta * (curq - self.prevq);
        self.p_prime = (self.p_prime + step).clamp(0.0, 1.0);
        self.prevq = curq;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::units::Rate;
    use crate::schedule::SchedulerSpec;
    use crate::schedule::support::model_port::ModelPort;
    use crate::settings::Severity;

    fn dual(p_prime: f64) -> DualPi2 {
        DualPi2 { p_prime, ..DualPi2::new(&DualPi2Spec::default(), &[1.0; 2]) }
    }

    /// A capable packet that has waited for this time, with another packet behind it.
    fn due(queue: usize, sojourn_time: TimeDelta) -> HeadOfLine {
        HeadOfLine { queue, sojourn_time, bytes_behind: Bytes(1000), is_capable: true }
    }

    /// Numbers of each decision over this many packets.
    fn decisions(dual: &mut DualPi2, due: &HeadOfLine, count: usize) -> [usize; 3] {
        let all: Vec<Decision> = (0..count).map(|_| dual.decide(due)).collect();
        [Decision::Send, Decision::Mark, Decision::Discard].map(|one| all.iter().filter(|&&other| other == one).count())
    }

    fn join(dual: &mut DualPi2, queue: usize, at: TimeDelta) {
        let now = Time(at.0);
        dual.on_enqueue(&Enqueued { queue, bytes: Bytes(1000), now, rate: Rate(8_000_000), begins_busy_period: false });
    }

    fn near(found: f64, by_hand: f64) {
        assert!((found - by_hand).abs() < 1e-12, "{found}, not {by_hand}");
    }

    #[test]
    fn a_setting_of_the_other_service_causes_a_warning() {
        let keys =
            |spec: DualPi2Spec| spec.check().into_iter().map(|conflict| (conflict.keys, conflict.severity)).collect::<Vec<_>>();
        let usual = DualPi2Spec::default();
        let shifted = DualPi2Spec { service: DualService::TimeShiftedFifo, time_shift: TimeDelta::from_millis(20), ..usual };
        assert_eq!((keys(usual), keys(shifted)), (vec![], vec![]));
        let both = [
            DualPi2Spec { time_shift: TimeDelta::from_millis(20), ..usual },
            // The share of the unused service is not reported as a queue that is never served.
            DualPi2Spec { classic_share: 0.0, ..shifted },
        ];
        let found = both.map(keys);
        assert_eq!(found, [vec![(&["time_shift"][..], Severity::Warning)], vec![(&["classic_share"][..], Severity::Warning)]]);
        assert_eq!(keys(DualPi2Spec { classic_share: 0.0, ..usual }), [(&["classic_share"][..], Severity::Error)]);
    }

    #[test]
    fn the_base_probability_follows_the_longer_of_both_delays_and_its_change() {
        let ms = TimeDelta::from_millis;
        let mut dual = DualPi2 { prevq: 0.020, ..dual(0.1) };
        join(&mut dual, C, ms(75));
        join(&mut dual, L, ms(99));
        // 25 ms after 20: 0.15 (25 - 15) ms + 3 (25 - 20) ms = 0.0015 + 0.015.
        dual.on_period(Time(ms(100).0));
        near(dual.p_prime, 0.1165);
        // Then C is empty and the first packet of L has waited for 16 ms: 0.15 (16 - 15) ms + 3 (16 - 25) ms.
        dual.arrivals[C].clear();
        dual.on_period(Time(ms(115).0));
        near(dual.p_prime, 0.1165 + 0.00015 - 0.027);
        // Both queues are empty: 0.15 (0 - 15) ms + 3 (0 - 16) ms = -0.05025.
        dual.arrivals[L].clear();
        dual.on_period(Time(ms(130).0));
        near(dual.p_prime, 0.08965 - 0.05025);
        dual.on_period(Time(ms(145).0));
        near(dual.p_prime, 0.0394 - 0.00225);
        dual.p_prime = 0.001;
        dual.on_period(Time(ms(160).0));
        assert_eq!(dual.p_prime, 0.0);
    }

    #[test]
    fn one_queue_is_marked_with_the_square_and_the_other_with_twice_the_base() {
        // p' of 1/8: 1/64 of C and 1/4 of L, each whenever the sum passes a whole number.
        let mut dual = dual(0.125);
        assert_eq!(decisions(&mut dual, &due(C, TimeDelta::ZERO), 6401), [6301, 100, 0]);
        assert_eq!(decisions(&mut dual, &due(L, TimeDelta::ZERO), 401), [301, 100, 0]);
    }

    #[test]
    fn the_l4s_queue_marks_with_a_ramp_over_its_own_delay_if_that_is_more() {
        let us = TimeDelta::from_micros;
        let laqm = |sojourn_time| dual(0.0).laqm(&due(L, us(sojourn_time)));
        // Nothing up to 800 us, everything from 1200 us on, a quarter at 900.
        assert_eq!([800, 900, 1000, 1199, 1200].map(laqm), [0.0, 0.25, 0.5, 0.9975, 1.0]);
        let mut coupled = dual(0.1875);
        assert_eq!(decisions(&mut coupled, &due(L, us(900)), 801), [501, 300, 0]);
        assert_eq!(decisions(&mut dual(0.0625), &due(L, us(900)), 801), [601, 200, 0]);
        // A packet without another behind it is not marked for its wait.
        let alone = HeadOfLine { bytes_behind: Bytes(0), ..due(L, us(5000)) };
        assert_eq!(decisions(&mut dual(0.0), &alone, 100), [100, 0, 0]);
    }

    #[test]
    fn without_a_range_the_ramp_is_a_step() {
        let step = DualPi2::new(&DualPi2Spec { l4s_range: TimeDelta::ZERO, ..DualPi2Spec::default() }, &[1.0; 2]);
        let laqm = |nanoseconds: u64| step.laqm(&due(L, TimeDelta(1000 * nanoseconds)));
        assert_eq!([799_999, 800_000, 900_000].map(laqm), [0.0, 1.0, 1.0]);
    }

    #[test]
    fn in_overload_both_queues_discard_equally_and_the_remaining_l4s_packets_are_marked() {
        // p' of one half: k p' is 1, and p_C one quarter, its maximum.
        let mut dual = dual(0.5);
        assert_eq!(decisions(&mut dual, &due(C, TimeDelta::ZERO), 401), [301, 0, 100]);
        assert_eq!(decisions(&mut dual, &due(L, TimeDelta::ZERO), 401), [0, 301, 100]);
        // Just below it, nothing of L is discarded, and C is marked.
        let mut dual = self::dual(0.4999);
        let [_, _, discarded] = decisions(&mut dual, &due(L, TimeDelta::ZERO), 1000);
        assert_eq!((discarded, decisions(&mut dual, &due(C, TimeDelta::ZERO), 1000)[2]), (0, 0));
    }

    #[test]
    fn packets_that_cannot_be_marked_pass_the_l4s_queue_except_in_overload() {
        let incapable = HeadOfLine { is_capable: false, ..due(L, TimeDelta::from_millis(9)) };
        assert_eq!(decisions(&mut dual(0.25), &incapable, 100), [100, 0, 0]);
        assert_eq!(decisions(&mut dual(0.5), &incapable, 401), [301, 0, 100]);
    }

    #[test]
    fn weighted_round_robin_serves_one_classic_packet_in_sixteen() {
        let mut port = ModelPort::new(&SchedulerSpec::DualPi2(DualPi2Spec::default()), &[1.0; 2]);
        (0..64).for_each(|_| port.store(L, 1500));
        (0..4).for_each(|_| port.store(C, 1500));
        let order = port.send_all();
        let places: Vec<usize> = (0..order.len()).filter(|&place| order[place] == C).collect();
        assert_eq!(places, [15, 31, 47, 63]);
    }

    #[test]
    fn by_shifted_time_an_l4s_packet_goes_first_unless_the_other_has_waited_for_the_shift_longer() {
        let spec = DualPi2Spec { service: DualService::TimeShiftedFifo, ..DualPi2Spec::default() };
        let first = |of_c: u64, of_l: u64| {
            let mut dual = DualPi2::new(&spec, &[1.0; 2]);
            join(&mut dual, C, TimeDelta::from_millis(of_c));
            join(&mut dual, L, TimeDelta::from_millis(of_l));
            dual.next(&|_| Some(Bytes(1000)))
        };
        assert_eq!([first(0, 10), first(0, 50), first(0, 51)], [Some(L), Some(L), Some(C)]);
    }
}
