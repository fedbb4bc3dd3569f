//! BIC as in Linux 6.12, by its windows in virtual time: the window is in whole segments, and its increase per RTT is a quarter of the
//! distance to the old maximum, at most S_max. Within four segments of the maximum, on both sides, it is a segment per five RTTs; beyond,
//! the increase is a third of the distance from the maximum, up to S_max. While no maximum is known, it is at least 5 % of the window per RTT.
//!
//! The number of acknowledged segments per increase is divided by the average number of segments per acknowledgement, although segments and
//! not acknowledgements are counted: with delayed acknowledgements of two segments the window grows twice as fast. It is computed at most 32
//! times per second while the window is constant.

use super::BicSpec;
use crate::congestion::support::editions::whole;
use crate::congestion::support::jiffies::Jiffies;
use crate::congestion::support::reno_like::Avoidance;
use crate::congestion::support::segment_count::SegmentCount;
use crate::congestion::support::window::Window;
use crate::congestion::support::{Ack, Congestion};
use crate::primitives::units::{Cwnd, Time, TimeDelta};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// Part of the distance to the maximum that is covered per RTT, also the segments around it in which growth is slow, and RTTs per segment
/// there.
const QUARTER: f64 = 4.0;
const SLOW_RTTS: f64 = 5.0;

/// Acknowledged segments per increase while no maximum is known, at most.
const MAX_COUNT_WITHOUT_MAXIMUM: f64 = 20.0;

/// Unit and initial value of the average number of segments per acknowledgement, which moves by a sixteenth.
const SIXTEENTHS: u32 = 16;
const INITIAL_AVERAGE: u32 = 2 * SIXTEENTHS;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Linux {
    spec: BicSpec,
    jiffies: Jiffies,
    /// The window before the last reduction; 0 if there was none.
    last_max: f64,
    /// Window and tick of the last computation.
    computed: Option<(f64, u64)>,
    growth: SegmentCount,
    /// Segments per acknowledgement, in sixteenths.
    per_ack: u32,
    is_recovering: bool,
}

impl Linux {
    pub(super) fn new(spec: &BicSpec, jiffy: TimeDelta) -> Linux {
        Linux {
            spec: *spec,
            jiffies: Jiffies::of(jiffy),
            last_max: 0.0,
            computed: None,
            growth: SegmentCount::default(),
            per_ack: INITIAL_AVERAGE,
            is_recovering: false,
        }
    }

    /// Acknowledged segments per increase at this window, without delayed acknowledgements.
    fn count(&self, Cwnd(window): Cwnd) -> f64 {
        let BicSpec { s_max, low_window, .. } = self.spec;
        if window <= low_window {
            return window;
        }
        let (below, beyond) = (((self.last_max - window) / QUARTER).floor(), window - self.last_max);
        let count = match () {
            () if window < self.last_max && below > s_max => window / s_max,
            () if window < self.last_max && below > 1.0 => window / below,
            () if beyond < QUARTER => window * SLOW_RTTS,
            () if beyond < s_max * (QUARTER - 1.0) => window * (QUARTER - 1.0) / beyond,
            () => window / s_max,
        };
        let max = if self.last_max == 0.0 { MAX_COUNT_WITHOUT_MAXIMUM } else { f64::INFINITY };
        count.floor().min(max)
    }

    fn aim(&mut self, now: Time, window: Cwnd) {
        let now = self.jiffies.at(now);
        let interval = self.jiffies.per_second() / 32;
        if self.computed.is_some_and(|(at, since)| at == window.0 && now.saturating_sub(since) <= interval) {
            return;
        }
        self.computed = Some((window.0, now));
        let unit = f64::from(SIXTEENTHS);
        let count = self.count(window);
        let is_low = window.0 <= self.spec.low_window;
        self.growth.per_segment = if is_low { count } else { (count * unit / f64::from(self.per_ack)).floor().max(1.0) };
    }
}

impl Avoidance for Linux {
    fn quantity(&self, _index: usize) -> f64 {
        if self.last_max > 0.0 { self.last_max } else { f64::NAN }
    }

    fn adjust(&mut self, ack: &Ack, _: &mut Window<'_>) -> ControlFlow<()> {
        if !self.is_recovering {
            self.per_ack = (self.per_ack - self.per_ack / SIXTEENTHS).saturating_add(ack.acked.0);
        }
        self.is_recovering = false;
        ControlFlow::Continue(())
    }

