//! Vegas as in Linux 6.12, by its windows in virtual time: the window is in whole segments. Diff is that of the minimum RTT of a round and
//! relative to BaseRTT, which makes it larger than the paper's, and is truncated. Slow start doubles the window every round. It ends with a
//! segment more than the rate of the round fills. Rounds of one or two samples are Reno's.
//!
//! Differs: a window that is not in use does not grow.

use super::{MIN, Vegas};
use crate::congestion::support::Ack;
use crate::congestion::support::least_rtt::LeastRtt;
use crate::congestion::support::window::Window;

/// Minimum number of RTT samples of a round that counts.
const MIN_SAMPLES: u32 = 3;

impl Vegas {
    /// An acknowledgement of new data outside loss recovery.
    pub(super) fn process_as_linux(&mut self, ack: &Ack) {
        let outstanding = ack.in_flight.0.saturating_sub(ack.acked.0);
        let Some((at_start, acked)) = &mut self.memory.round else {
            // Recovery has ended, and a round begins. The acknowledgement covers segments that were delivered before.
            self.memory.round = Some((outstanding.min(self.window as u32), 0));
            self.memory.rtts.begin();
            return;
        };
        *acked = acked.saturating_add(ack.acked.0);
        // With the first acknowledgement of data sent in the round.
        let ends = *acked > *at_start;
        let starts = self.starts_slowly();
        if ends {
            self.memory.round = Some((outstanding, 0));
            let (least, samples) = self.memory.rtts.begin();
            if samples >= MIN_SAMPLES {
                return self.judge_as_linux(ack, LeastRtt { least, ..self.memory.rtts });
            }
        }
        match () {
            () if !ack.window_validated => {}
            () if starts => {
                self.parts().slow_start(ack.counted);
            }
            () if ends => {
                self.memory.growth += f64::from(ack.counted.0);
                if self.memory.growth >= self.window {
                    (self.window, self.memory.growth) = (self.window + 1.0, 0.0);
                }
            }
            () => {}
        }
    }

    /// Once per round.
    fn judge_as_linux(&mut self, ack: &Ack, LeastRtt { base, least, .. }: LeastRtt) {
        let (alpha, beta) = self.memory.thresholds();
        let window = self.window;
        // Diff, and the window that the rate of the round fills.
        let queued = (window * (least - base) as f64 / base as f64).floor();
        let target = (window * base as f64 / least as f64).floor();
        let ends_slow_start = self.starts_slowly() && queued > self.memory.spec.gamma;
        match () {
            () if ends_slow_start => self.window = window.min(target + 1.0),
            () if self.starts_slowly() && ack.window_validated => {
                self.parts().slow_start(ack.counted);
            }
            () if self.starts_slowly() => {}
            () if queued > beta => self.window = window - 1.0,
            () if queued < alpha && ack.window_validated => self.window = window + 1.0,
            () => {}
        }
        let lowers_threshold = ends_slow_start || self.window < window;
        self.window = self.window.max(MIN.min(window));
        let Window { cwnd, ssthresh } = self.parts();
        if lowers_threshold {
            *ssthresh = ssthresh.min(*cwnd);
        }
        *ssthresh = ssthresh.max((*cwnd / 2.0).floor() + (*cwnd / 4.0).floor()).max(MIN);
    }
}

#[cfg(test)]
mod tests {
    use crate::congestion::support::model_sender::ModelSender;
    use crate::congestion::{Controller, Start, Vegas, VegasEdition, VegasSpec};
    use crate::primitives::units::TimeDelta;

    fn sender(window: f64, ssthresh: f64) -> ModelSender<Vegas> {
        let spec = VegasSpec { edition: VegasEdition::Linux, ..VegasSpec::default() };
        let mut sender = ModelSender::new(Vegas::new(&spec, Start { window, ssthresh, ..Start::default() }));
        // The first acknowledgement begins a round.
        sender.in_flight = 3;
        sender.ack(1);
        sender.law.window = window;
        sender.with_round_trip(100)
    }

    /// A round of three acknowledgements with this RTT and three segments in flight. Returns the window.
    fn round(sender: &mut ModelSender<Vegas>, milliseconds: u64) -> f64 {
        sender.round_trip = Some(TimeDelta::from_millis(milliseconds));
        sender.ack(1);
        sender.ack(1);
        sender.ack(1)
    }

    #[test]
    fn the_window_moves_towards_two_to_four_queued_segments_of_the_base_rtt() {
        let mut sender = sender(50.0, 2.0);
        round(&mut sender, 100);
        sender.law.window = 50.0;
        // 50 * 3.9 / 100 = 1; 51 * 4 / 100 = 2; 51 * 9 / 100 = 4; 51 * 10 / 100 = 5.
        let windows = [103, 104, 109, 110].map(|milliseconds| round(&mut sender, milliseconds));
        assert_eq!(windows, [51.0, 51.0, 51.0, 50.0]);
        // At least three quarters of the window.
        assert_eq!(sender.law.ssthresh().0, 37.0);
    }

    #[test]
    fn slow_start_doubles_every_round_and_ends_a_segment_above_the_rate() {
        let mut sender = sender(20.0, f64::INFINITY);
        assert_eq!(round(&mut sender, 100), 23.0);
        // 26 * 100 / 125 = 20 segments fill the path: the acknowledgement that ends the round adds none.
        sender.law.window = 24.0;
        assert_eq!((round(&mut sender, 125), sender.law.ssthresh().0), (21.0, 21.0));
    }

    /// 20 Mbit/s and 43 ms: Linux 6.12.117 ends slow start at 160 segments with 158. The round begins with the acknowledgement of the first
    /// segment sent in the one before, however long its RTT; two acknowledgements later the window would be 156.
    #[test]
    fn a_round_ends_with_the_first_segment_that_was_sent_in_it() {
        let mut sender = sender(50.0, 2.0);
        let windows = [120, 120, 120, 120, 120, 120].map(|milliseconds| {
            sender.round_trip = Some(TimeDelta::from_millis(milliseconds));
            sender.ack(1)
        });
        // Nothing is queued: the 100 ms of the SYN do not count.
        assert_eq!(windows, [50.0, 50.0, 51.0, 51.0, 51.0, 52.0]);
    }

    #[test]
    fn a_round_begins_when_a_loss_is_repaired() {
        let mut sender = sender(51.0, 2.0);
        round(&mut sender, 100);
        assert_eq!(sender.lose(51), 25.0);
        // The first acknowledgement begins a round, which has two samples. All but one segment of the next one are queued.
        assert_eq!((round(&mut sender, 200), round(&mut sender, 200)), (25.0, 24.0));
    }
}
