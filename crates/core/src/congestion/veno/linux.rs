//! Veno as in Linux 6.12, by its windows in virtual time: N is in whole halves of a segment, from the minimum RTT since the last
//! acknowledgement that could open the window and that of the flow, which no loss resets. In the congestive state every other window of
//! acknowledged segments opens the window by one.
//!
//! Differs: RTTs measured during recovery do not count.

use super::VenoSpec;
use crate::congestion::support::editions::whole;
use crate::congestion::support::least_rtt::LeastRtt;
use crate::congestion::support::reno_like::Avoidance;
use crate::congestion::support::segment_count::SegmentCount;
use crate::congestion::support::window::Window;
use crate::congestion::support::{Ack, Congestion, RoundTrip, Subscriptions};
use crate::primitives::units::{Cwnd, Time};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// Units of N.
const PARTS: f64 = 2.0;

/// Minimum number of RTTs of a flow before N is computed.
const MIN_SAMPLES: u32 = 3;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Linux {
    spec: VenoSpec,
    rtts: LeastRtt,
    samples: u32,
    /// N in parts.
    queued: f64,
    growth: SegmentCount,
    /// In the congestive state the next window of acknowledged segments opens the window.
    opens_next: bool,
    is_recovering: bool,
}

impl Linux {
    pub(super) fn new(spec: &VenoSpec) -> Linux {
        Linux {
            spec: *spec,
            rtts: LeastRtt::default(),
            samples: 0,
            queued: 0.0,
            growth: SegmentCount::default(),
            opens_next: true,
            is_recovering: false,
        }
    }

    fn is_congested(&self) -> bool {
        self.queued >= self.spec.beta * PARTS
    }
}

impl Avoidance for Linux {
    fn subscriptions(&self) -> Subscriptions {
        Subscriptions { newest_rtt: true, exact_rtt: true, ..Subscriptions::NONE }
    }

    fn measure(&mut self, measured: &RoundTrip) {
        if !self.is_recovering {
            self.rtts.measure(measured);
        }
    }

    fn adjust(&mut self, ack: &Ack, window: &mut Window<'_>) -> ControlFlow<()> {
        self.is_recovering = false;
        if !ack.window_validated {
            return ControlFlow::Break(());
        }
        let (least, samples) = self.rtts.begin();
        self.samples = self.samples.saturating_add(samples);
        if self.samples >= MIN_SAMPLES && least > 0 {
            let parts = *window.cwnd * PARTS;
            self.queued = parts - (parts * self.rtts.base as f64 / least as f64).floor();
        }
        ControlFlow::Continue(())
    }

    fn grow(&mut self, _: &Ack, window: Cwnd, counted: f64) -> f64 {
        self.growth.per_segment = window.0;
        if !self.is_congested() {
            return self.growth.grow(window, counted);
        }
        if self.growth.acked < window.0 {
            self.growth.acked += counted;
            return window.0;
        }
        self.growth.clear();
        self.opens_next = !self.opens_next;
        if self.opens_next { window.0 } else { window.0 + 1.0 }
    }

    fn reduce(&mut self, _: &Congestion, Cwnd(window): Cwnd) -> f64 {
        self.growth.clear();
        self.is_recovering = true;
        let window = window.floor();
        if self.is_congested() { (window / 2.0).floor() } else { (window * 4.0 / 5.0).floor() }
    }

    fn restart(&mut self, _: Time) {
        self.is_recovering = false;
    }

    fn limit(&mut self, max: Cwnd) -> Cwnd {
        whole(max)
    }
}

#[cfg(test)]
mod tests {
    use crate::congestion::support::editions::Edition;
    use crate::congestion::support::model_sender::ModelSender;
    use crate::congestion::{Start, Veno, VenoSpec};
    use crate::primitives::units::TimeDelta;

    /// With this RTT after some of 100 ms.
    fn sender(milliseconds: u64) -> ModelSender<Veno> {
        let spec = VenoSpec { edition: Edition::Linux, ..VenoSpec::default() };
        let law = Veno::new(&spec, Start { window: 40.0, ssthresh: 2.0, ..Start::default() });
        let mut sender = ModelSender::new(law).with_round_trip(100);
        sender.measure(100);
        sender.measure(100);
        sender.ack(1);
        sender.round_trip = Some(TimeDelta::from_millis(milliseconds));
        sender.ack(1);
        sender
    }

    /// Numbers of acknowledgements after which the window grows twice.
    fn growths(mut sender: ModelSender<Veno>) -> Vec<usize> {
        let windows: Vec<f64> = (0..200).map(|_| sender.ack(1)).collect();
        (1..windows.len()).filter(|&place| windows[place] > windows[place - 1]).take(2).collect()
    }

    #[test]
    fn with_three_queued_segments_every_other_window_opens_it() {
        // 80 - floor(80 * 100 / 107) = 6 halves; 5 at 106. Two segments are already counted.
        assert_eq!(growths(sender(106)), [37, 78]);
        // The acknowledgement after a window of 40 opens it, that after 41 does not, and that after 41 more does.
        assert_eq!(growths(sender(107)), [38, 122]);
    }

    #[test]
    fn a_loss_removes_a_fifth_or_with_three_queued_segments_half() {
        assert_eq!((sender(106).lose(40), sender(107).lose(40)), (32.0, 20.0));
    }
}