    fn grow(&mut self, ack: &Ack, window: Cwnd, counted: f64) -> f64 {
        self.aim(ack.now, window);
        self.growth.grow(window, counted).min(2.0 * window.0)
    }

    fn reduce(&mut self, _: &Congestion, Cwnd(window): Cwnd) -> f64 {
        let BicSpec { beta, low_window, fast_convergence, .. } = self.spec;
        let window = window.floor();
        let gives_way = fast_convergence && window < self.last_max;
        self.last_max = if gives_way { (window * (2.0 - beta) / 2.0).floor() } else { window };
        self.growth.clear();
        self.is_recovering = true;
        if window <= low_window { (window / 2.0).floor() } else { (window * (1.0 - beta)).floor() }
    }

    /// Nothing is known of the path after a timeout.
    fn restart(&mut self, _: Time) {
        (self.last_max, self.computed, self.is_recovering) = (0.0, None, false);
        (self.growth, self.per_ack) = (SegmentCount::default(), INITIAL_AVERAGE);
    }

    fn limit(&mut self, max: Cwnd) -> Cwnd {
        whole(max)
    }
}

#[cfg(test)]
mod tests {
    use super::Linux;
    use crate::congestion::support::editions::Edition;
    use crate::congestion::support::model_sender::ModelSender;
    use crate::congestion::support::reno_like::Avoidance;
    use crate::congestion::{Bic, BicSpec, Congestion, Controller, Start};
    use crate::primitives::units::{Cwnd, Segments, Time, TimeDelta};

    /// As in the preset: 819 of 1024 parts remain.
    const SPEC: BicSpec = BicSpec {
        s_max: 16.0,
        s_min: 0.01,
        beta: 205.0 / 1024.0,
        low_window: 14.0,
        fast_convergence: true,
        edition: Edition::Linux,
    };

    fn rules() -> Linux {
        Linux::new(&SPEC, TimeDelta::from_millis(1))
    }

    #[test]
    fn a_quarter_of_the_distance_is_covered_per_rtt_and_little_near_the_maximum() {
        let rules = Linux { last_max: 200.0, ..rules() };
        // 100 / 4 is more than 16: 100 / 16. 40 / 4 = 10: 160 / 10. 4 / 4 = 1, and beyond up to 3: five windows.
        assert_eq!([100.0, 160.0, 196.0, 203.0].map(|window| rules.count(Cwnd(window))), [6.0, 16.0, 980.0, 1015.0]);
        // 204 * 3 / 4; 247 * 3 / 47, and from 48 beyond 248 / 16.
        assert_eq!([204.0, 247.0, 248.0].map(|window| rules.count(Cwnd(window))), [153.0, 15.0, 15.0]);
    }

    #[test]
    fn without_a_maximum_the_window_grows_by_at_least_a_twentieth() {
        assert_eq!([14.0, 100.0, 400.0].map(|window| rules().count(Cwnd(window))), [14.0, 6.0, 20.0]);
    }

    #[test]
    fn the_count_is_divided_by_the_segments_per_acknowledgement() {
        let per_segment = |acked: u32| {
            let mut sender = ModelSender::new(Bic::new(&SPEC, Start { window: 135.0, ssthresh: 2.0, ..Start::default() }));
            // 135 * 819 / 1024 = 107; 28 / 4 = 7 segments per RTT, one for each 107 / 7 = 15.
            assert_eq!((sender.lose(135), sender.law.quantity(0, Time::ZERO)), (107.0, 135.0));
            (0..200).for_each(|_| {
                sender.ack(acked);
                sender.law.window = 107.0;
            });
            sender.ack_after(1000);
            sender.law.memory.avoidance.linux().growth.per_segment
        };
        // The average of ones stays at 31/16, because it moves by whole sixteenths: 15 * 16 / 31, 15 * 16 / 32 and 15 * 16 / 64.
        assert_eq!([1, 2, 4].map(per_segment), [7.0, 7.0, 3.0]);
    }

    #[test]
    fn a_flow_that_loses_below_its_maximum_releases_bandwidth() {
        let mut rules = Linux { last_max: 200.0, ..rules() };
        // 100 * 1843 / 2048 = 89, and 100 * 819 / 1024 = 79.
        let left = rules.reduce(&Congestion::of(Time::ZERO, Segments(100)), Cwnd(100.0));
        assert_eq!((left, rules.last_max), (79.0, 89.0));
        assert_eq!(rules.reduce(&Congestion::of(Time::ZERO, Segments(13)), Cwnd(13.0)), 6.0);
    }
}
